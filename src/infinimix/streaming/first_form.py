"""Folders of infinimix before records had sequence numbers: read, and converted when opened.

Snapshots and logs are named by rows, and a log begins where a snapshot was taken. The learner
writes a snapshot of the new form at once, whose sequence number is the number of rows; the old
files go once there are two of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infinimix.artifacts import ArtifactError
from infinimix.estimators.persistence import load
from infinimix.streaming.folder import FIRST_LOG, FIRST_STATE, find_numbers
from infinimix.streaming.journal import DurabilityError, read_first
from infinimix.streaming.plain import from_json
from infinimix.tables.rows import count_rows


def restore_first(directory: Path) -> tuple[Any, int]:
    """Return the model of such a folder, and how many rows it has learned."""
    snapshots = find_numbers(directory, FIRST_STATE)
    model, base = _load_newest(directory, snapshots)
    n_rows = base
    for start in [n for n in find_numbers(directory, FIRST_LOG) if n >= base]:
        n_rows = _replay(directory / f"log-{start:012d}.jsonl", model, n_rows)
    if n_rows < snapshots[-1]:
        raise DurabilityError(
            f"{directory}: only {n_rows} of at least {snapshots[-1]} rows can be restored; restore "
            "its files from a good copy"
        )
    return model, n_rows


def _load_newest(directory: Path, snapshots: list[int]) -> tuple[Any, int]:
    reasons = []
    for n in reversed(snapshots):
        try:
            return load(directory / f"snapshot-{n:012d}.infinimix"), n
        except ArtifactError as error:
            reasons.append(str(error))
    raise DurabilityError("no snapshot can be read: " + "; ".join(reasons))


def _replay(path: Path, model: Any, n_rows: int) -> int:
    for line in read_first(path):
        rows = from_json(line)
        if rows["row"] != n_rows:
            raise DurabilityError(
                f"{path} goes on with row {rows['row']}, but only {n_rows} are there; restore the "
                "files of the folder from a good copy"
            )
        if rows["y"] is None:
            model.partial_fit(rows["X"])
        else:
            model.partial_fit(rows["X"], rows["y"])
        n_rows += count_rows(rows["X"])
    return n_rows
