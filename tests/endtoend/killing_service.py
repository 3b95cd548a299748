"""Kill a service again and again while clients learn: `python killing_service.py FOLDER KILLS`.

Clients send requests with ids over several connections, and send those again that were not
answered; the service is killed at random moments, while it opens its folder, learns, flushes or
writes a snapshot. At the end no acknowledged request is missing, none is in the log twice, all are
known when they are sent again, and the model has the bytes of one that learned the same records
without a crash. A fork has what it needs loaded.
"""

import asyncio
import io
import json
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path

from infinimix import OnlineCRPClassifier
from infinimix.estimators.persistence import save
from infinimix.service import running
from infinimix.service.running import ServiceSettings
from infinimix.streaming import DurableLearner
from infinimix.streaming.folder import SEGMENT, find_numbers, segment_path
from infinimix.streaming.journal import read_records
from infinimix.streaming.plain import from_json
from infinimix.streaming.relearning import fit_rows
from infinimix.streaming.requests import ids_of

CONNECTIONS = 8
WORDS = ["apple", "pear", "plum", "car", "lorry", "train", "oboe", "harp"]


def make():
    return OnlineCRPClassifier(random_state=0)


def body(number):
    """The request of a number: one row, or three."""
    draw = random.Random(number)
    rows = [" ".join(draw.choices(WORDS, k=6)) for _ in range(1 if number % 4 else 3)]
    labels = [row.split()[0] for row in rows]
    return {"rows": rows, "labels": labels, "id": f"r{number}"}


class Clients:
    """Requests on their way to one service after the other."""

    def __init__(self):
        self.answered, self.unanswered, self.next, self.repeated = {}, [], 0, 0

    async def run(self, url, last=None):
        """Send requests until the service is gone, or up to a number, each until it is answered."""
        port = int(url.rstrip("/").rpartition(":")[2])
        await asyncio.gather(*(self._connection(port, last) for _ in range(CONNECTIONS)))

    async def _connection(self, port, last):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return
        while (number := self._take(last)) is not None:
            try:
                answer = await ask(reader, writer, number)
            except (OSError, asyncio.IncompleteReadError):
                self.unanswered.append(number)  # the service was killed: the next one gets it
                return
            self.repeated += answer["repeated"]
            assert answer["rows"] == len(body(number)["rows"])
            assert self.answered.setdefault(number, answer["sequence"]) == answer["sequence"]
        writer.close()

    def _take(self, last):
        if self.unanswered:
            return self.unanswered.pop(0)
        if last is not None and self.next >= last:
            return None
        self.next += 1
        return self.next - 1


async def ask(reader, writer, number):
    content = json.dumps(body(number)).encode()
    path = ("/learn", "/predict-then-learn")[number % 5 == 0]
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
    found = await reader.readuntil(b"\r\n\r\n")
    length = int(found.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    answer = await reader.readexactly(length)
    assert found.split()[1] == b"200", answer
    return json.loads(answer)


def start(folder):
    """Start a service; return its process and a pipe that says its address."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(reading)
            settings = ServiceSettings(Path(folder), make, port=0, snapshot_every=40)
            settings.told = lambda url: os.write(writing, url.encode()) and os.close(writing)
            running.serve(settings)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    return process, reading


def read_address(pipe):
    url = os.read(pipe, 200).decode()
    os.close(pipe)
    if not url:
        raise SystemExit("the service has ended by itself")
    return url


def kill(process):
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


async def run_and_kill(clients, url, process, seconds):
    asyncio.get_running_loop().call_later(seconds, kill, process)
    await clients.run(url)


def main(folder, kills, seed=0):
    make().partial_fit(["red apple"], ["fruit"])  # compiled code is loaded before the first fork
    draw, clients, early = random.Random(seed), Clients(), 0
    for _ in range(kills):
        process, pipe = start(folder)
        if draw.random() < 0.2:  # while it opens its folder, most likely
            asyncio.run(asyncio.sleep(draw.uniform(0.0, 0.1)))
            kill(process)
            os.close(pipe)
            early += 1
        else:
            asyncio.run(run_and_kill(clients, read_address(pipe), process, draw.uniform(0.0, 0.3)))
    process, pipe = start(folder)
    url, last = read_address(pipe), clients.next + 20
    asyncio.run(clients.run(url, last))
    once, before = clients.repeated, dict(clients.answered)
    clients.next = max(0, last - 200)
    asyncio.run(clients.run(url, last))  # again: all are known
    assert clients.repeated - once == last - max(0, last - 200)
    assert clients.answered == before
    os.kill(process, signal.SIGTERM)
    os.waitpid(process, 0)
    rows = check(folder, clients, last)
    found = {"kills": kills, "early": early, "requests": last, "rows": rows, "retried": once}
    print(json.dumps(found))


def check(folder, clients, last):
    """Compare what was answered with the log, and the model with one that saw no crash."""
    expected, ids, n_rows = make(), Counter(), 0
    for first in find_numbers(Path(folder), SEGMENT):
        for sealed in read_records(segment_path(Path(folder), first)):
            record = from_json(sealed.record)
            fit_rows(expected, record["X"], record["y"])
            n_rows += len(record["X"])
            for name, n in ids_of(record, len(record["X"])):
                ids[name] += 1
                assert clients.answered[int(name[1:])] == sealed.sequence
                assert n == len(body(int(name[1:]))["rows"])
    assert set(ids.values()) == {1}
    assert len(ids) == len(clients.answered) == last
    with DurableLearner(make(), folder) as learner:
        assert learner.n_rows == n_rows
        assert saved(learner.model) == saved(expected)
    return n_rows


def saved(model):
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
