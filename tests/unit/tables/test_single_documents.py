"""A reader of single documents gives what `read_documents` gives, or leaves the document to it."""

from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infinimix.estimators.online.rows import TextInput
from infinimix.tables.documents import read_documents
from infinimix.tables.single_documents import DocumentReader, take_back, take_reader
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary

PLAIN = Text()
KNOWN = ["red", "green", "blue", "fish", "x"]
WORDS = st.sampled_from([*KNOWN, "bowl", "pond", "Red", "z", ""])
DOCUMENTS = st.one_of(
    st.lists(WORDS).map(" ".join),
    st.dictionaries(WORDS, st.sampled_from([0, 1, 3, 300, 0.5, 0.0, float("nan"), True])),
    st.lists(WORDS, min_size=1),
)


def assert_as_read(document, text=PLAIN):
    vocabulary, reader = Vocabulary(KNOWN), DocumentReader()
    expected = read_documents([document], vocabulary, text, learn=True)
    assert reader.read(document, vocabulary, text)
    assert reader.novel == list(expected.novel)
    assert reader.n_columns == expected.n_columns
    assert reader.n_words == len(expected.indices)
    np.testing.assert_array_equal(reader.indptr, expected.indptr)
    for ours, theirs in ((reader.indices, expected.indices), (reader.data, expected.data)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours[: reader.n_words], theirs)
    return reader


@given(DOCUMENTS)
def test_a_document_is_read_as_among_many(document):
    assert_as_read(document)


@given(DOCUMENTS)
def test_words_without_a_column_share_one_as_for_answers(document):
    reader, source = assert_as_read(document), TextInput(Text(), None)
    source.vocabulary = Vocabulary(KNOWN)
    expected = source.blur(source.read([document], "the model"))
    reader.blur()
    np.testing.assert_array_equal(reader.indices[: reader.n_words], expected.X.word)
    assert reader.n_columns == expected.source.n_columns


def test_long_documents_find_room():
    assert_as_read(" ".join(f"word{k}" for k in range(5000)))
    assert_as_read({f"word{k}": k for k in range(5000)})


def test_options_of_text_are_followed():
    assert_as_read("The fishes", Text(stop_words="english", stem=True))


@pytest.mark.parametrize(
    "document",
    [
        None,
        3.0,
        b"red",
        ("red", "fish"),
        ["red", None],
        {"red": -1},
        {"red": float("inf")},
        {"red": "2"},
        {"red": None},
        {3: 1},
        {("red",): 1},
    ],
)
def test_what_takes_a_closer_look_is_left(document):
    assert not DocumentReader().read(document, Vocabulary(KNOWN), Text())


def test_hashed_words_and_numbered_columns_are_left():
    assert not DocumentReader().read("red", Vocabulary(KNOWN), Text(hash_bits=4))
    assert not DocumentReader().read("red", Vocabulary(np.arange(3)), Text())
    assert not DocumentReader().read("red", Vocabulary(), Text())


def test_a_reader_forgets_the_document_before():
    vocabulary, reader = Vocabulary(KNOWN), DocumentReader()
    assert reader.read("red fish and a pond", vocabulary, Text())
    assert reader.read("blue", vocabulary, Text())
    assert reader.novel == []
    assert reader.indices[: reader.n_words].tolist() == [2]


def test_two_callers_have_two_readers():
    first, second = take_reader(), take_reader()
    assert first is not second
    take_back(first)
    take_back(second)


class Colour(str, Enum):
    """Words that are members of an enumeration."""

    RED = "red"
    PINK = "pink"


def test_strings_are_what_they_say():
    """Also those of NumPy and of enumerations, whose hash may be that of their name."""
    reader = assert_as_read({Colour.RED: 2.0, np.str_("fish"): 1.0, Colour.PINK: 3.0, "bowl": 1.0})
    assert reader.novel == ["pink", "bowl"]
    assert {*map(type, reader.novel)} == {str}
    assert reader.indices[:4].tolist() == [0, 3, 5, 6]


def test_words_with_any_character_are_read():
    reader = assert_as_read({"a\0b": 1.0, "red": 2.0, "\0": 1.0, "\ud800": 1.0})
    assert reader.novel == ["a\0b", "\0", "\ud800"]
