"""What a notebook shows: HTML that is escaped and well-formed, of frames that stay frames."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, CRPMixture
from infinimix.estimators.answers.displays import html_table
from tests.unit.reports.pages import NASTY, Parsed

SMALL = {"effort": "fast", "n_islands": 1, "n_particles": 2, "sweeps": 0, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = pd.DataFrame({NASTY: rng.normal(4.0 * y), "colour": np.where(y, "red", NASTY)})
    return AClassClassifier(**SMALL).fit(X, y)


def test_tables_are_escaped_and_have_bars():
    page = Parsed(html_table(["<b>", "n"], [(NASTY, 2.0), (None, -1.0)], bar=1, caption=NASTY))
    assert NASTY in page.texts
    assert "<b>" in page.texts
    assert not page.find("script")
    styles = [cell["style"] for cell in page.find("td") if "gradient" in cell["style"]]
    assert "100%" in styles[0]
    assert "50%" in styles[1]


def test_prototypes_are_frames_with_bars(model):
    table = model.prototypes(0)
    assert isinstance(table, pd.DataFrame)
    page = Parsed(table._repr_html_())
    assert len(page.find("tr")) == len(table) + 1
    assert any("gradient" in cell["style"] for cell in page.find("td"))
    assert type(table.head(1)) is pd.DataFrame  # parts have other columns in other places
    pd.testing.assert_frame_equal(table, model.prototypes(0))
    for again in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(again))
    assert isinstance(CRPMixture(**SMALL).fit([[1.0], [5.0]]).prototypes()._repr_html_(), str)


def test_explanations_have_bars(model):
    why = model.explain({NASTY: 4.0, "colour": "red"})
    page = Parsed(f"<div>{why._repr_html_()}</div>")
    assert NASTY in page.texts
    assert not page.find("script")
    bars = [cell for cell in page.find("td") if "gradient" in cell["style"]]
    assert len(bars) == len(why.columns) + len(why.groups)
