"""Kinds by options and TOML, and columns that deserve a look."""

from types import SimpleNamespace

import pytest

from infinimix.cli.errors import CommandError
from infinimix.cli.kinds import (
    KINDS,
    TOGETHER,
    ColumnInfo,
    ask_kinds,
    describe_columns,
    otherwise,
    show_columns,
    warn_of_columns,
)
from infinimix.cli.out import show
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import read_table
from infinimix.tables import column
from infinimix.tables.dates import ORDERS

N = 40
LINES = [
    f"{i},k{i},{'same'},{i % 7 + 0.5},{'x' if i == 3 else i % 9},{i % 2},{i * i}" for i in range(N)
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,name,what,size,nearly,flag,area\n" + "\n".join(LINES) + "\n")
    return read_table(path, Reading())


def kinds_of(table, asked):
    X = table.frame.drop(columns=asked.drop)
    return {i.name: i.kind for i in describe_columns(X, asked.within(list(X.columns)), table)}


def test_kinds_are_found(table):
    found = kinds_of(table, ask_kinds(table, {}, None, ["what"]))
    assert "what" not in found
    assert found["flag"] == "binary"
    assert found["name"] == found["nearly"] == "categorical"
    assert found["size"] == "real"


def test_options_change_kinds(table):
    flags = {"--category": ["flag,size"], "--count": ["area"], "--real": ["id"]}
    found = kinds_of(table, ask_kinds(table, flags, None, None))
    assert found["flag"] == found["size"] == "categorical"
    assert (found["area"], found["id"]) == ("count", "real")


def test_a_gaussian_option_is_a_block(table):
    asked = ask_kinds(table, {"--gaussian": ["size,area"]}, None, None)
    assert asked.columns == {("size", "area"): "gaussian"}
    assert kinds_of(table, asked)["area"] == "gaussian"


def test_toml_changes_kinds_and_options_have_the_last_word(table, tmp_path):
    path = tmp_path / "kinds.toml"
    path.write_text('id = "drop"\nsize = "log"\n"area" = "count"\nflag = "category"\n')
    asked = ask_kinds(table, {"--real": ["area"]}, path, None)
    assert asked.drop == ["id"]
    found = kinds_of(table, asked)
    assert (found["size"], found["area"], found["flag"]) == ("real:log", "real", "categorical")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = ", "no TOML"),
        ('size = "round"', "'size' has the kind 'round'"),
        ('siez = "real"', "no column 'siez'.*did you mean 'size'"),
    ],
)
def test_wrong_toml_is_refused(table, tmp_path, text, words):
    path = tmp_path / "kinds.toml"
    path.write_text(text)
    with pytest.raises(CommandError, match=words):
        ask_kinds(table, {}, path, None)


@pytest.mark.parametrize("flag", ["--real", "--gaussian", "--drop"])
def test_unknown_names_are_refused(table, flag):
    flags = {} if flag == "--drop" else {flag: ["nmae"]}
    with pytest.raises(CommandError, match=f"no column 'nmae', which {flag} names; did you mean"):
        ask_kinds(table, flags, None, ["nmae"] if flag == "--drop" else None)


def test_odd_columns_are_told(table, capsys):
    said = warn_of_columns("fit", describe_columns(table.frame, "auto", table))
    assert [text.split()[1] for text in said] == ["'nearly'", "'what'"]
    assert "is text only because of 'x'" in said[0]
    assert "is constant" in said[1]
    assert capsys.readouterr().err.count("infinimix fit: note: ") == 2


def test_many_constant_columns_are_one_line(tmp_path):
    names = [f"c{j}" for j in range(9)]
    path = tmp_path / "a.csv"
    rows = [[str(i), *"xxxxxx", "", ""] for i in range(3)]
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    table = read_table(path)
    said = warn_of_columns("fit", describe_columns(table.frame, "auto", table))
    assert [text.split(" (")[0] for text in said] == [
        "2 columns have no values",
        "6 columns are constant",
    ]


def test_hints_name_all_columns_to_be_pasted(tmp_path):
    names = [f"c {j}" for j in range(12)]
    path = tmp_path / "a.csv"
    lines = [["x", *names], ["1", *"a" * 12], ["2", *"a" * 12]]
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")
    table = read_table(path)
    said = warn_of_columns("fit", describe_columns(table.frame, "auto", table))
    assert said[0].endswith(f'to leave them out, add --drop "{",".join(names)}".')


def test_a_kind_that_was_named_is_not_questioned(table):
    asked = {"nearly": "categorical"}
    said = warn_of_columns("fit", describe_columns(table.frame, asked, table))
    assert not any("'nearly'" in text for text in said)


def test_values_are_shown_as_in_the_file(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("code,when\n" + "".join(f"{c},{c or 1}:30\n" for c in ["1", "", "2"] * 30))
    table = read_table(path)
    code, when = describe_columns(table.frame, "auto", table)
    assert code.example == "1, 2"
    show(show_columns([when], table))
    assert "time" in capsys.readouterr().out.split()


def test_the_words_of_the_command_are_the_kinds_of_tables():
    """The command has a list of its own, as the records take numba, which is slow to load."""
    transformed = {f"{kind}:{word}" for kind in column.TRANSFORMED for word in ("log", "rank")}
    dates = {"date", *(f"date:{order}" for order in ORDERS)}
    assert {*KINDS} == {"auto", *column.KINDS, *transformed, *dates}
    assert TOGETHER in column.KINDS


def test_kinds_that_rows_have_chosen_are_told():
    infos = [ColumnInfo(name, "real", 6, 0, "", "") for name in ("legs", "size", "when")]
    model = SimpleNamespace(columns_={"legs": "categorical", "size": "real", "when.year": "real"})
    assert otherwise(infos, model) == {"legs": "categorical"}
    assert not otherwise(infos, SimpleNamespace())
