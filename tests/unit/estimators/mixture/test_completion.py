"""Numbers filled by regressions: the ridge against its formula, and all that must carry it."""

import io

import numpy as np
import pandas as pd
import pytest

from infinimix import CRPImputer, load, save
from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.common.features import category_values
from infinimix.estimators.mixture.completion import STRENGTHS, best_ridge


def plane(n=300, seed=0, share=0.15):
    """Numbers on a plane, a category that shifts it, and whole numbers; some cells missing."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["u", "v"], n)
    a, b = rng.normal(size=(2, n))
    c = 2.0 * a - b + np.where(kind == "u", 1.0, -1.0) + 0.2 * rng.normal(size=n)
    whole = np.clip(np.rint(3.0 + a), 1, 6)
    full = pd.DataFrame({"a": a, "b": b, "c": c, "kind": kind, "whole": whole})
    gone = rng.random((n, 5)) < share
    return full, full.mask(gone), gone


def error(filled, full, gone, names):
    gaps = [
        (filled[name].astype(float) - full[name])[gone[:, full.columns.get_loc(name)]]
        for name in names
    ]
    return float(np.sqrt(np.mean(np.concatenate(gaps) ** 2)))


@pytest.fixture(scope="module")
def imputer():
    return CRPImputer(random_state=0, n_islands=4).fit(plane()[1])


def test_the_ridge_has_the_least_error_when_each_row_is_left_out():
    rng = np.random.default_rng(1)
    X, noise = rng.normal(size=(40, 5)), rng.normal(size=40)
    y = X @ np.array([1.0, -1.0, 0.0, 0.0, 0.5]) + noise + 2.0

    def predict(strength, rows, x):
        mean, centre = X[rows].mean(axis=0), y[rows].mean()
        gap = X[rows] - mean
        slope = np.linalg.solve(gap.T @ gap + strength * np.eye(5), gap.T @ (y[rows] - centre))
        return centre + (x - mean) @ slope

    slow = []
    for strength in STRENGTHS:
        others = [np.delete(np.arange(40), i) for i in range(40)]
        slow.append(np.mean([(y[i] - predict(strength, others[i], X[i])) ** 2 for i in range(40)]))
    found, least = best_ridge(X, y)
    assert least == pytest.approx(min(slow), rel=1e-9)
    best = STRENGTHS[int(np.argmin(slow))]
    np.testing.assert_allclose(found[0] + X @ found[1:], predict(best, np.arange(40), X), rtol=1e-9)


def test_features_that_say_nothing_leave_the_mixture_as_it_is():
    rng = np.random.default_rng(2)
    found, least = best_ridge(rng.normal(size=(60, 30)), 0.01 * rng.normal(size=60))
    assert (found == 0.0).all()
    assert least > 0.0


def test_features_of_landmarks_are_used_only_where_they_clearly_help():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2.0, 2.0, (200, 1))
    near = 3.0 * np.exp(-((x - np.linspace(-2.0, 2.0, 20)) ** 2))
    X = np.concatenate([x, near], axis=1)
    noise = 0.2 * rng.normal(size=200)
    line, _ = best_ridge(X, x[:, 0] + noise, 1)
    assert line[1] == pytest.approx(1.0, abs=0.1)
    assert (line[2:] == 0.0).all()
    y = np.sin(3.0 * x[:, 0]) + noise
    curve, error = best_ridge(X, y, 1)
    assert (curve[2:] != 0.0).all()
    assert error < 0.3 * best_ridge(x, y)[1]
    assert error == pytest.approx(best_ridge(X, y)[1])


def test_numbers_on_a_plane_are_filled_much_better(imputer):
    full, holed, gone = plane()
    alone = CRPImputer(random_state=0, n_islands=4, correction="none").fit(holed)
    names = ["a", "b", "c"]
    mine, its = (
        error(imputer.transform(holed), full, gone, names),
        error(alone.transform(holed), full, gone, names),
    )
    assert mine < 0.8 * its
    fresh, fresh_holed, fresh_gone = plane(300, seed=5)
    assert error(imputer.transform(fresh_holed), fresh, fresh_gone, names) < 0.85 * error(
        alone.transform(fresh_holed), fresh, fresh_gone, names
    )


def test_observed_cells_stay_and_filled_ones_are_in_range(imputer):
    _, holed, _ = plane()
    filled = imputer.transform(holed)
    assert filled.notna().all(axis=None)
    observed = holed.notna()
    assert (filled.where(observed) == holed).where(observed, True).all(axis=None)
    for name in ("a", "b", "c"):
        assert filled[name].between(holed[name].min(), holed[name].max()).all()


def test_the_uncertainty_is_that_of_the_better_answer(imputer):
    full, holed, gone = plane()
    alone = CRPImputer(random_state=0, n_islands=4, correction="none").fit(holed)
    at = gone[:, 2]
    mine = imputer.uncertainty(holed)["c"].to_numpy()[at]
    assert mine.mean() < 0.8 * alone.uncertainty(holed)["c"].to_numpy()[at].mean()
    gap = (imputer.transform(holed)["c"] - full["c"]).to_numpy()[at]
    assert 0.5 < np.sqrt((gap**2).mean()) / np.sqrt((mine**2).mean()) < 1.6


def test_the_mean_of_categories_is_that_of_their_probabilities(imputer):
    """Against draws: the mean of a number that is a category, given the rest of the row."""
    model = CRPImputer({"whole": "categorical"}, random_state=0, n_islands=2).fit(plane()[1])
    row = plane(1, seed=7, share=0.0)[0].assign(whole=np.nan)
    table, bank = model._rows(row), model._state.bank
    values = np.array(category_values(table.schema, 4), float)
    found = predictive_of(bank).expect(table.blocks, *table.schema.places[4], values)
    many = table.take(np.zeros(20_000, np.int64))
    drawn, _ = predictive_of(bank).draw(many.blocks, np.random.default_rng(0))
    b, k = table.schema.places[4]
    sample = values[drawn[b][:, k]]
    assert abs(sample.mean() - found[0]) < 4.0 * sample.std() / np.sqrt(20_000)  # 6 in 100,000


def test_categories_that_were_asked_for_stay_categories():
    _, holed, _ = plane()
    model = CRPImputer({"whole": "categorical"}, random_state=0, n_islands=2).fit(holed)
    filled = model.transform(holed)["whole"]
    assert set(filled) <= set(holed["whole"].dropna())


def test_it_is_saved_and_goes_on(imputer):
    file = io.BytesIO()
    save(imputer, file)
    again = load(io.BytesIO(file.getvalue()))
    _, holed, _ = plane(40, seed=3)
    pd.testing.assert_frame_equal(again.transform(holed), imputer.transform(holed))
    again.partial_fit(holed.assign(kind="w"))  # a category that the regressions do not know
    assert again.transform(holed).notna().all(axis=None)


def test_files_whose_regressions_do_not_fit_are_refused(imputer):
    tree = imputer._state.to_tree()
    parts = tree["completing"]["completion"]
    changes = (
        (0, np.array([0, 1, 99])), (2, -parts[2]), (6, parts[6][:, :, 1:]),
        (8, np.array([99])), (9, np.zeros(9)), (11, parts[11][:, 1:]), (11, parts[11] + np.inf),
    )  # fmt: skip
    for k, change in changes:
        broken = [*parts[:k], change, *parts[k + 1 :]]
        with pytest.raises(ValueError, match="regressions"):
            type(imputer._state).from_tree(
                tree | {"completing": tree["completing"] | {"completion": broken}}, imputer
            )


def test_files_without_landmarks_are_read(imputer):
    """They were written when regressions were linear, and those of them stay so."""
    tree = imputer._state.to_tree()
    *parts, curved, _, _, landmarks = tree["completing"]["completion"]
    assert len(landmarks) == 128
    assert len(curved) == 0  # no column of the plane has a transform
    parts[6] = parts[6][:, :, :-128]
    old = tree | {"completing": tree["completing"] | {"completion": parts}}
    state = type(imputer._state).from_tree(old, imputer)
    table = imputer._rows(plane(20, seed=3)[1])
    filled = state.completing.fill(state.bank, table)
    assert all(np.isfinite(values).all() for values, _ in filled.values())


def test_few_rows_and_fast_fits_have_none():
    _, holed, _ = plane(40)
    assert CRPImputer(random_state=0).fit(holed)._state.completing is None
    _, holed, _ = plane(100)
    assert CRPImputer(effort="fast", random_state=0).fit(holed)._state.completing is None
    words = pd.DataFrame({"kind": ["u", "v", None] * 30})
    assert CRPImputer(random_state=0).fit(words)._state.completing is None
