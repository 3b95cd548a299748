"""Where cells are missing, and the indicators that say so behind the binary columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from infinimix.tables import Schema, encode, read_schema
from infinimix.tables.holes import find_holes

NAN = np.nan
X = np.array([[0, 1.5, NAN], [1, NAN, 2.5], [NAN, 0.5, NAN]])
NAMES = ["a", "b", "c"]
FORMS = {
    "array": X,
    "sparse": sparse.csr_array(X),
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(
        {n: [None if v != v else v for v in X[:, j]] for j, n in enumerate("abc")}
    ),
    "lists": X.tolist(),
    "dicts": [{n: v for n, v in zip(NAMES, row, strict=True) if v == v} for row in X],
}


def marked(table, *positions):
    kinds = dict(zip(read_schema(table).names, ["binary", "real", "real"], strict=True))
    return replace(read_schema(table, kinds), indicated=positions)


@pytest.mark.parametrize("form", FORMS)
def test_marks_stand_behind_the_binary_columns_in_every_form(form):
    schema = marked(FORMS[form], 1, 2)
    binary, real = encode(schema, FORMS[form], learn=True).blocks
    assert binary.tolist() == [[0, 0, 1], [1, 1, 0], [-1, 0, 1]]
    assert binary.dtype == np.int8
    assert binary.flags.c_contiguous
    assert np.array_equal(real, X[:, 1:], equal_nan=True)
    assert np.array_equal(find_holes(schema, FORMS[form]), np.isnan(X))


@pytest.mark.parametrize("form", ["array", "sparse", "pandas"])
def test_marks_are_a_binary_block_where_there_is_none(form):
    schema = replace(read_schema(FORMS[form], "real"), indicated=(0, 2))
    assert schema.blocks == ("binary", "real")
    assert schema.uniform is None
    binary, _ = encode(schema, FORMS[form], learn=True).blocks
    assert binary.tolist() == [[0, 1], [0, 0], [1, 1]]


def test_whole_numbers_have_no_holes_to_mark():
    whole = np.array([[0, 1], [1, 1]])
    schema = replace(read_schema(whole), indicated=(1,))
    assert encode(schema, whole, learn=True).blocks[0].tolist() == [[0, 1, 0], [1, 1, 0]]


def test_a_schema_with_marks_decodes_its_columns_only():
    schema = marked(X, 1)
    columns = schema.decode(encode(schema, X, learn=True).blocks)
    assert list(columns) == ["x0", "x1", "x2"]
    assert np.array_equal(columns["x0"], X[:, 0], equal_nan=True)


def test_marks_belong_to_columns_and_have_names_of_their_own():
    schema = marked(FORMS["pandas"], 1, 2)
    assert schema.owners("binary").tolist() == [0, 1, 2]
    assert schema.owners("real").tolist() == schema.positions("real").tolist() == [1, 2]
    assert schema.indicator_names == ("b is missing", "c is missing")
    assert schema.kinds() == {"a": "binary", "b": "real", "c": "real"}
    assert list(schema.kinds(indicators=True)) == [*NAMES, *schema.indicator_names]
    taken = FORMS["pandas"].rename(columns={"a": "b is missing"})
    assert marked(taken, 1).indicator_names == ("b is missing?",)


def test_a_schema_with_marks_goes_to_json_and_back():
    schema = marked(X, 1, 2)
    assert Schema.from_json(schema.to_json()) == schema
    assert "marked" not in marked(X).to_json()


def test_forgotten_marks_are_unknown_and_the_rest_stays():
    schema = marked(X, 1, 2)
    table = encode(schema, X, learn=True)
    blocks, (binary, real) = table.blocks, table.hide_indicators().blocks
    assert binary.tolist() == [[0, -1, -1], [1, -1, -1], [-1, -1, -1]]
    assert real is blocks[1]
    assert blocks[0][0, 2] == 1  # not in place
    without = encode(marked(X), X, learn=True)
    assert without.hide_indicators() is without
