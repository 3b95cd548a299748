"""Files to frames: numbers and text, missing markers, and what a later file must fit."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from infinimix.cli.bundles import TableOptions
from infinimix.cli.errors import CommandError
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import read_labels, read_table, split_names, take_labels
from infinimix.cli.tasks import read_rows


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


ROWS = [("1.5", "red"), ("?", "blue"), ("3", "")]
CSV = "size,colour\n" + "".join(",".join(row) + "\n" for row in ROWS)
JSON = "".join(
    json.dumps({"size": None if a == "?" else float(a), "colour": b or None}) + "\n"
    for a, b in ROWS
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", CSV),
        ("a.CSV.gz", CSV),
        ("a.tsv", CSV.replace(",", "\t")),
        ("semicolons.csv", CSV.replace(",", ";")),
        ("crlf.csv", CSV.replace("\n", "\r\n")),
        ("bom.csv", "\ufeff" + CSV),
        ("blank.csv", CSV.replace("\n?", "\n\n?")),
        ("a.jsonl", JSON),
        ("a.ndjson.gz", JSON),
        ("a.txt", CSV),
    ],
)
def test_every_format_gives_the_same_frame(write, name, text):
    table = read_table(write(name, text))
    assert table.types == {"size": "number", "colour": "text"}
    np.testing.assert_array_equal(table.frame["size"], [1.5, np.nan, 3.0])
    assert table.frame["colour"].isna().tolist() == [False, False, True]
    assert table.frame["colour"].tolist()[:2] == ["red", "blue"]


@pytest.mark.parametrize("name", ["a.parquet", "a.parquet.gz"])
def test_parquet_gives_the_same_frame(tmp_path, name):
    pl = pytest.importorskip("polars")
    path = tmp_path / "plain.parquet"
    pl.DataFrame({"size": [1.5, None, 3.0], "colour": ["red", "blue", None]}).write_parquet(path)
    data = path.read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    table = read_table(tmp_path / name)
    assert table.types == {"size": "number", "colour": "text"}
    np.testing.assert_array_equal(table.frame["size"], [1.5, np.nan, 3.0])


def test_markers_are_found_and_counted(write):
    table = read_table(write("a.csv", "a,b\n1,x\n?,NA\n-,-\n4,N/A\n"))
    assert table.types == {"a": "number", "b": "text"}
    assert table.frame["a"].isna().tolist() == [False, True, True, False]
    assert table.frame["b"].tolist()[2] == "-"  # among words a dash may be a category
    assert table.markers == {"?": 1, "NA": 1, "-": 1, "N/A": 1}


@pytest.mark.parametrize(
    "cells", [[f"{i}.5.2024" for i in range(1, 20)], [f"{i} kg" for i in range(20)]]
)
def test_dashes_are_missing_among_dates_and_units(write, cells):
    table = read_table(
        write("a.csv", "\n".join(["x;y", *(f"{c};a" for c in [*cells, "-"]), "-;-"]))
    )
    assert table.types["x"] == "text"
    assert table.columns["x"] == [*cells, None, None]
    assert table.markers == {"-": 2}
    assert table.columns["y"][-1] == "-"  # among words it may be one


def test_empty_cells_of_typed_files_are_empty(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "y"], [1, "a"], [None, None], [2, "b"], [3, "c"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").markers == {}
    book.active["A3"] = 5
    book.save(tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").markers == {"": 1}


def test_given_markers_are_the_only_ones(write):
    path = write("a.csv", "a,b\n1,x\n-99,NA\n3,\n")
    table = read_table(path, Reading(missing=["-99"]))
    assert table.frame["a"].isna().tolist() == [False, True, False]
    assert table.frame["b"].tolist()[:2] == ["x", "NA"]
    assert table.frame["b"].isna().tolist() == [False, False, True]  # nothing is never something


def test_whole_numbers_stay_whole_and_long_ones_are_names(write):
    table = read_table(write("a.csv", "n,code\n1,12345678901234567890\n2,12345678901234567891\n"))
    assert table.frame["n"].dtype == np.int64
    assert table.types["code"] == "text"


def test_known_types_hold(write):
    path = write("a.csv", "a,b\n1,7\n2,8\n")
    table = read_table(path, types={"b": "text"})
    assert table.frame["b"].tolist() == ["7", "8"]
    with pytest.raises(CommandError, match=r"line 3: column 'a' holds numbers, but here 'two'"):
        read_table(write("b.csv", "a,b\n1,7\ntwo,8\n"), types={"a": "number"})


def test_flags_of_a_model_are_read_from_words(write):
    table = read_table(write("a.csv", "a\ntrue\nFalse\n"), types={"a": "flag"})
    assert table.frame["a"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "a,b\n", "has no rows"),
        ("a.csv", "a,b\n1,2\n1,2,3\n", "line 3 has 3 cells"),
        ("a.csv", 'a,b\n1,"2\n', "end of data"),
        ("a.csv", "a,b\n1,\udc81\n", "not UTF-8: line 2 has the byte 0x81.*--encoding"),
        ("a.jsonl", '{"a": 1}\n[1]\n', "line 2 is no JSON object"),
        ("a.jsonl", '{"a": [1]}\n', "line 1 has a list or object in 'a'"),
        ("a.jsonl", "{\n", "line 1 is no JSON object"),
        ("a.xyz", "a\n1\n", "give --format"),
    ],
)
def test_bad_files_are_refused_by_line(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CommandError, match=words):
        read_table(path)


def test_a_cut_off_gz_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 5000)[:-20])
    with pytest.raises(CommandError, match="damaged or ends early"):
        read_table(path)


def test_a_broken_parquet_is_refused(tmp_path):
    pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(CommandError, match="cannot be read as Parquet"):
        read_table(path)


def test_a_similar_file_is_named(write):
    path = write("insects.csv", CSV)
    with pytest.raises(CommandError, match=r"did you mean 'insects.csv'\?"):
        read_table(path.with_name("insect.csv"))
    with pytest.raises(CommandError, match="and no folder"):
        read_table(Path("no/such/folder/a.csv"))


def test_names_are_split_at_commas_unless_they_hold_some(write):
    table = read_table(write("a.csv", '"x,y",z\n1,2\n'))
    assert split_names(["x,y", "z, w"], table) == ["x,y", "z", "w"]


def test_labels(write):
    table = read_table(write("a.csv", "x,y\n1,1\n2,2\n3,\n"), labels="y")
    assert take_labels(table, "y") == [1, 2, None]
    table = read_table(write("b.csv", "x,y\n1,1.0\n2,2.0\n"), labels="y")
    assert take_labels(table, "y") == ["1.0", "2.0"]  # names, if they are not whole


def test_labels_are_no_columns_to_learn_from(write):
    path = write("a.csv", "x,y\n1,1\n2,2\n3,\n")
    rows = read_rows("fit", path, TableOptions(), target="y")
    assert (list(rows.X.columns), rows.y) == (["x"], [1, 2, None])


def test_labels_are_as_a_frame_has_them(write):
    rows = '{"t": true, "n": 1, "x": "a"}\n{"t": false, "n": null, "x": null}\n'
    table = read_table(write("a.jsonl", rows))
    for name in table.types:
        framed = [None if v != v or v is None else v for v in table.frame[name].tolist()]
        found = take_labels(table, name) if name == "t" else read_labels(table, name)
        assert found == framed
        assert all(type(a) is type(b) for a, b in zip(found, framed, strict=True)) or name == "n"


def test_labels_that_are_amounts_are_refused(write):
    text = "x,y\n" + "".join(f"1,{i / 7:.3f}\n" for i in range(50))
    table = read_table(write("a.csv", text), labels="y")
    with pytest.raises(CommandError, match="50 different labels in 50 rows"):
        take_labels(table, "y")
