"""The parts that need real data, on tables made up here; peers and measures against oracles."""

import gzip
import json
import stat
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from bench import density, imputation, mnist, realdata, regression, table_peers, tables
from bench.__main__ import run
from bench.measures import tempered
from infinimix import CRPMixture
from infinimix.estimators.common.effort import EFFORTS, Effort
from infinimix.evaluation.calibration import calibration_error
from infinimix.evaluation.scores import align, log_losses, probability_of

NAMES = ("zoo", "lymphography", "autos")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder like the real one: mixed columns, holes, a class with a single member."""
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 24 + ["b"] * 15 + ["c"])
    frame = pd.DataFrame(
        {
            "animal": [f"n{i}" for i in range(40)],
            "size": rng.normal(size=40) + 3 * (y == "a"),
            "colour": np.where(rng.random(40) < 0.3, "?", np.where(y == "a", "red", "blue")),
            "legs": rng.integers(4, size=40),
            "tame": rng.random(40) < 0.5,
            "void": "?",
            "class": y,
        }
    )
    for name in NAMES:
        (tmp_path / name).mkdir()
        shown = frame if name == "zoo" else frame.drop(columns="animal")
        shown.to_csv(tmp_path / name / "data.csv.gz", index=False)
        (tmp_path / name / "schema.json").write_text(json.dumps({"target": "class"}))
    monkeypatch.setenv(realdata.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def digits(data):
    """Ten rows of four pixels in the format of MNIST."""
    (data / "mnist").mkdir()
    for part in ("train", "t10k"):
        for kind, head, cells in (("images-idx3", 16, 40), ("labels-idx1", 8, 10)):
            with gzip.open(data / "mnist" / f"{part}-{kind}-ubyte.gz", "wb") as file:
                file.write(
                    bytes(head) + bytes((np.arange(cells) * (5 if cells == 40 else 1)).tolist())
                )
    return data


@pytest.fixture
def cheap(monkeypatch):
    monkeypatch.setitem(EFFORTS, "fast", Effort(n_particles=1, n_islands=1, sweeps=0))
    monkeypatch.setattr(table_peers, "EFFORT", "fast")
    monkeypatch.setattr(table_peers, "TREES", 9)
    monkeypatch.setattr(table_peers, "ITERATIONS", 3)
    monkeypatch.setattr(table_peers, "LEAVES", (1,))
    monkeypatch.setattr(table_peers, "STRENGTHS", (1.0,))
    monkeypatch.setattr(table_peers, "INNER_FOLDS", 2)


def test_tables_run_with_all_models_and_say_what_is_best(data, cheap):
    section = run("tables", quick=True)
    assert [line.what for line in section.lines[:2]] == ["zoo", "zoo, 30% knocked out"]
    assert all(line.meets is not None for line in section.lines)
    assert json.loads(json.dumps(section.to_json()))["title"] == section.title
    assert len(section.figures["zoo"]["forest"]["folds"]) == 5


def test_cache_keeps_peers_and_measures_infinimix_again(data, tmp_path, monkeypatch):
    calls = []

    def answer(name):
        def model(train, y, test):
            calls.append(name)
            return np.full((len(test), 3), 1 / 3), np.array(["a", "b", "c"])

        return model

    monkeypatch.setattr(
        tables, "MODELS", {name: answer(name) for name in ("infinimix", "naive Bayes")}
    )
    for repeats in (1, 2, 2):
        tables.measure(
            ["zoo"], tuple(tables.MODELS), (0.0,), repeats, cache=tmp_path / "cache.json"
        )
    assert calls.count("naive Bayes") == 2 * 5  # each repeat once
    assert calls.count("infinimix") == 3 + (1 + 2 + 2) * 5  # 3 times to load the kernels


def test_what_lacks_its_data_says_so(monkeypatch):
    monkeypatch.delenv(realdata.VARIABLE, raising=False)
    for name in ("tables", "imputation", "mnist", "margin_tables"):
        section = run(name, quick=True)
        assert any("skipped" in note for note in section.notes), name


def test_names_are_dropped_and_holes_read(data):
    table = realdata.load("zoo")
    assert list(table.frame) == ["size", "colour", "legs", "tame", "void"]
    assert table.frame["colour"].isna().any()
    assert realdata.categorical_columns(table.frame) == ["colour", "tame"]
    assert list(table.classes) == ["a", "b", "c"]


def test_official_split_is_cut_into_parts():
    test = np.array([False, True] * 10)
    table = realdata.Table("t", pd.DataFrame({"x": range(20)}), np.array(["a"] * 20), test)
    (split,) = realdata.splits(table, seed=0)
    assert sorted(np.concatenate([split.train, *split.parts])) == list(range(20))
    assert [len(part) for part in split.parts] == [2] * 5
    assert test[np.concatenate(split.parts)].all()


def test_knocked_out_cells_are_few_and_the_rest_untouched(data):
    frame = realdata.load("zoo").frame
    holed = realdata.knock_out(frame, 0.3, seed=1)
    gone = holed["size"].isna()
    assert 0 < gone.sum() < 40
    assert (holed["size"][~gone] == frame["size"][~gone]).all()
    assert realdata.categorical_columns(holed) == realdata.categorical_columns(frame)


def test_naive_bayes_is_that_of_scikit_learn_on_complete_tables():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], [300, 200])
    X = rng.normal(size=(500, 2)) + (y == "a")[:, None]
    codes = rng.integers(3, size=(500, 2))
    frame = pd.DataFrame(
        {"u": X[:, 0], "v": X[:, 1], "c": codes[:, 0].astype(str), "d": codes[:, 1]}
    )
    proba, classes = table_peers.naive_bayes(frame, y, frame)
    normal, category = GaussianNB().fit(X, y), CategoricalNB().fit(codes, y)
    joint = normal.predict_joint_log_proba(X) + category.predict_joint_log_proba(codes)
    joint -= np.log(normal.class_prior_)
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(proba, expected, atol=2e-3)  # one more row in the variances
    assert list(classes) == ["a", "b"]


def test_naive_bayes_leaves_holes_out():
    frame = pd.DataFrame({"u": [0.0, 1.0, 4.0, 5.0], "c": ["x", "x", "y", "y"]})
    y = np.array(["a", "a", "b", "b"])
    hole = pd.DataFrame({"u": [np.nan], "c": pd.Series([np.nan], dtype=object)})
    np.testing.assert_allclose(table_peers.naive_bayes(frame, y, hole)[0], [[0.5, 0.5]])


def test_log_loss_is_that_of_scikit_learn():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    code = np.arange(50) % 3
    assert log_losses(probability_of(code, proba)).mean() == pytest.approx(log_loss(code, proba))
    wide = align(proba[:, :2], np.array(["a", "c"]), np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(wide[:, 1], 0.0)
    assert log_losses(probability_of(np.ones(50, dtype=int), wide)).min() > 32  # clipped at 1e-15


def test_calibration_error_by_hand():
    proba = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]])
    # 0.9 twice, right once: gap 0.4 for two rows; 0.6 and right: gap 0.4 for one
    right = proba.argmax(axis=1) == np.array([0, 1, 1])
    assert calibration_error(proba.max(axis=1), right) == pytest.approx(0.4)


def test_temperature_undoes_overconfidence():
    rng = np.random.default_rng(0)
    honest = rng.dirichlet(np.ones(3), size=20_000)
    code = (rng.random((20_000, 1)) > honest.cumsum(axis=1)).sum(axis=1)
    sharp = honest**3 / (honest**3).sum(axis=1, keepdims=True)
    temperature, loss = tempered(sharp, code)
    assert temperature == pytest.approx(3.0, rel=0.06)  # 4 standard errors
    assert loss == pytest.approx(log_losses(probability_of(code, honest)).mean(), abs=1e-3)


def test_best_peer_and_paired_difference():
    def result(losses):
        return {"folds": [{"log_loss": x} for x in losses]}

    found = {
        "infinimix": result([1, 2, 3]),
        "forest": result([1, 1, 2]),
        "logistic": result([9, 9, 9]),
    }
    peer, difference, error = tables.compare(found)
    assert (peer, difference) == ("forest", pytest.approx(2 / 3))
    assert error == pytest.approx(1 / 3)


def test_imputation_runs_and_counts_errors(data):
    section = run("imputation", quick=True)
    assert section.grids[0].rows
    truth = pd.DataFrame({"u": [0.0, 2.0, 4.0], "c": ["x", "y", "y"]})
    holed = pd.DataFrame({"u": [np.nan, 2.0, 4.0], "c": ["x", np.nan, np.nan]})
    filled = pd.DataFrame({"u": [1.0, 2.0, 4.0], "c": ["x", "y", "x"]})
    assert imputation.errors(truth, holed, filled) == {"numbers": 0.5, "categories": 0.5}


def test_imputation_is_resumed_from_what_was_kept(data, tmp_path, monkeypatch):
    calls = []

    def counted(name):
        return lambda frame: calls.append(name) or imputation.mean_or_mode(frame)

    names = [imputation.OURS, "nearest"]
    monkeypatch.setattr(imputation, "METHODS", {name: counted(name) for name in names})
    file = tmp_path / "kept.json"
    first = imputation.measure(["zoo"], (0.1, 0.3), names, 30, file)
    assert calls == names * 2
    assert imputation.measure(["zoo"], (0.1, 0.3), names, 30, file) == first
    assert calls == names * 2
    monkeypatch.setattr(imputation, "_sources", lambda: "other code")
    imputation.measure(["zoo"], (0.1,), names, 30, file)
    assert calls == [*names * 2, imputation.OURS]  # peers do not depend on our code
    imputation.measure(["zoo"], (0.1,), names, 20, file)
    assert calls[5:] == names  # other rows


def test_imputation_counts_least_errors_for_each_share():
    def found(ours, peer):
        return {"infinimix": {"numbers": ours}, "nearest": {"numbers": peer}}

    results = {"a, 10%": found(1.0, 2.0), "b, 10%": found(3.0, 2.0), "a, 30%": found(1.0, 1.0)}
    results["c, 30%"] = found(np.nan, np.nan)  # has no numbers
    lines = imputation.count_least(results, "numbers")
    assert [(line.what, line.ours) for line in lines] == [
        ("numbers, 10% missing: least error", "1 of 2"),
        ("numbers, 30% missing: least error", "1 of 1"),
    ]


@pytest.mark.parametrize("method", ["nearest", "iterative", "mean, mode"])
def test_peers_fill_every_hole_and_keep_what_is_there(data, method):
    frame = realdata.load("zoo").frame.drop(columns="void")
    holed = realdata.knock_out(frame, 0.2, seed=0)
    filled = imputation.METHODS[method](holed)
    assert not filled.isna().any().any()
    seen = realdata.as_objects(holed)
    for name in frame:
        at = seen[name].notna()
        assert (filled[name][at] == seen[name][at]).all()


def test_density_knows_its_truth():
    rows = density.make(2000, seed=0)
    assert 0.15 < density.known_modes(rows) < 0.40
    assert density.known_modes(density.make(20_000, seed=0)) < 0.05
    few = density.Rows(rows.train[:100], rows.z[:100], rows.test[:100], rows.truth)
    answer = density.ours(few, 0, prior="reference")
    model = CRPMixture(prior="reference", random_state=0).fit(few.train)
    assert answer.loss == pytest.approx(rows.truth - model.score(few.test))


def test_density_without_and_with_a_peer(tmp_path, monkeypatch):
    monkeypatch.delenv(density.VARIABLE, raising=False)
    assert "skipped lace" in run("density", quick=True).notes[0]
    fake = tmp_path / "python"  # answers like lace_fit.py
    fake.write_text(
        f"#!{sys.executable}\nprint('[2, 1.5, 0.1, -40.0]')\nprint('[5, 3.0, 0.1, -30.0]')\n"
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(density.VARIABLE, str(fake))
    section = run("density", quick=True)
    assert section.figures["lace flat, 5 iterations"][0]["fit"] == 3.0


def test_mnist_reads_and_runs(digits):
    X, y = mnist.read(digits / "mnist", "train")
    assert X.shape == (10, 4)
    assert X[6:10, 2:].any()
    assert list(y) == list(range(10))
    section = run("mnist", quick=True)
    assert [line.what for line in section.lines] == ["complete", "half of the pixels missing"]


def test_regressors_are_compared(data, monkeypatch):
    monkeypatch.setitem(EFFORTS, "default", Effort(1, 2, 0))
    every = regression.models
    quick = lambda X, few: {m: make for m, make in every(X, few).items() if m != "forest"}  # noqa: E731
    monkeypatch.setattr(regression, "models", quick)
    section = run("regression", quick=True)
    (grid,) = section.grids
    assert grid.rows[0][0] == "diabetes, 40"
    assert len(grid.rows[0]) == len(grid.headings) == 7
    assert "skipped" in section.notes[-1]
    assert "autos price" in regression.tables()
