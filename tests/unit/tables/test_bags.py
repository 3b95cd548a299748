"""Documents as words: every form of them, and the refusals."""

import datetime as dt
from collections import Counter, OrderedDict
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infinimix.tables.documents import read_documents
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary

STRINGS = ["Red red fish", "", "blue fish"]
TOKENS = [["red", "red", "fish"], [], ["blue", "fish"]]
DICTS = [{"red": 2, "fish": 1}, {}, {"blue": 1, "fish": 1}]
HOLES = ["Red red fish", None, "blue fish"]
ROWS = [{"red": 2.0, "fish": 1.0}, {}, {"blue": 1.0, "fish": 1.0}]


def read(X, vocabulary=None, learn=True, **options):
    return read_documents(X, vocabulary or Vocabulary(), Text(**options), learn)


def rows_of(documents, words=None):
    """Documents as dicts again."""
    words = documents.novel if words is None else words
    return [
        {words[j]: c for j, c in zip(documents.indices[a:b], documents.data[a:b], strict=True)}
        for a, b in zip(documents.indptr[:-1], documents.indptr[1:], strict=True)
    ]


@pytest.mark.parametrize(
    "X",
    [
        STRINGS,
        tuple(STRINGS),
        HOLES,
        [*HOLES[:1], float("nan"), *HOLES[2:]],
        np.array(STRINGS),
        np.array(STRINGS, np.dtypes.StringDType()),
        np.array(HOLES, dtype=object),
        np.array(HOLES, dtype=object)[:, None],
        np.array(STRINGS)[:, None],
        np.ma.array(np.array(["Red red fish", "x", "blue fish"], object), mask=[0, 1, 0]),
        pd.Series(HOLES),
        pd.Series(HOLES, dtype=object),
        pd.Series(HOLES, dtype="category"),
        pl.Series(HOLES),
        pl.Series(HOLES, dtype=pl.Categorical),
        pd.DataFrame({"text": HOLES}),
        pl.DataFrame({"text": HOLES}),
        TOKENS,
        tuple(map(tuple, TOKENS)),
        list(map(np.array, TOKENS)),
        [TOKENS[0], None, TOKENS[2]],
        pd.Series(TOKENS),
        pl.Series(TOKENS),
        pl.DataFrame({"tokens": TOKENS}),
        DICTS,
        [DICTS[0], None, DICTS[2]],
        [Counter(DICTS[0]), OrderedDict(), DICTS[2]],
        [MappingProxyType(document) for document in DICTS],
        pd.Series(DICTS),
        pd.DataFrame({"bags": DICTS}),
        np.array(DICTS, dtype=object),
        [{"red": 2, "no": 0, "fish": 1}, {"no": None}, {"blue": 1, "no": np.nan, "fish": 1}],
        [{"red": np.int8(2), "fish": True}, {}, {"blue": Decimal(1), "fish": np.float32(1)}],
    ],
)  # fmt: skip
def test_one_content_in_many_forms(X):
    documents = read(X)
    assert documents.novel == ["red", "fish", "blue"]
    assert all(type(word) is str for word in documents.novel)
    assert rows_of(documents) == ROWS
    assert documents.unknown.tolist() == [0.0, 0.0, 0.0]
    assert (documents.n_rows, documents.n_columns) == (3, 3)
    assert (documents.width, documents.names) == (None, None)


def test_only_strings_are_cut_and_folded():
    for X in ([["The Cats", "a"]], [{"The Cats": 1, "a": 1}]):
        assert read(X, stop_words="english", stem=True).novel == ["The Cats", "a"]


@pytest.mark.parametrize("X", [[None], [None, float("nan")], [[], []], [{}], [""], ["?"]])
def test_documents_may_be_empty(X):
    documents = read(X)
    assert (documents.n_rows, len(documents.data), documents.novel) == (len(X), 0, [])


@pytest.mark.parametrize("value", [1e9, 300, 0.125, np.float64(1e-9), 2**70])
def test_counts_of_any_size(value):
    assert read([{"a": value, "b": 1}]).data.tolist() == [float(value), 1.0]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("one string", TypeError, r"one string; pass a list.*\[X\]"),
        (b"bytes", TypeError, "bytes"),
        ({"a": 1}, TypeError, r"one dict; pass a list.*\[X\]"),
        ({"a", "b"}, TypeError, "a set"),
        ((word for word in "ab"), TypeError, "a generator"),
        (3, TypeError, "a int"),
        ([], ValueError, r"0 sample\(s\)"),
        ([1.0, 2.0], ValueError, "Expected 2D array, got 1D array"),
        (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array"),
        (pl.Series([True]), ValueError, "Expected 2D array, got 1D array"),
        (pl.LazyFrame({"a": ["x"]}), TypeError, "collect"),
        (["a", 3], TypeError, "row 1 of X is 3, of type int, where a string"),
        (["a", ["b"]], TypeError, "row 1 .* of type list, where a string"),
        (["a", b"b"], TypeError, "row 1 .* of type bytes, .*decode"),
        ([b"a"], TypeError, "row 0 .*decode"),
        (np.array([b"a"]), TypeError, "row 0 .*decode"),
        ([None, {"a", "b"}], TypeError, "row 1 .* of type set"),
        ([1j], TypeError, "row 0 .* of type complex"),
        ([["a"], "b"], TypeError, "row 1 .* of type str, where a list"),
        ([["a"], ["b", 3]], TypeError, "row 1 of X has the word 3, of type int"),
        ([["a"], ["b", None]], TypeError, "row 1 of X has the word None"),
        ([["a"], ["b", ["c"]]], TypeError, "row 1 of X has the word .*of type list"),
        ([{"a": 1}, "b"], TypeError, "row 1 .* of type str, where a dict"),
        ([{"a": 1}, [1]], TypeError, "row 1 .* of type list, where a dict"),
        ([{"a": 1}, {"b": 1, 7: 1}], TypeError, "row 1 of X has the word 7, of type int"),
        ([{"a": 1}, {"b": "3"}], ValueError, "row 1 of X has '3' for 'b'.*never parsed"),
        ([{"a": 1}, {"b": -0.5}], ValueError, "Negative values in data: row 1 .* -0.5 for 'b'"),
        ([{"a": -1}], ValueError, "Negative values in data: row 0 .* -1.0 for 'a'"),
        ([{"a": 1}, {"b": np.inf}], ValueError, "row 1 of X has an infinite count for 'b'"),
        ([{"a": 1}, {"b": 10**400}], ValueError, "row 1 of X has an infinite count for 'b'"),
        ([{"a": 1j}], ValueError, "Complex data not supported.*'a'"),
        ([{"a": [1]}], TypeError, "'a' has a list in row 0"),
        ([{"a": dt.date(2020, 1, 1)}], ValueError, "'a' holds dates"),
    ],
)
@pytest.mark.parametrize("hash_bits", [None, 8])
def test_what_is_no_document_is_refused(X, error, message, hash_bits):
    vocabulary = Vocabulary(["a"])
    with pytest.raises(error, match=message):
        read(X, vocabulary, hash_bits=hash_bits)
    assert vocabulary == Vocabulary(["a"])
    if not hasattr(X, "send"):  # a generator has been used up
        with pytest.raises(error, match=message):
            read(X, vocabulary, learn=False, hash_bits=hash_bits)
