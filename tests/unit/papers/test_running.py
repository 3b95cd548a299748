"""Experiments are run once, resumed, summarised and written as a page."""

import json

import pytest

from infinimix.papers import page, running
from infinimix.papers.data import DataMissing
from infinimix.papers.experiment import Comparison, Experiment, Outcome, Paper, gather


def make(calls, data=()):
    def tasks(size):
        return [{"n": n, "seed": seed} for seed in range(2) for n in (1, 5)]

    def run(task):
        calls.append(dict(task))
        return {"value": 10.0 * task["n"] + task["seed"]}

    def summarise(results):
        lines = [
            Comparison("five", 50.0, gather(results, "value", n=5)),
            Comparison("<one>", None, None, gather(results, "value", n=1)),
        ]
        return Outcome(lines, "It held.", "units", ["a note"], lambda figure: figure.subplots())

    experiment = Experiment("table 7", "A toy", tasks, run, summarise, data)
    return Paper("toy", "A toy paper", "Nobody, never", (experiment,)), experiment


def test_what_was_run_is_not_run_again(tmp_path):
    calls, steps = [], []
    paper, experiment = make(calls)
    first = running.reproduce(paper, experiment, tmp_path, advance=lambda: steps.append(1))
    again = running.reproduce(paper, experiment, tmp_path)
    assert len(calls) == len(steps) == 4
    assert again.results == first.results
    assert first.outcome.lines[0].published == (50.5, 0.5, 2)
    assert first.outcome.lines[0].difference == 0.5
    assert first.outcome.lines[1].difference is None


def test_fewer_repeats_are_a_part_of_all(tmp_path):
    calls = []
    paper, experiment = make(calls)
    some = running.reproduce(paper, experiment, tmp_path, repeats=1)
    assert [task["seed"] for task in calls] == [0, 0]
    assert some.provenance()["form"] == "quick with 1 repeat"
    whole = running.reproduce(paper, experiment, tmp_path, repeats=9)
    assert [task["seed"] for task in calls] == [0, 0, 1, 1]
    assert whole.provenance()["form"] == "quick"


def test_a_torn_line_and_lines_of_another_version_are_run_again(tmp_path):
    calls = []
    paper, experiment = make(calls)
    running.reproduce(paper, experiment, tmp_path)
    log = running.folder_of(tmp_path, paper, experiment) / running.RUNS
    lines = log.read_text().splitlines()
    other = json.dumps(json.loads(lines[0]) | {"infinimix": "0.0.0"})
    log.write_text("\n".join([other, *lines[1:3], lines[3][:20]]))
    calls.clear()
    done = running.reproduce(paper, experiment, tmp_path)
    assert calls == [{"n": 1, "seed": 0}, {"n": 5, "seed": 1}]
    assert [result["value"] for _, result in done.results] == [10.0, 50.0, 11.0, 51.0]
    calls.clear()
    running.reproduce(paper, experiment, tmp_path)
    assert calls == []


def test_data_that_are_missing_are_named_before_anything_is_run(tmp_path, monkeypatch):
    calls = []
    paper, experiment = make(calls, ("zoo",))
    monkeypatch.delenv("INFINIMIX_DATA", raising=False)
    with pytest.raises(DataMissing, match="needs zoo: let INFINIMIX_DATA name the folder"):
        running.reproduce(paper, experiment, tmp_path)
    monkeypatch.setenv("INFINIMIX_DATA", str(tmp_path))
    with pytest.raises(DataMissing, match="needs zoo, which INFINIMIX_DATA="):
        running.reproduce(paper, experiment, tmp_path)
    (tmp_path / "zoo").mkdir()
    assert len(running.reproduce(paper, experiment, tmp_path).results) == 4


def test_a_page_a_picture_and_the_figures_are_written(tmp_path):
    paper, experiment = make([])
    run = running.reproduce(paper, experiment, tmp_path)
    path = page.write(run)
    text = path.read_text(encoding="utf-8")
    for words in ("It held.", "50.5 ± 0.5", "+0.5", "&lt;one&gt;", "quick form", "a note"):
        assert words in text
    assert "<one>" not in text
    assert (path.parent / page.PICTURE).read_bytes().startswith(b"\x89PNG")
    figures = json.loads((path.parent / page.FIGURES).read_text())
    assert figures["lines"][0] == {
        "name": "five",
        "paper": 50.0,
        "published": {"mean": 50.5, "standard_error": 0.5, "n": 2},
        "default": None,
        "difference": 0.5,
    }
    assert figures["run"]["seeds"] == [0, 1]
