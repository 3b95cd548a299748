"""What a model says while it works: on standard error only, and only when it should."""

import os
import subprocess
import sys

import numpy as np
import pytest

from infinimix import AClassClassifier, CRPMixture

X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
SCRIPT = """
import numpy as np
from infinimix.tables import encode, read_schema
X = np.array([[0, 1], [1, 1]])
print(encode(read_schema(X), X, learn=True).n_rows)  # the first kernel of any first call
"""


def run(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "INFINIMIX_AHEAD": "none"}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )


def test_a_cold_first_call_says_that_it_compiles_and_a_warm_one_is_silent(tmp_path):
    cold, warm = run(tmp_path), run(tmp_path)
    assert cold.stderr.count("compiling kernels") == 1
    assert warm.stderr == ""
    assert cold.stdout == warm.stdout == "2\n"


def learn(verbose):
    model = AClassClassifier("binary", n_particles=2, n_islands=2, verbose=verbose)
    model.fit(X, [0, 1] * 20)
    model.partial_fit(X, [0, 1] * 20)
    model.predict(X)
    CRPMixture("binary", n_particles=2, n_islands=3, verbose=verbose).partial_fit(X)


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Compile first, so that the only words are those of progress."""
    learn(verbose=False)


def test_progress_goes_to_standard_error_one_line_a_call(capfd):
    learn(verbose=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert [line.partition(" filtered in")[0] for line in err.splitlines()] == [
        "infinimix: 2 islands",
        "infinimix: 2 islands",
        "infinimix: 3 islands",
    ]


def test_a_terminal_has_a_bar(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    learn(verbose=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("100%") >= 3
    assert "filtered" not in err


def test_without_verbose_nothing_is_said(capfd):
    learn(verbose=False)
    assert capfd.readouterr() == ("", "")


def test_progress_changes_nothing():
    models = [
        CRPMixture(
            "binary", n_particles=2, n_islands=3, random_state=0, verbose=verbose, n_jobs=2
        ).fit(X)
        for verbose in (False, True)
    ]
    assert (models[0].score_samples(X) == models[1].score_samples(X)).all()


def test_learning_relevant_columns_again_shows_its_progress_too(capfd):
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    rows = np.column_stack([rng.random(80) < 0.1 + 0.8 * y, *(rng.random((4, 80)) < 0.5)])
    model = AClassClassifier("binary", n_islands=2, relevance="learn", verbose=True, random_state=0)
    model.fit(rows.astype(float), y)
    assert (model.feature_relevance_ < 0.5).any()  # so that there is something to learn again
    assert capfd.readouterr().err.count("2 islands filtered in") == 2
