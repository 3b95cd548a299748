"""Words cut and found by compiled code: the same as by the pattern and a dict."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infinimix.tables.documents import read_documents
from infinimix.tables.single_documents import DocumentReader
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary
from infinimix.tables.word_index import WordIndex
from infinimix.tables.word_slots import _same

FEW = settings(max_examples=150, deadline=None)
LETTERS = st.sampled_from([*"aAbB1_ -.é\n\tßİΣ木\x00\ud800'"])
TEXTS = st.lists(st.text(st.one_of(LETTERS, st.characters()), max_size=40), min_size=1, max_size=6)
KNOWN = st.lists(st.text(LETTERS, min_size=1, max_size=3), unique=True, max_size=40)


def expected(words, documents, text):
    """The columns, where documents begin, and the unknown words, by strings and a dict."""
    known = {word: column for column, word in enumerate(words)}
    cut = [text.tokens(document) for document in documents]
    joined = [word for row in cut for word in row]
    starts = np.cumsum([0, *map(len, cut)])
    unknown = [word for word in joined if word not in known]
    return [known.get(word, -1) for word in joined], starts.tolist(), unknown


@FEW
@given(KNOWN, TEXTS, st.booleans())
def test_any_text_is_cut_as_by_the_pattern(words, documents, lower):
    text = Text(lower=lower)
    found = WordIndex(words).cut(documents, text)
    parts = found.columns.tolist(), found.starts.tolist(), found.unknown
    assert parts == expected(words, documents, text)


@FEW
@given(TEXTS, TEXTS, st.booleans())
def test_documents_are_those_of_lists_of_words(first, later, learn):
    """Strings and their words give the same arrays, alone and together, known or novel."""
    text, vocabulary = Text(), Vocabulary(["of"])
    vocabulary.extend(read_documents(first, vocabulary, text, learn=True).novel)
    strings = read_documents(later, vocabulary, text, learn)
    lists = read_documents([text.tokens(one) or ["of"] for one in later], vocabulary, text, learn)
    assert strings.novel == lists.novel
    for i, document in enumerate(later):
        if not text.tokens(document):
            assert strings.indptr[i] == strings.indptr[i + 1]
            continue
        for one, other in zip(strings[1:3], lists[1:3], strict=True):
            here = slice(*strings.indptr[i : i + 2])
            there = slice(*lists.indptr[i : i + 2])
            assert one[here].tolist() == other[there].tolist()
        assert strings.unknown[i] == lists.unknown[i]


@FEW
@given(TEXTS)
def test_a_single_text_is_read_as_many_are(documents):
    text, vocabulary, reader = Text(), Vocabulary(["of"]), DocumentReader()
    for document in documents:
        assert reader.read(document, vocabulary, text)
        many = read_documents([document], vocabulary, text, learn=True)
        n = reader.n_words
        assert (reader.novel, reader.n_columns) == (many.novel, many.n_columns)
        assert reader.indices[:n].tolist() == many.indices.tolist()
        assert reader.data[:n].tolist() == many.data.tolist()
        vocabulary.extend(many.novel)


def test_an_index_grows_with_its_vocabulary():
    """Word by word, through every size of its table, and in one step."""
    words = [f"word{k}" for k in range(3000)]
    vocabulary = Vocabulary(words[:1])
    assert vocabulary.index.size == 1
    for word in words[1:]:
        vocabulary.extend([word])
    for index in (vocabulary.index, WordIndex(words), WordIndex(words, seed=7)):
        found = index.cut([" ".join(words[::-1]), "word other"], Text())
        assert found.columns.tolist() == [*range(2999, -1, -1), -1, -1]
        assert found.unknown == ["word", "other"]


def test_a_copy_has_its_own_index():
    vocabulary = Vocabulary(["one"])
    vocabulary.index.extend([])
    other = copy.deepcopy(vocabulary)
    vocabulary.extend(["two"])
    assert other.index.cut(["one two"], Text()).columns.tolist() == [0, -1]
    assert vocabulary.keep([1]).index.cut(["one two"], Text()).columns.tolist() == [-1, 0]


@pytest.mark.parametrize("other", ["fisH", "fis", "fishy", "fosh", ""])
def test_words_of_one_hash_are_compared_letter_by_letter(other):
    """A hash that agrees is not enough: the letters decide."""
    text, fold = np.frombuffer(b"xFISHx", np.uint8), Text().fold_array
    letters = np.frombuffer(b"fish" + other.encode(), np.uint8)
    assert _same(text, 1, 5, fold, letters, 0, 4)
    assert not _same(text, 1, 5, fold, letters, 4, len(letters))


@FEW
@given(KNOWN, st.lists(st.text(LETTERS, max_size=3), max_size=30))
def test_words_are_found_as_in_a_dict(words, asked):
    """Whatever characters they have: those with the mark between words are left to the dict."""
    vocabulary = Vocabulary(words)
    columns, unknown = vocabulary.find(asked)
    assert columns.tolist() == [vocabulary.known.get(word, -1) for word in asked]
    assert unknown == sum(word not in vocabulary.known for word in asked)
    found = WordIndex(words).find(asked)
    assert (found is None) == any("\0" in word for word in asked)


def test_many_words_are_found_while_an_index_grows():
    index, words = WordIndex(), [f"w{k * k}" for k in range(3000)]
    for k in range(0, 3000, 7):
        index.extend(words[k : k + 7])
        columns, unknown = index.find(words[: k + 8])
        assert columns.tolist()[: k + 7] == list(range(min(k + 7, 3000)))
        assert unknown == (k + 7 < 3000)


def test_a_copy_of_an_index_grows_by_itself():
    index = WordIndex(["red", "fish"])
    other = index.copy()
    other.extend(["pond"])
    assert other.find(["pond", "red"])[0].tolist() == [2, 0]
    assert index.find(["pond", "red"])[0].tolist() == [-1, 0]


def test_what_is_no_string_is_not_looked_up():
    with pytest.raises(TypeError):
        WordIndex(["red"]).find(["red", 3])
