"""`make docs` builds a site that needs no network; skipped where MkDocs is not installed."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (find_spec("mkdocs") and find_spec("material") and find_spec("mkdocstrings")),
    reason="needs the extra [docs]: make docs installs it",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr  # mkdocs.yml is strict: a warning is an error
    return folder


def test_every_page_is_built_and_in_the_menu(site):
    menu = (site / "index.html").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        built = page.with_suffix(".html").name
        assert (site / built).is_file()
        assert f'href="{built}"' in menu, page.name


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.glob("*.html"):
        text = page.read_text("utf-8")
        loads = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=\"([^\"]+)\"", text)
        assert loads
        assert not [link for link in loads if link.startswith(("http", "//"))], page.name


def test_the_reference_has_parameters_and_examples(site):
    text = (site / "api.html").read_text("utf-8")
    for word in ("n_islands", "partial_fit", "explain", "edge_marginals_", "held_out"):
        assert word in text
