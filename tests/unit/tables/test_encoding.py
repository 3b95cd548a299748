"""Encoded blocks: layout, cells of each kind, categories, errors."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from infinimix.tables import encode, read_schema

NAN = float("nan")


def block_of(X, kind):
    return encode(read_schema(X, kind), X, learn=True).blocks[0]


def test_blocks_are_aligned_owned_and_contiguous():
    X = np.array([[0.0, 1.5, 3.0], [1.0, NAN, 2.0], [NAN, 2.5, 3.0]])
    schema = read_schema(X, {2: "categorical"})
    encoded = encode(schema, X, learn=True)
    binary, categorical, real = encoded.blocks
    assert schema.blocks == ("binary", "categorical", "real")
    assert encoded.n_rows == 3
    assert [b.dtype for b in encoded.blocks] == [np.int8, np.int32, np.float64]
    assert all(b.flags.c_contiguous and b.flags.owndata for b in encoded.blocks)
    assert binary.tolist() == [[0], [1], [-1]]
    assert categorical.tolist() == [[0], [1], [0]]
    np.testing.assert_array_equal(real, [[1.5], [NAN], [2.5]])


@pytest.mark.parametrize("kind", ["binary", "real", "count"])
@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "i4", "i8", "f4", "f8", ">i4"])
def test_every_memory_layout_gives_the_same(kind, dtype):
    X = np.random.default_rng(0).integers(0, 2, (40, 6)).astype(dtype)
    schema = read_schema(X, kind)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
    for layout in (X, np.asfortranarray(X), frozen, wide[::2, ::2], X[::-1][::-1]):
        block = encode(schema, layout, learn=True).blocks[0]
        assert block.tolist() == X.astype(int).tolist()
        assert not np.shares_memory(block, layout)


def test_long_conversions_go_by_blocks_of_rows():
    X = np.random.default_rng(0).normal(size=(60_000, 10)).astype(np.float32)
    np.testing.assert_array_equal(block_of(X, "real"), X.astype(float))
    X[55_000, 3] = np.inf
    with pytest.raises(ValueError, match="'x3' has an infinite value in row 55000"):
        block_of(X, "real")


def test_missing_cells_of_every_spelling():
    cells = [[None], [NAN], [pd.NA], [pd.NaT], [np.float32("nan")], [1]]
    assert block_of(cells, "binary").ravel().tolist() == [-1] * 5 + [1]
    assert block_of(cells, "categorical").ravel().tolist() == [-1] * 5 + [0]
    for kind in ("real", "count"):
        assert np.isnan(block_of(cells, kind).ravel()).tolist() == [True] * 5 + [False]
    masked = np.ma.array([[0], [7], [1]], mask=[[0], [1], [0]])
    assert block_of(masked, "binary").ravel().tolist() == [0, -1, 1]
    objects = np.ma.array([["u"], ["v"]], mask=[[1], [0]], dtype=object)
    assert block_of(objects, "categorical").ravel().tolist() == [-1, 0]


def test_minus_one_is_a_value():
    X = np.array([[-1], [0]])
    assert block_of(X, "categorical").ravel().tolist() == [0, 1]
    assert block_of(X, "real").ravel().tolist() == [-1.0, 0.0]
    with pytest.raises(ValueError, match="value -1 in row 0"):
        block_of(X, "binary")


def test_nullable_frames():
    columns = {"b": [True, None], "i": [7, None], "f": [1.5, None], "s": ["u", None]}
    dtypes = {"b": "boolean", "i": "Int64", "f": "Float64", "s": "string"}
    for frame in (pd.DataFrame(columns).astype(dtypes), pl.DataFrame(columns)):
        encoded = encode(read_schema(frame, {"i": "categorical"}), frame, learn=True)
        assert encoded.blocks[0].tolist() == [[1], [-1]]
        assert encoded.blocks[1].tolist() == [[0, 0], [-1, -1]]
        np.testing.assert_array_equal(encoded.blocks[2], [[1.5], [NAN]])
        assert encoded.novel.values == [7, "u"]


def test_equal_values_are_one_category():
    schema = read_schema([[1]], "categorical")
    cells = [[1], [1.0], [True], [np.int8(1)], ["1"], [np.str_("1")]]
    encoded = encode(schema, cells, learn=True)
    assert encoded.blocks[0].ravel().tolist() == [0, 0, 0, 0, 1, 1]
    assert [type(v) for v in encoded.novel.values] == [int, str]


def test_big_integers_are_exact_categories_and_real_numbers():
    big = [[2**70], [2**70 + 1], [2**70]]
    assert block_of(big, "categorical").ravel().tolist() == [0, 1, 0]
    assert block_of(big, "real").ravel().tolist() == [float(2**70)] * 3
    edge = np.array([[2**64 - 1], [2**64 - 2]] * 30, dtype=np.uint64)
    assert encode(read_schema(edge), edge, learn=True).novel.values == [2**64 - 1, 2**64 - 2]


@pytest.mark.parametrize("rows", [5, 100], ids=["few", "many"])
@pytest.mark.parametrize("dtype", ["i2", "u4", "i8", "f8", "?", object])
def test_novel_categories_come_by_row_then_column(rows, dtype):
    X = np.resize(np.array([[1, 0], [0, 0], [0, 1], [1, 1]]), (rows, 2)).astype(dtype)
    encoded = encode(read_schema(X, "categorical"), X, learn=True)
    assert encoded.novel.rows.tolist() == [0, 0, 1, 2]
    assert encoded.novel.columns.tolist() == [0, 1, 0, 1]
    assert encoded.novel.values == [1, 0, 0, 1]
    assert encoded.blocks[0][:4].tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_unseen_categories_are_missing_at_prediction():
    schema = read_schema([["u"], ["v"]])
    schema = schema.extended(encode(schema, [["u"], ["v"]], learn=True).novel)
    encoded = encode(schema, [["v"], ["w"], ["w"], [None]], learn=False)
    assert encoded.blocks[0].ravel().tolist() == [1, -1, -1, -1]
    assert not encoded.novel
    numbers = read_schema(np.array([[3], [4]]), "categorical")
    X = np.array([[4.5]] * 50)
    assert (encode(numbers, X, learn=False).blocks[0] == -1).all()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_of_every_format(form):
    X = np.array([[0.0, 2.0, 0], [1, 0, 0], [NAN, 3.5, 0], [0, NAN, 0]])
    matrix = sparse.coo_array(X).asformat(form)
    for columns in ("auto", "categorical", "real", {1: "categorical"}, {0: "count", 2: "count"}):
        dense_schema, schema = read_schema(X, columns), read_schema(matrix, columns)
        assert schema == dense_schema
        expected, encoded = encode(schema, X, learn=True), encode(schema, matrix, learn=True)
        for a, b in zip(expected.blocks, encoded.blocks, strict=True):
            np.testing.assert_array_equal(a, b)


def test_sparse_duplicates_are_summed_and_left_alone():
    matrix = sparse.csc_matrix(
        (np.array([1, 1, 5]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert block_of(matrix, "real").tolist() == [[2.0, 0.0], [0.0, 5.0]]
    assert encode(read_schema(matrix, "categorical"), matrix, learn=True).novel.values == [
        2,
        0,
        0,
        5,
    ]
    assert matrix.nnz == 3


@pytest.mark.parametrize(
    "make",
    [np.array, lambda x: np.array(x, dtype=object), sparse.csr_array, pd.DataFrame, list],
    ids=["array", "object", "sparse", "pandas", "list"],
)
def test_misfits_name_column_row_and_way_out(make):
    X = make([[0.0, 1.0], [1.0, 3.0]])
    with pytest.raises(ValueError, match=r"column '(x1|1)' is binary.* 3.0 in row 1.*columns={'"):
        block_of(X, "binary")
    X = make([[0.5, 1.0], [0.5, -np.inf]])
    for kind in ("real", "categorical"):
        with pytest.raises(ValueError, match=r"column '(x1|1)' has an infinite value in row 1"):
            block_of(X, kind)


def test_infinite_categories_in_long_columns():
    X = np.array([[NAN], [2.5], [np.inf]] * 30)
    with pytest.raises(ValueError, match="'x0' has an infinite value in row 2"):
        block_of(X, "categorical")


def test_strings_are_not_parsed_and_overflow_is_named():
    with pytest.raises(ValueError, match=r"column 'age' is real but has the value '7' in row 1"):
        block_of([{"age": 7}, {"age": "7"}], "real")
    with pytest.raises(ValueError, match=r"column 'x0' has an infinite value in row 1"):
        block_of([[1], [10**400]], "real")
    with pytest.raises(ValueError, match=r"column 'x0' is binary"):
        block_of([[1], [10**5000]], "binary")


@pytest.mark.parametrize("kind", ["binary", "categorical", "real", "count"])
@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], np.ones(2)], ids=["dict", "list", "array"])
def test_cells_that_hold_several_values(kind, cell):
    X = np.empty((2, 2), dtype=object)
    X[:] = 1
    X[1, 0] = cell
    with pytest.raises(TypeError, match=r"'x0'.*row 1.*argument must be a string or a number"):
        block_of(X, kind)


def test_counts_of_every_spelling():
    cells = [[0], [3.0], [True], [np.int8(7)], [Decimal(2)], [np.float32(5)], [-0.0], [None]]
    block = block_of(cells, "count")
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block.ravel(), [0, 3, 1, 7, 2, 5, 0, NAN])
    assert not np.signbit(block).any()
    assert block_of(np.array([[True], [False]]), "count").ravel().tolist() == [1.0, 0.0]
    for frame in (
        pd.DataFrame({"n": pd.array([4, None, 2**53 - 1], dtype="Int64")}),
        pl.DataFrame({"n": [4, None, 2**53 - 1]}),
        pd.DataFrame({"n": [4.0, NAN, 2.0**53 - 1]}),
    ):
        np.testing.assert_array_equal(block_of(frame, "count").ravel(), [4, NAN, 2**53 - 1])
    masked = np.ma.array([[3], [-7], [1]], mask=[[0], [1], [0]])
    np.testing.assert_array_equal(block_of(masked, "count").ravel(), [3, NAN, 1])


MAKERS = {
    "array": np.array,
    "object": lambda x: np.array(x, dtype=object),
    "sparse": sparse.csr_array,
    "pandas": pd.DataFrame,
    "polars": lambda x: pl.DataFrame(x, schema=["x0", "x1"], orient="row"),
    "list": list,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("bad", [-1.0, 2.5, np.inf, -np.inf, 2.0**53, 1e-300])
def test_what_is_no_count_is_named(make, bad):
    X = make([[0.0, 1.0], [5.0, bad]])
    words = rf"column '(x1|1)' is a count but has the value {re.escape(repr(bad))} in row 1"
    for columns in ("count", {X.columns[1] if hasattr(X, "columns") else 1: "count"}):
        with pytest.raises(ValueError, match=words):
            encode(read_schema(X, columns), X, learn=True)


@pytest.mark.parametrize("bad", [-1, "7", 10**400, 2**53 + 1, Decimal("0.5"), b"3"])
def test_objects_that_are_no_count_are_named(bad):
    words = (
        r"column 'visits' is a count but has the value .* in row 1.*columns={'visits': \"real\"}"
    )
    with pytest.raises(ValueError, match=words):
        block_of([{"visits": 7}, {"visits": bad}], "count")


def test_integers_too_large_for_a_count_are_shown_as_they_were():
    X = np.array([[3], [2**53 + 1]])
    with pytest.raises(ValueError, match=f"value {2**53 + 1} in row 1"):
        block_of(X, "count")


def test_counts_come_last_among_the_blocks():
    X = pd.DataFrame({"n": [3, 4], "r": [0.5, 1.5], "c": ["u", "v"], "b": [True, False]})
    schema = read_schema(X, {"n": "count"})
    assert schema.blocks == ("binary", "categorical", "real", "count")
    assert encode(schema, X, learn=True).blocks[3].tolist() == [[3.0], [4.0]]


def test_the_input_is_never_changed():
    frame = pd.DataFrame({"a": [1.5, None], "b": ["u", None], "c": [True, False]})
    before = frame.copy(deep=True)
    encode(read_schema(frame), frame, learn=True)
    pd.testing.assert_frame_equal(frame, before)
