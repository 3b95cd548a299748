"""A target that is a number: noted, predicted with intervals, evaluated, or cut into classes."""

import csv
import io
import json

import numpy as np
import pytest

from tests.endtoend.command_files import refuse, run, write_csv

pytestmark = pytest.mark.usefixtures("small_models")

NAMES = ("weight", "fuel", "price")


def cars(n=90, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        weight, fuel = round(float(rng.uniform(800, 2000))), ("gas", "diesel")[rng.integers(2)]
        price = round(5 * weight + 2000 * (fuel == "diesel") + float(rng.normal(0, 500)), 1)
        rows.append((None if i % 11 == 3 else weight, fuel, price))
    return rows


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("cars") / "cars.csv", cars(), NAMES)


@pytest.fixture(scope="module")
def model(table):
    path = table.parent / "cars.imx"
    run("fit", table, "--target", "price", "--output", path, "--effort", "fast")
    return path


def test_fit_says_that_a_number_is_predicted_and_names_both_ways(table, tmp_path):
    done = run("fit", table, "-t", "price", "-o", tmp_path / "m.imx", "--effort", "fast")
    for words in ("predicted as a number", "--regression", "--bins 4", "--classes"):
        assert words in done.stderr
    assert "Target 'price', a number" in done.stdout
    assert "R^2 of training rows" in done.stdout
    asked = run(
        "fit", table, "-t", "price", "-o", tmp_path / "m.imx", "--effort", "fast", "--regression",
        "--json",
    )  # fmt: skip
    assert asked.stderr == ""
    told = json.loads(asked.stdout)
    assert told["kind"] == "CRPRegressor"
    assert told["held_out_r2"] > 0.6


def test_predict_writes_numbers_and_intervals(model, table):
    done = run("predict", model, table, "--interval", "0.9")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["prediction", "low", "high"]
    prices = [price for *_, price in cars()]
    covered = [float(r["low"]) <= p <= float(r["high"]) for r, p in zip(rows, prices, strict=True)]
    assert np.mean(covered) > 0.8
    assert all(float(r["low"]) < float(r["prediction"]) < float(r["high"]) for r in rows)
    (plain,) = json.loads(
        run("predict", model, "-", "--json", input="weight,fuel\n1500,gas\n").stdout
    )
    assert 5500 < plain["prediction"] < 9500


def test_evaluate_prints_errors_and_coverage_beside_always_the_mean(table):
    args = ("evaluate", table, "--target", "price", "--effort", "fast", "--folds", "3")
    shown = run(*args).stdout
    for words in ("R^2", "mean absolute error", "RMSE", "coverage of 90.0%", "always the mean"):
        assert words in shown
    assert "better than always predicting the mean" in shown
    told = json.loads(run(*args, "--json").stdout)
    assert told["model"] == "regressor"
    assert told["r2"] > 0.6
    assert told["rmse"] < 0.7 * told["rmse_of_mean"]
    assert 0.75 < told["coverage"] <= 1.0


def test_evaluate_on_another_table(table, tmp_path):
    other = write_csv(tmp_path / "new.csv", cars(40, 1), NAMES)
    done = run(
        "evaluate", table, "-t", "price", "--test", other, "--effort", "fast", "--json",
        "--regression",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["rows"] == 40
    assert told["r2"] > 0.6
    args = ("evaluate", table, "-t", "price", "--regression", "--effort", "fast", "--test")
    lacking = write_csv(tmp_path / "bad.csv", [("gas", 1.5), ("gas", 2.5)], NAMES[1:])
    assert "lacks 'weight'; its cells count as missing" in run(*args, lacking).stderr
    bare = write_csv(tmp_path / "bare.csv", [(900, "gas"), (950, "gas")], NAMES[:2])
    assert "lacks the column 'price'" in refuse(*args, bare)


def test_groups_stay_in_one_fold(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (owner, owner, level + float(rng.normal(0, 0.2)))
        for owner, level in zip("abcdefghijkl", rng.normal(size=12), strict=True)
        for _ in range(8)
    ]
    table = write_csv(tmp_path / "t.csv", rows, ("owner", "copy", "y"))
    args = ("evaluate", table, "-t", "y", "--effort", "fast", "--folds", "3", "--json")
    grouped = json.loads(run(*args, "--groups", "owner").stdout)
    apart = json.loads(run(*args, "--drop", "owner").stdout)
    assert grouped["left_out"] == ["owner"]
    assert grouped["how"] == "3-fold cross-validation by groups"
    assert apart["r2"] > 0.5
    assert grouped["r2"] < 0.3  # nothing is known of owners that have not been learned
    assert "fewer than --folds 20" in refuse(
        "evaluate", table, "-t", "y", "--regression", "--folds", 20, "--groups", "owner"
    )


def test_decimal_commas_of_the_target_are_understood(tmp_path):
    def spell(rows):
        return [(w, f, f"{price:.2f}".replace(".", ",")) for w, f, price in rows]

    table = write_csv(tmp_path / "cars.csv", spell(cars()), NAMES, delimiter=";")
    other = write_csv(tmp_path / "new.csv", spell(cars(40, 1)), NAMES, delimiter=";")
    args = ("evaluate", table, "-t", "price", "--effort", "fast", "--folds", "3", "--json")
    done = run(*args)
    assert "'price': read as" in done.stderr
    assert json.loads(done.stdout)["r2"] > 0.6
    assert json.loads(run(*args, "--test", other).stdout)["r2"] > 0.6


def test_a_target_of_two_readings_is_refused_where_numbers_are_asked_for(tmp_path):
    rows = [(w, f, f"{i + 1},{100 + i}") for i, (w, f, _) in enumerate(cars(60))]
    table = write_csv(tmp_path / "cars.csv", rows, NAMES, delimiter=";")
    assert "is ambiguous" in refuse("evaluate", table, "-t", "price", "--regression")
    args = ("evaluate", table, "-t", "price", "--effort", "fast", "--folds", "3", "--json")
    assert json.loads(run(*args, "--decimal", ",").stdout)["model"] == "regressor"


def test_options_for_classes_are_refused_for_numbers(table, model):
    args = ("evaluate", table, "-t", "price")
    assert "--baseline is for classes" in refuse(*args, "--regression", "--baseline")
    assert "--cost is for classes" in refuse(*args, "--regression", "--cost", "fn=5,fp=1")
    assert "--relevance is for --model aclass" in refuse(
        *args, "--regression", "--relevance", "learn"
    )
    assert "predicts numbers" in refuse("predict", model, table, "--cost", "a=5,b=1")
    names = ("--models", "aclass,regressor")
    assert "evaluate --regression" in refuse("compare", table, "-t", "fuel", *names)
    line = refuse(*args, "--model", "regressor", "--classes")
    assert "leave it or --classes out" in line


def test_bins_make_classes_by_quantiles(table, tmp_path):
    done = run(
        "evaluate", table, "-t", "price", "--bins", "3", "--effort", "fast", "--folds", "3",
        "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert [c["rows"] for c in told["classes"]] == [30, 30, 30]
    assert told["accuracy"] > 0.5
    model = tmp_path / "m.imx"
    run("fit", table, "-t", "price", "--bins", "2", "--effort", "fast", "-o", model)
    answers = run("predict", model, table).stdout.split("\n")[1:-1]
    assert {a[:2] for a in answers} == {"1:", "2:"}


def test_a_number_without_targets_in_some_rows_leaves_these_out(tmp_path):
    rows = [(*row[:2], None if i < 4 else row[2]) for i, row in enumerate(cars(60))]
    table = write_csv(tmp_path / "cars.csv", rows, NAMES)
    done = run("fit", table, "-t", "price", "-o", tmp_path / "m.imx", "--effort", "fast")
    assert "4 rows without 'price' left out" in done.stderr


def test_few_whole_numbers_stay_classes(tmp_path):
    rows = [(*row[:2], i % 3) for i, row in enumerate(cars(60))]
    table = write_csv(tmp_path / "cars.csv", rows, NAMES)
    done = run("fit", table, "-t", "price", "-o", tmp_path / "m.imx", "--effort", "fast", "--json")
    assert json.loads(done.stdout)["kind"] == "AClassClassifier"
    asked = run(
        "fit", table, "-t", "price", "-o", tmp_path / "m.imx", "--effort", "fast", "--json",
        "--regression",
    )  # fmt: skip
    assert json.loads(asked.stdout)["kind"] == "CRPRegressor"


def test_what_cannot_be_is_refused_in_one_line(table, model, tmp_path):
    out = ("--output", tmp_path / "m.imx")
    assert "needs numbers" in refuse("fit", table, "-t", "fuel", "--regression", *out)
    assert "'gas'" in refuse("fit", table, "-t", "fuel", "--bins", 3, *out)
    both = ("--bins", 3, "--regression")
    assert "leave one of them out" in refuse("fit", table, "-t", "price", *both, *out)
    assert "--bins 4" in refuse("evaluate", table, "-t", "price", "--classes")
    assert "between 0 and 1" in refuse("predict", model, table, "--interval", 90)
    assert "no predict_proba" in refuse("predict", model, table, "--proba")
    constant = write_csv(tmp_path / "same.csv", [(1, "gas", 2.5)] * 30, NAMES)
    assert "always 2.5" in refuse("fit", constant, "-t", "price", "--regression", *out)
    assert not (tmp_path / "m.imx").exists()


def test_intervals_of_classes_are_refused(table, tmp_path):
    model = tmp_path / "m.imx"
    run("fit", table, "-t", "fuel", "-o", model, "--effort", "fast")
    assert "predicts classes" in refuse("predict", model, table, "--interval", 0.9)
