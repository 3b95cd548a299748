"""Laws of tables, for any content: round trip, one content in many forms, any chunking."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infinimix.tables import Schema, encode, read_schema

FEW = settings(max_examples=60, deadline=None)

CELLS = {
    "binary": st.booleans(),
    "categorical": st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    "count": st.integers(-5, 5),
    "real": st.floats(-1e150, 1e150),
}
ANY = st.one_of(
    st.integers(),
    st.text(max_size=2),
    st.booleans(),
    st.floats(-1e150, 1e150) | st.just(float("nan")),
)


@st.composite
def tables(draw):
    """Columns of one type each, with holes, at least one column and one row."""
    n_rows = draw(st.integers(1, 40))
    types = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5))
    return {
        f"c{j}": draw(st.lists(st.none() | CELLS[kind], min_size=n_rows, max_size=n_rows))
        for j, kind in enumerate(types)
    }


def rows_of(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def forms_of(columns):
    """The same content in every form that has names, and as two that have not."""
    objects = np.array(list(columns.values()), dtype=object).T
    yield rows_of(columns)
    yield pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    yield pl.DataFrame(columns, strict=False)
    yield objects
    yield objects.tolist()


def learn(schema, X):
    encoded = encode(schema, X, learn=True)
    return schema.extended(encoded.novel), encoded


def same(a, b):
    return a == b or (a is None and isinstance(b, float) and math.isnan(b))


@FEW
@given(tables())
def test_decoding_undoes_encoding(columns):
    rows = rows_of(columns)
    schema, encoded = learn(read_schema(rows, natural=["real"]), rows)  # transforms round
    for name, cells in schema.decode(encoded.blocks).items():
        assert all(map(same, columns[name], cells.tolist()))


@FEW
@given(tables())
def test_one_content_in_many_forms(columns):
    first, expected = learn(read_schema(rows_of(columns)), rows_of(columns))
    asked = list(first.kinds().values())
    for X in forms_of(columns):
        names = read_schema(X).names
        schema, encoded = learn(read_schema(X, dict(zip(names, asked, strict=True))), X)
        assert schema.categories == first.categories
        for a, b in zip(expected.blocks, encoded.blocks, strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(expected.novel[:2], encoded.novel[:2], strict=True):
            np.testing.assert_array_equal(a, b)


@FEW
@given(tables())
def test_forms_agree_on_kinds(columns):
    """Up to columns without any cell, which carry no information."""
    full = {name: cells for name, cells in columns.items() if any(c is not None for c in cells)}
    if full:
        first, *others = (read_schema(X) for X in forms_of(full))
        kinds = [column.kind for column in first.columns]
        assert all([column.kind for column in other.columns] == kinds for other in others)


@FEW
@given(tables(), st.integers(0, 40), st.booleans())
def test_chunks_give_the_codes_of_one_call(columns, cut, as_frame):
    frame = pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in columns.items()})
    start = read_schema(frame)
    once, expected = learn(start, frame)
    grown, found = start, []
    for part in (frame.iloc[:cut], frame.iloc[cut:]):
        if len(part):
            X = part if as_frame else part.to_numpy(dtype=object)
            grown, encoded = learn(grown, X)
            found.append(encoded.blocks)
    assert grown == once
    for a, *parts in zip(expected.blocks, *found, strict=True):
        np.testing.assert_array_equal(a, np.concatenate(parts))


@FEW
@given(
    st.lists(st.integers(-3, 60), min_size=1, max_size=120),
    st.sampled_from(["i1", "i8", "f4", "f8", object]),
    st.integers(1, 10**9),
)
def test_arrays_are_coded_like_lists(values, dtype, scale):
    X = np.array(values).astype(dtype)[:, None]
    X = X * scale if dtype in ("i8", "f8") else X
    schema = read_schema(X, "categorical")
    whole, encoded = learn(schema, X)
    listed, expected = learn(schema, X.tolist())
    assert whole == listed
    np.testing.assert_array_equal(encoded.blocks[0], expected.blocks[0])


@FEW
@given(st.lists(ANY, min_size=1, max_size=30))
def test_known_categories_read_the_same_when_predicting_and_after_json(cells):
    X = [[cell] for cell in cells]
    schema, encoded = learn(read_schema(X, "categorical"), X)
    back = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert back == schema
    again = encode(back, X, learn=False)
    np.testing.assert_array_equal(again.blocks[0], encoded.blocks[0])
    assert not again.novel


@FEW
@given(tables(), st.data())
def test_errors_name_the_column_and_change_nothing(columns, data):
    rows = rows_of(columns)
    schema, _ = learn(read_schema(rows), rows)
    before = schema.to_json()
    name = data.draw(st.sampled_from(sorted(columns)))
    row = data.draw(st.integers(0, len(rows) - 1))
    rows[row] = rows[row] | {name: [1, 2]}
    with pytest.raises(TypeError, match=rf"'{name}'.*row {row}"):
        encode(schema, rows, learn=True)
    assert schema.to_json() == before
