"""Power failures, full disks and crashes within a snapshot: what was promised is there."""

import copy
import errno
import random
import threading
import time
import warnings
from contextlib import suppress

import pytest

from infinimix import CRPMixture
from infinimix.streaming import DurabilityError, DurableLearner, disk, segments
from tests.unit.saved_models import saved
from tests.unit.streaming.lossy import LossyDisk

N = 30
ROWS = [{"p": float(i * i % 17), "q": float(i % 5)} for i in range(N)]


def make():
    return CRPMixture({"p": "real", "q": "real"}, n_particles=2, n_islands=1, random_state=0)


@pytest.fixture(scope="module")
def whole():
    """The bytes of the model that nothing has happened to, after each number of rows."""
    model, found = make(), [b""]
    for row in ROWS:
        model.partial_fit([row])
        found.append(saved(model))
    return found


@pytest.mark.parametrize("fsync", ["always", "group"])
def test_power_failures_lose_nothing_that_was_acknowledged(fsync, whole, tmp_path, monkeypatch):
    lossy = LossyDisk(monkeypatch)
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 700)
    acknowledged = {}
    with DurableLearner(make(), tmp_path / "live", snapshot_every=7, fsync=fsync) as learner:
        for i, row in enumerate(ROWS):
            learner.learn([row], request_id=f"r{i}", position={"offset": i})
            if fsync == "group" and i % 4 == 3:
                assert learner.flush() == i + 1
            if i % 3 == 0:
                learner._snapshots.wait()
            for k, draw in enumerate([None, random.Random(i), random.Random(-i - 1)]):
                acknowledged[lossy.fail(tmp_path / f"{i}-{k}", draw)] = learner.durable
    monkeypatch.undo()
    for folder, durable in acknowledged.items():
        with DurableLearner(make(), folder, fsync=fsync) as again:
            n = again.n_rows
            assert n >= durable
            assert n == again.sequence == again.durable
            assert saved(again.model) == whole[n] if n else not durable
            if n:
                assert again.position == {"offset": n - 1}
                assert again.learn([ROWS[n - 1]], request_id=f"r{n - 1}").repeated
            assert not again.learn([ROWS[0]], request_id="new").repeated


def test_without_sync_a_power_failure_may_lose_rows_but_never_gives_others(
    whole, tmp_path, monkeypatch
):
    lossy, left = LossyDisk(monkeypatch), []
    with DurableLearner(make(), tmp_path / "live", snapshot_every=9) as learner:
        for i, row in enumerate(ROWS):
            learner.learn([row])
            learner._snapshots.wait()
            left += [lossy.fail(tmp_path / f"{i}-{k}", random.Random(k)) for k in range(3)]
    monkeypatch.undo()
    opened = 0
    for folder in left:
        # an error tells of a hole among rows whose callers had been answered
        with suppress(DurabilityError), DurableLearner(make(), folder) as again:
            opened += 1
            assert again.n_rows == 0 or saved(again.model) == whole[again.n_rows]
    assert opened > len(left) / 2


def test_a_crash_at_any_step_of_a_snapshot(whole, tmp_path, monkeypatch):
    """Each function of the seam in turn is where the power fails."""

    class PowerFailure(BaseException):
        pass

    for step in range(14):
        lossy = LossyDisk(monkeypatch)
        learner = DurableLearner(make(), tmp_path / f"live{step}", snapshot_every=1000)
        for row in ROWS[:9]:
            learner.learn([row])
        learner.snapshot()
        for row in ROWS[9:12]:
            learner.learn([row])
        learner.flush()
        left = [step]

        def stop(name, real, left=left):
            def run(*args):
                if left[0] == 0:
                    raise PowerFailure
                left[0] -= 1
                return real(*args)

            return run

        for name in ("open_log", "write", "sync", "rename", "remove", "sync_folder"):
            monkeypatch.setattr(disk, name, stop(name, getattr(lossy, name)))
        with suppress(PowerFailure):
            learner.snapshot()
        folders = [lossy.fail(tmp_path / f"{step}-{k}", d) for k, d in enumerate([None, _draw()])]
        monkeypatch.undo()
        for folder in folders:
            with DurableLearner(make(), folder) as again:
                assert saved(again.model) == whole[12]


def _draw():
    return random.Random(3)


def test_torn_writes_at_every_byte_of_the_last_record(whole, tmp_path):
    with DurableLearner(make(), tmp_path / "live") as learner:
        for row in ROWS[:4]:
            learner.learn([row])
    path = tmp_path / "live" / "records-000000000001.jsonl"
    data = path.read_bytes()
    start = data[:-1].rfind(b"\n") + 1
    for at in range(start, len(data)):
        path.write_bytes(data[:at])
        with DurableLearner(make(), tmp_path / "live") as again:
            assert (again.n_rows, again.sequence) == (3, 3)
            assert again.recovered.bytes_cut == at - start
            assert path.read_bytes() == data[:start]
    assert saved(again.model) == whole[3]


def test_a_full_disk_at_the_first_record_leaves_all_as_it_was(tmp_path, monkeypatch):
    learner = DurableLearner(make(), tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(disk, "write_whole", _full)
        with pytest.raises(DurabilityError, match="nothing was learned"):
            learner.learn([ROWS[0]])
    assert not learner.__sklearn_is_fitted__()
    assert (learner.n_rows, learner.sequence) == (0, 0)
    learner.learn([ROWS[0]])
    learner.close()
    with DurableLearner(make(), tmp_path) as again:
        assert again.n_rows == 1


def _full(*args):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("fsync", ["always", "group"])
def test_a_sync_that_fails_ends_learning_but_not_answers(fsync, whole, tmp_path, monkeypatch):
    learner = DurableLearner(make(), tmp_path, fsync=fsync)
    for row in ROWS[:3]:
        learner.partial_fit([row])
    with monkeypatch.context() as patch:
        patch.setattr(disk, "sync", _full)
        with pytest.raises(DurabilityError, match="can learn no more: the disk failed"):
            learner.partial_fit([ROWS[3]])
    with pytest.raises(DurabilityError, match="open it again"):
        learner.partial_fit([ROWS[3]])
    assert learner.durable == 3
    assert learner.model.score_samples([ROWS[0]]).shape == (1,)
    learner.close()
    with DurableLearner(make(), tmp_path) as again:
        assert again.n_rows >= 3
        assert saved(again.model) == whole[again.n_rows]


def test_a_rotation_that_fails_is_tried_again(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 300)
    with DurableLearner(make(), tmp_path) as learner:
        for i, row in enumerate(ROWS):
            if i % 5 == 4:
                with monkeypatch.context() as patch:
                    patch.setattr(disk, "open_log", _full)
                    patch.setattr(disk, "write", _full)
                    with pytest.raises(DurabilityError, match="nothing was learned"):
                        learner.learn([row])
            learner.learn([row])
    assert len(list(tmp_path.glob("records-*"))) > 5
    with DurableLearner(make(), tmp_path) as again:
        assert saved(again.model) == whole[N]


def test_segments_go_once_two_snapshots_cover_them(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 300)
    with DurableLearner(make(), tmp_path, snapshot_every=6) as learner:
        for row in ROWS:
            learner.learn([row])
            learner._snapshots.wait()
            states = sorted(int(p.stem[6:]) for p in tmp_path.glob("state-*.infinimix"))
            firsts = sorted(int(p.stem[8:]) for p in tmp_path.glob("records-*"))
            assert len(states) <= 2
            assert firsts[0] <= states[0] + 1  # the older one can still be replayed from
            assert len(firsts) == 1 or firsts[1] > states[0] + 1  # and nothing older is there
            assert len(list(tmp_path.glob("state-*.json"))) == len(states)
        learner.close()
    newest = sorted(tmp_path.glob("state-*.infinimix"))[-1]
    newest.write_bytes(b"")
    with DurableLearner(make(), tmp_path) as again:
        assert saved(again.model) == whole[N]


def test_callers_share_one_flush(tmp_path, monkeypatch):
    real, count = disk.sync, [0]

    def slow(handle):
        count[0] += 1
        time.sleep(0.02)
        real(handle)

    with DurableLearner(make(), tmp_path, fsync="group") as learner:
        learner.partial_fit([ROWS[0]])
        monkeypatch.setattr(disk, "sync", slow)
        told = []

        def work(i):
            receipt = learner.learn([ROWS[i]], request_id=f"r{i}")
            told.append((receipt.sequence, learner.flush(), learner.durable))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 21)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(sequence for sequence, *_ in told) == list(range(2, 22))
        assert all(flushed >= sequence for sequence, flushed, _ in told)
        assert count[0] < 10  # and not one for each of 20


def test_snapshots_do_not_stop_learning(whole, tmp_path, monkeypatch):
    real, gate = disk.write_whole, threading.Event()

    def slow(path, data):
        gate.wait(30)
        real(path, data)

    with DurableLearner(make(), tmp_path, snapshot_every=5) as learner:
        learner.learn([ROWS[0]])
        monkeypatch.setattr(disk, "write_whole", slow)
        for row in ROWS[1:]:
            learner.learn([row])
        assert learner._snapshots.busy
        copied = copy.deepcopy(learner.model)
        gate.set()
    assert saved(copied) == whole[N]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with DurableLearner(make(), tmp_path) as again:
            assert saved(again.model) == whole[N]
            assert again.recovered.snapshot_rows == 6  # as the model was when it was copied
            assert again.recovered.rows_replayed == N - 6


@pytest.mark.parametrize("fsync", ["group", "os"])
def test_the_log_reaches_as_far_as_a_snapshot(fsync, whole, tmp_path, monkeypatch):
    """Or a power failure, and damage to the newest snapshot later, would lose what it had."""
    lossy = LossyDisk(monkeypatch)
    with DurableLearner(make(), tmp_path / "live", fsync=fsync) as learner:
        for row in ROWS[:12]:
            learner.learn([row])
        learner.snapshot()  # and nobody has asked for a flush
        folder = lossy.fail(tmp_path / "left")
    monkeypatch.undo()
    sorted(folder.glob("state-*.infinimix"))[-1].write_bytes(b"")
    with DurableLearner(make(), folder) as again:
        assert saved(again.model) == whole[12]
