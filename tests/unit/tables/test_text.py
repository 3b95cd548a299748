"""The options of text, each alone and together."""

import copy
import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import infinimix
from infinimix.tables.text import ENGLISH, Text

SENTENCE = "The Cats weren't running: 3 cats ran in Zürich_2!"


def test_it_is_public():
    assert infinimix.Text is Text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "the cats weren running cats ran in zürich_2"),
        ({"lower": False}, "The Cats weren running cats ran in Zürich_2"),
        ({"stop_words": "english"}, "cats running cats ran zürich_2"),
        ({"stop_words": ["Cats", "in"]}, "the weren running ran zürich_2"),
        ({"stop_words": ["Cats"], "lower": False}, "The weren running cats ran in Zürich_2"),
        ({"stem": True}, "the cat weren run cat ran in zürich_2"),
        ({"stem": True, "stop_words": ["cats"]}, "the weren run ran in zürich_2"),
        ({"pattern": r"[^\W\d_]+"}, "the cats weren t running cats ran in zürich"),
        ({"pattern": r"\S+"}, "the cats weren't running: 3 cats ran in zürich_2!"),
        ({"hash_bits": 5}, "the cats weren running cats ran in zürich_2"),
    ],
)
def test_each_option(options, words):
    assert Text(**options).tokens(SENTENCE) == words.split()


def test_stop_words_are_lower_case_and_leave_negations():
    assert all(word == word.lower() for word in ENGLISH)
    assert not ENGLISH & {"not", "no", "never", "against", "without"}
    assert 100 < len(ENGLISH) < 200


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lower": "yes"}, TypeError, "lower"),
        ({"stem": 1}, TypeError, "stem"),
        ({"stop_words": "german"}, ValueError, "stop_words.*'german'"),
        ({"stop_words": ["a", 1]}, TypeError, "stop_words.*1"),
        ({"stop_words": 3}, TypeError, "stop_words.*3"),
        ({"pattern": "("}, ValueError, "not a regular expression"),
        ({"pattern": r"(\w)\w"}, ValueError, "groups"),
        ({"pattern": r"\w*"}, ValueError, "nothing for a word"),
        ({"pattern": None}, TypeError, "pattern"),
        ({"hash_bits": 0}, ValueError, "hash_bits"),
        ({"hash_bits": 31}, ValueError, "hash_bits"),
        ({"hash_bits": True}, ValueError, "hash_bits"),
        ({"hash_bits": 18.0}, ValueError, "hash_bits"),
    ],
)
def test_wrong_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        Text(**options)


def test_options_are_values():
    text = Text(stop_words=iter(["b", "a", "b"]), stem=True, hash_bits=7)
    assert text == Text(stop_words=("a", "b"), stem=True, hash_bits=7)
    assert hash(text) == hash(Text(stop_words=("a", "b"), stem=True, hash_bits=7))
    assert text != Text()
    text.tokens(SENTENCE)
    for again in (
        pickle.loads(pickle.dumps(text)),
        copy.deepcopy(text),
        Text.from_state(json.loads(json.dumps(text.state()))),
    ):
        assert again == text
        assert again.tokens(SENTENCE) == text.tokens(SENTENCE)
    with pytest.raises(AttributeError):
        text.stem = False


@given(st.text(st.characters(max_codepoint=127)) | st.text())
def test_words_are_those_of_the_pattern(document):
    assert Text().tokens(document) == re.findall(r"\w\w+", document.lower())
    assert Text(lower=False).tokens(document) == re.findall(r"\w\w+", document)


def test_every_character_of_ascii_is_a_word_or_a_blank_as_in_the_pattern():
    for c in map(chr, range(128)):
        assert Text(lower=False).tokens(f"ab{c}cd") == re.findall(r"\w\w+", f"ab{c}cd")
