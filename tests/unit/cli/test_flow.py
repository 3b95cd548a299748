"""Streams for the command: what is passed over, and the picture of the error."""

import pytest

from infinimix.cli.bundles import KindOptions
from infinimix.cli.errors import CommandError
from infinimix.cli.flow import Flow, draw_error
from tests.endtoend.command_files import insects, write_csv


def flow(path, **changes):
    given = {
        "target": "kind", "text": None, "reads": KindOptions(), "chunk": 8, "skip_bad": False,
        **changes,
    }  # fmt: skip
    return Flow(path, **given)


@pytest.mark.parametrize("skip", [0, 5, 8, 19, 20, 30])
def test_rows_that_were_learned_are_passed_over(tmp_path, skip):
    path = write_csv(tmp_path / "a.csv", insects(20))
    whole = [label for _, y in flow(path) for label in y]
    rest = [label for _, y in flow(path, skip=skip) for label in y]
    assert rest == whole[skip:]


def test_kinds_come_from_the_first_rows_and_the_options(tmp_path):
    path = write_csv(tmp_path / "a.csv", insects(20))
    assert flow(path).columns() == {"size": "real", "colour": "categorical"}
    assert flow(path, reads=KindOptions(log=["size"])).columns()["size"] == "real:log"
    with pytest.raises(CommandError, match="no column 'siez'"):
        flow(path, reads=KindOptions(real=["siez"])).columns()
    with pytest.raises(CommandError, match="no column 'note', which --text names"):
        flow(path, text="note")


def test_an_empty_stream_is_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", [])
    with pytest.raises(CommandError, match="has no rows"):
        flow(path)


def test_the_error_is_drawn():
    assert draw_error({"error": [0.5, 0.25, 0.0]}) == "█▅▁  50% to 0%"
    assert len(draw_error({"error": [0.1] * 1000}).split()[0]) <= 40
    assert draw_error({"error": [float("nan")]}) == "-"
