"""Filled cells, draws, explanations and similarities against all partitions of six rows.

With room for all partitions the filter is exact, and so must be what follows from it. Rows to
fill are new rows: p(missing | observed) is a ratio of predictive densities of the enumeration.
"""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from infinimix import AClassClassifier, CRPImputer, CRPMixture
from tests.oracle.test_estimators import (
    ALPHA,
    BINARY,
    CATEGORICAL,
    EXACT,
    TABLES,
    Enumerated,
    log_counts,
    log_group,
    log_normal,
)

NAN = np.nan
PRIOR = (0.5, 0.3, 4.0, 2.0)  # four degrees of freedom: every variance is finite
MIXED = [[0, 0, 1.5], [1, 1, -0.5], [0, 2, NAN], [1, NAN, 2.25], [NAN, 0, 1.25]]
KINDS = {0: "binary", 1: "categorical", 2: "real"}
MIXED_PRIOR = {"x0": (0.25, 1.5), "categorical": 0.7, "x2": PRIOR}
MIXED_COLUMNS = [(log_counts, [1.5, 0.25]), (log_counts, [0.7] * 3), (log_normal, PRIOR)]
SIZES = {"binary": 2, "categorical": 3}
N = 20_000


def mixed_model(cls=CRPMixture, **more):
    return cls(KINDS, **EXACT | {"prior": MIXED_PRIOR}, random_state=0, **more).fit(MIXED)


def conditional(exact, row, column, values):
    """The exact probabilities of the values of a missing cell given the rest of its row."""
    joint = [exact.log_density([*row[:column], v, *row[column + 1 :]]) for v in values]
    return softmax(joint)


# --- filling -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("kind", ["binary", "categorical"])
def test_codes_are_filled_by_their_exact_conditional_probabilities(kind, bound):
    X, columns = TABLES[kind]
    model = CRPMixture(kind, **EXACT, max_groups=bound, random_state=0).fit(np.array(X))
    exact = Enumerated(X, columns, bound=bound or 99)
    width, size = len(columns), SIZES[kind]
    for row in product([0, 1, NAN], repeat=width):
        filled, std = model.impute([row], return_std=True)
        for d in range(width):
            if row[d] == row[d]:
                assert filled[0, d] == row[d]
                assert std[0, d] == 0
                continue
            p = conditional(exact, list(row), d, range(size))
            assert np.isclose(p[int(filled[0, d])], p.max(), atol=1e-9)
            assert np.isclose(std[0, d], 1 - p.max(), atol=1e-9)


@pytest.mark.parametrize("row", [[0, 1, NAN], [NAN, 2, NAN], [NAN, NAN, NAN], [1, NAN, NAN]])
def test_a_real_cell_is_filled_by_its_exact_conditional_mean(row):
    exact = Enumerated(MIXED, MIXED_COLUMNS)
    filled, std = mixed_model().impute([row], return_std=True)
    x, weights = _whole_line()
    logs = np.array([exact.log_density([*row[:2], v]) for v in x])
    density = np.exp(logs - exact.log_density(row))
    moments = [weights @ (x**k * density) for k in range(3)]
    assert np.isclose(moments[0], 1, atol=1e-6)
    assert np.isclose(filled[0, 2], moments[1], atol=1e-5)
    variance = moments[2] - moments[1] ** 2
    assert np.isclose(std[0, 2], np.sqrt(variance), rtol=1e-3)  # the quadrature's own tails


def _whole_line():
    """Places and weights to integrate over the real line, evenly in the angle seen from 1."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    angle = nodes * np.pi / 2
    return 1 + 2 * np.tan(angle), weights * np.pi / np.cos(angle) ** 2


def test_an_imputer_is_the_mixture_it_holds():
    rows = [[0, NAN, 1.0], [NAN, 2, NAN], [NAN, NAN, NAN]]
    table, std = mixed_model().impute(rows, return_std=True)
    imputer = mixed_model(CRPImputer)
    assert np.array_equal(imputer.transform(rows), table)
    assert np.array_equal(imputer.uncertainty(rows), std)


@pytest.mark.parametrize("labels", [None, ["p", "q"]])
def test_a_classifier_fills_by_all_classes_or_by_the_one_that_is_given(labels):
    X, columns = TABLES["categorical"]
    y = np.array(["q", "p", "q", "p", "p", "q"])
    model = AClassClassifier("categorical", **EXACT, gamma=0.5, random_state=0).fit(np.array(X), y)
    exact = {c: Enumerated(np.array(X)[y == c].tolist(), columns) for c in "pq"}
    rows = [[0, NAN], [2, NAN]]
    filled, std = model.impute(rows, y=labels, return_std=True)
    for i, row in enumerate(rows):
        classes = "pq" if labels is None else labels[i]
        joint = [[exact[c].log_density([row[0], v]) for v in range(3)] for c in classes]
        p = softmax(logsumexp(joint, axis=0))  # the classes have three rows each
        assert np.isclose(p[int(filled[i, 1])], p.max(), atol=1e-9)
        assert np.isclose(std[i, 1], 1 - p.max(), atol=1e-9)


# --- draws ---------------------------------------------------------------------------------------


def assert_frequencies(found, expected):
    """Every cell within 5 standard errors: false alarms 6e-7 a cell, with a fixed seed."""
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / N) + 1 / N).all()


def test_missing_cells_are_drawn_together():
    """Two missing cells of a row have their exact joint probabilities, not their margins'."""
    model = CRPImputer("binary", **EXACT, strategy="draw", random_state=0).fit(np.array(BINARY))
    exact = Enumerated(BINARY, TABLES["binary"][1])
    pairs = list(product([0, 1], repeat=2))
    p = softmax([exact.log_density([1, a, b]) for a, b in pairs])
    drawn = model.transform(np.array([[1, NAN, NAN]] * N))
    assert (drawn[:, 0] == 1).all()
    found = np.bincount((drawn[:, 1] * 2 + drawn[:, 2]).astype(int), minlength=4) / N
    assert_frequencies(found, p)
    apart = np.outer([p[0] + p[1], p[2] + p[3]], [p[0] + p[2], p[1] + p[3]]).ravel()
    assert np.abs(found - apart).max() > 10 * np.sqrt(0.25 / N)  # they do depend on each other


def test_samples_given_some_cells_keep_the_dependence_of_the_others():
    model = CRPMixture("binary", **EXACT, random_state=0).fit(np.array(BINARY))
    exact = Enumerated(BINARY, TABLES["binary"][1])
    p = softmax([exact.log_density([1, a, b]) for a, b in product([0, 1], repeat=2)])
    drawn = model.sample(N, given={0: 1}).astype(int)
    assert_frequencies(np.bincount(drawn[:, 1] * 2 + drawn[:, 2], minlength=4) / N, p)


# --- anomalies -----------------------------------------------------------------------------------


def test_scores_of_cells_are_conditional_probabilities():
    X, columns = TABLES["categorical"]
    model = CRPMixture("categorical", **EXACT, random_state=0).fit(np.array(X))
    exact = Enumerated(X, columns)
    rows = [[0, 1], [2, 0], [1, NAN], [NAN, NAN]]
    found = model.cell_anomaly_score(rows)
    for i, row in enumerate(rows):
        for d in range(2):
            if np.isnan(row[d]):
                assert np.isnan(found[i, d])
            else:
                expected = -np.log(conditional(exact, row, d, range(3))[row[d]])
                assert np.isclose(found[i, d], expected, atol=1e-9)
    expected = [-exact.log_density(row) for row in rows]
    np.testing.assert_allclose(model.anomaly_score(rows), expected, atol=1e-9)


# --- similarity ----------------------------------------------------------------------------------


def exact_similarity(exact, x, y):
    """Both rows placed on their own, as new rows, in each partition; alone in a new group."""
    X = [*exact.X, x, y]
    places, total = [len(exact.X), len(exact.X) + 1], 0.0
    weights = softmax(exact.log_joint)
    for partition, weight in zip(exact.kept, weights, strict=True):
        groups = [*partition, ()] if len(partition) < exact.bound else partition
        log_mass = [np.log(len(g) or exact.alpha) for g in groups]
        held = [exact.log_groups[g] for g in groups]
        shares = [
            softmax([
                m + log_group(X, (*g, i), exact.columns) - old
                for g, m, old in zip(groups, log_mass, held, strict=True)
            ])
            for i in places
        ]  # fmt: skip
        old = len(partition)
        total += weight * (shares[0][:old] @ shares[1][:old])
    return total


@pytest.mark.parametrize("bound", [None, 2])
def test_similarity_is_that_of_all_partitions(bound):
    model = CRPMixture("binary", **EXACT, max_groups=bound, random_state=0).fit(np.array(BINARY))
    exact = Enumerated(BINARY, TABLES["binary"][1], bound=bound or 99)
    rows = [[0, 1, 1], [1, 0, NAN], [NAN, NAN, NAN]]
    expected = [[exact_similarity(exact, x, y) for y in rows] for x in rows]
    np.testing.assert_allclose(model.similarity(rows), expected, atol=1e-9)
    np.testing.assert_allclose(model.similarity(rows, rows[:1]), np.array(expected)[:, :1])


def test_similarity_of_a_classifier_is_within_classes():
    X, y = np.array(BINARY), np.array([0, 1, 0, 1, 1, 0])
    model = AClassClassifier("binary", **EXACT, random_state=0).fit(X, y)
    exact = [Enumerated(X[y == c].tolist(), TABLES["binary"][1]) for c in (0, 1)]
    one, two = [0, 1, 1], [1, 0, 0]
    p = model.predict_proba([one, two])
    expected = sum(p[0, c] * p[1, c] * exact_similarity(exact[c], one, two) for c in (0, 1))
    assert np.isclose(model.similarity([one], [two])[0, 0], expected, atol=1e-9)


# --- explanations --------------------------------------------------------------------------------


def test_evidence_for_a_class_is_the_mean_over_all_orders():
    """And it sums to the log odds of the row minus those before it."""
    X, y = np.array(CATEGORICAL), np.array([0, 1, 0, 1, 1, 2])
    model = AClassClassifier("categorical", **EXACT, random_state=0).fit(X, y)
    row = [0, 1]
    for against, others in ((None, [0, 2]), (2, [2])):
        why = model.explain(row, label=1, against=against)
        odds = {}
        for known in product([True, False], repeat=2):
            x = [v if k else NAN for v, k in zip(row, known, strict=True)]
            logp = model.predict_log_proba([x])[0]
            odds[known] = logp[1] - logsumexp(logp[others])
        no, first, second, both = (
            odds[k] for k in [(False,) * 2, (True, False), (False, True), (True,) * 2]
        )
        expected = [(first - no + both - second) / 2, (second - no + both - first) / 2]
        np.testing.assert_allclose(why.columns["evidence"], expected, atol=1e-9)
        assert np.isclose(why.columns["evidence"].sum(), both - no, atol=1e-9)


@pytest.mark.parametrize("width", [5, 12])
def test_with_one_group_a_class_evidence_is_that_of_naive_bayes(width):
    """Also where only some of the orders are taken."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, width)).astype(float), rng.integers(0, 2, 40)
    model = AClassClassifier(
        "binary", prior="reference", max_groups=1, n_particles=2, n_islands=1, random_state=0,
        correction="none",
    ).fit(X, y)  # fmt: skip
    row = X[0].copy()
    row[2] = NAN
    ones, n = np.array([X[y == c].sum(axis=0) for c in (0, 1)]), np.bincount(y)[:, None]
    p = (ones + 0.5) / (n + 1)
    logs = np.log(np.where(row == 1, p, 1 - p))
    expected = np.where(np.isnan(row), 0.0, logs[1] - logs[0]) * model.likelihood_power_
    why = model.explain(row, label=1)
    np.testing.assert_allclose(why.columns["evidence"], expected, atol=1e-9)


def test_evidence_for_a_group_compares_it_with_all_groups():
    model = CRPMixture("binary", **EXACT | {"n_particles": 1}, random_state=0).fit(np.array(BINARY))
    row, labels = [0, 1, NAN], model.labels_
    why = model.explain(row)
    groups = [np.flatnonzero(labels == g).tolist() for g in range(model.n_groups_)]
    mass = np.array([*map(len, groups), ALPHA])
    X = np.array(BINARY)

    def probability(g, d):
        cells = X[groups[g], d] if g < len(groups) else np.zeros(0)
        cells = cells[cells == cells]
        return ((cells == row[d]).sum() + 0.5) / (len(cells) + 1)

    p = np.array([[probability(g, d) for d in (0, 1)] for g in range(len(mass))])
    posterior = mass * p.prod(axis=1) / (mass @ p.prod(axis=1))
    assert why.answer == posterior[:-1].argmax() == model.predict([row])[0]
    assert np.isclose(why.new_group, posterior[-1])
    np.testing.assert_allclose(why.groups["probability"].sort_index(), posterior[:-1])
    expected = np.log(p[why.answer] / (mass @ p / mass.sum()))
    np.testing.assert_allclose(why.columns["evidence"], [*expected, 0.0], atol=1e-9)


# --- dependence ----------------------------------------------------------------------------------


def information_correlation(joint):
    """By sums over a table of joint probabilities."""
    joint = joint / joint.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    information = (joint * np.log(joint / np.outer(rows, columns))).sum()
    entropy = min(-(p * np.log(p)).sum() for p in (rows, columns))
    return np.sqrt(np.expm1(-2 * information) / np.expm1(-2 * entropy))


def test_dependence_of_codes_is_a_sum_over_their_values():
    X, columns = TABLES["categorical"]
    model = CRPMixture("categorical", **EXACT, random_state=0).fit(np.array(X))
    exact = Enumerated(X, columns)
    joint = np.exp([[exact.log_density([a, b]) for b in range(3)] for a in range(3)])
    table = model.dependence()
    assert np.isclose(table.loc["x0", "x1"], information_correlation(joint), atol=1e-9)
    assert table.equals(table.T)
    assert (np.diag(table) == 1).all()
