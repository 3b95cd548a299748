"""The folder behind a `DurableLearner`: opened, restored, its records kept, snapshots in time.

The learner itself, in `durable`, says what records there are; here is what comes before the first
one, how one is written and taken back, and what happens beside it.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from infinimix.streaming import disk
from infinimix.streaming.answering import AnswersAsModel
from infinimix.streaming.folder import (
    SEGMENT,
    FolderLock,
    check_same,
    check_storable,
    find_numbers,
    segment_path,
    sidecar_path,
    state_path,
)
from infinimix.streaming.journal import DurabilityError
from infinimix.streaming.recovery import Recovered, restore
from infinimix.streaming.relearning import Restored
from infinimix.streaming.requests import Receipt, RequestWindow
from infinimix.streaming.segments import SegmentedLog
from infinimix.streaming.snapshots import SnapshotThread, StreamProgress


class KeptModel(AnswersAsModel):
    """A model, its folder, and how far it has learned."""

    directory: Path
    snapshot_every: int
    window: int
    fsync: str
    recovered: Recovered
    _log: SegmentedLog
    _progress: StreamProgress
    _snapshots: SnapshotThread | None = None  # until the first rows are kept
    _due: int = 0  # rows at which the next snapshot is taken
    _failure: str = ""  # why it can learn no more

    def _open(self) -> None:
        """Lock the folder, and restore what is there."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(self.directory)
        try:
            self._restore()
        except BaseException:
            self._lock.release()
            raise

    def _restore(self) -> None:
        start = time.perf_counter()
        for stray in self.directory.glob(".infinimix-*.tmp"):
            disk.remove(stray)  # of a snapshot that a crash has interrupted
        found = restore(self.directory, self.window)
        if isinstance(self.model, FunctionType):
            self.model = self.model(None if found is None else found.model)
            check_storable(self.model)
        if found is None:
            self._start_empty(start)
            return
        check_same(self.model, found.model)
        self.model, self._progress = found.model, found.progress
        sequence = found.progress.sequence
        self._log = SegmentedLog(self.directory, sequence, found.first, found.length)
        self._begin(self._progress)
        self._due = found.snapshot_rows + self.snapshot_every
        self._renew(found)
        replayed = self._progress.n_rows - found.snapshot_rows
        seconds = time.perf_counter() - start
        self.recovered = Recovered(replayed, found.snapshot_rows, found.bytes_cut, seconds)

    def _start_empty(self, start: float) -> None:
        """Start a folder; a first record whose call did not return is cut off."""
        self._progress = StreamProgress(RequestWindow(self.window))
        paths = [segment_path(self.directory, n) for n in find_numbers(self.directory, SEGMENT)]
        cut = sum(path.stat().st_size for path in paths)
        self._log = SegmentedLog(self.directory, 0, 1, 0)
        if self.model.__sklearn_is_fitted__():
            self._begin(self._progress).write(self.model, self._progress.to_json())
        self.recovered = Recovered(bytes_cut=cut, seconds=time.perf_counter() - start)

    def _renew(self, found: Restored) -> None:
        """Set damaged snapshots aside, and write one where there is none that is sound."""
        for n in found.damaged:
            path = state_path(self.directory, n)
            disk.rename(path, path.with_name(f"damaged-{path.name}"))
        if found.damaged or found.snapshot < 0:
            self._begin(self._progress).write(self.model, self._progress.to_json())

    def _keep(
        self,
        record: bytes,
        act: Callable[[], None],
        n_rows: int = 0,
        ids: Sequence[tuple[str, int]] = (),
        position: Any = None,
    ) -> Receipt:
        """Write a record and do what it says; take it back if the model refuses it."""
        first = self._snapshots is None
        before = copy.deepcopy(self.model) if first else None
        sync = first or self.fsync == "always"
        self._append(record, sync)
        try:
            act()
            if first:
                self._take_first(n_rows, ids, position)
        except BaseException as error:
            self._log.undo()
            self._take_back(error, before)
            raise
        self._log.accept(synced=sync)
        if not first:
            self._progress.advance(n_rows, ids, position)
        return Receipt(self.sequence, n_rows, repeated=False)

    def _append(self, record: bytes, sync: bool) -> None:
        try:
            self._log.append(record, sync)
        except OSError as error:
            if self._log.failure:
                raise self._fail(f"the disk failed ({error})") from error
            raise DurabilityError(
                f"nothing was learned, as the log in {self.directory} cannot be written ({error}). "
                "Predictions go on; make room on the disk, and learn again"
            ) from error

    def _take_first(self, n_rows: int, ids: Sequence[tuple[str, int]], position: Any) -> None:
        """Write the snapshot that holds the first rows and the seeds."""
        progress = StreamProgress(RequestWindow(self.window))
        progress.advance(n_rows, ids, position)
        try:
            self._begin(progress).write(self.model, progress.to_json())
        except BaseException as error:
            self._snapshots = None
            for path in (state_path(self.directory, 1), sidecar_path(self.directory, 1)):
                disk.remove(path)
            if not isinstance(error, OSError):
                raise
            raise DurabilityError(
                f"nothing was learned, as no snapshot can be written to {self.directory} ({error})."
                " Make room on the disk, and learn again"
            ) from error
        self._progress = progress

    def _take_back(self, error: BaseException, before: Any) -> None:
        """What was only refused has changed nothing; a first call leaves the model as it came."""
        if before is not None:
            vars(self.model).clear()
            vars(self.model).update(vars(before))
        elif not isinstance(error, ValueError | TypeError):
            self._fail(f"rows may have been learned, but not kept ({error!r})")

    def _snapshot_beside(self) -> None:
        """Let a thread write a copy of the model, if it is time."""
        if self._snapshots is None:
            return
        error = self._snapshots.take_error()
        if error is not None:  # the rows are in the log, which goes on
            warnings.warn(f"no snapshot could be written: {error}", stacklevel=4)
        if self._progress.n_rows >= self._due and not self._snapshots.busy:
            self._due = self._progress.n_rows + self.snapshot_every
            self._snapshots.start(copy.deepcopy(self.model), self._progress.to_json())

    def _begin(self, progress: StreamProgress) -> SnapshotThread:
        self._snapshots = SnapshotThread(self.directory, self._log.flush)
        self._due = progress.n_rows + self.snapshot_every
        return self._snapshots

    def _check(self) -> None:
        if self._lock.forked:
            raise DurabilityError(
                "this DurableLearner was opened by the process that this one was forked from, "
                "and only that one may learn; predictions go on"
            )
        if self._failure:
            raise DurabilityError(f"This DurableLearner can learn no more: {self._failure}.")

    def _fail(self, reason: str) -> DurabilityError:
        self._failure = f"{reason}; what was kept is in {self.directory}, open it again"
        return DurabilityError(f"This DurableLearner can learn no more: {self._failure}.")

    def pauses(self, n_rows: int) -> bool:
        """Whether so many rows may take long: a first snapshot, a copy of the model, a new segment.

        A caller who has other things to do leaves them to a thread.

        Parameters
        ----------
        n_rows : int
            Rows of the next call.
        """
        if self._snapshots is None or self._log.full:
            return True
        return self._progress.n_rows + n_rows >= self._due and not self._snapshots.busy

    # --- what it knows ----------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Rows learned, over all processes that ever learned into the folder."""
        return self._progress.n_rows

    @property
    def sequence(self) -> int:
        """Number of the last record, counted from 1; 0 before any."""
        return self._log.sequence

    @property
    def durable(self) -> int:
        """Number of the last record that is known to be on the disk."""
        return self._log.durable

    @property
    def position(self) -> Any:
        """The last `position` that came with a record."""
        return self._progress.position

    @property
    def _acknowledged(self) -> int:
        """The last record whose caller may have been told that it is kept."""
        return self._log.durable if self.fsync == "group" else self.sequence
