"""The log that is being written: segments that rotate by size, and flushes that callers share.

A record that cannot be written is taken back, and the log is as it was. A flush that fails is
final: after a failed fsync nobody knows what is on the disk, so nothing more is written.
"""

from __future__ import annotations

import threading
from pathlib import Path

from infinimix.streaming import disk
from infinimix.streaming.folder import segment_path
from infinimix.streaming.journal import DurabilityError, seal

SEGMENT_BYTES = 1 << 24


class SegmentedLog:
    """The last segment of a folder, open to append to.

    Parameters
    ----------
    directory : Path
        The folder.
    sequence : int
        Number of the last record that is there.
    first : int
        Number of the first record of the last segment; its file need not be there yet.
    length : int
        Bytes of that segment that are whole; what follows is cut off.

    Attributes
    ----------
    sequence : int
        Number of the last record that counts.
    durable : int
        Number of the last record that is known to be on the disk.
    """

    def __init__(self, directory: Path, sequence: int, first: int, length: int) -> None:
        self.directory, self.sequence, self.failure = directory, sequence, ""
        self._turn = threading.Condition()
        self._flushing, self._closed = False, False
        self._open(first, length)
        self.durable = sequence

    def _open(self, first: int, length: int) -> None:
        path = segment_path(self.directory, first)
        handle = disk.open_log(path)
        try:
            disk.cut(handle, length)
            disk.sync(handle)
            disk.sync_folder(self.directory)
        except BaseException:
            disk.close(handle)
            raise
        self._path, self._handle, self._length, self._before = path, handle, length, length

    @property
    def full(self) -> bool:
        """Whether the next record starts a new segment."""
        return self._length >= SEGMENT_BYTES

    def append(self, record: bytes, sync: bool = False) -> None:
        """Write the next record; it counts after `accept`, and is gone after `undo`."""
        self._check()
        if self.full:
            self._rotate()
        line = seal(self.sequence + 1, record)
        self._before = self._length
        try:
            disk.write(self._handle, line)
        except BaseException:
            self.undo()
            raise
        self._length += len(line)
        if sync:
            self._sync_appended()

    def _sync_appended(self) -> None:
        try:
            disk.sync(self._handle)
        except BaseException as error:
            self._fail(error)
            self.undo()
            raise

    def accept(self, synced: bool = False) -> None:
        """Let the record that was appended count."""
        with self._turn:
            self.sequence += 1
            if synced:
                self.durable = self.sequence

    def undo(self) -> None:
        """Take back the record that was appended."""
        try:
            disk.cut(self._handle, self._before)
        except OSError as error:
            self._fail(error)
            raise
        self._length = self._before

    def flush(self) -> int:
        """Bring all records that count to the disk; one flush serves all who wait.

        Returns the number of the last record that is there.
        """
        with self._turn:
            wanted = self.sequence
            while self.durable < wanted and self._flushing:
                self._turn.wait()
            if self.durable >= wanted:
                return self.durable
            self._check()
            self._flushing, target = True, self.sequence
        return self._sync_all(target)

    def _sync_all(self, target: int) -> int:
        failure: BaseException | None = None
        try:
            disk.sync(self._handle)
        except BaseException as error:
            failure = error
            raise
        finally:
            with self._turn:
                self._flushing = False
                if failure is not None:
                    self._fail(failure)
                else:
                    self.durable = max(self.durable, target)
                self._turn.notify_all()
        return self.durable

    def _rotate(self) -> None:
        """Start a new segment, once the full one is on the disk and nobody flushes it."""
        self.flush()
        with self._turn:
            while self._flushing:
                self._turn.wait()
            self._flushing = True
        full = self._handle
        try:
            self._open(self.sequence + 1, 0)
            disk.close(full)
        finally:
            with self._turn:
                self._flushing = False
                self._turn.notify_all()

    def _fail(self, error: BaseException) -> None:
        self.failure = f"{self._path} could not be brought to the disk ({error})"

    def _check(self) -> None:
        if self.failure:
            raise DurabilityError(self.failure)

    def close(self) -> None:
        """Bring everything to the disk, and close the file."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self.failure:
                self.flush()
        finally:
            disk.close(self._handle)
