from xml.etree import ElementTree as ET

import numpy as np
import pytest

from infinimix.reports import charts


@pytest.mark.parametrize("high", [1e-3, 0.37, 1.0, 7.0, 12345.0, 9.9e7])
def test_ticks_are_few_inside_and_even(high):
    ticks = charts.nice_ticks(0.0, high)
    assert 2 <= len(ticks) <= 6
    assert ticks[0] == 0
    assert ticks[-1] <= high * (1 + 1e-9)
    assert np.ptp(np.diff(ticks)) <= 1e-9 * high


def test_one_value_is_one_tick():
    assert charts.nice_ticks(2.0, 2.0) == [2.0]


def test_a_curve_is_broken_where_a_value_is_missing():
    svg = charts.draw_line([1, 2, 3, 4, 5], [0.1, 0.2, np.nan, 0.3, 0.1], "x", "rows", str)
    (curve,) = [p for p in ET.fromstring(svg).iter("path") if p.get("class") == "curve"]
    assert curve.get("d").count("M") == 2
    assert curve.get("d").count("L") == 2


def test_labels_are_escaped():
    label = '<b> & "c"'
    svg = ET.fromstring(charts.draw_line([1, 2], [0.1, 0.2], label, label, str))
    assert svg.get("aria-label") == label


def test_points_of_a_reliability_plot_lie_inside():
    svg = charts.draw_reliability([(0.3, 0.2, 0.05, 0.5, 0.1), (0.99, 1.0, 0.9, 1.0, 0.9)], "x")
    dots = list(ET.fromstring(svg).iter("circle"))
    assert len(dots) == 2
    for dot in dots:
        assert 0 <= float(dot.get("cx")) <= charts.WIDTH
        assert 0 <= float(dot.get("cy")) <= 280
