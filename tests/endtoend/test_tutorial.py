"""docs/tutorial.md, run from top to bottom in an empty folder, prints what the page shows.

A block of `text` shows what the block of `sh` or `python` before it prints. `...` stands for any
text. Line breaks and other white space may differ, as a terminal wraps long lines. Effort and seed
are the defaults, as a reader has them: others would print other figures.
"""

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path

from tests.endtoend.command_files import invoke

PAGE = (Path(__file__).parents[2] / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)


def is_shown(printed, shown):
    """Whether a text is the one shown, up to white space and what `...` leaves out."""
    parts = [re.escape(" ".join(part.split())) for part in shown.split("...")]
    return re.fullmatch(" ?.*? ?".join(parts), " ".join(printed.split())) is not None


def run_python(code, names):
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "tutorial.md", "exec"), names)
    return printed.getvalue()


def run_commands(block, _):
    printed = ""
    for line in block.splitlines():
        name, *args = shlex.split(line)
        assert name == "infinimix"
        done = invoke(*args)
        assert done.exit_code == 0, (line, done.output)
        for option, file in pairwise(args):
            assert option != "--output" or Path(file).is_file(), line
        printed += done.stdout  # standard error may say that kernels are being compiled
    return printed


def test_the_page_shows_what_it_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    names, printed = {}, ""
    for language, block in BLOCKS:
        if language == "text":
            assert is_shown(printed, block), (
                f"the page shows\n{block}\nbut this is printed\n{printed}"
            )
            printed = ""
            continue
        assert printed.strip() == "", f"the page does not show\n{printed}"
        (tmp_path / "flowers.html").unlink(missing_ok=True)  # the command and Python both write it
        run = run_commands if language == "sh" else run_python
        printed = run(block, names)
    assert printed.strip() == ""
    assert "<html" in (tmp_path / "flowers.html").read_text(encoding="utf-8")


def test_the_page_has_commands_python_and_what_they_print():
    languages = [language for language, _ in BLOCKS]
    assert set(languages) == {"sh", "python", "text"}
    assert languages.count("sh") >= 4
    assert languages.count("text") >= 5


def test_other_text_is_not_what_is_shown():
    assert is_shown(" a  1\n\nb 2\n", "a 1\nb 2")
    assert is_shown("a 1\nb 2\nc 3", "a 1\n...\nc 3")
    assert is_shown("took 0.3 s", "took ... s")
    assert not is_shown("a 1\nb 2", "a 1")
    assert not is_shown("a 1\nb 2", "a 1\nb 3")
    assert not is_shown("a 1\nb 2\nc 3", "a 1\n...\nc 4")
    assert not is_shown("a 1.5", "a 1x5")
