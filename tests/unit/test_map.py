"""The map in CONTRIBUTING.md is true: every file, function and room that it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/infinimix"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
QUESTIONS = re.findall(r"^\| (Where .+?\?) \| (.+) \|$", SECTIONS["Where is ...?"], re.M)
ROOMS = re.findall(r"^\| `(\w+)` \| .+? \| (.+) \|$", SECTIONS["Rooms"], re.M)


@cache
def all_names_in(path):
    return frozenset(names_in(path))


def names_in(path):
    """The functions, classes and methods of a source file; methods as `Class.method`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield node.name
            yield from (
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef)
            )


def test_a_newcomer_finds_many_answers():
    assert len(QUESTIONS) >= 12


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_every_answer_names_files_and_functions_that_exist(question, answer):
    files = re.findall(r"`([\w/]+\.py)`(?:: ((?:`[\w.]+`(?:, )?)+))?", answer)
    assert files
    assert any(names for _, names in files)
    for file, names in files:
        assert (SOURCES / file).is_file(), file
        assert set(re.findall(r"[\w.]+", names)) <= all_names_in(SOURCES / file), (file, names)


def test_every_room_is_on_the_map():
    rooms = {path.parent.name for path in SOURCES.glob("*/__init__.py")}
    assert {room for room, _ in ROOMS} | {"execution", "artifacts", "tables"} == rooms


@pytest.mark.parametrize(("room", "parts"), ROOMS)
def test_every_part_of_a_room_exists(room, parts):
    for part in re.findall(r"`([\w./]+?)/?`", parts):
        assert (SOURCES / room / part).exists(), part


@pytest.mark.parametrize("room", [room for room, _ in ROOMS])
def test_every_sub_package_is_on_the_map(room):
    parts = dict(ROOMS)[room]
    for found in (SOURCES / room).glob("*/__init__.py"):
        assert f"`{found.parent.name}`" in parts, found.parent
