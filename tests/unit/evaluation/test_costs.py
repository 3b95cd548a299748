"""Decisions by cost against enumeration of all decisions."""

import numpy as np
import pytest

from infinimix.evaluation.costs import compare_costs, costs_by_class, decide, threshold
from infinimix.evaluation.predictions import Predictions


def test_decisions_are_those_of_least_expected_cost():
    rng = np.random.default_rng(0)
    proba, costs = rng.dirichlet([1, 1, 1], 50), np.array([5.0, 1.0, 2.5])
    for p, k in zip(proba, decide(proba, costs), strict=True):
        expected = [sum(c * q for j, (c, q) in enumerate(zip(costs, p, strict=True)) if j != answer)
                    for answer in range(3)]  # fmt: skip
        assert k == np.argmin(expected)


def test_two_classes_have_a_threshold():
    costs = costs_by_class(["ill", "well"], {"fn": 5.0, "fp": 1.0}, "ill")
    assert costs.tolist() == [5.0, 1.0]
    assert threshold(costs, 0) == pytest.approx(1 / 6)
    p = np.linspace(0.01, 0.99, 99)
    ill = decide(np.column_stack([p, 1 - p]), costs) == 0
    assert (ill == (p >= 1 / 6)).all()
    assert costs_by_class([0, 1], {"fn": 5.0}, 1).tolist() == [1.0, 5.0]


@pytest.mark.parametrize(
    ("labels", "given", "words"),
    [
        (["a", "b", "c"], {"fn": 5.0, "fp": 1.0}, 'two classes, and there are 3.*"a=5,b=1"'),
        (["a", "b"], {"c": 5.0}, "'c' is not a class; there are 'a', 'b'"),
    ],
)
def test_costs_that_do_not_fit_are_refused(labels, given, words):
    with pytest.raises(ValueError, match=words):
        costs_by_class(labels, given, labels[0])


def test_costs_before_and_after_by_hand():
    y, none = np.array([0, 0, 1, 1]), np.zeros(4, int)
    proba = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.05, 0.95]])
    found = compare_costs(
        Predictions(["ill", "well"], None, none, y, proba, none, [], ""), np.array([5.0, 1.0])
    )
    assert found["before"] == 5 / 4  # one ill row is missed
    assert found["after"] == 1 / 4  # none, but one well row is taken for ill
    assert found["saved"] == 1.0
    assert (found["best_constant"], found["best_constant_cost"]) == ("ill", 0.5)
    assert [c["recall"] for c in found["classes"]] == [1.0, 0.5]


def test_a_mean_cost_is_not_negative_nor_above_the_largest():
    y = np.array([0] * 19 + [1])
    proba = np.tile([0.9, 0.1], (20, 1))
    none = np.zeros(20, int)
    found = compare_costs(
        Predictions(["well", "ill"], None, none, y, proba, none, [], ""), np.array([1.0, 5.0])
    )
    assert found["before"] == 5 / 20
    assert found["before_interval"][0] == 0.0
    assert found["before_interval"][1] <= 5.0
    assert found["saved_interval"][0] == pytest.approx(-found["saved_interval"][1])
