"""`DurableLearner`: a model that survives a crash, by a log of rows and snapshots of itself.

A record is written first and learned after; if the model refuses its rows, it is taken back. So a
full disk leaves the model as it was, and at most the last record of a log has not been learned. The
first rows go into a snapshot at once, as it holds the seeds that the model has drawn; from then on
learning has no choice left, and to learn the log again gives the same model.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from infinimix.evaluation.abilities import LearnsRows, NamesNewClasses, able
from infinimix.streaming.folder import check_storable
from infinimix.streaming.keeping import KeptModel
from infinimix.streaming.plain import as_learned, from_json, name_to_json, to_json
from infinimix.streaming.relearning import fit_rows
from infinimix.streaming.requests import Receipt, RowsRequest, check_request_id, ids_of
from infinimix.tables.rows import count_rows, list_labels

CLASSES = {"always": "always", "group": "group", "os": "os", True: "always", False: "os"}


class DurableLearner(KeptModel):
    """A model whose learning is kept in a folder, row by row, and restored from there exactly.

    After a crash at any moment the same folder gives back a model that has learned all rows that
    were acknowledged (and perhaps those of the call that did not return), with the same answers,
    bit for bit, as if nothing had happened.

    Parameters
    ----------
    model : AClassClassifier, OnlineCRPClassifier or CRPMixture
        A model that `infinimix.save` takes. If the folder already holds one, that one is
        restored, and its parameters must be those of this one; it is not learned into. Else it
        is the model that learns. A function is given the model of the folder, or None if there is
        none yet, and returns such a model: for parameters that only the folder knows.
    directory : path
        The folder; it is made if it is not there. One process at a time, and no fork of it.
    snapshot_every : int
        Rows between two snapshots. After a crash at most so many have to be learned again, and
        those that came while the last snapshot was written.
    fsync : "always", "group" or "os"
        When rows are on the disk, which a power failure does not lose: when `learn` returns; when
        the next `flush` returns, which callers in several threads share; when the system pleases.
        A killed process loses nothing in any case. True means "always" and False "os".
    window : int
        Records for which a request id is remembered.

    Attributes
    ----------
    model : estimator
        The model that learns. Ask it anything, but let it learn by this object only.
    recovered : Recovered
        What was restored: `rows_replayed`, `snapshot_rows`, `bytes_cut`, `seconds`.

    Notes
    -----
    Frames are learned as rows of dicts. Name the kinds in `columns`, so that they do not depend
    on it. Rows that the model refuses are in no log. Several threads may call `learn` and `flush`;
    predictions while another thread learns need a lock of the caller.

    Examples
    --------
    >>> import tempfile
    >>> from infinimix import AClassClassifier
    >>> from infinimix.streaming import DurableLearner
    >>> folder = tempfile.mkdtemp()
    >>> model = AClassClassifier({"size": "real"}, random_state=0)
    >>> with DurableLearner(model, folder) as learner:
    ...     learner.learn_one({"size": 3.1}, "ant")
    ...     learner.learn([{"size": 8.2}], ["bee"], request_id="b7")
    Receipt(sequence=2, n_rows=1, repeated=False)
    >>> learner = DurableLearner(AClassClassifier({"size": "real"}, random_state=0), folder)
    >>> learner.n_rows, learner.predict_one({"size": 8.0})
    (2, 'bee')
    >>> learner.learn([{"size": 8.2}], ["bee"], request_id="b7").repeated
    True
    >>> learner.close()
    """

    def __init__(
        self,
        model: Any,
        directory: str | os.PathLike[str],
        snapshot_every: int = 10_000,
        fsync: str | bool = "os",
        window: int = 10_000,
    ) -> None:
        _check_whole("snapshot_every", snapshot_every)
        _check_whole("window", window)
        if not isinstance(fsync, str | bool) or fsync not in CLASSES:
            raise ValueError(f"fsync must be 'always', 'group' or 'os'; got {fsync!r}.")
        if not isinstance(model, FunctionType):
            check_storable(model)
        self.directory, self.model = Path(directory), model
        self.snapshot_every, self.window = snapshot_every, window
        self.fsync: str = CLASSES[fsync]
        self._turn = threading.RLock()
        self._open()

    # --- learning ---------------------------------------------------------------------------------

    def learn(
        self, X: Any, y: Any = None, request_id: str | None = None, position: Any = None
    ) -> Receipt:
        """Learn rows, and write their record.

        Parameters
        ----------
        X, y : rows and labels
            As `partial_fit` of the model takes them.
        request_id : str, optional
            A name of this request. If one of the last `window` records had it, nothing is done.
        position : JSON value, optional
            Where the source of the rows is, kept in the same record; `position` returns the last.

        Returns
        -------
        Receipt
            `sequence` of the record, `n_rows` and `repeated`. With fsync="group" the record is on
            the disk when a `flush` that is called afterwards returns.

        Raises
        ------
        DurabilityError
            If the record cannot be kept. Nothing is learned; predictions go on.
        """
        check_request_id(request_id)
        labels = None if y is None else list_labels(y)
        with self._turn:
            self._check()
            found = self._progress.requests.find(request_id)
            if found is not None:
                return found
            more = {"id": request_id, "at": position}
            receipt = self._learn(X, labels, {k: v for k, v in more.items() if v is not None})
            self._snapshot_beside()
            return receipt

    def learn_together(self, requests: Sequence[RowsRequest]) -> list[Receipt]:
        """Learn the rows of several callers as one record, all or none; return their receipts.

        Parameters
        ----------
        requests : sequence of RowsRequest
            Rows of one form. Ids work as in `learn`, also within the call. All have labels, or
            none has.
        """
        for one in requests:
            check_request_id(one.request_id)
        with self._turn:
            self._check()
            fresh = self._progress.requests.unknown(requests)
            if fresh:
                X = [row for one in fresh for row in one.X]
                y = (
                    None
                    if fresh[0].y is None
                    else [label for one in fresh for label in one.y or ()]
                )
                ids = [(one.request_id, len(one.X)) for one in fresh if one.request_id is not None]
                self._learn(X, y, {"ids": ids} if ids else {})
                self._snapshot_beside()
            return self._receipts(requests, fresh)

    def _receipts(
        self, requests: Sequence[RowsRequest], fresh: Sequence[RowsRequest]
    ) -> list[Receipt]:
        learned, found, window = {id(one) for one in fresh}, [], self._progress.requests
        sequence = self.sequence
        for one in requests:
            known = None if one.request_id is None else window.find(one.request_id)
            at, n_rows = (sequence, len(one.X)) if known is None else known[:2]
            found.append(Receipt(at, n_rows, id(one) not in learned))
        return found

    def name_class(self, number: int, label: Any) -> Receipt:
        """Give a provisional class a label, as `OnlineCRPClassifier.name_class`, and keep that.

        It is a record of its own, as durable as rows are, and is given again after a crash.

        Parameters
        ----------
        number : int
            The number of the provisional class.
        label : object
            Its label from now on.
        """
        with self._turn:
            self._check()
            if self._snapshots is None or not able(self.model, NamesNewClasses):
                raise ValueError(f"there is no provisional class {number}.")
            record = name_to_json(number, label, row=self.n_rows, ack=self._acknowledged)
            name = from_json(record)["name"]  # as it will be given again
            return self._keep(record, lambda: self.model.name_class(*name))

    def partial_fit(self, X: Any, y: Any = None) -> DurableLearner:
        """Learn rows, and keep them; with fsync="group" they are on the disk on return.

        Parameters
        ----------
        X : table
            The rows.
        y : sequence of labels
            Their labels.
        """
        self.learn(X, y)
        if self.fsync == "group":
            self.flush()
        return self

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row, and keep it, as `partial_fit` does.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        y : label
            Its class.
        """
        self.partial_fit([x], [y])

    def flush(self) -> int:
        """Bring all records so far to the disk; return the number of the last one there.

        Threads that call it at the same time share one flush.
        """
        self._check()
        try:
            return self._log.flush()
        except OSError as error:
            raise self._fail(f"the disk failed ({error})") from error

    def _learn(self, X: Any, y: list[Any] | None, more: dict[str, Any]) -> Receipt:
        """Write rows and learn them; `more` has the ids of their requests and the position."""
        record = to_json(X, y, row=self.n_rows, ack=self._acknowledged, **more)
        rows, labels = as_learned(record, X, y)
        n_rows = count_rows(rows)
        if n_rows == 0:
            raise ValueError("there are no rows to learn.")
        ids = ids_of(more, n_rows)
        return self._keep(record, lambda: self._fit(rows, labels), n_rows, ids, more.get("at"))

    def _fit(self, X: Any, y: list[Any] | None) -> None:
        single = isinstance(X, list) and len(X) == 1 and isinstance(X[0], Mapping)
        if single and y is not None and len(y) == 1 and able(self.model, LearnsRows):
            self.model.learn_one(X[0], y[0])
        else:
            fit_rows(self.model, X, y)

    # --- snapshots --------------------------------------------------------------------------------

    def snapshot(self) -> None:
        """Write the model as it is, and wait for it; nothing if nothing was learned."""
        with self._turn:
            self._check()
            if self._snapshots is not None:
                self._snapshots.wait()
                self._snapshots.write(self.model, self._progress.to_json())
                self._due = self.n_rows + self.snapshot_every

    def close(self) -> None:
        """Bring everything to the disk, and close the folder; the object can no longer learn."""
        if not self._lock.held:
            return
        with self._turn:
            self._failure = self._failure or "it is closed"
            try:
                if self._snapshots is not None:
                    self._snapshots.wait()
                self._log.close()
            finally:
                self._lock.release()

    def __enter__(self) -> DurableLearner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _check_whole(name: str, value: object) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < 1:  # type: ignore[operator]
        raise ValueError(f"{name} must be a whole number from 1 on; got {value!r}.")
