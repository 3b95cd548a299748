"""Streams for the command: what is passed over, and the picture of the error."""

import pytest

from infinimix.cli.bundles import KindOptions
from infinimix.cli.errors import CommandError
from infinimix.cli.flow import Flow, draw_error, open_learner, run
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


def write_flags(path, n, odd):
    """Write n rows of a column of 0 and 1, and then those of other numbers."""
    values = [i % 2 for i in range(n)] + odd
    rows = [(v, v + 0.5 + i, "ab"[v % 2]) for i, v in enumerate(values)]
    return write_csv(path, rows, ["flag", "size", "kind"])


def run_stream(flow):
    learner, _ = open_learner("online-crp", flow, {"random_state": 0}, None, 100)
    return learner, run(learner, flow, window=10, batch=1, max_rows=None)


def test_binary_columns_of_the_first_rows_are_a_guess(tmp_path):
    path = write_flags(tmp_path / "a.csv", 20, [5, 7, 9])
    assert flow(path).columns() == {"flag": "auto:binary", "size": "real"}
    with pytest.warns(UserWarning, match="'flag' had only 0 and 1") as caught:
        learner, result = run_stream(flow(path))
    assert len(caught) == 1  # of three rows with different numbers
    assert learner.columns_["flag"] == "binary"
    assert result.rows == 23
    assert result.bad_rows == 0


def test_binary_columns_that_an_option_names_are_none(tmp_path):
    path = write_flags(tmp_path / "a.csv", 20, [5])
    asked = KindOptions(binary=["flag"])
    assert flow(path, reads=asked).columns()["flag"] == "binary"
    with pytest.raises(ValueError, match="'flag' is binary but has the value 5"):
        run_stream(flow(path, reads=asked))


def test_a_stream_of_labels_alone_is_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", insects(20))
    with pytest.raises(CommandError, match="no column to learn from besides 'kind'"):
        flow(path, reads=KindOptions(drop=["size,colour"]))


def test_an_empty_stream_is_refused(tmp_path):
    path = write_csv(tmp_path / "a.csv", [])
    with pytest.raises(CommandError, match="has no rows"):
        flow(path)


def with_holes(path, holes):
    """Write insects, some of them without a kind."""
    rows = [(*row[:2], None if i in holes else row[2]) for i, row in enumerate(insects(40))]
    return write_csv(path, rows)


def test_a_row_without_label_is_told_with_what_may_be_done(tmp_path):
    path = with_holes(tmp_path / "a.csv", {0, 1})
    words = "line 2: it has no label 'kind'; add --skip-bad .* or --model aclass, which"
    with pytest.raises(CommandError, match=words):
        flow(path)
    _, result = run_stream(flow(path, skip_bad=True))
    assert (result.rows, result.bad_rows, result.unlabelled) == (38, 2, 0)


def test_rows_without_label_are_learned_by_a_model_that_can(tmp_path):
    path, folder = with_holes(tmp_path / "a.csv", {0, 1, 9, 10, 30}), tmp_path / "state"
    for again in (False, True):
        stream = flow(path, unlabelled=True)
        settings = {"random_state": 0, "effort": "fast"}
        learner, before = open_learner("aclass", stream, settings, folder, 100)
        assert before == (38 if again else 0)
        stream.skip = before
        with learner, pytest.warns(UserWarning, match="the first 2 rows left out: no label"):
            result = run(learner, stream, window=10, batch=1, max_rows=None)
        if not again:
            assert (result.rows, result.unlabelled, result.bad_rows) == (35, 3, 0)
            assert (result.classes, len(result.contingency) > 1) == (2, True)
            assert None not in {true for _, true in result.contingency}
        else:
            assert (result.rows, result.unlabelled) == (0, 0)


def test_the_error_is_drawn():
    assert draw_error({"error": [0.5, 0.25, 0.0]}) == "█▅▁  50% to 0%"
    assert len(draw_error({"error": [0.1] * 1000}).split()[0]) <= 40
    assert draw_error({"error": [float("nan")]}) == "-"
