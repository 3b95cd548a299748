"""The service under load: rows a second with group commit, and latency at half of that.

Each service runs in a process of its own on a free port of this machine, beside the one that sends
documents of 100 words over 32 connections: three threads with work on two cores. All services are
started first and take turns: full load for some seconds, then half of what that one has managed.
What other programs do meanwhile shifts single turns by a factor of two; medians are shown.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from bench.disturbance import Watch
from bench.load import MOST
from bench.report import Line, Section
from bench.service_load import Server, encode, make_bodies

SPEED = {1: 4000, 100: 20_000}  # rows a second, by rows a request: the bars
SLOWEST = 50.0  # milliseconds
ROUNDS = 3
NOTHING = 0.02  # cores that are always lost


class Measured(NamedTuple):
    """Rows a second, milliseconds of latency at half of that, and requests refused.

    `host` and `others` are cores that were lost meanwhile; see `disturbance`.
    """

    speed: float
    p50: float
    p99: float
    refused: int
    host: float = 0.0
    others: float = 0.0


def run(quick: bool = False) -> Section:
    seconds, rounds = (0.4, 1) if quick else (2.0, ROUNDS)
    section = Section("A service that learns, 32 connections, against Starlette with scikit-learn")
    with ExitStack() as stack:
        served = {
            (kind, rows, ids): stack.enter_context(Served(kind, rows, ids))
            for rows in SPEED
            for kind, ids in (("infinimix", False), ("infinimix", True), ("plain", False))
        }
        turns: dict[Any, list[Measured]] = {key: [] for key in served}
        for k in range(rounds):
            for key, one in served.items():
                if key[0] != "plain" or k == 0:  # that one is far from any bar
                    turns[key].append(one.measure(seconds))
    for rows, bar in SPEED.items():
        ours, named, peer = (turns[key] for key in served if key[1] == rows)
        what = f"{rows} document{'s' * (rows > 1)} of 100 words a request"
        section.lines += [
            compare_speeds(f"{what}: rows/s", ours, peer, bar),
            compare_speeds(f"{what}, with request ids: rows/s", named, peer, None),
            compare_latencies(f"{what}, half that load: p99, ms", ours, peer, SLOWEST),
            compare_latencies(f"{what}, with request ids: p99, ms", named, peer, None),
        ]
    section.notes += [
        f"medians of {rounds} turns, all of them in brackets; of the other service 1 turn",
        "infinimix answers when the rows are on the disk; the other service keeps nothing",
        *_tell_disturbance([one for some in turns.values() for one in some]),
    ]
    return section


def _tell_disturbance(turns: list[Measured]) -> list[str]:
    """Return what was taken from the cores meanwhile, if anything was."""
    host, others = (sorted(getattr(one, who) for one in turns) for who in ("host", "others"))
    if host[-1] < NOTHING and others[-1] < NOTHING:
        return []
    told = (f"{np.median(some):.2f} and {some[-1]:.2f}" for some in (host, others))
    return ["cores lost in a turn, median and most: to the host {}, to others {}".format(*told)]


def compare_speeds(
    what: str, ours: list[Measured], peer: list[Measured], bar: float | None
) -> Line:
    """Return a line of speeds; requests that were refused miss the bar."""
    own, other = (np.median([one.speed for one in turns]) for turns in (ours, peer))
    told = _list_turns(own, [one.speed for one in ours], ",.0f")
    refused = any(one.refused for one in ours)
    meets = None if bar is None else bool(own >= bar) and not refused
    text = told, f"{other:,.0f}", f"{own / other:.2f}"
    return Line(what, *text, f">= {bar:,.0f}" if bar else "", meets, _figures(ours, peer))


def compare_latencies(
    what: str, ours: list[Measured], peer: list[Measured], bar: float | None
) -> Line:
    """Return a line of latencies."""
    own, other = (np.median([one.p99 for one in turns]) for turns in (ours, peer))
    told = _list_turns(own, [one.p99 for one in ours], ".1f")
    meets = None if bar is None else bool(own < bar)
    text = told, f"{other:.1f}", f"{other / own:.2f}"
    return Line(what, *text, f"< {bar:.0f}" if bar else "", meets, _figures(ours, peer))


def _list_turns(median: Any, values: list[float], form: str) -> str:
    return f"{median:{form}} ({', '.join(format(one, form) for one in values)})"


def _figures(ours: list[Measured], peer: list[Measured]) -> dict[str, Any]:
    return {"ours": [one._asdict() for one in ours], "peer": [one._asdict() for one in peer]}


class Served:
    """A service that is measured in turns; with request ids, no request has one twice."""

    def __init__(self, kind: str, rows: int, ids: bool) -> None:
        self._kind, self._rows, self._ids = kind, rows, ids
        self._bodies = make_bodies(rows)
        self._most = 2 * MOST // 3 // rows if ids else MOST  # with ids all are different ones
        self._sent = 0

    def __enter__(self) -> Served:
        self._folder = tempfile.TemporaryDirectory(dir=".")
        self._server = Server(self._kind, self._folder.name)
        self._server.load(self._requests(64), 0.5, most=64)  # kernels are loaded
        return self

    def __exit__(self, *error: object) -> None:
        self._server.stop()
        self._folder.cleanup()

    def _requests(self, n: int) -> list[bytes]:
        first, self._sent = self._sent, self._sent + n
        bodies = self._bodies
        if not self._ids:
            return [encode(body) for body in bodies[:n]]
        return [encode(bodies[k % len(bodies)], k) for k in range(first, first + n)]

    def measure(self, seconds: float) -> Measured:
        """Put full load on it, then half of what it managed."""
        watch = Watch([self._server.process.pid])
        full, took = self._server.load(self._requests(self._most), seconds, most=self._most)
        speed = len(full.latencies) / took
        requests = self._requests(self._most)
        half, _ = self._server.load(requests, seconds, speed / 2, most=self._most)
        p50, p99 = np.percentile(half.latencies, [50, 99]) * 1000
        refused = full.refused + half.refused
        return Measured(speed * self._rows, float(p50), float(p99), refused, *watch.stop())
