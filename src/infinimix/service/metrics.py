"""Metrics in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from infinimix.service.owner import Owner

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class Requests:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, int], int] = {}
        self.seconds: dict[str, float] = {}
        self._buckets: dict[str, list[int]] = {}
        self.active = 0

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        key = route, status
        self.counts[key] = self.counts.get(key, 0) + 1
        self.seconds[route] = self.seconds.get(route, 0.0) + seconds
        buckets = self._buckets.get(route)
        if buckets is None:
            buckets = self._buckets[route] = [0] * (len(BOUNDS) + 1)
        buckets[bisect_left(BOUNDS, seconds)] += 1

    def lines(self) -> Iterator[str]:
        """Yield the counters and histograms."""
        name = "infinimix_requests_total"
        yield f"# HELP {name} Requests answered."
        yield f"# TYPE {name} counter"
        for (route, status), n in sorted(self.counts.items()):
            yield f'{name}{{route="{route}",status="{status}"}} {n}'
        name = "infinimix_request_seconds"
        yield f"# HELP {name} Time from the head of a request to its answer."
        yield f"# TYPE {name} histogram"
        for route, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, n in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                total += n
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self.seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'


def write_metrics(owner: Owner, requests: Requests) -> str:
    """Return all metrics."""
    lines = list(requests.lines())
    for name, kind, text, value in _figures(owner, requests):
        if value is not None:
            full = f"infinimix_{name}"
            lines += [f"# HELP {full} {text}", f"# TYPE {full} {kind}", f"{full} {value}"]
    return "\n".join(lines) + "\n"


def _figures(owner: Owner, requests: Requests) -> Iterator[tuple[str, str, str, Any]]:
    figures, now, learner = owner.figures, owner.figures.now(), owner.learner
    yield "rows_learned_total", "counter", "Rows learned since the start.", figures.learned
    yield "rows_predicted_total", "counter", "Rows predicted since the start.", figures.predicted
    yield "rows_scored_total", "counter", "Rows predicted before they were learned.", figures.scored
    yield (
        "requests_repeated_total",
        "counter",
        "Requests to learn that came again.",
        figures.repeated,
    )
    yield "rows_bad_total", "counter", "Rows of sources that could not be used.", figures.bad
    yield "learning_seconds_total", "counter", "Time spent in learning.", figures.learning
    yield (
        "error",
        "gauge",
        "Share of the last scored rows that were predicted wrongly.",
        now["error"],
    )
    yield "log_loss", "gauge", "Mean log-loss of the last scored rows.", now["log_loss"]
    yield "queue_length", "gauge", "Requests that wait for the model.", owner.waiting
    yield "requests_active", "gauge", "Requests that are being answered.", requests.active
    yield (
        "learning_refused",
        "gauge",
        "1 if nothing can be learned.",
        int(owner.refusal is not None),
    )
    if learner is not None:
        yield "sequence", "gauge", "Number of the last record learned.", learner.sequence
        yield "durable", "gauge", "Number of the last record on the disk.", learner.durable
        yield "rows", "gauge", "Rows learned over all processes.", learner.n_rows
