"""The Gibbs infinite SVM against partitions enumerated and experts by quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln, logsumexp

from infinimix import GibbsInfiniteSVC, MaxMarginDPMeans
from infinimix.families.normal import NormalInverseChiSquared
from infinimix.maxmargin.gibbs.chain import SVMChain, SVMHyper, effective_size, first_expert
from infinimix.maxmargin.loops.gibbs import draw_experts, draw_first_expert
from tests.plain import plain
from tests.unit.maxmargin.synthetic import partitions

PRIOR = np.array([[0.0], [0.3], [2.0], [1.0]])  # mean, kappa, nu, scale^2


@pytest.mark.parametrize(("c", "nu", "margin", "square"), [
    (1.0, 1.0, 1.0, 2.0), (0.3, 2.0, 1.5, 0.4), (2.0, 0.7, 0.5, 9.0),
])  # fmt: skip
def test_the_term_of_a_new_cluster_is_the_integral(c, nu, margin, square):
    s = nu * np.sqrt(square)
    above, total = first_expert(np.array([s**2]), c, margin)

    def integrand(u):
        return stats.norm.pdf(u, 0, s) * np.exp(-2 * c * max(margin - u, 0.0))

    exact = integrate.quad(integrand, -12 * s, 12 * s, points=[margin], limit=200)[0]
    assert np.isclose(np.exp(total[0]), exact, rtol=1e-7)
    assert np.isclose(np.exp(above[0]), stats.norm.sf(margin / s))


def test_the_term_of_a_new_cluster_does_not_overflow():
    above, total = first_expert(np.array([900.0, 1e6, 1e-8]), 10.0, 1.0)
    assert np.isfinite(above[:2]).all()
    assert np.isfinite(total).all()
    assert (total <= 0).all()


def test_a_new_expert_is_a_draw_from_its_posterior():
    """Kolmogorov-Smirnov of y eta.x at 4,000 draws; false alarm at 1e-4 each."""
    rng, draw = np.random.default_rng(0), plain(draw_first_expert)
    for c, nu, margin in ((1.0, 1.0, 1.0), (0.2, 2.0, 3.0), (3.0, 1.5, 0.5)):
        x, eta = np.array([0.7, -1.2, 1.0]), np.empty(3)
        s = nu * np.sqrt(x @ x)
        above, total = first_expert(np.array([s**2]), c, margin)
        share, draws = np.exp(above - total)[0], []
        for _ in range(4000):
            draw(rng, x, -1.0, c, nu, margin, share, eta)
            draws.append(eta.copy())
        u = -np.array(draws) @ x
        grid = np.linspace(-8 * s, 8 * s, 20001)
        density = stats.norm.pdf(grid, 0, s) * np.exp(-2 * c * np.maximum(margin - grid, 0))
        cdf = np.cumsum(density) / density.sum()
        assert stats.kstest(u, lambda v, g=grid, f=cdf: np.interp(v, g, f)).pvalue > 1e-4
        across = np.array(draws) @ np.array([1.2, 0.7, 0.0]) / np.hypot(1.2, 0.7) / nu
        assert stats.kstest(across, "norm").pvalue > 1e-4


@pytest.mark.parametrize("c", [np.full(3, 0.8), np.array([0.2, 0.8, 2.0])])
def test_experts_visit_their_posterior(c):
    """Mean and variance of eta over 20,000 draws, against a grid; within 5 standard errors.

    All rows are in one cluster, slot 1; those of the second run have weights, which multiply c.
    """
    rng = np.random.default_rng(1)
    X = np.c_[[0.5, -1.0, 2.0], np.ones(3)]
    y, nu, margin = np.array([1.0, -1.0, 1.0]), 1.2, 1.0
    z, slots, eta, draws = np.ones(3, np.int64), np.arange(2), np.zeros((2, 1, 2)), []
    for _ in range(20_000):
        draw_experts(rng, X, y[:, None], z, slots, 2, eta, c, nu, margin)
        draws.append(eta[1, 0].copy())
    draws = np.array(draws)
    grid, weight = expert_grid(X, y, c, nu, margin)
    mean = weight @ grid
    for j in range(2):
        error = draws[:, j].std() / np.sqrt(effective_size(draws[:, j]))
        assert abs(draws[:, j].mean() - mean[j]) < 5 * error
    spread = weight @ (grid - mean) ** 2
    assert np.allclose(draws.var(axis=0), spread, rtol=0.08)


def expert_grid(X, y, c, nu, margin, size=301):
    side = np.linspace(-7 * nu, 7 * nu, size)
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    logs = -0.5 * (grid**2).sum(axis=1) / nu**2
    logs -= 2 * (c * np.maximum(margin - y * (grid @ X.T), 0.0)).sum(axis=1)
    weight = np.exp(logs - logs.max())
    return grid, weight / weight.sum()


def log_expert(X, y, c, nu, margin, size=301):
    """The evidence of the labels of a cluster, by quadrature over slope and bias."""
    side = np.linspace(-7 * nu, 7 * nu, size)
    a, b = np.meshgrid(side, side, indexing="ij")
    logs = -0.5 * (a**2 + b**2) / nu**2 - np.log(2 * np.pi * nu**2)
    for x, sign in zip(X[:, 0], y, strict=True):
        logs = logs - 2 * c * np.maximum(margin - sign * (a * x + b), 0.0)
    return logsumexp(logs) + 2 * np.log(side[1] - side[0])


def log_normal(x, prior=PRIOR[:, 0]):
    """The evidence of a column under the Normal-inverse-chi-squared prior, from a textbook."""
    mean, kappa, nu, scale2 = prior
    n, m = len(x), x.mean()
    kappa_n, nu_n = kappa + n, nu + n
    after = nu * scale2 + ((x - m) ** 2).sum() + n * kappa / kappa_n * (m - mean) ** 2
    out = gammaln(nu_n / 2) - gammaln(nu / 2) + 0.5 * np.log(kappa / kappa_n)
    return out + 0.5 * nu * np.log(nu * scale2) - 0.5 * nu_n * np.log(after) - n / 2 * np.log(np.pi)


@pytest.mark.parametrize("classes", [2, 3])
def test_partitions_are_visited_as_often_as_enumeration_says(classes):
    """Five rows, 52 partitions, 15,000 sweeps: each share within .025, some 5 standard errors."""
    x = np.array([[-1.2], [-0.8], [0.3], [1.1], [1.6]])
    codes = np.array([0, 1, 0, 1, 1]) if classes == 2 else np.array([0, 1, 2, 1, 0])
    Y = (
        2.0 * codes[:, None] - 1
        if classes == 2
        else np.where(codes[:, None] == range(3), 1.0, -1.0)
    )
    alpha, c, nu, margin = 0.8, 0.7, 1.1, 1.0
    every = partitions(5)
    logs, cache = [], {}
    for z in every:
        total = 0.0
        for k in range(z.max() + 1):
            rows = tuple(np.flatnonzero(z == k))
            if rows not in cache:
                own = list(rows)
                value = log_normal(x[own, 0]) + gammaln(len(own)) + np.log(alpha)
                cache[rows] = value + sum(log_expert(x[own], y[own], c, nu, margin) for y in Y.T)
            total += cache[rows]
        logs.append(total)
    exact = np.exp(np.array(logs) - logsumexp(logs))
    X = np.c_[x, np.ones(5)]
    chain = SVMChain(
        (NormalInverseChiSquared(PRIOR, np.zeros(1)),), (x,), X, Y, SVMHyper(alpha, c, nu, margin),
        np.zeros(5, np.int64), np.random.default_rng(0),
    )  # fmt: skip
    index = {tuple(z): j for j, z in enumerate(every)}
    found, sweeps = np.zeros(len(every)), 15_000
    for _ in range(sweeps):
        chain.step()
        numbers: dict[int, int] = {}
        found[index[tuple(numbers.setdefault(int(k), len(numbers)) for k in chain.z)]] += 1
    assert np.abs(found / sweeps - exact).max() < 0.025


def test_with_growing_beta_the_chain_finds_what_max_margin_dp_means_finds():
    """The small-variance limit: variance 1 / (2 beta s), c beta, nu^2 / beta, alpha by eq. 30."""
    x = np.array([[-3.0], [-2.6], [-2.2], [2.1], [2.4], [2.9]])
    y = np.array([0, 1, 1, 1, 0, 0])
    s, c, nu, lam = 2.0, 0.5, 1.0, 6.0
    model = MaxMarginDPMeans(lam, s, c, nu, n_init=20, random_state=0).fit(x, y)
    agree = []
    for beta in (0.3, 3.0, 30.0):
        variance, wide = 0.5 / (beta * s), 100.0
        prior = np.array([[0.0], [variance / wide], [1e9], [variance]])
        alpha = np.exp(-beta * lam) * np.sqrt(wide / variance)
        chain = SVMChain(
            (NormalInverseChiSquared(prior, np.zeros(prior.shape[1])),), (x,),
            np.c_[x, np.ones(6)], 2.0 * y[:, None] - 1,
            SVMHyper(alpha, c * beta, nu / np.sqrt(beta), 1.0), np.zeros(6, np.int64),
            np.random.default_rng(0),
        )  # fmt: skip
        same = model.labels_[:, None] == model.labels_
        hits = 0
        for _ in range(1500):
            chain.step()
            hits += np.array_equal(chain.z[:, None] == chain.z, same)
        agree.append(hits / 1500)
    assert agree[0] < agree[1] < agree[2]
    assert agree[2] > 0.97


def test_the_estimator_averages_over_states():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(40, 2)), 6 + rng.normal(size=(40, 2))]
    y = np.array(["a", "b"])[
        ((X[:, 0] > np.repeat([0, 6], 40)) ^ np.repeat([0, 1], 40)).astype(int)
    ]
    model = GibbsInfiniteSVC(n_iter=200, burn_in=50, random_state=0).fit(X, y)
    proba = model.predict_proba(X)
    assert model.score(X, y) > 0.8
    assert np.allclose(proba.sum(axis=1), 1)
    assert len(model.traces_["n_clusters"]) == 200
    assert np.isclose(model.n_clusters_posterior_.sum(), 1)
    assert set(model.effective_sample_size_) == {"n_clusters", "hinge"}
    far = model.predict_proba([[1e6, -1e6]])
    assert np.isfinite(far).all()
    other = GibbsInfiniteSVC(clusters="gaussian", n_iter=40, burn_in=10, random_state=0).fit(X, y)
    assert other.score(X, y) > 0.6


def test_what_is_refused():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    with pytest.raises(ValueError, match="burn_in"):
        GibbsInfiniteSVC(n_iter=5, burn_in=5).fit(X, y)
    with pytest.raises(ValueError, match="'x0' is categorical"):
        GibbsInfiniteSVC(clusters="categorical").fit(X, y)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        GibbsInfiniteSVC(alpha=0).fit(X, y)
