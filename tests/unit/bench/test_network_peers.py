"""What benchmarks of networks do to their peers: sums that sumu gets wrong, and limits of time."""

import importlib.util

import numpy as np
import pytest
from scipy.special import logsumexp

from bench import kept, network_mixing
from bench.limited import last_answer
from bench.network_sumu import Sums
from bench.report import Section


def test_sums_over_sets_of_parents_are_right_where_differences_cancel():
    """Scores that are hundreds of nats apart; the difference of two sums is nothing then."""
    K, scores = 4, 150.0 * np.random.default_rng(0).standard_normal((3, 16))
    sums, sets = Sums(scores, None, K), np.arange(1 << K)
    for v in range(3):
        assert sums.sum(v, 0, 0) == scores[v, 0]
        for U in range(1 << K):
            for T in sets[(sets & ~U == 0) & (sets > 0)].tolist():
                inside = (sets & ~U == 0) & (sets & T != 0)
                assert np.isclose(sums.sum(v, U, T), logsumexp(scores[v, inside]), atol=1e-5)


@pytest.mark.skipif(importlib.util.find_spec("sumu") is None, reason="sumu is not installed")
def test_sumu_moves_on_a_table_with_strong_effects():
    from bench.network_sumu import sumu

    x = np.random.default_rng(0).integers(3, size=(500, 1))
    P = sumu(np.hstack([x, x, x, x, x]), 0, steps=200, most=3)
    assert (P + P.T > 0).any()


ENDLESS = "tests.unit.bench.endless"
LIMIT = 0.5  # CPU seconds; the process ends at the next whole one


def test_what_was_answered_before_the_limit_counts():
    answer = last_answer(ENDLESS, "answers_until_stopped", LIMIT, 3)
    assert answer.value == 2
    assert answer.seconds <= LIMIT
    assert answer.memory > 0


def test_who_has_no_answer_by_the_limit_has_none():
    assert last_answer(ENDLESS, "never_answers", LIMIT) is None


OURS = {"aupr": 0.7, "seconds": 40.0, "memory": 0.4, "share": 0.995, "gap": 0.2}


def test_bars_are_told_and_a_peer_without_network_is_listed():
    section, found = Section("title"), {
        "infinimix": OURS, "sumu, BDeu 1": {"aupr": 0.6, "networks": None, "seconds": 40.0},
        "sumu, BDeu 10": {"aupr": 0.8, "networks": None, "seconds": 40.0},
        "causal-learn": {"limit": 80.0},
    }  # fmt: skip
    rows = network_mixing.compare(section, "insurance, draw 0", 120, found)
    assert [line.meets for line in section.lines] == [True, False]
    assert section.lines[1].peer == "0.800"
    assert rows[0][1:] == ["infinimix", "0.700", "", "40", "0.20"]
    assert rows[-1][1:] == ["causal-learn", "none", "0", "> 80", ""]


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path / "kept.json"))
    monkeypatch.setattr(network_mixing, "read", lambda name: type("net", (), {"adjacency": None}))
    monkeypatch.setattr(network_mixing, "_peers", lambda seed: ["pgmpy"])
    known = {"network_mixing/alarm/0/9": {"infinimix": OURS, "pgmpy": {"limit": 80.0}}}
    found = network_mixing.measure("alarm", 0, 9, known)
    assert found == {"infinimix": OURS, "pgmpy": {"limit": 80.0}}
