"""`cluster`, `impute`, `network` and `stream` on small tables."""

import csv
import io
import json

import pytest

import infinimix
from tests.endtoend.command_files import insects, run, write_csv, write_jsonl

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("more")
    write_csv(folder / "insects.csv", insects(120), missing="?")
    write_jsonl(folder / "insects.jsonl", insects(120))
    return folder


def test_cluster_writes_groups(folder):
    out = run("cluster", folder / "insects.csv", "--drop", "kind", *FAST, "--append").stdout
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["size", "colour", "kind", "group"]
    sizes = [sum(row["group"] == g for row in rows) for g in ("0", "1")]
    assert sizes[0] >= sizes[1]


def test_cluster_shows_groups_and_saves_the_model(folder, tmp_path):
    args = ("cluster", folder / "insects.csv", "--drop", "kind", *FAST)
    shown = run(*args, "-o", tmp_path / "g.csv", "--save", tmp_path / "m.imx").stdout
    assert "typical values" in shown
    model = infinimix.load(tmp_path / "m.imx")
    groups = (tmp_path / "g.csv").read_text().split()[1:]
    assert [int(g) for g in groups] == model.labels_.tolist()
    assert "Groups" in run("inspect", tmp_path / "m.imx").stdout
    found = json.loads(run(*args, "--json").stdout)
    assert found["labels"] == model.labels_.tolist()
    assert sum(group["rows"] for group in found["groups"]) == 120


def test_impute_keeps_all_but_holes(folder, tmp_path):
    out = tmp_path / "filled.csv"
    shown = run("impute", folder / "insects.csv", *FAST, "-o", out).stdout
    before = (folder / "insects.csv").read_text().splitlines()
    after = out.read_text().splitlines()
    assert len(before) == len(after)
    assert not any("?" in line for line in after)
    changed = sum(a != b for a, b in zip(before, after, strict=True))
    assert changed == sum("?" in line for line in before)
    for a, b in zip(before, after, strict=True):
        pairs = zip(a.split(","), b.split(","), strict=True)
        assert all(x in (y, "?") for x, y in pairs)
    assert "Filled" in shown


def test_impute_leaves_dropped_columns_alone(tmp_path):
    rows = [(i if i % 2 else None, *row) for i, row in enumerate(insects())]
    path = write_csv(tmp_path / "a.csv", rows, ("id", "size", "colour", "kind"), "NA")
    out = run("impute", path, "--drop", "id", *FAST, "--draw").stdout.splitlines()
    assert [line.split(",")[0] for line in out[1:]] == [
        "NA" if row[0] is None else str(row[0]) for row in rows
    ]
    assert not any("NA" in line.split(",", 1)[1] for line in out[1:])


def test_impute_for_machines(folder, tmp_path):
    out = tmp_path / "filled.jsonl"
    found = json.loads(run("impute", folder / "insects.jsonl", *FAST, "-o", out, "--json").stdout)
    holes = sum(cell is None for row in insects(120) for cell in row)
    assert found["cells"] == sum(found["columns"].values()) == holes
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(value is not None for row in rows for value in row.values())


def test_network(folder, tmp_path):
    args = ("network", folder / "insects.csv", "--sweeps", "200", "--chains", "2")
    files = {name: tmp_path / name for name in ("m.imx", "net.bif", "edges.csv")}
    shown = run(
        *args, "-o", files["m.imx"], "--bif", files["net.bif"], "--edges", files["edges.csv"]
    ).stdout
    assert "Roles" in shown
    edges = list(csv.DictReader(io.StringIO(files["edges.csv"].read_text())))
    assert len(edges) == 6
    found = json.loads(run(*args, "--json", "--threshold", "0").stdout)
    assert set(found["roles"]) == {"size", "colour", "kind"}
    assert len(found["edges"]) == 6
    pair = {e["probability"] for e in found["edges"] if {e["from"], e["to"]} == {"size", "kind"}}
    assert sum(pair) > 0.9
    assert "variable colour" in files["net.bif"].read_text()
    assert "edge" in run("inspect", files["m.imx"]).stdout.lower()


def test_network_stops_in_time(folder):
    args = ("network", folder / "insects.csv", "--seconds", "0.2", "--chains", "1")
    assert "edges" in json.loads(run(*args, "--json").stdout)


@pytest.mark.parametrize("model", ["online-crp", "aclass"])
def test_stream_keeps_score(folder, tmp_path, model):
    args = ("stream", folder / "insects.csv", "-t", "kind", "-m", model, "--batch", "10")
    files = (tmp_path / "m.imx", tmp_path / "c.csv")
    done = run(*args, "--json", "-o", files[0], "--curve", files[1])
    found = json.loads(done.stdout)
    assert (found["rows"], found["classes"]) == (120, 2)
    assert found["error"] < 0.35
    assert files[1].read_text().startswith("row,error")
    write_csv(tmp_path / "new.csv", [(9.0, "black")], ("size", "colour"))
    assert run("predict", files[0], tmp_path / "new.csv").stdout == "prediction\nbee\n"


def test_stream_reads_standard_input(folder):
    text = (folder / "insects.jsonl").read_text()
    done = run("stream", "-t", "kind", "--format", "jsonl", input=text)
    assert "Error along the stream" in done.stdout


def test_stream_goes_on_after_a_stop(folder, tmp_path):
    """Stopped in the middle and resumed, the model is the one that saw the stream at once."""
    args = ("stream", folder / "insects.csv", "-t", "kind", "-m", "aclass", "--json")
    run(*args, "--folder", tmp_path / "once", "-o", tmp_path / "once.imx")
    first = json.loads(run(*args, "--folder", tmp_path / "twice", "--max-rows", "50").stdout)
    assert (first["rows_before"], first["rows"]) == (0, 50)
    rest = run(*args, "--folder", tmp_path / "twice", "--resume", "-o", tmp_path / "twice.imx")
    found = json.loads(rest.stdout)
    assert (found["rows_before"], found["rows"]) == (50, 70)
    once, twice = (infinimix.load(tmp_path / f"{name}.imx") for name in ("once", "twice"))
    rows = [{"size": 5.0, "colour": "red"}, {"size": 7.0, "colour": None}]
    assert (once.predict_proba(rows) == twice.predict_proba(rows)).all()


def test_stream_of_words(tmp_path):
    rows = [("a ball and a goal", "sport"), ("votes for a law", "politics")] * 20
    path = write_jsonl(tmp_path / "a.jsonl", rows, ("text", "topic"))
    args = ("stream", path, "-t", "topic", "--text", "text", "--folder", tmp_path / "f", "--json")
    assert json.loads(run(*args).stdout)["error"] < 0.1
    assert json.loads(run(*args).stdout)["rows_before"] == 40


def test_stream_passes_over_bad_rows(tmp_path):
    path = write_csv(tmp_path / "a.csv", insects())
    with path.open("a") as file:
        file.write("one cell\n3.0,red,\n")
    args = ("stream", path, "-t", "kind", "--skip-bad", "--json")
    found = json.loads(run(*args).stdout)
    assert (found["rows"], found["bad_rows"]) == (60, 2)
