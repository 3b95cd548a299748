"""Values from files are what is expected of them, or refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from infinimix.artifacts.expectations import Expected, check_all

INDEX = Expected("n", "i8", low=0, high="K")
CASES = {
    "another dtype": (Expected("n"), np.zeros(2, np.float32), "no array of 1"),
    "another order of bytes": (Expected("n"), np.zeros(2, ">f8"), "no array of 1"),
    "another dimension": (Expected("nd"), np.zeros(2), "no array of 2"),
    "no array": (Expected("n"), [0.0, 1.0], "no array"),
    "another size": (Expected("nn"), np.zeros((2, 3)), "does not fit"),
    "another digit": (Expected("4"), np.zeros(3), "does not fit"),
    "not finite": (Expected("n"), np.array([np.nan]), "not finite"),
    "an index beyond": (INDEX, np.array([0, 5]), "out of range"),
    "an index before": (INDEX, np.array([-1]), "out of range"),
    "not in order": (Expected("n", rising=True), np.array([0.0, 0.0]), "not in order"),
    "a truth value": (Expected(), True, "no number"),
    "a whole number": (Expected(), 3, "no number"),
    "a fraction": (Expected("", "i8"), 0.5, "no number"),
    "too large for a machine": (Expected("", "i8"), 2**70, "out of range"),
}


@pytest.mark.parametrize("name", CASES)
def test_something_else_is_refused_by_name(name: str) -> None:
    expected, value, words = CASES[name]
    with pytest.raises(ValueError, match=f"^rows .*{words}"):
        expected.check("rows", value, {"K": 5})


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (Expected(), 0.5),
        (Expected("", "i8"), 7),
        (Expected("*n"), np.zeros((3, 2))),
        (Expected("n", "iu"), np.zeros(2, np.uint8)),
        (Expected("n", finite=False), np.array([np.inf])),
        (Expected("n", rising=True), np.array([0.0, 1.0])),
        (INDEX, np.arange(5)),
    ],
)
def test_what_is_expected_is_returned(expected: Expected, value: Any) -> None:
    assert expected.check("rows", value, {"K": 5}) is value


def test_arrays_tell_each_other_their_sizes() -> None:
    table = {"means": Expected("Kd"), "rows": INDEX}
    assert check_all(table, {"means": np.zeros((2, 3)), "rows": np.ones(4, int)}, {})["K"] == 2
