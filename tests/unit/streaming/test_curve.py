"""A sliding window by hand, and long streams that keep their curves short."""

import numpy as np
import pytest

from infinimix.streaming.curve import PLACES, Curve

values = np.random.default_rng(0).random(500)
values[::7] = np.nan


@pytest.mark.parametrize("size", [1, 3, 64, 500])
def test_it_is_the_mean_of_the_latest_rows_however_they_are_cut(size):
    curve = Curve(50, ("a", "b"))
    for i in range(0, 500, size):
        curve.add(values[i : i + size], -values[i : i + size])
    columns = curve.columns()
    assert columns["row"] == list(range(5, 501, 5))
    for row, a, b in zip(*columns.values(), strict=True):
        assert a == -b == np.nanmean(values[max(0, row - 50) : row])
    assert curve.latest.shape == (2, 50)


def test_it_ends_at_the_end():
    curve = Curve(100, ("a",))
    curve.add(values[:13])
    assert curve.columns() == {
        "row": [10, 13],
        "a": [np.nanmean(values[:10]), np.nanmean(values[:13])],
    }


def test_a_long_stream_keeps_a_short_curve():
    whole, parts = Curve(10, ("a",)), Curve(10, ("a",))
    many = np.resize(values, 50_000)
    whole.add(many)
    for i in range(0, 50_000, 777):
        parts.add(many[i : i + 777])
    columns = whole.columns()
    assert PLACES // 2 - 1 <= len(columns["row"]) <= PLACES + 1
    assert columns == parts.columns()
    assert set(np.diff(columns["row"][:-1])) == {whole.stride}
    for row, mean in list(zip(*columns.values(), strict=True))[::50]:
        assert mean == np.nanmean(many[max(0, row - 10) : row])


def test_nothing_but_gaps_is_a_gap():
    curve = Curve(10, ("a",))
    curve.add(np.full(10, np.nan))
    assert np.isnan(curve.columns()["a"]).all()
    assert Curve(10, ("a",)).columns() == {"row": [], "a": []}
