"""A folder back to a model: the newest sound snapshot, and the records after it learned again.

Names of provisional classes are records as rows are, and are given again in their order. What a
crash left at the end of the log was never acknowledged, and is cut off: half a record, or one that
the model refuses. A hole in the log with acknowledged records behind it is an error. Nothing is
written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from infinimix.artifacts import ArtifactError
from infinimix.streaming.first_form import restore_first
from infinimix.streaming.folder import FIRST_STATE, SEGMENT, STATE, find_numbers, segment_path
from infinimix.streaming.journal import DurabilityError, Sealed, read_records
from infinimix.streaming.plain import from_json
from infinimix.streaming.relearning import REFUSALS, Relearner, Restored
from infinimix.streaming.requests import RequestWindow
from infinimix.streaming.snapshots import StreamProgress, read_state


@dataclass(frozen=True)
class Recovered:
    """What opening a folder has restored.

    Attributes
    ----------
    rows_replayed : int
        Rows that were learned again from the log.
    snapshot_rows : int
        Rows that the snapshot had learned.
    bytes_cut : int
        Bytes at the end of the log that a crash had left unfinished, and that were cut off.
    seconds : float
        Time that it took.
    """

    rows_replayed: int = 0
    snapshot_rows: int = 0
    bytes_cut: int = 0
    seconds: float = 0.0


def restore(directory: Path, window: int, until: int | None = None) -> Restored | None:
    """Return the model of a folder after all its records, or those up to one; None without any.

    Raises
    ------
    DurabilityError
        If acknowledged records are lost; it says which are safe.
    """
    found = _start(directory, window, until)
    if found is None:
        return None
    _replay(directory, found, until)
    newest = max([n for n in find_numbers(directory, STATE) if until is None or n <= until] or [0])
    if found.progress.sequence < max(newest, until or 0):
        raise DurabilityError(
            f"{directory}: only {found.progress.sequence} of {max(newest, until or 0)} records "
            f"({found.progress.n_rows} rows) can be restored; restore its files from a good copy, "
            f"or {_go_on(directory, found.progress.sequence)}"
        )
    return found


def newest_model(directory: Path) -> Any:
    """Return the model of the newest sound snapshot, None without any."""
    found = _start(directory, 1, None)
    return None if found is None else found.model


def _start(directory: Path, window: int, until: int | None) -> Restored | None:
    """Return the newest sound snapshot."""
    reasons: list[str] = []
    damaged: list[int] = []
    states = [n for n in find_numbers(directory, STATE) if until is None or n <= until]
    for n in reversed(states):
        try:
            model, progress = read_state(directory, n, window)
            return Restored(model, progress, n, progress.n_rows, damaged)
        except ArtifactError as error:
            reasons.append(str(error))
            damaged.append(n)
    if find_numbers(directory, FIRST_STATE):
        model, rows = restore_first(directory)
        progress = StreamProgress(RequestWindow(window), rows, rows)
        return Restored(model, progress, -1, rows, damaged)
    if reasons:
        raise DurabilityError("no snapshot can be read: " + "; ".join(reasons))
    if until is not None:
        raise DurabilityError(f"{directory} has no snapshot from before record {until + 1}")
    _check_nothing_lost(directory)
    return None


def _check_nothing_lost(directory: Path) -> None:
    """Allow a first record: its call has not returned, as there is no snapshot yet."""
    paths = [segment_path(directory, n) for n in find_numbers(directory, SEGMENT)]
    if any(sealed.sequence > 1 for path in paths for sealed in read_records(path)):
        raise DurabilityError(
            f"{directory} has a log, but no snapshot to start from; restore its files from a good "
            "copy"
        )


def _replay(directory: Path, found: Restored, until: int | None) -> None:
    """Learn the records after the snapshot."""
    firsts = find_numbers(directory, SEGMENT)
    ends = [following - 1 for _, following in pairwise(firsts)]
    over = sum(end <= found.progress.sequence for end in ends)  # whole segments
    found.first = found.progress.sequence + 1
    for first in firsts[over:]:
        path = segment_path(directory, first)
        found.first, found.length = first, 0
        _replay_segment(directory, path, found, until, first == firsts[-1])
        if found.progress.sequence == until:
            return
        found.bytes_cut = path.stat().st_size - found.length


def _replay_segment(
    directory: Path, path: Path, found: Restored, until: int | None, last: bool
) -> None:
    """Learn the records of a segment, as far as it is not to be cut off."""
    learner = Relearner(found)
    try:
        for sealed in read_records(path):
            if learner.sequence == until or _is_cut(directory, path, sealed, learner, last):
                break
            if sealed.sequence > learner.sequence:
                learner.add(sealed)
            else:
                found.length = sealed.end
        learner.flush()
    except REFUSALS as error:
        if isinstance(error, DurabilityError):
            raise
        if not last or _last_sequence(path) != found.progress.sequence + 1:
            raise _damage(directory, path, found, f"cannot be learned ({error})") from error
        # else the crash came before the record could be taken back


def _is_cut(directory: Path, path: Path, sealed: Sealed, learner: Relearner, last: bool) -> bool:
    """Whether the log ends before this record, as the one before it is not there."""
    expected = learner.sequence + 1
    if sealed.sequence <= expected:
        return False
    if last and _acknowledged(path) < expected:
        return True
    learner.flush()
    what = "is damaged or missing, and later ones follow it"
    raise _damage(directory, path, learner.found, what)


def _acknowledged(path: Path) -> int:
    """Return the last record of which a later one says that its caller was told it is kept."""
    return max((from_json(sealed.record)["ack"] for sealed in read_records(path)), default=0)


def _last_sequence(path: Path) -> int:
    return max((sealed.sequence for sealed in read_records(path)), default=0)


def _damage(directory: Path, path: Path, found: Restored, what: str) -> DurabilityError:
    sequence, rows = found.progress.sequence, found.progress.n_rows
    return DurabilityError(
        f"record {sequence + 1} in {path} {what}. The first {rows} rows (records up to {sequence}) "
        f"are safe: restore the file from a good copy, or {_go_on(directory, sequence)}"
    )


def _go_on(directory: Path, sequence: int) -> str:
    return (
        f"go on with those: infinimix replay {directory} --until {sequence} -o MODEL.imx writes "
        "the model that has learned them, which can start a new folder"
    )
