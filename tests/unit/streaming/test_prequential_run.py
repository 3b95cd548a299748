"""Runs by hand on obvious models; the same result from every form of a stream."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from infinimix import AClassClassifier
from infinimix.streaming import NEW_CLASS, PrequentialResult, StreamError, prequential
from tests.unit.streaming.fakes import OpenCounter, RowCounter, Scripted, TableCounter

rng = np.random.default_rng(0)
Y = rng.choice(["a", "b", "c"], 60, p=[0.6, 0.3, 0.1]).tolist()
X = rng.normal(size=(60, 2))
ROWS = [{"p": p, "q": q} for p, q in X.tolist()]
TIMES = ("seconds", "rows_per_second", "peak_memory_mb")


def timeless(result):
    numbers = {k: v for k, v in result.summary().items() if k not in TIMES}
    return {k: None if v != v else v for k, v in numbers.items()}


def chunks(X, sizes):
    ends = np.cumsum([0, *sizes])
    return ((X[i:j], Y[i:j]) for i, j in pairwise(ends))


STREAMS = {
    "arrays": lambda: (X, Y),
    "frames": lambda: (pd.DataFrame(X, columns=["p", "q"]), pd.Series(Y)),
    "sparse": lambda: (sparse.csc_array(X), np.array(Y)),
    "dicts": lambda: (ROWS, Y),
    "rows": lambda: zip(X, Y, strict=True),
    "dicts one by one": lambda: zip(ROWS, Y, strict=True),
    "sparse rows": lambda: ((sparse.csr_array(X[i : i + 1]), Y[i]) for i in range(60)),
    "chunks": lambda: chunks(X, [1, 19, 40]),
    "chunks of dicts": lambda: list(chunks(ROWS, [30, 30])),
    "rows and chunks": lambda: [*zip(X[:7], Y[:7], strict=True), (X[7:], Y[7:])],
}


def by_hand():
    """Scores of `TableCounter`, row by row."""
    seen, wrong, losses, new = [], 0, [], 0
    for label in Y:
        share = {s: seen.count(s) / len(seen) for s in sorted(set(seen))}
        wrong += not share or max(share, key=share.get) != label
        new += label not in share
        losses += [-math.log(share[label])] if label in share else []
        seen.append(label)
    return wrong / len(Y), sum(losses) / len(losses), new


@pytest.mark.parametrize("form", STREAMS)
@pytest.mark.parametrize("cls", [TableCounter, RowCounter])
def test_every_form_of_a_stream_gives_the_same_result(cls, form):
    result = prequential(cls(), STREAMS[form]())
    error, loss, new = by_hand()
    assert result.rows == 60
    assert result.error == pytest.approx(error, rel=1e-12)
    assert result.log_loss == pytest.approx(loss, rel=1e-12)
    assert result.new_rows == new == 3
    assert result.unanswered == 1
    assert sum(result.contingency.values()) == 60
    assert math.isnan(result.new_auroc)
    assert math.isnan(result.new_recall)


def test_rows_and_tables_agree_for_aclass():
    def run(stream):
        model = AClassClassifier("real", n_particles=3, n_islands=2, random_state=0)
        return timeless(prequential(model, stream))

    assert run((X, Y)) == run(chunks(X, [1, 2, 57])) == run(zip(X, Y, strict=True))


def test_a_batch_knows_nothing_of_itself():
    model = TableCounter()
    result = prequential(model, (X, Y), batch=20)
    assert model.calls == [20, 20, 20]
    assert result.unanswered == 20
    assert result.new_rows == 20 + sum(label not in Y[:20] for label in Y[20:40])


def test_labels_that_come_late_are_learned_late():
    class Watched(TableCounter):
        log = ()

        def predict_proba(self, X):
            self.log += (sum(self.counts.values()),)
            return super().predict_proba(X)

    model = Watched()
    result = prequential(model, (X, Y), delay=5)
    assert model.log == tuple(range(1, 55))  # the 7th row is the first to be answered
    assert result.unanswered == 6
    assert sum(model.counts.values()) == 60  # also those whose labels came after the end
    assert result.new_rows >= 6


def test_no_delay_is_no_delay():
    assert timeless(prequential(TableCounter(), (X, Y), delay=0)) == timeless(
        prequential(TableCounter(), (X, Y))
    )


def test_a_warm_up_is_learned_in_portions_and_not_scored():
    model = TableCounter()
    result = prequential(model, chunks(X, [15, 45]), warm_up=20)
    assert model.calls == [15, 5, *[1] * 40]
    assert result.rows == 40
    assert result.unanswered == 0


def test_the_stream_is_read_no_further_than_asked():
    stream = iter(zip(X, Y, strict=True))
    assert prequential(TableCounter(), stream, max_rows=25).rows == 25
    assert len(list(stream)) == 35
    assert prequential(TableCounter(), chunks(X, [20, 40]), max_rows=25, warm_up=5).rows == 20


def test_rows_that_are_refused_are_counted_or_fatal():
    labels = [*Y[:10], "refused", *Y[10:]]
    table = np.vstack([X[:10], X[:1], X[10:]])
    with pytest.raises(ValueError, match="this label is refused"):
        prequential(TableCounter(), (table, labels))
    for options in ({}, {"batch": 8}):
        result = prequential(TableCounter(), (table, labels), on_bad="skip", **options)
        assert (result.rows, result.bad_rows) == (60, 1)
        assert result.bad == [(10, "this label is refused")]
    result = prequential(TableCounter(), (table, labels), on_bad="skip", warm_up=30)
    assert (result.rows, result.bad) == (31, [(10, "this label is refused")])
    result = prequential(TableCounter(), (table, labels), on_bad="skip", delay=3)
    assert "not learned" in result.bad[0].reason


def test_rows_that_aclass_refuses_leave_it_as_it_was():
    rows = [*ROWS[:20], {"p": float("inf"), "q": 0.0}, {"r": 1.0}, *ROWS[20:]]
    labels = [*Y[:20], "a", "b", *Y[20:]]
    options = {"columns": "real", "n_particles": 2, "n_islands": 1, "random_state": 0}
    result = prequential(AClassClassifier(**options), (rows, labels), on_bad="skip")
    assert [record.line for record in result.bad] == [20, 21]
    assert "infinite" in result.bad[0].reason
    clean = prequential(AClassClassifier(**options), (ROWS, Y))
    assert timeless(result) | {"bad_rows": 0} == timeless(clean)


def test_a_forecast_of_the_models_own_gets_whole_chunks():
    rows = [
        {"says": NEW_CLASS, "new": 0.9},
        {"says": "a", "proba": 0.5, "confidence": 0.5, "new": 0.2},
        {"says": "a", "new": 0.6},
        {"says": NEW_CLASS, "proba": 0.25, "confidence": 0.7, "new": 0.7},
    ]
    model = Scripted()
    result = prequential(model, (rows, ["a", "a", "b", "a"]), window=2)
    assert model.cuts == [4]
    assert result.error == 0.5
    assert result.error_known == 0.5
    assert result.log_loss == pytest.approx((math.log(2) + math.log(4)) / 2)
    assert (result.new_rows, result.new_precision, result.new_recall) == (2, 0.5, 0.5)
    assert result.new_auroc == 3 / 4
    assert result.curve["error"] == [0.0, 0.0, 0.5, 1.0]
    assert prequential(Scripted(), (rows, ["a", "a", "b", "a"]), warm_up=2).rows == 2


def test_the_open_world_of_a_model_of_tables():
    result = prequential(OpenCounter(), (X, Y))
    assert 0 <= result.new_auroc <= 1


def test_models_of_scikit_learn():
    result = prequential(GaussianNB(), (X, Y), classes=["a", "b", "c"], batch=10)
    assert 0 < result.error < 1


def test_the_result_can_be_read_in_many_ways(tmp_path):
    result = prequential(TableCounter(), (X, Y), window=20)
    assert isinstance(result, PrequentialResult)
    assert list(result.to_frame().columns) == ["error", "log_loss", "confidence", "new", "seconds"]
    assert result.to_frame().index[-1] == 60
    text = str(result)
    assert "pair f1" in text
    assert len({line.rstrip()[-1:] for line in text.splitlines()} - {""}) > 1
    assert "curve" not in repr(result)
    result.plot().savefig(tmp_path / "run.png")
    assert result.rows_per_second == pytest.approx(60 / result.seconds)
    assert result.peak_memory_mb > 10 or math.isnan(result.peak_memory_mb)


def test_no_rows_make_no_scores():
    result = prequential(TableCounter(), [])
    assert result.rows == 0
    assert math.isnan(result.error)
    assert str(result)
    result.plot()


def test_progress_is_told(capsys):
    told = []
    prequential(TableCounter(), chunks(X, [10, 50]), progress=told.append)
    assert told == [10, 60]
    prequential(TableCounter(), (X, Y), progress=True)
    prequential(TableCounter(), (X, Y))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": 0}, "window must be a whole number from 1 on; got 0"),
        ({"batch": 0}, "batch must be"),
        ({"delay": -1}, "delay must be"),
        ({"warm_up": 1.5}, "warm_up must be"),
        ({"max_rows": -1}, "max_rows must be"),
        ({"on_bad": "ignore"}, "on_bad must be 'raise' or 'skip'"),
    ],
)
def test_bad_parameters_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        prequential(TableCounter(), (X, Y), **options)


@pytest.mark.parametrize("stream", ["rows.csv", 3, [1, 2], [{"a": 1}]])
def test_what_is_no_stream_is_refused(stream):
    with pytest.raises(TypeError, match="stream"):
        prequential(TableCounter(), stream)


def test_tables_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="60 rows, but y has 59 labels"):
        prequential(TableCounter(), (X, Y[1:]))


def test_errors_of_reading_are_errors_of_values():
    assert issubclass(StreamError, ValueError)
