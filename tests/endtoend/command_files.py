"""Small tables for the tests of the command: 60 insects with holes, and how to run the command."""

import json
from functools import cache

import numpy as np
from typer.testing import CliRunner

from infinimix import cli

NAMES = ("size", "colour", "kind")


def insects(n=60, seed=0, holes=0.1):
    """Rows of size, colour and kind, None where a cell is missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        kind = ("ant", "bee")[rng.integers(2)]
        size = round(float(rng.normal(3.0 if kind == "ant" else 9.0, 1.0)), 1)
        colour = ("red", "black")[int(rng.random() < (0.2 if kind == "ant" else 0.9))]
        cells = [None if rng.random() < holes else cell for cell in (size, colour)]
        rows.append((*cells, kind))
    return rows


def write_csv(path, rows, names=NAMES, missing="", delimiter=","):
    lines = [delimiter.join(names)]
    lines += [delimiter.join(missing if c is None else str(c) for c in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_jsonl(path, rows, names=NAMES):
    lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@cache
def app_of(first=""):
    """The command line as a shell has it: after a command the others need not be described."""
    return cli._make_app((first,) if first in cli.NAMES else cli.NAMES)


def invoke(*args, **more):
    args = [str(arg) for arg in args]
    return CliRunner().invoke(app_of(*args[:1]), args, **more)


def run(*args, **more):
    """Run the command in this process; it must succeed."""
    done = invoke(*args, **more)
    assert done.exit_code == 0, done.output
    return done


def refuse(*args, **more):
    """Run the command in this process; it must say in one line why not."""
    done = invoke(*args, **more)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"infinimix {args[0]}: ")
    assert "Traceback" not in line
    return line
