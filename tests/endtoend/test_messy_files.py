"""Files as people have them: each sort of mess is a file that goes from the shell to answers."""

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys

import pytest

from tests.endtoend.command_files import insects, invoke, refuse, run, write_csv

pytestmark = pytest.mark.usefixtures("small_models")

FAST = ("--effort", "fast")
KIND = ("--target", "kind")
NAMES = ("size", "price", "share", "colour", "kind")


def german(value, digits=2):
    return f"{value:,.{digits}f}".replace(",", "_").replace(".", ",").replace("_", ".")


def american(value, digits=2):
    return f"{value:,.{digits}f}"


def rows(n=60):
    """Insects with a price and a share; one size is missing."""
    found = []
    for i, (size, colour, kind) in enumerate(insects(n, holes=0.0)):
        size = None if i == 2 else size
        price = (1500 if kind == "bee" else 900) + 7.25 * i
        found.append((size, price, (size or 5.0) / 20, colour, kind.replace("bee", "Käfer")))
    return found


def text(write, delimiter=";", unit=" €", percent=" %"):
    lines = [delimiter.join(NAMES)]
    for size, price, share, colour, kind in rows():
        cells = ["" if size is None else write(size, 1), write(price) + unit]
        cells += [write(100 * share, 1) + percent, colour, kind]
        lines.append(delimiter.join(f'"{c}"' if delimiter in c else c for c in cells))
    return "\n".join(lines) + "\n"


def fitted(path, *more):
    """Learn a file and predict it; return what was said, and how many rows were right."""
    model = path.with_suffix(".imx")
    said = run("fit", path, *KIND, *FAST, "-o", model, "--json", *more)
    rest = [one for one in more if one != "--keep" and one != "id"]
    done = run("predict", model, path, *rest)
    labels = [line["prediction"] for line in csv.DictReader(io.StringIO(done.stdout))]
    right = sum(a == row[-1] for a, row in zip(labels, rows(), strict=True))
    return json.loads(said.stdout), said.stderr, right


ENCODINGS = {
    "utf-8": "", "utf-8-sig": "", "utf-16": "", "utf-16-le": "", "utf-16-be": "",
    "cp1252": "read as Windows-1252",
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_are_found(tmp_path, encoding):
    path = tmp_path / "messy.csv"
    path.write_bytes(text(german).encode(encoding))
    found, said, right = fitted(path)
    assert right >= 57
    assert {c["label"] for c in found["classes"]} == {"ant", "Käfer"}
    assert ENCODINGS[encoding] in said
    assert found["columns"]["price"]["kind"].startswith("real")
    assert "column 'price': read as numbers with a decimal comma and the unit €." in said
    assert "column 'share': read as percentages with a decimal comma." in said


def test_an_encoding_that_is_not_found_is_asked_for(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_bytes(text(american).replace("ant", "пчела").encode("cp1251", "replace"))
    line = refuse("fit", path, *KIND, "-o", tmp_path / "m.imx")
    assert "is not UTF-8" in line
    assert "name its encoding with --encoding" in line
    path.write_bytes("size,kind\n1,ант\n2,пчела\n".encode("cp1251"))
    assert "--encoding" in refuse("cluster", path)
    run("cluster", path, *FAST, "--encoding", "cp1251")
    assert "there is no 'utf9'" in refuse("cluster", path, "--encoding", "utf9")
    assert "is not ascii: line 2 has the byte" in refuse("cluster", path, "--encoding", "ascii")


@pytest.mark.parametrize(
    ("write", "delimiter", "words"),
    [
        (german, ";", "a decimal comma and the unit €"),
        (german, "\t", "a decimal comma and the unit €"),
        (american, ",", "commas between thousands and the unit €"),
        (lambda v, d=2: f"{v:,.{d}f}".replace(",", " "), ";", "spaces between thousands"),
    ],
)
def test_numbers_are_numbers_however_they_are_written(tmp_path, write, delimiter, words):
    path = tmp_path / "messy.csv"
    path.write_text(text(write, delimiter), encoding="utf-8")
    _, said, right = fitted(path)
    assert right >= 57
    assert f"column 'price': read as numbers with {words}" in said


def test_an_ambiguous_number_is_not_guessed(tmp_path):
    path = tmp_path / "messy.csv"
    lines = [f'"{1 + i % 7},{100 + 13 * i}",{row[-1]}' for i, row in enumerate(rows())]
    path.write_text("\n".join(["weight,kind", *lines]) + "\n", encoding="utf-8")
    line = refuse("fit", path, *KIND, "-o", tmp_path / "m.imx")
    assert "column 'weight' is ambiguous: '" in line
    assert "--decimal . or --decimal ," in line
    for mark, largest in ((".", 7000), (",", 7.0)):
        out = tmp_path / "out.jsonl"
        run("cluster", path, *FAST, "--decimal", mark, "--append", "-o", out)
        values = [json.loads(one)["weight"] for one in out.read_text("utf-8").splitlines()]
        assert largest <= max(values) < 1.2 * largest
    run("cluster", path, *FAST, "--category", "weight")
    assert "--decimal must be . or ," in refuse("cluster", path, "--decimal", "x")


def test_another_column_settles_what_one_leaves_open(tmp_path):
    path = tmp_path / "messy.csv"
    lines = [f'"{1 + i % 7},{100 + 13 * i}",{i / 7:.2f}' for i in range(60)]
    path.write_text("\n".join(["weight,length", *lines]) + "\n", encoding="utf-8")
    done = run("cluster", path, *FAST, "-o", tmp_path / "groups.csv")
    assert "column 'weight': read as numbers with commas between thousands." in done.stderr


@pytest.mark.parametrize("hole", ["", "-", "k.A."])
@pytest.mark.parametrize("target", ["weight", "kind"])
def test_points_are_between_thousands_beside_decimal_commas(tmp_path, hole, target):
    lines = [f"{1 + i % 7}.{100 + 13 * i}" if i % 9 else hole for i in range(60)]
    lines = [f"{w};{german(i / 7)};{'ab'[i % 2]}" for i, w in enumerate(lines)]
    path, model = tmp_path / "messy.csv", tmp_path / "m.imx"
    path.write_text("\n".join(["weight;length;kind", *lines]) + "\n", encoding="utf-8")
    for more in ((),) if hole != "k.A." else ():
        check_thousands(path, model, target, *more)
    check_thousands(path, model, target, "--missing", hole or "-")


def check_thousands(path, model, target, *more):
    done = run("fit", path, "-t", target, *FAST, "-o", model, *more)
    said = "column 'weight': read as numbers with points between thousands."
    assert said in done.stderr
    out = path.with_suffix(".jsonl")
    run("predict", model, path, "--append", "-o", out)
    answers = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    if target == "kind":
        assert [one["weight"] for one in answers[:3]] == [None, 2113, 3126]
    else:
        assert all(1000 < one["prediction"] < 9000 for one in answers)


def test_streams_read_points_beside_decimal_commas(tmp_path):
    lines = [f"{1 + i % 7}.{100 + 13 * i};{german(i / 7)};{'ab'[i % 2]}" for i in range(60)]
    path = tmp_path / "messy.csv"
    path.write_text("\n".join(["weight;length;kind", *lines]) + "\n", encoding="utf-8")
    done = run("stream", path, *KIND, "--keep", "weight,length")
    assert "column 'weight': read as numbers with points between thousands." in done.stderr


def test_impute_writes_as_the_file_is_written(tmp_path):
    path, out = tmp_path / "messy.csv", tmp_path / "filled.csv"
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        path.write_bytes(text(german).encode(encoding))
        run("impute", path, *FAST, "-o", out)
        before, after = (p.read_bytes().decode(encoding).splitlines() for p in (path, out))
        assert [a for a, b in zip(after, before, strict=True) if a != b] == [after[3]]
        size, _, rest = after[3].partition(";")
        assert rest == before[3].partition(";")[2]
        assert 0 < float(size.replace(",", ".")) < 15
        assert len(size.partition(",")[2]) == 1


COMPRESSED = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    ".zst": lambda data: pytest.importorskip("zstandard").ZstdCompressor().compress(data),
}  # fmt: skip


@pytest.mark.parametrize("end", COMPRESSED)
def test_compressed_files(tmp_path, end):
    data = COMPRESSED[end](text(german).encode("cp1252"))
    path = tmp_path / f"messy.csv{end}"
    path.write_bytes(data)
    assert fitted(path)[2] >= 57
    done = run("impute", path, *FAST, "-o", tmp_path / f"out.csv{end}", "--json")
    assert json.loads(done.stdout)["cells"] == 1
    run("stream", tmp_path / f"out.csv{end}", *KIND)
    path.write_bytes(data[: len(data) // 2])
    assert "damaged or ends early" in refuse("impute", path)
    assert "damaged or ends early" in refuse("stream", path, *KIND)


def write_excel(path, sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    book.save(path)
    return path


def test_excel(tmp_path):
    path = write_excel(
        tmp_path / "messy.xlsx",
        {"about": [["made by hand"]], "insects": [[], NAMES, *map(list, rows()), []]},
    )
    found, said, right = fitted(path, "--sheet", "insects")
    assert (found["rows"], right >= 57) == (60, True)
    assert said == ""
    assert "has 2 sheets; this is the first, 'about'" in run_or_refuse("cluster", path)
    line = refuse("cluster", path, "--sheet", "insect")
    assert "no sheet 'insect'; did you mean 'insects'?" in line
    run("impute", path, *FAST, "--sheet", "2", "-o", tmp_path / "out.xlsx")
    import openpyxl

    lines = list(openpyxl.load_workbook(tmp_path / "out.xlsx").active.iter_rows(values_only=True))
    assert lines[0] == NAMES
    assert lines[1] == rows()[0]
    assert isinstance(lines[3][0], float)
    run("stream", path, *KIND, "--sheet", "insects")
    (tmp_path / "bad.xlsx").write_bytes(b"PK no")
    assert "cannot be read as an Excel file" in refuse("cluster", tmp_path / "bad.xlsx")
    (tmp_path / "old.xls").write_bytes(b"x")
    assert "save it as .xlsx or .csv first" in refuse("cluster", tmp_path / "old.xls")


def run_or_refuse(*args):

    return invoke(*args).stderr


def test_columns_with_the_same_name(tmp_path):
    path = write_csv(
        tmp_path / "messy.csv", [r[:1] + r for r in insects()], ("a", "a", "b", "kind")
    )
    found = json.loads(run("fit", path, *KIND, *FAST, "-o", tmp_path / "m.imx", "--json").stdout)
    assert list(found["columns"]) == ["a", "a_2", "b"]
    done = run("predict", tmp_path / "m.imx", path)
    assert "the later ones are called 'a_2' for 'a'" in done.stderr
    run("impute", path, *FAST, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "a,a,b,kind"


def test_a_column_that_is_absent_counts_as_missing(tmp_path):
    path = write_csv(tmp_path / "train.csv", insects())
    run("fit", path, *KIND, *FAST, "-o", tmp_path / "m.imx")
    less = write_csv(tmp_path / "less.csv", [row[:1] for row in rows() if row[0]], ("size",))
    done = run("predict", tmp_path / "m.imx", less)
    assert "lacks 'colour'; its cells count as missing" in done.stderr
    holes = write_csv(
        tmp_path / "holes.csv", [(row[0], None) for row in rows() if row[0]], ("size", "colour")
    )
    assert run("predict", tmp_path / "m.imx", holes).stdout == done.stdout
    tested = write_csv(tmp_path / "test.csv", [(r[0], r[2]) for r in insects()], ("size", "kind"))
    assert "lacks 'colour'" in run("evaluate", path, *KIND, *FAST, "--test", tested).stderr
    other = write_csv(tmp_path / "other.csv", [(1.0,)], ("weight",))
    assert "lacks 'size', 'colour'" in refuse("predict", tmp_path / "m.imx", other)


def test_columns_that_name_rows_are_left_out(tmp_path):
    names = ("code", "who", "size", "price", "kind")
    lines = [
        (1_000_025 + 3571 * (i % 56), f"n{i % 55}", size, 5118 + 211 * i * i, kind)
        for i, (size, _, kind) in enumerate(insects(holes=0.0))
    ]
    lines[4] = (None, None, None, *lines[4][3:])
    path = write_csv(tmp_path / "messy.csv", lines, names)
    model = tmp_path / "m.imx"
    done = run("fit", path, *KIND, *FAST, "-o", model, "--json")
    found = json.loads(done.stdout)
    assert list(found["columns"]) == ["size", "price"]  # amounts are different too
    assert "column 'code' left out, as it seems to name rows: 55 different values" in done.stderr
    assert "keep it with --keep who" in done.stderr
    run("predict", model, path)
    kept = run("fit", path, *KIND, *FAST, "-o", model, "--json", "--keep", "code,who")
    assert list(json.loads(kept.stdout)["columns"]) == ["code", "who", "size", "price"]
    assert "left out" not in kept.stderr
    run("impute", path, *FAST, "-o", tmp_path / "out.csv")
    filled = (tmp_path / "out.csv").read_text().splitlines()[5].split(",")
    assert filled[:2] == ["", ""]
    assert filled[2] != ""


READERS = {
    "csv": lambda p: list(csv.DictReader(io.StringIO(p.read_text("utf-8")))),
    "tsv": lambda p: list(csv.DictReader(io.StringIO(p.read_text("utf-8")), delimiter="\t")),
    "jsonl": lambda p: [json.loads(line) for line in p.read_text("utf-8").splitlines()],
    "jsonl.gz": lambda p: [json.loads(x) for x in gzip.decompress(p.read_bytes()).splitlines()],
    "parquet": lambda p: pytest.importorskip("polars").read_parquet(p).to_dicts(),
    "xlsx": lambda p: pytest.importorskip("pandas").read_excel(p).to_dict("records"),
}


@pytest.mark.parametrize("end", READERS)
def test_the_name_of_the_output_decides_its_format(tmp_path, end):
    path = write_csv(tmp_path / "train.csv", insects())
    if not (tmp_path / "m.imx").exists():
        run("fit", path, *KIND, *FAST, "-o", tmp_path / "m.imx")
    out = tmp_path / f"out.{end}"
    typed = end not in ("csv", "tsv")
    run("predict", tmp_path / "m.imx", path, "--proba", "--append", "-o", out)
    first = READERS[end](out)[1]
    assert list(first) == ["size", "colour", "kind", "prediction", "p(ant)", "p(bee)"]
    assert isinstance(first["p(ant)"], float if typed else str)
    assert isinstance(first["size"], float if typed else str)
    run("cluster", path, *FAST, "-o", out)
    assert int(READERS[end](out)[0]["group"]) >= 0
    run("impute", path, *FAST, "-o", out)
    assert len(READERS[end](out)) == 60
    assert all(row["size"] not in ("", None) for row in READERS[end](out))
    run("impute", out, *FAST, "-o", tmp_path / "back.csv")  # and back
    assert READERS["csv"](tmp_path / "back.csv")[0]["kind"] == insects()[0][2]


def test_a_model_without_reasons_is_named_in_good_english(tmp_path):
    path, model = write_csv(tmp_path / "a.csv", insects()), tmp_path / "m.imx"
    run("fit", path, *KIND, "-m", "online-crp", "-o", model)
    assert "the model is an OnlineCRPClassifier, which" in refuse("explain", model, path)


@pytest.mark.parametrize("command", ["predict", "cluster", "impute"])
def test_a_name_of_no_format_is_refused_before_the_work(tmp_path, command):
    path = write_csv(tmp_path / "train.csv", insects())
    more = [tmp_path / "none.imx"] if command == "predict" else []
    if more:
        run("fit", path, *KIND, *FAST, "-o", more[0])
    for name in ("out.docx", "out.json.gz", "out.pkl"):
        line = refuse(command, *more, path, "-o", tmp_path / name)
        assert "which is no format of tables" in line
        assert ".parquet" in line
        assert not (tmp_path / name).exists()


def test_a_shell_reads_a_messy_file(tmp_path):
    (tmp_path / "messy.csv").write_bytes(text(german).encode("cp1252"))
    args = ["cluster", "messy.csv", *FAST, "-o", "groups.parquet"]
    done = subprocess.run(
        [sys.executable, "-m", "infinimix", *args], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "groups.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize(("library", "end"), [("openpyxl", "xlsx"), ("zstandard", "csv.zst")])
def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch, library, end):
    path = write_csv(tmp_path / "train.csv", insects())
    for module in ("infinimix.cli.sheets", "infinimix.streaming.compression"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
    assert f"pip install {library}" in refuse("cluster", path, "-o", tmp_path / f"out.{end}")
    (tmp_path / f"in.{end}").write_bytes(b"anything")
    assert f"pip install {library}" in refuse("cluster", tmp_path / f"in.{end}")


def test_a_word_between_numbers_is_told_and_the_hint_can_be_pasted(tmp_path):
    head, *lines = text(german).splitlines()
    fees = [f"{german(7.5 * i)} \u20ac" if i % 12 else "k.A." for i in range(len(lines))]
    lines = [f"{line};{fee}" for line, fee in zip(lines, fees, strict=True)]
    path = tmp_path / "messy.csv"
    path.write_text("\n".join([f"{head};fee", *lines]) + "\n")
    said = run("fit", path, *KIND, *FAST, "-o", tmp_path / "a.imx").stderr
    assert "column 'fee' left out" in said
    assert "is text only because of 'k.A.' in 5 cells" in said
    option = said.partition("if that means missing, add ")[2].partition(" to read numbers")[0]
    told, _, right = fitted(path, *option.split())
    assert told["columns"]["fee"] == {"kind": "real", "distinct": 55, "missing": 5}
    assert right >= 57
