"""Weights of rows and classes, quantile classes of a test table, and classes nobody has seen."""

import json

import pytest

from tests.endtoend.command_files import insects, invoke, refuse, run, write_csv

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast")
KIND = ("--target", "kind")
NAMES = ("size", "colour", "kind", "n", "share")
FOLDS = ("--folds", "3", "--json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    rows = [(*row, i % 3, 0.25 + (i % 4)) for i, row in enumerate(insects(80, 5))]
    write_csv(folder / "counted.csv", rows, NAMES)
    listed = [row[:3] for row in rows for _ in range(row[3])]
    write_csv(folder / "listed.csv", listed)
    return folder


def evaluate(*args):
    return json.loads(run("evaluate", *args, *KIND, *FAST, *FOLDS).stdout)


def test_a_column_of_counts_is_read_as_the_rows_that_it_counts(folder):
    counted = evaluate(folder / "counted.csv", "--weights", "n", "--drop", "share")
    listed = evaluate(folder / "listed.csv")
    for name in ("rows", "accuracy", "accuracy_interval", "log_loss", "importance"):
        assert counted[name] == listed[name]
    assert counted["left_out"] == ["n", "share"]


def test_a_model_of_counted_rows_predicts_and_reports_without_further_options(folder, tmp_path):
    model, page = tmp_path / "m.imx", tmp_path / "m.html"
    args = ("--weights", "n", "--drop", "share", *FAST)
    done = run("fit", folder / "counted.csv", *KIND, *args, "-o", model)
    assert "80 rows of the file counted as 79 rows by 'n'" in done.stderr
    assert len(run("predict", model, folder / "counted.csv").stdout.split()) == 81
    run("report", model, folder / "counted.csv", "-o", page)
    assert "79 rows" in page.read_text(encoding="utf-8")


def test_other_weights_are_relative_and_change_what_is_learned(folder):
    plain = evaluate(folder / "counted.csv", "--drop", "n,share")
    done = run(
        "evaluate", folder / "counted.csv", *KIND, *FAST, *FOLDS, "--weights", "share", "--drop",
        "n", "--baseline",
    )  # fmt: skip
    assert "weights of 'share' are relative" in done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == plain["rows"] == 80
    assert found["log_loss"] != plain["log_loss"]


def test_weights_of_classes_raise_the_recall_of_a_class(folder):
    def recall(*more):
        told = evaluate(folder / "counted.csv", "--drop", "n,share", *more)
        return {c["label"]: c["recall"] for c in told["classes"]}

    assert recall("--class-weight", "ant=1000")["ant"] == 1.0
    assert recall("--class-weight", "ant=0.001, bee=1")["bee"] == 1.0
    assert recall("--class-weight", "balanced")["ant"] >= 0.8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--weights", "m"), "no column 'm', which --weights names"),
        (("--weights", "colour"), "weights are numbers"),
        (("--weights", "kind"), "'kind' is used already"),
        (("--weights", "size"), "has no weight in 'size'; give every row a number from 0 on"),
        (("--class-weight", "even"), "neither balanced nor a list such as"),
        (("--class-weight", "aunt=2"), "no class 'aunt'; did you mean 'ant'?"),
        (("--class-weight", "ant=-2"), "'-2' of 'ant' is no number above 0"),
        (
            ("--class-weight", "ant=2", "-m", "online-crp"),
            "is for --model aclass, finite-mixture, m2dpm",
        ),
    ],
)
def test_wrong_weights_are_refused_by_name(folder, options, words):
    assert words in refuse("evaluate", folder / "counted.csv", *KIND, *options)


def test_a_model_that_counts_rows_takes_no_other_weights(folder):
    args = ("evaluate", folder / "counted.csv", *KIND, "--weights", "share", "-m", "online-crp")
    done = invoke(*args)
    assert done.exit_code == 2
    assert "online-crp counts rows" in done.stderr
    assert "dpmeans-svc" in done.stderr
    args = ("--drop", "share", *KIND, "--weights", "n", "-m", "online-crp", *FOLDS)
    assert json.loads(run("evaluate", folder / "counted.csv", *args).stdout)["rows"] == 79


@pytest.mark.parametrize("model", ["m2dpm", "dpmeans-svc"])
def test_max_margin_models_take_weights_of_rows_and_classes(folder, model):
    plain = ("--drop", "n,share", "-m", model)
    weighted = ("--weights", "share", "--drop", "n", "-m", model)
    assert (
        evaluate(folder / "counted.csv", *plain)["log_loss"]
        != (evaluate(folder / "counted.csv", *weighted)["log_loss"])
    )
    told = evaluate(folder / "counted.csv", *plain, "--class-weight", "ant=1000")
    assert next(c["recall"] for c in told["classes"] if c["label"] == "ant") >= 0.95


def test_compare_weighs_rows_and_classes_for_every_model(folder):
    args = ("compare", folder / "counted.csv", *KIND, *FAST, "--folds", "3", "--json")
    models = ("--models", "m2dpm,logistic-regression")
    done = run(*args, *models, "--weights", "n", "--drop", "share")
    told = json.loads(done.stdout)
    assert told["rows"] == 79
    assert done.stderr.count("counted as 79 rows") == 1  # for both models
    other = json.loads(run(*args, *models, "--weights", "share", "--drop", "n").stdout)
    assert other["rows"] == 80
    balanced = run(*args, *models, "--class-weight", "ant=1000", "--drop", "n,share")
    assert json.loads(balanced.stdout)["models"] != other["models"]
    words = refuse(*args[:2], *KIND, "--models", "m2dpm,online-crp", "--class-weight", "balanced")
    assert "--class-weight is for --model aclass, finite-mixture, m2dpm" in words


def test_classes_by_quantiles_are_those_of_the_training_table_on_a_test_table(folder, tmp_path):
    train, test = folder / "listed.csv", folder / "counted.csv"
    args = ("-t", "size", "--bins", "2", *FAST, "--json")
    told = json.loads(run("evaluate", train, "--test", test, *args).stdout)
    again = json.loads(run("evaluate", train, "--folds", "3", *args).stdout)
    assert [c["label"] for c in told["classes"]] == [c["label"] for c in again["classes"]]
    assert told["rows"] == sum(row[0] is not None for row in insects(80, 5))
    model, page = tmp_path / "b.imx", tmp_path / "b.html"
    run("fit", train, "-t", "size", "--bins", "2", *FAST, "-o", model)
    run("report", model, train, "-o", page)
    assert "1: below" in page.read_text(encoding="utf-8")


def test_a_class_that_a_training_part_lacks_is_named(tmp_path):
    rows = [*insects(40, 1), (5.0, "red", "wasp")]
    table = write_csv(tmp_path / "rare.csv", rows)
    shown = run("evaluate", table, *KIND, *FAST, "--folds", "3").stdout
    for words in ("1 row is of classes", "'wasp'", "probability 0", "without these rows it is"):
        assert words in " ".join(shown.split())
    told = json.loads(run("evaluate", table, *KIND, *FAST, *FOLDS).stdout)
    assert told["rows_of_unknown_classes"] == 1


def test_a_stream_leaves_out_columns_that_name_rows(tmp_path):
    rows = [(f"row {i}", *row) for i, row in enumerate(insects())]
    table = write_csv(tmp_path / "named.csv", rows, ("name", "size", "colour", "kind"))
    model, kept = tmp_path / "m.imx", tmp_path / "k.imx"
    done = run("stream", table, *KIND, "-o", model)
    assert "column 'name' left out, as it seems to name rows" in done.stderr
    told = json.loads(run("inspect", model, "--json").stdout)
    assert list(told["columns"]) == ["size", "colour"]
    assert run("predict", model, table).stdout.count("\n") == 61
    done = run("stream", table, *KIND, "-o", kept, "--keep", "name")
    assert "left out" not in done.stderr
    assert "name" in json.loads(run("inspect", kept, "--json").stdout)["columns"]
