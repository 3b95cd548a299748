"""Schemas as values: growth, JSON, decoding."""

import json
import pickle

import numpy as np
import pytest

from infinimix.tables import Column, Novel, Schema, encode, read_schema


def novel(columns, values):
    return Novel(np.zeros(len(values), np.int64), np.array(columns, np.int64), values)


@pytest.fixture
def schema():
    columns = (Column("a", "categorical"), Column("b", "real"), Column("c", "categorical"))
    return Schema(columns, True, ((), ()), ("object", "float", "int"))


def test_positions_and_blocks(schema):
    assert schema.blocks == ("categorical", "real")
    assert schema.positions("categorical").tolist() == [0, 2]
    assert schema.positions("binary").tolist() == []
    with pytest.raises(ValueError, match="read-only"):
        schema.positions("real")[0] = 5


def test_extending_makes_another_schema(schema):
    grown = schema.extended(novel([1, 0, 1], [7, "u", 9]))
    assert schema.categories == ((), ())
    assert grown.categories == (("u",), (7, 9))
    assert grown.category_counts.tolist() == [1, 2]
    again = grown.extended(novel([1], [8]))
    assert again.lookups == ({"u": 0}, {7: 0, 9: 1, 8: 2})
    assert grown.lookups == ({"u": 0}, {7: 0, 9: 1})
    assert again.extended(novel([], [])) is again


def test_equality_ignores_what_is_cached(schema):
    other = Schema(schema.columns, True, ((), ()), schema.sources)
    assert schema.lookups == ({}, {})
    assert other == schema
    assert hash(other) == hash(schema)
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_json_is_exact(schema):
    values = ["é", "", True, -(2**63), 2**63, -(2**20_000), 0.1, 1e300, b"\x00\xff"]
    grown = schema.extended(novel([0] * len(values), values))
    back = Schema.from_json(json.loads(json.dumps(grown.to_json())))
    assert back == grown
    assert [type(v) for v in back.categories[0]] == [type(v) for v in values]


def test_json_names_what_it_cannot_keep(schema):
    with pytest.raises(TypeError, match="column 'a' has categories of type tuple"):
        schema.extended(novel([0], [(1, 2)])).to_json()


def decoded(X, columns="auto"):
    schema = read_schema(X, columns)
    encoded = encode(schema, X, learn=True)
    return next(iter(schema.extended(encoded.novel).decode(encoded.blocks).values()))


@pytest.mark.parametrize(
    ("values", "columns", "dtype", "expected"),
    [
        ([True, False], "auto", "bool", [True, False]),
        ([True, None], "auto", "object", [True, None]),
        ([1, 0], "auto", "int64", [1, 0]),
        ([1.0, 0.0], "auto", "float64", [1.0, 0.0]),
        ([5, 3, 5], "categorical", "int64", [5, 3, 5]),
        ([2.5, 3.5], "categorical", "float64", [2.5, 3.5]),
        (["u", None, "v"], "auto", "object", ["u", None, "v"]),
        ([2**70, None], "categorical", "object", [2**70, None]),
        ([2**60 + 1, None], "categorical", "object", [2**60 + 1, None]),
        ([True, False, None], "categorical", "object", [True, False, None]),
        ([(1, 2), (3, 4)], "auto", "object", [(1, 2), (3, 4)]),
        ([None, None], "auto", "object", [None, None]),
        ([5, 0, 2**53 - 1], "count", "int64", [5, 0, 2**53 - 1]),
        ([True, False], "count", "int64", [1, 0]),
        ([5.0, 3.0], "count", "float64", [5.0, 3.0]),
    ],
)
def test_decoding_gives_natural_values(values, columns, dtype, expected):
    column = decoded([[value] for value in values], columns)
    assert column.dtype == dtype
    assert column.tolist() == expected


def test_missing_numbers_decode_to_nan():
    for values in ([5, 3, None], [1, 0, None], [2.5, 3.5, None]):
        whole = ("count",) if values[0] != 2.5 else ()
        for columns in ("auto", "categorical", *whole):
            column = decoded([[value] for value in values], columns)
            assert column.dtype == np.float64
            assert column[:2].tolist() == values[:2]
            assert np.isnan(column[2])


def test_gaussian_blocks_go_to_json_and_back_and_decode():
    X = np.arange(12.0).reshape(3, 4)
    X[1, 2] = np.nan
    schema = read_schema(X, {(0, 3): "gaussian", (1,): "gaussian"})
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    encoded = encode(again, X, learn=True)
    assert [block.shape for block in encoded.blocks] == [(3, 1), (3, 2), (3, 1)]
    assert all(block.flags.c_contiguous for block in encoded.blocks)
    decoded = again.decode(encoded.blocks)
    assert list(decoded) == ["x0", "x1", "x2", "x3"]
    np.testing.assert_array_equal(np.column_stack(list(decoded.values())), X)
    assert "joint" not in read_schema(X).to_json()


@pytest.mark.parametrize("form", [np.asarray, lambda X: X.tolist()])
def test_a_gaussian_block_takes_numbers_only(form):
    whole = read_schema(np.ones((2, 2)), "gaussian")
    with pytest.raises(ValueError, match="column 'x1' has an infinite value in row 1"):
        encode(whole, form(np.array([[1.0, 2.0], [3.0, np.inf]])), learn=True)
    with pytest.raises(
        ValueError, match="'x1' is in a gaussian block but has the value 'a' in row 0"
    ):
        encode(whole, [[1.0, "a"], [2.0, 3.0]], learn=True)
