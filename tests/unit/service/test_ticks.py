"""Who serves: the event loop what is soon over, the thread all else; the model is the same."""

import asyncio
import threading
import time

import httpx
import numpy as np
import pytest

from infinimix.service import owner as owners
from infinimix.service.ticks import GATHERED
from infinimix.streaming import disk
from tests.unit.service.served import LABELS, ROWS, serving

ROW = {"x": "red apple", "y": "fruit"}


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A service whose learner notes by which thread its calls come; the machine may be slow."""
    monkeypatch.setattr(owners, "SHORT", 60.0)
    with serving(tmp_path, snapshot_every=100) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        learner, client.by = client.owner.learner, []
        for name in ("learn", "learn_together"):
            noting(learner, name, client.by)
        yield client


def noting(learner, name, by):
    call = getattr(learner, name)

    def note(*args, **more):
        by.append(threading.current_thread() is threading.main_thread())
        return call(*args, **more)

    setattr(learner, name, note)


def learn(client, n=1, body=ROW):
    done = client.many(*[("POST", "/learn", {"json": body})] * n)
    assert {answer.status_code for answer in done} == {200}
    return done


def test_short_requests_are_learned_by_the_event_loop(client):
    learn(client)
    learn(client, 10)
    assert all(client.by)


def test_large_requests_are_learned_by_the_thread(client):
    learn(client, 2, {"rows": ROWS, "labels": LABELS})
    assert not any(client.by)


def test_what_is_slow_is_learned_by_the_thread_until_it_is_fast_again(client):
    client.owner._pace = 2 * owners.SHORT
    while not (client.by and client.by[-1]) and len(client.by) < 20:
        learn(client)
    assert client.by == [False] * 7 + [True]  # 0.9 ** 7 < 1 / 2


def test_a_snapshot_is_left_to_the_thread(client):
    assert not client.owner.learner.pauses(10)
    assert client.owner.learner.pauses(100)
    for _ in range(10):
        learn(client, 10)
    assert client.owner.learner.n_rows == 120
    assert client.by[0]
    assert not client.by[-1]


def test_a_full_segment_is_left_to_the_thread(client, monkeypatch):
    monkeypatch.setattr("infinimix.streaming.segments.SEGMENT_BYTES", 1)
    learn(client)
    assert client.by == [False]


class Session:
    """Requests of one event loop while a flush is under way, which ends when it is told to."""

    def __init__(self, client, monkeypatch):
        self.owner, self.learner = client.owner, client.owner.learner
        self.before = self.learner.sequence
        self.go, self.syncs, sync = threading.Event(), [], disk.sync
        monkeypatch.setattr(
            disk, "sync", lambda handle: self.syncs.append(self.go.wait(60)) or sync(handle)
        )
        transport = httpx.ASGITransport(client.app)
        self.http = httpx.AsyncClient(transport=transport, base_url=client.base)

    def learn(self):
        return asyncio.create_task(self.http.post("/learn", json=ROW))

    async def until(self, true):
        end = time.monotonic() + 60
        while not true() and time.monotonic() < end:
            await asyncio.sleep(0.01)
        assert true()


def test_a_few_requests_wait_for_more_while_a_flush_is_under_way(client, monkeypatch):
    async def run():
        one = Session(client, monkeypatch)
        learning = [one.learn()]
        await one.until(lambda: one.owner.flushing)
        learning += [one.learn() for _ in range(GATHERED - 1)]
        await one.until(lambda: one.owner.waiting == GATHERED - 1)
        assert one.learner.sequence == one.before + 1
        learning.append(one.learn())  # enough to be learned meanwhile
        await one.until(lambda: one.learner.sequence == one.before + 2)
        learning.append(one.learn())
        await one.until(lambda: one.owner.waiting == 1)
        assert not any(task.done() for task in learning)
        one.go.set()  # and the flush after the next has the last one
        done = await asyncio.gather(*learning)
        found = [answer.json()["sequence"] - one.before for answer in done]
        assert found == [1, *[2] * GATHERED, 3]
        assert 2 <= len(one.syncs) <= 3  # the second flush may be in time for the last one

    asyncio.run(run())


def test_predictions_do_not_wait_for_a_flush(client, monkeypatch):
    async def run():
        one = Session(client, monkeypatch)
        first = one.learn()
        await one.until(lambda: one.owner.flushing)
        second = one.learn()
        await one.until(lambda: one.owner.waiting == 1)
        said = await one.http.post("/predict", json={"x": "red apple"})
        assert said.json()["sequence"] == one.before + 2  # those before it are learned first
        assert not first.done()
        assert not second.done()
        one.go.set()
        assert [(await task).status_code for task in (first, second)] == [200, 200]

    asyncio.run(run())


def test_the_model_does_not_depend_on_who_serves(tmp_path):
    """Small and large requests from many clients, and a restart: what was answered is there."""
    with serving(tmp_path, snapshot_every=60) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        calls = []
        for i in range(60):
            many = {"rows": ROWS[: 1 + i % 20], "labels": LABELS[: 1 + i % 20]}
            calls.append(("POST", "/learn", {"json": many if i % 7 == 0 else ROW}))
            calls.append(("POST", "/predict", {"json": {"x": "red apple"}}))
            if i % 9 == 0:
                calls.append(("GET", "/model", {}))
        done = client.many(*calls)
        assert {answer.status_code for answer in done} == {200}
        rows = sum(answer.json()["rows"] for answer in done if "repeated" in answer.json())
        assert client.owner.learner.n_rows == 20 + rows
        said = client.owner.learner.model.predict_proba(ROWS)
    with serving(tmp_path) as client:
        assert client.owner.learner.n_rows == 20 + rows
        np.testing.assert_array_equal(client.owner.learner.model.predict_proba(ROWS), said)
