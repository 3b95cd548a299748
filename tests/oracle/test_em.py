"""EM against the enumeration of all complete tables: every component and class of every row."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from infinimix.families import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseChiSquared,
)
from infinimix.families.seam import count, empty
from infinimix.inference.finite import em
from infinimix.inference.finite import ensemble as finite

FAMILY = (
    BetaBernoulli(np.array([[0.5, 1.0], [0.7, 0.4]])),
    DirichletCategorical(np.array([0.5, 0.6, 0.7]), np.array([0, 3])),
    NormalInverseChiSquared(np.array([[0.2], [0.3], [2.0], [0.5]]), np.array([0.0])),
)
X = (
    np.array([[0, 1], [1, -1], [1, 1], [0, 0], [-1, 1]], np.int8),
    np.array([[0], [2], [-1], [1], [0]], np.int32),
    np.array([[0.3], [-1.0], [0.8], [np.nan], [2.0]]),
)
CODES = np.array([0, 1, -1, -1, 0])
C, K = 2, 2


def plan(owned, mode=False, restarts=1, number=K):
    return finite.Plan(number, restarts, C, owned, mode)


def estimate(weight, mode, owners):
    """Parameters for given weights (n, K) of rows, from the definitions."""
    shrink = (lambda a: np.maximum(a - 1, 1e-3)) if mode else (lambda a: a)
    out = []
    for k in range(weight.shape[1]):
        w = weight[:, k]
        binary, (real,) = [], [X[2][:, 0]]
        for d in range(2):
            counts = [w[X[0][:, d] == v].sum() for v in (0, 1)]
            binary.append(counts + shrink(FAMILY[0].prior[:, d]))
        category = [w[X[1][:, 0] == v].sum() for v in range(3)] + shrink(FAMILY[1].prior)
        mean, kappa, nu, scale2 = FAMILY[2].prior[:, 0]
        seen = ~np.isnan(real)
        n, x = w[seen].sum(), real[seen]
        mu = (kappa * mean + (w[seen] * x).sum()) / (kappa + n)
        squares = nu * scale2 + kappa * (mu - mean) ** 2 + (w[seen] * (x - mu) ** 2).sum()
        variance = squares / (nu + n + (3 if mode else 0))
        label = np.eye(C)[owners[k]] if owners is not None else None
        if owners is None:
            counts = np.array([w[c == CODES].sum() for c in range(C)])
            label = counts + shrink(np.full(C, finite.CLASS_PSEUDO))
        parts = [*binary, category, label]
        out.append(([p / p.sum() for p in parts], mu, variance))
    share = weight.sum(axis=0) + (1e-3 if mode else 1.0)
    return share / share.sum(), out


def log_complete(share, parameters, i, k, c):
    """Log probability of the cells of row i with component k and class c."""
    parts, mu, variance = parameters[k]
    total = np.log(share[k]) + (np.log(parts[3][c]) if parts[3][c] > 0 else -np.inf)
    for d in range(2):
        total += np.log(parts[d][X[0][i, d]]) if X[0][i, d] >= 0 else 0.0
    total += np.log(parts[2][X[1][i, 0]]) if X[1][i, 0] >= 0 else 0.0
    x = X[2][i, 0]
    return total + (norm.logpdf(x, mu, np.sqrt(variance)) if x == x else 0.0)


def enumerate_tables(share, parameters, n_components):
    """Log likelihood, and expected weights of components, over all complete tables."""
    classes = [[c] if c >= 0 else range(C) for c in CODES]
    options = [list(product(range(n_components), own)) for own in classes]
    logs, tables = [], []
    for table in product(*options):
        logs.append(sum(log_complete(share, parameters, i, *kc) for i, kc in enumerate(table)))
        tables.append(np.eye(n_components)[[k for k, _ in table]])
    logs = np.array(logs)
    p = np.exp(logs - logsumexp(logs))
    return logsumexp(logs), np.tensordot(p, np.array(tables), axes=1)


@pytest.mark.parametrize("mode", [False, True])
@pytest.mark.parametrize("owned", [False, True])
def test_two_steps_are_those_of_the_enumeration(owned, mode):
    rng = np.random.default_rng(3)
    number = 1 if owned else K
    asked = plan(owned, mode)
    model = finite.model_for(asked, FAMILY, number)
    data, owners = finite.rows_for(asked, X, CODES, np.ones(5)), model.owners
    weight = rng.dirichlet(np.ones(K), 5)
    state = em.maximise(model, data, weight[:, None, :])
    for _ in range(2):
        share, parameters = estimate(weight, mode, owners)
        assert np.allclose(np.exp(state.log_share[0]), share)
        log_likelihood, weight = enumerate_tables(share, parameters, K)
        state, info = em.step(model, data, state)
        assert np.isclose(info.log_likelihood[0], log_likelihood, atol=1e-5)
        found, _ = em.respond(model, data, em.maximise(model, data, weight[:, None, :]))
        again, _ = em.respond(model, data, state)
        assert np.allclose(found, again, atol=1e-6)


def test_the_classes_of_a_new_row_are_those_of_the_enumeration():
    found = finite.learn(
        plan(False, restarts=2), FAMILY, X, CODES, np.ones(5), np.random.SeedSequence(1)
    )
    model = finite.model_for(found.plan, FAMILY, K)
    data = finite.rows_for(found.plan, X, CODES, np.ones(5))
    weight, _ = em.respond(model, data, found.state)
    found = found._replace(state=em.maximise(model, data, weight))
    table = finite.log_classes(found, X)
    for r in range(2):
        share, parameters = estimate(weight[:, r], False, None)
        for i, c in product(range(5), range(C)):
            logs = [log_complete(share, parameters, i, k, c) for k in range(K)]
            assert np.isclose(table[i, r, c], logsumexp(logs), atol=1e-5)


@pytest.mark.parametrize("mode", [False, True])
@pytest.mark.parametrize("owned", [False, True])
def test_the_log_posterior_never_falls(owned, mode):
    rng = np.random.default_rng(0)
    n = 60
    blocks = (
        rng.integers(-1, 2, (n, 4)).astype(np.int8),
        rng.integers(-1, 3, (n, 1)).astype(np.int32),
        np.where(rng.random((n, 1)) < 0.2, np.nan, rng.normal(size=(n, 1)) * 3),
        np.where(rng.random((n, 2)) < 0.2, np.nan, rng.poisson(3.0, (n, 2)).astype(float)),
    )
    family = (
        BetaBernoulli(np.full((2, 4), 0.5)), *FAMILY[1:],
        GammaPoisson(np.array([[0.5, 2.0], [0.2, 0.5]])),
    )  # fmt: skip
    codes = np.where(rng.random(n) < 0.5, -1, rng.integers(0, C, n))
    for weight in (np.ones(n), np.where(codes < 0, 0.3, 1.0)):
        asked = plan(owned, mode, restarts=5, number=3)
        found = finite.learn(asked, family, blocks, codes, weight, np.random.SeedSequence(2))
        assert len(found.trace) > 5
        assert np.diff(found.trace, axis=0).min() > -1e-5  # rounding at 1e7 rows, see MANY


def test_the_score_of_one_component_is_its_evidence():
    """With one component nothing is hidden, and Cheeseman and Stutz are exact."""
    model = finite.model_for(plan(False), FAMILY, 1)
    data = finite.rows_for(plan(False), X, CODES, np.ones(5))
    state = em.maximise(model, data, np.ones((5, 1, 1)))
    stats = empty(model.family, 1)
    for i in range(5):
        count(model.family, stats, 0, data.X, i, 1.0)
    evidence = sum(em.evidence_all(model.family, stats, 1))
    assert np.isclose(em.cheeseman_stutz(model, data, state)[0], evidence)
