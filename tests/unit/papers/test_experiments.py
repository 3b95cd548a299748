"""Every experiment runs in its tiny form; those with real data on made-up tables of that shape."""

import json
import os
import re
from pathlib import Path

import pytest

from infinimix.estimators.common.effort import EFFORTS, Effort
from infinimix.papers import batch_mixtures, document, page, running
from infinimix.papers.aclass import shared
from infinimix.papers.catalogue import PAPERS, load
from tests.endtoend.command_files import refuse, run
from tests.unit.papers.tables_on_disk import write_tables

SYNTHETIC = [
    (name, experiment.item)
    for name in ("aclass", "blockmodel")
    for experiment in load(name).experiments
    if not experiment.data
]


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """Two islands in place of sixteen: a tiny form shows that an experiment runs."""
    monkeypatch.setitem(EFFORTS, "default", Effort(n_particles=4, n_islands=2, sweeps=0))


def reproduced(name, item, folder):
    paper = load(name)
    done = running.reproduce(paper, paper.find(item), folder, "tiny")
    page.write(done)
    return done


@pytest.mark.parametrize(("name", "item"), SYNTHETIC)
def test_a_synthetic_experiment_runs(name, item, tmp_path):
    done = reproduced(name, item, tmp_path)
    assert done.outcome.lines
    assert "nan" not in done.outcome.verdict
    assert (done.folder / page.PICTURE).exists()


@pytest.mark.parametrize("item", ["table 1", "figure 1"])
def test_batches_run_on_tables_of_their_shape(item, tmp_path, monkeypatch):
    monkeypatch.setenv("INFINIMIX_DATA", str(tmp_path))
    write_tables(tmp_path, batch_mixtures.TABLE_1)
    done = reproduced("batch-mixtures", item, tmp_path)
    assert all(50 <= line.published.mean <= 100 for line in done.outcome.lines)


@pytest.mark.parametrize("name", PAPERS)
def test_items_of_a_paper_are_named_once_and_full_forms_are_larger(name):
    paper = load(name)
    items = [thing.item for thing in (*paper.experiments, *paper.absent)]
    assert len(items) == len(set(items))
    for experiment in paper.experiments:
        tiny, quick, full = (len(experiment.tasks(s)) for s in ("tiny", "quick", "full"))
        assert 0 < tiny <= quick <= full


def test_the_command_lists_what_there_is():
    listed = json.loads(run("reproduce", "--json").stdout)
    assert {"paper": "aclass", "item": "figure 4"}.items() <= listed[0].items()
    assert {row["paper"] for row in listed} == set(PAPERS)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["aclas"], "there is no paper 'aclas'; did you mean 'aclass'?"),
        (["aclass", "--figure", "1"], "aclass has no figure 1 to rerun: a diagram; there are "),
        (["aclass", "--figure", "1", "--table", "2"], "name one item"),
        (["aclass", "--section", "1", "--table", "2"], "name one item"),
        (["--table", "1"], "--figure, --table and --section need a paper"),
        (["--section", "4"], "--figure, --table and --section need a paper"),
        (["online-crp", "--section", "9"], "has no section 9 to rerun"),
    ],
)
def test_the_command_says_what_it_cannot_rerun(words, why):
    assert why in refuse("reproduce", *words)


def test_the_command_says_which_data_are_missing(monkeypatch):
    monkeypatch.delenv("INFINIMIX_DATA", raising=False)
    assert "it needs mnist: let INFINIMIX_DATA" in refuse("reproduce", "aclass", "--figure", "8")


def test_results_become_a_page_of_the_docs(tmp_path):
    reproduced("aclass", "figure 4", tmp_path / "runs")
    target = tmp_path / "papers.md"
    target.write_text("# Title\n\nWords that stay.\n\n## All items\n\nold\n")
    document.write(tmp_path / "runs", target)
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\nWords that stay.\n\n## All items\n")
    assert "old" not in text.splitlines()
    assert "| aclass | figure 4 | Groups found by the filter | rerun, tiny form" in text
    assert (
        "| aclass | figure 8 | Error on MNIST, odd against even | can be rerun; no result" in text
    )
    assert "| 50 rows, 4 modes |" in text
    assert "\n\n\n" not in text
    assert (tmp_path / "images/papers/aclass-figure-4.png").exists()


def test_a_page_keeps_what_was_not_run_again(tmp_path):
    reproduced("aclass", "figure 4", tmp_path / "runs")
    target = tmp_path / "papers.md"
    target.write_text("# Title\n")
    document.write(tmp_path / "runs", target)
    before = target.read_text(encoding="utf-8")
    document.write(tmp_path / "none", target)
    assert target.read_text(encoding="utf-8") == before
    document.write(tmp_path / "none", target, tmp_path / "runs")  # only its time is shown
    row = next(r for r in target.read_text(encoding="utf-8").splitlines() if "| figure 4 |" in r)
    assert re.search(r"\| rerun, tiny form, \d+ CPU s \| \d+ \|$", row)


def test_quick_forms_took_two_minutes_at_most():
    """As the page of results says, which has the time of every one of them."""
    page_of_results = Path(__file__).parents[3] / "docs" / "papers.md"
    rows = re.findall(
        r"(?m)^\| [\w-]+ \| .* \| rerun, .* \| (\S+) \|$", page_of_results.read_text()
    )
    assert len(rows) == sum(len(load(name).experiments) for name in PAPERS)
    assert all(float(seconds) <= 120 for seconds in rows)


@pytest.mark.skipif("INFINIMIX_SEEDS" not in os.environ, reason="takes minutes")
@pytest.mark.parametrize(("name", "item"), SYNTHETIC)
def test_a_quick_form_takes_two_minutes_at_most(name, item, tmp_path, monkeypatch):
    monkeypatch.undo()  # with all islands
    paper = load(name)
    assert running.reproduce(paper, paper.find(item), tmp_path).seconds <= 120


def test_the_shared_part_runs_on_worlds_and_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("INFINIMIX_DATA", str(tmp_path))
    write_tables(tmp_path, shared.TABLES)
    done = reproduced("aclass", "section 4", tmp_path)
    assert len(done.outcome.lines) == 3 * len(shared.FORMS)
    assert "nan" not in done.outcome.verdict
    (few,) = shared.of_table("glass", 30, 0)
    assert len(few[0]) == len(few[1]) == 30
    assert [len(rows[2]) for rows in shared.of_table("glass", 0, 0)] == [20, 20, 20]
