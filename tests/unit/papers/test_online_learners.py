"""The peers of the Online CRP: update rules by hand, and what is known of each."""

from math import sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.linear_model import Perceptron

from infinimix.papers.online_crp.linear import LEARNERS, PA, AggressiveRomma, Arow, Romma
from infinimix.papers.online_crp.perceptrons import Perceptrons

FIRST = np.array([0, 1]), np.array([1.0, 2.0])  # |x|^2 = 5, |phi|^2 = 10
SECOND = np.array([1, 2]), np.array([1.0, 1.0])


def after(learner, *rows):
    """Return the weights after rows of class 0 of two."""
    for index, value in rows:
        learner.learn(index, value, 0)
    return learner.scale * learner.W


@pytest.mark.parametrize(
    ("name", "step"),
    [("PA", 0.1), ("PA-I", 0.1), ("PA-II", 1 / 10.5), ("OGD", 1.0), ("ROMMA", 0.1)],
)
def test_the_first_update_by_hand(name, step):
    W = after(LEARNERS[name](3, 2), FIRST)
    expected = step * np.array([1.0, 2.0, 0.0])
    np.testing.assert_allclose(W, np.column_stack([expected, -expected]))


def test_the_first_second_order_updates_by_hand():
    """All variances are one, so v = 10 and the margin is 0."""
    learner = Arow(3, 2)
    np.testing.assert_allclose(after(learner, FIRST)[:, 0], np.array([1.0, 2.0, 0.0]) / 11)
    np.testing.assert_allclose(learner.variance[:, 0], [1 - 1 / 11, 1 - 4 / 11, 1.0])
    phi = 0.6744897501960817
    alpha = {"CW": phi / sqrt(10 * (1 + phi**2))}
    n = 10.5
    alpha["SCW-I"] = min(1.0, alpha["CW"])
    alpha["SCW-II"] = phi * sqrt(40 * n * (n + 10 * phi**2)) / (2 * n * (n + 10 * phi**2))
    for name, a in alpha.items():
        learner = LEARNERS[name](3, 2)
        np.testing.assert_allclose(after(learner, FIRST)[:, 0], a * np.array([1.0, 2.0, 0.0]))
        u = 0.25 * (-a * 10 * phi + sqrt(a**2 * 100 * phi**2 + 40)) ** 2
        beta = a * phi / (sqrt(u) + 10 * a * phi)
        np.testing.assert_allclose(learner.variance[:, 1], [1 - beta, 1 - 4 * beta, 1.0])


def test_pa_makes_the_least_change_that_reaches_the_margin():
    learner = PA(3, 3)
    learner.W[:] = np.random.default_rng(0).normal(size=(3, 3))
    before, (index, value) = learner.W.copy(), SECOND
    scores = value @ before[index]
    learner.learn(index, value, int(scores.argmin()))
    y, s = int(scores.argmin()), int(scores.argmax())
    found = minimize(
        lambda w: ((w - before.ravel()) ** 2).sum(),
        before.ravel(),
        constraints={
            "type": "ineq",
            "fun": lambda w: value @ w.reshape(3, 3)[index] @ (np.eye(3)[y] - np.eye(3)[s]) - 1,
        },
    )
    np.testing.assert_allclose(learner.W, found.x.reshape(3, 3), atol=1e-4)


@pytest.mark.parametrize("kind", [Romma, AggressiveRomma])
def test_romma_is_the_shortest_in_both_half_spaces(kind):
    """After a mistake: w.phi >= 1 and w.w_before >= |w_before|^2, and no shorter w has both."""
    learner = kind(3, 2)
    before = after(learner, FIRST).ravel()
    index, value = np.array([0, 2]), np.array([-1.0, 1.0])
    after(learner, (index, value))
    phi = np.zeros((3, 2))
    phi[index, 0], phi[index, 1] = value, -value
    found = minimize(
        lambda w: w @ w,
        before,
        constraints=[
            {"type": "ineq", "fun": lambda w: w @ phi.ravel() - 1},
            {"type": "ineq", "fun": lambda w: w @ before - before @ before},
        ],
    )
    W = (learner.scale * learner.W).ravel()
    np.testing.assert_allclose(W, found.x, atol=1e-4)
    assert learner.norm == pytest.approx(W @ W)


def separable(n=400, seed=0):
    """Rows of three classes that weights separate by a margin of one."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = (rng.random((n, 30)) < 0.2).astype(float)
    X[np.arange(n), 27 + y] = 3.0
    X[:, 27:] *= X[:, 27:] == 3.0
    return sp.csr_matrix(X), y


@pytest.mark.parametrize("name", LEARNERS)
def test_mistakes_end_where_classes_are_separable(name):
    X, y = separable()
    wrong = LEARNERS[name](30, 3).run(X, y) != y
    assert wrong[:200].any()
    assert wrong[200:].sum() <= 4


def test_pa_keeps_its_bound_on_the_loss():
    """On separable rows the sum of squared losses is at most R^2 |u|^2, R^2 = max |phi|^2."""
    X, y = separable()
    u = np.zeros((30, 3))
    u[27:] = np.eye(3) / 3.0  # its margin is 9/3 - 0 = 1 at least, as x has a 3 in one place
    margins = X @ u
    assert (np.sort(margins, axis=1)[:, -1] - np.sort(margins, axis=1)[:, -2] >= 1 - 1e-9).all()
    learner, total = PA(30, 3), 0.0
    for i in range(len(y)):
        row = X[i]
        scores = row.data @ learner.W[row.indices]
        own = scores[y[i]]
        scores[y[i]] = -np.inf
        total += max(1.0 - own + scores.max(), 0.0) ** 2
        learner.learn(row.indices, row.data, int(y[i]))
    assert total <= 2 * X.multiply(X).sum(axis=1).max() * (u**2).sum() + 1e-9


@pytest.mark.parametrize("name", LEARNERS)
def test_rows_without_words_teach_nothing(name):
    learner = LEARNERS[name](3, 2)
    learner.learn(np.zeros(0, int), np.zeros(0), 1)
    assert not learner.W.any()


def counts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(40, 0.2), 4)
    y = rng.integers(0, 4, n)
    return sp.csr_matrix(np.array([rng.multinomial(9, theta[k]) for k in y]).astype(float)), y


def test_the_last_perceptron_is_scikit_learn_s():
    X, y = counts()
    theirs = Perceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False).fit(X, y)
    ours = Perceptrons("last").fit(X, y)
    np.testing.assert_allclose((X.T @ ours.mistakes).T, theirs.coef_, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("variant", ["last", "voted", "average"])
def test_perceptrons_are_those_of_the_slow_pass(variant, kernel):
    """Weights in the space of all features, kept after every row."""
    X, y = counts()
    dense = X.toarray()
    if kernel:  # (1 + x.z)^2 is a product in the space of all pairs of (1, x)
        ones = np.column_stack([np.ones(len(y)), dense])
        dense = np.einsum("ij,ik->ijk", ones, ones).reshape(len(y), -1)
    values = np.zeros((len(y), 4))
    for k in range(4):
        w = np.zeros(dense.shape[1])
        for i in range(len(y)):
            sign = 1.0 if y[i] == k else -1.0
            if sign * (w @ dense[i]) <= 0.0:
                w = w + sign * dense[i]
            if variant == "voted":
                values[:, k] += np.sign(dense @ w)
            elif variant == "average":
                values[:, k] += dense @ w
        if variant == "last":
            values[:, k] = dense @ w
    found = Perceptrons(variant, kernel).fit(X, y)
    np.testing.assert_allclose(found._values(X), values, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.predict(X), values.argmax(axis=1))
