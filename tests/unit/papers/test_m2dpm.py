"""The M2DPM paper: its worlds, its methods, every table in a tiny form, and what they summarise."""

import json

import numpy as np
import pandas as pd
import pytest

from infinimix.papers.m2dpm import PAPER, growth, methods, real, synthetic
from infinimix.papers.m2dpm.dpmnl import DPMNL, log_predictive
from infinimix.papers.m2dpm.worlds import divide, seat, setting_one, setting_two
from infinimix.papers.real_tables import read_table
from infinimix.papers.running import reproduce


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Made-up tables in the form of the paper's two, few rows each."""
    rng = np.random.default_rng(0)
    monkeypatch.setenv("INFINIMIX_DATA", str(tmp_path))
    n = 40
    frame = pd.DataFrame(rng.gamma(2.0, 40.0, (n, 5)), columns=[
        "MDVP:Fo(Hz)", "MDVP:Jitter(%)", "MDVP:Shimmer", "HNR", "PPE",
    ])  # fmt: skip
    frame.insert(0, "name", [f"phon_R01_S{i // 4:02d}_{i % 4}" for i in range(n)])
    frame["class"] = (np.arange(n) // 4 % 3 > 0).astype(int)
    write(tmp_path / "parkinsons", frame)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["length", "pct_A", "pct_C"])
    frame["class"] = np.arange(n) % 3 + 1
    frame["length"] += 2.0 * frame["class"]
    frame.insert(0, "split", np.where(np.arange(n) % 2, "train", "test"))
    frame.insert(0, "protein", [f"P{i}" for i in range(n)])
    write(tmp_path / "protein_fold_ding_dubchak", frame)
    read_table.cache_clear()
    yield
    read_table.cache_clear()


def write(folder, frame):
    folder.mkdir()
    frame.to_csv(folder / "data.csv.gz", index=False)
    (folder / "schema.json").write_text(json.dumps({"target": "class"}))


@pytest.mark.parametrize("item", [e.item for e in PAPER.experiments])
def test_every_table_runs_in_a_tiny_form(item, data, tmp_path):
    found = reproduce(PAPER, PAPER.find(item), tmp_path / "runs", "tiny")
    assert found.outcome.lines
    assert found.outcome.verdict.endswith(".")
    json.dumps([result for _, result in found.results])


def test_quick_and_full_forms_have_the_paper_s_lines():
    tables = {e.item: e for e in PAPER.experiments}
    full = tables["table 1"].tasks("full")
    assert {(t["setting"], t["rows"], t["seed"]) for t in full} == {
        (s, synthetic.ROWS[s], seed) for s in ("I", "II") for seed in range(20)
    }
    for setting in ("I", "II"):
        assert set(synthetic.PAPER[setting]) == set(methods.METHODS)
    for table in (real.TABLE_3, real.TABLE_4):
        assert set(table) == set(methods.METHODS)
    assert {t["rows"] for t in tables["table 2"].tasks("full")} == set(growth.PAPER)
    assert {t["by"] for t in tables["table 4"].tasks("quick")} == {"recording", "subject"}


def test_a_crp_opens_clusters_in_order_and_below_the_bound():
    z = seat(400, np.random.default_rng(0), 3)
    assert sorted(set(z)) == [0, 1, 2]
    assert (np.diff([np.flatnonzero(z == k)[0] for k in range(3)]) > 0).all()
    # P(the second row joins the first) = 1 / (1 + alpha): 600 draws, within 5 standard errors
    joins = np.mean([seat(2, np.random.default_rng(s), None, 3.0)[1] == 0 for s in range(600)])
    assert abs(joins - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 600)


def test_worlds_are_those_of_the_paper():
    X, y, z, p = setting_two(4000, 0)
    assert (np.abs(X - 1.0 - z[:, None]) <= 0.5).all()
    assert sorted(set(z)) == list(range(10))
    assert abs((y - p).mean()) < 5 * 0.5 / np.sqrt(4000)
    X, y, z, p = setting_one(2000, 0)
    inner = X - 1.0 - z[:, None]
    assert abs(inner.std() - 0.5) < 0.02
    assert z.max() < 10
    train, test = divide(50, 1)
    assert sorted([*train, *test]) == list(range(50))
    assert len(train) == 40


@pytest.mark.parametrize("name", sorted(methods.EVERY))
def test_methods_choose_and_learn(name, monkeypatch):
    monkeypatch.setattr(methods, "SWEEPS", 8)
    monkeypatch.setattr(methods, "TRIAL_SWEEPS", 4)
    monkeypatch.setattr(methods, "dp_mnl", lambda X, y: DPMNL(n_iter=4, burn_in=1, n_samples=2))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(36, 2)), np.arange(36) % 2
    X[:, 0] += 3.0 * y
    choose = methods.dp_mnl if name == "dpMNL" else methods.EVERY[name]
    found = methods.judge(choose, X[:24], y[:24], X[24:], y[24:])
    assert found["accuracy"] > 50.0
    assert found["seconds"] > 0.0


def test_the_predictive_density_of_dpmnl_integrates_to_one():
    grid = np.linspace(-60, 60, 3001)
    n, total, square = np.array([0.0, 3.0]), np.array([[0.0], [1.5]]), np.array([[0.0], [2.0]])
    density = np.exp([log_predictive(np.array([x]), n, total, square) for x in grid])
    assert np.allclose(density.sum(axis=0) * (grid[1] - grid[0]), 1.0, atol=0.01)


def test_table_1_compares_methods_on_the_same_data_sets():
    names = ["RBF SVM", "M2DPM", "M2DPM by default"]
    accuracy = {"RBF SVM": (60, 70), "M2DPM": (62, 71), "M2DPM by default": (64, 72)}
    results = [
        (
            {"setting": "I", "rows": 9, "seed": seed, "method": name},
            {"accuracy": float(accuracy[name][seed]), "seconds": 2.0 if name == "RBF SVM" else 0.5},
        )
        for seed in (0, 1) for name in names
    ]  # fmt: skip
    gap = synthetic.paired(results, "I", "M2DPM", "RBF SVM")
    assert (gap.mean, gap.error, gap.n) == (1.5, 0.5, 2)
    outcome = synthetic.summarise(results)
    lines = {line.name: line for line in outcome.lines}
    ours = lines["Setting I, accuracy: M2DPM"]
    assert (ours.paper, ours.published.mean, ours.default.mean) == (71.1, 66.5, 68.0)
    assert lines["Setting I, seconds: RBF SVM"].paper == 0.1
    assert "+1.5 ± 0.5 points from RBF SVM as published, +3.0 by default" in outcome.verdict
    assert "RBF SVM takes 4 times its time" in outcome.verdict


def test_table_2_says_how_far_the_number_of_clusters_is_off():
    figures = {"published seconds": 0.1, "default seconds": 0.2}
    results = [
        ({"rows": 100, "seed": 0}, {"true": 5, "published": 6, "default": 5, **figures}),
        ({"rows": 1000, "seed": 0}, {"true": 8, "published": 11, "default": 7, **figures}),
    ]
    outcome = growth.summarise(results)
    assert "by 2.0 clusters on average as published and by 0.5 by default" in outcome.verdict
    assert "10 times as many) the time grows 1 and 1 times" in outcome.verdict
    assert outcome.lines[1].paper == 8
    assert outcome.lines[1].difference == -2.0


def test_table_4_keeps_recordings_and_subjects_apart():
    results = [
        (
            {"by": by, "method": name, "folds": 5, "seed": 0},
            {"accuracy": value, "f1": value - 5.0, "seconds": 0.1},
        )
        for by, shift in (("recording", 0.0), ("subject", -10.0))
        for name, value in (
            ("MNL", 80.0 + shift), ("M2DPM", 85.0 + 1.6 * shift), ("M2DPM by default", 86.0),
        )
    ]  # fmt: skip
    outcome = real.summarise_4(results)
    lines = {line.name: line for line in outcome.lines}
    assert lines["by recording, accuracy: M2DPM"].paper == 88.7
    assert lines["by subject, accuracy: M2DPM"].paper is None
    assert lines["by subject, F1: M2DPM"].published.mean == 64.0
    first, second = outcome.verdict.split("In folds by subject")
    assert "first as published here, with 85.0%" in first
    assert "first of 2 by accuracy in the paper" in first
    assert "second as published here, with 69.0%" in second
    assert "which the paper does not have" in second
