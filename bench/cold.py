"""Cold and warm: what the first answer costs, by kind of table and by model.

Each case is a fresh process that imports, fits and predicts (`bench.cold_cases`). "Cold" finds an
empty cache of kernels, "warm" the cache that the cold one left. "After the first" is how much
longer than warm a case takes when all cases before it, in the order of the table, have filled one
common cache: what the next mix, family or model costs a person who has used the library before.
"Wheel" finds an empty cache too, but the kernels that `make` and the wheel bring (`kernels.ahead`).
CPU time of the whole process, since what else the machine does changes wall time. A kernel is one
compiled signature in the cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import infinimix
from bench import cold_cases
from bench.report import Grid, Line, Section
from infinimix.kernels import ahead

BEFORE = Path(__file__).with_name("before_cold.json")
QUICK = ["binary"]
FIRST, NEXT = 6.0, 1.0  # CPU seconds: the first table ever, and any other after it


class Start(NamedTuple):
    """One fresh process: CPU seconds in all, of them imports; kernels that it added."""

    total: float
    imports: float
    kernels: int


def start(case: str, cache: str, ahead: str = "none") -> Start:
    """Run a case in a fresh process that keeps its kernels in this folder."""
    source = str(Path(infinimix.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": cache}
    environment["INFINIMIX_AHEAD"] = ahead
    before = kernels(cache)
    with subprocess.Popen(
        [sys.executable, str(cold_cases.__file__), case],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        answer, complaint = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{case}: {complaint}")
    total = usage.ru_utime + usage.ru_stime
    return Start(total, json.loads(answer)["imports"], kernels(cache) - before)


def kernels(cache: str) -> int:
    """How many compiled kernels a cache holds."""
    return sum(1 for _ in Path(cache).rglob("*.nbc"))


def measure(cases: list[str]) -> dict[str, dict[str, Start]]:
    """Each case alone, cold then warm; then all in order with one cache."""
    found: dict[str, dict[str, Start]] = {}
    with tempfile.TemporaryDirectory() as common, tempfile.TemporaryDirectory() as shipped:
        if cases != QUICK:
            ahead.build(Path(shipped))
        for case in cases:
            with tempfile.TemporaryDirectory() as own:
                found[case] = {"cold": start(case, own), "warm": start(case, own)}
            found[case]["next"] = start(case, common)
            if cases != QUICK:
                with tempfile.TemporaryDirectory() as own:
                    found[case]["wheel"] = start(case, own, shipped)
    return found


def run(quick: bool = False) -> Section:
    found = measure(QUICK if quick else list(cold_cases.CASES))
    section = Section("Cold and warm: a fresh process fits and predicts 120 rows (CPU seconds)")
    for k, (case, starts) in enumerate(found.items()):
        first = k == 0
        seconds = starts["cold"].total if first else more(starts)
        bar = FIRST if first else NEXT
        what = "the first table ever" if first else "more than warm, after those above"
        section.lines.append(
            Line(f"{case}: {what}", f"{seconds:.1f}", bar=f"<= {bar:g}", meets=seconds <= bar)
        )
        if "wheel" in starts:
            seconds = starts["wheel"].total - (0.0 if first else starts["warm"].total)
            what = "cold, with kernels ahead of time" + ("" if first else ", more than warm")
            line = Line(
                f"{case}: {what}", f"{seconds:.1f}", bar=f"<= {bar:g}", meets=seconds <= bar
            )
            section.lines.append(line)
    before = json.loads(BEFORE.read_text(encoding="utf-8"))
    section.grids.append(compare(decode(before["cases"]), found))
    section.notes.append(
        f"before / now; before is commit {before['commit']}, {before['date']}, when kernels were "
        "compiled for every mix, measured beside other work"
    )
    section.figures = {
        case: {name: one._asdict() for name, one in starts.items()}
        for case, starts in found.items()
    }
    return section


def more(starts: dict[str, Start]) -> float:
    """What a case costs beyond its warm run when those before it have filled the cache."""
    return starts["next"].total - starts["warm"].total


def decode(cases: dict[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, Start]]:
    """Figures as `--json` writes them."""
    return {
        case: {name: Start(**one) for name, one in starts.items()} for case, starts in cases.items()
    }


def compare(before: dict[str, dict[str, Start]], now: dict[str, dict[str, Start]]) -> Grid:
    """Each cell is the figure before and the figure now."""
    columns: dict[str, Callable[[dict[str, Start]], str]] = {
        "cold": lambda starts: f"{starts['cold'].total:.1f}",
        "cold, ahead of time": lambda starts: (
            f"{starts['wheel'].total:.1f}" if "wheel" in starts else ""
        ),
        "kernels": lambda starts: str(starts["cold"].kernels),
        "warm": lambda starts: f"{starts['warm'].total:.1f}",
        "of it imports": lambda starts: f"{starts['warm'].imports:.1f}",
        "after those above, more than warm": lambda starts: f"{more(starts):.1f}",
        "kernels, after those above": lambda starts: str(starts["next"].kernels),
    }
    rows = [
        [case, *(f"{cell(before[case])} / {cell(starts)}" for cell in columns.values())]
        for case, starts in now.items()
    ]
    return Grid("CPU seconds and kernels compiled", ["case", *columns], rows)
