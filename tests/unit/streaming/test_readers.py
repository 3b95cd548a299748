"""Every format gives the rows that were written; nothing is lost in silence."""

import csv
import gzip
import io
import json
import math
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from infinimix.streaming import BadRecord, StreamError, prequential, read_stream
from tests.unit.streaming.fakes import RowCounter, TableCounter

ROWS = [
    {"size": 3.5, "legs": 6, "name": "red, ant", "ok": True},
    {"size": None, "legs": 8, "name": 'a "spider"', "ok": False},
    {"size": -1e-3, "legs": 4, "name": "line\nbreak", "ok": True},
    {"size": 2.0, "legs": None, "name": "ünïcode", "ok": None},
] * 3
LABELS = ["a", "b", "c", "a"] * 3


def write_csv(path, rows=ROWS, labels=LABELS):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "kind"])
        writer.writerows([*row.values(), label] for row, label in zip(rows, labels, strict=True))
    return path


def write_jsonl(path, rows=ROWS, labels=LABELS, opener=open):
    with opener(path, "wt", encoding="utf-8") as file:
        for row, label in zip(rows, labels, strict=True):
            file.write(json.dumps(row | {"kind": label}) + "\n")
    return path


def everything(reader):
    chunks = list(reader)
    return [row for X, _ in chunks for row in X], [label for _, y in chunks for label in y]


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_json_lines_come_back(tmp_path, chunk):
    for path, opener in ((tmp_path / "a.jsonl", open), (str(tmp_path / "a.ndjson.gz"), gzip.open)):
        reader = read_stream(write_jsonl(path, opener=opener), "kind", chunk=chunk)
        assert everything(reader) == (ROWS, LABELS)
        assert (reader.n_rows, reader.n_blank, reader.bad) == (12, 0, [])
        assert everything(reader) == (ROWS, LABELS)  # once more from the start
        assert all(len(y) <= chunk for _, y in reader)


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_csv_comes_back_with_numbers_as_numbers(tmp_path, chunk):
    path = write_csv(tmp_path / "a.csv")
    types = {"size": "number", "legs": "number"} if chunk == 1 else None
    rows, labels = everything(read_stream(path, "kind", chunk=chunk, types=types))
    words = [{**row, "ok": row["ok"] if row["ok"] is None else str(row["ok"])} for row in ROWS]
    assert (rows, labels) == (words, LABELS)
    if chunk > 1:
        assert type(rows[0]["legs"]) is int
        assert type(rows[0]["size"]) is float


def test_csv_from_standard_input(tmp_path, monkeypatch):
    data = write_csv(tmp_path / "a.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert everything(read_stream("-", "kind", format="csv"))[1] == LABELS
    monkeypatch.setattr("sys.stdin", io.StringIO(data.decode()))
    assert everything(read_stream("-", "kind", format="csv"))[1] == LABELS


def test_open_files_stay_open(tmp_path):
    for mode in ("rb", "r"):
        with open(write_jsonl(tmp_path / "a.jsonl"), mode) as file:
            assert everything(read_stream(file, "kind"))[1] == LABELS
            assert not file.closed


def test_open_compressed_files(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl.gz", opener=gzip.open)
    for opener, mode in ((open, "rb"), (gzip.open, "rb"), (gzip.open, "rt")):
        with opener(path, mode) as file:
            assert everything(read_stream(file, "kind", format="jsonl")) == (ROWS, LABELS)
            assert not file.closed


def test_tabs_semicolons_names_and_dropped_columns():
    rows = [{"x": 1}, {"x": 2}]
    for text, options in (
        ("x\tid\ty\n1\tp\ta\n2\tq\tb\n", {"format": "tsv"}),
        ("x;id;y\n1;p;a\n2;q;b\n", {"format": "csv", "delimiter": ";"}),
        ("1,p,a\n2,q,b\n", {"format": "csv", "names": ["x", "id", "y"]}),
        ("\ufeffx,id,y\r\n1,p,a\r\n2,q,b", {"format": "csv"}),
    ):
        file = io.BytesIO(text.encode())
        assert everything(read_stream(file, "y", drop=["id"], **options)) == (rows, ["a", "b"])


def test_the_first_chunk_decides_what_a_column_is():
    text = "x,w,y\n1,,1\n2,,2\n2.5,5,3\nthree,6,4\n4,7,x\n1e999,7,4\n"
    reader = read_stream(io.StringIO(text), "y", format="csv", chunk=2, on_bad="skip")
    rows, labels = everything(reader)
    assert rows == [{"x": 1, "w": None}, {"x": 2, "w": None}, {"x": 2.5, "w": 5}]
    assert labels == [1, 2, 3]
    assert [record.line for record in reader.bad] == [5, 6, 7]
    assert "column 'x' holds numbers, but here 'three'" in reader.bad[0].reason
    assert "column 'y' holds numbers" in reader.bad[1].reason
    assert "beyond all numbers" in reader.bad[2].reason
    types = {"x": "text", "y": "text"}
    rows, labels = everything(
        read_stream(io.StringIO(text), "y", format="csv", chunk=2, types=types)
    )
    assert [row["x"] for row in rows] == ["1", "2", "2.5", "three", "4", "1e999"]
    assert labels == ["1", "2", "3", "4", "x", "4"]


def test_labels_are_numbers_only_if_whole():
    file = io.StringIO("x,y\n1,1.5\n2,2\n")
    assert everything(read_stream(file, "y", format="csv"))[1] == ["1.5", "2"]


BAD_JSON = [
    ("", None),
    ('{"a": 1, "kind": "x"}', None),
    ('{"a": 1', "delimiter"),
    ("[1, 2]", "not a JSON object, but a list"),
    ('{"a": 1}', "no label 'kind'"),
    ('{"a": 1, "kind": null}', "no label 'kind'"),
    ('{"a": [1], "kind": "x"}', "'a' is a list"),
    ('{"a": Infinity, "kind": "x"}', "'a' is infinite"),
    ('{"a": 1, "a": 2, "kind": "x"}', "a key twice"),
    ('{"a": "\udcff", "kind": "x"}', "not UTF-8"),
    ("[" * 100_000, "recursion"),
    ('{"kind": "y"}', None),
]


def test_bad_lines_are_kept_with_number_and_reason():
    data = "\n".join(text for text, _ in BAD_JSON).encode("utf-8", "surrogateescape")
    reader = read_stream(io.BytesIO(data), "kind", format="jsonl", on_bad="skip")
    assert everything(reader) == ([{"a": 1}, {}], ["x", "y"])
    expected = [(i, words) for i, (_, words) in enumerate(BAD_JSON, 1) if words]
    assert [record.line for record in reader.bad] == [line for line, _ in expected]
    for record, (_, words) in zip(reader.bad, expected, strict=True):
        assert words in record.reason
    assert reader.n_rows + reader.bad.total + reader.n_blank == len(BAD_JSON)


def gather(reader, seen):
    for _, y in reader:
        seen += y


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 100])
@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("jsonl", '{"y": 1}\n{"y": 2}\n{\n{"y": 3}\n'),
        ("csv", "y,x\n1,\n2,\n3\n4,\n"),
        ("csv", "y,x\n1,\n2,\n,5\n4,\n"),
        ("csv", 'y,x\n1,\n2,\n"3"3,5\n4,\n'),
        ("svmlight", "1 1:1\n2 1:1\nx 1:1\n4 1:1\n"),
    ],
)
def test_a_bad_line_is_fatal_after_the_rows_before_it(format, text, chunk):
    reader, seen = read_stream(io.StringIO(text), "y", format=format, chunk=chunk), []
    with pytest.raises(StreamError, match="line [34]: "):
        gather(reader, seen)
    assert seen == [1, 2]
    assert reader.bad.total == 1


def test_random_damage_to_a_csv_file_loses_no_record_in_silence():
    """Lines without quotes, so that every line is a record: rows + bad + blank = lines."""
    rng = random.Random(0)
    for _ in range(200):
        lines = [f"{i},{i / 3},k{i % 3}" for i in range(30)]
        for _ in range(5):
            i = rng.randrange(30)
            lines[i] = rng.choice(
                ["", "1,2", "1,2,3,4", "a,b,c", ",,", "1,\udc80,x", "x" * 5, "1,2,"]
            )
        data = "\n".join(["p,q,y", *lines, ""]).encode("utf-8", "surrogateescape")
        reader = read_stream(io.BytesIO(data), "y", format="csv", on_bad="skip", chunk=7)
        everything(reader)
        assert reader.n_rows + reader.bad.total + reader.n_blank == 30
        assert reader.bad.total == len({record.line for record in reader.bad})


def test_an_open_quote_is_one_bad_record_from_where_it_opens():
    text = 'x,y\n1,a\n"2,b\n3,c\n'
    reader = read_stream(io.StringIO(text), "y", format="csv", on_bad="skip")
    assert everything(reader)[1] == ["a"]
    assert [record.line for record in reader.bad] == [3]


def test_a_compressed_file_that_ends_early(tmp_path):
    rows = [{"x": random.Random(i).random()} for i in range(500)]
    path = write_jsonl(tmp_path / "a.jsonl.gz", rows, ["a"] * 500, opener=gzip.open)
    path.write_bytes(path.read_bytes()[:-2000])
    reader = read_stream(path, "kind", on_bad="skip")
    found, _ = everything(reader)
    assert found == rows[: len(found)]
    assert "ends early" in reader.bad[-1].reason
    with pytest.raises(StreamError, match="ends early"):
        everything(read_stream(path, "kind"))


def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((50, 7)) * (rng.random((50, 7)) < 0.3)
    X[3], X[0, 6] = 0, 0.5
    y = rng.integers(-1, 3, 50)
    for zero_based in (True, False):
        path = str(tmp_path / "a.svm")
        dump_svmlight_file(X, y, path, zero_based=zero_based, comment="made by hand")
        expected = load_svmlight_file(path, n_features=7, zero_based=zero_based)[0]
        reader = read_stream(path, zero_based=zero_based, chunk=20)
        chunks = list(reader)
        assert [X.shape for X, _ in chunks] == [(20, 7), (20, 7), (10, 7)]
        assert (sparse.vstack([X for X, _ in chunks]) != expected).nnz == 0
        assert [label for _, labels in chunks for label in labels] == y.tolist()
        assert reader.n_blank > 0  # the comments
        assert reader.n_rows == 50


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a 1:2", "could not convert"),
        ("1.5 1:2", "not a whole number"),
        ("1 0:2", "columns from 1 on"),
        ("1 x:2", "'x:2' is not column:value"),
        ("1 2", "'2' is not column:value"),
        ("1 3:1", "column 3, but there are 2"),
        ("1 1:1 1:2", "a column twice"),
        ("1 1:inf", "is not column:value"),
    ],
)
def test_bad_lines_of_svmlight(line, words):
    file = io.StringIO(f"1 1:1\n# comment\n{line}\n2 qid:3 2:1 # fine\n")
    reader = read_stream(file, format="svmlight", on_bad="skip", n_features=2)
    ((X, y),) = reader
    assert (X.toarray().tolist(), y) == ([[1, 0], [0, 1]], [1, 2])
    assert reader.bad[0].line == 3
    assert words in reader.bad[0].reason


def test_parquet_in_chunks(tmp_path):
    frame = pl.DataFrame({"x": range(25), "id": range(25), "kind": ["a", "b", None, "c", "d"] * 5})
    frame.write_parquet(tmp_path / "a.parquet")
    reader = read_stream(tmp_path / "a.parquet", "kind", chunk=10, on_bad="skip", drop=["id"])
    chunks = list(reader)
    assert [len(y) for _, y in chunks] == [8, 8, 4]
    assert [v for X, _ in chunks for v in pl.DataFrame(X)["x"]] == [
        i for i in range(25) if i % 5 != 2
    ]
    assert reader.n_rows + reader.bad.total == 25
    assert reader.bad[1] == BadRecord(8, "it has no label")
    fatal = read_stream(tmp_path / "a.parquet", "kind", chunk=10)
    with pytest.raises(StreamError, match="line 3: it has no label"):
        list(fatal)
    assert fatal.n_rows == 2
    with pytest.raises(StreamError, match="no column 'label'; the columns are 'x', 'id', 'kind'"):
        list(read_stream(tmp_path / "a.parquet", "label"))


def test_parquet_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr("infinimix.tables.parquet_files.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="PyArrow or polars"):
        list(read_stream(tmp_path / "a.parquet", "y"))
    with pytest.raises(ValueError, match="standard input"):
        list(read_stream("-", "y", format="parquet"))


def test_parquet_that_is_none(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(StreamError, match="cannot be read as Parquet"):
        list(read_stream(tmp_path / "a.parquet", "y"))


X = np.arange(20.0).reshape(10, 2)
Y = list("aabbaabbab")
TABLES = {
    "array": lambda: read_stream(X, Y, chunk=4),
    "sparse": lambda: read_stream(sparse.csc_array(X), np.array(Y), chunk=4),
    "pair": lambda: read_stream((X, Y), chunk=4),
    "pandas": lambda: read_stream(pd.DataFrame(X).assign(y=Y).rename(columns=str), "y", chunk=4),
    "polars": lambda: read_stream(pl.DataFrame(X).with_columns(y=pl.Series(Y)), "y", chunk=4),
    "dicts": lambda: read_stream(({"x": i, "y": y} for i, y in enumerate(Y)), "y", chunk=4),
    "pairs": lambda: read_stream(zip(X, Y, strict=True), chunk=4),
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_and_iterators(form):
    reader = TABLES[form]()
    sizes, labels = [], []
    for part, y in reader:
        sizes.append(part.shape[0] if hasattr(part, "shape") else len(part))
        labels += y
    assert (sizes, labels, reader.n_rows) == ([4, 4, 2], Y, 10)
    assert prequential(TableCounter(), TABLES[form]()).rows == 10
    assert prequential(RowCounter(), TABLES[form]()).rows == 10


def test_rows_of_tables_without_labels_are_bad():
    labels = ["a", None, "b", float("nan"), *"abcdef"]
    frame = pd.DataFrame(X, columns=["p", "q"])
    for table in (X, sparse.csr_array(X), X.tolist(), frame, pl.DataFrame(X)):
        reader = read_stream(table, labels, on_bad="skip")
        ((part, y),) = reader
        assert y == ["a", "b", *"abcdef"]
        assert (part.shape[0] if hasattr(part, "shape") else len(part)) == 8
        assert [record.line for record in reader.bad] == [2, 4]


def test_items_that_are_no_rows_are_bad():
    items = [{"x": 1, "y": "a"}, {"x": 2}, 3, ({"x": 4}, "b"), ({"x": 5}, None)]
    reader = read_stream(items, "y", on_bad="skip")
    assert list(reader) == [([{"x": 1}, {"x": 4}], ["a", "b"])]
    assert [record.line for record in reader.bad] == [2, 3, 5]
    assert items[0] == {"x": 1, "y": "a"}  # as it was


def test_a_run_over_a_file_counts_what_its_reader_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\n2\n3,b\n4,refused\n")
    result = prequential(TableCounter(), read_stream(path, "y", on_bad="skip"), on_bad="skip")
    assert (result.rows, result.bad_rows) == (2, 2)


def test_the_list_of_bad_records_is_bounded_and_the_count_is_not():
    reader = read_stream(io.StringIO("{\n" * 3000), "y", format="jsonl", on_bad="skip")
    assert list(reader) == []
    assert (len(reader.bad), reader.bad.total) == (1000, 3000)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": "a.txt", "target": "y"}, "does not say what it holds"),
        ({"source": "-", "target": "y"}, "does not say what it holds"),
        ({"source": "a.csv", "target": "y", "format": "xml"}, "format must be one of 'csv'"),
        ({"source": "a.csv"}, "target must name the column of labels; got None"),
        ({"source": "a.csv", "target": "y", "chunk": 0}, "chunk must be"),
        ({"source": "a.csv", "target": "y", "on_bad": "x"}, "on_bad must be"),
    ],
)
def test_bad_parameters_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        read_stream(**arguments)


def test_headers_that_cannot_be():
    with pytest.raises(StreamError, match="no column 'y'; the columns are 'a', 'b'"):
        list(read_stream(io.StringIO("a,b\n1,2\n"), "y", format="csv"))
    with pytest.raises(ValueError, match="types: 'z'"):
        list(read_stream(io.StringIO("a,y\n1,2\n"), "y", format="csv", types={"z": "text"}))
    assert list(read_stream(io.StringIO(""), "y", format="csv")) == []


def test_the_second_of_two_names_is_another_one():
    with pytest.warns(UserWarning, match="called 'a_2' for 'a'"):
        ((rows, _),) = read_stream(io.StringIO("a,a,y\n1,2,3\n"), "y", format="csv")
    assert rows == [{"a": 1, "a_2": 2}]


def test_missing_files_are_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_stream(tmp_path / "none.csv", "y"))


def test_nan_in_json_is_a_missing_cell():
    ((rows, _),) = read_stream(io.StringIO('{"x": NaN, "y": 1}\n'), "y", format="jsonl")
    assert math.isnan(rows[0]["x"])


def test_rows_without_label_can_be_taken(tmp_path):
    labels = [None, *LABELS[1:]]
    sources = [write_jsonl(tmp_path / "a.jsonl", labels=labels)]
    pl.DataFrame([{"x": 1.0, "kind": label} for label in labels]).write_parquet(
        tmp_path / "a.parquet"
    )
    sources += [tmp_path / "a.parquet", [{"x": 1.0, "kind": label} for label in labels]]
    for source in sources:
        reader = read_stream(source, "kind", unlabelled=True)
        assert [label for _, y in reader for label in y] == labels
        assert reader.bad.total == 0
        assert len(everything(read_stream(source, "kind", on_bad="skip"))[1]) == 11


def test_columns_that_are_not_used_may_hold_anything():
    lines = '{"a": 1, "b": {"c": 2}, "kind": "x"}\n'
    reader = read_stream(io.StringIO(lines), "kind", format="jsonl", only=["a"])
    assert everything(reader) == ([{"a": 1, "b": {"c": 2}}], ["x"])
    reader = read_stream(io.StringIO(lines), "kind", format="jsonl", drop=["b"])
    assert everything(reader) == ([{"a": 1}], ["x"])
    with pytest.raises(StreamError, match=r"'b' is a dict.*leave it out with drop=\['b'\]"):
        list(read_stream(io.StringIO(lines), "kind", format="jsonl"))
    text = "a,b,kind\n1,2,x\n2,?,y\n"
    reader = read_stream(io.StringIO(text), "kind", format="csv", only=["a"], chunk=1)
    assert everything(reader)[0] == [{"a": 1, "b": "2"}, {"a": 2, "b": "?"}]
