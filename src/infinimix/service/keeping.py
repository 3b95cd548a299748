"""The learner behind the service: what the owner of the model asks of a `DurableLearner`.

`open_learner` returns a learner with `learn`, `flush`, `sequence`, `durable`, `position` and
`recovered`. A `DurableLearner` that has them is taken as it is. For one that has not,
`LoggedLearner` keeps request ids and the position of a source in the records of its log.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

from infinimix.streaming.durable import DurableLearner
from infinimix.streaming.folder import list_logs, log_path
from infinimix.streaming.journal import DurabilityError, read_journal
from infinimix.streaming.plain import from_json, to_json
from infinimix.tables.rows import count_rows

WINDOW = 10_000  # request ids that are remembered


class LearnReceipt(NamedTuple):
    """What became of a request to learn."""

    sequence: int
    n_rows: int
    repeated: bool


def open_learner(model: Any, folder: Path, snapshot_every: int) -> Any:
    """Return the learner of a folder, restored."""
    if hasattr(DurableLearner, "flush"):
        more: dict[str, Any] = {"fsync": "group", "window": WINDOW}
        return DurableLearner(model, folder, snapshot_every, **more)
    return LoggedLearner(model, folder, snapshot_every)


class LoggedLearner(DurableLearner):
    """A `DurableLearner` with request ids, positions and a flush for many calls."""

    def __init__(self, model: Any, directory: Path, snapshot_every: int) -> None:
        self.position: Any = None
        self._ids: OrderedDict[str, int] = OrderedDict()
        super().__init__(model, directory, snapshot_every, fsync=False)
        self.recovered = self.durable = self.n_rows
        for start in list_logs(self.directory):
            for _, record in read_journal(log_path(self.directory, start)):
                self._remember(from_json(record))

    @property
    def sequence(self) -> int:
        """The number of the last row that was learned."""
        return self.n_rows

    def learn(
        self, X: Any, y: Any = None, request_id: str | None = None, position: Any = None
    ) -> LearnReceipt:
        """Learn rows and write them; they are durable after the next `flush`."""
        self._check()
        if request_id is not None and request_id in self._ids:
            return LearnReceipt(self._ids[request_id], 0, True)
        record = to_json(X, y, row=self.n_rows, id=request_id, position=position)
        rows = from_json(record)
        self._fit(rows)
        try:
            self._keep(record, count_rows(rows["X"]))
        except BaseException as error:
            self._fail(f"rows may have been learned, but not kept ({error!r})")
            raise DurabilityError(f"rows could not be kept: {error}") from error
        self._remember(rows)
        return LearnReceipt(self.n_rows, count_rows(rows["X"]), False)

    def _fit(self, rows: dict[str, Any]) -> None:
        labels = () if rows["y"] is None else (rows["y"],)
        self.model.partial_fit(rows["X"], *labels)

    def _remember(self, rows: dict[str, Any]) -> None:
        if rows.get("id") is not None:
            self._ids[rows["id"]] = rows["row"] + count_rows(rows["X"])
            if len(self._ids) > WINDOW:
                self._ids.popitem(last=False)
        if rows.get("position") is not None:
            self.position = rows["position"]

    def flush(self) -> int:
        """Bring what was written to the disk; return the number of the last row there."""
        self._check()
        if self._journal is not None and self.durable < self.n_rows:
            try:
                os.fsync(self._journal._file.fileno())
            except OSError as error:
                self._fail(f"the disk refused what was learned ({error!r})")
                raise
        self.durable = self.n_rows
        return self.durable
