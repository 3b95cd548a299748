"""`n_iter="auto"`: rounds until chains agree, or until time is over."""

from types import SimpleNamespace

import numpy as np
import pytest

from infinimix.networks import (
    BlockmodelBayesNet,
    BlockmodelDynamicNet,
    BlockmodelMarkovNet,
    NetworkFranchise,
    sample_network,
)
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.learning import agreement
from infinimix.networks.learning.agreement import AGREED, run_until_agreed
from infinimix.networks.learning.summary import advise, warn_if_apart
from infinimix.scikit import ConvergenceWarning

EVERY = (BlockmodelBayesNet, BlockmodelMarkovNet, BlockmodelDynamicNet, NetworkFranchise)


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


def test_records_of_several_networks_are_compared_one_by_one(model):
    chains = [StubChain((0.5, 0.5)), StubChain((0.5, 0.5))]
    for chain, other in zip(chains, ((0.1, 0.5), (0.9, 0.5)), strict=True):
        chain.other, run = StubChain(other), chain.run

        def both(chain=chain, run=run):
            return SimpleNamespace(records=[run(), chain.other.run()])

        def clear(chain=chain, clear=chain.begin_record):
            clear()
            chain.other.begin_record()

        chain.run, chain.begin_record = both, clear
    again, _ = run_until_agreed(model, chains, False, agreement.time.monotonic())
    assert len(again[0].rounds) == 2  # the first networks agreed at once


def rows_of(cls, n=400):
    """A chain of columns, each a noisy copy of the one before, as `cls.fit` takes it."""
    rng = np.random.default_rng(2)
    X = rng.integers(2, size=(n, 5))
    for j in range(1, 5):
        X[:, j] ^= np.where(rng.random(n) < 0.8, X[:, j] ^ X[:, j - 1], 0)
    return {"a": X[: n // 2], "b": X[n // 2 :, :4]} if cls is NetworkFranchise else X


def largest_gap(model):
    gaps = model.edge_gap_
    return max(g.max() for g in (gaps.values() if isinstance(gaps, dict) else [gaps]))


@pytest.mark.parametrize("cls", EVERY)
@pytest.mark.parametrize("holes", [False, True])
def test_every_kind_of_network_runs_until_chains_agree(cls, holes, monkeypatch):
    # Less than .1 for several rounds; where cells are drawn too, sweeps take longer.
    agreed = AGREED if holes else 0.08 if cls is NetworkFranchise else 0.04
    monkeypatch.setattr(agreement, "AGREED", agreed)
    X = rows_of(cls, 100)
    if holes:
        X = {k: with_holes(x) for k, x in X.items()} if isinstance(X, dict) else with_holes(X)
    model = cls(n_iter="auto", n_chains=2, random_state=0).fit(X)
    assert largest_gap(model) <= agreed
    done = sweeps_of(model)
    assert done[0] == done[1]
    assert done[0] in [500 << k for k in range(6)]
    assert model.co_class_marginals_.max() == 1.0  # roles were counted as long as edges
    if not holes:
        again = cls(n_iter="auto", n_chains=2, random_state=0).fit(X)
        assert np.array_equal(model.co_class_marginals_, again.co_class_marginals_)
    model.run()  # as many sweeps again
    assert sweeps_of(model) == [2 * done[0]] * 2


def with_holes(x):
    return np.where(np.arange(x.size).reshape(x.shape) % 7 == 0, np.nan, x)


def sweeps_of(model):
    """The sweeps that count, of each chain."""
    records = [getattr(chain, "records", None) or [chain.record] for chain in model._state.chains]
    return [int(own[0].counters[SWEEPS]) for own in records]


@pytest.mark.parametrize("cls", EVERY)
def test_auto_ends_in_the_time_that_it_is_given(cls, monkeypatch):
    monkeypatch.setattr(agreement, "AGREED", -1.0)  # never
    start = agreement.time.monotonic()
    model = cls(n_iter="auto", n_chains=2, random_state=0)
    model.fit_for(rows_of(cls), 0.8)
    assert 0.4 < agreement.time.monotonic() - start < 4.8
    assert model.run(n_iter=20) is model


@pytest.mark.parametrize("cls", EVERY)
def test_one_chain_has_nothing_to_agree_with(cls):
    model = cls(n_iter="auto", n_chains=1)
    with pytest.raises(ValueError, match=r"n_chains=1 .* n_chains be 2 or more"):
        model.fit(rows_of(cls))
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("cls", EVERY)
def test_other_words_than_auto_are_refused(cls):
    with pytest.raises(ValueError, match="n_iter.*auto"):
        cls(n_iter="many").fit(rows_of(cls))


def test_a_warning_says_what_goes_on_until_chains_agree():
    assert 'n_iter="auto"' in advise(2000)
    assert "auto" not in advise("auto")
    gaps = np.array([[0.0, 0.5], [0.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match='a -> b differs by 0.50. Set n_iter="auto"'):
        warn_if_apart(gaps, ("a", "b"), "->", advise(2000), 2)
