"""The scripts of the gallery run, and each is named on its page."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.skipif(not SCRIPTS, reason="the documentation is not here")
def test_the_page_names_them_all():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in SCRIPTS if f"`{path.name}`" not in page] == []
    assert len(SCRIPTS) >= 6


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_says_something(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
