"""Kill a learner again and again, while threads learn into it: `python killing.py FOLDER KILLS`.

The parent sends requests to a child, which it kills at a random moment (while it opens the folder,
learns, flushes, rotates or writes a snapshot); the next child gets the unanswered ones again. At
the end every request has one sequence number, none is missing, and the model has the bytes of one
that learned the same rows in the same order without a crash. A fork has what it needs loaded.
"""

import io
import itertools
import json
import os
import random
import select
import signal
import sys
import threading
import time

from infinimix import CRPMixture
from infinimix.estimators.persistence import save
from infinimix.streaming import DurableLearner, segments

THREADS = 4


def make():
    return CRPMixture({"p": "real", "q": "real"}, n_particles=2, n_islands=1, random_state=0)


def row(number):
    return {"p": float(number * number % 17), "q": float(number % 5)}


def open_learner(folder):
    return DurableLearner(make(), folder, snapshot_every=10, fsync="group")


def child(folder, pipe, pending):
    learner, turn = open_learner(folder), threading.Lock()

    def work():
        while True:
            with turn:
                number = next(pending)
            receipt = learner.learn([row(number)], request_id=str(number), position=number)
            learner.flush()
            os.write(pipe, b"%d %d\n" % (number, receipt.sequence))

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_child(folder, answered, seconds):
    """Let a child learn for so long, kill it, and return what it answered."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        try:
            child(folder, writing, (n for n in itertools.count() if n not in answered))
        finally:
            os._exit(1)  # it does not end by itself
    os.close(writing)
    data, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        part = os.read(reading, 65536)
        if not part:
            raise SystemExit("the child has ended by itself")
        data += part
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    while part := os.read(reading, 65536):
        data += part
    os.close(reading)
    return [tuple(map(int, line.split())) for line in data.splitlines()]


def main(folder, kills, seed=0):
    make().partial_fit([row(0)])  # compiled code is loaded before the first fork
    draw, answered, cut = random.Random(seed), {}, 0
    for _ in range(kills):
        for number, sequence in run_child(folder, answered, draw.uniform(0.0, 0.15)):
            assert answered.setdefault(number, sequence) == sequence
        with open_learner(folder) as learner:
            cut += learner.recovered.bytes_cut > 0
            assert learner.sequence >= max(answered.values(), default=0)
    with open_learner(folder) as learner:
        before = learner.n_rows
        for number in range(max(answered, default=0) + THREADS + 1):  # the unanswered ones again
            receipt = learner.learn([row(number)], request_id=str(number))
            assert answered.setdefault(number, receipt.sequence) == receipt.sequence
        order = sorted(answered, key=answered.get)
        assert sorted(answered.values()) == list(range(1, learner.sequence + 1))
        assert learner.n_rows == len(order)
        expected = make()
        for number in order:
            expected.partial_fit([row(number)])
        assert saved(learner.model) == saved(expected)
    print(json.dumps({"kills": kills, "rows": len(order), "before": before, "cut": cut}))


def saved(model):
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


if __name__ == "__main__":  # or collecting tests would change the segments of all of them
    segments.SEGMENT_BYTES = 3000
    main(sys.argv[1], int(sys.argv[2]))
