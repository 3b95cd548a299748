"""Missing cells of undirected and dynamic networks against plain enumeration.

Oracles take the mean tables and regressions of a fitted model, and nothing else of it.
"""

from itertools import product

import numpy as np
import pytest

from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet
from infinimix.networks.answers import drawn_cells, neighbours, sequence_cells, sequence_numbers
from infinimix.networks.answers.neighbours import cell_probabilities, conditional
from infinimix.networks.answers.sequence_numbers import StepLines, mean_cells

QUICK = {"n_iter": 12, "n_chains": 2, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:Chains disagree")
SEQUENCES = ["a"] * 12 + ["b"] * 12


def steps(numbers=False):
    """Two sequences in which each column follows another, with holes of all kinds."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 3)) if numbers else rng.integers([2, 3, 2], size=(24, 3)).astype(float)
    for t in range(1, 24):
        if numbers:
            X[t] = 0.8 * np.roll(X[t - 1], 1) + 0.5 * X[t]
        else:
            X[t, 2] = X[t - 1, 0] if rng.random() < 0.9 else X[t, 2]
    holes = X.copy()
    for row, j in ((0, 1), (3, 0), (4, 0), (4, 2), (5, 1), (9, 2), (12, 0), (13, 2), (23, 0)):
        holes[row, j] = np.nan
    return X, holes


@pytest.fixture(scope="module")
def codes():
    X, holes = steps()
    return BlockmodelDynamicNet(columns="categorical", **QUICK).fit(X, sequences=SEQUENCES), holes


def slow_run(mixture, s, X, starts):
    """The probability of complete rows in one network, cell by cell."""
    N, p = X.shape[1], 1.0
    for t in range(0 if starts else 1, len(X)):
        for c in range(N):
            f, code = mixture.index[s, c if t > 0 else N + c], 0
            for parent in mixture.families[f][2]:
                code = code * mixture.cards[parent] + X[t - 1, parent - N]
            p *= mixture.cpt(f)[code, X[t, c]]
    return p


def slow_probabilities(mixture, run):
    """All completions of a run in all networks, one after the other."""
    found = [np.zeros(mixture.cards[j]) for _, j in np.argwhere(run.missing)]
    X = run.X.copy()
    for values in product(*(range(len(p)) for p in found)):
        X[run.missing] = values
        own = [slow_run(mixture, s, X, run.starts) for s in range(len(mixture.weights))]
        for p, v in zip(found, values, strict=True):
            p[v] += mixture.weights @ own
    return [p / p.sum() for p in found]


def runs_of(model, table):
    state = model._fitted
    X, missing = state.columns.codes(model._encode(table))
    return state.mixture, list(sequence_cells.find_runs(X, missing, SEQUENCES))


def test_runs_reach_from_a_whole_row_to_the_next_within_sequences(codes):
    _, runs = runs_of(*codes)
    rows = [run.rows.tolist() for run in runs]
    assert rows == [[0], [3, 4, 5], [9], [12, 13], [23]]
    assert [run.starts for run in runs] == [True, False, False, True, False]
    assert [len(run.X) for run in runs] == [2, 5, 3, 3, 2]


@pytest.mark.parametrize("long", [sequence_cells.LONG, 0])
def test_cells_of_sequences_have_the_probabilities_of_the_enumeration(codes, long, monkeypatch):
    mixture, runs = runs_of(*codes)
    monkeypatch.setattr(sequence_cells, "LONG", long)
    found = sequence_cells.probabilities(mixture, runs, np.random.default_rng(0))
    for run, own in zip(runs, found, strict=True):
        for p, slow in zip(own, slow_probabilities(mixture, run), strict=True):
            np.testing.assert_allclose(p, slow, atol=1e-10)


def test_a_row_without_a_row_before_or_after_has_the_frequencies_of_its_columns(codes):
    model, _ = codes
    filled = model.impute(np.array([[np.nan, 1.0, 0.0], [1.0, np.nan, 1.0]]), ["a", "b"])
    for row, j in ((0, 0), (1, 1)):
        mixture = model._fitted.mixture
        tables = [mixture.cpt(mixture.index[s, 3 + j])[0] for s in range(len(mixture.weights))]
        assert (
            filled[row, j] == model._fitted.columns.states(j)[np.argmax(mixture.weights @ tables)]
        )


def test_a_cell_is_drawn_given_the_network_and_all_other_cells(codes):
    mixture, runs = runs_of(*codes)
    for run in (runs[0], runs[1], runs[4]):
        X = np.where(run.missing, 1, run.X)
        for s in range(3):
            edges = drawn_cells._edges(mixture, s)
            for t, j in np.argwhere(run.missing):
                slow, Y = np.zeros(mixture.cards[j]), X.copy()
                for v in range(len(slow)):
                    Y[t, j] = v
                    slow[v] = slow_run(mixture, s, Y, run.starts)
                children = np.flatnonzero(edges[j]).tolist()
                p = drawn_cells._given_rest(mixture, s, X, t, j, children, run.starts)
                np.testing.assert_allclose(p, slow / slow.sum())


def test_drawn_cells_have_the_probabilities_of_the_enumeration(codes, monkeypatch):
    """With 30 seeds the standard deviation was .05 at most; five of them are .25."""
    mixture, runs = runs_of(*codes)
    monkeypatch.setattr(sequence_cells, "MOST_STEPS", 0)
    monkeypatch.setattr(drawn_cells, "SWEEPS", 400)
    (own,) = sequence_cells.probabilities(mixture, [runs[1]], np.random.default_rng(0))
    for p, slow in zip(own, slow_probabilities(mixture, runs[1]), strict=True):
        assert np.isclose(p.sum(), 1.0)
        assert np.abs(p - slow).max() < 0.25


def test_numbers_of_sequences_have_the_means_of_the_joint_normal(monkeypatch):
    X, holes = steps(numbers=True)
    model = BlockmodelDynamicNet(**QUICK).fit(X, sequences=SEQUENCES)
    mixture, runs = runs_of(model, holes)
    lines = sequence_numbers.read_lines(mixture)
    for run in runs:
        means, logs = [], []
        for own in (StepLines(*parts) for parts in zip(*lines, strict=True)):
            mean, cov = unrolled(own, run)
            seen, hidden = ~run.missing.ravel(), run.missing.ravel()
            gap = run.X.ravel()[seen] - mean[seen]
            inner = cov[np.ix_(seen, seen)]
            means.append(mean[hidden] + cov[np.ix_(hidden, seen)] @ np.linalg.solve(inner, gap))
            log_p = -0.5 * (gap @ np.linalg.solve(inner, gap) + np.linalg.slogdet(inner)[1])
            logs.append(log_p if run.starts else log_p - first_row(own, run))
        w = mixture.weights * np.exp(logs - np.max(logs))
        slow = w @ np.array(means) / w.sum()
        for at_once in (1 << 22, 1):  # all networks together, and one after the other
            monkeypatch.setattr(sequence_numbers, "MOST_NUMBERS", at_once)
            found = mean_cells(lines, mixture.weights, run.X, run.missing, run.starts)
            np.testing.assert_allclose(found, slow, rtol=1e-6, atol=1e-8)
    filled = model.impute(holes, SEQUENCES)
    assert (filled[~np.isnan(holes)] == holes[~np.isnan(holes)]).all()
    assert np.isfinite(filled).all()


def unrolled(own, run):
    """Mean and covariance of all rows of a run; the first has those of first rows."""
    T, N = run.X.shape
    mean, cov = np.zeros(T * N), np.zeros((T * N, T * N))
    mean[:N], cov[:N, :N] = own.first_mean, np.diag(1.0 / own.first_precision)
    for t in range(1, T):
        a, b = slice((t - 1) * N, t * N), slice(t * N, (t + 1) * N)
        mean[b] = own.intercept + own.slope @ mean[a]
        cov[b, : t * N] = own.slope @ cov[a, : t * N]
        cov[: t * N, b] = cov[b, : t * N].T
        cov[b, b] = np.diag(1.0 / own.precision) + own.slope @ cov[a, a] @ own.slope.T
    return mean, cov


def first_row(own, run):
    gap = run.X[0] - own.first_mean
    return 0.5 * (np.log(own.first_precision).sum() - own.first_precision @ gap**2)


def table():
    X = np.random.default_rng(5).integers([2, 3, 2, 2], size=(60, 4)).astype(float)
    X[:40, 3] = X[:40, 0]
    X[20:, 2] = X[20:, 3]
    return X


@pytest.fixture(scope="module")
def net():
    return BlockmodelMarkovNet(columns="categorical", **QUICK).fit(table())


def test_cells_of_undirected_networks_are_those_of_queries(net):
    rows = table()[:4]
    rows[0, 1] = rows[1, 0] = rows[1, 3] = np.nan
    filled = net.impute(rows)
    for i, j in np.argwhere(np.isnan(rows)):
        given = {f"x{k}": rows[i, k] for k in range(4) if not np.isnan(rows[i, k])}
        p = net.query(f"x{j}", given)
        assert filled[i, j] == max(p, key=p.get)
        assert np.allclose(net.predict_column_proba(rows[[i]], f"x{j}")[0], list(p.values()))
        assert net.predict_column(rows[[i]], f"x{j}")[0] == filled[i, j]
    assert (filled[2:] == rows[2:]).all()


def test_the_markov_blanket_of_a_column_are_its_neighbours(net):
    found = net.markov_blanket("x0")
    assert next(iter(found)) == "x3"
    assert found["x3"] == net.edge_marginals_[0, 3]
    assert "x0" not in found


def test_many_columns_are_filled_by_their_conditionals(net, monkeypatch):
    """Two cells drawn in turn have the stationary distribution of the two draws.

    With 30 seeds the standard deviation was .016; six of them are .1.
    """
    monkeypatch.setattr(neighbours, "MOST_ROWS", 1)
    monkeypatch.setattr(neighbours, "SWEEPS", 400)
    state, rng = net._fitted, np.random.default_rng(0)
    X, missing = state.columns.codes(net._encode(table()[:2]))
    missing[0, 1] = missing[1, [0, 3]] = True
    found = cell_probabilities(state, X, missing, rng)
    np.testing.assert_allclose(found[1][0], conditional(state.mixture, 1, X[:1])[0])
    pair = np.repeat(X[1:], 2, axis=0)
    pair[:, 3] = 0, 1
    first = conditional(state.mixture, 0, pair)  # [x3, x0]
    pair[:, 3], pair[:, 0] = X[1, 3], (0, 1)
    second = conditional(state.mixture, 3, pair)  # [x0, x3]
    values, vectors = np.linalg.eig((first @ second).T)
    stay = np.real(vectors[:, np.argmax(values.real)])
    stay /= stay.sum()  # of x3, after both draws
    assert np.abs(found[3][1] - stay).max() < 0.1
    assert np.abs(found[0][1] - stay @ first).max() < 0.1


def test_numbers_of_undirected_networks_are_those_of_queries():
    X = np.random.default_rng(1).normal(size=(40, 3))
    X[:, 2] += 2.0 * X[:, 0]
    model = BlockmodelMarkovNet(**QUICK).fit(X)
    rows = X[:3].copy()
    rows[0, 2] = rows[1, 0] = rows[1, 1] = np.nan
    filled = model.impute(rows)
    given = {"x0": rows[0, 0], "x1": rows[0, 1]}
    assert filled[0, 2] == pytest.approx(model.query("x2", given)["mean"])
    assert filled[1, 1] == pytest.approx(model.query("x1", {"x2": rows[1, 2]})["mean"])
    assert model.predict_column(rows[:1], "x2")[0] == pytest.approx(filled[0, 2])
