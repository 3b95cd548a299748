"""One `map` for work that splits, with the same answer from every executor.

A task is a function of a payload, which brings its own generator if the task draws; so the answer
does not depend on who runs which task, or when. This room hides pools, nesting and the meaning of
`n_jobs`; it knows only callables.

An executor entered by `with` is used by every `map` below it, also by those inside estimators,
whatever their `n_jobs`:

>>> from infinimix import execution
>>> with execution.threads(2):
...     execution.map(abs, [-1, -2, -3])
[1, 2, 3]

`serial` and `threads` are in `executors.py`; `processes` (`local_processes.py`) and `dask`
(`cluster.py`) send payloads to other processes (`packing.py`). `placing` leaves results of tasks
where they are, for other tasks (`placed.py`). A new kind of executor is one more class with a
`map`.
"""

from infinimix.execution.cluster import all_threads, dask
from infinimix.execution.executors import (
    Executor,
    executor_for,
    map,
    serial,
    threads,
)
from infinimix.execution.kept import keeping, map_kept, placing
from infinimix.execution.local_processes import processes
from infinimix.execution.placed import Placed

__all__ = [
    "Executor",
    "Placed",
    "all_threads",
    "dask",
    "executor_for",
    "keeping",
    "map",
    "map_kept",
    "placing",
    "processes",
    "serial",
    "threads",
]
