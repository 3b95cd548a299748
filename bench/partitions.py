"""Tables larger than memory: a folder of Parquet files, learned and answered in bounded memory.

10 million rows of 50 binary columns in 4 classes: `fit` gathers them in one byte a cell, or has two
workers of a cluster read and learn them, and `partial_fit` and `predict_proba` go from batch to
batch. `--full` learns 100 million rows by `partial_fit`, from the same files ten times over.

A shared machine is not equally fast at all times, for many seconds. So rates near the start and at
the end are medians over many stretches; and for a stream, which may grow slower as its model grows,
a copy of the model near the start and that of the end learn the same rows in turns.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.cluster_counting import Counter, start_cluster
from bench.report import Line, Section
from infinimix import AClassClassifier, execution, read_partitions
from infinimix.tables.partitioned import PartitionedTable

COLUMNS, CLASSES, MODES = 50, 4, 5
FILE = 500_000  # rows
GIB = 2**30


def run(quick: bool = False, full: bool = False) -> Section:
    n_files, rows = (2, 1_000) if quick else (20, FILE)
    section = Section(f"{n_files * rows:,} rows of {COLUMNS} binary columns from Parquet files")
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), n_files, rows)
        if not full:
            section.lines += _fit(folder, n_files * rows)
            section.lines += _fit_on_cluster(folder, n_files * rows)
        section.lines += _stream(folder, 10 if full else 1, quick)
    return section


def _write(folder: Path, n_files: int, rows: int) -> None:
    import polars as pl

    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, size=(CLASSES, MODES, COLUMNS))
    for i in range(n_files):
        y, k = rng.integers(CLASSES, size=rows), rng.integers(MODES, size=rows)
        X = (rng.random((rows, COLUMNS), dtype=np.float32) < p[y, k]).astype(np.int8)
        cells = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        pl.DataFrame({**cells, "kind": y}).write_parquet(folder / f"{i:03d}.parquet")


@contextmanager
def _watched() -> Iterator[dict[str, float]]:
    """Watch the memory of this process and of those that it has started."""
    import psutil

    seen, stop = {"peak": 0.0}, threading.Event()

    def watch() -> None:
        me = psutil.Process()
        while not stop.wait(0.25):  # it takes CPU time, too
            sizes = []
            for one in (me, *me.children(recursive=True)):
                try:
                    sizes.append(one.memory_info().rss)
                except psutil.Error:  # it has ended meanwhile
                    continue
            seen["peak"] = max(seen["peak"], sum(sizes) / GIB)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def _fit(folder: str, n_rows: int) -> list[Line]:
    model = AClassClassifier(effort="fast", random_state=0)
    with _watched() as seen:
        start = time.process_time()
        model.fit(read_partitions(folder), "kind")
        took = time.process_time() - start
    rows = read_partitions(folder, drop=["kind"])
    rates = _rates(map(len, model.predict_proba(rows)))
    return [
        Line(f"fit, {n_rows:,} rows: memory of all processes", f"{seen['peak']:.2f} GiB", "", "",
             "< 4 GiB", seen["peak"] < 4.0, {"seconds": took}),
        Line("fit: rows a CPU second, reading included", f"{n_rows / took:,.0f}"),
        _even("predict_proba", rates),
    ]  # fmt: skip


def _fit_on_cluster(folder: str, n_rows: int) -> list[Line]:
    """Let two workers read and learn the rows; count what comes to this process, too."""
    from distributed import get_task_stream

    counter, model = Counter(), AClassClassifier(effort="fast", random_state=0)
    with (
        counter.counting(), _watched() as seen, start_cluster(2) as client, execution.dask(client),
    ):  # fmt: skip
        AClassClassifier(effort="fast").fit(np.eye(40), [0, 1] * 20)  # loads and compiles
        received, start = counter.received, time.perf_counter()
        with get_task_stream(client) as stream:
            model.fit(read_partitions(folder), "kind")
            took = time.perf_counter() - start
        received = counter.received - received
    rates = _half_rates(stream.data, n_rows * len(model._bank.islands))
    figures = {"seconds": took, "received_mib": received / 2**20}
    return [
        Line("fit on a cluster of 2 workers: memory of all processes", f"{seen['peak']:.2f} GiB",
             "", "", "< 4 GiB", seen["peak"] < 4.0, figures),
        Line("fit on a cluster: seconds; MiB that this process and the scheduler in it receive",
             f"{took:.0f}", f"{received / 2**20:.1f}"),
        _even("fit on a cluster, a worker", Rates(*rates, seen["peak"], 1.0), "second"),
    ]  # fmt: skip


def _half_rates(tasks: Any, n_rows: int) -> list[float]:
    """Return rows a second of the first and the last half of the rows, on one worker."""
    took: dict[str, float] = {}
    for task in tasks:
        if "filter_class" in str(task["key"]):
            call = str(task["key"]).rsplit("-", 1)[0]
            spans = [span for span in task["startstops"] if span["action"] == "compute"]
            took[call] = took.get(call, 0.0) + sum(span["stop"] - span["start"] for span in spans)
    seconds = [*took.values()]  # of an eighth of the rows twice, and of a quarter three times
    return [0.5 * n_rows / max(sum(half), 1e-9) for half in (seconds[:3], seconds[3:])]


def _stream(folder: str, times: int, quick: bool) -> list[Line]:
    """Learn the files by `partial_fit`, batch by batch, so many times over."""
    table = read_partitions(folder)
    parts = [PartitionedTable([part], table.columns) for part in table.parts] * times
    model = AClassClassifier(effort="fast", random_state=0)
    if quick:
        parts = parts * 8
    before: list[AClassClassifier] = []
    rates = _rates(_learned(model, parts, before))
    what = f"partial_fit of {model.class_count_.sum():,.0f} rows"
    lines = [_turns(what, before[0], model, min(parts, key=_count_rows), quick)]
    clock = replace(_even(what, rates), bar="", meets=None)  # it is the machine's pace, too
    return [clock, *lines, *([] if quick else [_flat(what, rates)])]


def _count_rows(table: PartitionedTable) -> int:
    return sum(part.n_rows for part in table.parts)  # type: ignore[attr-defined]


def _learned(
    model: AClassClassifier, parts: list[PartitionedTable], before: list[AClassClassifier]
) -> Iterator[int]:
    """Learn all parts, and yield their rows; after the first eighth, put a copy into `before`."""
    for i, part in enumerate(parts):
        model.partial_fit(part, "kind")
        yield _count_rows(part)
        if i == len(parts) // 8:
            before.append(deepcopy(model))


def _turns(
    what: str, early: AClassClassifier, late: AClassClassifier, part: PartitionedTable, quick: bool
) -> Line:
    """Let copies of two models learn the same rows, one after the other, several times."""
    took: dict[str, list[float]] = {"early": [], "late": []}
    for _ in range(1 if quick else 7):
        for name, model in (("early", early), ("late", late)):
            copy = deepcopy(model)
            start = time.process_time()
            copy.partial_fit(part, "kind")
            took[name].append(max(time.process_time() - start, 1e-9))
    n = _count_rows(part)
    first, last = (n / float(np.median(seconds)) for seconds in took.values())
    ratio = float(np.median(np.divide(took["early"], took["late"])))
    return Line(
        f"{what}: rows a CPU second of the last model, of that near the start, in turns",
        f"{last:,.0f}", f"{first:,.0f}", f"{ratio:.2f}", ">= 0.85", ratio >= 0.85, took,
    )  # fmt: skip


class Rates(NamedTuple):
    """Of the second and third eighth, and of the last two eighths of some batches."""

    early: float  # rows a CPU second, the median of stretches
    late: float
    peak: float  # GiB
    growth: float  # of memory, from near the start to the end


class Stretch(NamedTuple):
    """What was measured of one batch."""

    rows: int
    seconds: float  # of CPU time
    size: int  # memory of this process


def _rates(batches: Iterator[int]) -> Rates:
    """Go through batches, given the rows of each."""
    import psutil

    found, me = [], psutil.Process()
    with _watched() as seen:
        start = time.process_time()
        for rows in batches:
            found.append(Stretch(rows, time.process_time() - start, me.memory_info().rss))
            start = time.process_time()
    return compare_ends(found, seen["peak"])


def compare_ends(found: list[Stretch], peak: float) -> Rates:
    """Return the medians of both ends."""
    eighth = max(len(found) // 8, 1)
    ends = found[eighth : 3 * eighth] or found, found[-2 * eighth :]
    early, late = (
        float(np.median([one.rows / max(one.seconds, 1e-9) for one in end])) for end in ends
    )
    growth = max(one.size for one in ends[1]) / max(one.size for one in ends[0])
    return Rates(early, late, peak, growth)


def _even(what: str, rates: Rates, second: str = "CPU second") -> Line:
    early, late = rates.early, rates.late
    return Line(
        f"{what}: rows a {second} at the end, near the start", f"{late:,.0f}", f"{early:,.0f}",
        f"{late / early:.2f}", ">= 0.85", late >= 0.85 * early, {"peak_gib": rates.peak},
    )  # fmt: skip


def _flat(what: str, rates: Rates) -> Line:
    return Line(
        f"{what}: memory at its peak, GiB; at the end by that near the start",
        f"{rates.peak:.2f}", "", f"{rates.growth:.2f}", "<= 1.10", rates.growth <= 1.1,
    )  # fmt: skip
