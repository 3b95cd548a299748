"""What else the cores did while something was measured: the host's share, and other programs'.

A virtual machine loses its cores to others without a trace in its own figures, except for a counter
of Linux. A turn in which that moves says little about what was measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

STAT = Path("/proc/stat")
USER, NICE, SYSTEM, IDLE, WAITING, HARD, SOFT, STOLEN = range(8)  # columns of its first line


class Disturbance(NamedTuple):
    """Cores, on average, that the host has taken and that other programs have used."""

    host: float
    others: float


class Watch:
    """What others do from now on.

    Parameters
    ----------
    processes : sequence of int
        Processes that are measured, beside this one.
    """

    def __init__(self, processes: Sequence[int] = ()) -> None:
        self._processes = processes
        self._start = self._read()

    def stop(self) -> Disturbance:
        """Return what others did; nothing where the system does not say."""
        seconds, stolen, others = (b - a for a, b in zip(self._start, self._read(), strict=True))
        return Disturbance(stolen / seconds, max(0.0, others / seconds))

    def _read(self) -> tuple[float, float, float]:
        if not STAT.exists():
            return time.perf_counter(), 0.0, 0.0
        tick = os.sysconf("SC_CLK_TCK")
        cells = [int(cell) / tick for cell in STAT.read_text().split("\n")[0].split()[1:9]]
        busy = sum(cells[k] for k in (USER, NICE, SYSTEM, HARD, SOFT))
        own = time.process_time() + sum(_seconds_of(one) / tick for one in self._processes)
        return time.perf_counter(), cells[STOLEN], busy - own


def _seconds_of(process: int) -> int:
    """Return how long a process has run, in ticks of the clock."""
    cells = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(cells[11]) + int(cells[12])
