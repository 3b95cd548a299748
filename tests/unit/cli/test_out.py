"""What commands show: JSON that is JSON, tables of any text, files whole or not at all."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from infinimix.cli import out, places


def test_json_has_no_numbers_that_are_none(capfd):
    out.print_json({"a": np.float64("nan"), 1: (np.int64(2), [np.inf]), "é": np.array([True])})
    assert json.loads(capfd.readouterr().out) == {"a": None, "1": [2, [None]], "é": [True]}


def test_tables_take_any_text(capsys):
    out.show(out.grid("[bold] of it", ("a", "b"), [("[red]x", 1), ("y", 23)]))
    text = capsys.readouterr().out
    assert "[bold] of it" in text
    assert "[red]x" in text
    assert text.index(" 1") > 0


def test_nothing_is_drawn_where_nobody_watches(capsys):
    with out.progress("folds", 3) as step:
        step()
    out.mention("hello")
    with out.waiting("filling"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_what_takes_its_time(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with out.waiting("filling missing cells"):
        pass
    assert "filling missing cells" in terminal.getvalue()


@pytest.mark.parametrize(("n", "words"), [(1, "1 row"), (1200, "1,200 rows")])
def test_numbers_with_nouns(n, words):
    assert out.count(n, "row") == words


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("infinimix.artifacts.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        places.write_text("new", path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert path.read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_standard_output_is_an_error(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(OSError, match="No space"):
            places.write_text("text", None)


def test_a_note_is_said_once_though_its_figures_differ(capsys):
    out.forget_notes()
    for text in ("a loss of 0.25", "a loss of 0.31", "column 'c1' is odd", "column 'c2' is odd"):
        out.warn("fit", text)
    assert len(capsys.readouterr().err.splitlines()) == 3
    out.forget_notes()
    out.warn("fit", "a loss of 0.25")
    assert capsys.readouterr().err == "infinimix fit: note: a loss of 0.25\n"
