"""The fingerprint changes with code and with nothing else."""

import io
import tokenize

import pytest

from bench.catalogue import BENCHMARKS, KEPT, KERNELS
from bench.sources import PACKAGE, ROOT, STRING_OR_COMMENT, code_only, files, fingerprint

CODE = '''"""What it is."""

import os  # for the path


class Box:
    """Holds things.

    More of it.
    """

    text = """no
    docstring # here"""

    def open(self):
        """Open it."""
        return "# no comment"
        # not yet
'''
ONLY = '''import os
class Box:
    text = """no
    docstring # here"""
    def open(self):
        return "# no comment"'''


@pytest.fixture
def package(tmp_path):
    def write(code, name="room/box.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code, encoding="utf-8")
        return fingerprint(["room"], tmp_path)

    return write


def test_docstrings_comments_and_empty_lines_are_left_out():
    assert code_only(CODE) == ONLY


HARD = r"""x = "a \" # b"  # one
y = ('c'  # two
     "d # e" 'f\'# g' r"\"  "  # three
     b"#" f"{x!r} # {'#'}" QQQh # "i" \QQQ # j
QQQ)  # four " # and '
z = {"#": [QQQk # l
QQQ, QQ, '']}#five QQQ
"""
HARD = HARD.replace("QQQ", '"' * 3) + HARD.replace("QQQ", "'" * 3).replace("QQ", '""')


@pytest.mark.parametrize("name", [None, "bench/sources.py", "src/infinimix/tables/text.py"])
def test_comments_are_those_that_the_tokenizer_finds(name):
    """Strings may hold what looks like a comment, and comments what looks like a string."""
    text = HARD if name is None else (ROOT / name).read_text(encoding="utf-8")
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    found = STRING_OR_COMMENT.sub(lambda match: "" if match["comment"] else match[0], text)
    assert found.splitlines() == lines


def test_prose_does_not_count(package):
    first = package(CODE)
    assert len(first) == 12
    assert (
        package(CODE.replace("What it is", "What it was").replace("for the path", "why")) == first
    )
    assert package(CODE.replace("import os", "import sys")) != first


def test_files_count_by_name_and_rooms_that_are_not_named_do_not(package):
    first = package(CODE)
    assert package("x = 1", "other/x.py") == first
    assert package("x = 1", "room/inner/x.py") != first


def test_what_has_a_minus_does_not_count(package, tmp_path):
    def measured(code):
        package(CODE)
        package(code, "room/other.py")
        return fingerprint(["room", "-room/other.py"], tmp_path)

    assert measured("x = 1") == measured("x = 2")
    assert package("x = 1", "room/other.py") != package("x = 2", "room/other.py")


def test_what_a_benchmark_measures_exists():
    for room in {room for benchmark in BENCHMARKS.values() for room in benchmark.measures}:
        assert files(PACKAGE / room.removeprefix("-"))


def test_files_of_kernels_decide_what_machine_code_does_or_where_it_is_kept():
    room = PACKAGE / "kernels"
    known = {*(PACKAGE / name for name in KERNELS), *(room / name for name in KEPT)}
    assert set(room.glob("*.py")) == known


def test_a_room_that_is_gone_is_named():
    with pytest.raises(FileNotFoundError, match="cellar"):
        fingerprint(["cellar"])
