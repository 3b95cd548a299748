"""Numbers as people write them: what is written in a style is read back, and nothing is guessed."""

import itertools

import numpy as np
import pytest

from infinimix.streaming import read_stream
from infinimix.streaming.number_styles import Ambiguous, NumberStyle, find_style

MARKS = [(".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", "\u202f"), (".", "'")]
UNITS = [("", ""), ("$", ""), ("€ ", ""), ("", " €"), ("EUR ", ""), ("", "%"), ("", " %")]
STYLES = [NumberStyle(*marks, *units) for marks in MARKS for units in UNITS]
VALUES = [0.5, 1234.25, -7.25, 1234567.75, 12.5, -4321.5, 0.25]


@pytest.mark.parametrize("style", STYLES, ids=repr)
def test_what_is_written_is_read_back(style):
    words = [style.write(value, 2) for value in VALUES]
    found = find_style(words)
    assert isinstance(found, NumberStyle)
    assert [found.read(word) for word in words] == VALUES
    assert [found.write(value, 2) for value in VALUES] == words
    assert max(found.digits(word) for word in words) == 2


def test_a_style_is_found_only_if_it_is_the_only_reading():
    """By enumeration of small columns, against both readings of every cell."""
    cells = ["1,234", "1.234", "5", "1,5", "2.5", "1.234,5", "1,234.5", "12,345,678"]
    for n in (1, 2, 3):
        for words in itertools.combinations(cells, n):
            readings = {}
            for mark in (".", ","):
                values = tuple(NumberStyle(mark).read(word) for word in words)
                if None not in values:
                    readings[mark] = values
            found = find_style(words)
            if not readings:
                assert found is None
            elif len(set(readings.values())) == 2:
                assert isinstance(found, Ambiguous)
                assert found.point != found.comma
                for mark, values in readings.items():
                    assert tuple(map(find_style(words, mark).read, words)) == values
            else:
                assert tuple(map(found.read, words)) in readings.values()


@pytest.mark.parametrize(
    "words",
    [
        ["$5", "€5"], ["5%", "0.05"], ["5 km"], ["1.2.3"], ["31.12.2024"], ["12:30"], ["1,23,456"],
        ["1 2"], ["192.168.1.10"], ["", "1,5"], ["12345678901234567890"], ["$5%"], ["--5"], ["1e"],
    ],
)  # fmt: skip
def test_what_is_no_column_of_numbers(words):
    assert find_style(words) is None


def test_a_stream_reads_styles_of_its_first_chunk(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;share;y\n1,5;5 %;a\n-2,25;7,5 %;b\nx;8 %;b\n3,5;;a\n", encoding="utf-8")
    reader = read_stream(path, "y", delimiter=";", chunk=2, on_bad="skip")
    with pytest.warns(UserWarning, match=r"column 'x': read as numbers with a decimal comma"):
        rows = [row for X, _ in reader for row in X]
    assert [row["x"] for row in rows] == [1.5, -2.25, 3.5]
    assert [row["share"] for row in rows] == [5.0, 7.5, None]
    assert "column 'x' holds numbers with a decimal comma, but here 'x'" in reader.bad[0].reason


def test_an_ambiguous_stream_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,y\n"1,234",a\n"5,678",b\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"'x' is ambiguous: .* may be .*decimal='.'"):
        list(read_stream(path, "y"))
    for mark, value in ((".", 1234.0), (",", 1.234)):
        with pytest.warns(UserWarning, match="read as numbers"):
            ((rows, _),) = read_stream(path, "y", decimal=mark)
        assert np.isclose(rows[0]["x"], value)
    ((rows, _),) = read_stream(path, "y", types={"x": "text"})
    assert rows[0]["x"] == "1,234"
