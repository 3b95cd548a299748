"""A reader of single rows gives what `encode` gives, or leaves the row to it."""

import collections
import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from infinimix.tables import encode, read_schema
from infinimix.tables.single_rows import RowReader, take_back, take_reader
from tests.unit.tables.test_records import KINDS, ROWS, schema_of


def slowly(X):
    """The same row in a form that `encode` reads column by column."""
    if isinstance(X, list):
        return [collections.OrderedDict(row) for row in X]
    return np.vstack([X, X])


def assert_as_encoded(schema, X):
    reader, expected = RowReader(schema), encode(schema, slowly(X), learn=True)
    assert reader.read(X)
    for a, b in zip(reader.blocks, expected.blocks, strict=True):
        assert a.dtype == b.dtype
        assert a.flags.carray
        np.testing.assert_array_equal(a, b[:1])
    assert not expected.novel


@pytest.mark.parametrize("row", ROWS)
def test_a_dict_is_read_as_by_encode(row):
    assert_as_encoded(schema_of(), [row])


@pytest.mark.parametrize("kind", ["binary", "real", "count"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1", "u1", "?"])
def test_a_row_of_an_array_is_read_as_by_encode(kind, dtype):
    X = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    schema = read_schema(X, kind)
    for i in range(len(X)):
        assert_as_encoded(schema, X[i : i + 1])
        assert_as_encoded(schema, np.asfortranarray(X)[i : i + 1])


def test_missing_cells_are_read():
    X = np.array([[0.0, np.nan], [1.0, 1.0]])
    assert_as_encoded(read_schema(X, "binary"), X[:1])
    assert_as_encoded(read_schema(X, "real"), X[:1])


@pytest.mark.parametrize(
    "row",
    [
        {"c": "green"},  # a new category
        {"b": 2},
        {"a": "1.5"},
        {"a": float("inf")},
        {"d": -1},
        {"d": 10**400},
        {"c": ["red"]},
        {"z": 1.0},  # no column
        [1.0, 0, "red", 1, 1],
    ],
)
def test_what_takes_a_closer_look_is_left_to_encode(row):
    assert not RowReader(schema_of()).read([row])


def test_other_forms_are_left_to_encode():
    schema, X = schema_of(), np.zeros((2, 3))
    plain = RowReader(read_schema(X, "real"))
    for other in (X, X[:, :2], X[:1].astype(object), X[0], np.full((1, 3), np.inf), [[0.0] * 3]):
        assert not plain.read(other)
    assert not RowReader(schema).read(ROWS[:2])
    assert not RowReader(schema).read(X[:1])  # it has names, which an array lacks
    assert not RowReader(schema).read([])


def test_transforms_dates_and_indicators_are_left_to_encode():
    logs = [{"a": 1.0 + i} for i in range(40)]
    assert not RowReader(read_schema(logs, {"a": "real:log"})).read(logs[:1])
    schema = schema_of()
    marked = type(schema)(schema.columns, True, schema.categories, schema.sources, indicated=(0,))
    assert not RowReader(marked).read(ROWS[:1])


def test_the_next_row_overwrites_the_last():
    schema = schema_of()
    reader = RowReader(schema)
    blocks = reader.blocks
    for row in (ROWS[:1], ROWS[2:3]):
        assert reader.read(row)
        assert reader.blocks is blocks
        for a, b in zip(blocks, encode(schema, slowly(row), learn=True).blocks, strict=True):
            np.testing.assert_array_equal(a, b)


def test_two_callers_have_two_readers():
    schema = schema_of()
    one, two = take_reader(schema), take_reader(schema)
    assert one is not two
    assert one.blocks[0] is not two.blocks[0]
    take_back(schema, one)
    assert take_reader(schema) is one


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_of_a_schema_has_readers_of_its_own(twin_of):
    schema = schema_of(kinds=KINDS)
    take_back(schema, take_reader(schema))
    twin = twin_of(schema)
    assert len(schema.readers) == 1
    assert not twin.readers
    assert twin == schema


def test_a_schema_that_nobody_holds_is_gone_at_once():
    schema = schema_of()
    take_back(schema, take_reader(schema))
    gone = weakref.ref(schema)
    gc.disable()
    try:
        del schema
        assert gone() is None
    finally:
        gc.enable()
