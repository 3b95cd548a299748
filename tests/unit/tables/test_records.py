"""Rows as dicts: read at once or column by column, they are the same table."""

import collections
from decimal import Decimal

import numpy as np
import pytest

from infinimix.tables import encode, read_schema
from infinimix.tables.aligned import open_aligned
from infinimix.tables.records import Records, open_records

KINDS = {"a": "real", "b": "binary", "c": "categorical", "d": "count", "e": "categorical"}
ROWS = [
    {"a": 1.5, "b": 1, "c": "red", "d": 3, "e": 1},
    {"a": None, "b": None, "c": None, "d": None, "e": None},
    {"e": 2, "d": 0, "c": "blue", "b": False, "a": -2},
    {"b": 0.0},
    {},
]


def schema_of(rows=ROWS, kinds=KINDS):
    schema = read_schema(rows, kinds)
    return schema.extended(encode(schema, rows, learn=True).novel)


def slowly(rows):
    """The same rows in a form that is read column by column."""
    return [collections.OrderedDict(row) for row in rows]


def assert_same(schema, rows, learn=True):
    one, two = encode(schema, rows, learn), encode(schema, slowly(rows), learn)
    assert one.n_rows == two.n_rows
    for a, b in zip(one.blocks, two.blocks, strict=True):
        assert a.dtype == b.dtype
        assert a.flags.carray
        np.testing.assert_array_equal(a, b)
    assert [x.tolist() for x in one.novel[:2]] == [x.tolist() for x in two.novel[:2]]
    assert one.novel.values == two.novel.values


def test_dicts_with_string_keys_are_records():
    schema = schema_of()
    assert isinstance(open_aligned(schema, ROWS), Records)
    assert open_records(schema, [{"a": 1.0, "z": 2.0}]) is None
    assert open_records(schema, [{0: 1.0}]) is None
    assert open_records(schema, slowly(ROWS)) is None
    assert open_records(schema, [ROWS[0], [1.0]]) is None
    assert open_records(schema, []) is None


def test_rows_with_numbers_for_keys_are_no_records():
    rows = [{0: 1.5, 1: 2.5}]
    assert open_records(read_schema(rows), rows) is None


@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize(
    "row",
    [
        {},
        {"a": float("nan"), "b": float("nan"), "c": float("nan"), "d": float("nan")},
        {"a": np.float64(1.5), "b": np.int8(1), "c": np.str_("red"), "d": np.int64(7)},
        {"a": Decimal("1.5"), "d": 2.0, "b": np.bool_(True)},
        {"a": True, "d": True, "e": True},
        {"c": "green", "e": 5},
        {"a": 2**60, "d": 2**52},
    ],
    ids=str,
)
def test_cells_of_any_type_are_read_as_column_by_column(row, learn):
    schema = schema_of()
    assert_same(schema, [row], learn)
    assert_same(schema, [*ROWS, row, *ROWS], learn)


def test_many_rows_are_read_as_one():
    schema = schema_of()
    whole = encode(schema, ROWS, learn=True).blocks
    parts = [encode(schema, [row], learn=True).blocks for row in ROWS]
    for block, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(block, np.concatenate(pieces))


@pytest.mark.parametrize(
    "row",
    [
        {"a": "text"},
        {"a": float("inf")},
        {"a": 10**400},
        {"a": [1.0]},
        {"b": 2},
        {"b": "yes"},
        {"b": []},
        {"c": ["red"]},
        {"c": float("inf")},
        {"c": 1j},
        {"d": -1},
        {"d": 0.5},
        {"z": 1},
        {"z": 1, "a": 2.0, "b": 1, "c": "red", "d": 3},
        {1: 1},
    ],
    ids=str,
)
def test_what_is_refused_is_refused_in_the_same_words(row):
    schema = schema_of()
    rows = [ROWS[0], row]
    with pytest.raises((ValueError, TypeError)) as slow:
        encode(schema, slowly(rows), learn=True)
    with pytest.raises(slow.type) as quick:
        encode(schema, rows, learn=True)
    assert str(quick.value) == str(slow.value)


def test_marks_and_transforms_are_those_of_columns():
    from dataclasses import replace

    kinds = {"a": "real:log", "b": "binary", "c": "categorical"}
    rows = [{"a": float(x), "b": x % 2, "c": "xy"[x % 2]} for x in range(1, 9)]
    schema = replace(schema_of(rows, kinds), indicated=(0, 2))
    assert_same(schema, [*rows, {"b": 1}, {"a": 2.0, "c": float("nan")}])
    only = replace(schema_of([{"a": 1.5}], {"a": "real"}), indicated=(0,))
    assert_same(only, [{"a": None}, {"a": 2.0}])


def test_the_rows_of_the_user_stay_as_they_are():
    rows = [dict(row) for row in ROWS]
    encode(schema_of(), rows, learn=True)
    assert rows == ROWS
