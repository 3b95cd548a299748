"""Words between numbers and dates, which keep a column from being read as one."""

import pytest

from infinimix.cli.stray import find_stray, word_stray

NUMBERS = [f"{i / 7:.2f}" for i in range(40)]
EUROS = [f"{i}.{i * 7 % 1000:03d},50 \u20ac" for i in range(1, 40)]
DATES = [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2024" for i in range(40)]


@pytest.mark.parametrize(
    ("cells", "what", "words"),
    [
        ([*NUMBERS, *["k.A."] * 25], "numbers", {"k.A.": 25}),
        ([*EUROS, "tbd", None, "tbd", "none"], "numbers", {"tbd": 2, "none": 1}),
        ([*DATES, "open", "open"], "dates", {"open": 2}),
        ([*NUMBERS * 3, *"abcde"], "numbers", dict.fromkeys("abcde", 1)),  # nine of ten are numbers
    ],
)
def test_words_between_numbers_and_dates_are_found(cells, what, words):
    found = find_stray(cells)
    assert found is not None
    assert (found.what, found.words) == (what, words)


@pytest.mark.parametrize(
    "cells",
    [
        ["red", "blue", "K-12"] * 20,
        [*["1", "2", "3"] * 9, *["x"] * 9],  # categories, some of which are digits
        [*NUMBERS, *["k.A."] * 60],  # more words than numbers
        [*NUMBERS, *"abcdefghij"],  # many words
        ["5 %", "$5", "EUR 7", *NUMBERS, "x"],  # numbers in no one style
        [f"word {i}" for i in range(40)],
        [],
    ],
)
def test_text_stays_text(cells):
    assert find_stray(cells) is None


def test_the_option_names_what_the_file_already_calls_missing():
    found = find_stray([*NUMBERS, "not given", "k.A."])
    said = word_stray(found, ["?", "", "null"])
    assert said.startswith("is text only because of 'not given', 'k.A.' in 2 cells")
    assert '--missing "not given" --missing k.A. --missing ? to read numbers' in said.replace(
        '"?"', "?"
    )
