"""JSON lines with fields that no model reads, and rows that are set aside."""

import csv
import io
import json

import pytest

from tests.endtoend.command_files import insects, refuse, run, write_csv

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast")
KIND = ("--target", "kind")


def write_nested(path):
    """Insects as JSON lines, with an object and a list that no model reads."""
    rows = [dict(zip(("size", "colour", "kind"), row, strict=True)) for row in insects()]
    more = [
        {"meta": {"n": i}, "tags": [i], "note": f"a {row['kind']}"} for i, row in enumerate(rows)
    ]
    lines = [json.dumps(row | one) for row, one in zip(rows, more, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_nested_fields_can_be_left_out(tmp_path):
    path, model = write_nested(tmp_path / "a.jsonl"), tmp_path / "m.imx"
    line = refuse("evaluate", path, *KIND)
    assert "line 1 has a list or object in 'meta'" in line
    assert "leave it out with --drop meta" in line
    assert "'meta' is a dict" in refuse("stream", path, *KIND)
    spare = ("--drop", "meta,tags,note")
    run("fit", path, *KIND, *FAST, *spare, "-o", model)
    assert len(run("predict", model, path).stdout.splitlines()) == 61
    run("predict", model, path, "--append", "-o", tmp_path / "out.csv")
    first = next(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text("utf-8"))))
    assert (first["meta"], first["tags"]) == ('{"n": 0}', "[0]")
    run("evaluate", path, *KIND, *FAST, *spare, "--folds", "2")
    run("stream", path, *KIND, *spare)
    run("impute", path, *FAST, *spare, "-o", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8").splitlines()[7])["meta"]["n"] == 7


def test_nested_fields_do_not_matter_beside_text(tmp_path):
    path, model = write_nested(tmp_path / "a.jsonl"), tmp_path / "m.imx"
    text = ("--text", "note", "-m", "online-crp")
    run("stream", path, *KIND, *text, "-o", model)
    assert len(run("predict", model, path).stdout.splitlines()) == 61
    run("fit", path, *KIND, *text, "-o", model)
    assert len(run("predict", model, path).stdout.splitlines()) == 61


def test_a_stream_whose_rows_were_all_set_aside_says_why(tmp_path):
    path = write_nested(tmp_path / "a.jsonl")
    line = refuse("stream", path, *KIND, "--skip-bad")
    assert "all 60 rows were set aside, the first (line 1) as 'meta' is a dict" in line


def test_a_stream_with_nothing_left_to_learn_has_no_speed(tmp_path):
    path = write_csv(tmp_path / "a.csv", insects())
    run("stream", path, *KIND, "--folder", tmp_path / "state")
    again = run("stream", path, *KIND, "--folder", tmp_path / "state", "--resume", "--skip-bad")
    assert "nan" not in again.stdout
    assert "60 rows; run it again" in again.stdout
