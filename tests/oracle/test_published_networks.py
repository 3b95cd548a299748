"""The thesis's own form of `BlockmodelBayesNet` against an enumeration of all of its states.

Its average is over the best states that single-site moves from ten starts visited, 100 by default.
On three and four variables chains visit the few best of all states for certain (not all 100, some
of which hardly ever occur), so an average over these can be computed exactly.
"""

import os

import numpy as np
import pytest

from infinimix import BlockmodelBayesNet
from tests.oracle.networks import World, table

PRIORS = ("uniform", "sparse", "blockmodel", "ordered")
CARDS = np.array([2, 3, 2, 2])
# Of 40 runs of 500 sweeps over three variables, ten seeds of each prior, all had met the best
# states; over four variables one of 40 had not, so these have all sweeps of the thesis's form.
SWEEPS = {3: 2000 if "INFINIMIX_SEEDS" in os.environ else 500, 4: 2000}


def best_states(X, cards, prior, n_best):
    """The best states by the equations of the thesis, and their shares of the sum of all of them.

    One constant serves all partitions (`per_partition=False`), alpha = .5, beta = (1, 1) and half
    a count in each cell of a table.
    """
    states, w = World(X, cards).posterior(prior, per_partition=False)
    best = np.argsort(-w, kind="stable")[:n_best]
    return [states[k] for k in best], w[best] / w[best].sum(), w


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("N", "n_best"), [(3, 10), (4, 20)])
def test_the_average_is_that_of_the_best_states_of_all(prior, N, n_best):
    X, cards = table(N, 30, CARDS[:N]), CARDS[:N]
    states, w, every = best_states(X, cards, prior, n_best)
    ordered = -np.sort(-every)
    assert len(every) <= n_best or ordered[n_best - 1] > 1.001 * ordered[n_best]  # no tie
    model = BlockmodelBayesNet.as_published(
        prior=prior, columns="categorical", n_best=n_best, n_iter=SWEEPS[N], random_state=0
    ).fit(X)
    edges = sum(p * A for p, (A, _, _) in zip(w, states, strict=True))
    together = sum(p * (np.array(z)[:, None] == z) for p, (_, z, _) in zip(w, states, strict=True))
    assert len(model.states_) == len(states)
    assert np.allclose([s["weight"] for s in model.states_], w, atol=1e-9)
    assert np.allclose(model.edge_marginals_, edges, atol=1e-9)
    assert np.allclose(model.co_class_marginals_, together, atol=1e-9)
