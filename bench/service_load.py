"""A service in a process of its own, and documents for it: what benchmarks of the service share.

Beside infinimix stands the plain service that people write first: scikit-learn's `partial_fit`
behind a lock, and nothing on the disk. It is Starlette, on which FastAPI stands, so that no checks
of types come on top.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from functools import cache
from typing import Any
from urllib.request import urlopen

import numpy as np

from bench.load import MOST, Load

WORDS, CLASSES, LENGTH = 5000, 10, 100
DOCUMENTS = 400  # different ones

HEAD = b"POST /learn HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"

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


@cache
def make_bodies(rows: int, seed: int = 0) -> list[bytes]:
    """Return bodies with so many documents each; each class prefers some words."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(WORDS, 0.05), CLASSES)
    names = np.array([f"word{w}" for w in range(WORDS)])
    bodies = []
    for _ in range(DOCUMENTS if rows == 1 else DOCUMENTS // 4):
        y = rng.integers(0, CLASSES, rows)
        X = [" ".join(names[rng.choice(WORDS, LENGTH, p=chances[c])]) for c in y]
        labels = [f"class {c}" for c in y]
        one = {"x": X[0], "y": labels[0]} if rows == 1 else {"rows": X, "labels": labels}
        bodies.append(json.dumps(one).encode())
    return bodies


def encode(body: bytes, number: int | None = None) -> bytes:
    """Return a request as it is sent, with a request id if there is a number."""
    if number is not None:
        body = b'%s, "id": "r%d"}' % (body[:-1], number)
    return b"%scontent-length: %d\r\n\r\n%s" % (HEAD, len(body), body)


class Server:
    """A service in a process of its own; `seconds` is what it took until it was ready."""

    def __init__(self, kind: str, folder: str) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        ours = ["-m", "infinimix", "serve", folder, "--port", str(self.port)]
        command = ours if kind == "infinimix" else ["-c", PLAIN, str(self.port)]
        start = time.perf_counter()
        self.process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
        self._wait()
        self.seconds = time.perf_counter() - start

    def _wait(self) -> None:
        for _ in range(12_000):
            try:
                with urlopen(f"http://127.0.0.1:{self.port}/readyz"):
                    return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError("the service did not start")

    def load(
        self, requests: list[bytes], seconds: float, rate: float | None = None, most: int = MOST
    ) -> tuple[Load, float]:
        """Put load on it; return what came of it and how long it took."""
        one = Load(self.port, requests, most)
        return one, one.put(seconds, rate)

    def ask(self, path: str) -> Any:
        """Return what an address says."""
        with urlopen(f"http://127.0.0.1:{self.port}{path}") as answer:
            return json.loads(answer.read())

    @property
    def megabytes(self) -> float:
        """Its memory (Linux)."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self, kill: bool = False) -> None:
        """End the process; killed, it has no time to write anything."""
        (self.process.kill if kill else self.process.terminate)()
        self.process.wait(timeout=60)
