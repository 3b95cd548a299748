"""What `n_jobs` means: None is 1, -1 is all cores, -2 all but one.

Cores are those that this process may use, not those that the machine has.
"""

from __future__ import annotations

import os
from numbers import Integral


def count_cores() -> int:
    """Number of cores this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows know no affinity
        return os.cpu_count() or 1


def count_workers(n_jobs: object, *, name: str = "n_jobs") -> int:
    """Number of workers that `n_jobs` asks for, at least 1.

    Examples
    --------
    >>> count_workers(None), count_workers(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    expected = f"{name} must be None or a whole number other than 0"
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"{expected}, got {n_jobs!r}.")
    n = int(n_jobs)
    if n == 0:
        raise ValueError(f"{expected}, got 0.")
    return n if n > 0 else max(count_cores() + 1 + n, 1)
