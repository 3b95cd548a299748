"""`as_published()` says, row by row, what the equations of the paper say."""

import numpy as np
import pytest

from infinimix import NEW_CLASS, OnlineCRPClassifier
from infinimix.partitions.relaxed import GRID as OUR_GRID
from tests.oracle.online_published import (
    GRID,
    NEW,
    Bits,
    DrawnOnlineCRP,
    Numbers,
    PublishedOnlineCRP,
    Words,
)
from tests.unit.estimators.online_streams import make_texts

ROWS = 60
SEED = 5
CASES = {  # parameters of the classifier, and those of the slow one that differ
    "as it is": ({}, {}),
    "a readiness for new classes": ({"prior": 3.0, "alpha": 80.0}, {"prior": 3.0, "alpha": 80.0}),
    "strong regret": ({"regret": (0.5, 0.4, np.inf)}, {"regret": (0.5, 0.4)}),
    "b is ten": ({"positive": 10.0, "negative": 10.0}, {"b": 10.0}),
    "b is a tenth": ({"positive": 0.1, "negative": 0.1}, {"b": 0.1}),
    "posterior": (
        {"alpha_rule": "posterior-published", "regret": (0.2, 0.1, np.inf)},
        {"alpha_rule": "posterior", "regret": (0.2, 0.1)},
    ),
}


def slow_of(changes):
    changes = dict(changes)
    return PublishedOnlineCRP(Words(changes.pop("prior", 0.5)), **changes)


def chances():
    """The uniform numbers by which the classifier draws alpha: those of its fourth generator."""
    return np.random.default_rng(np.random.SeedSequence(SEED).spawn(4)[3]).random(ROWS)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)


def compare(fast, slow, row):
    """Compare the answers for one row; return what both predict."""
    p = slow.posterior(row)
    close(fast.new_class_proba([row])[0], p[NEW])
    old = np.array([p[c] for c in fast.classes_])
    close(fast.predict_proba([row])[0], old / old.sum())
    z = slow.predict(row)
    said = fast.predict([row])[0]
    assert said is NEW_CLASS if z is NEW else said == z
    return z


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_texts_follow_the_equations(name, seed):
    parameters, changes = CASES[name]
    X, y = make_texts(ROWS, seed)
    fast = OnlineCRPClassifier.as_published(random_state=SEED, **parameters)
    slow, u, wrong = slow_of(changes), chances(), 0
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        z = compare(fast, slow, row) if i else NEW
        wrong += z != label
        slow.learn(row, label, z, u[i])
        fast.partial_fit([row], [label])
        close(fast.alpha_, slow.alpha)
    assert wrong > 5  # there was something to correct
    assert fast.class_count_.tolist() == [slow.m[c] for c in fast.classes_]


def test_some_rows_are_taken_for_new_rightly_and_wrongly():
    X, y = make_texts(ROWS, 0)
    parameters, changes = CASES["a readiness for new classes"]
    slow, found = slow_of(changes), set()
    for row, label in zip(X, y, strict=True):
        z = slow.predict(row)
        found.add((z is NEW, label not in slow.m))
        slow.learn(row, label, z)
    assert {(True, True), (True, False), (False, True)} <= found
    fast = OnlineCRPClassifier.as_published(**parameters)
    fast.forecast(X, y)
    close(fast.alpha_, slow.alpha)


def test_tables_follow_the_equations():
    rng = np.random.default_rng(3)
    theta = rng.beta(0.4, 0.4, (4, 7))
    labels = np.minimum(rng.integers(0, 4, ROWS), np.arange(ROWS) // 8)
    X = (rng.random((ROWS, 7)) < theta[labels]).astype(int)
    fast = OnlineCRPClassifier.as_published(columns="binary", prior="reference", alpha=5.0)
    slow, called = PublishedOnlineCRP(Bits(), alpha=5.0), 0
    for i, (cells, label) in enumerate(zip(X, labels.tolist(), strict=True)):
        row = tuple(cells.tolist())
        if i:
            p = slow.posterior(row)
            close(fast.new_class_proba([cells])[0], p[NEW])
            said, z = fast.predict([cells])[0], slow.predict(row)
            assert said is NEW_CLASS if z is NEW else said == z
            called += z is NEW
        slow.learn(row, label, None if i else NEW)
        fast.partial_fit([cells], [label])
        close(fast.alpha_, slow.alpha)
    assert called > 0


def make_table(kind, seed):
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.integers(0, 4, ROWS), np.arange(ROWS) // 8)
    if kind == "bits":
        theta = rng.beta(0.4, 0.4, (4, 7))
        return (rng.random((ROWS, 7)) < theta[labels]).astype(int), labels.tolist()
    return rng.normal(0, 1.5, (4, 3))[labels] + rng.normal(size=(ROWS, 3)), labels.tolist()


DRAWN = {
    "bits": (Bits, {"columns": "binary", "prior": "reference"}),
    "numbers": (
        lambda: Numbers(0.2, 0.5, 3.0, 1.5**2),  # the classifier takes a deviation
        {"columns": "real", "prior": dict.fromkeys(("x0", "x1", "x2"), (0.2, 0.5, 3.0, 1.5))},
    ),
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("algorithm", ["redrawn", "sampled"])
@pytest.mark.parametrize("kind", DRAWN)
def test_algorithm_1_on_tables_follows_the_equations(kind, algorithm, seed):
    """Both draw by one generator, so what they say is the same row by row."""
    data, parameters = DRAWN[kind]
    X, labels = make_table(kind, seed)
    fast = OnlineCRPClassifier.as_published(
        random_state=SEED, algorithm=algorithm, alpha=5.0, **parameters
    )
    rng = np.random.default_rng(np.random.SeedSequence(SEED).spawn(4)[0])
    slow, wrong, called = DrawnOnlineCRP(data(), rng, alpha=5.0), 0, 0
    for i, (cells, label) in enumerate(zip(X, labels, strict=True)):
        row = tuple(cells.tolist())
        z = slow.predict(row) if i else NEW
        if i:
            p = slow.posterior(row)
            close(fast.new_class_proba([cells])[0], p[NEW])
            old = np.array([p[c] for c in fast.classes_])
            close(fast.predict_proba([cells])[0], old / old.sum())
            said = fast.predict([cells])[0]
            assert said is NEW_CLASS if z is NEW else said == z
        wrong, called = wrong + (z != label), called + (z is NEW)
        slow.learn(row, label, z)
        fast.partial_fit([cells], [label])
        close(fast.alpha_, slow.alpha)
    assert wrong > 5
    assert called > 1
    assert fast.class_count_.tolist() == [slow.m[c] for c in fast.classes_]


def test_late_labels_move_alpha_by_what_was_said_then():
    X, y = make_texts(ROWS, 2)
    fast, slow = OnlineCRPClassifier.as_published(), PublishedOnlineCRP(Words(0.5))
    rng = np.random.default_rng(0)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        known = [*slow.m, NEW]
        z = known[rng.integers(len(known))] if i else NEW
        slow.learn(row, label, z)
        fast.partial_fit([row], [label], predicted=[NEW_CLASS if z is NEW else z])
        close(fast.alpha_, slow.alpha)


def test_decisions_are_drawn_from_equation_7():
    """Of 4,000 draws; a multinomial beyond five standard errors: once in a million."""
    X, y = make_texts(ROWS, 0)
    options = {"prior": 3.0, "alpha": 80.0, "decision": "sample", "random_state": 0}
    fast, slow = OnlineCRPClassifier.as_published(**options), slow_of({"prior": 3.0, "alpha": 80.0})
    for row, label in zip(X, y, strict=True):
        slow.learn(row, label, label)
        fast.partial_fit([row], [label], predicted=[label])
    row = X[-1]
    p, said = slow.posterior(row), fast.predict([row] * 4000)
    for j in (*slow.m, NEW):
        share = np.mean([z is NEW_CLASS if j is NEW else z == j for z in said])
        assert abs(share - p[j]) < 5 * np.sqrt(p[j] * (1 - p[j]) / 4000) + 1e-9


def test_the_grid_is_the_one_that_is_documented():
    close(GRID, OUR_GRID)
