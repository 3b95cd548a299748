"""Titles above the header, totals below the rows, headers repeated, decimals that begin with 0."""

import json

import openpyxl
import pytest

from tests.endtoend.command_files import insects, invoke, refuse, run, write_csv

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast", "--folds", "3", "--json")
KIND = ("--target", "kind")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    table = write_csv(tmp_path_factory.mktemp("plain") / "plain.csv", insects())
    return json.loads(run("evaluate", table, *KIND, *FAST).stdout)


def check(done, plain, *words):
    for text in words:
        assert text in done.stderr
    told = json.loads(done.stdout)
    assert (told["rows"], told["accuracy"]) == (plain["rows"], plain["accuracy"])
    assert list(told["columns"]) == ["size", "colour"]


@pytest.mark.parametrize(
    ("above", "delimiter"),
    [("Insects of 2024\n", ","), ("Insects;;\n\n;;\n", ";"), ("Insects\n\n", "\t")],
)
def test_titles_above_the_header_are_passed_over(tmp_path, plain, above, delimiter):
    table = write_csv(tmp_path / "t.csv", insects(), delimiter=delimiter)
    table.write_text(above + table.read_text("utf-8"), "utf-8")
    lines = above.count("\n")
    said = "the first line passed over" if lines == 1 else f"the first {lines} lines passed over"
    check(run("evaluate", table, *KIND, *FAST), plain, said)
    answers = run("predict", _fitted(table, tmp_path), table, "--append").stdout.splitlines()
    assert answers[0] == "size,colour,kind,prediction"
    assert len(answers) == 61


def _fitted(table, folder):
    run("fit", table, *KIND, "--effort", "fast", "-o", folder / "m.imx")
    return folder / "m.imx"


def test_titles_and_totals_of_a_sheet(tmp_path, plain):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Insects of 2024"], [], ["size", "colour", "kind"], *insects(), ["Total:", 60]):
        sheet.append(list(row))
    book.save(tmp_path / "t.xlsx")
    done = run("evaluate", tmp_path / "t.xlsx", *KIND, *FAST)
    check(done, plain, "the first line passed over", "the last row left out, as it holds totals")


@pytest.mark.parametrize("end", ["csv", "xlsx"])
def test_every_command_leaves_out_the_same_totals(tmp_path, end):
    rows = [(f"n{i % 6}", *row) for i, row in enumerate(insects())]
    names, total = ("place", "size", "colour", "kind"), ("Summe", 360, None, None)
    table, clean = tmp_path / f"t.{end}", write_csv(tmp_path / "clean.csv", rows, names)
    if end == "csv":
        write_csv(table, [*rows, total], names)
    else:
        book = openpyxl.Workbook()
        for row in (["Insects"], [], names, *rows, total):
            book.active.append(list(row))
        book.save(table)
    model, out = tmp_path / "m.imx", tmp_path / f"out.{end}"
    run("fit", table, *KIND, "--effort", "fast", "-o", model)
    said = "the last row left out, as it holds totals"
    for args in (("predict", model), ("cluster", "--effort", "fast")):
        done = run(args[0], *args[1:], table)
        assert said in done.stderr
        assert done.stdout == run(args[0], *args[1:], clean).stdout
    done = run("report", model, table, "-o", tmp_path / "p.html", "--json")
    assert (said in done.stderr, json.loads(done.stdout)["rows"]) == (True, 60)
    assert said in run("impute", table, "--effort", "fast", "-o", out).stderr
    assert said in run("impute", out, "--effort", "fast", "-o", tmp_path / "again.csv").stderr
    assert said in run("explain", model, table, "--row", "60").stderr
    line = invoke("explain", model, table, "--row", "61").stderr.splitlines()[-1]
    assert "--row 61 was left out" in line


def test_totals_and_repeated_headers_are_not_learned(tmp_path, plain):
    rows = insects()
    rows.insert(30, ("size", "colour", "kind"))
    table = write_csv(tmp_path / "t.csv", rows)
    learned = run("evaluate", table, *KIND, *FAST)
    check(learned, plain, "1 repetition of the header left out")
    table = write_csv(tmp_path / "u.csv", [*insects(), ("Total", "", "")])
    check(run("evaluate", table, *KIND, *FAST), plain, "totals (line 62)")


def test_a_column_of_one_text_has_no_title(tmp_path):
    rows = [(f"a text, {'with' if i % 2 else 'and'} commas, {i}", "xy"[i % 2]) for i in range(8)]
    lines = ["text;kind", *(";".join(row) for row in rows)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(lines) + "\n", "utf-8")
    done = run("inspect", _words(table, tmp_path))
    assert "text" in done.stdout


def _words(table, folder):
    done = run("fit", table, *KIND, "--text", "text", "-m", "online-crp", "-o", folder / "w.imx")
    assert "passed over" not in done.stderr
    return folder / "w.imx"


def test_decimals_that_begin_with_zero_have_a_decimal_comma(tmp_path):
    rows = [(f"0,{100 + i}", c, k) for i, (_, c, k) in enumerate(insects())]
    table = write_csv(tmp_path / "t.csv", rows, delimiter=";")
    done = run("evaluate", table, *KIND, *FAST)
    assert "column 'size': read as numbers with a decimal comma" in done.stderr
    assert json.loads(done.stdout)["columns"]["size"]["kind"] == "real"


def test_numbers_in_two_ways_are_asked_about_and_not_taken_for_names(tmp_path):
    rows = [(f"{1 + i},{100 + i}", c, k) for i, (_, c, k) in enumerate(insects())]
    table = write_csv(tmp_path / "t.csv", rows, delimiter=";")
    assert "'size' is ambiguous" in refuse("evaluate", table, *KIND)
