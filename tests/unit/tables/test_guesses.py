"""What a guessed kind cannot hold counts as missing; what was asked for is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from infinimix.tables import Schema, encode, read_schema

FLAGS = [[0, 0.5], [1, 1.5], [0, 2.5]]
ODD = [[1, 0.5], [5, 1.5], [-0.5, 2.5]]
FORMS = {
    "array": np.array,
    "whole array": lambda rows: np.array(rows)[:, :1],
    "integers": lambda rows: np.rint(np.array(rows)[:, :1]).astype(int),
    "lists": list,
    "dicts": lambda rows: [{"a": a, "b": b} for a, b in rows],
    "frame": lambda rows: pd.DataFrame(rows, columns=["a", "b"]),
    "objects": lambda rows: pd.DataFrame(rows, columns=["a", "b"]).astype(object),
    "sparse": lambda rows: sparse.csr_array(np.array(rows)),
    "masked": lambda rows: np.ma.masked_array(np.array(rows), np.zeros((len(rows), 2), bool)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("learn", [False, True])
def test_other_numbers_in_a_guessed_binary_column_are_missing_with_one_warning(form, learn):
    schema = read_schema(form(FLAGS))
    with pytest.warns(UserWarning, match=r"in row 1.*columns=\{'(a|x0)': \"real\"\}") as caught:
        table = encode(schema, form(ODD), learn=learn)
    assert len(caught) == 1
    assert table.blocks[0][:2, 0].tolist() == [1, -1]
    assert not table.holes()[:, 1:].any()


def test_one_warning_names_all_columns():
    X = np.array([[0, 0, 1], [1, 1, 0]])
    with pytest.warns(UserWarning, match="'x0'.*value 7 in row 0, and so do 'x2'") as caught:
        table = encode(read_schema(X), np.array([[7, 1, 2], [1, 0, 0]]), learn=False)
    assert len(caught) == 1
    assert table.blocks[0].tolist() == [[-1, 1, -1], [1, 0, 0]]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("columns", ["binary", {0: "binary"}])
def test_a_kind_that_was_asked_for_refuses_them(form, columns):
    rows = [[0, 1], [1, 0]]
    columns = columns if isinstance(columns, str) or form(rows) is rows else "binary"
    with pytest.raises(ValueError, match="is binary but has the value"):
        encode(read_schema(form(rows), columns), form([[5, 0], [0, 1]]), learn=False)


def test_strict_encoding_refuses_them():
    with pytest.raises(ValueError, match="is binary but has the value 5"):
        encode(read_schema(np.array([[0], [1]])), np.array([[5]]), learn=False, strict=True)


@pytest.mark.parametrize("cell", ["yes", np.inf, pd.Timestamp(0), 1j])
def test_what_is_no_number_is_refused_all_the_same(cell):
    with pytest.raises(ValueError, match="'x0'"):
        encode(read_schema([[0], [1]]), [[5], [cell]], learn=False)


def test_guesses_are_remembered_in_files_and_older_files_have_none():
    schema = read_schema([{"a": 0, "b": 1.5, "c": 1}], {"c": "binary"})
    assert [column.guessed for column in schema.columns] == [True, True, False]
    saved = schema.to_json()
    assert [c.guessed for c in Schema.from_json(saved).columns][::2] == [True, False]
    del saved["guessed"]
    assert not any(column.guessed for column in Schema.from_json(saved).columns)


def test_what_fits_is_read_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(read_schema(np.array(FLAGS)), np.array([[np.nan, 1.0]]), learn=False)


def test_a_guess_from_other_rows_stays_a_guess():
    schema = read_schema([[5.5, 1]], {1: "auto:binary"})
    assert schema.kinds() == {"x0": "real", "x1": "binary"}
    assert schema.columns[1].guessed
    with pytest.warns(UserWarning, match="'x1' had only 0 and 1"):
        table = encode(schema, [[1.5, 7]], learn=True)
    assert table.blocks[0].tolist() == [[-1]]
    assert Schema.from_json(schema.to_json()).columns[1].guessed
