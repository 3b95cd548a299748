"""Rows of a frame, predicted by a network with known tables."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infinimix.networks import BayesNet, sample_network

NET = sample_network((2, 2, 1), cards=3, random_state=4)
ROWS = {"x1": ["2", None, "0", "2"], "x3": ["1", "0", None, "1"]}


def by_enumeration(row, wanted):
    """The states of the wanted variables with the largest sum over all others."""
    totals = {}
    for codes in product(range(3), repeat=5):
        values = dict(zip(NET.names, map(str, codes), strict=True))
        if all(values[name] == value for name, value in row.items()):
            key = tuple(values[name] for name in wanted)
            p = float(np.exp(NET.log_probability(np.array([codes]))[0]))
            totals[key] = totals.get(key, 0.0) + p
    return dict(zip(wanted, max(totals, key=totals.get), strict=True))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_rows_are_predicted_as_by_enumeration(make):
    found = NET.predict(make(ROWS))
    assert isinstance(found, make)
    assert list(found.columns) == ["x0", "x2", "x4"]
    for i in range(4):
        row = {name: values[i] for name, values in ROWS.items() if values[i] is not None}
        assert {name: found[name][i] for name in found.columns} == by_enumeration(
            row, ["x0", "x2", "x4"]
        )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x9": ["1"]}, "columns that are no variables: \\['x9'\\]"),
        ({name: ["1"] for name in NET.names}, "the table has all variables"),
        ({"x0": ["1", "7"]}, "row 1: 'x0' has no state '7'"),
    ],
)
def test_what_cannot_be_predicted_is_named(table, message):
    with pytest.raises(ValueError, match=message):
        NET.predict(pd.DataFrame(table))


def test_evidence_that_is_impossible_names_the_row():
    net = BayesNet(
        ("a", "b", "c"), (("0", "1"),) * 3, ((), (0,), ()),
        (np.array([1.0, 0.0]), np.eye(2), np.array([0.5, 0.5])),
    )  # fmt: skip
    with pytest.raises(ValueError, match="row 1: "):
        net.predict(pd.DataFrame({"a": ["0", "1"], "b": ["0", "1"]}))
