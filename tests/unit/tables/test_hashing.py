"""The hash of words: an oracle in plain Python, fixed values, and an even spread."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from infinimix.tables.hashing import hash_words

ANY_TEXT = st.text(st.characters(), max_size=5)  # half surrogate pairs too


def one_by_one(word, bits):
    """FNV-1a of 32 bits and the mixing step, from their definitions."""
    h = 2166136261
    for byte in word.encode("utf-8", "surrogatepass"):
        h = (h ^ byte) * 16777619 % 2**32
    for _ in range(2):
        h = (h ^ h >> 16) * 0x45D9F3B % 2**32
    return (h ^ h >> 16) % 2**bits


@given(st.lists(ANY_TEXT, max_size=6), st.integers(1, 30))
def test_it_is_the_hash_of_each_word_alone(words, bits):
    assert hash_words(words, bits).tolist() == [one_by_one(word, bits) for word in words]


def test_separators_within_words():
    words = ["a\0b", "", "a", "b", "\0"]
    assert hash_words(words, 20).tolist() == [one_by_one(word, 20) for word in words]
    assert hash_words({"a": 1, "b": 2}, 20).tolist() == hash_words(["a", "b"], 20).tolist()


def test_the_values_are_those_of_saved_models():
    assert hash_words(["apple", "pear", "Zürich", ""], 18).tolist() == [
        38959,
        147596,
        134356,
        251028,
    ]


def test_words_that_differ_little_spread_evenly():
    """Chi-squared of 2**8 cells; the words are fixed, and a fair hash fails one time in 1e6."""
    for words in ([f"w{i}" for i in range(20_000)], [f"{i:05d}x" for i in range(20_000)]):
        counts = np.bincount(hash_words(words, 8), minlength=256)
        mean = len(words) / 256
        assert ((counts - mean) ** 2 / mean).sum() < chi2.isf(1e-6, 255)
