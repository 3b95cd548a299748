"""Columns that could be categories or numbers: rows that are left out choose, not luck."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from infinimix import AClassClassifier, execution, load, save
from infinimix.estimators.common.doubtful_kinds import (
    Counts,
    choose_kind,
    count_cells,
    doubtful_columns,
    left_out_losses,
    merge_counts,
)
from infinimix.estimators.common.together import join
from infinimix.tables import Column, encode, read_schema
from tests.unit.estimators.states import differences, state_of

SMALL = {"n_particles": 2, "n_islands": 2, "random_state": 0}
PLAIN = SMALL | {"correction": "none"}  # kinds are chosen before anything is corrected
GAMMA = 0.7


# --- the slow version ----------------------------------------------------------------------------


def log_evidence(x, prior, grain):
    """Return the log density of numbers in one group, each with its grain."""
    mean, kappa, nu, scale2 = prior
    n, total = len(x), float(np.sum(x))
    kappa_n, nu_n = kappa + n, nu + n
    squares = nu * scale2 + np.sum(x**2) + n * grain + kappa * mean**2
    squares -= (kappa * mean + total) ** 2 / kappa_n
    return (
        math.lgamma(nu_n / 2) - math.lgamma(nu / 2) + 0.5 * math.log(kappa / kappa_n)
        + nu / 2 * math.log(nu * scale2) - nu_n / 2 * math.log(squares) - n / 2 * math.log(math.pi)
    )  # fmt: skip


def log_number(x, others, every, grain):
    mean, variance = every.mean(), every.var()
    prior = (mean, 0.3, 2.0, 0.15 * variance)
    return log_evidence(np.append(others, x), prior, grain) - log_evidence(others, prior, grain)


def log_category(x, others, every):
    share = (np.sum(every == x) + 0.5) / (len(every) + 0.5 * len(np.unique(every)))
    return math.log((share + np.sum(others == x)) / (1.0 + len(others)))


def log_spiked(x, others, every, grain):
    share = (np.sum(np.isinf(every)) + 0.5) / (len(every) + 1.0)
    atoms = np.sum(np.isinf(others))
    p = (0.5 * share + atoms) / (0.5 + len(others))
    if np.isinf(x):
        return math.log(p)
    numbers, pooled = others[np.isfinite(others)], every[np.isfinite(every)]
    return math.log(1.0 - p) + log_number(x, numbers, pooled, grain)


def slow_losses(log_p, x, y, factors):
    """Return -log P(y | x) of each row, by all others."""
    found = []
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        log_joint = [
            math.log(factors[c] * (np.sum(y[rest] == c) + GAMMA)) + log_p(x[i], x[rest & (y == c)])
            for c in range(len(factors))
        ]
        found.append(np.logaddexp.reduce(log_joint) - log_joint[y[i]])
    return np.array(found)


def tabulate(x, y, n_classes):
    values, at = np.unique(x, return_inverse=True)
    rows = np.zeros((n_classes, len(values)))
    np.add.at(rows, (y, at), 1)
    return Counts(values, rows, rows, rows), at


@pytest.mark.parametrize("kind", ["categorical", "real", "spiked"])
def test_losses_are_those_of_rows_left_out_one_by_one(kind):
    rng = np.random.default_rng(0)
    y = np.append(rng.integers(0, 3, 40), 3)  # the last class has one row
    x = np.rint(2 * rng.normal(size=41) + y) * 0.5
    if kind == "spiked":
        x[rng.random(41) < 0.3] = np.inf
    factors, grain = np.array([1.0, 0.5, 2.0, 1.0]), 0.5**2 / 12
    log_p = {
        "categorical": lambda v, others: log_category(v, others, x),
        "real": lambda v, others: log_number(v, others, x, grain),
        "spiked": lambda v, others: log_spiked(v, others, x, grain),
    }[kind]
    counts, at = tabulate(x, y, 4)
    found = left_out_losses(kind, counts, GAMMA, factors, 0.0 if kind == "categorical" else 0.5)
    assert found[y, at] == pytest.approx(slow_losses(log_p, x, y, factors), abs=1e-9)
    assert (found[counts.rows == 0] == 0.0).all()


def test_the_rule_stays_unless_the_other_kind_is_clearly_better():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    noise = rng.integers(0, 6, 200).astype(float)  # says nothing of the class
    told = (2 * rng.permutation(6)[noise.astype(int)] + y) % 6  # as categories only
    for x, against in ((noise, None), (told.astype(float), "categorical")):
        counts, at = tabulate(x, y, 3)
        column = Column("x", "real", resolution=1.0)
        gain = (left_out_losses("real", counts, 1.0, None, 1.0)
                - left_out_losses("categorical", counts, 1.0))[y, at]  # fmt: skip
        clear = gain.mean() > 2.0 * gain.std() / np.sqrt(len(gain))
        assert clear == (against is not None)
        assert choose_kind(column, counts, 1.0) == against


# --- worlds --------------------------------------------------------------------------------------


def categories(n=300, seed=0):
    """Return codes whose order means nothing, too many for the rule to take them for codes."""
    rng = np.random.default_rng(seed)
    y, code = rng.integers(0, 2, n), rng.integers(0, 6, n)
    return rng.permutation(12)[2 * code + np.where(rng.random(n) < 0.9, y, 1 - y)], y


def numbers(n=360, seed=0):
    """Return rounded numbers of many classes, few enough for the rule to take them for codes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 15
    return np.clip(np.rint(0.5 * y + rng.normal(size=n)), 0, 7).astype(int), y


WORLDS = {"categorical": categories, "real": numbers}
FORMS = {
    "ints": lambda x, holes: x,
    "floats": lambda x, holes: x * 0.25,
    "holes": lambda x, holes: np.where(holes, np.nan, x),
    "objects": lambda x, holes: np.where(holes, None, x.astype(object)),
}


def world(kind, form="ints"):
    x, y = WORLDS[kind]()
    rng = np.random.default_rng(5)
    cells = FORMS[form](x, rng.random(len(x)) < 0.1)
    return pd.DataFrame({"x": cells, "other": rng.normal(size=len(x))}), y


def fit(X, y, **options):
    return AClassClassifier(**SMALL | options).fit(X, y)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("form", FORMS)
def test_both_kinds_are_found_against_the_rule(kind, form):
    X, y = world(kind, form)
    assert read_schema(X).kinds()["x"] != kind
    assert fit(X, y, **PLAIN).columns_ == {"x": kind, "other": "real"}


@pytest.mark.parametrize("kind", WORLDS)
def test_where_the_rule_decides(kind):
    X, y = world(kind)
    by_rule = read_schema(X).kinds()["x"]
    assert AClassClassifier(**SMALL).partial_fit(X, y).columns_["x"] == by_rule
    assert fit(X, y, effort="fast").columns_["x"] == by_rule
    assert fit(X, y, calibrate=False).columns_["x"] == by_rule
    assert fit(X, y, columns={"x": by_rule}, **PLAIN).columns_["x"] == by_rule
    own = 0.4 if by_rule == "categorical" else (1.0, 1.0, 2.0, 1.0)
    assert fit(X, y, prior={"x": own}, **PLAIN).columns_["x"] == by_rule
    no_labels = [None if i > 20 else label for i, label in enumerate(y)]
    assert fit(X, no_labels, **PLAIN).columns_["x"] == by_rule


def test_columns_that_are_never_in_doubt():
    n = 300
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "bit": rng.integers(0, 2, n), "flag": rng.random(n) < 0.5,
        "word": rng.choice(["1", "2", "3"], n), "long": rng.normal(size=n),
        "day": pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.integers(0, 6, n), "D"),
        "whole": rng.integers(0, 5, n),
    })  # fmt: skip
    schema = read_schema(X)
    assert [schema.names[j] for j in doubtful_columns(schema)] == ["whole"]
    assert not doubtful_columns(schema, ["whole"])
    assert not doubtful_columns(read_schema(X, {"whole": "real"}))


def test_numbers_that_no_real_column_holds_stay_categories():
    x, y = numbers()
    X = [[10**200 if cell == 7 else int(cell), float(i)] for i, cell in enumerate(x)]
    assert fit(X, y, correction="none").columns_["x0"] == "categorical"


@pytest.mark.parametrize("kind", WORLDS)
def test_the_choice_does_not_depend_on_order_copies_or_the_rest(kind):
    X, y = world(kind, "holes")
    rows = np.random.default_rng(3).permutation(len(y))
    wide = X.assign(copy=X["x"], more=1.0 * np.arange(len(y)))[["more", "copy", "other", "x"]]
    found = fit(wide.iloc[rows], y[rows], **PLAIN).columns_
    assert found["x"] == found["copy"] == kind
    assert found["other"] == found["more"] == "real"


def test_parts_give_the_counts_of_the_whole():
    X, y = world("categorical", "holes")
    schema = read_schema(X)

    def counts(start, stop):
        some = X.iloc[start:stop]
        return count_cells(encode(schema, some, learn=True), y[start:stop], 2, 0)

    parts = merge_counts([counts(0, 7), counts(7, 8), counts(8, 200), counts(200, None)])
    for whole, part in zip(counts(0, None), parts, strict=True):
        assert np.array_equal(whole, part)
    assert merge_counts([counts(0, 7), None]) is None
    assert count_cells(encode(schema, X, learn=True), y, 2, 1) is None  # too many values


def test_weights_are_counts_or_weigh_losses():
    X, y = world("categorical")
    schema = read_schema(X)
    table, weight = encode(schema, X, learn=True), np.random.default_rng(0).random(len(y))
    found = count_cells(table, y, 2, 0, weight)
    assert found.rows.sum() == len(y)
    assert found.weight.sum() == pytest.approx(weight.sum())
    assert found.squares.sum() == pytest.approx((weight**2).sum())
    for own in (weight, np.full(len(y), 2)):
        assert AClassClassifier(**PLAIN).fit(X, y, sample_weight=own).columns_["x"] == "categorical"
    # A row that weighs nothing does not choose.
    even = np.where(np.arange(len(y)) < 20, 1, 0)
    assert AClassClassifier(**PLAIN).fit(X, y, sample_weight=even).columns_["x"] == "real"
    assert fit(X, y, class_weight="balanced", **PLAIN).columns_["x"] == "categorical"


# --- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WORLDS)
def test_models_with_a_choice_are_the_same_wherever_and_however_often(kind):
    X, y = world(kind, "holes")
    model = fit(X, y)
    expected = state_of(model)
    assert not differences(state_of(clone(model).fit(X, y)), expected)
    assert not differences(state_of(model.fit(X, y)), expected)
    assert not differences(state_of(fit(X, y, n_jobs=2)), expected)
    with execution.processes(2):
        assert not differences(state_of(fit(X, y)), expected)


@pytest.mark.parametrize("kind", WORLDS)
def test_files_and_streams_keep_the_choice(kind):
    X, y = world(kind, "holes")
    model = fit(X, y)
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    assert again.columns_ == model.columns_
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert model.partial_fit(X[:9], y[:9]).columns_["x"] == kind


@pytest.mark.parametrize("kind", WORLDS)
def test_a_batch_keeps_the_choice(kind):
    X, y = world(kind)
    model = fit(X, y)
    training = model._state.training.table
    known, query = join(training, X[:5], "auto", "test")
    assert known.schema.kinds() == query.schema.kinds() == {"x": kind, "other": "real"}
    odd = X[:5].assign(other=["1", "2", "3", "4", "5"])
    with pytest.raises((TypeError, ValueError)):
        join(training, odd, "auto", "test")
