"""Holes that tell of the class: which are marked, and what marks are in the user's view."""

import io
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import beta

from infinimix import AClassClassifier, artifacts, load, save
from infinimix.artifacts import ArtifactError
from infinimix.estimators.aclass.missingness import columns_to_indicate, log_factors, telling
from tests.unit.estimators.states import differences, state_of
from tests.unit.estimators.tables import columns_of, make_labels, make_table

SMALL = {"effort": "fast", "n_islands": 2, "random_state": 0}


def fitted(X, y, holes, columns="auto", **more):
    return AClassClassifier(columns, holes=holes, **SMALL | more).fit(X, y)


def lab_table(n=120, seed=0):
    """Return rows whose second column is mostly missing in the class "well", and labels."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, "ill", "well")
    X = pd.DataFrame({"age": rng.normal(50, 9, n), "lab": rng.normal(2, 1, n)})
    X["ward"] = rng.choice(["a", "b"], n)
    X.loc[(y == "well") & (rng.random(n) < 0.9), "lab"] = np.nan
    X.loc[rng.random(n) < 0.1, "age"] = np.nan  # at random
    return X, y


# --- the rule ------------------------------------------------------------------------------------


def sequence_probability(cells):
    """Return the probability of zeros and ones under Beta(.5, .5), one after the other."""
    p, seen = 1.0, [0.5, 0.5]
    for cell in cells:
        p *= seen[cell] / sum(seen)
        seen[cell] += 1
    return p


def test_bayes_factors_are_ratios_of_probabilities_of_sequences():
    rng = np.random.default_rng(0)
    holes, codes = rng.random((15, 4)) < [0.2, 0.5, 0.9, 0.0], rng.integers(0, 3, 15)
    for column, found in zip(holes.T.astype(int), log_factors(holes, codes), strict=True):
        apart = np.prod([sequence_probability(column[codes == c]) for c in range(3)])
        assert found == pytest.approx(np.log(apart / sequence_probability(column)))


def test_probabilities_are_those_of_all_sets_of_columns():
    log_factor = np.array([-2.0, 0.3, 1.5, 4.0])
    m, total, out = 4, 0.0, np.zeros(4)
    for chosen in product([0, 1], repeat=m):
        k = sum(chosen)
        weight = np.exp(chosen @ log_factor) * beta(1 + k, m + m - k)
        total += weight
        out += weight * np.array(chosen)
    assert telling(log_factor) == pytest.approx(out / total, abs=1e-4)  # the grid


def test_enormous_factors_are_certain():
    assert telling(np.array([900.0, -900.0])) == pytest.approx([1.0, 0.0])


def test_columns_that_tell_are_marked_and_others_not():
    X, y = lab_table()
    assert fitted(X, y, "auto").marked_ == ("lab",)
    assert fitted(X, y, "mark").marked_ == ("age", "lab")
    assert fitted(X, y, "ignore").marked_ == ()
    assert fitted(X, np.random.default_rng(0).permutation(y), "auto").marked_ == ()


def test_holes_at_random_are_seldom_marked():
    # Of 4,000 columns about 9 are marked; 40 or more have a probability below 1e-12.
    rng, marks = np.random.default_rng(1), 0
    for _ in range(400):
        holes, codes = rng.random((60, 10)) < 0.3, rng.permutation(np.arange(60) % 3)
        marks += len(columns_to_indicate(holes, codes))
    assert marks < 40


def test_tables_without_holes_or_with_one_class_have_no_marks():
    X, y = lab_table()
    whole = X.fillna(0.0)
    assert fitted(whole, y, "mark").marked_ == fitted(whole, y, "auto").marked_ == ()
    assert fitted(X, ["one"] * len(X), "auto").marked_ == ()


def test_a_stream_marks_only_on_request_and_by_its_first_rows():
    X, y = lab_table()
    model = AClassClassifier(**SMALL).partial_fit(X, y)
    assert model.marked_ == ()
    model = AClassClassifier(holes="mark", **SMALL).partial_fit(X[["lab"]], y)
    assert model.marked_ == ("lab",)
    one, two = (AClassClassifier(holes="mark", **SMALL).partial_fit(X[:40], y[:40]) for _ in "ab")
    one.partial_fit(X[40:], y[40:])
    for i in range(40, len(X), 16):
        two.partial_fit(X[i : i + 16], y[i : i + 16])
    assert differences(state_of(one), state_of(two)) == []


# --- marks are columns that were added by hand ---------------------------------------------------


def by_hand(X):
    """Return an array with a column beside for each that has holes, told by that."""
    holes = np.isnan(X)
    return np.hstack([X, holes[:, holes.any(axis=0)]])


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
@pytest.mark.parametrize("kind", ["binary", "categorical", "mixed", "real"])
def test_marking_is_adding_the_columns_by_hand_bit_for_bit(kind, how):
    X, y = make_table(kind, 60), make_labels(60)
    wide = by_hand(X)
    kinds = columns_of(kind)
    more = dict.fromkeys(range(X.shape[1], wide.shape[1]), "binary")
    model = getattr(AClassClassifier(kinds, holes="mark", **SMALL), how)(X, y)
    other = getattr(AClassClassifier(kinds | more, holes="ignore", **SMALL), how)(wide, y)
    assert len(model.marked_) == len(more) > 0
    assert model.log_evidence_ == other.log_evidence_
    assert (model.predict_proba(X) == other.predict_proba(wide)).all()
    assert (model.score_samples(X) == other.score_samples(wide)).all()
    assert (model.similarity(X[:5]) == other.similarity(wide[:5])).all()
    assert np.array_equal(model.impute(X), other.impute(wide)[:, : X.shape[1]])
    cells = other.cell_anomaly_score(wide)[:, : X.shape[1]]
    assert np.array_equal(model.cell_anomaly_score(X), cells, equal_nan=True)
    shown = other.prototypes("b").iloc[:, : 2 + X.shape[1]]  # weight, rows, columns
    assert model.prototypes("b").equals(shown)


def test_the_prior_of_a_kind_is_that_of_its_marks():
    X, y = make_table("mixed", 60), make_labels(60)
    wide = by_hand(X)
    kinds = columns_of("mixed") | dict.fromkeys(range(X.shape[1], wide.shape[1]), "binary")
    for prior in ({"binary": (2.0, 3.0)}, {"x0": (2.0, 3.0)}, "reference"):
        model = fitted(X, y, "mark", columns_of("mixed"), prior=prior)
        other = fitted(wide, y, "ignore", kinds, prior=prior)
        assert (model.predict_proba(X) == other.predict_proba(wide)).all()


# --- in the user's view --------------------------------------------------------------------------


def test_marks_are_no_columns():
    X, y = lab_table()
    model = fitted(X, y, "mark")
    assert list(model.columns_) == list(X) == model.feature_names_in_.tolist()
    assert model.n_features_in_ == 3
    rows, labels = model.sample(50)
    assert list(rows) == list(X)
    assert not rows.isna().any().any()
    assert len(labels) == 50
    assert list(model.dependence(n=50)) == list(X)
    assert list(model.prototypes("ill").columns) == ["weight", "rows", *X]
    assert model.anomaly_score(X[:9], calibrated=True, n_draws=50).shape == (9,)
    assert not model.impute(X).isna().any().any()


def test_what_is_not_given_to_sample_is_unknown_and_not_missing():
    X, y = lab_table()
    model = fitted(X, y, "mark")
    _, labels = model.sample(2000, given={"ward": "a"})
    share = np.mean(y[X["ward"] == "a"] == "well")
    assert abs(np.mean(labels == "well") - share) < 0.1  # marked missing it would be above .9


def test_a_mark_speaks_for_its_column_in_an_explanation():
    X, y = lab_table()
    model, row = fitted(X, y, "mark"), {"age": None, "lab": None, "ward": "a"}
    why = model.explain(row, label="well")
    assert why.columns.index.tolist() == list(X)
    assert why.columns.loc["lab", "evidence"] > 1.0 > abs(why.columns.loc["age", "evidence"])
    p = model.predict_proba([row])[0][model.classes_.tolist().index("well")]
    prior = np.log(model.class_count_ + 1.0)[::-1] @ [1.0, -1.0]
    assert why.columns["evidence"].sum() == pytest.approx(np.log(p / (1 - p)) - prior)
    assert fitted(X, y, "ignore").explain(row).columns.loc["lab", "evidence"] == 0.0


def test_an_unseen_category_is_not_missing():
    X = [{"c": "u", "d": 0}, {"c": None, "d": 1}, {"d": 1}, {"c": "v", "d": 0}] * 10
    model = fitted(X, [0, 1, 1, 0] * 10, "mark")
    seen, unseen, missing = model.predict_proba([{"c": "u"}, {"c": "new"}, {}])[:, 1]
    assert max(seen, unseen) < 0.5 < missing


def test_columns_may_have_the_name_that_a_mark_has():
    X, y = lab_table()
    named = X.rename(columns={"age": "lab is missing"})
    one, two = fitted(X, y, "mark"), fitted(named, y, "mark")
    assert two.marked_ == ("lab is missing", "lab")
    assert (one.predict_proba(X) == two.predict_proba(named)).all()


# --- files ---------------------------------------------------------------------------------------


def saved(model):
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


@pytest.mark.parametrize("prior", ["auto", {"binary": (2.0, 3.0)}])
def test_a_marked_model_continues_bit_for_bit(prior):
    X, y = lab_table()
    model = fitted(X[:90], y[:90], "auto", prior=prior)
    again = load(io.BytesIO(saved(model)))
    assert again.holes == "auto"
    assert again.marked_ == model.marked_ == ("lab",)
    assert differences(state_of(model), state_of(again)) == []
    model.partial_fit(X[90:], y[90:])
    again.partial_fit(X[90:], y[90:])
    assert (model.predict_proba(X) == again.predict_proba(X)).all()


@pytest.mark.parametrize("marked", [[], [0], [1, 1], [7], [-2], ["lab"], 1])
def test_marks_that_do_not_fit_are_refused(marked):
    X, y = lab_table()
    name, tree, _ = artifacts.read(io.BytesIO(saved(fitted(X, y, "auto"))))
    assert tree["schema"]["marked"] == [1]
    tree["schema"]["marked"] = marked
    file = io.BytesIO()
    artifacts.write(file, name, tree, library_version="0")
    with pytest.raises(ArtifactError, match="AClassClassifier"):
        load(io.BytesIO(file.getvalue()))
