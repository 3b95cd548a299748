"""The page of a regressor: performance, coverage, residuals; and what it says without rows."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from infinimix import CRPRegressor
from infinimix.evaluation.regression import judge
from infinimix.reports import write_report
from infinimix.reports.pieces import short
from tests.endtoend.command_files import run, write_csv
from tests.unit.reports.pages import CHROMIUM, check_page, check_phone, run_in_chromium

rng = np.random.default_rng(0)
N = 120
X = pd.DataFrame({"a": rng.normal(size=N), "word": rng.choice(["u", "v<b>"], N)})
Y = pd.Series(3 * X["a"] + (X["word"] == "u") + rng.normal(size=N), name="price & more")
X.loc[::9, "a"] = np.nan


@pytest.fixture(scope="module")
def model():
    return CRPRegressor(effort="fast", random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def file(tmp_path_factory, model):
    """The page of the model and its rows, for tests that read it."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(model, path, rows=X, target=Y)
    return path


def report(tmp_path, model, **options):
    path = tmp_path / "report.html"
    write_report(model, path, **options)
    return check_page(path.read_text("utf-8"))


def test_it_has_all_sections(file):
    page = check_page(file.read_text("utf-8"))
    ids = [a["id"] for a in page.find("section")]
    assert ids == ["performance", "coverage", "columns", "residuals", "missing", "about"]
    assert len(page.find("svg", "plot")) == 3
    assert any("price & more" in text for text in page.texts)
    assert any("better than always predicting the mean" in text for text in page.texts)


def test_without_rows_it_tells_what_it_can(tmp_path, model):
    page = report(tmp_path, model)
    assert [a["id"] for a in page.find("section")] == ["about"]
    assert any("cannot say how well" in text for text in page.texts)


def test_new_rows_are_judged_by_the_model_itself(model):
    found = judge(model, X[:40], Y[:40], 0, held_out=True)
    assert found.how == "held-out rows"
    assert np.array_equal(found.numbers.mean, model.predict(X[:40]))
    by_folds = judge(model, X, Y, 0, held_out=False)
    assert not np.allclose(by_folds.numbers.mean, model.predict(X))
    assert (np.diff(by_folds.inside.mean(axis=0)) >= 0).all()


def test_the_command_writes_it(tmp_path):
    rows = [(a, w, y) for a, w, y in zip(X["a"].fillna(0), X["word"], Y, strict=True)]
    table = write_csv(tmp_path / "t.csv", rows, ("a", "word", "price"))
    saved, out = tmp_path / "m.imx", tmp_path / "r.html"
    run("fit", table, "-t", "price", "-o", saved, "--effort", "fast", "--regression")
    run("report", saved, table, "--output", out)
    page = out.read_text("utf-8")
    assert "How well it does" in page
    told = json.loads(
        run("evaluate", table, "-t", "price", "--effort", "fast", "--regression", "--json").stdout
    )
    low, high = told["r2_interval"]
    assert f"{told['r2']:.3f}" in page  # both fit the same models to the same folds
    assert f"{low:.3f} to {high:.3f}" in page
    assert "of price" in page
    assert "from t.csv" in page
    first = told["importance"][0]
    assert first["column"] == "a"
    assert first["importance"] > 1.0
    half = first["interval"][1] - first["importance"]
    assert f"{short(first['importance'])} \u00b1 {short(half)}" in page


def test_rows_without_a_number_are_left_out_and_rows_keep_their_places(tmp_path, model):
    y = Y.copy()
    y[:7] = np.nan
    y[30] = 1e3
    found = judge(model, X, y, 0, held_out=True)
    assert np.array_equal(found.places, np.arange(7, N))
    page = report(tmp_path, model, rows=X, target=y, held_out=True)
    place = page.texts.index("The rows with the largest errors")
    assert "31" in page.texts[place : place + 8]


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on the PATH")
def test_it_fits_a_phone(tmp_path, file):
    check_phone(shutil.copy(file, tmp_path / "report.html"), tmp_path)


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
def test_no_text_of_a_chart_leaves_its_picture(tmp_path, model):
    large = CRPRegressor(effort="fast", random_state=0).fit(X, 1e6 * Y)
    path = tmp_path / "report.html"
    write_report(large, path, rows=X, target=1e6 * Y)
    script = """
      const out = [];
      for (const svg of document.querySelectorAll("svg.plot")) {
        const all = svg.getBoundingClientRect();
        for (const text of svg.querySelectorAll("text")) {
          const box = text.getBoundingClientRect();
          if (box.left < all.left - 1 || box.right > all.right + 1) out.push(text.textContent);
        }
      }
      return [document.querySelectorAll("svg.plot").length, out];
    """
    assert run_in_chromium(path, script, tmp_path) == ([3, []], [])
