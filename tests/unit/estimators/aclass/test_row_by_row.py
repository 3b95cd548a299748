"""Single rows past `partial_fit`'s choices leave the same bits, and never skip a check."""

import copy
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from infinimix import AClassClassifier
from infinimix.estimators.aclass import classifier, row_by_row
from tests.unit.estimators.states import differences, state_of
from tests.unit.estimators.tables import KINDS, columns_of, make_labels, make_table

SETTINGS = {"n_particles": 4, "n_islands": 2, "random_state": 0}


def as_dicts(X):
    names = [f"x{j}" for j in range(X.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def taken(monkeypatch):
    """Count the rows that go the short way."""
    counts = {True: 0, False: 0}
    learn_row = row_by_row.learn_row

    def counting(*args):
        short = learn_row(*args)
        counts[short] += 1
        return short

    monkeypatch.setattr(classifier, "learn_row", counting)
    return counts


def slowly(monkeypatch):
    monkeypatch.setattr(classifier, "learn_row", lambda *args: False)


def one_by_one(model, X, y):
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model


@pytest.mark.parametrize("form", [np.asarray, as_dicts])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_single_rows_leave_the_bits_of_a_whole_table(kind, form):
    X, y = form(make_table(kind, 60)), make_labels(60)
    columns = columns_of(kind)
    if form is as_dicts and isinstance(columns, dict):
        columns = {
            tuple(f"x{j}" for j in k) if isinstance(k, tuple) else f"x{k}": v
            for k, v in columns.items()
        }
    first = AClassClassifier(columns, **SETTINGS).partial_fit(X[:9], y[:9])  # settles the types
    whole = copy.deepcopy(first).partial_fit(X[9:], y[9:])
    single = one_by_one(first, X[9:], y[9:])
    assert differences(state_of(whole), state_of(single)) == []
    together = whole.predict_proba(X[:5])
    each = [single.predict_proba(X[i : i + 1])[0] for i in range(5)]
    assert np.array_equal(together, each)


@pytest.mark.parametrize("kind", ["binary", "real", "count"])
def test_most_rows_go_the_short_way(kind, monkeypatch):
    counts = taken(monkeypatch)
    X, y = make_table(kind, 100), make_labels(100)
    one_by_one(AClassClassifier(kind, **SETTINGS), X, y)
    assert counts[True] > 85  # all but the first, new labels, and powers of two
    counts.update({True: 0, False: 0})
    one_by_one(AClassClassifier(kind, **SETTINGS), as_dicts(X), y.tolist())
    assert counts[True] > 85


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": {"m": 2.0}},
        {"unlabelled": "?"},
        {"resampling": "multinomial"},
        {"window": 6},
        {"prior": "reference", "alpha": 1.0},
        {"max_groups": 2},
    ],
)
def test_parameters_mean_the_same_on_the_short_way(parameters, monkeypatch):
    X, y = make_table("binary", 60), make_labels(60)
    y[30] = "?" if "unlabelled" in parameters else y[30]
    short = one_by_one(AClassClassifier("binary", **SETTINGS, **parameters), X, y)
    slowly(monkeypatch)
    long = one_by_one(AClassClassifier("binary", **SETTINGS, **parameters), X, y)
    assert differences(state_of(short), state_of(long)) == []
    assert np.array_equal(short.predict_proba(X), long.predict_proba(X))


def test_what_fit_has_found_is_given_up_as_in_many_rows():
    X, y = make_table("binary", 60), make_labels(60)
    model = AClassClassifier("binary", effort="fast", random_state=0).fit(X, y)
    model.partial_fit(X[:1], y[:1]).partial_fit(X[1:2], y[1:2])
    twin = AClassClassifier("binary", effort="fast", random_state=0).fit(X, y)
    twin.partial_fit(X[:2], y[:2])
    assert differences(state_of(model), state_of(twin)) == []
    with pytest.raises(ValueError, match="are not kept"):
        model.predict_batch(X[:1])


def test_bad_rows_are_refused_and_change_nothing():
    X, y = make_table("binary", 30, holes=0.0), make_labels(30)
    model = one_by_one(AClassClassifier("binary", **SETTINGS), X, y)
    before = copy.deepcopy(state_of(model))
    for rows, labels, error in (
        (np.full((1, X.shape[1]), 2.0), y[:1], ValueError),
        (X[:1, :2], y[:1], ValueError),
        (X[:2], y[:1], ValueError),
        (X[:1], y[:2], ValueError),
        (X[:1], np.array([3]), ValueError),
        (X[:1].astype(complex), y[:1], ValueError),
    ):
        with pytest.raises(error):
            model.partial_fit(rows, labels)
    model.set_params(relevance="learn")
    with pytest.raises(ValueError, match="relevance='learn'"):
        model.partial_fit(X[:1], y[:1])
    assert differences(before, state_of(model)) == []


def test_an_interrupted_row_is_noticed_by_the_next(monkeypatch):
    X, y = make_table("binary", 30), make_labels(30)
    model = one_by_one(AClassClassifier("binary", **SETTINGS), X, y)

    def interrupt(*args):
        raise KeyboardInterrupt

    last = model._bank.islands[1].filters[int(y[0] != y[0])]
    monkeypatch.setattr(type(last), "update_placed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[:1], y[:1])
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="interrupted"):
        model.partial_fit(X[:1], y[:1])


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_reads_rows_into_arrays_of_its_own(twin_of):
    X, y = make_table("binary", 60), make_labels(60)
    model = one_by_one(AClassClassifier("binary", **SETTINGS), X[:40], y[:40])
    twin = twin_of(model)
    for i in range(40, 60):
        for m in (model, twin):
            m.partial_fit(X[i : i + 1], y[i : i + 1])
    assert differences(state_of(model), state_of(twin)) == []


def test_threads_that_ask_one_model_do_not_read_each_others_rows():
    X, y = make_table("real", 80, holes=0.0), make_labels(80)
    model = AClassClassifier("real", **SETTINGS).partial_fit(X, y)
    rows = [X[i : i + 1] for i in range(80)]
    alone = [model.predict_proba(row) for row in rows]
    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(model.predict_proba, itertools.chain.from_iterable([rows] * 5)))
    assert all(np.array_equal(a, b) for a, b in zip(asked, alone * 5, strict=True))
