"""The estimators against all partitions of a few rows, enumerated here in plain Python."""

from itertools import product
from math import lgamma, log, pi

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from infinimix import AClassClassifier, CRPMixture

ALPHA = 0.8
EXACT = {"alpha": ALPHA, "prior": "reference", "n_particles": 300, "n_islands": 1}


def partitions(n):
    """All partitions of n rows, as lists of tuples of rows."""
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        for k in range(len(smaller)):
            yield [(*g, n - 1) if i == k else g for i, g in enumerate(smaller)]
        yield [*smaller, (n - 1,)]


def log_prior(partition, alpha=ALPHA):
    n = sum(map(len, partition))
    total = len(partition) * log(alpha) + sum(lgamma(len(g)) for g in partition)
    return total - sum(log(alpha + i) for i in range(n))


def log_counts(values, prior):
    """Log evidence of the values 0, 1, ... of a column, with these pseudo-counts."""
    counts = np.bincount(np.array(values, dtype=int), minlength=len(prior))
    total = sum(lgamma(a + c) - lgamma(a) for a, c in zip(prior, counts, strict=True))
    return total + lgamma(sum(prior)) - lgamma(sum(prior) + len(values))


def log_normal(values, prior):
    """Log evidence of real values under (mean, kappa, nu, scale)."""
    mean, kappa, nu, scale = prior
    n, x = len(values), np.array(values, dtype=float)
    if n == 0:
        return 0.0
    spread = ((x - x.mean()) ** 2).sum() + kappa * n / (kappa + n) * (x.mean() - mean) ** 2
    total = lgamma((nu + n) / 2) - lgamma(nu / 2) + 0.5 * log(kappa / (kappa + n))
    before, after = nu * scale**2, nu * scale**2 + spread
    return total + nu / 2 * log(before) - (nu + n) / 2 * log(after) - n / 2 * log(pi)


def log_group(X, rows, columns):
    """Log evidence of one group; columns are pairs of an evidence and its prior."""
    total = 0.0
    for j, (evidence, prior) in enumerate(columns):
        total += evidence([X[i][j] for i in rows if X[i][j] == X[i][j]], prior)
    return total


class Enumerated:
    """The exact posterior of a bounded CRP mixture."""

    def __init__(self, X, columns, alpha=ALPHA, bound=99):
        self.X, self.columns, self.alpha, self.bound = X, columns, alpha, bound
        self.kept = [p for p in partitions(len(X)) if len(p) <= bound]
        inside = np.array([log_prior(p, alpha) for p in self.kept])
        log_groups = {g: log_group(X, g, columns) for p in self.kept for g in p}
        self.log_joint = inside + [sum(log_groups[g] for g in p) for p in self.kept]
        self.log_groups = {(): 0.0} | log_groups
        self.log_evidence = logsumexp(self.log_joint) - logsumexp(inside)

    def n_groups_posterior(self):
        weight = np.exp(self.log_joint - logsumexp(self.log_joint))
        return np.bincount([len(p) for p in self.kept], weights=weight)

    def log_density(self, x):
        """log p(x | X), normalised: the bounded prior of n rows is no margin of that of n + 1."""
        X, new = [*self.X, x], (len(self.X),)
        ratio = {
            g: np.exp(log_group(X, g + new, self.columns) - evidence)
            for g, evidence in self.log_groups.items()
        }
        weight = np.exp(self.log_joint - self.log_joint.max())
        density = total = 0.0
        for p, w in zip(self.kept, weight, strict=True):
            room = self.alpha if len(p) < self.bound else 0.0
            density += w * (sum(len(g) * ratio[g] for g in p) + room * ratio[()])
            total += w * (len(X) - 1 + room)
        return np.log(density / total)


BINARY = [[0, 1, 1], [1, 1, 0], [0, 1, 1], [1, 0, np.nan], [np.nan, 0, 0], [0, 1, 1]]
CATEGORICAL = [[0, 1], [1, 1], [2, np.nan], [0, 2], [0, 1], [2, 0]]
HALF = 0.5
TABLES = {
    "binary": (BINARY, [(log_counts, [HALF, HALF])] * 3),
    "categorical": (CATEGORICAL, [(log_counts, [HALF] * 3)] * 2),
}


def queries_of(kind):
    values = [0, 1, np.nan] if kind == "binary" else [0, 1, 2, np.nan]
    return [list(x) for x in product(values, repeat=3 if kind == "binary" else 2)]


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("bound", [None, 1, 2, 3])
@pytest.mark.parametrize("kind", ["binary", "categorical"])
def test_a_mixture_is_the_exact_posterior(kind, bound, method):
    X, columns = TABLES[kind]
    exact = Enumerated(X, columns, bound=bound or 99)
    model = CRPMixture(kind, **EXACT, max_groups=bound, random_state=0)
    getattr(model, method)(np.array(X))
    assert np.isclose(model.log_evidence_, exact.log_evidence, atol=1e-9)
    np.testing.assert_allclose(model.n_groups_posterior_, exact.n_groups_posterior(), atol=1e-9)
    queries = queries_of(kind)
    np.testing.assert_allclose(
        model.score_samples(np.array(queries)), [exact.log_density(x) for x in queries], atol=1e-9
    )
    whole = [x for x in queries if not np.isnan(x).any()]
    assert np.isclose(logsumexp(model.score_samples(whole)), 0, atol=1e-12)


def test_columns_of_several_kinds_are_independent_given_the_group():
    X = [[0, 0, 1.5], [1, 1, -0.5], [0, 2, np.nan], [1, np.nan, 2.25], [np.nan, 0, 1.25]]
    prior = (0.5, 0.3, 1.5, 2.0)
    columns = [(log_counts, [1.5, 0.25]), (log_counts, [0.7] * 3), (log_normal, prior)]
    model = CRPMixture(
        {0: "binary", 1: "categorical", 2: "real"},
        **EXACT | {"prior": {"x0": (0.25, 1.5), "categorical": 0.7, "x2": prior}},
    ).fit(X)
    exact = Enumerated(X, columns)
    assert np.isclose(model.log_evidence_, exact.log_evidence, atol=1e-9)
    np.testing.assert_allclose(model.n_groups_posterior_, exact.n_groups_posterior(), atol=1e-9)
    for x in ([0, 1, 3.0], [np.nan, 2, -40.0], [1, np.nan, np.nan], [np.nan] * 3):
        assert np.isclose(model.score_samples([x])[0], exact.log_density(x), atol=1e-9)


def test_the_empirical_base_measure_is_the_pooled_column():
    X = np.array(BINARY)
    ones, seen = np.nansum(X, axis=0), (X == X).sum(axis=0)
    share = (ones + 0.5) / (seen + 1)
    columns = [(log_counts, [0.5 * (1 - p), 0.5 * p]) for p in share]
    pooled = CRPMixture("binary", **EXACT | {"prior": "empirical"}).fit(X)
    assert np.isclose(pooled.log_evidence_, Enumerated(BINARY, columns).log_evidence, atol=1e-9)
    labels = np.array([0, 1, 0, 1, 1, 0])
    classes = AClassClassifier("binary", **EXACT | {"prior": "empirical"}).fit(X, labels)
    each = [Enumerated(X[labels == c].tolist(), columns) for c in (0, 1)]
    assert np.isclose(classes.log_evidence_, sum(e.log_evidence for e in each), atol=1e-9)


@pytest.mark.parametrize("gamma", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("kind", ["binary", "categorical"])
def test_a_classifier_is_bayes_rule(kind, bound, gamma):
    rows, columns = TABLES[kind]
    X, y = np.array(rows * 2), np.array(["q"] * 5 + ["p"] * 6 + ["o"])
    settings = EXACT | {"max_groups": bound, "gamma": gamma, "calibrate": False}
    model = AClassClassifier(kind, **settings, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["o", "p", "q"]
    exact = [Enumerated(X[y == c].tolist(), columns, bound=bound or 99) for c in "opq"]
    counts = np.array([1, 6, 5])
    log_class = np.log((counts + gamma) / (12 + 3 * gamma))
    queries = queries_of(kind)
    joint = np.array([[e.log_density(x) for e in exact] for x in queries]) + log_class
    expected = joint - logsumexp(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(queries), expected, atol=1e-9)
    np.testing.assert_allclose(model.score_samples(queries), logsumexp(joint, axis=1), atol=1e-9)
    assert np.isclose(model.log_evidence_, sum(e.log_evidence for e in exact), atol=1e-9)


@pytest.mark.parametrize("limit", [{"alpha": 1e-12}, {"alpha": 1.0, "max_groups": 1}])
@pytest.mark.parametrize("resampling", ["optimal", "multinomial"])
def test_one_group_a_class_is_naive_bayes(limit, resampling):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 5)).astype(float), rng.integers(0, 3, 40)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = AClassClassifier(
        "binary", prior="reference", n_particles=3, n_islands=2, resampling=resampling, **limit
    ).fit(X, y)
    expected = []
    for c in range(3):
        ones, n = np.nansum(X[y == c], axis=0), (X[y == c] == X[y == c]).sum(axis=0)
        p = (ones + 0.5) / (n + 1)
        cells = np.where(X == 1, np.log(p), np.where(X == 0, np.log1p(-p), 0.0))
        expected.append(cells.sum(axis=1) + np.log(((y == c).sum() + 1) / 43))
    expected = np.array(expected).T
    np.testing.assert_allclose(model.score_samples(X), logsumexp(expected, axis=1), atol=1e-8)
    assert (model.n_groups_ == 1).all()


def test_a_prior_of_ones_own_for_a_real_column_gives_students_t():
    x = np.array([1.5, 2.0, np.nan, 4.5, -1.0])
    mean, kappa, nu, scale = prior = (10.0, 2.5, 3.0, 0.7)
    model = CRPMixture("real", alpha=1e-12, prior={"x0": prior}, n_islands=1).fit(x[:, None])
    seen = x[x == x]
    n, centre = len(seen), seen.mean()
    spread = nu * scale**2 + ((seen - centre) ** 2).sum()
    spread += kappa * n / (kappa + n) * (centre - mean) ** 2
    place = (kappa * mean + n * centre) / (kappa + n)
    width = np.sqrt(spread / (nu + n) * (kappa + n + 1) / (kappa + n))
    grid = np.linspace(-50, 50, 41)
    np.testing.assert_allclose(
        model.score_samples(grid[:, None]), stats.t.logpdf(grid, nu + n, place, width), atol=1e-10
    )
    before = CRPMixture("real", alpha=1e12, prior={"real": prior}, n_islands=1).fit(x[:1, None])
    np.testing.assert_allclose(  # almost surely of a new group
        before.score_samples(grid[:, None]),
        stats.t.logpdf(grid, nu, mean, scale * np.sqrt(1 + 1 / kappa)),
        atol=1e-9,
    )


def test_pseudo_counts_are_of_ones_then_zeros():
    model = CRPMixture("binary", alpha=1e12, prior={"x0": (3.0, 1.0)}, n_islands=1).fit([[0]])
    np.testing.assert_allclose(np.exp(model.score_samples([[1]])), [0.75], atol=1e-9)


def test_conditional_samples_follow_the_exact_conditional_probabilities():
    """False alarm: each of 6 cells lies within 5 standard errors but for 6e-7; fixed seed."""
    X = np.array(CATEGORICAL)
    model = CRPMixture("categorical", **EXACT, random_state=0).fit(X)
    exact = Enumerated(CATEGORICAL, TABLES["categorical"][1])
    for given in range(2):
        joint = np.array([exact.log_density([given, v]) for v in range(3)])
        expected = np.exp(joint - logsumexp(joint))
        drawn = model.sample(20_000, given={"x0": given})
        assert (drawn[:, 0] == given).all()
        found = np.bincount(drawn[:, 1].astype(int), minlength=3) / 20_000
        error = np.sqrt(expected * (1 - expected) / 20_000)
        assert (np.abs(found - expected) < 5 * error).all()
