"""Models as published, against slow versions written from the papers' own formulas."""

import numpy as np
import pytest

from infinimix import AClassClassifier, CRPMixture, FiniteMixtureClassifier

BETA = 0.5


# --- AClass: TRAIN-CRP and PREDICTIVE-DENSITY of figure 3 ----------------------------------------


class Particle:
    """A partition of the rows so far: counts, heads and tails of each group."""

    def __init__(self):
        self.n, self.heads, self.tails = [], [], []

    def options(self, x, alpha):
        """prob[g] of lines 3 and 4: existing groups, then a new one."""
        total = sum(self.n) + alpha
        none = np.zeros(len(x))
        groups = [*zip(self.n, self.heads, self.tails, strict=True), (alpha, none, none)]
        return np.array([w / total * predictive(x, h, t) for w, h, t in groups])

    def add(self, g, x):
        if g == len(self.n):
            self.n.append(0)
            self.heads.append(np.zeros(len(x)))
            self.tails.append(np.zeros(len(x)))
        self.n[g] += 1
        self.heads[g] = self.heads[g] + (x == 1)
        self.tails[g] = self.tails[g] + (x == 0)

    def copy(self):
        other = Particle()
        other.n, other.heads, other.tails = list(self.n), list(self.heads), list(self.tails)
        return other


def predictive(x, heads, tails):
    """POSTERIOR-PREDICTIVE of binary columns; a missing one is ignored."""
    p = (BETA + np.where(x == 1, heads, tails)) / (2 * BETA + heads + tails)
    return np.prod(np.where(np.isnan(x), 1.0, p))


def slow_filter(X, n_particles, rng, alpha=1.0):
    """TRAIN-CRP for each row, with weights that are multiplied (docs/how-it-works.md)."""
    particles, w = [Particle() for _ in range(n_particles)], np.ones(n_particles) / n_particles
    for x in X:
        for k, particle in enumerate(particles):
            prob = particle.options(x, alpha)
            w[k] *= prob.sum()
            particle.add(rng.choice(len(prob), p=prob / prob.sum()), x)
        w /= w.sum()
        if 1.0 / (w**2).sum() <= n_particles / 2:
            chosen = rng.choice(n_particles, n_particles, p=w)
            particles = [particles[k].copy() for k in chosen]
            w = np.ones(n_particles) / n_particles
    return particles, w


def slow_density(filtered, x, alpha=1.0):
    particles, w = filtered
    return sum(wk * p.options(x, alpha).sum() for wk, p in zip(w, particles, strict=True))


X = np.array(
    [[1, 1, 0, 1], [1, 0, 0, np.nan], [0, 0, 1, 0], [1, 1, np.nan, 1], [0, 1, 1, 0], [1, 1, 0, 0]]
)
QUERIES = np.array([[1, 1, 0, 1], [0, 0, 1, np.nan]])
RUNS = 300


@pytest.mark.parametrize("n_particles", [1, 4])
def test_the_published_filter_is_that_of_the_pseudocode(n_particles):
    # Two means of 300 runs each differ by 5 standard errors with a probability of 6e-7; four tests.
    ours, slow = np.empty((RUNS, 2)), np.empty((RUNS, 2))
    for seed in range(RUNS):
        model = CRPMixture.as_published(
            columns="binary", n_particles=n_particles, random_state=seed
        )
        ours[seed] = np.exp(model.partial_fit(X).score_samples(QUERIES))
        filtered = slow_filter(X, n_particles, np.random.default_rng(seed))
        slow[seed] = [slow_density(filtered, x) for x in QUERIES]
    error = np.sqrt((ours.var(axis=0) + slow.var(axis=0)) / RUNS)
    assert (np.abs(ours.mean(axis=0) - slow.mean(axis=0)) < 5 * error).all()
    spread = ours.std(axis=0) / slow.std(axis=0)  # of as many particles, not only the same mean
    assert (np.abs(np.log(spread)) < 0.35).all()


def test_the_published_classifier_is_aclass_test():
    """With one row a class nothing is drawn: prob[y] of AClass-TEST, by hand."""
    y = ["a", "b"]
    model = AClassClassifier.as_published(columns="binary", random_state=0).partial_fit(
        X[[0, 2]], y
    )
    for x in QUERIES:
        prob = np.empty(2)
        for k, row in enumerate(X[[0, 2]]):
            particle = Particle()
            particle.add(0, row)
            prob[k] = (1 + 1.0) / (2 + 2 * 1.0) * particle.options(x, 1.0).sum()
        np.testing.assert_allclose(model.predict_proba([x])[0], prob / prob.sum(), rtol=1e-12)


# --- Batches: the EM of section 3 ----------------------------------------------------------------


def slow_em(D, classes, Q, n_classes, cards, theta, steps):
    """Equations of section 3 on (D, Q): cells as codes, the class of a query missing.

    The expected class counts hold training rows and queries; the paper's formula leaves the
    training rows out.
    """
    alpha, phi, own = theta
    rows = np.concatenate([D, Q])
    for _ in range(steps):
        w = np.tile(np.log(alpha), (len(rows), 1))
        for i in range(rows.shape[1]):
            w += np.log(phi[i][:, rows[:, i]]).T
        w[: len(D)] += np.log(own[:, classes]).T
        w = np.exp(w - w.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        known = np.eye(n_classes)[classes]
        f = w[: len(D)].T @ known + w[len(D) :].sum(axis=0)[:, None] * own
        own = f / f.sum(axis=1, keepdims=True)
        phi = [
            np.stack([w[rows[:, i] == v].sum(axis=0) for v in range(cards[i])], axis=1)
            for i in range(rows.shape[1])
        ]
        phi = [np.maximum(p / p.sum(axis=1, keepdims=True), 1e-12) for p in phi]
        alpha = w.sum(axis=0) / len(rows)
    joint = np.log(alpha) + sum(np.log(phi[i][:, Q[:, i]]).T for i in range(Q.shape[1]))
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    proba = (joint / joint.sum(axis=1, keepdims=True)) @ own
    return proba, (alpha, phi, own)


def test_the_published_batch_is_a_fixed_point_of_the_papers_em():
    """From our answer, the paper's EM goes nowhere else: the floor of .001 counts aside."""
    rng = np.random.default_rng(0)
    z = rng.integers(2, size=80)
    cells = np.where(rng.random((80, 4)) < 0.85, z[:, None], 1 - z[:, None])
    cells[:, 0] += rng.integers(2, size=80) * cells[:, 0]
    y = np.where(rng.random(80) < 0.9, z, 1 - z)
    D, Q, labels = cells[:30], cells[30:], y[:30]
    model = FiniteMixtureClassifier.as_published(
        columns="categorical", max_iter=2000, random_state=1
    ).fit(D.astype(str), labels)
    ours = model.predict_proba_batch(Q.astype(str))
    cards = [3, 2, 2, 2]
    starts = []
    for seed in range(20):
        draw = np.random.default_rng(seed)
        theta = (
            np.array([0.5, 0.5]),
            [draw.dirichlet(np.ones(n), size=2) for n in cards],
            draw.dirichlet(np.ones(2), size=2),
        )
        starts.append(slow_em(D, labels, Q, 2, cards, theta, 300)[0])
    gaps = [np.abs(ours - slow).max() for slow in starts]
    assert min(gaps) < 0.01
