"""Options that are declared once are options of each command that has them."""

import inspect

from infinimix.cli.bundles import ColumnOptions, FileOptions, TableOptions, unfolded


def test_a_bundle_becomes_options_in_the_order_of_help():
    def command(file: str, *, reads: ColumnOptions, seed: int = 0) -> None:
        told.append((file, reads, seed))

    told = []
    run = unfolded(command)
    names = list(inspect.signature(run).parameters)
    assert names == [
        "file", "real", "log", "category", "binary", "count", "columns", "drop", "keep",
        "missing", "format", "delimiter", "encoding", "decimal", "date_order", "sheet", "seed",
    ]  # fmt: skip
    given = dict.fromkeys(names[1:-1]) | {"file": "a.csv", "seed": 3, "drop": ["x,y"]}
    run(**given)
    assert told == [("a.csv", ColumnOptions(drop=["x,y"]), 3)]


def test_a_command_without_bundles_stays_as_it_is():
    def command(file: str) -> None:
        """Do nothing."""

    assert unfolded(command) is command


def test_what_bundles_say():
    assert FileOptions(drop=["a,b"], format="csv").reading.drop == ("a", "b")
    table = TableOptions(log=["x"], gaussian=["u,v"])
    assert table.kinds["--log"] == ["x"]
    assert table.kinds["--gaussian"] == ["u,v"]
    assert "--gaussian" not in ColumnOptions().kinds
