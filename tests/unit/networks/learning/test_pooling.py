"""What chains share after the burn-in: candidates and orders, and nothing else."""

import numpy as np

from infinimix import BlockmodelBayesNet
from infinimix.networks.learning.pooling import MOST_ORDERS, _some
from tests.unit.networks.learning.test_layered_chains import fitted, rows


def test_chains_share_orders_and_candidates():
    first, second = fitted(16, n_chains=2)._state.chains
    assert np.array_equal(first.layering.orders.rank, second.layering.orders.rank)
    assert len(first.layering.orders.rank) <= MOST_ORDERS
    for rank in first.layering.orders.rank:
        assert sorted(rank) == list(range(16))
    held = [[set(row) for row in c.layering.layers.cand] for c in (first, second)]
    assert held[0] == held[1]
    assert not np.array_equal(first.record.edges, second.record.edges)


def test_candidates_before_a_node_are_those_of_its_order():
    (chain,) = fitted(16)._state.chains
    orders, cand = chain.layering.orders, chain.layering.layers.cand
    for m in (0, len(orders.rank) - 1):
        for c in range(16):
            earlier = [
                k for k, v in enumerate(cand[c]) if v >= 0 and orders.rank[m, v] < orders.rank[m, c]
            ]
            assert orders.before[m, c] == sum(1 << k for k in earlier)


def test_a_burn_in_has_as_many_sweeps_as_were_asked_for():
    made = []

    class Counting(BlockmodelBayesNet):
        def _run(self, chains, start, seconds):
            for chain in chains:
                plain = chain.advance
                chain.advance = lambda n, count, plain=plain: (
                    made.append((n, count)),
                    plain(n, count),
                )
            return super()._run(chains, start, seconds)

    Counting(n_iter=30, burn_in=21, n_chains=1, random_state=0, prior="sparse").fit(rows(14))
    assert sum(n for n, count in made if not count) == 21
    assert sum(n for n, count in made if count) == 30


def test_chains_without_burn_in_or_by_the_clock_share_nothing():
    assert fitted(14, burn_in=0, n_iter=4)._state.chains[0].layering.orders is None
    model = BlockmodelBayesNet(n_chains=1, random_state=0, prior="sparse").fit_for(rows(14), 0.5)
    assert model._state.chains[0].layering.orders is None


def test_some_orders_are_spread_evenly():
    assert _some(list(range(9)), 3) == [0, 4, 8]
    assert _some([], 3) == []
