"""Every kind of input, well-formed or not."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from infinimix.tables import encode, read_schema


def test_names_and_namedness():
    assert read_schema(np.ones((1, 2))).names == ("x0", "x1")
    assert not read_schema([[1, 2]]).named
    assert read_schema([{"b": 1}, {"a": 1, "b": 2}]).names == ("b", "a")
    assert read_schema(pl.DataFrame({"u": [1]})).named
    unnamed = read_schema(pd.DataFrame([[1, 2]]))
    assert (unnamed.names, unnamed.named) == (("0", "1"), False)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame([[1, 2]], columns=["a", 1]), [{"a": 1, 1: 2}]], ids=["pandas", "dicts"]
)
def test_mixed_label_types_are_refused(frame):
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        read_schema(frame)


def test_duplicate_names_are_named():
    with pytest.raises(ValueError, match="duplicate column names: 'a'"):
        read_schema(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))


@pytest.mark.parametrize(
    "X",
    [np.ones(3), [1.0, 2.0], ["abc", "def"], pd.Series([1]), pl.Series([1])],
    ids=["array", "list", "strings", "pandas", "polars"],
)
def test_one_dimension_is_refused(X):
    with pytest.raises(ValueError, match=r"Expected 2D array.*Reshape your data"):
        read_schema(X)


def test_other_dimensions_are_refused():
    for X in (np.ones((1, 2, 3)), np.float64(3.0), 3):
        with pytest.raises(ValueError, match="Expected 2D array"):
            read_schema(X)
    schema = read_schema(np.ones((2, 3)))
    for X in (np.ones(3), np.ones((1, 3, 1))):
        with pytest.raises(ValueError, match="Expected 2D array"):
            encode(schema, X, learn=True)


def test_no_rows_and_no_columns():
    schema = read_schema(np.ones((2, 3)))
    text = r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\."
    for X in (np.ones((0, 3)), sparse.csr_array((0, 3)), pd.DataFrame(np.ones((0, 3)))):
        with pytest.raises(ValueError, match=text):
            read_schema(X)
        with pytest.raises(ValueError, match=text):
            encode(schema, X, learn=True)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        read_schema([])
    text = r"Found array with 0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1 is required\."
    for X in (np.ones((4, 0)), pd.DataFrame(index=range(4)), [{}] * 4, [[]] * 4):
        with pytest.raises(ValueError, match=text):
            read_schema(X)


def test_wrong_width():
    schema = read_schema(np.ones((2, 3)))
    for X in (np.ones((1, 2)), [[1, 0]], sparse.eye_array(2), pd.DataFrame([[1, 0]])):
        with pytest.raises(ValueError, match="X has 2 features, but Trees is expecting 3 features"):
            encode(schema, X, learn=True, who="Trees")
    for width, named in ((2, "missing: 'x2'"), (5, "unknown: 'x3', 'x4'")):
        with pytest.raises(ValueError, match=named):
            encode(schema, np.ones((1, width)), learn=True)


def test_names_are_matched_in_any_order():
    schema = read_schema(pd.DataFrame({"a": [1.5], "b": [2.5]}))
    expected = encode(schema, np.array([[1.5, 2.5]]), learn=False).blocks[0]
    for X in (pd.DataFrame({"b": [2.5], "a": [1.5]}), [{"b": 2.5, "a": 1.5}]):
        assert encode(schema, X, learn=False).blocks[0].tolist() == expected.tolist()


def test_wrong_names_are_named():
    schema = read_schema(pl.DataFrame({"a": [1.5], "b": [2.5]}))
    with pytest.raises(ValueError, match=r"unknown: 'c'; missing: 'b'"):
        encode(schema, pl.DataFrame({"a": [1.5], "c": [2.5]}), learn=False)
    with pytest.raises(ValueError, match="unknown: 'z'"):
        encode(schema, [{"a": 1.0}, {"z": 1.0}], learn=False)


def test_frames_and_unnamed_schemas_go_by_position():
    schema = read_schema(np.array([[1.5, 2.5]]))
    encoded = encode(schema, pd.DataFrame({"b": [3.5], "a": [4.5]}), learn=False)
    assert encoded.blocks[0].tolist() == [[3.5, 4.5]]


def test_dicts_without_a_key_have_a_missing_cell():
    schema = read_schema([{"a": 1.5, "b": "u"}])
    categorical, real = encode(schema, [{"b": "u"}, {}, {"a": 2.5}], learn=True).blocks
    assert categorical.tolist() == [[0], [-1], [-1]]
    np.testing.assert_array_equal(real, [[np.nan], [np.nan], [2.5]])


def test_ragged_and_mixed_rows_are_refused():
    with pytest.raises(ValueError, match="row 1 of X has 1 cells, but row 0 has 2"):
        read_schema([[1, 2], [1]])
    with pytest.raises(ValueError, match="row 1 of X is a dict"):
        read_schema([[1, 2], {"a": 1}])
    with pytest.raises(ValueError, match="row 1 of X is a list"):
        read_schema([{"a": 1}, [1]])
    with pytest.raises(TypeError, match="one dict per row"):
        read_schema({"a": [1, 2]})


def test_complex_numbers_are_refused():
    for X in (np.ones((2, 2), dtype=complex), pd.DataFrame({"z": [1j, 2]}), [[1j]]):
        with pytest.raises(ValueError, match="Complex data not supported"):
            read_schema(X)


def test_dates_of_another_kind_are_refused_by_column():
    day = dt.date(2020, 1, 1)
    frames = (
        pd.DataFrame({"ok": [1.5], "when": pd.to_datetime(["2020-01-01"])}),
        pl.DataFrame({"ok": [1.5], "when": [day]}),
        [{"ok": 1.5, "when": day}],
    )
    for frame in frames:
        for kinds in ("real", {"when": "categorical"}):
            with pytest.raises(ValueError, match="'when' holds dates"):
                encode(read_schema(frame, kinds), frame, learn=True)
    mixed = [{"when": day}, {"when": "soon"}]
    with pytest.raises(ValueError, match="'when' holds dates"):
        encode(read_schema(mixed), mixed, learn=True)


def test_unusual_inputs_are_refused_clearly():
    with pytest.raises(TypeError, match="collect it first"):
        read_schema(pl.LazyFrame({"a": [1]}))
    with pytest.raises(TypeError, match="dtype"):
        read_schema(np.zeros((2, 2), dtype=[("a", "f8")]))


def test_anything_with_an_array_inside_is_an_array():
    class Wrapper:
        def __array__(self, dtype=None, copy=None):
            return np.array([[0.5, 1.5]])

    assert encode(read_schema(Wrapper()), Wrapper(), learn=True).blocks[0].tolist() == [[0.5, 1.5]]


def test_numbers_of_every_dtype():
    for dtype in (
        "?",
        "i1",
        "u1",
        "i2",
        "u2",
        "i4",
        "u4",
        "i8",
        "u8",
        "f2",
        "f4",
        "f8",
        "g",
        ">f8",
    ):
        X = np.array([[0, 1], [1, 0]]).astype(dtype)
        assert encode(read_schema(X), X, learn=True).blocks[0].tolist() == [[0, 1], [1, 0]]
        for kind in ("real", "categorical"):
            schema = read_schema(X, kind)
            block = encode(schema, X, learn=True).blocks[0]
            assert (block[0] != block[1]).all()
