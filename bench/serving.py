"""The service under load: rows a second with group commit, and latency at half of that.

`python -m bench.serving [SECONDS]` starts each service in a process of its own on a free port of
this machine, sends documents of 100 words over 32 connections, and prints a table. Beside infinimix
stands the plain service that people write first: Starlette, scikit-learn's `partial_fit` behind a
lock, and nothing on the disk.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time

import numpy as np

CONNECTIONS = 32
WORDS, CLASSES, LENGTH = 5000, 10, 100
MOST = 60_000  # requests of one measurement

PLAIN = """
import sys, threading
import uvicorn
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.concurrency import run_in_threadpool

words = HashingVectorizer(n_features=2**16)
model = SGDClassifier(loss="log_loss")
classes = [f"class {c}" for c in range(10)]
lock = threading.Lock()

def fit(rows, labels):
    with lock:
        model.partial_fit(words.transform(rows), labels, classes=classes)

async def learn(request):
    given = await request.json()
    rows = given["rows"] if "rows" in given else [given["x"]]
    await run_in_threadpool(fit, rows, given["labels"] if "rows" in given else [given["y"]])
    return JSONResponse({"rows": len(rows)})

async def ready(request):
    return JSONResponse({"ready": True})

app = Starlette(routes=[Route("/learn", learn, methods=["POST"]), Route("/readyz", ready)])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""


def make_bodies(rows, ids=False, n=400, seed=0):
    """Bodies of requests with so many documents; each class prefers some words."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(WORDS, 0.05), CLASSES)
    names = [f"word{w}" for w in range(WORDS)]
    bodies = []
    for _ in range(n):
        y = rng.integers(0, CLASSES, rows)
        X = [" ".join(names[w] for w in rng.choice(WORDS, LENGTH, p=chances[c])) for c in y]
        labels = [f"class {c}" for c in y]
        one = {"x": X[0], "y": labels[0]} if rows == 1 else {"rows": X, "labels": labels}
        bodies.append(one)
    return bodies


def encode(body, number=None):
    content = json.dumps(body if number is None else {**body, "id": f"r{number}"}).encode()
    head = f"POST /learn HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"  # noqa: E501
    return head.encode() + content


class Load:
    """Requests over several connections, as fast as they are answered or at a given rate."""

    def __init__(self, port, requests, seconds, rate=None):
        self.port, self.requests, self.seconds, self.rate = port, requests, seconds, rate
        self.latencies, self.refused, self.sent = [], 0, 0

    async def run(self):
        self.start = time.perf_counter()
        await asyncio.gather(*(self._connection(i) for i in range(CONNECTIONS)))
        return time.perf_counter() - self.start

    async def _connection(self, i):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        k = i
        while time.perf_counter() - self.start < self.seconds and self.sent < MOST:
            due = time.perf_counter()
            if self.rate is not None:
                due = self.start + k / self.rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            self.sent += 1
            writer.write(self.requests[k % len(self.requests)])
            status = await self._answer(reader)
            self.latencies.append(time.perf_counter() - due)
            self.refused += status != 200
            k += CONNECTIONS
        writer.close()

    async def _answer(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        return int(head.split()[1])


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """A service in a process of its own."""

    def __init__(self, kind, folder):
        self.port = free_port()
        ours = ["-m", "infinimix", "serve", folder, "--port", str(self.port)]
        command = ours if kind == "infinimix" else ["-c", PLAIN, str(self.port)]
        self.process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
        self._wait()

    def _wait(self):
        from urllib.request import urlopen

        for _ in range(600):
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/readyz"):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the service did not start")

    def load(self, requests, seconds, rate=None):
        one = Load(self.port, requests, seconds, rate)
        took = asyncio.run(one.run())
        return one, took

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def measure(kind, rows, seconds, ids=False):
    """Return rows a second, the p99 at half of that, and how many requests were refused."""
    bodies = make_bodies(rows)
    numbered = range(MOST if ids else len(bodies))
    requests = [encode(bodies[k % len(bodies)], k if ids else None) for k in numbered]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        server = Server(kind, folder)
        try:
            server.load(requests[:64], 0.5)  # kernels are loaded
            full, took = server.load(requests, seconds)
            speed = len(full.latencies) / took
            if ids:
                requests = [encode(bodies[k % len(bodies)], k + MOST) for k in numbered]
            half, _ = server.load(requests, seconds, speed / 2)
        finally:
            server.stop()
    p50, p99 = np.percentile(half.latencies, [50, 99]) * 1000
    return speed * rows, p50, p99, full.refused + half.refused


def main(seconds=5.0):
    print(
        f"{'service':>24} {'rows a request':>14} {'rows/s':>9} {'p50 ms':>7} {'p99 ms':>7} refused"
    )
    for kind, rows, ids in (
        ("infinimix", 1, False), ("infinimix", 1, True), ("infinimix", 100, False),
        ("plain", 1, False), ("plain", 100, False),
    ):  # fmt: skip
        speed, p50, p99, refused = measure(kind, rows, seconds, ids)
        name = kind + (", request ids" if ids else "")
        print(f"{name:>24} {rows:>14} {speed:>9,.0f} {p50:>7.1f} {p99:>7.1f} {refused}", flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
