"""The README says what is true: its code runs, its commands exist, its files are there."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from infinimix.cli import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
TARGETS = sorted(set(re.findall(r"(?:^|`)make ([a-z]+)(?=$|`)", README, re.M)))
COMMANDS = sorted(set(re.findall(r"`infinimix ([^`\n]+)`", README)))


def test_the_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    out = capsys.readouterr().out
    assert len(BLOCKS) >= 3
    assert "weight" in out  # prototypes
    assert "['ant' 'bee' 'fly']" in out


def test_the_first_example_has_five_lines():
    assert len([line for line in BLOCKS[0].splitlines() if line]) == 5


@pytest.mark.parametrize("target", TARGETS)
def test_the_make_targets_exist(target):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.M)


def test_both_commands_are_shown():
    assert {"demo", "test"} <= set(TARGETS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_parse(command):
    name, *args = shlex.split(command)
    parser = typer.main.get_command(app).commands[name]
    if "--help" not in args:  # which would print and leave
        parser.make_context(name, args)


def test_some_commands_are_shown():
    assert "demo --missing 0" in COMMANDS


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_the_linked_files_exist(link):
    assert link.startswith("https://") or (ROOT / link).is_file()


def test_the_picture_is_small():
    assert (ROOT / "docs/images/demo.png").stat().st_size < 200_000
