"""The pages of docs/ say what is true: their code runs, their links lead somewhere."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
        if "river import" in block and not find_spec("river"):
            pytest.skip("River is not installed: the last block did not run")
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_linked_files_exist(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert link.startswith("https://") or (page.parent / link).is_file()


def test_the_figures_of_the_base_measure_are_those_of_the_code():
    from infinimix.families.priors import REAL_EMPIRICAL, REAL_REFERENCE, STRENGTH

    text = next(p for p in PAGES if p.name == "how-it-works.md").read_text("utf-8")
    text = " ".join(text.split())
    kappa, nu, variance = REAL_EMPIRICAL
    assert f"kappa = {kappa:g}, nu = {nu:g} and scale^2 = {variance:g} times" in text
    kappa, nu, _ = REAL_REFERENCE
    assert f"kappa = {kappa:g}, nu = {nu:g} and the pooled variance" in text
    words = {0.5: "half a row", 1.0: "one row"}
    assert f"{words[STRENGTH['binary']]} (binary)" in text
    assert f"{words[STRENGTH['categorical']]} (categorical)" in text
