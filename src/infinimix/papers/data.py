"""Where the papers' data are: folders below the one that INFINIMIX_DATA names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "INFINIMIX_DATA"


class DataMissing(LookupError):
    """Data sets that an experiment needs are not on this machine."""


def lacking(names: Iterable[str]) -> list[str]:
    """Return the data sets that are not there."""
    root = os.environ.get(VARIABLE)
    return [name for name in names if not root or not (Path(root) / name).is_dir()]


def folder(name: str) -> Path:
    """Return the folder of a data set, or say what is missing."""
    if lacking([name]):
        raise DataMissing(explain([name]))
    return Path(os.environ[VARIABLE]) / name


def explain(names: Iterable[str]) -> str:
    """Return a sentence on data sets that are not there, and what to do."""
    root, what = os.environ.get(VARIABLE), " and ".join(names)
    if not root:
        return f"it needs {what}: let {VARIABLE} name the folder that holds the data sets"
    return f"it needs {what}, which {VARIABLE}={root} does not hold"
