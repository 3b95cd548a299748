"""The service under load: rows a second with group commit, and latency at half of that.

Each service runs in a process of its own on a free port of this machine, beside the one that sends
documents of 100 words over 32 connections: three threads with work on two cores.
"""

from __future__ import annotations

import tempfile
from typing import Any, NamedTuple

import numpy as np

from bench.report import Line, Section
from bench.service_load import MOST, Server, encode, make_bodies

SPEED = {1: 4000, 100: 20_000}  # rows a second, by rows a request: the bars
SLOWEST = 50.0  # milliseconds


class Measured(NamedTuple):
    """Rows a second, milliseconds of latency at half of that, and requests refused."""

    speed: float
    p50: float
    p99: float
    refused: int


def run(quick: bool = False) -> Section:
    seconds = 0.5 if quick else 4.0
    section = Section("A service that learns, 32 connections, against Starlette with scikit-learn")
    for rows, bar in SPEED.items():
        ours = measure("infinimix", rows, seconds)
        named = measure("infinimix", rows, seconds, ids=True)
        peer = measure("plain", rows, seconds)
        what = f"{rows} document{'s' * (rows > 1)} of 100 words a request"
        section.lines += [
            _speed(f"{what}: rows/s", ours, peer, bar),
            _speed(f"{what}, with request ids: rows/s", named, peer, None),
            _latency(f"{what}, half that load: p99, ms", ours, peer, SLOWEST),
            _latency(f"{what}, with request ids: p99, ms", named, peer, None),
        ]
    section.notes.append(
        "infinimix answers when the rows are on the disk; the other service keeps nothing"
    )
    return section


def _speed(what: str, ours: Measured, peer: Measured, bar: float | None) -> Line:
    text = f"{ours.speed:,.0f}", f"{peer.speed:,.0f}", f"{ours.speed / peer.speed:.2f}"
    meets = None if bar is None else ours.speed >= bar and not ours.refused
    return Line(what, *text, f">= {bar:,.0f}" if bar else "", meets, _figures(ours, peer))


def _latency(what: str, ours: Measured, peer: Measured, bar: float | None) -> Line:
    text = f"{ours.p99:.1f}", f"{peer.p99:.1f}", f"{peer.p99 / ours.p99:.2f}"
    meets = None if bar is None else ours.p99 < bar
    return Line(what, *text, f"< {bar:.0f}" if bar else "", meets, _figures(ours, peer))


def _figures(ours: Measured, peer: Measured) -> dict[str, Any]:
    return {"ours": ours._asdict(), "peer": peer._asdict()}


def measure(kind: str, rows: int, seconds: float, ids: bool = False) -> Measured:
    """Put full load on a service, then half of what it managed."""
    bodies = make_bodies(rows)
    n = MOST // rows if ids else len(bodies)

    def requests(first: int) -> list[bytes]:
        return [encode(bodies[k % len(bodies)], first + k if ids else None) for k in range(n)]

    with tempfile.TemporaryDirectory(dir=".") as folder:
        server = Server(kind, folder)
        try:
            server.load(requests(2 * n)[:64], 0.5)  # kernels are loaded
            full, took = server.load(requests(0), seconds, most=n if ids else MOST)
            speed = len(full.latencies) / took
            half, _ = server.load(requests(n), seconds, speed / 2, most=n if ids else MOST)
        finally:
            server.stop()
    p50, p99 = np.percentile(half.latencies, [50, 99]) * 1000
    return Measured(speed * rows, float(p50), float(p99), full.refused + half.refused)
