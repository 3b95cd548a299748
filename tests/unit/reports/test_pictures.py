import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from infinimix.reports.pictures import SHADES, draw_grid


def cells(path):
    """The cells that a path of rectangles covers."""
    found = set()
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path):
        found |= {(int(y), int(x) + i) for i in range(int(width))}
    return found


def paths(svg):
    return list(ET.fromstring(svg).iter("path"))


def test_every_cell_is_drawn_with_its_shade():
    grid = np.random.default_rng(0).random((5, 7))
    drawn = np.zeros(grid.shape)
    for path in paths(draw_grid(grid, "noise")):
        for cell in cells(path.get("d")):
            assert drawn[cell] == 0
            drawn[cell] = float(path.get("fill-opacity", 1))
    np.testing.assert_allclose(drawn, grid, atol=0.5 / SHADES + 1e-12)


def test_missing_cells_are_hatched_and_never_inked():
    grid = np.array([[np.nan, 1.0], [0.0, np.nan]])
    tint, hatch, ink = paths(draw_grid(grid, "holes"))
    assert tint.get("class") == "missing"
    assert cells(tint.get("d")) == {(0, 0), (1, 1)}
    assert hatch.get("d").count("M") == 2
    assert (ink.get("class"), cells(ink.get("d"))) == ("ink", {(0, 1)})


def test_an_empty_picture_has_no_paths():
    assert paths(draw_grid(np.zeros((8, 8)), "nothing")) == []


def test_integers_and_lists_will_do():
    assert draw_grid([[0, 1]], "x") == draw_grid(np.array([[0.0, 1.0]]), "x")


@pytest.mark.parametrize("label", ['a "quoted" label', "<b> & 'c'", "ünï"])
def test_the_label_is_escaped(label):
    assert ET.fromstring(draw_grid([[1]], label)).get("aria-label") == label


def test_a_picture_is_a_few_paths():
    assert len(draw_grid(np.random.default_rng(0).random((8, 8)), "noise")) < 3000
