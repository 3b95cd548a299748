"""What an experiment is: tasks, what each measures, and how the paper's figures compare with ours.

A task is a small JSON object (a data set, a size, a seed); its result is a JSON object of figures.
All that is random follows from the task, so a task that was run need not be run again: that is
how `--full` resumes where it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

Size = Literal["tiny", "quick", "full"]  # for tests, for two minutes, and as in the paper
Task = Mapping[str, Any]
Result = Mapping[str, Any]
Results = Sequence[tuple[Task, Result]]


class Estimate(NamedTuple):
    """A mean over repeats with its standard error, which is NaN for a single run."""

    mean: float
    error: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """Return the mean of repeats.

        >>> Estimate.of([1.0, 3.0])
        Estimate(mean=2.0, error=1.0, n=2)
        """
        x = np.asarray(list(values), dtype=float)
        error = x.std(ddof=1) / math.sqrt(len(x)) if len(x) > 1 else math.nan
        return cls(float(x.mean()), float(error), len(x))


class Comparison(NamedTuple):
    """One figure: what the paper prints, and ours as published and by default.

    `paper` is None where the paper has only a plot and no number, or does not have the line at
    all; `published` and `default` are None where there is no such form (a baseline has one).
    """

    name: str
    paper: float | None = None
    published: Estimate | None = None
    default: Estimate | None = None

    @property
    def difference(self) -> float | None:
        """Ours as published, or the only form there is, minus the paper's."""
        ours = self.published or self.default
        return None if ours is None or self.paper is None else ours.mean - self.paper


def gather(results: Results, value: str, **where: Any) -> Estimate:
    """Return the mean of one figure over the tasks that agree with `where`.

    >>> gather([({"n": 5, "seed": 0}, {"error": 1.0}), ({"n": 9, "seed": 0}, {"error": 3.0})],
    ...        "error", n=9)
    Estimate(mean=3.0, error=nan, n=1)
    """
    return Estimate.of(
        result[value]
        for task, result in results
        if all(task[key] == wanted for key, wanted in where.items())
    )


def values_of(results: Results, key: str) -> list[Any]:
    """Return the values that tasks have for a key, in the order of their first task."""
    return list(dict.fromkeys(task[key] for task, _ in results))


@dataclass(frozen=True)
class Outcome:
    """What an experiment shows: figures, a sentence on what held, and how to draw it."""

    lines: list[Comparison]
    verdict: str  # what held and what did not, in a sentence or two
    unit: str = ""  # of the figures, for example "error, %"
    notes: list[str] = field(default_factory=list)
    draw: Callable[[Any], None] | None = None  # on an empty matplotlib figure, as in the paper


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper."""

    item: str  # "figure 4", "table 1"
    title: str
    tasks: Callable[[Size], list[dict[str, Any]]]
    run: Callable[[Task], dict[str, Any]]
    summarise: Callable[[Results], Outcome]
    data: tuple[str, ...] = ()  # folders of INFINIMIX_DATA that it reads
    stands_in: str = ""  # what the data are instead of the paper's own, if they are not


@dataclass(frozen=True)
class Absent:
    """A table or figure of a paper that is not rerun, and why."""

    item: str
    title: str
    why: str


@dataclass(frozen=True)
class Paper:
    """A paper and all of its tables and figures."""

    name: str
    title: str
    source: str  # authors, where, when
    experiments: tuple[Experiment, ...]
    absent: tuple[Absent, ...] = ()

    def find(self, item: str) -> Experiment | None:
        """Return the experiment of a table or figure, or None."""
        return next((e for e in self.experiments if e.item == item), None)
