"""A crash at any byte: what comes back is what an uninterrupted model is, to the bit."""

import copy
import errno
import itertools
import os
import random
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from infinimix import AClassClassifier, CRPMixture
from infinimix.streaming import DurabilityError, DurableLearner, prequential
from infinimix.streaming.plain import from_json, to_json
from tests.unit.estimators.states import differences, state_of

rng = np.random.default_rng(0)
N, EVERY = 40, 12
Y = rng.choice(["a", "b", "c"], N).tolist()
X = rng.normal(size=(N, 2)) + np.array([ord(label) for label in Y])[:, None]
X[rng.random(X.shape) < 0.2] = np.nan
ROWS = [{"p": p, "q": q} for p, q in X.tolist()]
QUERIES = rng.normal(98, 2, size=(5, 2))


def make(**parameters):
    parameters = {"columns": "real", "n_particles": 3, "n_islands": 1} | parameters
    return AClassClassifier(**{"random_state": 0} | parameters)


def learn(learner, first=0, last=N):
    for i in range(first, last):
        learner.learn_one(ROWS[i], Y[i])
    return learner


def assert_same(a, b):
    assert differences(state_of(a), state_of(b)) == []
    rows = [{"p": p, "q": q} for p, q in QUERIES.tolist()]
    assert np.array_equal(a.predict_proba(rows), b.predict_proba(rows))


@pytest.fixture(scope="module")
def whole():
    """The model that nothing has happened to, after each number of rows."""
    model, states = make(), [None]
    for x, y in zip(ROWS, Y, strict=True):
        model.learn_one(x, y)
        states.append(copy.deepcopy(model))
    return states


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folder as it was after each row, as a crash there would leave it."""
    root = tmp_path_factory.mktemp("durable")
    folders = {}
    with DurableLearner(make(), root / "live", snapshot_every=EVERY) as learner:
        for i in range(N):
            learner.learn_one(ROWS[i], Y[i])
            learner._snapshots.wait()  # or the copy may have half of what it writes
            folders[i + 1] = shutil.copytree(root / "live", root / str(i + 1))
    return folders


def copied(folder, tmp_path):
    shutil.rmtree(tmp_path / "crash", ignore_errors=True)
    return shutil.copytree(folder, tmp_path / "crash")


def logs(folder):
    return sorted(folder.glob("records-*"))


def snapshots(folder):
    return sorted(folder.glob("state-*.infinimix"))


def test_what_was_learned_is_there_after_every_row(folders, whole, tmp_path):
    for n, folder in folders.items():
        with DurableLearner(make(), copied(folder, tmp_path), snapshot_every=EVERY) as learner:
            assert learner.n_rows == n
            assert_same(learner.model, whole[n])


def test_it_goes_on_as_if_nothing_had_happened(folders, whole, tmp_path):
    for n in (1, 11, 12, 13, 24, 37):
        folder = copied(folders[n], tmp_path)
        with DurableLearner(make(), folder, snapshot_every=EVERY) as learner:
            assert_same(learn(learner, n).model, whole[N])
        assert len(snapshots(folder)) <= 2


def test_a_log_that_is_cut_anywhere_gives_back_its_whole_lines(folders, whole, tmp_path):
    draw = random.Random(0)
    for n in (5, 20, 36, 40):
        data = logs(folders[n])[-1].read_bytes()
        base = int(snapshots(folders[n])[-1].stem.split("-")[1])
        ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
        last = range(ends[-2] if len(ends) > 1 else 0, len(data) + 1) if ends else ()
        for at in {0, *draw.sample(range(len(data) + 1), min(4, len(data))), *list(last)[::9]}:
            folder = copied(folders[n], tmp_path)
            logs(folder)[-1].write_bytes(data[:at])
            with DurableLearner(make(), folder, snapshot_every=EVERY) as learner:
                assert learner.n_rows == max(base, sum(end <= at for end in ends))
                assert_same(learner.model, whole[learner.n_rows])
                learn(learner, learner.n_rows, min(learner.n_rows + 2, N))
            with DurableLearner(make(), folder, snapshot_every=EVERY) as learner:
                assert_same(learner.model, whole[learner.n_rows])


@pytest.mark.parametrize(
    "junk", [b"\0" * 100, b"\0\n\0\n", b'[2,21,90,"0123', b"\xff" * 30 + b"\n"], ids=len
)
def test_junk_at_the_end_of_a_log_is_cut_off(folders, whole, tmp_path, junk):
    folder = copied(folders[20], tmp_path)
    with open(logs(folder)[-1], "ab") as file:
        file.write(junk)
    with DurableLearner(make(), folder) as learner:
        assert_same(learn(learner, 20).model, whole[N])
    with DurableLearner(make(), folder) as learner:
        assert_same(learner.model, whole[N])


def test_damage_inside_a_log_is_an_error_and_not_a_loss(folders, tmp_path):
    folder = copied(folders[20], tmp_path)
    data = bytearray(logs(folder)[-1].read_bytes())
    draw = random.Random(1)
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for _ in range(20):
        at = draw.randrange(ends[12], ends[-2])  # after the 13 records that the snapshot has
        number = sum(end <= at for end in ends) + 1
        damaged = bytearray(data)
        damaged[at] ^= 1 << draw.randrange(8)
        logs(folder)[-1].write_bytes(damaged)
        with pytest.raises(DurabilityError, match=f"record {number} in .* is damaged") as error:
            DurableLearner(make(), folder)
        assert f"The first {number - 1} rows" in str(error.value)
        assert f"replay {folder} --until {number - 1} -o" in str(error.value)
    logs(folder)[-1].write_bytes(data)
    DurableLearner(make(), folder).close()  # a refusal leaves neither lock nor damage


def test_damage_that_a_snapshot_covers_loses_nothing(folders, whole, tmp_path):
    folder = copied(folders[20], tmp_path)
    data = bytearray(logs(folder)[-1].read_bytes())
    data[300] ^= 1
    logs(folder)[-1].write_bytes(data)
    with DurableLearner(make(), folder) as learner:
        assert_same(learner.model, whole[20])
        assert learner.recovered.snapshot_rows == 13
        assert learner.recovered.rows_replayed == 7


def test_a_truncated_snapshot_is_replaced_by_the_one_before_it(folders, whole, tmp_path):
    draw = random.Random(2)
    for n in (12 + 13, 40):
        size = snapshots(folders[n])[-1].stat().st_size
        for at in [0, *draw.sample(range(size), 4), size - 1]:
            folder = copied(folders[n], tmp_path)
            newest = snapshots(folder)[-1]
            newest.write_bytes(newest.read_bytes()[:at])
            with DurableLearner(make(), folder, snapshot_every=EVERY) as learner:
                assert learner.n_rows == n
                assert_same(learner.model, whole[n])
            assert len(list(folder.glob("damaged-*"))) == 1
            with DurableLearner(make(), folder, snapshot_every=EVERY) as learner:
                assert_same(learn(learner, n).model, whole[N])


def test_a_crash_while_a_snapshot_is_written(folders, whole, tmp_path):
    folder = copied(folders[25], tmp_path)  # its snapshot is the latest event
    (folder / ".infinimix-0123.tmp").write_bytes(b"half")
    with DurableLearner(make(), folder, snapshot_every=EVERY) as learner:
        assert_same(learner.model, whole[25])
    assert not list(folder.glob(".infinimix*"))


def test_rows_that_are_lost_are_not_passed_over(folders, tmp_path):
    folder = copied(folders[30], tmp_path)
    snapshots(folder)[-1].write_bytes(b"")
    lines = logs(folder)[0].read_bytes().splitlines(keepends=True)
    logs(folder)[0].write_bytes(b"".join(lines[:24]))
    with pytest.raises(DurabilityError, match="only 24 of 25 records"):
        DurableLearner(make(), folder)
    for path in snapshots(folder):
        path.write_bytes(b"")
    with pytest.raises(DurabilityError, match="no snapshot can be read"):
        DurableLearner(make(), folder)
    for path in snapshots(folder):
        path.unlink()
    with pytest.raises(DurabilityError, match="a log, but no snapshot"):
        DurableLearner(make(), folder)


def test_a_write_that_fails_leaves_the_log_whole(whole, tmp_path, monkeypatch):
    learner = learn(DurableLearner(make(), tmp_path), 0, 5)

    def fill(handle, data):
        os.write(handle, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    before = logs(tmp_path)[-1].read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("infinimix.streaming.disk.write", fill)
        for _ in range(2):
            with pytest.raises(DurabilityError, match="nothing was learned.*No space left"):
                learner.learn_one(ROWS[5], Y[5])
        assert_same(learner.model, whole[5])  # and it goes on answering
    assert logs(tmp_path)[-1].read_bytes() == before
    assert_same(learn(learner, 5, 10).model, whole[10])  # there is room again
    learner.close()
    with DurableLearner(make(), tmp_path) as again:
        assert_same(learn(again, 10).model, whole[N])


def test_a_snapshot_that_fails_is_a_warning_as_the_log_goes_on(whole, tmp_path, monkeypatch):
    learner = learn(DurableLearner(make(), tmp_path, snapshot_every=5), 0, 5)
    with monkeypatch.context() as patch:
        patch.setattr("infinimix.streaming.snapshots.save_quickly", _full_disk)
        learner.learn_one(ROWS[5], Y[5])
        learner._snapshots.wait()
    with pytest.warns(UserWarning, match="no snapshot could be written: full"):
        learner.learn_one(ROWS[6], Y[6])
    learn(learner, 7).close()
    with DurableLearner(make(), tmp_path) as again:
        assert_same(again.model, whole[N])


def _full_disk(model, path):
    raise OSError("full")


def test_an_interrupt_stops_the_learner_and_the_folder_stays_good(whole, tmp_path, monkeypatch):
    learner = learn(DurableLearner(make(), tmp_path), 0, 5)
    monkeypatch.setattr(learner.model._bank, "learn_row", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        learner.learn_one(ROWS[5], Y[5])
    with pytest.raises(DurabilityError, match="KeyboardInterrupt"):
        learner.learn_one(ROWS[5], Y[5])
    learner.close()
    with DurableLearner(make(), tmp_path) as again:
        assert_same(learn(again, 5).model, whole[N])


def _interrupt(*data, **how):
    raise KeyboardInterrupt


def test_rows_without_label_come_back(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        learn(learner, 0, 8)
        learner.partial_fit(ROWS[8:10], [None, np.nan])
        learner.learn_one(ROWS[10], None)
        kept = learner.model
    with DurableLearner(make(), tmp_path) as again:
        assert_same(again.model, kept)


def test_rows_that_are_refused_are_in_no_log(whole, tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        with pytest.raises(ValueError, match="infinite"):
            learner.learn_one({"p": np.inf}, "a")
        learn(learner, 0, 3)
        for x, y in (({"p": np.inf}, "a"), ({"r": 1.0}, "a"), ({"p": 1.0}, 1.5)):
            with pytest.raises(ValueError):
                learner.learn_one(x, y)
        for x in ({"p": [1.0]}, {"p": object()}):
            with pytest.raises(TypeError, match="column 'p'"):
                learner.learn_one(x, "a")
        learn(learner, 3)
    with DurableLearner(make(), tmp_path) as learner:
        assert_same(learner.model, whole[N])


FORMS = {
    "array": X,
    "floats": X.astype(np.float32),
    "sparse": sparse.csc_array(X),
    "lists": X.tolist(),
    "dicts": ROWS,
    "numbered": [dict(enumerate(row)) for row in X.tolist()],
    "objects": X.astype(object),
    "masked": np.ma.masked_invalid(X),
    "pandas": pd.DataFrame(X, columns=["p", "q"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_of_every_form_come_back(form, tmp_path):
    table = FORMS[form]
    parts = [
        (table.iloc[i:j] if hasattr(table, "iloc") else table[i:j], Y[i:j])
        for i, j in itertools.pairwise([0, 3, 4, 30, N])
    ]
    plain = make()
    with DurableLearner(make(), tmp_path, fsync=True) as learner:
        for part, labels in parts:
            plain.partial_fit(part, labels)
            learner.partial_fit(part, np.array(labels))
        assert differences(state_of(learner.model), state_of(plain)) == []
    with DurableLearner(make(), tmp_path) as again:
        assert again.n_rows == N
        assert differences(state_of(again.model), state_of(plain)) == []


def test_mixed_columns_and_odd_labels_come_back(tmp_path):
    rows = [
        {"n": np.int64(3), "word": "ü\ud800", "raw": b"\0x", "flag": np.bool_(True)},
        {"n": None, "word": None, "raw": b"y", "flag": False},
        {"n": 2**70, "word": "b", "flag": pd.NA},
    ]
    columns = {"n": "real", "word": "categorical", "raw": "categorical", "flag": "binary"}
    a = make(columns=columns, random_state=None)
    with DurableLearner(a, tmp_path) as learner:
        for x, y in zip(rows, [2**80, np.int64(1), True], strict=True):
            learner.learn_one(x, y)
    with DurableLearner(make(columns=columns, random_state=None), tmp_path) as learner:
        assert differences(state_of(learner.model), state_of(a)) == []
        assert set(learner.classes_.tolist()) == {2**80, 1}


def test_a_mixture_has_no_labels(tmp_path):
    model = CRPMixture("real", n_islands=1, n_particles=2)
    with DurableLearner(model, tmp_path) as learner:
        for i in range(0, N, 10):
            learner.partial_fit(X[i : i + 10])
    with DurableLearner(CRPMixture("real", n_islands=1, n_particles=2), tmp_path) as again:
        assert np.array_equal(again.model.score_samples(QUERIES), model.score_samples(QUERIES))


def test_a_model_that_has_learned_before_is_where_it_starts(tmp_path, whole):
    model = make()
    for i in range(10):
        model.learn_one(ROWS[i], Y[i])
    with DurableLearner(model, tmp_path) as learner:
        assert learner.n_rows == 0
        learn(learner, 10)
    with DurableLearner(make(), tmp_path) as learner:
        assert_same(learner.model, whole[N])


def test_the_folder_wants_the_model_that_it_holds(tmp_path):
    learn(DurableLearner(make(), tmp_path), 0, 3).close()
    with pytest.raises(ValueError, match="n_particles=3, and not 5"):
        DurableLearner(make(n_particles=5), tmp_path)
    with pytest.raises(ValueError, match="holds an AClassClassifier, and not a CRPMixture"):
        DurableLearner(CRPMixture(), tmp_path)
    with DurableLearner(make(n_jobs=2), tmp_path) as learner:
        assert learner.model.n_jobs == 2


def test_a_function_makes_the_model_of_the_one_that_the_folder_holds(tmp_path):
    given = []
    for _ in range(2):
        with DurableLearner(lambda known: given.append(known) or make(), tmp_path) as learner:
            learn(learner, 0, 1)
    assert given == [None, learner.model]
    assert learner.n_rows == 2
    with pytest.raises(TypeError, match="GaussianNB"):
        DurableLearner(lambda known: GaussianNB(), tmp_path)
    with DurableLearner(make(), tmp_path) as learner:  # the refused one has left it open
        assert learner.n_rows == 2


def test_one_at_a_time(tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="the system has no flock")
    assert fcntl
    with DurableLearner(make(), tmp_path), pytest.raises(DurabilityError, match="in use"):
        DurableLearner(make(), tmp_path)
    learner = DurableLearner(make(), tmp_path)
    learner.close()
    learner.close()
    with pytest.raises(DurabilityError, match="it is closed"):
        learner.learn_one(ROWS[0], "a")


def test_it_runs_over_a_stream_as_its_model_does(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        durable = prequential(learner, (ROWS, Y)).summary()
    plain = prequential(make(), (ROWS, Y)).summary()
    assert durable["error"] == plain["error"]
    assert durable["log_loss"] == plain["log_loss"]
    assert learner.predict_one(ROWS[0]) == learner.predict([ROWS[0]])[0]
    assert (
        list(learner.predict_proba_one(ROWS[0]).values())
        == learner.predict_proba([ROWS[0]])[0].tolist()
    )


def test_nothing_is_answered_before_anything_is_learned(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        assert learner.predict_one({"p": 1.0}) is None
        assert not learner.__sklearn_is_fitted__()


def test_texts_come_back():
    texts = ["two words", "", "\u00fc\ud800"]
    assert from_json(to_json(texts, ["a", "b", "a"], row=3)) == {
        "row": 3, "X": texts, "y": ["a", "b", "a"],
    }  # fmt: skip


def test_models_that_cannot_be_saved_are_refused_before_they_learn(tmp_path):
    with pytest.raises(TypeError, match="takes one of AClassClassifier.*; got GaussianNB"):
        DurableLearner(GaussianNB(), tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("every", [0, -1, 1.5, True])
def test_bad_parameters_are_named(every, tmp_path):
    with pytest.raises(ValueError, match="snapshot_every must be"):
        DurableLearner(make(), tmp_path, snapshot_every=every)
