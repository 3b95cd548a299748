"""Answers of networks of categories and numbers, against sums over rows and dense normals."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from infinimix import BlockmodelBayesNet
from tests.oracle.mixed_networks import log_mixed, mixed_table

pytestmark = pytest.mark.filterwarnings("ignore:[Cc]hains d")
CARDS = np.array([2, 0, 3, 0, 0])
NAMES = ["a", "u", "b", "v", "w"]


def frame(X):
    cells = {n: X[:, j].astype(int) if CARDS[j] else X[:, j] for j, n in enumerate(NAMES)}
    return pd.DataFrame(cells)


@pytest.fixture(scope="module")
def model():
    X = mixed_table(5, 60, CARDS)
    options = {"n_iter": 200, "n_chains": 2, "random_state": 0, "likelihood": "mixed"}
    return BlockmodelBayesNet(prior="uniform", **options).fit(frame(X)), X


def expected_whole(mixture, x):
    """The predictive of a row is a ratio of marginal likelihoods, network by network."""
    T = mixture.tables[0]
    both, logs = np.vstack([T, x]), []
    for A in mixture.graphs:
        held = [tuple(np.flatnonzero(A[:, c])) for c in range(len(CARDS))]
        total = 0.0
        for c, p in enumerate(held):
            each = 1.0 / max(CARDS[c], 1)  # of a category: the default
            total += log_mixed(both, CARDS, c, p, each) - log_mixed(T, CARDS, c, p, each)
        logs.append(total)
    return logsumexp(logs, b=mixture.weights)


def test_the_density_of_a_row_is_a_ratio_of_marginal_likelihoods(model):
    net, X = model
    mixture = net._state.mixture
    mixture = type(mixture)(
        mixture.names, mixture.graphs[:6], mixture.weights[:6], mixture.place[:6], mixture.data,
        mixture.tables,
    )  # fmt: skip
    rows = np.vstack([X[:3], X[4] + [0, 2.0, 0, -1.0, 3.0]])
    found = mixture.log_density(rows, np.zeros(rows.shape, bool))
    assert found == pytest.approx([expected_whole(mixture, x) for x in rows], abs=1e-8)


def dense(mixture, s, x, seen, fixed, target):
    """Enumerate all categories; numbers are normal with the mean parameters, as one matrix."""
    A, numbers = mixture.graphs[s], np.flatnonzero(CARDS == 0)
    hidden = [j for j in np.flatnonzero(CARDS) if not seen[j] and not fixed[j]]
    logs, means, spreads = [], [], []
    for values in product(*(range(CARDS[j]) for j in hidden)):
        full = x.copy()
        full[hidden] = values
        total, B, a, D = 0.0, np.zeros((3, 3)), np.zeros(3), np.zeros(3)
        for c in range(len(CARDS)):
            f = mixture.index[s, c]
            if CARDS[c]:
                parents = np.flatnonzero(A[:, c])
                code = 0
                for p in parents:
                    code = code * CARDS[p] + int(full[p])
                total += 0.0 if fixed[c] else np.log(mixture.cpt(f)[code, int(full[c])])
                continue
            k = int(np.flatnonzero(numbers == c)[0])
            family = mixture.conditional(f)
            line = family.regression(int(family.configurations(full[None])[0]), None)
            if fixed[c]:
                a[k], D[k] = full[c], 1e-12
                continue
            a[k], D[k] = line[0], line[2]
            for p, b in zip(family.real, line[1], strict=True):
                B[k, np.flatnonzero(numbers == p)[0]] = b
        inverse = np.linalg.inv(np.eye(3) - B)
        mean, cov = inverse @ a, inverse @ np.diag(D) @ inverse.T
        at = np.flatnonzero(seen[numbers])
        S = cov[np.ix_(at, at)]
        if len(at):
            total += multivariate_normal.logpdf(full[numbers[at]], mean[at], S)
        logs.append(total)
        if target is not None:
            t = int(np.flatnonzero(numbers == target)[0])
            gain = np.linalg.solve(S, cov[at, t]) if len(at) else np.zeros(0)
            means.append(mean[t] + gain @ (full[numbers[at]] - mean[at]))
            spreads.append(cov[t, t] - gain @ cov[at, t])
    logs = np.array(logs)
    if target is None:
        return logsumexp(logs)
    w = np.exp(logs - logsumexp(logs))
    return w @ means, w @ (np.array(spreads) + np.array(means) ** 2)


@pytest.mark.parametrize("limit", [256, 1])
@pytest.mark.parametrize("target", [1, 3, 4])
def test_numbers_given_some_cells_are_those_of_dense_normals(model, target, limit, monkeypatch):
    from infinimix.networks.answers import mixed

    monkeypatch.setattr(mixed, "MOST_COMPLETIONS", limit)  # 1: tables are summed by elimination
    net, X = model
    mixture, rng = net._state.mixture, np.random.default_rng(target)
    for x in X[:8]:
        seen, fixed = rng.random(5) < 0.5, rng.random(5) < 0.2
        seen[target] = fixed[target] = False
        seen &= ~fixed
        s = int(rng.integers(len(mixture.graphs)))
        found = mixture.answer(s, mixed.Evidence(x[None], seen, fixed), target)
        mean, square = dense(mixture, s, x, seen, fixed, target)
        assert found.mean[0] == pytest.approx(mean, abs=1e-6)
        assert found.square[0] == pytest.approx(square, abs=1e-6)


def test_densities_of_some_cells_are_those_of_dense_normals(model):
    """Where a number that leads to observed cells is missing; else Student t are exact."""
    from infinimix.networks.answers.mixed import Evidence

    net, X = model
    mixture, rng, compared = net._state.mixture, np.random.default_rng(0), 0
    for _ in range(60):
        seen, fixed = rng.random(5) < 0.6, rng.random(5) < 0.1
        seen &= ~fixed
        s, x = int(rng.integers(len(mixture.graphs))), X[rng.integers(len(X))]
        A = np.where(fixed, 0, mixture.graphs[s])
        reach = np.linalg.matrix_power(np.eye(5) + A, 5)
        hidden = (reach[:, seen].any(axis=1)) & ~seen & ~fixed & (CARDS == 0)
        if hidden.any():
            found = mixture.answer(s, Evidence(x[None], seen, fixed), None)
            assert found.log_p[0] == pytest.approx(dense(mixture, s, x, seen, fixed, None))
            compared += 1
    assert compared > 10


def test_a_missing_category_is_summed_out(model):
    net, X = model
    rows = frame(X[:6])
    each = []
    for value in range(3):
        each.append(net.score_samples(rows.assign(b=value)))
    holes = rows.assign(b=np.full(6, np.nan))
    assert net.score_samples(holes) == pytest.approx(logsumexp(each, axis=0), abs=1e-9)


def test_a_missing_number_is_integrated_out_nearly(model):
    """By a normal in place of Student t where it leads to observed cells: 60 rows, so close."""
    net, X = model
    row, grid = frame(X[:1]), np.linspace(-8.0, 8.0, 401)
    many = pd.concat([row] * len(grid), ignore_index=True)
    for name in ("u", "v", "w"):
        density = np.exp(net.score_samples(many.assign(**{name: grid})))
        total = trapezoid(density, grid)
        assert total == pytest.approx(trapezoid(density[::2], grid[::2]), rel=1e-4)  # fine enough
        found = net.score_samples(row.assign(**{name: np.nan}))[0]
        assert found == pytest.approx(np.log(total), abs=0.1)


def test_predictions_of_categories_follow_bayes_rule(model):
    net, X = model
    rows = frame(X[:10])
    p = net.predict_column_proba(rows, "b")
    order = list(net.query("b"))  # of the categories
    logs = np.stack([net.score_samples(rows.assign(b=v)) for v in order], axis=1)
    assert p == pytest.approx(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)), abs=1e-9)
    one = {n: rows.iloc[0][n] for n in NAMES if n != "b"}
    assert list(net.query("b", given=one).values()) == pytest.approx(p[0], abs=1e-9)
    assert net.predict_column(rows, "b").tolist() == [order[k] for k in p.argmax(axis=1)]


def test_samples_have_the_moments_of_the_predictive(model):
    """4,000 rows: shares within .04 (5 standard errors), means within .08 of a spread near 1."""
    net, _ = model
    drawn = net.sample(4000, random_state=0)
    for name in ("a", "b"):
        for value, p in net.query(name).items():
            assert abs(np.mean(drawn[name] == value) - p) < 0.04
    for name in ("u", "v", "w"):
        asked = net.query(name)
        assert abs(np.mean(drawn[name]) - asked["mean"]) < 0.08 * asked["std"] * 1.2
        assert np.std(drawn[name]) == pytest.approx(asked["std"], rel=0.1)
