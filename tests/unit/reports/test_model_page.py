import copy
import shutil

import numpy as np
import pandas as pd
import pytest

from infinimix import (
    AClassClassifier,
    CRPImputer,
    CRPMixture,
    DPMeans,
    MaxMarginDPMeans,
    OnlineCRPClassifier,
)
from infinimix.evaluation.importance import measure_importance
from infinimix.evaluation.predictions import cross_validate
from infinimix.reports import write_report
from tests.unit.reports.pages import (
    CHROMIUM,
    NASTY,
    Parsed,
    check_page,
    check_phone,
    mixed_table,
)

X, Y = mixed_table()
SMALL = {"effort": "fast", "n_islands": 1, "n_particles": 2, "sweeps": 0, "random_state": 0}


@pytest.fixture(scope="module")
def classifier():
    return AClassClassifier(**SMALL).fit(X, Y)


@pytest.fixture(scope="module")
def file(tmp_path_factory, classifier):
    """The page of the classifier and its rows, for tests that read it."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(classifier, path, rows=X, target=Y)
    return path


@pytest.fixture(scope="module")
def page(file):
    return check_page(file.read_text("utf-8"))


def report(tmp_path, model, **options):
    path = tmp_path / "report.html"
    write_report(model, path, **options)
    return check_page(path.read_text("utf-8"))


def test_a_classifier_has_all_sections(page, classifier):
    ids = [a["id"] for a in page.find("section")]
    assert ids == ["performance", "learned", "columns", "hardest", "missing", "about"]
    assert len(page.find("article", "hardrow")) == 6
    assert len(page.find("div", "prototype")) == classifier.n_groups_.sum()
    assert len(page.find("svg", "plot")) == 1
    assert len(page.find("svg", "strip")) == 2  # the columns with holes
    for text in ("<b>no</b>", "yes & no"):
        assert text in page.texts  # as text, not as markup
    assert any(NASTY[:20] in text for text in page.texts)


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on the PATH")
def test_it_fits_a_phone(tmp_path, file):
    check_phone(shutil.copy(file, tmp_path / "report.html"), tmp_path)


def test_without_rows_a_page_tells_what_was_learned(tmp_path, classifier):
    before = copy.deepcopy(classifier).sample(3)[0]
    page = report(tmp_path, classifier)
    assert [a["id"] for a in page.find("section")] == ["learned", "columns", "about"]
    pd.testing.assert_frame_equal(classifier.sample(3)[0], before)  # nothing was drawn from it


def test_the_seed_decides_the_page(tmp_path, file, classifier):
    pages = [file.read_text("utf-8")]  # of seed 0
    for seed in (0, 1):
        write_report(classifier, tmp_path / "page.html", rows=X, target=Y, seed=seed)
        pages.append((tmp_path / "page.html").read_text("utf-8"))
    assert pages[0] == pages[1] != pages[2]


def test_held_out_rows_are_judged_by_the_model_itself(tmp_path, classifier):
    new, labels = mixed_table(40, seed=1)
    page = report(tmp_path, classifier, rows=new, target=labels, held_out=True)
    assert any("40 rows, held-out rows" in text for text in page.texts)
    right = (classifier.predict(new) == labels).mean()
    assert f"{right:.1%}" in page.texts


def test_labels_may_be_missing(tmp_path, classifier):
    labels = Y.astype(object)
    labels[:5] = None
    page = report(tmp_path, classifier, rows=X, target=labels)
    assert any("55 rows, 5-fold" in text for text in page.texts)


def test_pixels_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    pixels = (rng.random((40, 16)) < np.where(y[:, None] == 0, 0.1, 0.9)).astype(float)
    pixels[rng.random(pixels.shape) < 0.2] = np.nan
    frames = {c: pd.DataFrame(pixels, columns=[f"{c}{i}" for i in range(16)]) for c in "pv"}
    models = {c: AClassClassifier(**SMALL).fit(frame, y) for c, frame in frames.items()}
    for letter, image, drawn in (
        ("p", None, True),
        ("v", None, False),
        ("v", (4, 4), True),
        ("p", False, False),
    ):
        model, frame = models[letter], frames[letter]
        page = report(tmp_path, model, rows=frame, target=y, image=image, held_out=True)
        assert bool(page.find("figure")) is drawn
        assert bool(page.find("div", "prototype")) is not drawn


def test_a_mixture(tmp_path):
    page = report(tmp_path, CRPMixture(**SMALL).fit(X), rows=X)
    ids = [a["id"] for a in page.find("section")]
    assert ids == ["groups", "together", "strange", "missing", "about"]
    numbers = X[["noise"]].to_numpy()
    page = report(tmp_path, CRPMixture(**SMALL).fit(numbers), rows=numbers)
    assert [a["id"] for a in page.find("section")] == ["groups", "about"]


def test_a_stream_classifier_of_text(tmp_path):
    rows = ["red apple", "green apple", NASTY, "fast car", "slow car"] * 4
    labels = (["fruit"] * 3 + ["car"] * 2) * 4
    model = OnlineCRPClassifier(open_world=True).partial_fit(rows, labels)
    model.partial_fit(["oboe solo", "oboe and harp"], [None, None])
    page = report(tmp_path, model, rows=rows, target=labels)
    assert any("oboe" in text for text in page.texts)
    assert NASTY in page.texts  # a hard row
    assert any("apple" in text for text in page.texts)


def test_a_stream_classifier_of_a_table(tmp_path):
    model = OnlineCRPClassifier(columns="auto").fit(X, Y)
    page = report(tmp_path, model, rows=X, target=Y)
    assert "columns" in [a["id"] for a in page.find("section")]


@pytest.mark.filterwarnings("ignore:Clusters hold")
def test_clusters_with_experts(tmp_path):
    numbers = X[[NASTY, "noise"]]
    page = report(
        tmp_path, MaxMarginDPMeans(random_state=0).fit(numbers, Y), rows=numbers, target=Y
    )
    assert page.find("div", "prototype")


def test_plain_clusters(tmp_path):
    model = DPMeans(random_state=0).fit(X[["noise"]])
    assert report(tmp_path, model).find("div", "prototype")


def columns_that_matter(page):
    """The rows of the section on columns, as text."""
    first = page.texts.index("Which columns matter", page.texts.index("Which columns matter") + 1)
    return page.texts[first : page.texts.index("The hardest rows", first)]


def test_columns_are_listed_with_what_was_measured(page, classifier):
    expected = measure_importance(cross_validate(classifier, X, Y, seed=0))
    texts = columns_that_matter(page)
    figures = [text for text in texts if "±" in text]
    for one, *own in zip(expected, figures[0::3], figures[1::3], figures[2::3], strict=True):
        for text, interval in zip(own, (one.shuffled, one.alone, one.beyond), strict=True):
            value, half = (float(part.replace("−", "-")) for part in text.split("±"))
            assert value == pytest.approx(interval.value, abs=6e-4)
            assert half == pytest.approx(interval.high - interval.value, abs=6e-4)
    assert len(set(figures)) > 2  # and not one number for every column
    names = [name for name in texts if name in ("flag", "noise")]
    assert names == [one.name for one in expected if one.name in ("flag", "noise")]
    worth = {one.name: one.alone for one in expected}
    assert worth["flag"].value > worth["noise"].value
    assert expected[0].shuffled.low > 0 >= expected[-1].shuffled.low


def test_the_page_names_its_target(tmp_path, classifier):
    named = pd.Series(Y, name="kind <of> it")
    page = report(tmp_path, classifier, rows=X, target=named, held_out=True)
    assert "kind <of> it: a classifier of 2 classes" in page.texts


def test_the_page_names_its_file_and_judges_against_the_largest_class(tmp_path, classifier):
    page = report(tmp_path, classifier, rows=X, target=Y, source="insects.csv", target_name="kind")
    assert any("from insects.csv" in text for text in page.texts)
    assert "kind: a classifier of 2 classes" in page.texts
    assert any("than always predicting" in text for text in page.texts)
    assert {"ROC AUC", "balanced accuracy"} <= set(page.texts)


def test_a_learned_relevance_is_believed(tmp_path):
    class Told(AClassClassifier):
        feature_relevance_ = np.array([0.1, 0.9, 0.5, 0.0])

    page = report(tmp_path, Told(**SMALL, relevance="learn").fit(X, Y), rows=X, target=Y)
    names = [text for text in page.texts if text in ("colour", "flag", "noise")]
    assert names.index("colour") < names.index("flag")
    assert "0.900" in page.texts
    assert "importance" in page.texts  # and what was measured is there too


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": Y}, "target was given without rows"),
        ({"rows": X, "target": Y[:3]}, "rows has 60 rows, but target has 3 labels"),
        ({"rows": X, "target": ["z"] * 60, "held_out": True}, "none of the classes"),
        ({"image": (3, 3)}, "image is 3 by 3, but there are 4 columns"),
        ({"image": (2, 2)}, "image needs columns of numbers"),
    ],
)
def test_wrong_input_is_refused_and_nothing_is_written(tmp_path, classifier, options, message):
    with pytest.raises(ValueError, match=message):
        write_report(classifier, tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_a_page_is_refused(tmp_path):
    with pytest.raises(TypeError, match="no report for CRPImputer"):
        write_report(CRPImputer(**SMALL).fit(X[["noise"]]), tmp_path / "page.html")


def test_a_report_shows_itself_in_a_notebook(tmp_path, classifier):
    path = tmp_path / "page.html"
    shown = write_report(classifier, path)
    assert shown.path == path
    assert shown.html == path.read_text("utf-8")
    assert "page.html" in repr(shown)
    (frame,) = Parsed(shown._repr_html_()).find("iframe")
    assert frame["srcdoc"] == shown.html  # escaped, and so the same when read again


def test_strange_rows_of_a_mixture_may_be_so_by_parts_of_a_date(tmp_path):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 60), "D")
    rows = pd.DataFrame({"size": rng.normal(size=60), "when": days})
    rows.loc[7, "when"] = pd.Timestamp("2019-06-30")
    mixture = CRPMixture(effort="fast", random_state=0).fit(rows)
    write_report(mixture, tmp_path / "page.html", rows=rows)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "when days of 2019-06-30" in text
