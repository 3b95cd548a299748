"""Sources beside HTTP, slow clients, and the command as a shell runs it."""

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import numpy as np
import pytest

from infinimix.service.limits import Limits
from infinimix.service.redis_streams import RedisSource
from infinimix.service.running import ServiceSettings, make_owner
from infinimix.service.sources import LineSource
from tests.unit.service.running_server import get, listening, post
from tests.unit.service.served import LABELS, ROWS, serving, text_model

REDIS = shutil.which("redis-server")
LINES = [json.dumps({"x": x, "y": y}).encode() + b"\n" for x, y in zip(ROWS, LABELS, strict=True)]


@contextmanager
def owning(folder):
    owner = make_owner(ServiceSettings(folder, text_model))
    owner.start()
    owner.ready.wait()
    try:
        yield owner
    finally:
        owner.stop()


def address_of(process):
    """Where a service listens, as it says; it may say before that kernels are compiled."""
    for line in process.stderr:
        if b"http://" in line:
            return line.decode().split()[-1]
    raise AssertionError("the service has ended")


@contextmanager
def started(command, **options):
    """A process that does not outlive the test, also if that fails."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def expected():
    return text_model().partial_fit(ROWS, LABELS).predict_proba(ROWS)


def test_lines_are_learned_once_however_often_they_are_read(tmp_path):
    for end in (7, 15, 20, 20):  # each process is given the file from its first line on
        with owning(tmp_path) as owner:
            LineSource(io.BytesIO(b"".join(LINES[:end])), resume=True).run(owner, threading.Event())
            assert owner.learner.n_rows == end
    with owning(tmp_path) as owner:
        np.testing.assert_array_equal(owner.learner.model.predict_proba(ROWS), expected())


def test_bad_lines_are_counted_and_passed_over(tmp_path, caplog):
    bad = [b"no json\n", b'{"x": {"secret": []}, "y": "a"}\n', b'{"x": 1}\n']
    with owning(tmp_path) as owner:
        lines = LINES[:3] + bad + LINES[3:]
        LineSource(io.BytesIO(b"".join(lines))).run(owner, threading.Event())
        assert (owner.learner.n_rows, owner.figures.bad) == (20, 3)
        assert owner.learner.position == {"line": 23}
    assert "secret" not in caplog.text


def test_the_command_serves_learns_standard_input_and_stops(tmp_path):
    command = [sys.executable, "-m", "infinimix", "serve", "state", "--port", "0", "--stdin"]
    with started(command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"".join(LINES))
        process.stdin.flush()
        url = address_of(process)
        end = time.monotonic() + 60
        while get(url + "readyz").status_code != 200 or get(url + "model").json()["rows"] < 20:
            assert time.monotonic() < end
            time.sleep(0.05)
        said = post(url + "predict", json={"x": "fast car"}).json()
        assert said["predictions"][0]["class"] == "car"
        watched = subprocess.run(
            [sys.executable, "-m", "infinimix", "watch", url, "--once"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert "OnlineCRPClassifier" in watched.stdout, watched.stderr
        second = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, text=True)
        assert second.returncode == 2  # the folder has one writer
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) in (0, -signal.SIGTERM, 143)


@pytest.mark.parametrize("sent", [b"", b"GET /model HT", b"GET /model HTTP/1.1\r\nhost: loc"])
def test_a_slow_head_closes_the_connection(tmp_path, sent):
    with listening(tmp_path, limits=Limits(slow=0.3)) as (url, _):
        address = url.removeprefix("http://").strip("/").split(":")
        with socket.create_connection((address[0], int(address[1])), timeout=10) as client:
            client.sendall(sent)
            assert client.recv(1000) == b""


def send_for_ever(client):
    for _ in range(1000):
        client.sendall(b"a: " + b"b" * 1000 + b"\r\n")
        time.sleep(0.001)


def test_an_endless_head_closes_the_connection(tmp_path):
    with listening(tmp_path) as (url, _):
        address = url.removeprefix("http://").strip("/").split(":")
        with socket.create_connection((address[0], int(address[1])), timeout=10) as client:
            client.sendall(b"GET /model HTTP/1.1\r\n")
            with pytest.raises(OSError):
                send_for_ever(client)


def test_events_tell_the_figures(tmp_path):
    with listening(tmp_path) as (url, _):
        post(url + "learn", json={"rows": ROWS, "labels": LABELS}, timeout=60)
        with httpx.stream("GET", url + "events", verify=False) as answer:
            lines = (line for line in answer.iter_lines() if line)
            first, second = json.loads(next(lines)[6:]), json.loads(next(lines)[6:])
        assert "history" in first
        assert (second["rows"], second["n_classes"]) == (20, 2)


# --- Redis --------------------------------------------------------------------------------------


@pytest.fixture
def redis_url(tmp_path):
    if REDIS is None:
        pytest.skip("redis-server is not installed: install Debian's package redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        REDIS,
        "--bind",
        "127.0.0.1",
        "--port",
        str(port),
        "--save",
        "",
        "--dir",
        str(tmp_path),
    ]
    with started(command, stdout=subprocess.DEVNULL) as server:
        url = f"redis://127.0.0.1:{port}/0"
        import redis

        client = redis.Redis.from_url(url)
        for _ in range(200):
            try:
                client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.05)
        yield url
        server.terminate()


def fill(url, rows):
    import redis

    client = redis.Redis.from_url(url)
    for line in rows:
        client.xadd("rows", {"json": line})
    return client


def follow(owner, url, rows, before_ack=None):
    """Learn from the stream until the model has so many rows."""
    source = RedisSource(url, "rows", "models")
    if before_ack is not None:
        source._server.xack = before_ack
    stopped = threading.Event()
    thread = threading.Thread(target=source.run, args=(owner, stopped), daemon=True)
    thread.start()
    end = time.monotonic() + 20
    while owner.learner.n_rows < rows and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.2)  # what must not come has time to come
    stopped.set()
    thread.join(timeout=10)


def test_redis_entries_are_learned_once_though_they_are_delivered_again(tmp_path, redis_url):
    client = fill(redis_url, LINES[:5])
    with owning(tmp_path / "state") as owner:
        follow(owner, redis_url, 5)
    fill(redis_url, LINES[5:12])
    with owning(tmp_path / "state") as owner:  # dies between the flush and the acknowledgement
        follow(owner, redis_url, 12, before_ack=lambda *a: time.sleep(0.5))
    assert client.xpending("rows", "models")["pending"] == 7
    client.xadd("rows", {"other": "field"})
    fill(redis_url, LINES[12:])
    with owning(tmp_path / "state") as owner:
        follow(owner, redis_url, 20)
        assert (owner.learner.n_rows, owner.figures.bad) == (20, 1)
        np.testing.assert_array_equal(owner.learner.model.predict_proba(ROWS), expected())
    assert client.xpending("rows", "models")["pending"] == 0


def test_a_redis_server_that_is_away_is_waited_for(tmp_path):
    with owning(tmp_path) as owner:
        stopped = threading.Event()
        source = RedisSource("redis://127.0.0.1:9/0", "rows", "models")
        thread = threading.Thread(target=source.run, args=(owner, stopped), daemon=True)
        thread.start()
        time.sleep(0.2)
        assert thread.is_alive()
        stopped.set()
        thread.join(timeout=10)
        assert not thread.is_alive()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_what_was_answered_survives_a_kill(tmp_path):
    command = [sys.executable, "-m", "infinimix", "serve", "state", "--port", "0", "--open-world"]
    with started(command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        url = address_of(process)
        for i in range(10):
            rows = {"rows": ROWS[2 * i : 2 * i + 2], "labels": LABELS[2 * i : 2 * i + 2]}
            assert post(url + "learn", json=rows, timeout=60).status_code == 200
        process.kill()
    with serving(tmp_path / "state") as client:
        assert client.owner.learner.n_rows == 20
        found = client.owner.learner.model.predict_proba(ROWS)
    np.testing.assert_array_equal(found, expected())
