"""Plots show the figures that were measured; they are looked at by hand."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from infinimix import AClassClassifier, BlockmodelBayesNet, CRPMixture, MaxMarginDPMeans
from infinimix.evaluation.importance import measure_importance
from infinimix.evaluation.predictions import cross_validate
from infinimix.reports import plots
from tests.unit.reports.pages import mixed_table

X, Y = mixed_table()
SMALL = {"effort": "fast", "n_islands": 1, "n_particles": 2, "sweeps": 0, "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def no_screen():
    mpl.use("Agg")
    yield
    mpl.pyplot.close("all")


@pytest.fixture(scope="module")
def classifier():
    return AClassClassifier(**SMALL).fit(X, Y)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_prototypes(classifier, ax):
    label = classifier.classes_[0]
    assert plots.plot_prototypes(classifier, label, ax=ax) is ax
    table = classifier.prototypes(label)
    assert len(ax.texts) == len(table) * X.shape[1]
    assert len(ax.get_yticklabels()) == len(table)
    assert "Groups" in plots.plot_prototypes(CRPMixture(**SMALL).fit(X)).get_title()


def test_of_many_columns_those_that_distinguish_are_shown(ax):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(60, 30)), columns=[f"c{j}" for j in range(30)])
    wide["c7"] += 9.0 * (np.arange(60) % 2)
    plots.plot_prototypes(CRPMixture(**SMALL).fit(wide), ax=ax)
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert len(names) == plots.MOST_COLUMNS
    assert "c7" in names


def test_groups(classifier, ax):
    plots.plot_groups(classifier, ax=ax)
    assert len(ax.patches) == classifier.n_groups_.sum()
    assert sum(bar.get_width() for bar in ax.patches) == len(X)


def test_importance_is_what_was_measured(classifier, ax):
    found = cross_validate(classifier, X, Y)
    plots.plot_importance(found, ax=ax)
    expected = measure_importance(found, hide=False)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        [one.shuffled.value for one in expected]
    )
    again = plots.plot_importance(classifier, X, Y)
    assert [bar.get_width() for bar in again.patches] == [bar.get_width() for bar in ax.patches]


def test_calibration(classifier, ax):
    new, labels = mixed_table(40, seed=1)
    plots.plot_calibration(classifier, new, labels, held_out=True, ax=ax)
    points = ax.lines[1].get_xydata()
    confidence = classifier.predict_proba(new).max(axis=1)
    assert points[:, 0].mean() == pytest.approx(confidence.mean())


def test_roles_and_the_display_of_a_network(ax):
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 4)), columns=[*"abc", "<i>"])
    frame["b"] = frame["a"]
    net = BlockmodelBayesNet(n_iter=100, n_chains=1, random_state=0)
    assert "a block for each role" not in net._repr_mimebundle_()["text/html"]
    net.fit(frame)
    plots.plot_roles(net, ax=ax)
    names = {text.get_text() for text in ax.texts}
    assert {"a", "b", "c", "<i>"} <= names
    for html in (net._repr_mimebundle_()["text/html"], net._repr_html_()):
        assert "a block for each role" in html
        assert "&lt;i&gt;" in html
        assert "<i>" not in html.rpartition("<img")[2]
        assert "a -&gt; b" in html or "b -&gt; a" in html


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda m: plots.plot_prototypes(m), ValueError, "needs the label of a class"),
        (lambda m: plots.plot_roles(m), TypeError, "needs a model that has roles"),
        (lambda m: plots.plot_importance(m), ValueError, "Give the rows X and their labels y"),
        (lambda m: plots.plot_importance(m, X[:4], Y[:4]), ValueError, "too few labelled rows"),
    ],
)
def test_what_cannot_be_drawn_is_told(classifier, draw, error, words):
    with pytest.raises(error, match=words):
        draw(classifier)


@pytest.mark.filterwarnings("ignore:Clusters hold")
def test_models_without_groups_are_told():
    model = MaxMarginDPMeans(random_state=0).fit(X[["noise"]], Y)
    with pytest.raises(TypeError, match="needs a model that has groups"):
        plots.plot_groups(model)
