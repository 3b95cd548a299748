"""The guard compares as it says; its measures run. No timing decides anything here."""

import io
import json

import pytest
from rich.console import Console

from bench import guard, guard_measures
from bench.__main__ import main
from bench.guard import compare, show


def passes(recorded, now, cost=False):
    (verdict,) = compare({"a": recorded}, {"a": now}, ["a"] if cost else [])
    return verdict.passes


@pytest.mark.parametrize(("now", "passed"), [(0.79, False), (0.8, True), (0.85, True), (3, True)])
def test_a_speed_may_lose_a_fifth(now, passed):
    assert passes(1.0, now) is passed
    assert passes(50.0, 50.0 * now) is passed


@pytest.mark.parametrize(("now", "passed"), [(126, False), (125, True), (100, True), (0, True)])
def test_a_cost_may_gain_a_quarter(now, passed):
    assert passes(100.0, now, cost=True) is passed


def test_a_cost_that_was_nothing_must_stay_so():
    assert passes(0.0, 0.0, cost=True)
    assert not passes(0.0, 1.0, cost=True)


def test_what_is_missing_on_either_side_fails_and_is_named():
    verdicts = compare({"gone": 1.0, "there": 1.0}, {"there": 1.0, "new": 2.0})
    words = {verdict.name: (verdict.word, verdict.passes) for verdict in verdicts}
    assert words == {
        "there": ("yes", True),
        "new": ("not recorded", False),
        "gone": ("not measured", False),
    }


def test_the_table_has_recorded_now_and_share():
    console = Console(file=io.StringIO(), width=100)
    show(compare({"a": 2.0, "b": 10.0}, {"a": 1.0, "b": 20.0}, ["b"]), console)
    lines = console.file.getvalue().splitlines()
    (speed,) = [line for line in lines if "│ a " in line]
    assert [cell.strip() for cell in speed.split("│")[2:6]] == ["2", "1", "50%", "SLOWER"]
    (cost,) = [line for line in lines if "│ b (less is better)" in line]
    assert [cell.strip() for cell in cost.split("│")[2:6]] == ["10", "20", "50%", "MORE"]


@pytest.fixture
def measured(monkeypatch):
    """One speed and one cost that the test sets, in place of the real ones."""
    now = {"speed": 1.0, "cost": 1.0}

    def speed(quick):
        return now["speed"]

    def cost(quick):
        return now["cost"]

    monkeypatch.setattr(guard_measures, "SPEEDS", (speed,))
    monkeypatch.setattr(guard_measures, "COSTS", (cost,))
    monkeypatch.setattr(guard.sources, "commit", lambda: "abcdef0")
    return now


def test_the_command_fails_only_below_what_was_recorded(measured, tmp_path, capsys):
    file = tmp_path / "recorded.json"
    assert main(["guard", "--record", "--recorded", str(file)]) == 0
    recorded = json.loads(file.read_text())[guard.processor()]
    assert recorded["commit"] == "abcdef0"
    assert recorded["measures"] == {"speed": 1.0, "cost": 1.0}
    measured["speed"] = 0.85
    assert main(["guard", "--recorded", str(file)]) == 0
    measured["speed"] = 0.75
    assert main(["guard", "--recorded", str(file)]) == 1
    assert "the least share is 75%, of speed" in capsys.readouterr().out
    assert main(["guard", "--quick", "--recorded", str(file)]) == 0


def test_each_processor_has_its_record_and_a_new_one_the_least_of_all(
    measured, tmp_path, monkeypatch, capsys
):
    file = tmp_path / "recorded.json"
    for name, speed, cost in [("an old one", 4.0, 3.0), ("one with wide vectors", 1.0, 2.0)]:
        monkeypatch.setattr(guard, "processor", lambda name=name: name)
        measured["speed"], measured["cost"] = speed, cost
        assert main(["guard", "--record", "--recorded", str(file)]) == 0
    assert main(["guard", "--recorded", str(file)]) == 0
    measured["cost"] = 3.0
    assert main(["guard", "--recorded", str(file)]) == 1
    assert "on one with wide vectors; " in capsys.readouterr().out
    monkeypatch.setattr(guard, "processor", lambda: "a new one")
    assert main(["guard", "--recorded", str(file)]) == 0
    assert "on 2 other processors, the least of each" in capsys.readouterr().out
    measured["speed"] = 0.75
    assert main(["guard", "--recorded", str(file)]) == 1
    measured["speed"], measured["cost"] = 1.0, 4.0
    assert main(["guard", "--recorded", str(file)]) == 1


def test_the_last_line_is_one_line_however_long_a_name_is(measured, tmp_path, monkeypatch, capsys):
    file = tmp_path / "recorded.json"
    monkeypatch.setattr(guard, "processor", lambda: "a name of many words " * 9)
    assert main(["guard", "--record", "--recorded", str(file)]) == 0
    assert main(["guard", "--recorded", str(file)]) == 0
    assert "passes" in next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("Recorded at")
    )


def test_all_that_is_measured_is_recorded():
    records = json.loads(guard.RECORDED.read_text(encoding="utf-8"))
    measures = {function.__name__ for function in (*guard_measures.SPEEDS, *guard_measures.COSTS)}
    for record in records.values():
        assert set(record["measures"]) == measures


def test_the_measures_run(capsys):
    assert main(["guard", "--quick"]) == 0
    told = capsys.readouterr().out
    for function in (*guard_measures.SPEEDS, *guard_measures.COSTS):
        assert f"{function.__name__}: " in told


def test_kernels_of_a_mix_are_those_that_its_kinds_did_not_need(monkeypatch):
    answers = iter(['{"kernels": [12, 60, 80, 99, 120], "compiled": 7}',
                    '{"kernels": [12, 16, 20, 25, 30], "compiled": 0}'])  # fmt: skip
    monkeypatch.setattr(guard_measures, "_python", lambda *arguments: next(answers))
    guard_measures._kernels.cache_clear()
    assert guard_measures.kernels() == 30
    assert guard_measures.kernels_of_a_mix() == 5
    guard_measures._kernels.cache_clear()


def test_the_yardstick_learns():
    model = guard_measures.PlainNaiveBayes()
    for x, y in [({"a": 1.0}, 0), ({"b": 1.0}, 1), ({"a": 2.0}, 0)]:
        model.learn_one(x, y)
    assert [model.predict_one({word: 3.0}) for word in "ab"] == [0, 1]
