"""Tables larger than memory: a folder of Parquet files, learned and answered in bounded memory.

10 million rows of 50 binary columns in 4 classes: `fit` gathers them in one byte a cell, and
`partial_fit` and `predict_proba` go from batch to batch. `--full` learns 100 million rows by
`partial_fit`, from the same files ten times over.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import Line, Section
from infinimix import AClassClassifier, read_partitions
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
        while not stop.wait(0.1):
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
    early, late, peak = _rates(map(len, model.predict_proba(rows)))
    return [
        Line(f"fit, {n_rows:,} rows: memory of all processes", f"{seen['peak']:.2f} GiB", "", "",
             "< 4 GiB", seen["peak"] < 4.0, {"seconds": took}),
        Line("fit: rows a CPU second, reading included", f"{n_rows / took:,.0f}"),
        _even("predict_proba", early, late, peak),
    ]  # fmt: skip


def _stream(folder: str, times: int, quick: bool) -> list[Line]:
    """Learn the files by `partial_fit`, batch by batch, so many times over."""
    table = read_partitions(folder)
    parts = [PartitionedTable([part], table.columns) for part in table.parts] * times
    model = AClassClassifier(effort="fast", random_state=0)
    if quick:
        parts = parts * 8
    early, late, peak = _rates(_learned(model, part) for part in parts)
    return [_even(f"partial_fit of {model.class_count_.sum():,.0f} rows", early, late, peak)]


def _learned(model: Any, part: PartitionedTable) -> int:
    before = model.class_count_.sum() if model.__sklearn_is_fitted__() else 0
    model.partial_fit(part, "kind")
    return int(model.class_count_.sum() - before)


def _rates(batches: Iterator[int]) -> tuple[float, float, float]:
    """Return rows a CPU second of the second and the last eighth, and the peak of memory."""
    marks, n = [], 0
    with _watched() as seen:
        for size in batches:
            n += size
            marks.append((n, time.process_time()))
    eighth = max(len(marks) // 8, 1)
    spans = (marks[eighth - 1], marks[2 * eighth - 1]), (marks[-1 - eighth], marks[-1])
    early, late = ((b[0] - a[0]) / max(b[1] - a[1], 1e-9) for a, b in spans)
    return early, late, seen["peak"]


def _even(what: str, early: float, late: float, peak: float) -> Line:
    return Line(
        f"{what}: rows a CPU second at the end, near the start", f"{late:,.0f}", f"{early:,.0f}",
        f"{late / early:.2f}", ">= 0.85", late >= 0.85 * early, {"peak_gib": peak},
    )  # fmt: skip
