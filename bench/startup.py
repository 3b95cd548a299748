"""Start-up: a fresh process imports infinimix and fits a small table of mixed columns.

The first process finds an empty cache of kernels and compiles; the next ones are warm. Wall
time from the start of the interpreter to the answer; how long the process then takes to end
(Python frees what numba and SciPy have built up) and its CPU time are noted beside.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import infinimix
from bench.report import Line, Section

PROGRAM = """
import time
start = time.perf_counter()
import numpy as np
from infinimix import AClassClassifier
imported = time.perf_counter()
rng = np.random.default_rng(0)
n = 100
rows = [
    {"a": bool(rng.integers(2)), "b": bool(rng.integers(2)),
     "c": "xyz"[rng.integers(3)], "d": "pq"[rng.integers(2)],
     "e": float(rng.normal()), "f": float(rng.normal())}
    for _ in range(n)
]
AClassClassifier(random_state=0).fit(rows, rng.integers(2, size=n)).predict_proba(rows)
print(imported - start, time.perf_counter() - imported, time.process_time())
"""


def run(quick: bool = False) -> Section:
    section = Section("Start-up: import, fit and predict 100 rows x 6 (wall time)")
    with tempfile.TemporaryDirectory() as cache:
        cold = _start(cache)
        warm = [_start(cache) for _ in range(1 if quick else 7)]
    answer, end, imports, fit, cpu = np.median(warm, axis=0)
    section.lines = [
        Line(
            "warm process, to the answer",
            f"{answer:.2f} s",
            bar="< 1.2 s",
            meets=bool(answer < 1.2),
        ),
        Line("warm process, to its end", f"{end:.2f} s"),
        Line("cold process: compiles all kernels, once", f"{cold[0]:.1f} s"),
    ]
    section.notes.append(
        f"warm: import {imports:.2f} s, fit and predict {fit:.2f} s; CPU {cpu:.2f} s; "
        f"slowest answer of {len(warm)}: {max(w[0] for w in warm):.2f} s"
    )
    section.figures = {"warm_seconds": warm, "cold_seconds": cold}
    return section


def _start(cache: str) -> tuple[float, ...]:
    """Return wall seconds to the answer, to the end, of imports and of the rest; CPU seconds."""
    source = str(Path(infinimix.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": cache}
    environment["INFINIMIX_AHEAD"] = "none"  # the cold one is to compile
    environment["PYTHONDONTWRITEBYTECODE"] = ""  # warm ones find bytecode, as whoever installed it
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAM],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        figures = process.stdout.readline().split()
        answer = time.perf_counter() - start
        process.wait()
        end = time.perf_counter() - start
    return answer, end, *map(float, figures)
