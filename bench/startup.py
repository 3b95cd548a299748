"""Start-up: a fresh process imports infinimix and fits a small table of mixed columns.

The first process finds an empty cache of kernels and compiles; the next ones are warm. Wall
time of the whole process, the interpreter included; its CPU time is noted beside, as wall time
suffers from whatever else runs.
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
    total, imports, fit, cpu = np.median(warm, axis=0)
    section.lines = [
        Line("warm process", f"{total:.2f} s", bar="< 2 s", meets=bool(total < 2.0)),
        Line("cold process: compiles all kernels, once", f"{cold[0]:.1f} s"),
    ]
    section.notes.append(
        f"warm: import {imports:.2f} s, fit and predict {fit:.2f} s; CPU {cpu:.2f} s; "
        f"slowest of {len(warm)}: {max(w[0] for w in warm):.2f} s"
    )
    section.figures = {"warm_seconds": warm, "cold_seconds": cold}
    return section


def _start(cache: str) -> tuple[float, ...]:
    """Run the program; return wall seconds of all, of the imports, of the rest; and CPU seconds."""
    source = str(Path(infinimix.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True
    )
    total = time.perf_counter() - start
    return total, *map(float, done.stdout.split())
