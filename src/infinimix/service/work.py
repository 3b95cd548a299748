"""What the model is asked: predictions and learning, one request or several in one call.

`ModelWork` runs wherever the turn is (see `owner`); it knows nothing of threads. Whatever a request
does wrong becomes its own answer, and the others of its group are learned.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from infinimix.evaluation.abilities import LearnsRows, able
from infinimix.service.answers import Predicted
from infinimix.service.figures import Figures
from infinimix.service.jobs import Done, Job, neighbours
from infinimix.service.problems import HttpProblem
from infinimix.service.reading import RowBatch
from infinimix.streaming.journal import DurabilityError
from infinimix.streaming.requests import Receipt, RowsRequest

LOG = logging.getLogger("infinimix.service")
REFUSALS = (ValueError, TypeError)
KEPT = (DurabilityError, OSError)  # what the disk, or the folder, refuses
RETRY = 5  # seconds until learning may be possible again
SCORED = 16  # rows of a call that are predicted before they are learned: the others wait


class ModelWork:
    """A learner and what is done with it."""

    learner: Any = None
    refusal: str | None = None  # why learning is refused
    figures: Figures

    def _work(self, jobs: list[Job]) -> list[Done]:
        """Do jobs in their order, neighbours in one call."""
        done: list[Done] = []
        for part in neighbours(jobs):
            done += self._learn_all(part) if part[0].joins else [self._do(part[0])]
        return done

    def _flush(self, learned: list[Done]) -> list[Done]:
        """Bring the log to the disk; called by the thread that does so beside the others."""
        try:
            self.learner.flush()
        except KEPT as error:
            self.refusal = str(error)
            return [Done(one.job, None, _unkept(error)) for one in learned]
        except Exception as error:  # the fault is ours: they must be answered
            return [Done(one.job, None, _failed(error)) for one in learned]
        self.refusal = None
        return learned

    def _do(self, job: Job) -> Done:
        try:
            return Done(job, self._run(job), None)
        except HttpProblem as error:
            return Done(job, None, error)
        except KEPT as error:  # before refusals: a DurabilityError is a ValueError
            self.refusal = str(error)
            return Done(job, None, _unkept(error))
        except REFUSALS as error:
            field = "x" if len(job.batch.X) == 1 else "rows"
            return Done(job, None, HttpProblem(422, str(error), field))
        except Exception as error:  # the fault is ours: the others must be answered
            return Done(job, None, _failed(error))

    def _run(self, job: Job) -> Any:
        if job.work is not None:
            return job.work(self.learner)
        if job.kind == "learn":
            return self._learn(job.batch, job.position)
        seen = self.learner.sequence
        said = Predicted(self.learner.model, job.batch.X)
        self.figures.predicted += len(job.batch.X)
        answer = {"sequence": seen, "predictions": said.to_json()}
        if job.kind == "both":
            receipt = self._learn(job.batch, None, said)
            answer |= receipt | {"seen": seen}
        return answer

    def _learn(
        self, batch: RowBatch, position: Any, said: Predicted | None = None
    ) -> dict[str, Any]:
        X, y = batch.X, self._labels(batch)
        said = said or self._score_before(X, y)
        start = time.perf_counter()
        receipt = self.learner.learn(X, y, request_id=batch.request_id, position=position)
        self._count([receipt], said, y, time.perf_counter() - start)
        return _receipt(receipt)

    def _score_before(self, X: list[Any], y: list[Any] | None) -> Predicted | None:
        """Predict the first rows before they are learned, if there is time for it."""
        if y is None or not self.figures.has_time:
            return None
        start = time.perf_counter()
        said = Predicted(self.learner.model, X[:SCORED])
        self.figures.scoring += time.perf_counter() - start
        return said

    def _count(
        self, receipts: list[Receipt], said: Predicted | None, y: list[Any] | None, seconds: float
    ) -> None:
        figures = self.figures
        figures.learning += seconds
        repeated = sum(receipt.repeated for receipt in receipts)
        figures.repeated += repeated
        figures.learned += sum(receipt.n_rows for receipt in receipts if not receipt.repeated)
        if said is not None and not repeated:
            figures.score(said, y)

    def _labels(self, batch: RowBatch) -> list[Any] | None:
        """Return the labels as the model takes them: a mixture has none, a classifier always."""
        if not able(self.learner.model, LearnsRows):
            if batch.y is not None:
                raise HttpProblem(422, "a mixture has no labels; leave them out", "labels")
            return None
        return [None] * len(batch.X) if batch.y is None else batch.y

    def _learn_all(self, jobs: list[Job]) -> list[Done]:
        """Learn neighbours in one call; if that is refused, each by itself."""
        if len(jobs) == 1 or not self.learner.model.__sklearn_is_fitted__():
            return [self._do(job) for job in jobs]
        try:
            receipts = self._learn_together([job.batch for job in jobs])
        except KEPT as error:
            self.refusal = str(error)
            return [Done(job, None, _unkept(error)) for job in jobs]
        except Exception:
            return [self._do(job) for job in jobs]
        return [Done(job, _receipt(one), None) for job, one in zip(jobs, receipts, strict=True)]

    def _learn_together(self, batches: list[RowBatch]) -> list[Receipt]:
        requests = [RowsRequest(one.X, self._labels(one), one.request_id) for one in batches]
        X = [row for one in requests for row in one.X]
        y = [label for one in requests for label in one.y or ()] if batches[0].y else None
        said = self._score_before(X, y)
        start = time.perf_counter()
        receipts: list[Receipt] = self.learner.learn_together(requests)
        self._count(receipts, said, y, time.perf_counter() - start)
        return receipts


def _receipt(one: Receipt) -> dict[str, Any]:
    return {"sequence": one.sequence, "rows": one.n_rows, "repeated": one.repeated}


def _failed(error: Exception) -> HttpProblem:
    LOG.error("a request failed: %s", type(error).__name__)
    return HttpProblem(500, f"{type(error).__name__} in the model")


def _unkept(error: BaseException) -> HttpProblem:
    return HttpProblem(
        503, f"nothing can be learned at present, predictions go on: {error}", retry=RETRY
    )
