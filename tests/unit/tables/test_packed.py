"""Columns in few bytes: nothing of them is lost, however they are cut into partitions."""

import datetime as dt
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from infinimix.tables import encode, read_schema
from infinimix.tables.forms import Cells
from infinimix.tables.packed import PackedTable, pack_columns, unite
from infinimix.tables.partitioned import pack_frame

N = 200
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "bits": rng.integers(2, size=N),
        "holes": np.where(rng.random(N) < 0.2, np.nan, rng.integers(2, size=N)),
        "few": rng.integers(300, 305, size=N),
        "real": rng.normal(size=N),
        "half": rng.integers(40, size=N) / 4,
        "skewed": np.exp(3 * rng.normal(size=N)),
        "word": [None if i % 7 == 0 else f"w{i // 30}" for i in range(N)],
        "flag": rng.random(N) < 0.5,
        "when": [dt.datetime(2024, 1 + i % 12, 1 + i % 28) for i in range(N)],
        "id": [f"id {i}" for i in range(N)],
        "category": pd.Categorical([f"c{i % 3}" for i in range(N)]),
        "nullable": pd.array([None if i % 9 == 0 else i % 4 for i in range(N)], "Int64"),
    }
)


def packed(frame, *cuts):
    edges = pairwise([0, *cuts, len(frame)])
    return PackedTable([pack_frame(frame.iloc[a:b]) for a, b in edges])


@pytest.mark.parametrize("cuts", [(), (70,), (1, 2, 150), (50, 50)])
def test_partitions_are_encoded_as_the_whole(cuts):
    table = packed(FRAME, *cuts)
    schema = read_schema(FRAME, spikes=True)
    assert read_schema(table, spikes=True) == schema
    expected, found = (encode(schema, X, learn=True) for X in (FRAME, table))
    for one, other in zip(found.blocks, expected.blocks, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.schema.extended(found.novel) == expected.schema.extended(expected.novel)


def test_cells_take_few_bytes():
    frame = pd.DataFrame({"a": [0, 1] * 500, "b": [0.5, np.nan] * 500, "c": ["x", "y"] * 500})
    assert packed(frame).nbytes == 1000 + 2000 + 1000


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**40, -3]), np.array([2**63 + 5, 1], np.uint64), np.array([0.1, np.inf, -0.0]),
        np.array([65504.0, 1e300, np.nan]), np.array([True, False]), ["1", 1, 1.0, True, None],
        [["a list"], "b"],
    ],
)  # fmt: skip
def test_nothing_is_lost(values):
    (column,) = pack_columns([Cells(values)])
    back = column.cells().values
    if isinstance(values, list):
        assert [(type(v), v) for v in back] == [(type(v), v) for v in values]
    else:
        np.testing.assert_array_equal(back, values)
        assert back.dtype.kind == values.dtype.kind
        np.testing.assert_array_equal(np.signbit(back), np.signbit(values))


def test_partitions_of_different_types_are_united():
    whole = unite([Cells(np.array([1, 2])), Cells(np.array([0.5, np.nan]))])
    np.testing.assert_array_equal(whole.values, [1.0, 2.0, 0.5, np.nan])
    mixed = unite([Cells(np.array([1, 2]), np.array([False, True])), Cells(["a"])])
    assert mixed.values == [1, None, "a"]
    assert unite([Cells(np.array([True])), Cells(np.array([2]))]).values == [True, 2]
    masked = unite([Cells(np.array([1])), Cells(np.array([2]), np.array([True]))])
    assert masked.missing.tolist() == [False, True]


def test_a_column_is_taken_out():
    rest, word = packed(FRAME, 70).without("word")
    assert "word" not in rest.columns
    assert rest.shape == (N, 11)
    assert word.values == [None if i % 7 == 0 else f"w{i // 30}" for i in range(N)]
