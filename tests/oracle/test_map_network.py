"""`map_network_` and `d_separated` against enumeration, and `compare` by hand."""

from itertools import combinations, product

import numpy as np
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet, sample_network
from infinimix.networks.answers.comparison import average_precision
from infinimix.networks.answers.separation import d_separated
from tests.oracle.networks import World, graphs, log_blocks, log_discrete, table

pytestmark = pytest.mark.filterwarnings("ignore:Chains disagree")
ONE = {"n_iter": 1, "burn_in": 0, "n_chains": 1, "n_temperatures": 1}  # a bad place to begin


def best_of_all(X, cards):
    """The highest log likelihood of any network, by dynamic programming over sets of variables."""
    N = X.shape[1]
    top = {frozenset(): 0.0}
    scores = {
        (c, s): log_discrete(X, cards, c, s, 0.5)
        for c in range(N)
        for k in range(N)
        for s in combinations([i for i in range(N) if i != c], k)
    }
    for k in range(1, N + 1):
        for group in map(frozenset, combinations(range(N), k)):
            top[group] = max(
                top[group - {c}]
                + max(v for (d, s), v in scores.items() if d == c and group >= {*s})
                for c in group
            )
    return top[frozenset(range(N))]


@pytest.mark.parametrize("N", [4, 6])
def test_the_search_finds_the_best_of_all_networks(N):
    cards = np.full(N, 2)
    for seed in range(3 if N == 4 else 1):
        X = table(seed, 40, cards)
        best = best_of_all(X, cards)
        if N == 4:
            assert best == pytest.approx(World(X, cards).log_likelihood.max())
        model = BlockmodelBayesNet(prior="uniform", random_state=seed, **ONE).fit(X)
        found = model.map_network_
        assert model.graph_score(found["adjacency"]) == pytest.approx(best)
        assert found["log_joint"] >= model.best_state_["log_joint"]


def test_classes_and_knowledge_have_their_say():
    cards = np.full(4, 2)
    some = ({}, {"prior": "sparse"}, {"required": [("x3", "x0")]})
    # From one start, or with the odds of one graph, some of these fail.
    for seed, options in product((0, 1, 2, 7, 10, 11, 23, 27), some):
        X = table(seed, 30, cards)
        model = BlockmodelBayesNet(random_state=seed, **ONE, **options).fit(X)
        found, start = model.map_network_, model.best_state_
        z = tuple(start["classes"].tolist())
        must = bool(options.get("required"))
        world = World(X, cards)
        scores = {
            A.tobytes(): value + log_blocks(A, z, 1.0, 1.0)
            for A, value in zip(world.graphs, world.log_likelihood, strict=True)
            if not must or A[3, 0]
        }
        own = scores[found["adjacency"].astype(int).tobytes()]
        assert own == pytest.approx(max(scores.values()))
        first = scores[start["adjacency"].astype(int).tobytes()]
        assert found["log_joint"] - start["log_joint"] == pytest.approx(own - first)


def test_an_order_of_classes_and_a_limit_on_parents_are_kept():
    X = sample_network((3, 3), random_state=1).sample(200, random_state=0)
    model = BlockmodelBayesNet(prior="ordered", n_iter=50, n_chains=2, random_state=0).fit(X)
    found = model.map_network_
    ranks = model._state.draws.ranks[model._state.best]
    assert all(ranks[i] < ranks[j] for i, j in np.argwhere(found["adjacency"]))
    assert found["log_joint"] >= model.best_state_["log_joint"]
    few = BlockmodelBayesNet(max_parents=1, n_iter=50, n_chains=2, random_state=0).fit(X)
    assert few.map_network_["adjacency"].sum(axis=0).max() <= 1


def blocked(A, i, j, given):
    """Follow every path without repetition, by the definition."""
    N, below = len(A), [{k} for k in range(len(A))]
    for _ in range(N):
        below = [own | {d for c in own for d in np.flatnonzero(A[c])} for own in below]

    def walk(path):
        k = path[-1]
        if k == j:
            yield path
            return
        for m in range(N):
            if m not in path and (A[k, m] or A[m, k]):
                yield from walk([*path, m])

    def is_open(path):
        for a, b, c in zip(path, path[1:], path[2:], strict=False):
            collider = A[a, b] and A[c, b]
            if collider and not below[b] & set(given):
                return False
            if not collider and b in given:
                return False
        return True

    return not any(is_open(path) for path in walk([i]))


def test_separation_is_that_of_all_paths():
    every = list(graphs(4))
    rng = np.random.default_rng(0)
    for A in [every[k] for k in rng.choice(len(every), 60, replace=False)]:
        for i, j in combinations(range(4), 2):
            rest = [k for k in range(4) if k not in (i, j)]
            for take in product((False, True), repeat=2):
                given = [k for k, taken in zip(rest, take, strict=True) if taken]
                assert d_separated(A, i, j, given) == blocked(A, i, j, given)


def test_the_probability_of_separation_is_averaged_over_networks():
    net = sample_network((2, 2), random_state=1)
    model = BlockmodelBayesNet(n_iter=60, n_chains=2, random_state=0).fit(net.sample(90, 0))
    p = model.d_separated("x0", "x3", ["x1"])
    assert p == pytest.approx(
        sum(s["weight"] for s in model.states_ if blocked(s["adjacency"], 0, 3, [1]))
    )
    assert net.d_separated("x0", "x1")
    assert not net.d_separated("x0", "x1", ["x2"])
    with pytest.raises(ValueError, match="two different columns"):
        model.d_separated("x0", "x1", ["x0"])


def test_distances_count_edges_by_hand():
    assert average_precision(np.array([0, 1, 1, 0]), np.array([0.9, 0.5, 0.5, 0.1])) == 2 / 3
    X = sample_network((2, 2), random_state=1).sample(90, 0)
    only = [("x0", "x1"), ("x1", "x2"), ("x2", "x3")]
    rest = [
        (f"x{i}", f"x{j}") for i in range(4) for j in range(4) if (f"x{i}", f"x{j}") not in only
    ]
    rest = [e for e in rest if e[0] != e[1]]
    quick = {"n_iter": 20, "n_chains": 1, "random_state": 0}
    model = BlockmodelBayesNet(required=only, forbidden=rest, **quick).fit(X)
    found = model.compare([("x1", "x0"), ("x1", "x2"), ("x0", "x3")])
    assert found["shd"] == 3
    assert (found["reversed"], found["extra"], found["missing"]) == (
        [("x0", "x1")], [("x2", "x3")], [("x0", "x3")],
    )  # fmt: skip
    same = model.compare(model)
    assert (same["shd"], same["aupr"], same["largest_difference"]) == (0, 1.0, 0.0)
    free = BlockmodelBayesNet(**quick).fit(X)
    assert (
        free.compare(model)["largest_difference"]
        == np.abs(free.edge_marginals_ - model.edge_marginals_).max()
    )
    markov = BlockmodelMarkovNet(required=[("x0", "x1")], max_parents=1, **quick).fit(X)
    assert ("x0", "x1") not in markov.compare([("x1", "x0")])["missing"]
    with pytest.raises(ValueError, match="same class"):
        markov.compare(model)
    dynamic = BlockmodelDynamicNet(required=[("x0", "x0")], **quick).fit(X)
    assert ("x0", "x0") in dynamic.compare([])["extra"]
