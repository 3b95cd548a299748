"""Run the tasks of an experiment, store each result at once, and go on where a run stopped.

A folder holds for each experiment `runs.jsonl`, one line a task, and what `page` writes of it. A
line counts again only for the same version of infinimix.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from infinimix import __version__
from infinimix.papers import data
from infinimix.papers.experiment import Experiment, Outcome, Paper, Results, Size, Task

RUNS = "runs.jsonl"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Reproduced:
    """An experiment that was run: its results, what they show, and what it took."""

    paper: Paper
    experiment: Experiment
    size: Size
    outcome: Outcome
    results: Results
    seconds: float  # CPU time of all tasks
    folder: Path
    repeats: int | None = None  # of those of the form, if it was not all of them

    def provenance(self) -> dict[str, Any]:
        """Return seeds, versions and time, for files and pages."""
        seeds = sorted({task["seed"] for task, _ in self.results if "seed" in task})
        few = (
            "" if self.repeats is None else f" with {self.repeats} repeat{'s' * (self.repeats > 1)}"
        )
        return {
            "form": f"{self.size}{few}",
            "tasks": len(self.results),
            "seeds": seeds,
            "cpu_seconds": round(self.seconds, 1),
            "python": platform.python_version(),
            "infinimix": __version__,
            **{name: version(name) for name in LIBRARIES},
        }


def folder_of(root: Path, paper: Paper, experiment: Experiment) -> Path:
    """Return where an experiment keeps its files.

    Its name is for example "aclass-figure-4".
    """
    return root / f"{paper.name}-{experiment.item.replace(' ', '-')}"


def reproduce(
    paper: Paper,
    experiment: Experiment,
    root: Path,
    size: Size = "quick",
    advance: Callable[[], None] = lambda: None,
    repeats: int | None = None,
) -> Reproduced:
    """Run what was not run yet, and summarise; `advance` is called after each task.

    With `repeats`, only the first so many data sets or divisions of the form count.
    """
    absent = data.lacking(experiment.data)
    if absent:
        raise data.DataMissing(data.explain(absent))
    folder = folder_of(root, paper, experiment)
    folder.mkdir(parents=True, exist_ok=True)
    known = dict(_read(folder / RUNS))
    tasks = tasks_of(experiment, size, repeats)
    _mend(folder / RUNS)
    with (folder / RUNS).open("a", encoding="utf-8") as log:
        for task in tasks:
            if _key(task) not in known:
                known[_key(task)] = line = _measure(experiment, task)
                log.write(json.dumps(line) + "\n")
                log.flush()
            advance()
    lines = [known[_key(task)] for task in tasks]
    results = [(task, line["result"]) for task, line in zip(tasks, lines, strict=True)]
    seconds = sum(line["seconds"] for line in lines)
    outcome = experiment.summarise(results)
    fewer = repeats if len(tasks) < len(experiment.tasks(size)) else None
    return Reproduced(paper, experiment, size, outcome, results, seconds, folder, fewer)


def tasks_of(experiment: Experiment, size: Size, repeats: int | None) -> list[dict[str, Any]]:
    """Return the tasks of a form; of those with a seed, the first so many seeds."""
    tasks = experiment.tasks(size)
    return tasks if repeats is None else [t for t in tasks if t.get("seed", 0) < repeats]


def _measure(experiment: Experiment, task: Task) -> dict[str, Any]:
    start = time.process_time()
    result = experiment.run(task)
    seconds = time.process_time() - start
    return {"task": task, "result": result, "seconds": seconds, "infinimix": __version__}


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


def _mend(path: Path) -> None:
    """End the last line, if a run was interrupted in the middle of it."""
    if path.exists() and path.read_bytes()[-1:] not in (b"", b"\n"):
        with path.open("a", encoding="utf-8") as log:
            log.write("\n")


def _read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of earlier runs; the last may be torn, and then its task is run again."""
    if not path.exists():
        return
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if line.get("infinimix") == __version__:
            yield _key(line["task"]), line
