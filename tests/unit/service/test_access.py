"""Closed by default: loopback, tokens, limits, back-pressure, and nothing of it in a log."""

import logging
import threading

import pytest

from infinimix.service.access import LEARN, READ, Access, read_access
from infinimix.service.limits import Limits
from infinimix.service.problems import HttpProblem
from tests.unit.service.served import LABELS, ROWS, serving

LEARNS, READS = "l" * 20, "r" * 20
ROW = {"x": "red apple", "y": "fruit"}


def bearer(token):
    return {"headers": {"authorization": f"Bearer {token}"}}


def test_elsewhere_needs_a_token(tmp_path, monkeypatch):
    monkeypatch.delenv(LEARN, raising=False)
    monkeypatch.delenv(READ, raising=False)
    assert read_access("127.0.0.1").is_open
    for host in ("0.0.0.0", "::", "example.org", "192.168.1.2"):
        with pytest.raises(ValueError, match="token"):
            read_access(host)
    path = tmp_path / "token"
    path.write_text(LEARNS + "\n")
    assert not read_access("0.0.0.0", path).is_open
    monkeypatch.setenv(READ, READS)
    with pytest.raises(ValueError, match=LEARN):
        read_access("127.0.0.1")
    monkeypatch.setenv(LEARN, "short")
    with pytest.raises(ValueError, match="16 characters") as caught:
        read_access("127.0.0.1")
    assert "short" not in str(caught.value)


def test_tokens_for_reading_and_learning(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    with serving(tmp_path, access=Access(LEARNS, READS)) as client:
        assert client.post("/learn", ROW).status_code == 401
        assert client.get("/model").headers["www-authenticate"] == "Bearer"
        assert client.post("/learn", ROW, **bearer("x" * 20)).status_code == 401
        assert client.post("/learn", ROW, **bearer(READS)).status_code == 403
        assert client.post("/learn", ROW, **bearer(LEARNS)).status_code == 200
        assert client.post("/predict", ROW, **bearer(READS)).status_code == 200
        for path in ("/model", "/provisional", "/metrics", "/openapi.json", "/classes/fruit"):
            assert client.get(path).status_code == 401
            assert client.get(path, **bearer(READS)).status_code == 200
        for path in ("/", "/healthz", "/readyz"):
            assert client.get(path).status_code == 200
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("infinimix")]
    assert not [text for text in ours if LEARNS in text or READS in text or "apple" in text]


def test_rows_are_logged_if_asked(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    with serving(tmp_path, log_rows=True) as client:
        client.post("/learn", ROW)
    assert "red apple" in caplog.text


def test_without_a_token_a_foreign_name_is_refused(tmp_path):
    """A page of a browser that points its own name here gets no answer."""
    with serving(tmp_path) as client:
        for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example"):
            answer = client.get("/model", headers={"host": host})
            assert answer.status_code == 421
        for host in ("localhost:8080", "127.0.0.1:9", "[::1]:8080", "localhost"):
            assert client.get("/model", headers={"host": host}).status_code == 200


def test_large_bodies_are_refused_before_and_while_they_come(tmp_path):
    async def parts():
        for _ in range(30):
            yield b"x" * 10

    with serving(tmp_path, limits=Limits(body=100)) as client:
        assert client.post("/learn", {"x": "a" * 200, "y": "b"}).status_code == 413
        headers = {"content-type": "application/json"}
        answer = client.many(("POST", "/learn", {"content": parts(), "headers": headers}))[0]
        assert answer.status_code == 413


def test_a_slow_body_times_out(tmp_path):
    import asyncio

    async def parts():
        yield b"{"
        await asyncio.sleep(5)

    with serving(tmp_path, limits=Limits(slow=0.1)) as client:
        headers = {"content-type": "application/json"}
        answer = client.many(("POST", "/learn", {"content": parts(), "headers": headers}))[0]
        assert answer.status_code == 408


def test_a_full_queue_answers_429(tmp_path):
    free = threading.Event()
    with serving(tmp_path, limits=Limits(queue=4, group=1)) as client:
        client.post("/learn", {"rows": ROWS, "labels": LABELS})
        learn = client.owner.learner.learn
        client.owner.learner.learn = lambda *a, **k: free.wait(60) and learn(*a, **k)
        client.owner.learner.pauses = lambda rows: True  # so the event loop leaves it to the thread
        submit = client.owner.submit

        def submit_and_free(job, wake=True):
            try:
                submit(job, wake)
            except HttpProblem:
                free.set()  # a request was refused: let the model go on
                raise

        client.owner.submit = submit_and_free
        done = client.many(*[("POST", "/learn", {"json": ROW})] * 20)
        statuses = [answer.status_code for answer in done]
        assert set(statuses) == {200, 429}
        assert statuses.count(200) + 20 == client.owner.learner.n_rows
        refused = next(answer for answer in done if answer.status_code == 429)
        assert refused.headers["retry-after"] == "1"


def test_too_many_requests_at_once_answer_429(tmp_path):
    with serving(tmp_path, limits=Limits(concurrent=2)) as client:
        client.post("/learn", ROW)
        done = client.many(*[("POST", "/learn", {"json": ROW})] * 10)
        assert {answer.status_code for answer in done} == {200, 429}
