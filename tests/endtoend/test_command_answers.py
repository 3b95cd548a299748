"""Answers to act on: baselines, groups, costs, reasons and comparisons, from the shell."""

import json

import pytest

from tests.endtoend.command_files import insects, refuse, run, write_csv

FAST = ("--effort", "fast")
KIND = ("--target", "kind")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    write_csv(folder / "train.csv", insects())
    rows = [(f"nest {i % 12}", *row) for i, row in enumerate(insects())]
    write_csv(folder / "nests.csv", rows, ("nest", "size", "colour", "kind"))
    run("fit", folder / "train.csv", *KIND, *FAST, "-o", folder / "model.imx")
    return folder


def test_baselines_are_tested_on_the_same_folds(folder):
    args = ("evaluate", folder / "train.csv", *KIND, *FAST, "--folds", "3", "--baseline")
    found = json.loads(run(*args, "--json").stdout)
    names = [one["model"] for one in found["baseline"]]
    assert names == ["aclass", "logistic-regression", "random-forest"]
    assert all(one["accuracy"] > 0.8 for one in found["baseline"])
    low, high = found["baseline"][1]["extra_log_loss_interval"]
    assert low < found["baseline"][1]["extra_log_loss"] < high
    shown = run(*args).stdout
    assert "Models side by side" in shown
    assert "logistic-regression" in shown


def test_groups_stay_in_one_fold_and_are_not_learned(folder):
    args = ("evaluate", folder / "nests.csv", *KIND, *FAST, "--groups", "nest", "--folds", "3")
    found = json.loads(run(*args, "--json").stdout)
    assert found["how"] == "3-fold cross-validation by groups"
    assert (list(found["columns"]), found["left_out"]) == (["size", "colour"], ["nest"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--groups", "nets"), "no column 'nets', which --groups names; did you mean 'nest'?"),
        (("--groups", "kind"), "'kind' is the target"),
        (("--groups", "nest", "--folds", "20"), "there are 12 groups, fewer than --folds 20"),
        (("--groups", "nest", "--test", "nests.csv"), "with --test leave it out"),
        (("--cost", "fn"), "'fn' is no name with a positive cost"),
        (("--cost", "fn=-1"), "'fn=-1' is no name with a positive cost"),
        (("--cost", "fly=3"), "'fly' is no class; there are"),
        (("--cost", "fn=5", "--positive", "fly"), "--positive: 'fly' is no class"),
        (("--positive", "ant"), "add --cost"),
    ],
)
def test_what_evaluate_refuses(folder, monkeypatch, options, words):
    monkeypatch.chdir(folder)
    line = refuse("evaluate", folder / "nests.csv", *KIND, *FAST, "--json", *options)
    assert words in line


def test_fn_and_fp_are_for_two_classes(tmp_path):
    rows = [(s, c, "fly" if i % 5 == 0 else k) for i, (s, c, k) in enumerate(insects())]
    path = write_csv(tmp_path / "three.csv", rows)
    line = refuse("evaluate", path, *KIND, *FAST, "--cost", "fn=5,fp=1", "--json")
    assert "two classes, and there are 3; give a cost to each class" in line
    found = json.loads(run("evaluate", path, *KIND, *FAST, "--cost", "fly=5", "--json").stdout)
    assert {one["label"]: one["cost"] for one in found["cost"]["costs"]}["fly"] == 5.0
    assert "threshold" not in found["cost"]


def test_thresholds_by_cost(folder):
    args = ("evaluate", folder / "train.csv", *KIND, *FAST, "--cost", "fn=5,fp=1")
    found = json.loads(run(*args, "--positive", "bee", "--json").stdout)["cost"]
    assert (found["positive"], found["threshold"]) == ("bee", pytest.approx(1 / 6))
    assert found["saved"] == pytest.approx(found["before"] - found["after"])
    shown = run(*args).stdout
    assert "its probability is at least 0.167" in shown
    assert "Mean cost of a held-out row" in shown
    line = next(x for x in shown.splitlines() if "To predict so" in x)
    costs = line.split('"')[1]
    plain, dear = (
        run("predict", folder / "model.imx", folder / "train.csv", *more).stdout.split()
        for more in ((), ("--cost", costs.replace("=5", "=500")))
    )
    assert plain != dear
    words = refuse("predict", folder / "model.imx", folder / "train.csv", "--cost", "fn=5")
    assert "give a cost to each class" in words
