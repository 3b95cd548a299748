"""The folder of a `DurableLearner`: its files, what is kept, and who may use it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from infinimix.artifacts import ArtifactError
from infinimix.estimators.persistence import CLASSES, load, save
from infinimix.evaluation.abilities import LearnsTables, able
from infinimix.streaming.journal import DurabilityError

KEPT = 2  # snapshots
FREE = ("n_jobs", "verbose")  # parameters that may change, as they change no answer


def snapshot_path(directory: Path, n_rows: int) -> Path:
    """Return where the model after so many rows is."""
    return directory / f"snapshot-{n_rows:012d}.infinimix"


def log_path(directory: Path, n_rows: int) -> Path:
    """Return where the rows after so many are."""
    return directory / f"log-{n_rows:012d}.jsonl"


def list_snapshots(directory: Path) -> list[int]:
    """Return the numbers of rows after which there are snapshots, sorted."""
    return _numbers(directory, "snapshot-*.infinimix")


def list_logs(directory: Path) -> list[int]:
    """Return the numbers of rows after which logs begin, sorted."""
    return _numbers(directory, "log-*.jsonl")


def _numbers(directory: Path, pattern: str) -> list[int]:
    names = (re.search(r"-(\d{12,})\.", path.name) for path in directory.glob(pattern))
    return sorted(int(found[1]) for found in names if found)


def take_snapshot(directory: Path, model: Any, n_rows: int) -> None:
    """Write a snapshot, and only then remove what two newer ones replace."""
    save(model, snapshot_path(directory, n_rows))
    oldest = list_snapshots(directory)[-KEPT:][0]
    old = [snapshot_path(directory, n) for n in list_snapshots(directory) if n < oldest]
    for path in [*old, *(log_path(directory, n) for n in list_logs(directory) if n < oldest)]:
        path.unlink()


def load_newest(directory: Path, snapshots: list[int]) -> tuple[Any, int]:
    """Return the newest snapshot that can be read, and its number of rows."""
    reasons = []
    for n in reversed(snapshots):
        try:
            return load(snapshot_path(directory, n)), n
        except ArtifactError as error:
            reasons.append(str(error))
    raise DurabilityError("no snapshot can be read: " + "; ".join(reasons))


def check_storable(model: Any) -> None:
    """Raise TypeError if the model cannot be saved, before it learns anything."""
    if type(model) not in CLASSES.values() or not able(model, LearnsTables):
        names = [name for name, cls in CLASSES.items() if able(cls, LearnsTables)]
        raise TypeError(
            f"DurableLearner takes one of {', '.join(names)}; got {type(model).__name__}."
        )


def check_same(given: Any, restored: Any) -> None:
    """Raise ValueError if the folder holds another model; else let it have the free parameters."""
    if type(given) is not type(restored):
        raise ValueError(
            f"the folder holds a {type(restored).__name__}, and not a {type(given).__name__}."
        )
    ours, theirs = given.get_params(deep=False), restored.get_params(deep=False)
    for name, value in _differences(ours, theirs):
        raise ValueError(
            f"the model in the folder has {name}={theirs[name]!r}, and not {value!r}; give it the "
            "parameters that it was made with."
        )
    restored.set_params(**{name: ours[name] for name in FREE if name in ours})


def _differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in ours.items():
        drawn = isinstance(value, np.random.Generator)  # its state has moved on since
        if name not in FREE and not drawn and value != theirs[name]:
            yield name, value


def lock_folder(directory: Path) -> int | None:
    """Keep other processes out of the folder, where the system can; a crash leaves no lock."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    handle = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise DurabilityError(f"{directory} is in use by another DurableLearner") from error
    return handle
