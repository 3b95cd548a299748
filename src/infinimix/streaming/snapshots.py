"""Snapshots: the model as a file, how far the stream was beside it, and the thread that writes.

The sidecar is in its place before the model is, so that a model without one is damage. Each file is
written beside its place, synced and renamed. Two snapshots are kept, and the segments of the log
that the older one needs.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from infinimix.artifacts import ArtifactError
from infinimix.estimators.persistence import load, save_quickly
from infinimix.streaming import disk
from infinimix.streaming.folder import (
    FIRST_LOG,
    FIRST_STATE,
    SEGMENT,
    SIDECAR,
    STATE,
    find_numbers,
    segment_path,
    sidecar_path,
    state_path,
)
from infinimix.streaming.journal import seal, unseal
from infinimix.streaming.requests import RequestWindow

KEPT = 2


@dataclass
class StreamProgress:
    """How far a stream has been learned."""

    requests: RequestWindow
    sequence: int = 0
    n_rows: int = 0
    position: Any = None

    def advance(self, n_rows: int, ids: Sequence[tuple[str, int]], position: Any) -> None:
        """Count a record that brought the rows of these requests."""
        self.sequence += 1
        self.n_rows += n_rows
        self.position = self.position if position is None else position
        self.requests.add(ids, self.sequence)

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in a sidecar; later records do not change that."""
        return {
            "sequence": self.sequence, "n_rows": self.n_rows, "position": self.position,
            "requests": self.requests.to_json(),
        }  # fmt: skip


def write_state(directory: Path, model: Any, progress: dict[str, Any]) -> None:
    """Write a snapshot, and only then remove what two newer ones replace."""
    sequence = progress["sequence"]
    file = io.BytesIO()
    save_quickly(model, file)
    side = seal(sequence, json.dumps(progress, separators=(",", ":")).encode("ascii"))
    disk.write_whole(sidecar_path(directory, sequence), side)
    disk.write_whole(state_path(directory, sequence), file.getvalue())
    _remove_old(directory)


def _remove_old(directory: Path) -> None:
    states = find_numbers(directory, STATE)
    oldest = states[-KEPT:][0]
    first = find_numbers(directory, SEGMENT)
    old = [state_path(directory, n) for n in states if n < oldest]
    old += [sidecar_path(directory, n) for n in find_numbers(directory, SIDECAR) if n < oldest]
    old += [
        segment_path(directory, n) for n, following in pairwise(first) if following <= oldest + 1
    ]
    if len(states) >= KEPT:
        old += [*directory.glob(FIRST_STATE), *directory.glob(FIRST_LOG)]
    for path in old:
        disk.remove(path)


def read_state(directory: Path, sequence: int, window: int) -> tuple[Any, StreamProgress]:
    """Return the model of a snapshot, and how far the stream was; ArtifactError if damaged."""
    path = sidecar_path(directory, sequence)
    try:
        found = unseal(path.read_bytes())
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error}") from error
    if found is None or found[0] != sequence:
        raise ArtifactError(f"{path} is damaged")
    saved = json.loads(found[1])
    progress = StreamProgress(RequestWindow(window), sequence, saved["n_rows"], saved["position"])
    progress.requests.restore(saved["requests"])
    return load(state_path(directory, sequence)), progress


@dataclass
class SnapshotThread:
    """Writes one snapshot at a time beside learning, and keeps the error of one that failed."""

    directory: Path
    flush: Callable[[], object]  # the log goes first: it must reach as far as any snapshot
    error: BaseException | None = None
    _thread: threading.Thread | None = field(default=None, repr=False)

    @property
    def busy(self) -> bool:
        """Whether a snapshot is being written."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, model: Any, progress: dict[str, Any]) -> None:
        """Write a model that nobody changes any more."""
        self._thread = threading.Thread(target=self._run, args=(model, progress), daemon=True)
        self._thread.start()

    def _run(self, model: Any, progress: dict[str, Any]) -> None:
        try:
            self.write(model, progress)
        except BaseException as error:  # told at the next call, as nobody waits for this thread
            self.error = error

    def write(self, model: Any, progress: dict[str, Any]) -> None:
        """Write a snapshot now."""
        self.flush()
        write_state(self.directory, model, progress)

    def wait(self) -> None:
        """Wait for the snapshot that is being written."""
        if self._thread is not None:
            self._thread.join()

    def take_error(self) -> BaseException | None:
        """Return why a snapshot failed, once."""
        error, self.error = self.error, None
        return error
