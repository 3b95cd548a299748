"""Laws of documents, for any content: one content in many forms, any cutting, no side effects."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from infinimix.tables.documents import read_documents
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary

FEW = settings(max_examples=60, deadline=None)
WORDS = [a + b for a in "abcdé" for b in "xyzw"]
CORPUS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=8)
BAGS = st.lists(
    st.dictionaries(
        st.text(max_size=2),
        st.sampled_from([0, 1, 2, 300, 0.1, 0.7, 1e-9, float("nan"), None, True]),
        max_size=12,
    ),
    min_size=1,
    max_size=8,
)
HASHING = st.sampled_from([None, 2, 18])


def dicts_of(corpus):
    return [{word: row.count(word) for word in dict.fromkeys(row)} for row in corpus]


def matrix_of(dicts, words):
    dense = np.zeros((len(dicts), len(words)))
    for i, row in enumerate(dicts):
        for word, count in row.items():
            dense[i, words.index(word)] = count
    return dense


def forms_of(corpus):
    """The same documents in every form, the words of matrices in the order of appearance."""
    words = list(dict.fromkeys(word for row in corpus for word in row))
    dicts, strings = dicts_of(corpus), [" ".join(row) for row in corpus]
    yield strings
    yield pd.Series(strings)
    yield pl.DataFrame({"text": strings})
    yield corpus
    yield dicts
    if words:
        frame = pd.DataFrame(matrix_of(dicts, words), columns=words)
        yield frame
        yield pl.from_pandas(frame)


def same(a, b):
    """Documents that are equal to the last bit."""
    assert list(a.novel) == list(b.novel)
    assert a.n_columns == b.n_columns
    for x, y in zip(a[:4], b[:4], strict=True):
        assert x.dtype == y.dtype
        assert x.tobytes() == y.tobytes()


@FEW
@given(CORPUS, HASHING, st.booleans())
def test_one_content_in_many_forms(corpus, hash_bits, learn):
    vocabulary, text = Vocabulary(WORDS[3:8]), Text(hash_bits=hash_bits)
    first, *others = (read_documents(X, vocabulary, text, learn) for X in forms_of(corpus))
    for other in others:
        same(first, other)


@FEW
@given(CORPUS)
def test_columns_with_and_without_names_are_the_same_documents(corpus):
    words = list(dict.fromkeys(word for row in corpus for word in row))
    if words:
        dense = matrix_of(dicts_of(corpus), words)
        named = read_documents(corpus, Vocabulary(), Text(), True)
        for X in (dense, sparse.csr_array(dense), sparse.coo_array(dense), dense.tolist()):
            found = read_documents(X, Vocabulary(), Text(), True)
            assert [words[j] for j in found.novel] == named.novel
            same(found._replace(novel=named.novel), named)


@FEW
@given(BAGS)
def test_a_slow_reader_agrees(bags):
    documents = read_documents(bags, Vocabulary(["a", "b"]), Text(), True)
    words = ["a", "b"]
    for i, row in enumerate(bags):
        counted = {word: float(c) for word, c in row.items() if c is not None and c > 0}
        words += [word for word in counted if word not in words]
        part = slice(documents.indptr[i], documents.indptr[i + 1])
        expected = sorted((words.index(word), c) for word, c in counted.items())
        assert list(zip(documents.indices[part], documents.data[part], strict=True)) == expected
    assert documents.novel == words[2:]


@FEW
@given(BAGS, HASHING, st.lists(st.integers(0, 8), max_size=4), st.sampled_from(["dicts", "csr"]))
def test_any_cutting_gives_the_same_rows(bags, hash_bits, cuts, form):
    X, text = bags, Text(hash_bits=hash_bits)
    if form == "csr":
        X = sparse.csr_array(np.random.default_rng(len(bags)).poisson(0.5, (len(bags), 4)) / 3.0)
    whole = read_documents(X, Vocabulary(), text, True)
    vocabulary, found = Vocabulary(), []
    for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), len(bags)], strict=True):
        if a < min(b, len(bags)):
            part = read_documents(X[a:b], vocabulary, text, True)
            vocabulary.extend(part.novel)
            found.append(part)
    assert vocabulary == Vocabulary(whole.novel)
    for name in ("indices", "data", "unknown"):
        joined = np.concatenate([getattr(part, name) for part in found])
        assert joined.tobytes() == getattr(whole, name).tobytes()
    sizes = np.concatenate([np.diff(part.indptr) for part in found])
    assert np.array_equal(np.cumsum([0, *sizes]), whole.indptr)


@FEW
@given(BAGS, BAGS)
def test_what_was_learned_reads_the_same_and_the_rest_is_counted(first, second):
    vocabulary, text = Vocabulary(), Text()
    learned = read_documents(first, vocabulary, text, True)
    assert len(vocabulary) == 0  # reading changes nothing
    vocabulary.extend(learned.novel)
    same(
        read_documents(first, vocabulary, text, False),
        learned._replace(novel=[]),
    )
    known = read_documents(second, vocabulary, text, False)
    total = read_documents(second, vocabulary, text, True)
    assert known.n_columns == len(vocabulary)
    for i in range(len(second)):
        row = slice(*total.indptr[i : i + 2])
        novel = total.indices[row] >= len(vocabulary)
        part = slice(*known.indptr[i : i + 2])
        assert known.indices[part].tolist() == total.indices[row][~novel].tolist()
        np.testing.assert_allclose(known.unknown[i], total.data[row][novel].sum(), rtol=1e-12)


@FEW
@given(BAGS, st.data())
def test_errors_name_the_row_and_the_word_and_change_nothing(bags, data):
    row = data.draw(st.integers(0, len(bags) - 1))
    wrong = data.draw(st.sampled_from([-1, -0.5, float("inf"), "3"]))
    bags[row] = bags[row] | {"odd one": wrong}
    vocabulary = Vocabulary(["a"])
    with pytest.raises(ValueError, match=rf"row {row} .*'odd one'"):
        read_documents(bags, vocabulary, Text(), True)
    assert vocabulary == Vocabulary(["a"])


def test_hashed_words_need_no_vocabulary():
    documents = read_documents(["one two", "two"], Vocabulary(["x"]), Text(hash_bits=20), False)
    assert documents.n_columns == 2**20
    assert documents.unknown.tolist() == [0.0, 0.0]
    assert documents.novel == []
    assert set(documents.indices[2:]) < set(documents.indices[:2])


def test_words_that_share_a_column_are_added_up():
    documents = read_documents([dict.fromkeys(WORDS, 1)], Vocabulary(), Text(hash_bits=1), True)
    assert documents.indices.tolist() == [0, 1]
    assert documents.data.sum() == len(WORDS)


def test_long_documents_are_sorted():
    """Rows longer than any gap of the sort."""
    rng = np.random.default_rng(0)
    tokens = [f"w{j}" for j in rng.integers(0, 3000, 5000)]
    vocabulary = Vocabulary([f"w{j}" for j in rng.permutation(3000)])
    documents = read_documents([tokens], vocabulary, Text(), False)
    expected = np.bincount([vocabulary.known[word] for word in tokens], minlength=3000)
    assert documents.indices.tolist() == np.flatnonzero(expected).tolist()
    assert documents.data.tolist() == expected[expected > 0].tolist()
