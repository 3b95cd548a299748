"""Columns that name rows, and columns that only look so."""

import pytest

from infinimix.cli.ids import find_ids, holds_texts, word_ids
from infinimix.cli.tables_in import read_table
from tests.endtoend.command_files import run

N = 100
IDS = {
    "id": [7919 * i % 10_007 for i in range(N)],  # by its name
    "customer_no": [7919 * (i % 93) % 10_007 for i in range(N)],
    "customerID": [7919 * i % 10_007 for i in range(N)],
    "rank": list(range(5, 5 + N)),  # none is left out
    "who": [f"p{i % 92}" for i in range(N)],  # text
}
AMOUNTS = {
    "price": [5118 + 211 * i * i % 40_009 for i in range(N)],
    "length": [i / 7 for i in range(N)],
    "city": [f"c{i % 80}" for i in range(N)],
    "age": [i % 60 for i in range(N)],
    "paid": [f"${7919 * i % 10_007}" for i in range(N)],
}


def ids_of(path, columns, n=N):
    lines = zip(*(values[:n] for values in columns.values()), strict=True)
    text = "\n".join(",".join(map(str, line)) for line in [tuple(columns), *lines])
    path.write_text(text + "\n")
    return find_ids(read_table(path), columns)


def test_ids_are_found_and_amounts_are_not(tmp_path):
    first = {"x": [i % 3 for i in range(N)]}
    found = ids_of(tmp_path / "a.csv", first | AMOUNTS | IDS)
    assert list(found) == list(IDS)
    assert found["customer_no"] == "93 different values in 100 rows"


def test_numbers_with_a_word_between_them_are_told(tmp_path):
    column = {"paid": [f"${i}.5" if i % 12 else "k.A." for i in range(N)]}
    found = ids_of(tmp_path / "a.csv", {"x": [i % 3 for i in range(N)]} | column)
    assert "is text only because of 'k.A.' in 9 cells" in found["paid"]
    assert "add --missing k.A. to read numbers" in found["paid"]


def test_few_rows_say_nothing(tmp_path):
    assert ids_of(tmp_path / "a.csv", IDS, n=15) == {}


@pytest.mark.parametrize(("scale", "expected"), [(1, set()), (100, {"x"})])
def test_a_first_column_of_large_numbers_names_rows(tmp_path, scale, expected):
    column = {"x": [scale * (7919 * i % 1009) for i in range(N)]}
    assert set(ids_of(tmp_path / "a.csv", column | {"y": [i % 3 for i in range(N)]})) == expected


def test_645_of_699(tmp_path):
    codes = [1_000_025 + 1459 * (i % 645) for i in range(699)]
    table = {"Sample code number": codes, "thickness": [i % 10 for i in range(699)]}
    assert list(ids_of(tmp_path / "a.csv", table, 699)) == ["Sample code number"]


def test_texts_of_several_words_are_told_with_the_option_that_learns_words(tmp_path):
    notes = {"a note": [f"the {i}th of many insects" for i in range(N)], "who": IDS["who"]}
    kinds = {"size": AMOUNTS["age"], "kind": [("ant", "bee")[i % 2] for i in range(N)]}
    found = ids_of(tmp_path / "a.csv", notes | kinds)
    assert holds_texts(notes["a note"])
    assert not holds_texts(notes["who"])
    note, who = word_ids(found, ["a note"])
    end = '--keep "a note", or learn from its words alone with --model online-crp --text "a note"'
    assert note.endswith(end)
    assert who.endswith("keep it with --keep who")
    for args in (("evaluate", "--folds", "2", "--effort", "fast"), ("stream",)):
        said = run(args[0], tmp_path / "a.csv", "-t", "kind", *args[1:]).stderr
        assert end in said
    assert "--text" not in run("cluster", tmp_path / "a.csv", "--effort", "fast").stderr
