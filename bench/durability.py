"""The log of `DurableLearner` against SQLite in WAL mode: records a second, recovery, size.

Both keep the same records, documents of 100 words as the log has them, without a model. SQLite is
given what makes it comparable: one table by sequence number, synchronous=FULL where a commit must
survive a power failure, NORMAL where it need not, a commit for each record or for 32.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.report import Line, Section
from infinimix.streaming.folder import SEGMENT, find_numbers, segment_path
from infinimix.streaming.journal import read_records
from infinimix.streaming.plain import to_json
from infinimix.streaming.segments import SegmentedLog

GROUP = 32
MODES = {"os": 0, "group": GROUP, "always": 1}  # records that share a flush; 0: no flush


def run(quick: bool = False) -> Section:
    rounds = 1 if quick else 3
    section = Section("The log of DurableLearner against SQLite in WAL mode (records/s)")
    for mode, share in MODES.items():
        records = _records((200 if quick else 20_000) // (10 if share == 1 else 1))
        rates: dict[str, list[float]] = {"log": [], "sqlite": []}
        for _ in range(rounds):
            for name, (write, _) in KEEPERS.items():
                rates[name].append(len(records) / _timed(write, records, share)[0])
        ours, theirs = (float(np.median(rates[name])) for name in ("log", "sqlite"))
        bar = ">= 1" if mode == "os" else ""
        section.lines.append(
            Line(
                f"fsync={mode!r}" + (f", {GROUP} records a flush" if share == GROUP else ""),
                f"{ours:,.0f}", f"{theirs:,.0f}", f"{ours / theirs:.2f}", bar,
                ours >= theirs if bar else None, {"rates": rates},
            )
        )  # fmt: skip
    for what, figures in _read_again(_records(200 if quick else 20_000)).items():
        ours, theirs = figures["log"], figures["sqlite"]
        text = f"{ours:,.3f}", f"{theirs:,.3f}", f"{theirs / ours:.2f}"
        section.lines.append(Line(what, *text, "", None, figures))
    return section


def _records(n: int) -> list[bytes]:
    rng = np.random.default_rng(0)
    words = (rng.pareto(1.0, (n, 100)) * 50).astype(int)
    return [to_json([" ".join(f"w{w}" for w in row)], ["a"], row=i) for i, row in enumerate(words)]


def _timed(write: Callable[..., None], records: list[bytes], share: int) -> tuple[float, Path]:
    folder = Path(tempfile.mkdtemp())
    start = time.perf_counter()
    write(folder, records, share)
    seconds = time.perf_counter() - start
    shutil.rmtree(folder)
    return seconds, folder


def _write_log(folder: Path, records: list[bytes], share: int) -> None:
    log = SegmentedLog(folder, 0, 1, 0)
    for i, record in enumerate(records, 1):
        log.append(record)
        log.accept()
        if share and i % share == 0:
            log.flush()
    log.close()


def _read_log(folder: Path) -> Iterator[bytes]:
    for first in find_numbers(folder, SEGMENT):
        for sealed in read_records(segment_path(folder, first)):
            yield sealed.record


def _write_sqlite(folder: Path, records: list[bytes], share: int) -> None:
    base = sqlite3.connect(folder / "log.sqlite", isolation_level=None)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute(f"PRAGMA synchronous={'FULL' if share else 'NORMAL'}")
    base.execute("CREATE TABLE log (sequence INTEGER PRIMARY KEY, record BLOB NOT NULL)")
    for i, record in enumerate(records, 1):
        if share > 1 and i % share == 1:
            base.execute("BEGIN")
        base.execute("INSERT INTO log VALUES (?, ?)", (i, record))
        if share > 1 and i % share == 0:
            base.execute("COMMIT")
    if base.in_transaction:
        base.execute("COMMIT")
    base.close()


def _read_sqlite(folder: Path) -> Iterator[bytes]:
    base = sqlite3.connect(folder / "log.sqlite")
    for (record,) in base.execute("SELECT record FROM log ORDER BY sequence"):
        yield record
    base.close()


KEEPERS: dict[str, tuple[Callable[..., None], Callable[[Path], Iterator[bytes]]]] = {
    "log": (_write_log, _read_log),
    "sqlite": (_write_sqlite, _read_sqlite),
}


def _read_again(records: list[bytes]) -> dict[str, dict[str, float]]:
    """Return the seconds to read all records back, without learning them, and the bytes kept."""
    seconds, size = {}, {}
    for name, (write, read) in KEEPERS.items():
        folder = Path(tempfile.mkdtemp())
        write(folder, records, GROUP)
        start = time.perf_counter()
        n = sum(bool(json.loads(record)) for record in read(folder))
        seconds[name] = time.perf_counter() - start
        assert n == len(records)
        size[name] = sum(path.stat().st_size for path in folder.iterdir()) / len(records)
        shutil.rmtree(folder)
    n = len(records)
    return {f"seconds to read {n:,} records back": seconds, "bytes a record": size}
