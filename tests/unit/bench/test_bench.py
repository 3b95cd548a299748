"""Do the benchmarks run, and are their peers what they say? No timing decides anything."""

import json
from functools import partial

import numpy as np
import pytest

from bench import cold, startup
from bench.__main__ import BENCHMARKS, main, run
from bench.partitions import Stretch, compare_ends
from bench.synthetic import two_classes
from bench.timing import ratio, take_turns
from infinimix.estimators.common.effort import EFFORTS, Effort
from infinimix.papers.aclass.worlds import knock_out

REAL = {
    "tables",
    "imputation",
    "density",
    "mnist",
    "margin_tables",
    "few_labels",
    "network_files",
    "network_mixing",
    "network_queries",
}  # see test_quality.py


PROCESSES = {"startup", "cold", "serving", "soak", "cluster"}  # start processes, which takes long


@pytest.mark.parametrize("name", sorted(set(BENCHMARKS) - REAL - PROCESSES))
def test_quick_variant_runs(name, monkeypatch):
    if name == "partitions":  # workers as threads: processes of Dask take seconds to start
        dask = pytest.importorskip("distributed", reason="needs infinimix[dask]")
        here = partial(dask.LocalCluster, processes=False, protocol="tcp://")
        monkeypatch.setattr(dask, "LocalCluster", here)
    monkeypatch.setitem(EFFORTS, "default", Effort(n_particles=4, n_islands=2, sweeps=0))
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


def test_contestants_take_turns():
    calls = []
    times = take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert calls == ["a", "b"] * 3
    assert [len(t) for t in times.values()] == [3, 3]
    assert ratio(np.array([2.0, 4.0, 6.0]), np.array([1.0, 1.0, 1.0])).median == 4.0


def test_a_few_slow_stretches_are_no_slow_end_and_a_slow_end_is_one():
    def rates(seconds):
        return compare_ends([Stretch(1_000, t, 1) for t in seconds], 1.0)

    some = rates([1.0] * 34 + [1.5] * 4 + [1.0] * 2)
    assert some.late == some.early
    all_of_them = rates([1.0] * 30 + [1.2] * 10)
    assert all_of_them.late < 0.85 * all_of_them.early
