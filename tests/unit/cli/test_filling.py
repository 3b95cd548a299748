"""Filled files: rows without holes are the same to the letter."""

import json

import pandas as pd
import pytest

from infinimix.cli.filling import fill, write_filled
from infinimix.cli.tables_in import read_table


def filled_file(path, values, tmp_path, name="out.csv"):
    table = read_table(path)
    done = table.frame.copy()
    for column, value in values.items():
        done[column] = done[column].fillna(value)
    cells, counts = fill(table, table.frame, done)
    write_filled(table, cells, tmp_path / name)
    return (tmp_path / name).read_bytes(), counts


def test_only_holes_change(tmp_path):
    text = 'a;"b";n\r\n1.25;"x; y";1\r\n\r\n?;"x";2\r\n3.5; z ;\r\n"4.0";;3'
    (tmp_path / "a.csv").write_bytes(text.encode())
    out, counts = filled_file(tmp_path / "a.csv", {"a": 2.71828, "b": "x; y", "n": 2.4}, tmp_path)
    assert counts == {"a": 1, "b": 1, "n": 1}
    lines = out.decode().split("\r\n")
    assert lines[:3] == ['a;"b";n', '1.25;"x; y";1', ""]
    assert lines[3:] == ["2.72;x;2", "3.5; z ;2", '4.0;"x; y";3']


def test_json_lines(tmp_path):
    text = '{"a":1.5,  "b":"x"}\n{"b": "é"}\n{"a": null, "b": null}\n'
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    out, _ = filled_file(tmp_path / "a.jsonl", {"a": 0.25, "b": "y"}, tmp_path, "out.jsonl")
    lines = out.decode("utf-8").splitlines()
    assert lines[0] == text.splitlines()[0]
    assert json.loads(lines[1]) == {"a": 0.25, "b": "é"}
    assert json.loads(lines[2]) == {"a": 0.25, "b": "y"}


def test_parquet(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1, None, 3], "b": ["x", "y", None]})
    frame.write_parquet(tmp_path / "a.parquet")
    filled_file(tmp_path / "a.parquet", {"a": 2.2, "b": "z"}, tmp_path, "out.parquet")
    out = pl.read_parquet(tmp_path / "out.parquet")
    assert out.to_dict(as_series=False) == {"a": [1, 2, 3], "b": ["x", "y", "z"]}
    assert out.schema == frame.schema


def test_a_column_that_stays_missing_stays_as_it_was(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,NA\n2,?\n")
    table = read_table(tmp_path / "a.csv")
    cells, counts = fill(table, table.frame, pd.DataFrame({"a": [1, 2], "b": [None, None]}))
    assert (cells, counts) == ({}, {})


def test_whole_numbers_are_written_as_their_column_writes_them(tmp_path):
    text = "a;b;c;d\n2.0;1;2,50 €;n.a.\n1.0;;3,00 €;1.5\n?;0;;2\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    values = {"a": 1.2, "b": 0.9, "c": 4.0, "d": 3.0}
    out, _ = filled_file(tmp_path / "a.csv", values, tmp_path)
    lines = out.decode("utf-8").splitlines()
    assert lines[1:] == ["2.0;1;2,50 €;3.0", "1.0;1;3,00 €;1.5", "1.0;0;4,00 €;2"]
    (tmp_path / "b.jsonl").write_text('{"a": 2.0, "b": 1}\n{"a": null, "b": null}\n')
    out, _ = filled_file(tmp_path / "b.jsonl", {"a": 1.2, "b": 1.2}, tmp_path, "out.jsonl")
    assert out.decode().splitlines()[1] == '{"a": 1.0, "b": 1}'
    out, _ = filled_file(tmp_path / "a.csv", values, tmp_path, "a.jsonl")
    assert [json.loads(line)["a"] for line in out.splitlines()] == [2.0, 1.0, 1.0]
    assert b": 1," not in out
