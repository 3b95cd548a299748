import numpy as np
import pytest
from rich.console import Console

from infinimix.reports import demo
from infinimix.reports.comparison import Result


def test_the_split_has_the_asked_share_of_holes():
    split = demo.load_split(seed=1, missing=0.4)
    assert (len(split.y_train), len(split.y_test)) == (1257, 540)
    for X in (split.X_train, split.X_test):
        assert np.isnan(X).mean() == pytest.approx(0.4, abs=0.01)
        assert set(np.unique(X[~np.isnan(X)])) == {0.0, 1.0}


def test_the_seed_decides_the_split():
    first, again, other = (demo.load_split(seed, 0.3) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.y_test, other.y_test)


def test_no_holes():
    assert not np.isnan(demo.load_split(seed=0, missing=0.0).X_train).any()
    assert demo.title_of(0.0) == "Digits, no cell missing"


RESULTS = [
    Result("infinimix", None, np.array([True]), 0.1, 0.5, 0.004),
    Result("peer", None, np.array([True]), 0.2, 0.25, 2.0),
]


def test_cells_mark_the_best_of_each_column():
    (_, own), (_, peer) = demo.make_cells(RESULTS)
    assert own == [("10.0%", 0.5, True), ("0.500", 1.0, False), ("< 0.01 s", 0.002, True)]
    assert peer == [("20.0%", 1.0, False), ("0.250", 0.5, True), ("2.00 s", 1.0, False)]


@pytest.mark.parametrize("width", [40, 80])
def test_the_table_prints_without_colours_and_in_little_space(width):
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(demo.make_table(RESULTS, "title"))
    assert "10.0%" in capture.get()
    assert "…" not in capture.get()
