import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.networks import (
    BlockmodelDynamicNet,
    BlockmodelMarkovNet,
    NetworkFranchise,
    sample_network,
)
from infinimix.reports import write_report
from infinimix.reports.layout import NODE_WIDTH, lay_out
from infinimix.reports.network_page import strongest
from infinimix.reports.undecided import show_undecided
from tests.unit.reports.pages import CHROMIUM, NASTY, check_page, run_in_chromium


@pytest.fixture(scope="module")
def model():
    X = pd.DataFrame(np.asarray(sample_network((2, 2), random_state=1).sample(60, random_state=0)))
    X.columns = [NASTY, "b", "c", "a long name of a variable"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BlockmodelBayesNet(n_iter=60, n_chains=2, random_state=0).fit(X)


@pytest.fixture
def path(model, tmp_path):
    write_report(model, tmp_path / "network.html")
    return tmp_path / "network.html"


def test_the_page(model, path):
    page = check_page(path.read_text("utf-8"))
    assert [a["id"] for a in page.find("section")] == [
        "graph", "edges", "matrices", "roles", "about",
    ]  # fmt: skip
    assert len(page.find("g", "node")) == 4
    edges = page.find("g", "edge")
    expected = strongest(model.edge_marginals_)
    assert [(int(e["data-from"]), int(e["data-to"])) for e in edges] == [e[:2] for e in expected]
    hidden = [e for e in edges if "hidden" in e["class"].split()]
    assert len(hidden) == sum(p < 0.5 for *_, p in expected)
    assert len(page.find("svg", "heat")) == 2
    assert len(page.find("tr")) >= len(expected)


def test_the_figures_for_the_script_are_those_of_the_model(model, path):
    text = re.search(r'id="figures">(.*?)</script>', path.read_text("utf-8"), re.S).group(1)
    figures = json.loads(text)
    assert figures["names"][0] == NASTY
    assert sorted(figures["order"]) == [0, 1, 2, 3]
    np.testing.assert_allclose(figures["edges"], model.edge_marginals_, atol=0.0006)
    np.testing.assert_allclose(figures["together"], model.co_class_marginals_, atol=0.0006)


def fit_quietly(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def rows(n=60):
    X = np.asarray(sample_network((2, 2), random_state=1).sample(n, random_state=0))
    return pd.DataFrame(X, columns=[NASTY, "b", "c", "d"])


def test_pairs_of_unknown_direction_have_a_table(tmp_path):
    two = np.arange(100) % 2
    X = pd.DataFrame({"a": two, "b": np.where(np.arange(100) % 10 == 0, 1 - two, two)})
    model = fit_quietly(BlockmodelBayesNet(n_iter=200, n_chains=2, random_state=0), X)
    undecided = model.edge_marginals_.max() < 0.5
    write_report(model, tmp_path / "network.html")
    assert ("neither direction" in (tmp_path / "network.html").read_text("utf-8")) == undecided
    shown = "".join(show_undecided(["a", "b"], np.array([[0.0, 0.4], [0.5, 0.0]]), 0.6))
    assert re.findall(r"[\d.]+%(?=</td>)", shown) == ["90.0%", "50.0%", "40.0%"]
    assert list(show_undecided(["a", "b"], np.array([[0.0, 0.4], [0.5, 0.0]]), 0.5)) == []


def test_an_undirected_network_has_lines_and_a_dynamic_one_loops(tmp_path):
    quick = {"n_iter": 40, "n_chains": 2, "random_state": 0}
    model = fit_quietly(BlockmodelMarkovNet(required=[("b", "c")], **quick), rows())
    write_report(model, tmp_path / "markov.html")
    text = (tmp_path / "markov.html").read_text("utf-8")
    page = check_page(text)
    assert len(page.find("g", "edge")) == len(strongest(np.triu(model.edge_marginals_)))
    assert "marker-end" not in text
    assert "b – c" in text
    assert "the other way" not in text
    model = fit_quietly(BlockmodelDynamicNet(required=[("d", "d")], **quick), rows())
    write_report(model, tmp_path / "dynamic.html")
    text = (tmp_path / "dynamic.html").read_text("utf-8")
    edges = check_page(text).find("g", "edge")
    assert ("3", "3") in {(e["data-from"], e["data-to"]) for e in edges}
    assert "it persists" in text


def test_networks_that_share_roles_stand_on_one_page(tmp_path):
    model = NetworkFranchise(n_iter=30, n_chains=2, random_state=0)
    model = fit_quietly(model, {"lungs": rows(), "liver": rows(40)[["b", "c", "d"]]})
    write_report(model, tmp_path / "several.html")
    page = check_page((tmp_path / "several.html").read_text("utf-8"))
    assert [a["id"] for a in page.find("section")] == ["roles", "network-0", "network-1", "about"]
    assert len(page.find("g", "node")) == 7
    titles = [axes.get_title() for axes in model.plot().axes]
    assert titles[0].startswith("lungs: ")
    assert titles[-1] == "P(one role)"


def test_variables_of_a_role_stand_in_one_band_and_none_overlap():
    rng = np.random.default_rng(0)
    roles = rng.integers(0, 3, 30)
    edges = np.triu(rng.random((30, 30)), 1)
    layout = lay_out(edges, roles)
    for band in layout.bands:
        assert sorted(band.members) == np.flatnonzero(roles == band.role).tolist()
        y = layout.place[band.members, 1]
        assert (y > band.top).all()
        assert (y < band.top + band.height).all()
    for i in range(30):
        for j in range(i):
            if layout.place[i, 1] == layout.place[j, 1]:
                assert abs(layout.place[i, 0] - layout.place[j, 0]) >= NODE_WIDTH
    assert (layout.place[:, 0] >= NODE_WIDTH / 2).all()
    assert (layout.place[:, 0] <= 720 - NODE_WIDTH / 2).all()


def test_sources_stand_above_unless_roles_have_an_order():
    edges, roles = np.zeros((2, 2)), np.array([0, 1])
    edges[1, 0] = 1.0
    assert [band.role for band in lay_out(edges, roles).bands] == [1, 0]
    assert [band.role for band in lay_out(edges, roles, ordered=True).bands] == [0, 1]


DRIVE = """
  const slider = document.getElementById("threshold");
  const count = () => document.querySelectorAll("#network .edge:not(.hidden)").length;
  const lines = () => document.querySelectorAll("#edge-table tbody tr:not([hidden])").length;
  const at = (value) => {
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
    const told = document.getElementById("edge-count").textContent;
    return [count(), lines(), told, document.getElementById("threshold-value").textContent];
  };
  const seen = [count(), at(0.05), at(1)];
  at(0.05);
  const node = document.querySelector("#network .node");
  node.focus();  // which is silent in a window that is not in front
  if (!document.hasFocus()) node.dispatchEvent(new FocusEvent("focus"));
  const near = document.querySelectorAll("#network .edge.near").length;
  const told = document.getElementById("told").textContent;
  const heat = document.querySelector(".heat");
  heat.focus();
  for (const key of ["ArrowDown", "ArrowRight"])
    heat.dispatchEvent(new KeyboardEvent("keydown", { key: key, cancelable: true }));
  const read = document.getElementById("read-edges").textContent;
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  return { seen: seen, near: near, told: told, read: read, wide: wide };
"""


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on the PATH")
def test_the_slider_works_in_a_browser(model, path, tmp_path):
    answer, console = run_in_chromium(path, DRIVE, tmp_path)
    assert console == []
    found = strongest(model.edge_marginals_)
    sure = sum(p >= 1.0 for *_, p in found)
    first, low, high = answer["seen"]
    assert first == sum(p >= 0.5 for *_, p in found)
    assert low == [len(found), len(found), f"{len(found)} of {len(found)} edges shown", "5%"]
    assert high == [sure, sure, f"{sure} of {len(found)} edges shown", "100%"]
    assert answer["near"] == sum(0 in (i, j) for i, j, _ in found)
    assert answer["told"].startswith(NASTY + ": parents ")
    assert re.fullmatch(r".+ to .+: \d+%|.+ to .+: > 99%", answer["read"], re.S)
    assert not answer["wide"]


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on the PATH")
def test_a_script_error_would_be_seen(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<html lang='en'><body><p>x</p><script>nothing()</script></body></html>", "utf-8"
    )
    answer, console = run_in_chromium(page, "return 1;", tmp_path)
    assert answer == 1
    assert "nothing is not defined" in console[0]
