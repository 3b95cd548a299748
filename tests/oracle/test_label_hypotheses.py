"""The filter over labels against the enumeration of labels and partitions, for six rows.

The rows come in this order, those without label in between: the last label tells of the others.
"""

import os
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from infinimix.families import BetaBernoulli, DirichletCategorical, NormalInverseChiSquared
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.agreement import class_rows, log_evidence_given_labels
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.inference.ensemble.label_hypotheses import choose, kappa_of
from tests.oracle.enumeration import Enumeration

X = (
    np.array([[0, 1], [1, -1], [1, 1], [0, 0], [-1, 1], [0, 1], [1, 0]], np.int8),
    np.array([[0], [2], [-1], [1], [0], [0], [2]], np.int32),
    np.array([[0.3], [-1.0], [0.8], [np.nan], [2.0], [0.4], [-0.5]]),
)
CODES = np.array([0, 1, -1, -1, -1, 1])
C, N, ALPHA, GAMMA = 2, 6, 0.8, 1.5
FAMILY = (
    BetaBernoulli(np.array([[0.5, 1.0], [0.7, 0.4]])),
    DirichletCategorical(np.array([0.5, 0.6, 0.7]), np.array([0, 3])),
    NormalInverseChiSquared(np.array([[0.2], [0.3], [2.0], [0.5]]), np.array([0.0])),
)
LAYOUT = Layout(
    {"binary": ("a", "b"), "categorical": ("c",), "real": ("d",)}, np.array([3], np.int64)
)
QUERY = tuple(block[6:] for block in X)
ROWS = tuple(block[:6] for block in X)


def run(seed, particles, worlds, islands=1, resampling="optimal", bound=None, codes=CODES, cut=()):
    """Return a bank that has learned the rows under the families above."""
    settings = Settings(
        ALPHA, "reference", particles, islands, resampling, bound, 0, 0, GAMMA, worlds
    )
    bank = Bank(settings, LAYOUT, np.random.SeedSequence(seed))
    bank.adaptive = bank.revises = False
    for island in bank.islands:
        island.family = FAMILY
    for _ in range(C):
        bank.add_class()
    for first, last in zip((0, *cut), (*cut, N), strict=True):
        part = tuple(np.ascontiguousarray(block[first:last]) for block in ROWS)
        bank.learn(part, codes[first:last], (), _serial, n_known=C)
    return bank


def _serial(task, payloads):
    return [task(payload) for payload in payloads]


class Truth:
    """All labellings: probabilities, log P(rows | labels that are known), P(y) p(x | y) next."""

    def __init__(self, codes=CODES, bound=None):
        free = np.flatnonzero(codes < 0)
        logs, self.y, joint = [], [], []
        for choice in product(range(C), repeat=len(free)):
            y = codes.copy()
            y[free] = choice
            parts = [tuple(np.ascontiguousarray(b[y == c]) for b in ROWS) for c in range(C)]
            own = [Enumeration(FAMILY, part, ALPHA, bound) for part in parts]
            m = np.bincount(y, minlength=C)
            logs.append(log_labels(m) + sum(e.log_evidence for e in own))
            self.y.append(y)
            log_next = [e.log_predictive(QUERY)[0] for e in own]
            joint.append(np.log((m + GAMMA) / (N + C * GAMMA)) + log_next)
        self.y = np.array(self.y)
        known = np.bincount(codes[codes >= 0], minlength=C)
        self.p = np.exp(np.array(logs) - logsumexp(logs))
        self.log_evidence = logsumexp(logs) - log_labels(known)
        self.log_joint = np.log(self.p @ np.exp(joint))
        self.class_rows = self.p @ np.array([np.bincount(y, minlength=C) for y in self.y])


def log_labels(m):
    """Dirichlet-multinomial probability of labels in their order."""
    top = (gammaln(m + GAMMA) - gammaln(GAMMA)).sum()
    return top - gammaln(m.sum() + C * GAMMA) + gammaln(C * GAMMA)


def log_joint(bank):
    """P(y) p(x | y) of the query, as the classifier puts it together."""
    return np.log((class_rows(bank) + GAMMA) / (N + C * GAMMA)) + bank.log_densities(QUERY)[0]


@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("codes", [CODES, np.array([-1, 1, -1, 0, -1, -1])])
def test_with_room_for_all_it_is_exact(codes, bound):
    truth = Truth(codes, bound)
    bank = run(0, 203, 2**4, islands=2, codes=codes, bound=bound)
    for island in bank.islands:
        assert len(island.hypotheses) == len(truth.p)
        np.testing.assert_allclose(
            np.sort(island.hypothesis_weights()), np.sort(truth.p), rtol=1e-9
        )
    np.testing.assert_allclose(class_rows(bank), truth.class_rows, rtol=1e-9)
    assert log_evidence_given_labels(bank) == pytest.approx(truth.log_evidence, abs=1e-9)
    if bound is None:  # a bounded prior for one row more says more of the others, see Enumeration
        np.testing.assert_allclose(log_joint(bank), truth.log_joint, rtol=1e-9)


def test_worlds_share_what_they_have_in_common():
    island = run(0, 203, 2**4).islands[0]
    for c in range(C):
        by_rows = {}
        for world in island.hypotheses:
            by_rows.setdefault(id(world.filters[c]), set()).add(world.filters[c].n_rows)
        assert all(len(n) == 1 for n in by_rows.values())
        assert len(by_rows) == 8  # which of three rows are in the class
    early = run(0, 203, 2**4, codes=np.array([0, 1, 0, 1, 1, -1])).islands[0]
    assert len(early.hypotheses) == 2
    assert early.hypotheses[0].filters[0] is not early.hypotheses[1].filters[0]


@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
def test_one_row_is_as_probable_as_many_are(resampling):
    f = run(0, 4, 1, resampling=resampling).islands[0].filters[1]
    for i in range(len(X[0])):
        assert f.log_next(X, i) == pytest.approx(f.log_density(X)[i], abs=1e-9)


@pytest.mark.parametrize(("size", "resampling"), [((2, 3), "optimal"), ((1, 1), "systematic")])
def test_the_evidence_is_unbiased_however_few_worlds_and_particles(size, resampling, seed):
    """A mean 4.5 standard errors off comes by chance once in 150,000 times, whatever the runs."""
    truth, runs = Truth(), 400 if "INFINIMIX_SEEDS" in os.environ else 200
    found = np.empty((runs, 2))
    for r in range(runs):
        bank = run((seed, r), *size, resampling=resampling)
        ratio = np.exp(log_evidence_given_labels(bank) - truth.log_evidence)
        found[r] = ratio, ratio * class_rows(bank)[0]  # a weighted mean of the labels as well
    error = found.std(axis=0, ddof=1) / np.sqrt(runs)
    assert error.max() < 0.2
    assert (np.abs(found.mean(axis=0) - [1.0, truth.class_rows[0]]) < 4.5 * error).all()


def test_choosing_is_fair_and_keeps_the_best(seed):
    """4,000 draws; each of 12 rates is off by 4.5 standard errors once in 150,000 times."""
    rng = np.random.default_rng(seed)
    q = np.append(rng.dirichlet(np.ones(11)) * 0.6, 0.4)
    kappa = kappa_of(q, 5)
    assert np.minimum(q / kappa, 1).sum() == pytest.approx(5)
    runs, total = 4000, np.zeros(12)
    for _ in range(runs):
        kept, log_chance = choose(np.log(q) - 700.0, 5, rng)
        assert len(kept) <= 5
        assert 11 in kept
        total[kept] += q[kept] / np.exp(log_chance)
    chance = np.minimum(q / kappa, 1)
    error = q * np.sqrt((1 - chance) / chance / runs)
    assert (np.abs(total / runs - q) <= 4.5 * error + 1e-9).all()


def test_any_cutting_gives_the_same_worlds():
    whole, cut = run(3, 2, 3), run(3, 2, 3, cut=(1, 3, 4))
    for one, two in zip(whole.islands, cut.islands, strict=True):
        assert np.array_equal(one.hypothesis_weights(), two.hypothesis_weights())
        assert [w.rows.tolist() for w in one.hypotheses] == [
            w.rows.tolist() for w in two.hypotheses
        ]
    assert np.array_equal(whole.log_densities(QUERY), cut.log_densities(QUERY))
