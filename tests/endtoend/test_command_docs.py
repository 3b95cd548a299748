"""docs/command.md: every option of every command is there, and the examples run."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from infinimix.cli import COMMANDS, app
from infinimix.cli.examples import EXAMPLES
from tests.endtoend.command_files import invoke

PAGE = (Path(__file__).parents[2] / "docs/command.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
SHARED = "Options that several commands have"
GROUP = typer.main.get_command(app)
LINES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    for line in block.splitlines()
]
OPTIONS = [
    (name, flag)
    for name, command in GROUP.commands.items()
    for parameter in command.params
    for flag in (*parameter.opts, *parameter.secondary_opts)
    if flag.startswith("-") and flag != "--help"
]


def flags_of(text):
    """The options that rows of tables begin with, and for each the last cell of its row."""
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `-")]
    return {flag: row[-1] for row in rows for flag in re.findall(r"`(-[\w-]+)`", row[0])}


@pytest.mark.parametrize(("command", "flag"), OPTIONS)
def test_every_option_is_documented(command, flag):
    shared = flags_of(SECTIONS[SHARED])
    its_own = flag in flags_of(SECTIONS[command])
    assert its_own or command in re.split(r"\W+", shared[flag])


def test_nothing_else_is_documented():
    for command in COMMANDS:
        for flag in flags_of(SECTIONS[command]):
            assert (command, flag) in OPTIONS
    for flag, commands in flags_of(SECTIONS[SHARED]).items():
        for command in re.findall(r"\w+", commands):
            assert (command, flag) in OPTIONS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_in_its_help_and_on_the_page(command):
    assert EXAMPLES[command].startswith(f"infinimix {command} ")
    assert EXAMPLES[command] in SECTIONS[command]
    shown = invoke(command, "--help", env={"COLUMNS": "200"}).output
    assert EXAMPLES[command] in " ".join(shown.split())


def test_the_examples_run(tmp_path, monkeypatch, few_islands):
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S):
        exec(compile(block, "command.md", "exec"), {})
    for line in LINES:
        _, *args = shlex.split(line)
        if args[0] == "demo":
            continue  # it has tests of its own
        text = None
        if "<" in args:
            text = Path(args[args.index("<") + 1]).read_text(encoding="utf-8")
            args = args[: args.index("<")]
        done = invoke(*args, input=text)
        assert done.exit_code == 0, (line, done.output)
    made = {path.name for path in tmp_path.iterdir()}
    assert {"insects.imx", "answers.csv", "groups.csv", "filled.csv", "insects.bif"} <= made
