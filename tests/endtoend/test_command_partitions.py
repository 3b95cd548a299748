"""`fit` and `predict` of folders and patterns: the same model, and a file for each partition."""

import csv
import json

import pytest
from typer.testing import CliRunner

from infinimix import load
from infinimix.cli import app

pl = pytest.importorskip("polars", reason="Parquet needs polars or PyArrow")
ROWS = [
    (i % 2, 0.5 * (i % 9) + i % 3, "red" if i < 70 else "blue", "abc"[i % 3]) for i in range(99)
]
HEAD = ["bit", "size", "colour", "kind"]
FAST = ("--effort", "fast", "-t", "kind", "-o")


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def done(*args):
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "csv").mkdir()
    (tmp_path / "parquet").mkdir()
    for i in range(3):
        part = ROWS[33 * i : 33 * (i + 1)]
        write(tmp_path / "csv" / f"{i}.csv", part)
        frame = pl.DataFrame(part, schema=HEAD, orient="row")
        frame.write_parquet(tmp_path / "parquet" / f"{i}.parquet")
    write(tmp_path / "whole.csv", ROWS)
    return tmp_path


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])


def test_a_folder_and_a_pattern_give_the_model_of_one_file(folder):
    done("fit", folder / "whole.csv", *FAST, folder / "whole.imx")
    done("fit", folder / "csv", *FAST, folder / "folder.imx")
    told = json.loads(done("fit", folder / "csv/*.csv", *FAST, folder / "glob.imx", "--json"))
    assert (told["rows"], told["partitions"]) == (99, 3)
    done("fit", folder / "parquet", *FAST, folder / "parquet.imx")
    rows = [dict(zip(HEAD[:3], row[:3], strict=True)) for row in ROWS]
    expected = load(folder / "whole.imx").predict_proba(rows)
    for name in ("folder", "glob", "parquet"):
        assert (load(folder / f"{name}.imx").predict_proba(rows) == expected).all(), name


def test_predictions_of_a_folder_are_a_folder(folder):
    done("fit", folder / "parquet", *FAST, folder / "m.imx")
    whole = done("predict", folder / "m.imx", folder / "whole.csv", "--proba")
    done("predict", folder / "m.imx", folder / "parquet", "-o", folder / "out", "--proba")
    files = sorted((folder / "out").iterdir())
    assert [path.name for path in files] == [f"part-0000{i}.parquet" for i in range(3)]
    found = pl.read_parquet(folder / "out/*.parquet")
    assert found.columns == ["prediction", "p(a)", "p(b)", "p(c)"]
    assert found["prediction"].to_list() == [row.split(",")[0] for row in whole.split()[1:]]
    assert done("predict", folder / "m.imx", folder / "csv/*.csv", "--proba") == whole


def test_refusals(folder):
    done("fit", folder / "csv", *FAST, folder / "m.imx")
    for args, words in {
        ("fit", folder / "csv", *FAST, folder / "m.imx", "--weights", "size"): "--weights is for",
        ("fit", folder / "no*.csv", *FAST, folder / "m.imx"): "no file of this pattern",
        ("fit", folder / "csv", "-t", "king", "-o", folder / "m.imx"): "no column 'king'",
        ("predict", folder / "m.imx", folder / "csv", "-o", folder / "csv"): "is not empty",
        ("predict", folder / "m.imx", folder / "csv", "--json"): "--json without --output",
        ("predict", folder / "m.imx", folder / "whole.csv", "-o", folder): "is a folder; name",
    }.items():
        refused = run(*args)
        assert refused.exit_code == 2
        assert words in refused.stderr
