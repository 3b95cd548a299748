"""Constants of partitions do not depend on what was computed before, nor on other threads."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from infinimix.networks import BlockmodelBayesNet, sample_network
from infinimix.networks.engine.acyclicity import log_acyclic
from infinimix.networks.engine.constants import WHOLE, Constants, log_constant
from infinimix.networks.learning import chains

N = 7  # more than are enumerated


def ask(constants, sizes, beta):
    m = np.zeros(len(constants.hashes), np.int64)
    m[: len(sizes)] = sizes
    with np.errstate(over="ignore"):
        key = constants.hashes[m].sum()
    return log_constant(constants, key, m, np.array([0.5, *beta, 0.0, 0.0, 0.0, 0.0]))


def test_a_constant_is_that_of_its_own_beta():
    used = Constants.empty(N)
    for beta in ((1.0, 1.0), (1.0001, 1.0), (1.0, 1.0001), (1.0001, 1.0001)):
        for sizes in ((7,), (4, 3)):
            assert ask(used, sizes, beta) == ask(Constants.empty(N), sizes, beta)
    assert ask(used, (7,), (1.0, 1.0)) != ask(used, (7,), (1.0001, 1.0))


def test_an_entry_whose_value_is_of_another_key_is_not_believed():
    used, expected = Constants.empty(N), ask(Constants.empty(N), (4, 3), (1.0, 1.0))
    ask(used, (4, 3), (1.0, 1.0))
    other = Constants.empty(N)
    ask(other, (7,), (1.0, 1.0))
    used.values[used.values != 0] = other.values[other.values != 0]  # two threads met
    assert ask(used, (4, 3), (1.0, 1.0)) == expected


def test_threads_that_share_a_table_read_what_each_would_compute():
    cases = [
        (sizes, (b1, b2))
        for sizes in ((7,), (6, 1), (5, 2), (4, 3), (4, 2, 1), (3, 3, 1), (2, 2, 2, 1))
        for b1 in (0.5, 1.0, 2.0)
        for b2 in (0.5, 1.0)
    ]
    alone = Constants.empty(N)
    expected = [ask(alone, *case) for case in cases]
    shared = Constants.empty(N)
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(lambda c=case: ask(shared, *c)) for case in cases * 20]
        assert [a.result() for a in answers] == expected * 20


def partitions(n, most):
    """All multisets of positive sizes up to `most` with sum n."""
    if n == 0:
        yield ()
    for first in range(min(n, most), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def test_no_two_sets_of_sizes_have_one_key():
    hashes = Constants.empty(24).hashes
    all_sizes = [sizes for n in (23, 24) for sizes in partitions(n, n)]  # 23: a node is moving
    with np.errstate(over="ignore"):
        keys = {int(hashes[list(sizes)].sum()) for sizes in all_sizes}
    assert len(keys) == len(all_sizes) == 1255 + 1575


def fit_alike(n_jobs, **options):
    """All that a fit of one small table has found."""
    X = sample_network((3, 4), random_state=0).sample(30, random_state=0)
    options = {"n_iter": 15, "n_chains": 2, "n_jobs": n_jobs, "random_state": 0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few sweeps differ from chain to chain
        model = BlockmodelBayesNet(**options).fit(X)
    return repr((model.edge_marginals_.tolist(), model.roles_.tolist(), model.states_))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("beta", [(1.0001, 1.0), "learn"])
def test_a_fit_does_not_depend_on_earlier_fits(beta, n_jobs):
    chains.shared_constants.cache_clear()
    alone = fit_alike(1, beta=beta)
    assert (chains.shared_constants(N).values != 0).sum() > 10  # there is something to share
    chains.shared_constants.cache_clear()
    fit_alike(1, beta=(1.0, 1.0), random_state=1)
    fit_alike(1, beta=(2.0, 1.0), alpha=2.0, random_state=2)
    assert fit_alike(n_jobs, beta=beta) == alone
    assert fit_alike(n_jobs, beta=beta) == alone  # from its own entries


def test_fits_beside_each_other_are_those_alone():
    betas = [(1.0, 1.0), (1.0001, 1.0), (0.5, 2.0), "learn"]
    alone = []
    for beta in betas:
        chains.shared_constants.cache_clear()
        alone.append(fit_alike(1, beta=beta))
    chains.shared_constants.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda beta: fit_alike(1, beta=beta), betas)) == alone


# Standard errors of the logarithms are .15 at most, of both: .6 is about three of the difference
MANY = [
    ((40,), 0.6),
    ((30, 10), 0.6),
    ((20, 15, 5), 0.6),
    ((20, 10, 5, 5), 0.8),
    ((36, 1, 1, 1, 1), 0.8),
    ((15, 10, 6, 5, 4), 1.2),
    ((12, 8, 6, 5, 4, 3, 2), 2.0),
]


@pytest.fixture(scope="module")
def forty():
    """A table of 40 nodes: sizes have terms in common."""
    return Constants.empty(40)


@pytest.mark.parametrize(("sizes", "near"), MANY)
@pytest.mark.parametrize("beta", [(1.0, 1.0), (1.0, 20.0)])
def test_a_sum_over_few_classes_is_near_to_the_constant_of_all(sizes, near, beta, forty):
    """With many nodes; the reference is a filter with many particles, without bias."""
    assert sum(sizes) > WHOLE
    found = ask(forty, sizes, beta)
    filtered = [log_acyclic(np.array(sizes), *beta, 1500, np.uint64(s)) for s in (1, 2)]
    assert abs(found - np.mean(filtered)) < near


def test_sums_are_smooth_where_a_filter_is_not(forty):
    """Nodes go one by one from one class to another: steps change little from one to the next.

    Filters of 100 particles, with errors of .5 to 1, would bend by more than 1.
    """
    path = np.array([ask(forty, (40 - k, k), (1.0, 1.0)) for k in range(1, 20)])
    bends = np.abs(np.diff(path, 2))
    assert bends[3:].max() < 0.3


def test_which_class_is_named_first_does_not_matter():
    for sizes in ((29, 2, 1, 1), (17, 16)):
        assert sum(sizes) > WHOLE
        assert ask(Constants.empty(33), sizes, (1.0, 1.0)) == ask(
            Constants.empty(33), sizes[::-1], (1.0, 1.0)
        )


COLD = """
import hashlib, warnings
warnings.simplefilter("ignore")
from infinimix.networks import BlockmodelBayesNet, sample_network
X = sample_network((3, 4), random_state=0).sample(30, random_state=0)
model = BlockmodelBayesNet(n_iter=30, n_chains=2, n_jobs=2, random_state=0).fit(X)
print(hashlib.sha256(repr((model.edge_marginals_.tolist(), model.states_)).encode()).hexdigest())
"""


def test_a_fit_that_compiles_gives_what_one_with_kernels_on_disk_gives(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COLD]
    cold, cached = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert len(cold.strip()) == 64
    assert cold == cached
