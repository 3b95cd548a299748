"""Start-up: a fresh process imports infinimix and fits a small table of mixed columns.

Also how long `import infinimix` takes, and the command to refuse a file with
a line that is too short.

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


IMPORT = """
import time
start = time.perf_counter()
import infinimix
print(time.perf_counter() - start)
"""
BROKEN = "a,b\n1,2\n3\n"


def run(quick: bool = False) -> Section:
    rounds = 1 if quick else 7
    section = Section("Start-up: import, fit and predict 100 rows x 6 (wall time)")
    with tempfile.TemporaryDirectory() as cache:
        cold = _start(cache)
        warm = [_start(cache) for _ in range(rounds)]
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
    bare = float(np.median([float(_python("-c", IMPORT).stdout) for _ in range(rounds)]))
    refusal = float(np.median([_refusal() for _ in range(rounds)]))
    section.lines += [
        Line("import infinimix, alone", f"{bare:.3f} s", bar="< 0.1 s", meets=bare < 0.1),
        Line(
            "the command refuses a broken file",
            f"{refusal:.2f} s",
            bar="< 0.5 s",
            meets=refusal < 0.5,
        ),
    ]
    section.notes.append(
        f"warm: import {imports:.2f} s, fit and predict {fit:.2f} s; CPU {cpu:.2f} s; "
        f"slowest answer of {len(warm)}: {max(w[0] for w in warm):.2f} s"
    )
    section.figures = {"warm_seconds": warm, "cold_seconds": cold}
    return section


def _refusal() -> float:
    """Return wall seconds until the command has refused a file."""
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder, "broken.csv"), Path(folder, "model.imx")
        table.write_text(BROKEN, encoding="utf-8")
        start = time.perf_counter()
        done = _python("-m", "infinimix", "fit", str(table), "--target", "b", "-o", str(model))
        seconds = time.perf_counter() - start
    assert done.returncode == 2, done.stderr
    assert "line 3 has 1 cells" in done.stderr
    return seconds


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter that finds this infinimix, and its bytecode."""
    source = str(Path(infinimix.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


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
