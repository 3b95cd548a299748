"""Do the benchmarks run, and are their peers what they say? No timing decides anything."""

import json

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.naive_bayes import BernoulliNB

from bench import cold, startup
from bench.__main__ import BENCHMARKS, main, run
from bench.paper_task import paired
from bench.peers import NaiveBayes, PolynomialRLS, RunningMean
from bench.synthetic import Mixtures, knock_out, two_classes
from bench.timing import ratio, take_turns

REAL = {
    "tables",
    "imputation",
    "density",
    "mnist",
    "margin_tables",
    "few_labels",
    "table_one",
    "network_files",
}  # see test_quality.py


@pytest.mark.parametrize("name", sorted(set(BENCHMARKS) - REAL - {"startup", "cold"}))
def test_quick_variant_runs(name):
    section = run(name, quick=True)
    assert section.lines
    assert json.loads(json.dumps(section.to_json()))["title"] == section.title


def test_startup_reports_a_warm_and_a_cold_process(monkeypatch):
    monkeypatch.setattr(startup, "_start", lambda cache: (1.0, 1.5, 0.5, 0.25, 0.9))
    section = startup.run(quick=True)
    assert section.lines[0].meets
    assert section.figures["cold_seconds"] == (1.0, 1.5, 0.5, 0.25, 0.9)


def test_cold_compares_each_case_with_what_it_was_before(monkeypatch):
    starts = iter([cold.Start(5.0, 0.5, 9), cold.Start(1.0, 0.5, 0), cold.Start(5.0, 0.5, 9)])
    monkeypatch.setattr(cold, "start", lambda case, cache: next(starts))
    section = cold.run(quick=True)
    assert section.lines[0].meets
    (row,) = section.grids[0].rows
    assert row[0] == "binary"
    assert [cell.split(" / ")[1] for cell in row[1:]] == [
        "5.0", "", "9", "1.0", "0.5", "4.0", "9",
    ]  # fmt: skip


@pytest.mark.parametrize("case", cold.cold_cases.CASES)
def test_cold_cases_can_be_made(case):
    assert callable(cold.cold_cases.CASES[case]())


def test_cold_tables_have_a_kind_for_every_column():
    X, y, kinds = cold.cold_cases.table(binary=2, gaussian=3, spiked=1)
    assert X.shape == (len(y), 6)
    assert kinds == {0: "binary", 1: "binary", (2, 3, 4): "gaussian", 5: "spiked"}


def test_what_cold_was_before_has_all_cases():
    before = json.loads(cold.BEFORE.read_text(encoding="utf-8"))["cases"]
    assert list(before) == list(cold.cold_cases.CASES)


def test_command_writes_figures_and_succeeds_whatever_the_bars(tmp_path, capsys):
    file = tmp_path / "figures.json"
    assert main(["rowwise", "--quick", "--json", str(file)]) == 0
    assert "bars met" in capsys.readouterr().out
    assert list(json.loads(file.read_text())) == ["rowwise"]


def test_command_names_what_it_does_not_know(capsys):
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "unknown: nothing" in capsys.readouterr().err


def test_mixtures_are_reproducible_and_holes_as_many_as_asked():
    X, y = two_classes(1000, seed=3)
    again, _ = two_classes(1000, seed=3)
    assert X.dtype == bool
    assert (again == X).all()
    assert set(y) == {0, 1}
    holes = knock_out(X, 0.25, np.random.default_rng(0))
    assert abs(np.isnan(holes).mean() - 0.25) < 0.01  # 7 standard deviations
    assert (holes[~np.isnan(holes)] == X[~np.isnan(holes)]).all()


def test_every_mode_of_a_class_is_drawn():
    rng = np.random.default_rng(0)
    mixtures = Mixtures((2, 3), 30, rng)
    mixtures.p = [np.eye(5, 30)[:2], np.eye(5, 30)[2:]]
    X, y = mixtures.draw(500, rng)
    assert set(X[y == 0].argmax(axis=1)) == {0, 1}
    assert set(X[y == 1].argmax(axis=1)) == {2, 3, 4}


def test_naive_bayes_is_bernoulli_nb_on_complete_tables():
    X, y = two_classes(300)
    ours, theirs = NaiveBayes().fit(X.astype(float), y), BernoulliNB().fit(X, y)
    np.testing.assert_allclose(ours.log_one, theirs.feature_log_prob_)
    np.testing.assert_array_equal(ours.predict(X.astype(float)), theirs.predict(X))


def test_naive_bayes_leaves_missing_cells_out():
    X = np.array([[1, np.nan], [np.nan, 0], [1, 1], [0, np.nan]])
    model = NaiveBayes().fit(X, np.zeros(4))
    np.testing.assert_allclose(np.exp(model.log_one), [[3 / 5, 2 / 4]])


def test_running_mean_fills_with_what_came_before():
    X = np.array([[np.nan], [1.0], [np.nan], [0.0], [np.nan]])
    fill = RunningMean()
    assert fill.fit_transform(X).ravel().tolist() == [0.5, 1.0, 1.0, 0.0, 0.5]
    assert fill.transform(np.array([[np.nan], [1.0]])).ravel().tolist() == [0.5, 1.0]


def test_least_squares_choose_by_the_true_leave_one_out_error(monkeypatch):
    monkeypatch.setattr("bench.peers.RLS_SCALES", (10.0,))
    monkeypatch.setattr("bench.peers.RLS_LAMBDAS", np.array([1e-4, 1e-2, 1.0]))
    bits, y = two_classes(30)
    X, target = bits.astype(float), np.where(y == 1, 1.0, -1.0)
    top = np.linalg.eigvalsh((1 + X @ X.T / 10) ** 2)[-1] / len(X)

    def ridge(lam):
        return KernelRidge(alpha=lam * top, kernel="poly", degree=2, gamma=0.1, coef0=1)

    def left_out(lam):
        keep = ~np.eye(len(X), dtype=bool)
        guesses = [ridge(lam).fit(X[k], target[k]).predict(X[~k])[0] for k in keep]
        return np.mean((target - guesses) ** 2)

    best = min((1e-4, 1e-2, 1.0), key=left_out)
    model = PolynomialRLS().fit(X, y)
    np.testing.assert_allclose(model.coef[:, 1], ridge(best).fit(X, target).dual_coef_, rtol=1e-6)
    np.testing.assert_array_equal(
        model.predict(X), (ridge(best).fit(X, target).predict(X) > 0).astype(int)
    )


def test_paired_difference():
    mean, z = paired(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.6]))
    assert mean == pytest.approx(-0.2)
    assert z == pytest.approx(-0.2 / (0.1 / np.sqrt(3)))
    assert paired(np.ones(3), np.ones(3)) == (0.0, 0.0)
    assert paired(np.zeros(3), np.ones(3))[1] == -np.inf


def test_contestants_take_turns():
    calls = []
    times = take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert calls == ["a", "b"] * 3
    assert [len(t) for t in times.values()] == [3, 3]
    assert ratio(np.array([2.0, 4.0, 6.0]), np.array([1.0, 1.0, 1.0])).median == 4.0
