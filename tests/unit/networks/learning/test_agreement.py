"""`n_iter="auto"`: rounds until chains agree, or until time is over."""

from types import SimpleNamespace

import numpy as np
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.networks import sample_network
from infinimix.networks.learning import agreement
from infinimix.networks.learning.agreement import AGREED, run_until_agreed


class StubChain:
    """A chain whose edge has another share in each round."""

    def __init__(self, shares):
        self.problem = SimpleNamespace(n_iter=500, burn_in=250, budget=None)
        self.shares, self.rounds, self.tell = list(shares), [], None
        self.begin_record()

    def begin_record(self):
        self.record = SimpleNamespace(edges=np.zeros((2, 2)), counters=np.zeros(2, np.int64))

    def run(self):
        n = self.problem.n_iter
        self.rounds.append((n, self.problem.burn_in, self.problem.budget is not None))
        self.record.edges[0, 1] += n * self.shares.pop(0)
        self.record.counters[0] += n
        return self.record


@pytest.fixture
def model():
    return SimpleNamespace(n_iter="auto", n_chains=2, n_jobs=None)


def test_rounds_become_longer_until_chains_agree(model):
    chains = [StubChain((0.1, 0.2, 0.5, 9.0)), StubChain((0.9, 0.5, 0.58, 9.0))]
    start = agreement.time.monotonic()
    again, records = run_until_agreed(model, chains, False, start)
    assert again[0].rounds == [(500, 250, False), (1000, 0, False), (2000, 0, False)]
    assert [r.counters[0] for r in records] == [2000, 2000]  # each round is counted anew


def test_the_last_round_goes_by_the_clock(model, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(agreement, "time", SimpleNamespace(monotonic=lambda: now[0]))
    chains = [StubChain((0.1, 0.1)), StubChain((0.9, 0.9))]
    for chain in chains:
        chain.run = lambda run=chain.run: (now.append(now.pop() + 5.0), run())[1]
    again, records = run_until_agreed(model, chains, False, 0.0, 20.0)
    assert again[0].rounds == [(500, 250, False), (1000, 0, True)]  # twice 10 s are not left
    assert [r.counters[0] for r in records] == [1500, 1500]  # the round before counts too
    assert again[0].problem.budget is None


def test_no_round_begins_when_time_is_over(model):
    chains = [StubChain((0.1,)), StubChain((0.9,))]
    again, _ = run_until_agreed(model, chains, False, agreement.time.monotonic() - 601.0)
    assert len(again[0].rounds) == 1


def test_one_chain_alone_has_one_round(model):
    chains, _ = run_until_agreed(model, [StubChain((0.5,))], False, agreement.time.monotonic())
    assert len(chains[0].rounds) == 1


def test_a_fit_ends_when_chains_agree_and_can_be_repeated():
    X = sample_network((2, 2), random_state=1).sample(300, random_state=0)
    models = [BlockmodelBayesNet(n_iter="auto", n_chains=2, random_state=0).fit(X) for _ in "ab"]
    assert models[0].edge_gap_.max() <= AGREED
    assert np.array_equal(models[0].edge_marginals_, models[1].edge_marginals_)
    assert models[0].run().edge_gap_.max() < 0.2  # as many sweeps again


def test_other_words_than_auto_are_refused():
    with pytest.raises(ValueError, match="n_iter.*auto"):
        BlockmodelBayesNet(n_iter="many").fit([[0, 1], [1, 0]])
