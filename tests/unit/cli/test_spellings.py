"""Values that differ by spaces or case: the former are one, the latter are named."""

import json

from infinimix.cli.reading import Reading
from infinimix.cli.spellings import find_variants, tell_spellings
from infinimix.cli.tables_in import read_table
from tests.endtoend.command_files import insects, run, write_csv


def test_spaces_join_values_and_case_does_not(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\nm,a\nM,a\nm ,b\nw, b\n W,b \n", encoding="utf-8")
    table = read_table(tmp_path / "a.csv")
    assert table.columns == {"x": ["m", "M", "m", "w", "W"], "y": ["a", "a", "b", "b", "b"]}
    spaces, variants, others = tell_spellings(table, ["x", "y"])
    assert spaces == "column 'x': spaces around 'm' ignored."
    assert "column 'x' has 'm' and 'M', 'w' and 'W' as different values; if they" in variants
    assert others == "column 'y': spaces around 'b' ignored."
    as_it_stands = read_table(tmp_path / "a.csv", Reading(trim=False))
    assert as_it_stands.columns["x"][2] == "m "


def test_texts_have_no_variants():
    assert find_variants(["Gr\u00fcn", "rot", "ROT", "Rot"]) == ["'rot' and 'ROT' and 'Rot'"]
    assert find_variants(["a", "b"]) == []


def test_a_model_reads_later_files_without_spaces(tmp_path):
    rows = [(size, f" {colour}", kind) for size, colour, kind in insects(holes=0.0)]
    path, model = write_csv(tmp_path / "a.csv", rows), tmp_path / "m.imx"
    run("fit", path, "-t", "kind", "--effort", "fast", "-o", model)
    bare = write_csv(tmp_path / "b.csv", insects(holes=0.0))
    answers = [run("predict", model, file, "--proba", "--json").stdout for file in (path, bare)]
    assert json.loads(answers[0]) == json.loads(answers[1])
