"""`infinimix network` of every kind, of several files, and with what the user knows."""

import csv
import io
import json

import pytest

from tests.endtoend.command_files import insects, invoke, refuse, run, write_csv

SHORT = ("--sweeps", "20", "--chains", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    rows = insects()
    write_csv(folder / "one.csv", rows)
    write_csv(folder / "two.csv", [(row[1], row[2]) for row in insects(40, 1)], ("colour", "kind"))
    steps = [(*row, "first" if t < 30 else "second") for t, row in enumerate(rows)]
    write_csv(folder / "steps.csv", steps, ("size", "colour", "kind", "nest"))
    write_csv(folder / "set.csv", [(int(t < 20),) for t in range(60)], ("kind",))
    write_csv(folder / "odd.csv", [("maybe",)] * 60, ("kind",))
    return folder


def test_undirected_networks_have_each_edge_once(folder, tmp_path):
    files = {name: tmp_path / name for name in ("m.imx", "e.csv", "page.html")}
    shown = run(
        "network", folder / "one.csv", *SHORT, "--kind", "undirected", "--require", "size--colour",
        "-o", files["m.imx"], "--edges", files["e.csv"], "--report", files["page.html"],
    ).stdout  # fmt: skip
    assert "--" in shown
    edges = list(csv.DictReader(io.StringIO(files["e.csv"].read_text())))
    assert len(edges) == 3
    (one,) = [e for e in edges if {e["from"], e["to"]} == {"size", "colour"}]
    assert float(one["probability"]) == 1.0
    assert "<html" in files["page.html"].read_text("utf-8")
    assert "--" in run("inspect", files["m.imx"]).stdout


def test_numbers_beside_categories_may_stay_numbers(folder, tmp_path):
    model = tmp_path / "m.imx"
    args = ("network", folder / "one.csv", *SHORT, "--likelihood", "mixed", "--threshold", "0")
    found = json.loads(run(*args, "--json", "-o", model).stdout)
    P = {(e["from"], e["to"]): e["probability"] for e in found["edges"]}
    assert P["kind", "size"] > 0.5
    assert P.get(("size", "kind"), 0.0) == P.get(("size", "colour"), 0.0) == 0.0
    assert "size" in run("inspect", model).stdout
    assert "mixed keeps numbers" in refuse(*args, "--bif", tmp_path / "m.bif")
    assert "mixed is for directed networks" in refuse(*args, "--kind", "dynamic")
    assert "--likelihood: there is no 'odd'" in refuse(*args, "--likelihood", "odd")


def test_dynamic_networks_follow_sequences(folder):
    args = ("network", folder / "steps.csv", *SHORT, "--kind", "dynamic", "--groups", "nest")
    known = ("--require", "kind -> kind", "--forbid", "size->colour", "--role", "kind=driver")
    found = json.loads(run(*args, *known, "--json", "--threshold", "0").stdout)
    assert set(found["roles"]) == {"size", "colour", "kind"}
    P = {(e["from"], e["to"]): e["probability"] for e in found["edges"]}
    assert (len(P), P["kind", "kind"], P["size", "colour"]) == (9, 1.0, 0.0)


@pytest.mark.parametrize("kind", ["directed", "undirected", "dynamic"])
def test_missing_cells_are_filled_and_the_rest_of_the_file_stays(folder, tmp_path, kind):
    out = tmp_path / "filled.csv"
    args = ("network", folder / "steps.csv", *SHORT, "--kind", kind, "--impute", out)
    run(*args, *(("--groups", "nest") if kind == "dynamic" else ("--drop", "nest")))
    before, after = (list(csv.reader(io.StringIO(path.read_text())))
                     for path in (folder / "steps.csv", out))  # fmt: skip
    assert sum(cell == "" for row in before for cell in row) > 5
    for old, new in zip(before, after, strict=True):
        assert all(new)
        assert all(a in ("", b) for a, b in zip(old, new, strict=True))
    two = (folder / "one.csv", folder / "two.csv")
    assert "--impute is for one file" in refuse("network", *two, "--impute", out)


def test_several_files_share_roles(folder, tmp_path):
    files = {name: tmp_path / name for name in ("m.imx", "page.html")}
    args = ("network", folder / "one.csv", folder / "two.csv", *SHORT)
    more = (
        "--require",
        "two: kind -> colour",
        "--role",
        "one: kind=cause",
        "--role",
        "two: kind=cause",
        "-o",
        files["m.imx"],
        "--report",
        files["page.html"],
    )
    found = json.loads(run(*args, *more, "--json").stdout)
    assert found["rows"] == [60, 40]
    assert found["roles"]["two: kind"] == found["roles"]["one: kind"]
    assert "write it as 'one: column=role'" in refuse(*args, "--role", "kind=cause")
    assert {"table": "two", "from": "kind", "to": "colour", "probability": 1.0} in found["edges"]
    assert "The network of two" in files["page.html"].read_text("utf-8")
    assert "two" in run("inspect", files["m.imx"]).stdout
    page = tmp_path / "again.html"
    run("report", files["m.imx"], "-o", page)
    assert page.exists()


def test_cells_that_were_set_are_told_by_a_table(folder):
    args = ("network", folder / "one.csv", *SHORT, "--json", "--interventions")
    assert json.loads(run(*args, folder / "set.csv").stdout)["directed"]
    two = ("network", folder / "one.csv", folder / "two.csv", *SHORT, "--json", "--interventions")
    said = f"one: {folder / 'set.csv'}"
    assert json.loads(run(*two, said).stdout)["rows"] == [60, 40]
    assert "two files for 'one'" in refuse(*two, said, "--interventions", said)
    assert "write it as 'one: set.csv'" in refuse(*two, folder / "set.csv")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("one.csv", "two.csv", "--kind", "dynamic"), "several files have directed networks"),
        (("one.csv", "two.csv", "--prior", "uniform"), "block prior"),
        (("one.csv", "two.csv", "--role", "kind=a"), "of which table"),
        (("one.csv", "two.csv", "--require", "kind->size"), "of which table it is"),
        (("one.csv", "one.csv"), "one name"),
        (("one.csv", "--kind", "circular"), "directed, undirected or dynamic"),
        (("one.csv", "--prior", "flat"), "blockmodel, ordered, sparse or uniform"),
        (("one.csv", "--kind", "undirected", "--bif", "n.bif"), "--bif is for directed"),
        (("one.csv", "--groups", "kind"), "--kind dynamic"),
        (("one.csv", "--kind", "dynamic", "--groups", "nest"), "has no column 'nest'"),
        (("one.csv", "--require", "kind"), "write it as 'from -> to'"),
        (("one.csv", "--require", "kind -> sise"), "no column of the network"),
        (("one.csv", "--role", "kind"), "COLUMN=ROLE"),
        (("one.csv", "--role", "kind=a", "--prior", "sparse"), "has no roles"),
        (
            ("one.csv", "--require", "kind->size", "--forbid", "kind->size"),
            "required and forbidden",
        ),
        (("two.csv", "--interventions", "set.csv"), "60 rows, and the table 40"),
        (("one.csv", "--interventions", "odd.csv"), "takes 1 where a cell was set"),
        (("one.csv", "--kind", "undirected", "--interventions", "set.csv"), "a direction"),
        (("one.csv", "nothing.csv"), "there is no file"),
        (("one.csv", "--interventions", "nothing.csv"), "there is no file"),
    ],
)
def test_what_does_not_go_together_is_told_in_one_line(folder, tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    given = [folder / arg if arg.endswith(".csv") else arg for arg in args]
    assert words in refuse("network", *given, *SHORT)
    assert list(tmp_path.iterdir()) == []


def test_effects_may_have_signs(tmp_path):
    rows = [(t % 2, t // 2 % 2, int(t % 2 > t // 2 % 2)) for t in range(80)]
    write_csv(tmp_path / "signs.csv", rows, ("up", "down", "both"))
    args = ("network", tmp_path / "signs.csv", *SHORT, "--effects", "signed", "--threshold", "0")
    shown = run(*args, "--edges", tmp_path / "e.csv", "-o", tmp_path / "m.imx").stdout
    assert "positive effects" in shown
    assert "-|" in shown
    edges = list(csv.DictReader(io.StringIO((tmp_path / "e.csv").read_text())))
    down = [e for e in edges if {e["from"], e["to"]} == {"down", "both"}]
    assert all(float(e["positive"]) < 0.5 for e in down if float(e["probability"]) > 0.1)
    found = json.loads(run(*args, "--json").stdout)
    assert len(found["positive_effects_of_roles"]) == len(set(found["roles"].values()))
    assert "-|" in run("inspect", tmp_path / "m.imx").stdout
    assert "signed is for directed networks" in refuse(*args, "--kind", "dynamic")
    assert "signed needs another --prior" in refuse(*args, "--prior", "ordered")
    assert "--effects: there is no 'odd'" in refuse(*args, "--effects", "odd")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two binary columns that agree in 9 of 10 rows: linked, in either direction."""
    rows = [(t % 2, (t + (t % 10 == 0)) % 2) for t in range(100)]
    return write_csv(tmp_path_factory.mktemp("pair") / "pair.csv", rows, ("a", "b"))


def test_a_pair_of_unknown_direction_is_one_line(pair, tmp_path):
    files = {name: tmp_path / name for name in ("e.csv", "page.html")}
    args = ("network", pair, "--sweeps", "200", "--chains", "2", "--threshold", "0.8")
    written = ("--edges", files["e.csv"], "--report", files["page.html"])
    shown = run(*args, *written).stdout
    (line,) = [line for line in shown.splitlines() if "--" in line and " a " in line]
    assert "->" in line
    assert "<-" in line
    assert "the direction is not decided" in shown
    found = json.loads(run(*args, "--json").stdout)
    (one,) = found["undecided"]
    assert {one["from"], one["to"]} == {"a", "b"}
    assert one["forward"] + one["backward"] == pytest.approx(one["probability"])
    assert (found["edges"], one["probability"] > 0.95) == ([], True)
    assert files["e.csv"].read_text().splitlines()[0] == "from,to,probability"
    assert json.loads(run(*args, "--kind", "dynamic", "--json").stdout)["undecided"] == []


def test_one_chain_is_not_said_to_agree(pair):
    args = ("network", pair, "--sweeps", "20", "--chains")
    assert "One chain" in (shown := run(*args, "1").stdout)
    assert "Largest gap" not in shown
    assert json.loads(run(*args, "1", "--json").stdout)["largest_gap_between_chains"] is None
    assert "Largest gap between chains: " in run(*args, "2").stdout


def test_columns_that_tell_nothing(tmp_path):
    rows = [(t % 2, (t + (t % 10 == 0)) % 2, "x", None) for t in range(100)]
    file = write_csv(tmp_path / "odd.csv", rows, ("a", "b", "same", "empty"))
    files = {name: tmp_path / name for name in ("e.csv", "filled.csv", "m.imx")}
    written = ("--edges", files["e.csv"], "--impute", files["filled.csv"], "-o", files["m.imx"])
    args = ("network", file, *SHORT, "--threshold", "0")
    done = run(*args, *written, "--json")
    left_out, constant = done.stderr.splitlines()
    assert left_out.endswith("column 'empty' has no values; left out.")
    assert "its edges keep the prior probability; to leave it out, add --drop same." in constant
    found = json.loads(done.stdout)
    assert {name for edge in found["edges"] for name in (edge["from"], edge["to"])} == {"a", "b"}
    assert set(found["roles"]) == {"a", "b", "same"}
    assert len(files["e.csv"].read_text().splitlines()) == 7
    assert files["filled.csv"].read_text() == file.read_text()
    run("inspect", files["m.imx"])
    for kind in ("undirected", "dynamic"):
        assert "empty" not in json.loads(run(*args, "--kind", kind, "--json").stdout)["roles"]
    write_csv(tmp_path / "none.csv", [(None, None)] * 5, ("a", "b"))
    done = invoke("network", tmp_path / "none.csv", *SHORT)
    assert (done.exit_code, "no column has a value" in done.stderr) == (2, True)


def test_what_contradicts_itself_or_names_no_table_is_refused(folder):
    one = ("network", folder / "one.csv", *SHORT)
    two = ("network", folder / "one.csv", folder / "two.csv", *SHORT)
    assert "column 'kind' has two roles, 'a' and 'b'" in refuse(
        *one, "--role", "kind=a", "--role", "kind=b"
    )
    run(*one, "--role", "kind=a", "--role", "kind=a")
    wrong = refuse(*two, "--require", "three: kind -> colour")
    assert "names a table 'three', and there are 'one', 'two'; write it as 'one: from" in wrong


def test_a_page_has_the_ending_of_a_page(folder, tmp_path):
    for name in ("page.pdf", "page.html.gz"):
        args = ("network", folder / "one.csv", *SHORT, "--report", tmp_path / name)
        assert "the page is HTML; name a file that ends in .html." in refuse(*args)
    assert "--output: 'x.pdf' ends in .pdf" in refuse("demo", "--output", "x.pdf")
    run("network", folder / "one.csv", *SHORT, "--report", tmp_path / "page.HTM")
