"""The power of the likelihood: found on rows that were held out when they were scored."""

import numpy as np
import pytest
from scipy.special import logsumexp

from infinimix import AClassClassifier
from infinimix.estimators.aclass.calibration import LARGEST, Calibration, calibrate
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.bank import Bank, Settings
from tests.oracle.enumeration import log_beside
from tests.unit.estimators.states import differences, state_of

SMALL = {"n_particles": 4, "n_islands": 2, "random_state": 0, "correction": "none"}
CALIBRATE = "infinimix.estimators.aclass.correction.calibrate"


def two_classes(n, seed=0):
    """Binary rows of two classes with two groups each: what the model takes them for."""
    rng = np.random.default_rng(seed)
    y, group = rng.integers(0, 2, (2, n))
    share = np.random.default_rng(9).beta(1.0, 1.0, (2, 2, 6))
    return (rng.random((n, 6)) < share[y, group]).astype(float), y


def fitted(X, y, **changes):
    return AClassClassifier("binary", **(SMALL | changes)).fit(X, y)


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
def test_the_power_is_the_most_probable_one(factor):
    rng = np.random.default_rng(0)
    codes, log_density = rng.integers(0, 3, 80), factor * rng.normal(size=(80, 3))
    log_density[np.arange(80), codes] += 1.5 * factor
    log_prior = np.log(rng.dirichlet(np.ones(3), 80))
    grid = np.linspace(-LARGEST, LARGEST, 401)
    for _ in range(2):  # then between the neighbours of the best one
        joint = log_prior + np.exp(grid)[:, None, None] * log_density
        log_p = joint[:, np.arange(80), codes] - logsumexp(joint, axis=2)
        best = grid[np.argmax(log_p.sum(axis=1) - 0.5 * grid**2)]
        grid = np.linspace(best - grid[1] + grid[0], best + grid[1] - grid[0], 401)
    assert calibrate(log_density, codes, log_prior).power == pytest.approx(np.exp(best), rel=1e-3)


@pytest.mark.parametrize("factor", [0.3, 4.0])
def test_a_power_may_be_bounded(factor):
    rng = np.random.default_rng(0)
    codes, log_density = rng.integers(0, 2, 80), factor * rng.normal(size=(80, 2))
    log_density[np.arange(80), codes] += 1.5 * factor
    free, bounded = (
        calibrate(log_density, codes, np.zeros((80, 2)), None, *up) for up in ((), (0.0,))
    )
    assert bounded.power == min(free.power, 1.0)
    assert (bounded.loss > free.loss) == (free.power > 1.0) == (factor < 1.0)


def test_rows_as_the_model_takes_them_have_a_power_near_one():
    X, y = two_classes(800)
    assert 0.8 < fitted(X, y).likelihood_power_ < 1.25


def test_columns_that_stand_there_five_times_have_a_small_power():
    X, y = two_classes(800)
    query, truth = two_classes(800, seed=1)
    model = fitted(np.tile(X, 5), y)
    assert 0.05 < model.likelihood_power_ < 0.5
    sure = fitted(np.tile(X, 5), y, calibrate=False)
    loss = [
        -m.predict_log_proba(np.tile(query, 5))[np.arange(800), truth].mean() for m in (model, sure)
    ]
    assert loss[0] < 0.8 * loss[1]


def test_without_calibration_it_is_one():
    X, y = two_classes(60)
    plain, tempered = fitted(X, y, calibrate=False), fitted(X, y)
    assert plain.likelihood_power_ == 1.0
    assert (plain.score_samples(X) == tempered.score_samples(X)).all()  # densities have no power
    joint = plain._log_joint(plain._rows(X))
    power = tempered.likelihood_power_
    assert power != 1.0
    mixed = power * (joint - plain._log_prior()) + plain._log_prior()
    mixed -= logsumexp(mixed, axis=1, keepdims=True)
    np.testing.assert_allclose(tempered.predict_log_proba(X), mixed, rtol=1e-10, atol=1e-10)


def test_a_stream_has_power_one_and_keeps_what_fit_has_found():
    X, y = two_classes(60)
    model = AClassClassifier("binary", **SMALL).partial_fit(X, y)
    assert model.likelihood_power_ == 1.0
    power = model.fit(X, y).likelihood_power_
    assert model.partial_fit(X, y).likelihood_power_ == power != 1.0


def test_the_class_prior_is_that_of_the_other_rows_held_out(monkeypatch):
    X, y = two_classes(60)
    y[:] = np.arange(60) % 5 == 0
    seen = []
    monkeypatch.setattr(CALIBRATE, lambda *args: seen.append(args) or Calibration(1.0, 0.0))
    fitted(X, y, gamma=2.5)
    log_density, codes, log_prior, weight, _ = seen[0]
    assert weight is None
    n = len(codes)
    assert log_density.shape == (n, 2)
    assert 15 <= n <= 30  # a quarter by each of two islands
    own = codes == 0
    first = (own.sum() - own + 2.5) / (n - 1 + 2 * 2.5)
    np.testing.assert_allclose(np.exp(log_prior), np.column_stack([first, 1 - first]))


@pytest.mark.parametrize("sweeps", [0, 2])
def test_few_rows_and_few_classes(sweeps):
    X, y = two_classes(20)
    one = fitted(X, np.zeros(20), sweeps=sweeps)
    assert one.likelihood_power_ == pytest.approx(1.0, rel=1e-3)
    y = np.array(["many"] * 19 + ["once"])
    assert 0.05 < fitted(X, y, sweeps=sweeps).likelihood_power_ < 20.0
    alone = fitted(X[:1], ["p"], sweeps=sweeps)
    assert alone.likelihood_power_ == pytest.approx(1.0, rel=1e-3)
    hollow = fitted(np.full((4, 2), np.nan), list("ppqq"), sweeps=sweeps)
    assert hollow.likelihood_power_ == pytest.approx(1.0, rel=1e-3)


def test_calibration_does_not_depend_on_the_number_of_jobs():
    X, y = two_classes(40)
    one, three = fitted(X, y, n_islands=3, sweeps=2), fitted(X, y, n_islands=3, sweeps=2, n_jobs=3)
    assert differences(state_of(one), state_of(three)) == []


@pytest.mark.parametrize("bound", [None, 2])
def test_densities_of_held_out_rows_are_those_of_a_model_without_them(bound):
    """By hand: each row beside the groups of the first three quarters of each class."""
    rng = np.random.default_rng(1)
    X = (rng.integers(0, 2, (24, 2)).astype(np.int8), rng.normal(size=(24, 1)))
    codes = np.arange(24) % 3 % 2
    names = {"binary": ("a", "b"), "real": ("c",)}
    prior = {"a": (1.0, 2.0), "b": (0.5, 0.5), "c": (0.0, 0.3, 3.0, 1.0)}
    settings = Settings(1.3, prior, 1, 3, "optimal", bound, 0)
    bank = Bank(settings, Layout(names, np.zeros(0, np.int64)), np.random.SeedSequence(4))
    execute = lambda task, payloads: list(map(task, payloads))  # noqa: E731
    held_out, found = bank.fit(X, codes, 2, execute, record=True, check=True)
    tables = []
    for island in bank.islands:
        table = np.full((24, 2), np.nan)
        known = [(rows[: round(0.75 * len(rows))], z) for rows, z in island.paths]
        rest = [rows[round(0.75 * len(rows)) :] for rows, _ in island.paths]
        for i in np.concatenate(rest):
            for c, (rows, z) in enumerate(known):  # one particle: no row has moved since
                at = z[: len(rows)]
                groups = [rows[at == k].tolist() for k in set(at.tolist())]
                table[i, c] = log_beside(island.family, X, groups, i, 1.3, bound)
        tables.append(table)
    scored = ~np.isnan(tables).any(axis=2)
    assert held_out.tolist() == np.flatnonzero(scored.any(axis=0)).tolist()
    total = logsumexp(np.where(np.isnan(tables), -np.inf, tables), axis=0)
    expected = total[held_out] - np.log(scored.sum(axis=0)[held_out])[:, None]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_scoring_held_out_rows_changes_nothing():
    X, y = two_classes(90)
    plain, scored = fitted(X, y, calibrate=False), fitted(X, y)
    assert (plain.score_samples(X) == scored.score_samples(X)).all()
    changed = differences(state_of(plain), state_of(scored))
    assert changed == ["correction"]


def test_of_many_rows_some_are_scored(monkeypatch):
    monkeypatch.setattr("infinimix.inference.ensemble.bank.MOST_CHECKED", 25)
    X, y = two_classes(60)
    seen = []
    monkeypatch.setattr(CALIBRATE, lambda *args: seen.append(args) or Calibration(1.0, 0.0))
    fitted(X, y, n_islands=16)
    log_density, codes, *_ = seen[0]
    assert 20 <= len(codes) <= 25
    assert np.isfinite(log_density).all()
    assert 0 < codes.sum() < len(codes)
