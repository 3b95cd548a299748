"""Words between numbers and dates, which keep a column from being read as one."""

import pytest

from infinimix.cli.stray import explain_text, find_stray, find_unit, word_stray

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


def test_a_word_is_named_once_though_the_file_calls_it_missing_elsewhere():
    said = word_stray(find_stray([*DATES, "open", "open"]), ["open", "?"])
    assert said.count("--missing open") == 1


def test_values_with_a_unit_are_corrected_and_not_lost():
    said = explain_text([*NUMBERS * 3, "32.8 kg", "9.4 kg", *["n.d."] * 5, "tbd"])
    assert "correct cells such as '32.8 kg' in the file" in said
    assert said.endswith("if 'n.d.', 'tbd' means missing, add --missing n.d. --missing tbd too")
    said = explain_text([*NUMBERS * 3, "32.8 kg"])
    assert said.endswith("to read numbers, correct cells such as '32.8 kg' in the file")


def test_all_words_are_named_as_one_that_is_left_keeps_the_column_text():
    said = explain_text([*NUMBERS * 3, *"abcde"])
    assert "--missing a --missing b --missing c --missing d --missing e to read" in said
    said = explain_text([*NUMBERS * 4, *"abcdefghij"])
    assert "--missing h and the same for 2 more to read numbers" in said


@pytest.mark.parametrize("unit", ["kg", " kg", "m²", " °C", " km/h", " Stück"])
def test_one_unit_in_every_cell_is_named(unit):
    cells = [None, *(f"{word}{unit}" for word in NUMBERS)]
    assert find_unit(cells) == unit.strip()
    assert f"the unit {unit.strip()!r} in every cell; to read numbers" in explain_text(cells)


@pytest.mark.parametrize(
    "cells",
    [
        NUMBERS,
        [*(f"{word} kg" for word in NUMBERS), "3.5 g"],
        [f"{i}.5.2 kg" for i in range(40)],
        [f"{i} main street" for i in range(40)],
        ["2 doors", "4 doors"] * 20,  # few: categories
        [f"K-{i}" for i in range(40)],
        [],
    ],
)
def test_what_is_no_unit(cells):
    assert find_unit(cells) is None
