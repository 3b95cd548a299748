"""The benchmark of few labels, on a table that is made up."""

import numpy as np
import pandas as pd
import pytest

from bench import few_labels
from bench.realdata import Table


@pytest.fixture(autouse=True)
def made_up(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 15)
    frame = pd.DataFrame({"x": rng.normal(size=30) + 4 * (y == "b"), "u": rng.integers(0, 2, 30)})
    monkeypatch.setattr(few_labels, "load", lambda name, n_rows: Table(name, frame, y, None))


def test_what_was_measured_is_kept(tmp_path, monkeypatch):
    cache = tmp_path / "few.json"
    arguments = {"sizes": (6,), "methods": ("naive",), "cache": cache}
    results = few_labels.measure(["heart_statlog"], 2, **arguments)
    assert set(results["heart_statlog"]) == {"naive Bayes", "naive Bayes + EM"}
    monkeypatch.setitem(few_labels.METHODS, "naive", None)  # is not called again
    assert few_labels.measure(["heart_statlog"], 2, **arguments) == results
    assert len(results["heart_statlog"]["naive Bayes"]["6"]) == 2


def test_bars_are_shown_for_the_sizes_that_have_them():
    done = {"heart_statlog": {"EM, batch": {"5": [80.0, 90.0], "6": [50.0]}}}
    section = few_labels.summary(done)
    assert [line.meets for line in section.lines] == [True]
    assert section.grids[0].rows == [["EM, batch", "85.0 ± 5.0", "50.0 ± 0.0"]]


def test_the_choice_is_the_least_surprised(monkeypatch):
    def says(name, sure):
        def answer(X, y, queries, columns, seed):
            p = np.where(queries["x"].to_numpy() > 2, sure, 1 - sure)
            return {name: (np.array(["a", "b"]), np.array([1 - p, p]).T)}

        return answer

    both = {"finite": says("EM", 0.9), "naive": says("naive Bayes", 0.1)}
    monkeypatch.setattr(few_labels, "METHODS", both)
    monkeypatch.setattr(few_labels, "FIVE", ("naive Bayes", "EM"))
    assert few_labels.choose(few_labels.load("heart_statlog", None), 9, 0) == "EM"
    done = few_labels.measure(["heart_statlog"], 2, (9,), ("finite", "naive"), choices=1)
    assert done["heart_statlog"]["chosen"]["9"] == done["heart_statlog"]["EM"]["9"][:1]
