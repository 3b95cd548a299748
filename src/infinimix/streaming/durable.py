"""`DurableLearner`: a model that survives a crash, by a log of rows and snapshots of itself.

The folder holds ``snapshot-N.infinimix``, the model after N rows, and ``log-N.jsonl``, the rows
learned since. The first rows go into a snapshot at once, as it holds the seeds that the model has
drawn; from then on learning has no choice left, and to learn the log again gives the same model.
The last two snapshots are kept: if the newest is damaged, the one before it and both logs do.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import LearnsRows, able
from infinimix.streaming.folder import (
    check_same,
    check_storable,
    list_logs,
    list_snapshots,
    load_newest,
    lock_folder,
    log_path,
    snapshot_path,
    take_snapshot,
)
from infinimix.streaming.journal import DurabilityError, Journal, read_journal
from infinimix.streaming.plain import from_json, to_json
from infinimix.tables.rows import count_rows, list_labels


class DurableLearner:
    """A model whose learning is kept in a folder, row by row, and restored from there exactly.

    When a call of `partial_fit` or `learn_one` returns, its rows are in the log. After a crash
    at any moment the same folder gives back a model that has learned the rows of all calls that
    returned (and perhaps those of the one that did not), with the same answers, bit for bit, as
    if nothing had happened.

    Parameters
    ----------
    model : AClassClassifier or CRPMixture
        A model that `infinimix.save` takes. If the folder already holds one, that one is
        restored, and its parameters must be those of this one; it is not learned into. Else it
        is the model that learns.
    directory : path
        The folder; it is made if it is not there. One process at a time.
    snapshot_every : int
        Rows between two snapshots. After a crash at most so many have to be learned again.
    fsync : bool
        Whether to wait for the disk at every call. Without it a killed process loses nothing,
        but a power failure may lose the latest calls; it damages nothing.

    Attributes
    ----------
    model : estimator
        The model that learns. Ask it anything, but let it learn by this object only.
    n_rows : int
        Rows learned, over all processes that ever learned into the folder.

    Notes
    -----
    Frames are learned as rows of dicts. Name the kinds in `columns`, so that they do not depend
    on it. Rows that the model refuses are in no log.

    Examples
    --------
    >>> import tempfile
    >>> from infinimix import AClassClassifier
    >>> from infinimix.streaming import DurableLearner
    >>> folder = tempfile.mkdtemp()
    >>> model = AClassClassifier({"size": "real"}, random_state=0)
    >>> with DurableLearner(model, folder) as learner:
    ...     learner.learn_one({"size": 3.1}, "ant")
    ...     learner.learn_one({"size": 8.2}, "bee")
    >>> learner = DurableLearner(AClassClassifier({"size": "real"}, random_state=0), folder)
    >>> learner.n_rows, learner.predict_one({"size": 8.0})
    (2, 'bee')
    >>> learner.close()
    """

    def __init__(
        self,
        model: Any,
        directory: str | os.PathLike[str],
        snapshot_every: int = 10_000,
        fsync: bool = False,
    ) -> None:
        whole = isinstance(snapshot_every, int) and not isinstance(snapshot_every, bool)
        if not whole or snapshot_every < 1:
            raise ValueError(
                f"snapshot_every must be a whole number from 1 on; got {snapshot_every!r}."
            )
        check_storable(model)
        self.directory = Path(directory)
        self.snapshot_every, self.fsync = snapshot_every, fsync
        self.model, self.n_rows = model, 0
        self._failure: str | None = None
        self._journal: Journal | None = None
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock = lock_folder(self.directory)
        try:
            self._restore()
        except BaseException:
            self.close()
            raise

    def partial_fit(self, X: Any, y: Any = None) -> DurableLearner:
        """Learn rows, and keep them."""
        self._learn(X, None if y is None else list_labels(y))
        return self

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row, and keep it."""
        self._learn([x], list_labels([y]), one=True)

    def snapshot(self) -> None:
        """Write the model as it is; the log starts again."""
        self._check()
        take_snapshot(self.directory, self.model, self.n_rows)
        self._open_journal(0)

    def close(self) -> None:
        """Close the log; the object can no longer learn."""
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None
        self._failure = self._failure or "it is closed"

    def __enter__(self) -> DurableLearner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        found: np.ndarray = self.model.classes_
        return found

    def predict(self, X: Any) -> np.ndarray:
        """Return the answers of the model."""
        return np.asarray(self.model.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the model."""
        return np.asarray(self.model.predict_proba(X))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Return the answer of the model for one row."""
        return self.model.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probabilities of the model for one row."""
        found: dict[Any, float] = self.model.predict_proba_one(x)
        return found

    def _check(self) -> None:
        if self._failure:
            raise DurabilityError(f"This DurableLearner can learn no more: {self._failure}.")

    def _learn(self, X: Any, y: list[Any] | None, one: bool = False) -> None:
        """Learn what the log will say, then say it: what is refused is never in the log."""
        self._check()
        record = to_json(X, y, row=self.n_rows)
        rows = from_json(record)
        learned = False
        try:
            if one and able(self.model, LearnsRows):
                self.model.learn_one(rows["X"][0], rows["y"][0])
            else:
                _fit(self.model, rows)
            learned = True
            self._keep(record, count_rows(rows["X"]))
        except BaseException as error:
            if learned or not isinstance(error, ValueError | TypeError):
                self._fail(f"rows may have been learned, but not kept ({error!r})")
            raise  # what was only refused has changed nothing

    def _keep(self, record: bytes, n_rows: int) -> None:
        if self._journal is None:
            take_snapshot(self.directory, self.model, self.n_rows + n_rows)
            self.n_rows += n_rows
            self._open_journal(0)
            return
        self._journal.append(record)
        self.n_rows += n_rows
        if self.n_rows - self._base >= self.snapshot_every:
            try:
                self.snapshot()
            except OSError as error:  # the rows are in the log, which goes on
                warnings.warn(f"no snapshot could be written: {error}", stacklevel=4)

    def _fail(self, reason: str) -> None:
        self._failure = f"{reason}; what was kept is in {self.directory}, open it again"

    def _open_journal(self, length: int) -> None:
        if self._journal is not None:
            self._journal.close()
        self._base = self.n_rows
        self._journal = Journal(log_path(self.directory, self.n_rows), length, self.fsync)

    def _restore(self) -> None:
        for stray in self.directory.glob(".infinimix-*.tmp"):
            stray.unlink()  # of a snapshot that a crash has interrupted
        snapshots = list_snapshots(self.directory)
        if not snapshots:
            if list_logs(self.directory):
                raise DurabilityError(f"{self.directory} has a log, but no snapshot to start from")
            if self.model.__sklearn_is_fitted__():
                take_snapshot(self.directory, self.model, 0)
                self._open_journal(0)
            return
        restored, base = load_newest(self.directory, snapshots)
        check_same(self.model, restored)
        self.model, self.n_rows, self._base, end = restored, base, base, 0
        for start in [n for n in list_logs(self.directory) if n >= base]:
            self._base, end = start, self._replay(log_path(self.directory, start))
        if self.n_rows < snapshots[-1]:
            raise DurabilityError(
                f"{self.directory}: only {self.n_rows} of at least {snapshots[-1]} rows can be "
                "restored; restore its files from a good copy"
            )
        self._journal = Journal(log_path(self.directory, self._base), end, self.fsync)
        if base < snapshots[-1]:
            self._replace_damaged([n for n in snapshots if n > base])

    def _replay(self, path: Path) -> int:
        """Learn a log again, and return how many of its bytes are whole."""
        end = 0
        for end, record in read_journal(path):  # noqa: B007 (the last one is returned)
            rows = from_json(record)
            if rows["row"] != self.n_rows:
                raise DurabilityError(
                    f"{path} goes on with row {rows['row']}, but only {self.n_rows} are there; "
                    "restore the files of the folder from a good copy"
                )
            _fit(self.model, rows)
            self.n_rows += count_rows(rows["X"])
        return end

    def _replace_damaged(self, snapshots: list[int]) -> None:
        """Set damaged snapshots aside, so that they do not count among those that are kept."""
        for n in snapshots:
            path = snapshot_path(self.directory, n)
            path.replace(path.with_name(f"damaged-{path.name}"))
        self.snapshot()


def _fit(model: Any, rows: dict[str, Any]) -> None:
    if rows["y"] is None:
        model.partial_fit(rows["X"])
    else:
        model.partial_fit(rows["X"], rows["y"])
