"""Answers to act on: baselines, groups, costs, reasons and comparisons, from the shell."""

import json
import shlex

import pytest

import infinimix
from infinimix.cli.learning import HYBRID, MODELS
from infinimix.cli.options import MODEL_NAMES
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


@pytest.mark.parametrize(
    ("share", "said"),
    [
        ((), "20 rows without 'kind' learned without label."),
        (("0.5",), "20 rows without 'kind': a share of 0.5 learned without label."),
        (("0",), "20 rows without 'kind' left out, as --unlabelled-share is 0."),
    ],
)
def test_it_is_said_what_becomes_of_rows_without_label(tmp_path, share, said):
    rows = [(*cells, None if i % 3 == 0 else kind) for i, (*cells, kind) in enumerate(insects())]
    path = write_csv(tmp_path / "few.csv", rows)
    option = ("--unlabelled-share", *share) if share else ()
    done = run("fit", path, *KIND, *FAST, *option, "-o", tmp_path / "few.imx")
    assert f"infinimix fit: note: {said}" in done.stderr.splitlines()


def test_baselines_leave_out_rows_without_label(folder, tmp_path):
    rows = [(s, c, None if i < 5 else k) for i, (s, c, k) in enumerate(insects(70, 3))]
    table = write_csv(tmp_path / "some.csv", rows)
    for more in (("--test", folder / "train.csv"), ("--folds", "3")):
        args = ("evaluate", table, *KIND, *FAST, "--baseline", "--json", *more)
        assert len(json.loads(run(*args).stdout)["baseline"]) == 3


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
        (("--cost", "fly=3"), "'fly' is not a class; there are"),
        (("--cost", "fn=5", "--positive", "fly"), "--positive: 'fly' is not a class"),
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


def test_explain_a_row(folder):
    model, table = folder / "model.imx", folder / "train.csv"
    found = json.loads(run("explain", model, table, "--row", "3", "--json").stdout)
    size, colour, kind = insects()[2]
    cells = {one["column"]: one["value"] for one in found["columns"]}
    assert cells == {"size": size, "colour": colour}
    assert (found["row"], found["true"]) == (3, kind)
    why = infinimix.load(model).explain({"size": size, "colour": colour})
    assert found["prediction"] == why.answer
    evidence = [one["evidence"] for one in found["columns"]]
    assert evidence == pytest.approx(why.to_frame()["evidence"].tolist())
    shown = run("explain", model, table, "--row", "3", "--label", "ant", "--against", "bee").stdout
    assert "Class 'ant'" in shown
    assert "evidence" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--row", "61"), "--row 61: "),
        (("--label", "bea"), "there is no class 'bea'; did you mean 'bee'?"),
    ],
)
def test_what_explain_refuses(folder, options, words):
    assert words in refuse("explain", folder / "model.imx", folder / "train.csv", *options)


def test_models_without_reasons_are_told(folder, tmp_path):
    out = tmp_path / "m.imx"
    run("fit", folder / "train.csv", *KIND, "-m", "finite-mixture", "-o", out)
    line = refuse("explain", out, folder / "train.csv")
    assert "FiniteMixtureClassifier, which gives no reasons" in line


def test_groups_are_explained_too(folder, tmp_path):
    out = tmp_path / "m.imx"
    run("cluster", folder / "train.csv", "--drop", "kind", *FAST, "--save", out, "--json")
    args = ("explain", out, folder / "train.csv", "--drop", "kind")
    assert isinstance(json.loads(run(*args, "--json").stdout)["prediction"], int)
    assert "leave it out" in refuse(*args, "--label", "ant")


def test_compare_models_on_the_same_folds(folder):
    args = ("compare", folder / "train.csv", *KIND, *FAST, "--folds", "3")
    models = "m2dpm,aclass,logistic-regression"
    found = json.loads(run(*args, "--models", models, "--json").stdout)
    losses = [one["log_loss"] for one in found["models"]]
    assert losses == sorted(losses)
    assert {one["model"] for one in found["models"]} == set(models.split(","))
    alone = run("evaluate", folder / "train.csv", *KIND, *FAST, "--folds", "3", "--json").stdout
    own = next(one for one in found["models"] if one["model"] == "aclass")
    assert own["log_loss"] == json.loads(alone)["log_loss"]
    shown = run(*args, "--models", models).stdout
    assert "has the lowest log-loss" in shown
    assert "did you mean 'aclass'?" in refuse(*args, "--models", "aclas,m2dpm")
    assert "name two or more" in refuse(*args, "--models", "aclass")


def test_every_classifier_and_the_regressor_of_the_library_are_models():
    assert tuple(MODELS) == MODEL_NAMES
    predicting = {
        name
        for name in infinimix.__all__
        if any(hasattr(getattr(infinimix, name), m) for m in ("predict_proba", "predict_interval"))
    }
    assert predicting - {"CRPMixture"} == set(MODELS.values())  # its probabilities are of groups


def test_the_hybrid_is_evaluated_saved_and_reported(folder, tmp_path):
    out, page = tmp_path / "m.imx", tmp_path / "r.html"
    found = run("evaluate", folder / "train.csv", *KIND, *FAST, "-m", HYBRID, "--json").stdout
    told = json.loads(found)
    assert told["accuracy"] > 0.8
    run("fit", folder / "train.csv", *KIND, *FAST, "-m", HYBRID, "-o", out)
    run("report", out, folder / "train.csv", "-o", page)
    assert f"{told['accuracy']:.1%}" in page.read_text("utf-8")


def test_parameters_of_the_model(folder, tmp_path):
    out = tmp_path / "m.imx"
    args = ("fit", folder / "train.csv", *KIND, *FAST, "-o", out)
    run(*args, "--set", "n_islands=2", "--set", "prior=reference", "--relevance", "learn")
    model = infinimix.load(out)
    assert (model.n_islands, model.prior, model.relevance) == (2, "reference", "learn")
    run(*args, "--unlabelled-share", "0.5")
    assert infinimix.load(out).unlabelled_share == 0.5
    assert "did you mean 'n_islands'?" in refuse(*args, "--set", "n_island=2")
    assert "is no parameter with a value" in refuse(*args, "--set", "n_islands")
    assert "--relevance is for --model aclass" in refuse(
        *args, "-m", "m2dpm", "--relevance", "learn"
    )


def test_hints_can_be_pasted(tmp_path):
    names = ("column 1", "size, cm", "colour", "kind")
    rows = [(i, *row) for i, row in enumerate(insects())]
    lines = [",".join(f'"{name}"' for name in names)]
    lines += [",".join("" if c is None else str(c) for c in row) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "m.imx"
    args = ("fit", tmp_path / "a.csv", *KIND, *FAST, "-o", out)
    said = run(*args).stderr
    assert 'keep it with --keep "column 1"' in said
    words = shlex.split(said.partition("keep it with ")[2].splitlines()[0])
    run(*args, *words)
    write_csv(tmp_path / "b.csv", [(1.0, "red", 2, 3)], ("size", "colour", "my legs", "id"))
    run("fit", write_csv(tmp_path / "c.csv", insects()), *KIND, *FAST, "-o", out)
    line = refuse("predict", out, tmp_path / "b.csv")
    assert '--drop "my legs,id"' in line
    run("predict", out, tmp_path / "b.csv", *shlex.split(line.partition("leave them out with ")[2]))


def test_the_same_note_is_printed_once(folder):
    """Each fold of the experts warns that its clusters are pure; the figures differ."""
    args = ("evaluate", folder / "train.csv", *KIND, "-m", "m2dpm", "--set", "s=0.001", "--json")
    notes = [line for line in run(*args).stderr.splitlines() if "inert" in line]
    assert len(notes) == 1
    assert "--set s=2" in notes[0]


def test_a_network_with_very_many_categories(tmp_path):
    rows = [(f"c{i % 40}", "ab"[i % 2], "xy"[i % 3 == 0]) for i in range(120)]
    path = write_csv(tmp_path / "a.csv", rows, ("many", "two", "other"))
    args = ("network", path, "--sweeps", "20", "--chains", "1", "--json")
    said = run(*args).stderr
    assert "add --bdeu" in said
    assert "categories" not in run(*args, "--bdeu").stderr
