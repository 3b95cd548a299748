"""Sources beside HTTP: JSON lines, as from standard input.

The position of a source is written in the same record as the rows it brought. After a crash it is
exactly where the model is, so a row is neither lost nor learned twice.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, BinaryIO

from infinimix.service.jobs import Job
from infinimix.service.limits import Limits
from infinimix.service.owner import Owner
from infinimix.service.problems import HttpProblem
from infinimix.service.reading import RowBatch, parse, read_object
from infinimix.service.work import LOG

TOGETHER = 100  # rows that are learned in one record
PAUSE = 0.05  # seconds until a full queue is tried again
RETRY = 1.0  # seconds until a full disk is


def learn_at(owner: Owner, batch: RowBatch, position: Any, stopped: threading.Event) -> bool:
    """Learn rows with the position after them; wait while the service is busy or cannot write.

    Returns
    -------
    bool
        Whether they are on the disk; False if the service stops before.

    Raises
    ------
    HttpProblem
        If the model refuses the rows.
    """
    while not stopped.is_set():
        job = Job("learn", Future())
        job.batch, job.position = batch, position
        try:
            owner.submit(job)
            job.future.result()
            return True
        except HttpProblem as problem:
            if problem.status not in (429, 503):
                raise
            stopped.wait(PAUSE if problem.status == 429 else RETRY)
    return False


def learn_rows(owner: Owner, rows: list[tuple[RowBatch, Any]], stopped: threading.Event) -> bool:
    """Learn rows, each with the position after it, in one record; the refused ones are counted."""
    if not rows:
        return True
    X = [row for batch, _ in rows for row in batch.X]
    labelled = any(batch.y is not None for batch, _ in rows)
    y = [label for batch, _ in rows for label in batch.y or [None] * len(batch.X)]
    try:
        return learn_at(owner, RowBatch(X, y if labelled else None), rows[-1][1], stopped)
    except HttpProblem as problem:
        if len(rows) == 1:
            count_bad(owner, rows[0][1], problem)
            return True
    return all(learn_rows(owner, [one], stopped) for one in rows)


def count_bad(owner: Owner, where: Any, problem: HttpProblem) -> None:
    """Count a row that cannot be used, and say where it was, but not what."""
    owner.figures.bad += 1
    LOG.warning("a row at %s was passed over (status %s)", where, problem.status)


class LineSource:
    """JSON lines ``{"x": row, "y": label}`` from a file.

    Parameters
    ----------
    file : binary file
        Read to its end.
    resume : bool
        Whether the file starts from its first line again, so that those learned are passed over.
    """

    def __init__(self, file: BinaryIO, resume: bool = False) -> None:
        self.file, self.resume = file, resume

    def run(self, owner: Owner, stopped: threading.Event) -> None:
        """Learn all lines."""
        owner.ready.wait()
        if owner.learner is None:
            return
        position = owner.learner.position or {}
        line = position.get("line", 0) if isinstance(position, dict) else 0
        left = line if self.resume else 0
        some: list[tuple[RowBatch, Any]] = []
        for text in iter(self.file.readline, b""):
            if stopped.is_set():
                return
            if left:
                left -= 1
                continue
            line += 1
            batch = read_line(owner, text, {"line": line})
            if batch is not None:
                some.append((batch, {"line": line}))
            if len(some) >= TOGETHER or not _has_more(self.file):
                if not learn_rows(owner, some, stopped):
                    return
                some = []
        learn_rows(owner, some, stopped)


def read_line(owner: Owner, text: bytes, where: Any) -> RowBatch | None:
    """Return the row of a line; None if it cannot be used."""
    if not text.strip():
        return None
    limits: Limits = owner.limits
    try:
        return read_object(parse(text, limits), limits)
    except HttpProblem as problem:
        count_bad(owner, where, problem)
        return None


def _has_more(file: Any) -> bool:
    """Whether another whole line is there already, so that it can be waited for."""
    peek = getattr(file, "peek", None)
    return peek is None or b"\n" in _buffered(file)


def _buffered(file: Any) -> bytes:
    """Return what has been read ahead, without reading more."""
    import select

    try:
        ready = bool(select.select([file], [], [], 0)[0])
    except (OSError, ValueError):
        return b"\n"  # not a thing to wait for, such as a file on some systems
    return bytes(file.peek(1)) if ready else b""
