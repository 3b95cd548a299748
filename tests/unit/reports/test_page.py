from pathlib import Path

import pytest

from infinimix.reports import page

NASTY = "<script>alert('x')</script> & \"y\""


@pytest.mark.parametrize(
    "piece",
    [
        page.header(NASTY, NASTY, NASTY),
        page.section(NASTY, []),
        page.paragraph(NASTY),
        page.bullets([NASTY]),
        page.code(NASTY),
        page.table(NASTY, [NASTY], [page.row(NASTY, [page.cell(NASTY, 0.5)])]),
        page.figure("", NASTY, NASTY),
        page.group(NASTY, NASTY, []),
        page.legend([("", NASTY)]),
        page.cards(NASTY, []),
        page.card("", True, NASTY, ""),
        page.chances([(NASTY, 0.5)], NASTY),
        page.footer(NASTY),
        page.build_page(NASTY, []),
    ],
)
def test_text_cannot_become_markup(piece):
    assert "<script" not in piece
    assert "&lt;script&gt;" in piece


def test_a_page_carries_its_style():
    text = page.build_page("title", [page.paragraph("body")])
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>title</title>" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "<p>body</p>" in text


def test_every_class_of_the_pieces_has_a_style():
    style = Path(page.__file__).with_name("page.css").read_text(encoding="utf-8")
    for name in ("own", "winner", "best", "bar", "number", "figures", "class", "legend",
                 "cards", "card", "verdict", "wrong", "chances", "true", "grid", "ink",
                 "missing", "hatch", "lead", "brand", "note"):  # fmt: skip
        assert f".{name}" in style


def test_the_best_number_is_marked_in_words():
    assert ">best<" in page.cell("0.1", 0.5, best=True)
    assert "best" not in page.cell("0.1", 0.5)


def test_only_the_true_label_is_marked():
    first, second = page.chances([("a", 0.7), ("b", 0.3)], "b").splitlines()[1:-1]
    assert "true" not in first.replace('aria-hidden="true"', "")
    assert '<li class="true">' in second


@pytest.mark.parametrize(
    ("p", "text"), [(0, "< 1%"), (1, "> 99%"), (0.5, "50%"), (0.01, "1%"), (0.99, "99%")]
)
def test_percent(p, text):
    assert page.percent(p) == text


def test_a_page_replaces_the_old_one(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    page.write_page(path, "neu: é")
    assert path.read_bytes() == "neu: é".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        page.write_page(tmp_path / "no" / "page.html", "x")
