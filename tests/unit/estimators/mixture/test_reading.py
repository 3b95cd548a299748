"""What mixtures say of rows without one column each: against hiding the column and asking again."""

import numpy as np
import pandas as pd
import pytest

from infinimix import CRPImputer
from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.common.ridge import solve_ridge, solve_ridges
from infinimix.estimators.mixture.reading import Reader
from infinimix.families.expectations import expect_cells, expect_without
from infinimix.families.gaussian import groups_of


@pytest.fixture(scope="module")
def asked():
    """A model with a block, of a table of all kinds, and its rows."""
    rng = np.random.default_rng(0)
    n = 120
    a, b = rng.normal(size=(2, n)) + rng.integers(0, 2, n) * 4.0
    full = pd.DataFrame(
        {
            "a": a,
            "b": a - b,
            "c": np.exp(a + 0.3 * rng.normal(size=n)),
            "whole": np.clip(np.rint(3.0 + b), 1, 6),
            "alone": rng.normal(size=n),
            "kind": np.where(a > 2.0, "u", "v"),
            "yes": rng.random(n) < 0.3,
        }
    )
    holed = full.mask(rng.random(full.shape) < 0.25)
    columns = {"c": "real:log", "whole": "count", "alone": "real"}
    model = CRPImputer(columns, random_state=0, n_islands=2).fit(holed)
    return model, model._rows(holed)


def reader_of(model, table):
    state = model._state
    found = state.completing.completion
    args = state.completing.joint, table.schema, found.columns, found.n_categories
    return Reader(state.bank, *args)


def test_rows_without_a_column_are_those_in_which_it_is_hidden(asked):
    model, table = asked
    reader = reader_of(model, table)
    assert reader.joint is not None
    quick = reader.read_without(table)
    slow = [reader.read(table.hide(np.array([j]))) for j in reader.columns]
    for one, other in zip(quick, slow, strict=True):
        for mine, its in zip(one, other, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-10)


def test_means_of_a_block_are_those_of_the_conditional_t(asked):
    model, table = asked
    joint = model._state.completing.joint
    mixture, cells = predictive_of(joint.bank), joint.numbers.cells(table)
    found = expect_cells(groups_of(mixture.stats[0]), mixture.log_weight, cells)
    np.testing.assert_allclose(found, mixture.fill((cells,))[0][0], rtol=1e-8, atol=1e-10)


def test_rows_with_no_cell_or_one_are_answered(asked):
    model, table = asked
    joint = model._state.completing.joint
    mixture, cells = predictive_of(joint.bank), joint.numbers.cells(table)
    few = np.full((1 + cells.shape[1], cells.shape[1]), np.nan)  # the first row has no cell at all
    np.fill_diagonal(few[1:], np.nanmean(cells, axis=0) + 0.3)
    found = expect_without(groups_of(mixture.stats[0]), mixture.log_weight, few)
    np.testing.assert_allclose(found[0], mixture.fill((few,))[0][0], rtol=1e-8, atol=1e-10)
    for j in range(cells.shape[1]):  # without its one cell a row is as the first
        np.testing.assert_allclose(found[1 + j, 1 + j], found[0, 0], rtol=1e-8, atol=1e-10)


def test_slots_without_weight_count_for_nothing(asked):
    model, table = asked
    joint = model._state.completing.joint
    mixture, cells = predictive_of(joint.bank), joint.numbers.cells(table)
    groups, some = groups_of(mixture.stats[0]), np.arange(1, len(mixture.log_weight))
    without = np.append(-np.inf, mixture.log_weight[1:])
    found = expect_cells(groups, without, cells)
    np.testing.assert_array_equal(found, expect_cells(groups.of(some), without[1:], cells))


def test_one_decomposition_serves_all_ridges():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    X[:, 5] = X[:, 4]  # the squares may be singular
    for penalty, line in zip((0.1, 10.0), solve_ridges(X, y, (0.1, 10.0)), strict=True):
        slow = solve_ridge(X, y, np.full(6, penalty))
        assert line.intercept == pytest.approx(slow.intercept)
        np.testing.assert_allclose(line.coefficients, slow.coefficients, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(line.left_out, slow.left_out, rtol=1e-8)
