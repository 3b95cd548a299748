"""`fit`, `predict`, `evaluate`, `inspect` and `report` on small tables."""

import csv
import io
import json
import random
from importlib.util import find_spec

import pytest

import infinimix
from infinimix.cli.goals import REGRESSOR
from infinimix.cli.learning import available, find_class
from infinimix.estimators.persistence import read_notes
from tests.endtoend.command_files import insects, run, write_csv, write_jsonl

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast")
KIND = ("--target", "kind")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_csv(folder / "train.csv", insects())
    write_csv(folder / "new.csv", [row[:2] for row in insects(20, 1)], ("size", "colour"))
    run("fit", folder / "train.csv", *KIND, *FAST, "-o", folder / "model.imx")
    return folder


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_shows_kinds_and_classes(folder):
    done = run("fit", folder / "train.csv", *KIND, *FAST, "-o", folder / "again.imx")
    assert "size" in done.stdout
    assert "real" in done.stdout
    assert "categorical" in done.stdout
    assert "missing: empty in" in done.stdout
    assert "Classes of 'kind'" in done.stdout
    assert (folder / "again.imx").read_bytes() == (folder / "model.imx").read_bytes()


def test_fit_for_machines(folder):
    done = run("fit", folder / "train.csv", *KIND, *FAST, "-o", folder / "j.imx", "--json")
    found = json.loads(done.stdout)
    assert found["columns"]["colour"]["kind"] == "categorical"
    assert {c["label"] for c in found["classes"]} == {"ant", "bee"}
    assert found["rows"] == 60


def test_the_model_is_one_of_python(folder):
    model = infinimix.load(folder / "model.imx")
    assert model.predict([{"size": 9.0, "colour": "black"}]).tolist() == ["bee"]
    assert read_notes(folder / "model.imx")["target"] == "kind"
    assert not model.verbose


def test_predict_writes_csv(folder):
    rows = read_csv(run("predict", folder / "model.imx", folder / "new.csv", "--proba").stdout)
    assert list(rows[0]) == ["prediction", "p(ant)", "p(bee)"]
    truth = [row[2] for row in insects(20, 1)]
    right = sum(row["prediction"] == kind for row, kind in zip(rows, truth, strict=True))
    assert right >= 16
    assert all(abs(float(row["p(ant)"]) + float(row["p(bee)"]) - 1) < 1e-5 for row in rows)


def test_predict_appends_and_writes_files(folder):
    out = folder / "out.csv"
    done = run("predict", folder / "model.imx", folder / "train.csv", "--append", "-o", out)
    assert done.stdout == ""
    rows = read_csv(out.read_text())
    assert list(rows[0]) == ["size", "colour", "kind", "prediction"]
    assert len(rows) == 60


def test_predict_for_machines(folder):
    rows = json.loads(run("predict", folder / "model.imx", folder / "new.csv", "--json").stdout)
    assert rows[0].keys() == {"prediction"}
    assert len(rows) == 20


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_every_format_gives_the_same_answers(folder, tmp_path, form):
    rows = [row[:2] for row in insects(20, 1)]
    path = tmp_path / f"new.{form}"
    if form == "jsonl":
        write_jsonl(path, rows, ("size", "colour"))
    else:
        write_csv(path, rows, ("size", "colour"), "NA", "\t" if form == "tsv" else ",")
    same = run("predict", folder / "model.imx", folder / "new.csv", "--proba").stdout
    assert run("predict", folder / "model.imx", path, "--proba").stdout == same


def test_predict_reads_as_fit_did(folder, tmp_path):
    """A column of text stays one, though all of its cells look like numbers in a later file."""
    rows = [
        (size, {"red": "1", "black": "x2"}.get(colour), kind) for size, colour, kind in insects()
    ]
    write_csv(tmp_path / "train.csv", rows)
    run("fit", tmp_path / "train.csv", *KIND, *FAST, "-o", tmp_path / "m.imx")
    write_csv(tmp_path / "new.csv", [(6.0, "1"), (6.0, "1")], ("size", "colour"))
    (one, two) = read_csv(
        run("predict", tmp_path / "m.imx", tmp_path / "new.csv", "--proba").stdout
    )
    assert one == two
    write_csv(tmp_path / "hole.csv", [(6.0, None)], ("size", "colour"))
    (hole,) = read_csv(run("predict", tmp_path / "m.imx", tmp_path / "hole.csv", "--proba").stdout)
    assert float(one["p(ant)"]) > float(hole["p(ant)"]) + 0.05


def test_standard_input(folder):
    text = (folder / "new.csv").read_text()
    same = run("predict", folder / "model.imx", folder / "new.csv").stdout
    assert run("predict", folder / "model.imx", "-", input=text).stdout == same


@pytest.mark.parametrize("model", sorted({*available()} - {"aclass", REGRESSOR}))
def test_other_models_fit_and_predict(folder, tmp_path, model):
    out = tmp_path / "model.imx"
    run("fit", folder / "train.csv", *KIND, "-o", out, "--model", model)
    rows = read_csv(run("predict", out, folder / "new.csv", "--proba").stdout)
    truth = [row[2] for row in insects(20, 1)]
    assert sum(row["prediction"] == kind for row, kind in zip(rows, truth, strict=True)) >= 15
    found = json.loads(run("inspect", out, "--json").stdout)
    assert found["target"] == "kind"
    assert {c["label"] for c in found["classes"]} == {"ant", "bee"}


def test_rows_are_classified_together_where_the_model_can(folder, tmp_path):
    able = [name for name in available() if hasattr(find_class(name), "predict_batch")]
    if not able:
        pytest.skip("no model classifies batches yet")
    run("fit", folder / "train.csv", *KIND, *FAST, "-o", tmp_path / "m.imx", "-m", able[-1])
    rows = read_csv(run("predict", tmp_path / "m.imx", folder / "new.csv", "--batch").stdout)
    truth = [row[2] for row in insects(20, 1)]
    assert sum(row["prediction"] == kind for row, kind in zip(rows, truth, strict=True)) >= 15


def test_words(tmp_path):
    rows = [("a ball and a goal", "sport"), ("votes for a law", "politics")] * 10
    write_csv(tmp_path / "texts.csv", rows, ("text", "topic"))
    out = tmp_path / "m.imx"
    run(
        "fit",
        tmp_path / "texts.csv",
        "-t",
        "topic",
        "--text",
        "text",
        "-m",
        "online-crp",
        "-o",
        out,
    )
    write_csv(tmp_path / "new.csv", [("the goal",)], ("text",))
    assert run("predict", out, tmp_path / "new.csv").stdout == "prediction\nsport\n"


def test_rows_without_label_are_told_of(tmp_path):
    rows = [(s, c, None if i < 3 else k) for i, (s, c, k) in enumerate(insects())]
    write_csv(tmp_path / "train.csv", rows)
    done = run("fit", tmp_path / "train.csv", *KIND, *FAST, "-o", tmp_path / "m.imx")
    assert "3 rows without 'kind'" in done.stderr


def test_odd_columns_are_told_of(tmp_path):
    rows = [(i, "x", *row) for i, row in enumerate(insects())]
    write_csv(tmp_path / "train.csv", rows, ("id", "same", "size", "colour", "kind"))
    out = tmp_path / "m.imx"
    done = run("fit", tmp_path / "train.csv", *KIND, *FAST, "-o", out)
    assert "column 'id' left out" in done.stderr
    assert "'same' is constant" in done.stderr
    done = run("fit", tmp_path / "train.csv", *KIND, *FAST, "-o", out, "--drop", "id,same")
    assert "note" not in done.stderr
    run("predict", out, tmp_path / "train.csv")  # what fit left out may be there


def test_evaluate_by_folds(folder):
    args = ("evaluate", folder / "train.csv", *KIND, *FAST, "--folds", "3")
    found = json.loads(run(*args, "--json").stdout)
    assert found["rows"] == 60
    assert found["accuracy"] > 0.85
    assert sum(map(sum, found["confusion"])) == 60
    shown = run(*args).stdout
    assert "log-loss" in shown
    assert "calibration error" in shown
    assert "Confusion" in shown


def test_evaluate_shows_kinds_and_what_was_left_out(folder):
    args = ("evaluate", folder / "train.csv", *KIND, *FAST, "--folds", "3", "--drop", "colour")
    shown = run(*args).stdout
    assert "Left out: 'colour'." in shown
    assert "real" in shown
    found = json.loads(run(*args, "--json").stdout)
    assert (list(found["columns"]), found["left_out"]) == (["size"], ["colour"])
    assert [one["column"] for one in found["importance"]] == ["size"]
    assert found["importance"][0]["interval"][0] > 0
    assert found["better_than_largest_class"]
    for words in ("ROC AUC", "balanced accuracy", "Better than always predicting", "Importance"):
        assert words in shown


def test_evaluate_says_when_the_model_is_no_better_than_the_largest_class(tmp_path):
    rng = random.Random(0)
    rows = [(rng.random(), rng.choice("ab"), "ant" if i % 4 else "bee") for i in range(80)]
    write_csv(tmp_path / "noise.csv", rows)
    done = run("evaluate", tmp_path / "noise.csv", *KIND, *FAST)
    assert "No better than always predicting 'ant'" in done.stdout
    assert "95% interval" in done.stdout


@pytest.mark.parametrize("model", ["aclass", "m2dpm", "finite-mixture"])
def test_evaluate_and_report_agree(folder, tmp_path, model):
    rows = [(s, c, None if i < 5 else k) for i, (s, c, k) in enumerate(insects(70, 3))]
    table, out = write_csv(tmp_path / "some.csv", rows), tmp_path / "m.imx"
    few = ("--set", "n_init=2", "--set", "n_components=3")  # instead of all numbers up to the best
    fewer = few if model == "finite-mixture" else ()
    told = json.loads(run("evaluate", table, *KIND, *FAST, "-m", model, *fewer, "--json").stdout)
    run("fit", table, *KIND, *FAST, "-m", model, *fewer, "-o", out)
    run("report", out, table, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    low, high = told["accuracy_interval"]
    assert f"{told['accuracy']:.1%}<span>{low:.1%} to {high:.1%}</span>" in page
    assert f"<dd>{told['log_loss']:.3f}<span>" in page
    assert f"<dd>{told['roc_auc']:.3f}<span>" in page
    assert f"Calibration error: {told['calibration_error']:.1%}" in page
    assert "kind: a classifier of 2 classes" in page
    assert "from some.csv" in page


def test_evaluate_on_a_test_file(folder, tmp_path):
    test = write_csv(tmp_path / "test.csv", [*insects(30, 2), (5.0, "red", "fly")])
    done = run("evaluate", folder / "train.csv", *KIND, *FAST, "--test", test, "--json")
    assert "lacks: 'fly'" in done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == 31
    assert [c["recall"] for c in found["classes"] if c["label"] == "fly"] == [0.0]
    assert found["log_loss"] > 1.0  # the new class had no probability


def test_inspect(folder):
    shown = run("inspect", folder / "model.imx").stdout
    assert "AClassClassifier" in shown
    assert "Groups of 'ant'" in shown
    found = json.loads(run("inspect", folder / "model.imx", "--json").stdout)
    assert found["columns"] == {"size": "real", "colour": "categorical"}
    assert found["parameters"]["random_state"] == 0


def test_a_model_saved_in_python_predicts_too(folder, tmp_path):
    import pandas as pd

    rows = insects()
    X = pd.DataFrame([row[:2] for row in rows], columns=["size", "colour"])
    model = infinimix.AClassClassifier(effort="fast", random_state=0).fit(X, [r[2] for r in rows])
    infinimix.save(model, tmp_path / "m.imx")
    same = run("predict", folder / "model.imx", folder / "new.csv", "--proba").stdout
    assert run("predict", tmp_path / "m.imx", folder / "new.csv", "--proba").stdout == same


@pytest.mark.skipif(
    find_spec("infinimix.reports.model_page") is None, reason="there are no pages of models yet"
)
def test_report(folder, tmp_path):
    page = tmp_path / "page.html"
    run("report", folder / "model.imx", folder / "train.csv", *KIND, "-o", page)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    run("report", folder / "model.imx", "-o", page)
