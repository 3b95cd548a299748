"""The resolution of a column: the step of its grid, of encoded cells, kept in the schema."""

import numpy as np
import pytest

from infinimix.tables import Schema, read_schema
from infinimix.tables.resolution import find_grid, find_resolution, snap

rng = np.random.default_rng(0)
NORMAL = rng.normal(size=2000)
COLUMNS = {
    "whole": (np.rint(5 * NORMAL), 1.0),
    "cents": (np.rint(300 * NORMAL) / 100, 0.01),
    "halves": (np.rint(6 * NORMAL) / 2 + 0.25, 0.5),
    "inches": (2.54 * np.rint(5 * NORMAL), 2.54),
    "uneven": (rng.choice([0.5, 2.5, 6.0, 9.0, 13.0], 2000), 2.0),
    "strays": (np.where(np.arange(2000) % 200, np.rint(NORMAL), NORMAL), 1.0),
    "two values": (np.where(NORMAL > 1, 3.0, 7.0), 4.0),
    "constant": (np.full(2000, 7.0), 0.0),
    "time stamps": (1.7e9 + np.rint(5 * NORMAL), 1.0),
    "large": (1e140 * np.rint(5 * NORMAL), 1e140),
}


@pytest.mark.parametrize(("x", "d"), COLUMNS.values(), ids=COLUMNS)
def test_the_resolution_is_the_step_of_the_grid(x, d):
    assert find_resolution(x) == pytest.approx(d, rel=1e-6)
    assert find_resolution(x[rng.permutation(len(x))]) == pytest.approx(d, rel=1e-6)


@pytest.mark.parametrize("n", [30, 300, 100_000])
def test_continuous_numbers_have_none(n):
    x = np.random.default_rng(n).normal(size=n)
    assert find_resolution(x) == 0.0


def test_rounding_errors_are_no_steps():
    x = np.tile([0.1 + 0.2, 0.3, 1.1 - 0.2, 0.9, 0.6], 10)
    assert find_resolution(x) == pytest.approx(0.3)


def test_few_rows_say_nothing():
    assert find_resolution(np.arange(9.0) % 4) == 0.0
    assert find_resolution(np.arange(10.0) % 4) == 1.0


def test_the_first_rows_of_a_stream_do_not_decide_what_was_asked_for():
    X = np.column_stack([np.rint(5 * NORMAL), np.rint(5 * NORMAL)])
    assert read_schema(X, {0: "real"}, stream=True).resolutions == {"x1": 1.0}


def test_schemas_have_it_in_encoded_units_and_keep_it():
    X = np.column_stack([np.rint(5 * NORMAL), NORMAL > 0, np.exp(np.rint(2 * NORMAL))])
    schema = read_schema(X, {2: "real:log"})
    assert schema.resolutions == {"x0": 1.0, "x2": pytest.approx(1.0)}
    assert Schema.from_json(schema.to_json()) == schema
    assert read_schema(X, schema.requests()) == schema
    saved = schema.to_json()
    del saved["resolutions"]
    assert Schema.from_json(saved).resolutions == {}


def test_spiked_columns_have_that_of_the_other_values():
    x = np.where(np.arange(2000) % 2, 0.0, 10.0 * np.rint(5 * NORMAL) + 5.0)
    assert read_schema(x[:, None], "spiked").resolutions == {"x0": 10.0}


def test_holes_do_not_matter():
    x = np.where(np.arange(2000) % 3, np.rint(5 * NORMAL), np.nan)
    assert read_schema(x[:, None], "real").resolutions == {"x0": 1.0}


@pytest.mark.parametrize(
    ("name", "step"),
    [("whole", 1.0), ("cents", 0.01), ("halves", 0.5), ("uneven", 0.5), ("strays", 1.0)],
)
def test_natural_values_lie_on_a_grid(name, step):
    x, _ = COLUMNS[name]
    origin, found = find_grid(x)
    assert found == pytest.approx(step)
    shown = snap(x + 0.3 * step * np.sign(NORMAL), origin, found)
    assert (np.abs(shown - x) < 1e-9)[np.arange(2000) % 200 != 0].all()


def test_what_lies_on_no_grid_has_none():
    assert find_grid(NORMAL) is None
    assert find_grid(np.tile([0.0, 1.0, 1.0 + np.pi], 100)) is None


def test_grid_values_are_written_as_they_are():
    x = np.tile(np.arange(10) / 10, 10)
    assert snap(x + 0.01, *find_grid(x)).tolist() == x.tolist()
