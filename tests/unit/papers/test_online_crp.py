"""The Online CRP paper: every experiment on tiny corpora, and what its summaries say."""

import numpy as np
import pytest
import scipy.sparse as sp

from infinimix.papers.catalogue import load
from infinimix.papers.online_crp import comparison, corpora, studies
from infinimix.papers.online_crp.corpora import GLOSSES, NEWS, REUTERS, TITLES
from infinimix.papers.running import reproduce

PAPER = load("online-crp")
ITEMS = [e.item for e in PAPER.experiments]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A folder of four corpora of 130 documents, with three classes and posting times."""
    root, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for name in (NEWS, REUTERS, GLOSSES, TITLES):
        theta = rng.dirichlet(np.full(60, 0.1), 3)
        y = rng.integers(0, 3, 130)
        X = np.array([rng.multinomial(rng.integers(2, 12), theta[k]) for k in y])
        (root / name).mkdir()
        sp.save_npz(root / name / "X.npz", sp.csr_matrix(X))
        y[:4] = -1 if name == REUTERS else y[:4]
        np.savez(root / name / "meta.npz", y=y, time=rng.permutation(130))
    return root


@pytest.fixture
def data(texts, monkeypatch):
    monkeypatch.setenv("INFINIMIX_DATA", str(texts))
    corpora.read.cache_clear()
    yield
    corpora.read.cache_clear()


@pytest.mark.parametrize("item", ITEMS)
def test_every_experiment_runs(item, data, tmp_path):
    experiment = PAPER.find(item)
    done = reproduce(PAPER, experiment, tmp_path, "tiny")
    assert len(done.results) == len(experiment.tasks("tiny"))
    for _, result in done.results:
        assert 0.0 <= result["error"] < 0.9  # of three classes
        assert 0.0 <= result["F1"] <= 1.0
    assert done.outcome.verdict.startswith("The claim that")
    assert all(line.published is not None for line in done.outcome.lines)


def test_all_items_of_the_paper_are_there():
    assert ITEMS[:7] == [f"table {k}" for k in range(1, 8)]
    assert ITEMS[7:] == ["figure 2", "section 4", "section 4.4"]
    assert [a.item for a in PAPER.absent] == ["figure 1"]
    for experiment in PAPER.experiments:
        assert len(experiment.tasks("full")) >= len(experiment.tasks("quick"))
        standing_in = not set(experiment.data) <= {NEWS}
        assert bool(experiment.stands_in) == standing_in


def test_corpora_leave_out_stop_words_and_unlabelled_documents(data):
    assert len(corpora.read(REUTERS).y) == 126
    news = corpora.read(NEWS)
    with_word = np.asarray((news.X > 0).sum(axis=0)).ravel()
    assert with_word.min() >= 3
    assert with_word.max() < 13
    assert corpora.read(GLOSSES).X.shape[1] == 60


def test_folds_cover_the_documents_once(data):
    parts = [corpora.fold_of(GLOSSES, 100, fold) for fold in range(5)]
    assert [len(test.y) for _, test in parts] == [20] * 5
    assert [len(train.y) for train, _ in parts] == [80] * 5
    rows = np.concatenate([test.X.toarray() for _, test in parts])
    chosen = corpora.shuffled(GLOSSES, 100, 0).X.toarray()
    assert sorted(map(tuple, rows)) == sorted(map(tuple, chosen))


def test_documents_sorted_by_time(data):
    time = corpora.by_time(NEWS, 100).time
    assert len(time) == 100
    assert (np.diff(time) > 0).all()


def test_clustering_f1_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    a, y = rng.integers(0, 3, 30), rng.integers(0, 4, 30)
    pairs = [(a[i] == a[j], y[i] == y[j]) for i in range(30) for j in range(i)]
    both = sum(p and q for p, q in pairs)
    precision, recall = both / sum(p for p, _ in pairs), both / sum(q for _, q in pairs)
    found = corpora.measure(a, y, 1.5)
    assert found["F1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found["error"] == pytest.approx(np.mean(a != y))
    assert found["seconds"] == 1.5


def result(error, f1=0.5):
    return {"error": error, "F1": f1, "seconds": 1.0}


def test_a_table_counts_whom_the_online_crp_beats():
    printed = {"Online CRP": (0.2, 0.7, 3.0), "A": (0.3, 0.6, 1.0), "B": (0.1, None, 9.0)}
    found = {"published": 0.25, "default": 0.05, "A": 0.3, "B": 0.15}
    results = [({"data": "d", "who": who, "seed": 0}, result(x)) for who, x in found.items()]
    outcome = comparison.new_summary(printed, "A claim:", ("a note",))(results)
    names = [line.name for line in outcome.lines]
    assert names[:3] == ["Online CRP, error", "Online CRP, F1", "Online CRP, seconds"]
    assert outcome.lines[0].difference == pytest.approx(0.05)
    assert outcome.lines[0].default.mean == 0.05
    assert outcome.lines[3].published.mean == 0.3
    assert outcome.lines[7].paper is None
    assert outcome.verdict == (
        "A claim: In the paper the Online CRP has a lower error than 1 of 2 peers; on d it has a "
        "lower error than 1 as published (0.250), and than 2 by default (0.050). The best peer is "
        "B (0.150)."
    )
    assert outcome.notes == ["a note"]


def test_the_figure_says_how_often_the_error_falls():
    errors = {100: (0.5, 0.4), 200: (0.4, 0.3), 400: (0.45, 0.2)}
    results = [
        ({"documents": n, "who": form, "seed": 0}, result(x))
        for n, pair in errors.items()
        for form, x in zip(("published", "default"), pair, strict=True)
    ]
    outcome = studies.summarise_figure(results)
    assert "falls in 1 of 2 steps, from 0.500 at 100 to 0.450 at 400" in outcome.verdict
    assert "by default in 2, from 0.400 to 0.200" in outcome.verdict


def test_the_study_of_parameters_names_the_best_weight():
    results = [
        ({"parameter": name, "at": v, "seed": 0}, result(0.2, 0.6 - v / 1e4))
        for name, values in studies.STUDY.items()
        for v in values
    ]
    outcome = studies.summarise_study(results)
    assert "the best here is b = 0.01" in outcome.verdict
    assert "changes F1 by -0.0999" in outcome.verdict
    assert studies.set_parameter("regret", 0.3) == {"regret": (0.3, 0.3, np.inf)}
    assert studies.set_parameter("b", 10.0) == {"positive": 10.0, "negative": 10.0}


def test_documents_by_time_are_compared_with_shuffled_ones():
    error = {("sorted by time", "batch"): 0.3, ("sorted by time", "online"): 0.25}
    results = [
        (
            {"order": order, "setting": setting, "who": form, "seed": 0},
            result(error.get((order, setting), 0.2)),
        )
        for order in studies.ORDERS
        for setting in ("batch", "online")
        for form in ("published", "default")
    ]
    outcome = studies.summarise_order(results)
    assert "in batch the error of sorted ones is higher by +0.100" in outcome.verdict
    assert "online by +0.050" in outcome.verdict
