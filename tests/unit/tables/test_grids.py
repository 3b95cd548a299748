"""Documents as matrices: formats, names, holes, refusals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from infinimix.tables.documents import read_documents
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary
from tests.unit.tables.test_bags import read, rows_of

DENSE = np.array([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 1, 0]])
ROWS = [{1: 2.0, 2: 1.0}, {}, {2: 1.0, 0: 3.0}]
NAMES = ["a", "b", "c", "d"]
NAMED = [{NAMES[j]: c for j, c in row.items()} for row in ROWS]
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
HOLED = np.where(DENSE == 0, np.nan, DENSE)


def untidy():
    """A CSR matrix with unsorted columns, copies of a cell, explicit zeros and spare room."""
    data = [1.0, 0.5, 1.5, 0.0, 3.0, 1.0, 7.0]
    return sparse.csr_array((data, [2, 1, 1, 3, 0, 2, 9], [0, 4, 4, 6]), shape=(3, 4))


def frozen():
    matrix = sparse.csr_array(DENSE)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


def wide():
    matrix = sparse.csr_array(DENSE)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


@pytest.mark.parametrize(
    "X",
    [
        *(sparse.csr_array(DENSE).asformat(f) for f in FORMATS),
        *(sparse.csr_matrix(DENSE.astype(t)) for t in ("i1", "u2", "i8", "f4", "f8", "g")),
        untidy(),
        frozen(),
        wide(),
        *(DENSE.astype(t) for t in ("i1", "u8", "f4", "f8", "g", ">f8", object)),
        np.asfortranarray(DENSE),
        HOLED,
        np.ma.array(np.where(DENSE == 0, 9, DENSE), mask=DENSE == 0),
        DENSE.tolist(),
        list(DENSE),
        np.where(DENSE == 0, None, DENSE).tolist(),
        HOLED.astype(object).tolist(),
        pd.DataFrame(DENSE),
        pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(DENSE)),
    ],
)
def test_every_matrix_without_names(X):
    documents = read(X)
    assert documents.novel.tolist() == [1, 2, 0]
    assert rows_of(documents) == ROWS
    assert (documents.width, documents.names, documents.n_columns) == (4, None, 3)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(DENSE, columns=NAMES),
        pd.DataFrame(HOLED, columns=NAMES),
        pd.DataFrame(DENSE, columns=NAMES).astype(object),
        pl.DataFrame(DENSE, schema=NAMES),
        pl.DataFrame({n: [c or None for c in DENSE[:, j].tolist()] for j, n in enumerate(NAMES)}),
    ],
)
@pytest.mark.parametrize("hash_bits", [None, 16])
def test_names_of_a_frame_are_words(X, hash_bits):
    documents = read(X, hash_bits=hash_bits)
    expected = read(NAMED, hash_bits=hash_bits)
    assert (documents.width, documents.names) == (4, tuple(NAMES))
    assert documents.novel == expected.novel
    for a, b in zip(documents[:4], expected[:4], strict=True):
        assert np.array_equal(a, b)


def test_booleans_count():
    assert rows_of(read(DENSE.astype(bool))) == [{1: 1.0, 2: 1.0}, {}, {2: 1.0, 0: 1.0}]
    assert len(read(sparse.csr_array(DENSE > 0)).data) == 4


def test_copies_of_a_small_integer_cell_do_not_overflow():
    data, places = np.full(3, 100, np.int8), ([0, 0, 0], [1, 1, 1])
    coo = sparse.coo_array((data, places), shape=(1, 2))
    csr = sparse.csr_array((data, [1, 1, 1], [0, 3]), shape=(1, 2))
    assert read(coo).data.tolist() == read(csr).data.tolist() == [300.0]


def test_a_matrix_is_not_changed():
    X = untidy()
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    read(X)
    for part, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert np.array_equal(part, old)


def test_later_matrices_may_be_wider_or_narrower():
    vocabulary = Vocabulary(read(DENSE).novel)
    later = np.array([[1, 0, 0, 0, 0, 7], [0, 0, 0, 5, 0, 0]])
    known = read(later, vocabulary, learn=False)
    assert rows_of(known, vocabulary.words) == [{0: 1.0}, {}]
    assert known.unknown.tolist() == [7.0, 5.0]
    grown = read(later, vocabulary)
    assert grown.novel.tolist() == [5, 3]
    vocabulary.extend(grown.novel)
    assert rows_of(grown, vocabulary.words) == [{0: 1.0, 5: 7.0}, {3: 5.0}]
    narrow = read(np.array([[0, 3]]), vocabulary)
    assert rows_of(narrow, vocabulary.words) == [{1: 3.0}]
    kept = vocabulary.keep([3, 0])
    assert rows_of(read(later, kept, learn=False), kept.words) == [{5: 7.0}, {}]
    again = read(later, kept)
    assert again.novel.tolist() == [0, 3]


def test_names_may_be_given_to_a_matrix():
    vocabulary = Vocabulary(["c", "z"])
    documents = read_documents(DENSE, vocabulary, Text(), True, names=NAMES)
    assert documents.novel == ["b", "a"]
    assert documents.names is None  # what the matrix itself has
    for names in (NAMES[:3], ["a", "a", "b", "c"]):
        with pytest.raises(ValueError, match="names"):
            read_documents(DENSE, vocabulary, Text(), True, names=names)


def test_words_and_numbers_do_not_mix():
    with pytest.raises(ValueError, match="no names, but Bob has learned words"):
        read_documents(DENSE, Vocabulary(["a"]), Text(), False, who="Bob")
    for X in (["text"], pd.DataFrame(DENSE, columns=NAMES)):
        with pytest.raises(ValueError, match="holds words, but Bob has learned columns"):
            read_documents(X, Vocabulary([0]), Text(), False, who="Bob")


def test_columns_and_hashing():
    documents = read(sparse.csr_array(DENSE), hash_bits=2)
    assert documents.indices.tolist() == [1, 2, 0, 2]
    assert (len(documents.novel), documents.n_columns) == (0, 4)
    with pytest.raises(ValueError, match="4 columns, but hash_bits=1 leaves 2"):
        read(DENSE, hash_bits=1)


def damaged(indices, indptr):
    matrix = sparse.csr_array(DENSE.astype(float))
    matrix.indices, matrix.indptr = np.array(indices), np.array(indptr)
    return matrix


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.ones((2, 2, 2)), ValueError, "Expected 2D array, got an array of 3 dim"),
        (np.float64(1), ValueError, "Expected 2D array, got a single value"),
        (np.ones(3), ValueError, "Expected 2D array, got 1D array"),
        (sparse.coo_array(np.ones(3)), ValueError, "Expected 2D array, got 1D array"),
        (np.ones((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.ones((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (sparse.csr_array((3, 0)), ValueError, r"0 feature\(s\)"),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (DENSE + 1j, ValueError, "Complex data not supported"),
        (sparse.csr_array(DENSE + 1j), ValueError, "Complex data not supported"),
        (DENSE.astype("M8[s]"), ValueError, "dates"),
        (DENSE - 1, ValueError, "Negative values in data: row 0 of X has -1.0 for 'x0'"),
        (sparse.csr_array(1 - DENSE), ValueError, "Negative values in data: row 0 .* for 'x1'"),
        (pd.DataFrame(1 - DENSE, columns=NAMES), ValueError, "Negative values .* row 0 .* 'b'"),
        (np.where(DENSE == 3, np.inf, DENSE), ValueError, "row 2 .* infinite count for 'x0'"),
        ([[1, 2], [3]], ValueError, "row 1 of X has 1 cells, but row 0 has 2"),
        ([[1, 2], [3, "x"]], ValueError, "row 1 of X has 'x' for 'x1', where a count"),
        ([[1, 10**400]], ValueError, "row 0 of X has an infinite count for 'x1'"),
        (np.array([[1.5, {"a": 1}]], object), TypeError, "argument must be a string or a number"),
        (np.array([["a", "b"]]), ValueError, "row 0 of X has 'a' for 'x0'.*one column of text"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), ValueError, "row 0 .* 'x' for 'a'.*one column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "duplicate column names: 'a'"),
        (damaged([1, 2, 0, 4], [0, 2, 2, 4]), ValueError, "damaged.*column 4"),
        (damaged([1, 2, -1, 2], [0, 2, 2, 4]), ValueError, "damaged.*column -1"),
        (damaged([1, 2, 0, 2], [0, 2, 1, 4]), ValueError, "damaged"),
        (damaged([1, 2, 0, 2], [0, 2, 2, 5]), ValueError, "damaged"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_of_counts_is_refused(X, error, message):
    for learn in (True, False):
        with pytest.raises(error, match=message):
            read(X, learn=learn)
