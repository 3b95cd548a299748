"""AClassClassifier.partial_fit with labels partly missing."""

import io
from itertools import pairwise

import numpy as np
import pytest

from infinimix import AClassClassifier, load, save
from tests.unit.estimators.states import differences, state_of

rng = np.random.default_rng(3)
KINDS = {"size": "real", "wet": "binary", "hue": "categorical"}
N = 70
TRUTH = rng.permutation(np.repeat(["low", "high"], N // 2))
TRUTH[:2] = ["low", "high"]
X = [
    {"size": s, "wet": w, "hue": h}
    for s, w, h in zip(
        (rng.normal(size=N) + 4 * (TRUTH == "high")).tolist(),
        rng.integers(0, 2, N).tolist(),
        rng.choice(["red", "blue", "green"], N).tolist(),
        strict=True,
    )
]
X[5]["size"] = None
Y = [label if i < 4 or i % 9 == 0 else None for i, label in enumerate(TRUTH.tolist())]
Y[30] = "middle"  # a class that comes late


def model(**parameters):
    small = {"n_islands": 3, "n_particles": 2, "n_label_particles": 3, "random_state": 0}
    return AClassClassifier(KINDS, **small | parameters)


def learn(fitted, cuts, rows=X, labels=Y):
    for first, last in pairwise((0, *cuts, len(rows))):
        fitted.partial_fit(rows[first:last], labels[first:last])
    return fitted


@pytest.mark.parametrize(("particles", "window"), [(1, 0), (3, 0), (3, 8)])
def test_any_cutting_into_calls_gives_the_same_model(particles, window):
    parameters = {"n_label_particles": particles, "window": window}
    whole = state_of(learn(model(**parameters), ()))
    assert not differences(whole, state_of(learn(model(**parameters), (1, 2, 5, 6, 29, 30, 31))))
    one_by_one = learn(model(**parameters), range(1, N))
    assert not differences(whole, state_of(one_by_one))


@pytest.mark.parametrize("window", [0, 8])
def test_a_saved_model_goes_on_as_if_it_had_stayed(window):
    stays = learn(model(window=window), (), X[:40], Y[:40])
    file = io.BytesIO()
    save(stays, file)
    again = load(io.BytesIO(file.getvalue()))
    assert any(len(island.hypotheses) > 1 for island in again._bank.islands)
    assert not differences(state_of(stays), state_of(again))
    for each in (stays, again):
        each.partial_fit(X[40:], Y[40:])
    assert not differences(state_of(stays), state_of(again))
    assert again.log_evidence_ == stays.log_evidence_
    assert np.array_equal(again.predict_proba(X), stays.predict_proba(X))


def test_rows_without_labels_find_their_classes():
    few = [label if i < 6 else None for i, label in enumerate(TRUTH.tolist())]
    fitted = learn(model(), (), X, few)
    assert fitted.classes_.tolist() == ["high", "low"]
    alone = model().partial_fit(X[:6], few[:6])
    gain = np.mean(fitted.predict(X) == TRUTH) - np.mean(alone.predict(X) == TRUTH)
    assert gain > 0.05
    assert fitted.class_count_.sum() == pytest.approx(N)
    assert np.isfinite(fitted.log_evidence_)
    assert all(1 <= len(island.hypotheses) <= 3 for island in fitted._bank.islands)
    assert fitted.sample(5)[1].shape == (5,)
    assert fitted.n_groups_.shape == (2,)


def test_labels_that_are_all_there_leave_everything_as_it_was():
    fitted = model().partial_fit(X, TRUTH)
    assert [len(island.hypotheses) for island in fitted._bank.islands] == [1, 1, 1]
    other = model(n_label_particles=1, unlabelled="?").partial_fit(X, TRUTH)
    assert not differences(state_of(fitted), state_of(other))
    assert fitted.class_count_.tolist() == [(label == TRUTH).sum() for label in ("high", "low")]


@pytest.mark.parametrize(("none", "unlabelled"), [(np.nan, None), ("?", "?")])
def test_no_label_has_several_names(none, unlabelled):
    named = [none if label is None else label for label in Y]
    again = learn(model(unlabelled=unlabelled), (), X, named)
    assert np.array_equal(again.predict_proba(X), learn(model(), ()).predict_proba(X))


def test_single_rows_may_lack_a_label():
    fitted = learn(model(), (), X[:20], Y[:20])
    fitted.learn_one(X[20], None)
    assert not differences(state_of(fitted), state_of(learn(model(), (), X[:21], Y[:21])))


def test_the_first_row_needs_a_class_to_be_of():
    fitted = model()
    with pytest.raises(ValueError, match="Row 0 has no label.*classes="):
        fitted.partial_fit(X[:3], [None, "low", "high"])
    assert not hasattr(fitted, "_bank")
    fitted.partial_fit(X[:3], [None, "low", "high"], classes=["low", "high"])
    assert fitted.class_count_.sum() == pytest.approx(3)
    late = model().partial_fit(X[:3], ["low", None, "high"])
    assert late.class_count_.tolist() == [1, 2]  # when row 1 came there was one class


@pytest.mark.parametrize(
    ("rows", "labels", "error"),
    [
        (X[:2], [None, 1.5], "continuous"),
        (X[:2], [None], "inconsistent numbers"),
        ([X[0], {**X[1], "size": "wide"}], [None, None], "size"),
    ],
)
def test_a_failed_call_leaves_the_model_as_it_was(rows, labels, error):
    fitted = learn(model(), (), X[:30], Y[:30])
    before = state_of(fitted)
    with pytest.raises(ValueError, match=error):
        fitted.partial_fit(rows, labels)
    assert not differences(before, state_of(fitted))


def test_it_goes_on_after_a_whole_table_with_labels_missing():
    fitted = model().fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    assert fitted.class_count_.sum() == pytest.approx(N)
    assert np.mean(fitted.predict(X) == TRUTH) > 0.8


def test_threads_change_nothing():
    assert not differences(
        state_of(learn(model(n_jobs=2), ())) | {"attributes": 0},
        state_of(learn(model(), ())) | {"attributes": 0},
    )
