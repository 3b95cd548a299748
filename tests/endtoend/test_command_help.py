"""Help by its short name, and completion of what options take."""

import pytest
from typer.testing import CliRunner

from infinimix.cli import NAMES, app
from tests.endtoend.command_files import invoke


@pytest.mark.parametrize("command", [(), *((name,) for name in NAMES)])
def test_help_has_a_short_name(command):
    short, long = (invoke(*command, flag) for flag in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.output == long.output


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("evaluate t.csv --model ", {"aclass", "hybrid"}),
        ("evaluate t.csv --effort ", {"fast", "default", "thorough"}),
        ("evaluate t.csv --effort t", {"thorough"}),
        ("network t.csv --prior ", {"blockmodel", "uniform"}),
        ("network t.csv --kind ", {"directed", "undirected", "dynamic"}),
    ],
)
def test_values_of_options_are_completed(line, values):
    told = CliRunner().invoke(
        app,
        prog_name="infinimix",
        env={
            "_INFINIMIX_COMPLETE": "complete_zsh",
            "_TYPER_COMPLETE_ARGS": f"infinimix {line}",
        },
    )
    found = {value for value in values if f'"{value}"' in told.output}
    assert found == values, told.output
