"""The pages of docs/ say what is true: their code runs, their links lead somewhere."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))


OTHERS = [page for page in PAGES if page.name != "tutorial.md"]  # test_tutorial.py runs that page


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.name)
def test_the_python_runs(page, tmp_path, monkeypatch, few_islands):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
        if "river import" in block and not find_spec("river"):
            pytest.skip("River is not installed: the last block did not run")
        exec(compile(block, page.name, "exec"), names)


def slugs(page):
    """The anchors of a page: its headings, as the site and code hosts name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.is_file(), link
        assert not anchor or anchor in slugs(target), link


def test_every_public_name_has_its_place_in_the_reference():
    import infinimix

    text = next(p for p in PAGES if p.name == "api.md").read_text("utf-8")
    for name in infinimix.__all__:
        assert re.search(rf"^::: infinimix\.\S*\.{name}$|`{name}`", text, re.M), name
    for path in re.findall(r"^::: (\S+)$", text, re.M):
        module, _, name = path.rpartition(".")
        assert hasattr(import_module(module), name), path


def test_the_figures_of_the_base_measure_are_those_of_the_code():
    from infinimix.families.base_measures import REAL_EMPIRICAL, REAL_REFERENCE, STRENGTH

    text = next(p for p in PAGES if p.name == "how-it-works.md").read_text("utf-8")
    text = " ".join(text.split())
    kappa, nu, variance = REAL_EMPIRICAL
    assert f"kappa = {kappa:g}, nu = {nu:g} and scale^2 = {variance:g} times" in text
    kappa, nu, _ = REAL_REFERENCE
    assert f"kappa = {kappa:g}, nu = {nu:g} and the pooled variance" in text
    words = {0.5: "half a row", 1.0: "one row"}
    assert f"{words[STRENGTH['binary']]} (binary)" in text
    assert f"{words[STRENGTH['categorical']]} (categorical)" in text
