"""Receipts, request ids, positions, forks, and folders of earlier versions."""

import json
import os
from hashlib import blake2b

import pytest

from infinimix import CRPMixture, OnlineCRPClassifier
from infinimix.estimators.persistence import save
from infinimix.streaming import DurabilityError, DurableLearner, Receipt, prequential
from infinimix.streaming.plain import to_json
from infinimix.streaming.recovery import restore
from tests.unit.streaming.test_power import ROWS, N, make, saved, whole  # noqa: F401


def test_a_request_is_learned_once(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        assert learner.learn(ROWS[:2], request_id="a") == Receipt(1, 2, False)
        assert learner.learn(ROWS[:2], request_id="a") == Receipt(1, 2, True)
        assert learner.learn(ROWS[:1]) == Receipt(2, 1, False)
        assert (learner.n_rows, learner.sequence) == (3, 2)
    for _ in range(2):
        with DurableLearner(make(), tmp_path) as learner:
            assert learner.learn(ROWS[:2], request_id="a") == Receipt(1, 2, True)
            learner.snapshot()  # ids come back from the sidecar, too
    assert learner.n_rows == 3


def test_request_ids_are_forgotten_after_the_window(tmp_path):
    with DurableLearner(make(), tmp_path, window=3) as learner:
        for i in range(4):
            learner.learn([ROWS[i]], request_id=f"r{i}")
        assert learner.learn([ROWS[1]], request_id="r1") == Receipt(2, 1, True)
        assert learner.learn([ROWS[0]], request_id="r0") == Receipt(5, 1, False)
    with DurableLearner(make(), tmp_path, window=3) as learner:
        assert not learner.learn([ROWS[1]], request_id="r1").repeated


def test_a_refused_request_may_be_sent_again(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        learner.learn([ROWS[0]], request_id="a")
        with pytest.raises(ValueError, match="infinite"):
            learner.learn([{"p": float("inf")}], request_id="b", position=7)
        assert (learner.sequence, learner.position) == (1, None)
        assert not learner.learn([ROWS[1]], request_id="b", position=8).repeated
    with DurableLearner(make(), tmp_path) as learner:
        assert (learner.sequence, learner.position) == (2, 8)


@pytest.mark.parametrize(
    ("given", "error"), [(7, TypeError), ("", ValueError), ("x" * 513, ValueError)]
)
def test_bad_request_ids_are_named(given, error, tmp_path):
    with DurableLearner(make(), tmp_path) as learner, pytest.raises(error, match="request_id must"):
        learner.learn([ROWS[0]], request_id=given)


def test_positions_come_back_as_they_were(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        assert learner.position is None
        learner.learn([ROWS[0]], position={"stream": "1526919030474-55", "n": [1, None, 2.5]})
        learner.learn([ROWS[1]])
        with pytest.raises(TypeError, match="JSON"):
            learner.learn([ROWS[2]], position={1, 2})
        assert learner.sequence == 2
        kept = learner.position
    with DurableLearner(make(), tmp_path) as learner:
        assert learner.position == kept == {"stream": "1526919030474-55", "n": [1, None, 2.5]}


@pytest.mark.parametrize(("given", "kept"), [(True, "always"), (False, "os"), ("group", "group")])
def test_classes_of_durability(given, kept, tmp_path):
    with DurableLearner(make(), tmp_path, fsync=given) as learner:
        assert learner.fsync == kept
        learner.partial_fit([ROWS[0]])
        learner.learn([ROWS[1]])
        assert (learner.sequence, learner.durable) == (2, 2 if kept == "always" else 1)
        assert learner.flush() == learner.durable == 2


@pytest.mark.parametrize(
    "bad", [{"fsync": "never"}, {"fsync": None}, {"fsync": []}, {"window": 0}, {"window": 1.5}]
)
def test_bad_parameters_are_named(bad, tmp_path):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
        DurableLearner(make(), tmp_path, **bad)


def test_no_rows_are_no_record(tmp_path):
    with DurableLearner(make(), tmp_path) as learner:
        with pytest.raises(ValueError, match="no rows"):
            learner.learn([])
        assert learner.sequence == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_answers_but_does_not_write(tmp_path):
    learner = DurableLearner(make(), tmp_path)
    learner.learn([ROWS[0]])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    child = os.fork()
    if child == 0:
        code = 1
        try:
            learner.model.score_samples([ROWS[0]])
            learner.learn([ROWS[1]])
        except DurabilityError as error:
            learner.close()
            code = 0 if "forked" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(DurabilityError, match="in use"):  # what the child closed was its own share
        DurableLearner(make(), tmp_path)
    learner.learn([ROWS[1]])
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)  # or it would wait for itself, should the test fail
        os.read(reading, 1)
        os._exit(0)
    learner.close()
    with DurableLearner(make(), tmp_path) as again:  # while the child still lives
        assert again.n_rows == 2
    os.write(writing, b"x")
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)


def first_form(folder, rows, base):
    """Write a folder as earlier versions did: a snapshot after `base` rows, then a log."""
    folder.mkdir()
    model = make()
    for i, row in enumerate(rows):
        model.partial_fit([row])
        if i + 1 == base:
            save(model, folder / f"snapshot-{base:012d}.infinimix")
    lines = [to_json([row], None, row=i) for i, row in enumerate(rows) if i >= base]
    sums = [blake2b(line, digest_size=8).hexdigest().encode() for line in lines]
    log = b"".join(b'["%s",%s]\n' % pair for pair in zip(sums, lines, strict=True))
    (folder / f"log-{base:012d}.jsonl").write_bytes(log + b'["0123')
    return folder


def test_folders_of_earlier_versions_are_read_and_converted(whole, tmp_path):  # noqa: F811
    folder = first_form(tmp_path / "old", ROWS[:10], 4)
    with DurableLearner(make(), folder) as learner:
        assert (learner.n_rows, learner.sequence) == (10, 10)
        assert saved(learner.model) == whole[10]
        assert list(folder.glob("log-*"))  # until there are two new snapshots
        for row in ROWS[10:15]:
            learner.learn([row])
    next(folder.glob("state-*.infinimix")).write_bytes(b"")  # then the old files do
    with DurableLearner(make(), folder) as learner:
        assert saved(learner.model) == whole[15]
        learner.learn([ROWS[15]])
        learner.snapshot()
        assert not list(folder.glob("log-*"))
        assert not list(folder.glob("snapshot-*"))
    with DurableLearner(make(), folder) as learner:
        assert saved(learner.model) == whole[16]


def test_a_model_can_be_restored_up_to_a_record(whole, tmp_path):  # noqa: F811
    with DurableLearner(make(), tmp_path, snapshot_every=10) as learner:
        for row in ROWS:
            learner.learn([row])
            learner._snapshots.wait()
    states = sorted(int(path.stem[6:]) for path in tmp_path.glob("state-*.infinimix"))
    for until in range(states[0], N + 1):
        assert saved(restore(tmp_path, 1, until).model) == whole[until]
    with pytest.raises(DurabilityError, match=f"only {N} of {N + 1} records"):
        restore(tmp_path, 1, N + 1)
    with pytest.raises(DurabilityError, match=f"no snapshot from before record {states[0]}"):
        restore(tmp_path, 1, states[0] - 1)


def test_a_record_that_the_model_refuses_is_cut_only_at_the_end(whole, tmp_path):  # noqa: F811
    from infinimix.streaming.journal import seal

    with DurableLearner(make(), tmp_path) as learner:
        for row in ROWS[:3]:
            learner.learn([row])
    path = tmp_path / "records-000000000001.jsonl"
    bad = seal(4, json.dumps({"ack": 3, "X": {"dicts": [{"z": 1}]}, "y": None}).encode())
    path.write_bytes(path.read_bytes() + bad)
    with DurableLearner(make(), tmp_path) as learner:
        assert learner.recovered.bytes_cut == len(bad)
        assert saved(learner.model) == whole[3]
    good = seal(5, to_json([ROWS[3]], None, row=4, ack=4))
    path.write_bytes(path.read_bytes() + bad + good)
    with pytest.raises(DurabilityError, match="record 4 in .* cannot be learned"):
        DurableLearner(make(), tmp_path)


def test_a_full_disk_is_no_bad_row_of_a_stream(tmp_path, monkeypatch):
    def full(handle, data):
        raise OSError(28, "No space left on device")

    stream = ([{"p": 1.0}, {"p": 2.0}, {"p": 1.5}], ["a", "b", "a"])
    model = OnlineCRPClassifier({"p": "real"}, random_state=0)
    with DurableLearner(model, tmp_path) as learner:
        learner.learn_one({"p": 1.0}, "a")
        monkeypatch.setattr("infinimix.streaming.disk.write", full)
        with pytest.raises(DurabilityError, match="No space left"):
            prequential(learner, stream, on_bad="skip")
        assert learner.n_rows == 1
    assert isinstance(make(), CRPMixture)
