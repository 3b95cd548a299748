import numpy as np
import pytest

from infinimix import OnlineCRPClassifier
from infinimix.reports import write_stream_report
from infinimix.reports.stream_page import stream_page
from infinimix.streaming import prequential
from tests.unit.reports.pages import CHROMIUM, NASTY, check_page, run_in_chromium


@pytest.fixture(scope="module")
def result():
    words = {"a": "red apple", "b": "fast car", "c": "late goal"}
    y = np.random.default_rng(0).choice(list(words), 300).tolist()
    return prequential(OnlineCRPClassifier(), ([words[label] for label in y], y), window=50)


def test_all_curves_of_a_run(result, tmp_path):
    write_stream_report(result, tmp_path / "stream.html", title=NASTY)
    page = check_page((tmp_path / "stream.html").read_text("utf-8"))
    for title in ("Error", "New classes", "Throughput", "Log-loss", "Confidence", "Calibration"):
        assert title in page.texts
    assert len(page.find("svg", "plot")) == 6
    assert f"{result.error:.1%}" in page.texts


def test_a_frame_and_a_mapping_have_the_same_curves(result):
    frame = result.to_frame()
    page = stream_page(frame)
    assert page == stream_page(frame.reset_index()) == stream_page(result.curve)
    check_page(page)


def test_errors_alone_are_enough_and_one_point_too():
    page = check_page(stream_page({"row": [5], "error": [0.25]}))
    assert len(page.find("svg", "plot")) == 1
    assert page.find("circle", "dot")


def test_a_curve_without_values_is_left_out():
    page = stream_page({"row": [1, 2], "error": [1.0, 0.5], "log_loss": [np.nan, np.nan]})
    assert len(check_page(page).find("svg", "plot")) == 1


@pytest.mark.parametrize(
    ("history", "error", "message"),
    [
        ({"row": [1]}, TypeError, "'row' and 'error'"),
        ([1, 2], TypeError, "history must be"),
        ({"row": [], "error": []}, ValueError, "empty"),
        ({"row": [1, 2], "error": [0.5]}, ValueError, "differ in length"),
    ],
)
def test_other_things_are_refused(history, error, message, tmp_path):
    with pytest.raises(error, match=message):
        write_stream_report(history, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on the PATH")
def test_it_loads_in_a_browser(result, tmp_path):
    path = tmp_path / "stream.html"
    write_stream_report(result, path)
    script = "const d = document.documentElement; return d.scrollWidth <= d.clientWidth;"
    assert run_in_chromium(path, script, tmp_path) == (True, [])
