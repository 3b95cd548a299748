"""Requests that are answered without a task: the same answers as by the long way, in order."""

import json
import socket
import time
from contextlib import contextmanager

import pytest

from infinimix.service.access import Access
from infinimix.service.limits import Limits
from tests.unit.service.running_server import listening
from tests.unit.service.served import LABELS, ROWS

TOKEN = "t" * 20
ROW = {"x": "red apple", "y": "fruit"}
JSON = {"content-type": "application/json"}


def encode(content, path="/learn", method="POST", **headers):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    named = {"host": "localhost", **JSON} | {k.replace("_", "-"): v for k, v in headers.items()}
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in named.items())]
    return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body


@contextmanager
def connected(url):
    host, port = url.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as client:
        yield client, client.makefile("rb")


def answer(file):
    """Return status, headers without the date, and body of the next answer."""
    status = int(file.readline().split()[1])
    headers = dict(line.decode().strip().split(": ") for line in iter(file.readline, b"\r\n"))
    body = file.read(int(headers["content-length"]))
    headers.pop("date")
    return status, headers, json.loads(body)


def ask(url, request, parts=1):
    with connected(url) as (client, file):
        if parts == 2:
            client.sendall(request[:-3])
            time.sleep(0.05)
        client.sendall(request[-3:] if parts == 2 else request)
        return answer(file)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    limits = Limits(body=5000, rows=25)
    with listening(tmp_path_factory.mktemp("quick"), limits=limits) as (url, owner):
        assert ask(url, encode({"rows": ROWS, "labels": LABELS}))[0] == 200
        yield url, owner


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (200, encode({"x": "red apple"}, "/predict")),
        (200, encode([{"x": "a"}, {"x": "b"}], "/predict")),
        (200, encode(b'{"x": "a"}\n{"x": "b"}', "/predict", content_type="application/jsonl")),
        (400, encode(b"{no")),
        (422, encode({"x": {"a": "b"}, "y": "fruit"})),
        (422, encode({**ROW, "z": 1})),
        (422, encode(ROW, idempotency_key="k" * 2000)),
        (415, encode(ROW, content_type="text/plain")),
        (413, encode({"x": "a" * 6000, "y": "b"})),
        (413, encode({"rows": ["a"] * 26})),
        (421, encode(ROW, host="elsewhere.example")),
        (405, encode(b"", method="GET")),
        (405, encode(ROW, method="PUT")),
        (404, encode(ROW, "/learn/")),
    ],
)
def test_answers_are_those_of_the_long_way(service, status, request_):
    """A body that comes in two parts goes through the application."""
    url, _ = service
    quick = ask(url, request_)
    assert quick == ask(url, request_, parts=2)
    assert quick[0] == status
    assert quick[1]["x-content-type-options"] == "nosniff"


def test_ids_are_known_on_either_way(service):
    url, owner = service
    before = owner.learner.n_rows
    first = ask(url, encode(ROW, idempotency_key="one"))[2]
    again = ask(url, encode({**ROW, "id": "one"}), parts=2)[2]
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["sequence"] == again["sequence"]
    assert owner.learner.n_rows == before + 1


def test_pipelined_requests_are_answered_in_their_order(service):
    url, owner = service
    before = owner.learner.n_rows
    with connected(url) as (client, file):
        for _ in range(3):
            client.sendall(encode(ROW) + encode({"x": "a"}, "/predict") + encode(b"") + encode(ROW))
            learned, said, refused, last = (answer(file) for _ in range(4))
            assert [learned[0], said[0], refused[0], last[0]] == [200, 200, 400, 200]
            assert learned[2]["sequence"] == said[2]["sequence"] == last[2]["sequence"] - 1
    assert owner.learner.n_rows == before + 6


def test_a_client_that_goes_leaves_the_service_well(service):
    url, owner = service
    before = owner.learner.n_rows
    for _ in range(20):
        with connected(url) as (client, _):
            client.sendall(encode(ROW))
    assert ask(url, encode(ROW))[0] == 200
    end = time.monotonic() + 60
    while owner.learner.n_rows < before + 21 and time.monotonic() < end:
        time.sleep(0.01)
    assert owner.learner.n_rows == before + 21
    with connected(url) as (client, file):
        client.sendall(encode(b"", "/metrics", "GET"))
        while not (line := file.readline()).startswith(b"infinimix_requests_active"):
            assert line
        assert line.split()[1] == b"1"  # this one


def test_a_connection_is_closed_if_the_client_asks_for_it(service):
    with connected(service[0]) as (client, file):
        client.sendall(encode(ROW, connection="close"))
        assert answer(file)[1]["connection"] == "close"
        assert file.read() == b""


def test_an_idle_connection_is_closed_and_one_in_use_is_not(tmp_path):
    limits = Limits(keep_alive=0.5)
    with listening(tmp_path, limits=limits) as (url, _), connected(url) as (client, file):
        for _ in range(12):
            client.sendall(encode({"x": "a"}, "/predict"))
            assert answer(file)[0] == 200
            time.sleep(0.1)
        begun = time.monotonic()
        assert file.read() == b""
        assert time.monotonic() - begun < 30


def test_tokens_are_asked_for(tmp_path):
    with listening(tmp_path, access=Access(TOKEN, "r" * 20)) as (url, owner):
        for parts in (1, 2):
            status, headers, _ = ask(url, encode(ROW), parts)
            assert (status, headers["www-authenticate"]) == (401, "Bearer")
            assert ask(url, encode(ROW, authorization="Bearer " + "r" * 20), parts)[0] == 403
            assert ask(url, encode(ROW, authorization=f"Bearer {TOKEN}"), parts)[0] == 200
        assert owner.learner.n_rows == 2


def test_a_server_that_stops_closes_quick_connections(tmp_path):
    with listening(tmp_path) as (url, _), connected(url) as (client, file):
        client.sendall(encode(ROW))
        assert answer(file)[0] == 200
        client.settimeout(60)
    assert file.read() == b""
