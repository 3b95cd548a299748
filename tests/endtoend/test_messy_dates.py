"""Dates as people have them in files, from the shell to answers."""

import csv
import datetime as dt
import io
import json

import numpy as np
import pytest

from tests.endtoend.command_files import insects, invoke, refuse, run, write_csv
from tests.endtoend.test_messy_files import write_excel

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast")
KIND = ("--target", "kind")


def dated(path, form, hole=True):
    """Days of work and weekends, one of them missing."""
    rng = np.random.default_rng(0)
    lines = []
    for i in range(80):
        day = dt.date(2023, 1, 2) + dt.timedelta(days=int(rng.integers(600)))
        kind = "weekend" if day.weekday() >= 5 else "work"
        when = "" if hole and i == 4 else day.strftime(form)
        lines.append((when, None if i == 5 else round(rng.normal(), 1), kind))
    return write_csv(path, lines, ("when", "size", "kind"))


@pytest.mark.parametrize(
    ("form", "words"),
    [("%Y-%m-%d", "dates"), ("%d.%m.%Y", "dates, day first"), ("%m/%d/%Y", "dates, month first")],
)
def test_dates_are_features(tmp_path, form, words):
    path, model = dated(tmp_path / "messy.csv", form), tmp_path / "m.imx"
    done = run("fit", path, *KIND, *FAST, "-o", model, "--json")
    uses = "the model uses year, month, weekday and elapsed days."
    assert f"column 'when': read as {words}; {uses}" in done.stderr
    assert json.loads(done.stdout)["columns"]["when"]["kind"].startswith("date:")
    other = dated(tmp_path / "other.csv", "%Y-%m-%dT00:00:00")
    found = run("predict", model, other, "--append").stdout
    right = [row["kind"] == row["prediction"] for row in csv.DictReader(io.StringIO(found))]
    assert sum(right) >= 76
    run("impute", path, *FAST, "-o", tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[5] == path.read_text().splitlines()[5]
    assert lines[6].split(",")[1] != ""
    run("report", model, path, "-o", tmp_path / "page.html")
    assert "when" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    "args",
    [
        ("evaluate", *KIND, *FAST, "--folds", "2"),
        ("evaluate", *KIND, "--folds", "2", "-m", "m2dpm"),
        ("stream", *KIND),
        ("cluster", *FAST),
        ("network", "--sweeps", "20", "--chains", "1"),
    ],
    ids=lambda args: f"{args[0]} {args[-1]}",
)
def test_every_command_takes_dates(tmp_path, args):
    path = dated(tmp_path / "messy.csv", "%d.%m.%Y", hole=False)
    assert "read as dates, day first" in run(args[0], path, *args[1:]).stderr


def test_dates_of_excel_and_parquet(tmp_path):
    pl = pytest.importorskip("polars")
    lines = [line.split(",") for line in dated(tmp_path / "a.csv", "%Y-%m-%d").read_text().split()]
    days = [dt.date.fromisoformat(line[0]) if line[0] else None for line in lines[1:]]
    stamps = [None if day is None else dt.datetime.combine(day, dt.time()) for day in days]
    kinds = [line[2] for line in lines[1:]]
    pl.DataFrame({"when": days, "kind": kinds}).write_parquet(tmp_path / "a.parquet")
    sheet = [["when", "kind"], *([s, k] for s, k in zip(stamps, kinds, strict=True))]
    write_excel(tmp_path / "a.xlsx", {"days": sheet})
    found = []
    for name in ("a.xlsx", "a.parquet"):
        model = tmp_path / f"{name}.imx"
        done = run("fit", tmp_path / name, *KIND, *FAST, "-o", model)
        assert "column 'when': read as dates; the model uses year" in done.stderr
        found += [run("predict", model, tmp_path / "a.csv", "--drop", "size").stdout]
        run("stream", tmp_path / name, *KIND, "--folder", tmp_path / f"state of {name}")
        run("stream", tmp_path / name, *KIND, "--folder", tmp_path / f"state of {name}")
    assert found[0] == found[1]


@pytest.mark.parametrize("zone", [None, dt.timezone.utc])
def test_dates_of_parquet_are_used_but_not_filled(tmp_path, zone):
    pl = pytest.importorskip("polars")
    days = [dt.datetime(2024, 1, 1 + i % 28, tzinfo=zone) if i % 9 else None for i in range(40)]
    sizes = [None if i == 5 else i % 7 / 2 for i in range(40)]
    pl.DataFrame({"when": days, "size": sizes}).write_parquet(tmp_path / "a.parquet")
    run("impute", tmp_path / "a.parquet", *FAST, "-o", tmp_path / "b.parquet")
    done = pl.read_parquet(tmp_path / "b.parquet").to_dict(as_series=False)
    assert done["when"] == days
    assert None not in done["size"]
    if zone is None:
        sheet = [["when", "size"], *map(list, zip(days, sizes, strict=True))]
        write_excel(tmp_path / "a.xlsx", {"days": sheet})
        run("impute", tmp_path / "a.xlsx", *FAST, "-o", tmp_path / "b.xlsx")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_the_columns_of_a_parquet_file_keep_their_types(tmp_path, monkeypatch, library):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    monkeypatch.setattr("infinimix.tables.parquet_files.find_library", lambda: library)
    zone = dt.timezone.utc
    days = [dt.datetime(2024, 1, 1 + i % 28, tzinfo=zone) if i % 9 else None for i in range(60)]
    columns = {"when": days, "n": [None if i == 5 else i % 7 for i in range(60)]}
    colours = pl.Series([row[1] or "red" for row in insects()], dtype=pl.Categorical)
    frame = pl.DataFrame(columns | {"colour": colours, "kind": [row[2] for row in insects()]})
    frame = frame.with_columns(pl.col("n").cast(pl.Int32), pl.lit(True).alias("flag"))
    path, model, out = tmp_path / "a.parquet", tmp_path / "m.imx", tmp_path / "b.parquet"
    frame.write_parquet(path)
    run("fit", path, *KIND, *FAST, "-o", model)
    for args in (("predict", model, path), ("cluster", path, *FAST)):
        run(*args, "--append", "-o", out)
        kept = pl.read_parquet(out).select(frame.columns)
        assert kept.schema == frame.schema
        assert kept.equals(frame)
    run("impute", path, *FAST, "-o", out)
    assert pl.read_parquet(out).schema == frame.schema
    run("predict", model, path, "--append", "-o", tmp_path / "out.xlsx")
    assert pa.parquet.read_schema(out).names == frame.columns


def test_an_open_order_of_dates_is_asked_for(tmp_path):
    lines = [(f"{1 + i % 12}/{1 + i // 5 % 12}/2024", i % 7 / 2, "ab"[i % 2]) for i in range(60)]
    path = write_csv(tmp_path / "messy.csv", lines, ("when", "size", "kind"))
    for command in ("fit", "stream"):
        more = ("-o", tmp_path / "m.imx") if command == "fit" else ()
        line = refuse(command, path, *KIND, *more)
        assert "column 'when' holds dates such as '2/1/2024'" in line
        assert "--date-order dmy or --date-order mdy" in line
        run(command, path, *KIND, *more, "--date-order", "mdy")
    assert "none of ymd, dmy, mdy" in refuse("cluster", path, "--date-order", "dym")
    (tmp_path / "kinds.toml").write_text('when = "date:dmy:month"')
    done = run("cluster", path, *FAST, "--columns", tmp_path / "kinds.toml", "--drop", "kind")
    assert "read as dates, day first; the model uses month." in done.stderr


def test_dashes_among_dates_are_missing_and_other_words_are_told_with_their_line(tmp_path):
    path, model = dated(tmp_path / "messy.csv", "%d.%m.%Y"), tmp_path / "m.imx"
    head, *lines = path.read_text("utf-8").splitlines()
    lines[7] = "-" + lines[7][10:]
    path.write_text("\n".join([head, *lines]) + "\n", "utf-8")
    done = run("fit", path, *KIND, *FAST, "-o", model)
    assert "column 'when': read as dates, day first" in done.stderr
    assert "'-' in 1 cell" in done.stdout
    (tmp_path / "one.csv").write_text("\n".join([head, lines[7]]) + "\n", "utf-8")
    run("predict", model, tmp_path / "one.csv")
    said = run("stream", path, *KIND).stderr
    assert "column 'when': read as dates, day first" in said
    lines[7] = "open" + lines[7][1:]
    path.write_text("\n".join([head, *lines]) + "\n", "utf-8")
    clean = dated(tmp_path / "clean.csv", "%d.%m.%Y")
    for args in (("predict", model, path), ("evaluate", clean, *KIND, *FAST, "--test", path)):
        line = invoke(*args).stderr.splitlines()[-1]
        assert "messy.csv: line 9: column 'when' holds dates, day first, but here 'open'" in line
        assert "say with --missing" in line
