"""Is every table of docs/benchmarks.md of today's code, or does it say that it is older?"""

import re

import pytest

from bench import __main__ as command
from bench import page, sources
from bench.catalogue import BENCHMARKS
from bench.page import Block
from bench.report import Line, Section

EXPLAINED = "| name | what | peer | bar |"  # says what is measured, not what came out
BODY = "### Title\n\n| what | ours |\n| --- | ---: |\n| a | 1 |"


def block(name="rowwise", fresh=True, older=False, body=BODY):
    now = sources.fingerprint(BENCHMARKS[name.partition("/")[0]].measures)
    return Block(name, now if fresh else "0" * 12, "60b8e0b", "2026-11-15", older, body)


def text(*parts):
    return "# Prose\n\n" + "\n\nmore prose\n\n".join(map(str, parts)) + "\n\nthe end\n"


def test_tables_are_of_this_code_or_say_that_they_are_older():
    assert page.complaints(page.PAGE.read_text(encoding="utf-8")) == []


def test_every_table_stands_in_a_block():
    assert page.outside(page.PAGE.read_text(encoding="utf-8")) == [EXPLAINED]


def test_every_benchmark_has_a_block():
    found = {one.name for one in page.blocks(page.PAGE.read_text(encoding="utf-8"))}
    assert set(BENCHMARKS) <= found


def test_a_block_is_read_as_it_was_written():
    written = [block(), block("tables/chosen", fresh=False, older=True, body="| a |\n|---|")]
    assert page.blocks(text(*written)) == written


@pytest.mark.parametrize(  # found in the test: every worker would find them while it collects
    ("wrong", "complaint"),
    [
        (lambda: [block(fresh=False)], "rowwise: run"),
        (lambda: [block(older=True)], "rowwise: run"),
        (lambda: [block(), block()], "rowwise: stands there twice"),
        (lambda: [str(block()).replace("rowwise", "columnwise")], "columnwise: no benchmark"),
        (lambda: [str(block()).replace("<!-- end -->", "")], "that is no part of a block"),
        (
            lambda: [str(block()).replace("*Run of commit 60b8e0b", "*Run of 60b8e0b")],
            "no part of a block",
        ),
        (
            lambda: [str(block()).replace("<!-- end -->", ""), block("training")],
            "no part of a block",
        ),
    ],
)
def test_what_is_wrong_is_named(wrong, complaint):
    (told,) = page.complaints(text(*wrong()))
    assert complaint in told


def test_blocks_are_marked_by_their_age_and_prose_is_left_alone():
    marked = page.mark(text(block(fresh=False), block("training", older=True)))
    assert marked == text(block(fresh=False, older=True), block("training"))
    assert page.complaints(marked) == []


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A page with an old block of rowwise and one of prediction; runs take no time."""
    file = tmp_path / "page.md"
    file.write_text(text(block(fresh=False, older=True), block("prediction", fresh=False)))
    section = Section("One row", [Line("speed", "3")])
    monkeypatch.setattr(command, "run", lambda name, quick: section)
    monkeypatch.setattr(sources, "commit", lambda: "abcdef0")
    monkeypatch.setattr(sources, "uncommitted", list)
    return file


def test_write_replaces_the_block_of_a_run_and_marks_the_others(file):
    assert command.main(["rowwise", "--write", "--page", str(file)]) == 0
    new, other = page.blocks(file.read_text())
    assert (new.name, new.commit, new.older) == ("rowwise", "abcdef0", False)
    assert "| speed | 3 |" in new.body
    assert other == block("prediction", fresh=False, older=True)
    assert re.sub("<!--.*-->", "", file.read_text(), flags=re.DOTALL) == "# Prose\n\n\n\nthe end\n"
    assert page.complaints(file.read_text()) == []


def test_a_run_that_measured_nothing_replaces_nothing(file, monkeypatch, capsys):
    before = file.read_text()
    monkeypatch.setattr(command, "run", lambda name, quick: Section("no data", notes=["lacking"]))
    assert command.main(["rowwise", "--write", "--page", str(file)]) == 0
    assert file.read_text() == before
    assert "keeps what it had" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["training"], "no block for training"),
        (["rowwise", "--quick"], "nothing worth writing"),
    ],
)
def test_write_is_refused_before_anything_runs(file, capsys, arguments, reason):
    with pytest.raises(SystemExit):
        command.main([*arguments, "--write", "--page", str(file)])
    assert reason in capsys.readouterr().err


def test_write_is_refused_while_sources_are_not_committed(file, monkeypatch, capsys):
    monkeypatch.setattr(sources, "uncommitted", lambda: [" M src/infinimix/x.py"])
    with pytest.raises(SystemExit):
        command.main(["rowwise", "--write", "--page", str(file)])
    assert "not committed" in capsys.readouterr().err


def test_mark_says_what_is_old(file, capsys):
    assert command.main(["--mark", "--page", str(file)]) == 0
    assert "prediction: older than the code" in capsys.readouterr().out
    assert page.complaints(file.read_text()) == []
