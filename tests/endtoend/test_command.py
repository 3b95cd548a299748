"""The command `infinimix`, as a shell runs it."""

import os
import subprocess
import sys

import pytest
import typer.main

import infinimix
from infinimix.cli import COMMANDS, app
from tests.endtoend.command_files import invoke


def run(*args, **environment):
    return subprocess.run(
        [sys.executable, "-m", "infinimix", *args],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **environment},
    )


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"infinimix {infinimix.__version__}\n")


def test_version_imports_nothing_heavy():
    code = (
        "import sys, infinimix.cli as c\n"
        "sys.argv = ['infinimix', '--version']\n"
        "try: c.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'sklearn', 'scipy', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_script_is_installed():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="infinimix")
    assert script.value == "infinimix.cli:main"


def test_help_lists_every_command_with_its_text():
    done = run("--help")
    assert done.returncode == 0
    for name, command in COMMANDS.items():
        (line,) = (x for x in done.stdout.splitlines() if f"│ {name} " in x)
        assert command.__doc__.split(",")[0] in line


@pytest.mark.parametrize(
    "args",
    [
        ("no-such-command",),
        ("demo", "--no-such-option"),
        ("demo", "--missing", "0.95"),
        ("demo", "--missing", "-0.1"),
        ("demo", "--seed", "-1"),
        ("demo", "--output", "no/such/folder/page.html"),
        ("demo", "--output", "."),
    ],
)
def test_wrong_usage_exits_with_2_and_no_traceback(args):
    done = invoke(*args, env={"COLUMNS": "120", "NO_COLOR": "1"})
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert args[-1] in done.stderr or args[-2] in done.stderr


def test_a_shell_sees_wrong_usage_as_well():
    done = run("demo", "--no-such-option")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "--no-such-option" in done.stderr


GROUP = typer.main.get_command(app)
PARAMETERS = [
    (name, parameter)
    for name, command in [("infinimix", GROUP), *GROUP.commands.items()]
    for parameter in command.params
]


@pytest.mark.parametrize(
    ("command", "parameter"), PARAMETERS, ids=[f"{c}-{p.name}" for c, p in PARAMETERS]
)
def test_every_option_has_help(command, parameter):
    assert parameter.help
    assert parameter.help.endswith(".")
