"""`infinimix demo`, as a shell runs it: the table it prints and the page it writes."""

import html
import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout

import pytest

from tests.endtoend.command_files import refuse, run
from tests.unit.reports.pages import Tags

METHODS = ("infinimix", "naive Bayes", "logistic regression", "random forest", "RBF SVM")


def run_python(*args):
    return subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )


class Page(Tags):
    """The tags of a page, and the texts in each kind of tag."""

    def __init__(self, text):
        self.texts = {}
        super().__init__(text)

    def handle_data(self, data):
        if self.open and data.strip():
            self.texts.setdefault(self.open[-1], []).append(data.strip())


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "page.html"
    return run_python("-m", "infinimix", "demo", "-o", str(path)), path


@pytest.fixture(scope="module")
def page(demo):
    return Page(demo[1].read_text(encoding="utf-8"))


def test_it_succeeds_and_says_where_the_page_is(demo):
    done, path = demo
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(str(path))
    assert "Warning" not in done.stderr


def test_json_has_the_figures_of_the_table(tmp_path):
    page = tmp_path / "page.html"
    args = ("demo", "--missing", "0.1", "--jobs", "2", "--json", "-o", str(page))
    told = json.loads(run(*args).stdout)
    assert [one["classifier"] for one in told["classifiers"]] == list(METHODS)
    assert all(0.0 < one["error"] < 0.3 < 3 * one["log_loss"] for one in told["classifiers"])
    assert (told["missing"], told["page"]) == (0.1, str(page))
    assert page.exists()


def test_it_is_quiet_when_nobody_watches(demo):
    announced = [line for line in demo[0].stderr.splitlines() if "compiling" not in line]
    assert announced == []


def test_only_the_page_is_left_in_the_folder(demo):
    assert [p.name for p in demo[1].parent.iterdir()] == ["page.html"]


def test_the_table_has_all_methods_and_a_best_in_each_column(demo):
    out = demo[0].stdout
    rows = [re.search(rf"^ +{name} +(.*\d.*)$", out, re.M).group(1) for name in METHODS]
    cells = [re.findall(r"(?:< )?([\d.]+)(?:%| s)?( \*)?", row) for row in rows]
    assert all(len(row) == 3 for row in cells)
    for column in zip(*cells, strict=True):
        numbers = [float(number) for number, _ in column]
        assert min(numbers) in [float(number) for number, best in column if best]


def test_the_library_does_well_on_holes(demo):
    """With a third of the cells gone it is the best by error and log-loss, on this seed."""
    assert re.search(r"infinimix +[\d.]+% \* +[\d.]+ \*", demo[0].stdout)


def test_the_page_needs_nothing_else(demo, page):
    text = demo[1].read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    assert "url(" not in text
    assert page.find("script") == []
    links = [a[key] for _, a in page.tags for key in ("src", "href") if key in a]
    assert all(link.startswith("data:") for link in links)


def test_the_page_is_announced_to_browsers_and_readers(page):
    assert page.find("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in page.find("meta")
    assert any(meta.get("name") == "viewport" for meta in page.find("meta"))
    assert page.texts["title"] == ["Digits with 30% of the cells missing: infinimix demo"]
    assert len(page.find("h1")) == 1


def test_every_picture_has_a_text(page):
    pictures = page.find("svg")
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in pictures)
    labels = [svg["aria-label"] for svg in pictures]
    assert sum("pixels missing" in label for label in labels) == 12


def test_every_prototype_has_a_picture(demo, page):
    total = int(re.search(r"(\d+)\s+in\s+all", demo[0].stdout).group(1))
    labels = [svg["aria-label"] for svg in page.find("svg")]
    found = [re.match(r"Prototype (\d+) of (\d+) of the digit (\d)", label) for label in labels]
    found = [tuple(int(x) for x in match.groups()) for match in found if match]
    assert len(found) == len(set(found)) == total == len(page.find("figure"))
    for digit in range(10):
        own = [(i, n) for i, n, d in found if d == digit]
        assert own == [(i + 1, len(own)) for i in range(len(own))]
        assert own


def test_the_page_shows_the_printed_table(demo, page):
    assert len(page.find("table")) == 1
    names = [text for text in page.texts["th"] if text in METHODS]
    assert tuple(names) == METHODS
    printed = re.findall(r"\d+\.\d+%", demo[0].stdout)
    assert [text for text in page.texts["span"] if re.fullmatch(r"\d+\.\d+%", text)] == printed


def test_the_code_on_the_page_gives_the_printed_error(demo):
    text = demo[1].read_text(encoding="utf-8")
    code = re.search(r"<code>(.*?)</code>", text, re.S).group(1)
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(html.unescape(code), "page.html", "exec"), {})
    error = float(re.search(r"error ([\d.]+)", out.getvalue()).group(1))
    assert f" {error:.1%} *" in demo[0].stdout


@pytest.mark.parametrize("name", ["folder/page.html", ".", "file/page.html"])
def test_a_page_that_cannot_be_written_is_refused_in_one_line(tmp_path, name):
    (tmp_path / "file").touch()
    line = refuse("demo", "-o", tmp_path / name)
    assert line.startswith("infinimix demo: --output: ")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder nobody can write to")
def test_a_folder_without_write_permission_is_refused_in_one_line():
    assert "'/proc/self' is not writable" in refuse("demo", "-o", "/proc/self/page.html")


def test_a_failed_write_is_told_in_one_line(tmp_path, monkeypatch):
    def fail(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("infinimix.reports.demo.run", fail)
    assert "No space left on device" in refuse("demo", "-o", tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
