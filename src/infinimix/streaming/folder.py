"""The folder of a `DurableLearner`: its files, whether a model fits it, and who may use it.

``state-N.infinimix`` is the model after N records, ``state-N.json`` how far the stream was then,
and ``records-N.jsonl`` a segment of the log that begins with record N. Folders of earlier versions
have ``snapshot-N.infinimix`` and ``log-N.jsonl``, where N counts rows.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from infinimix.estimators.persistence import CLASSES
from infinimix.evaluation.abilities import LearnsTables, able
from infinimix.streaming.journal import DurabilityError

FREE = ("n_jobs", "verbose")  # parameters that may change, as they change no answer
STATE, SIDECAR, SEGMENT = "state-*.infinimix", "state-*.json", "records-*.jsonl"
FIRST_STATE, FIRST_LOG = "snapshot-*.infinimix", "log-*.jsonl"  # of earlier versions


def state_path(directory: Path, sequence: int) -> Path:
    """Return where the model after so many records is."""
    return directory / f"state-{sequence:012d}.infinimix"


def sidecar_path(directory: Path, sequence: int) -> Path:
    """Return where it is said how far the stream was after so many records."""
    return directory / f"state-{sequence:012d}.json"


def segment_path(directory: Path, first: int) -> Path:
    """Return where the segment that begins with this record is."""
    return directory / f"records-{first:012d}.jsonl"


def find_numbers(directory: Path, pattern: str) -> list[int]:
    """Return the numbers in the names of files such as `STATE`, sorted."""
    names = (re.search(r"-(\d{12,18})\.", path.name) for path in directory.glob(pattern))
    return sorted(int(found[1]) for found in names if found)


def holds_model(directory: Path) -> bool:
    """Whether a model has been kept here before."""
    return bool(find_numbers(directory, STATE) or find_numbers(directory, FIRST_STATE))


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
        raise ValueError(f"the folder holds {name_kind(restored)}, and not {name_kind(given)}.")
    ours, theirs = given.get_params(deep=False), restored.get_params(deep=False)
    for name, value in _differences(ours, theirs):
        raise ValueError(
            f"the model in the folder has {name}={theirs[name]!r}, and not {value!r}; give it the "
            "parameters that it was made with."
        )
    restored.set_params(**{name: ours[name] for name in FREE if name in ours})


def name_kind(model: Any) -> str:
    """Return the class of a model with its article.

    >>> name_kind(ValueError()), name_kind(OSError())
    ('a ValueError', 'an OSError')
    """
    name = type(model).__name__
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def check_free(directory: Path) -> None:
    """Raise DurabilityError if a learner has the folder now."""
    if (directory / "lock").exists():
        FolderLock(directory).release()


def _differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in ours.items():
        drawn = isinstance(value, np.random.Generator)  # its state has moved on since
        if name not in FREE and not drawn and value != theirs[name]:
            yield name, value


class FolderLock:
    """Keeps other learners out of a folder, where the system can; a crash leaves no lock.

    A fork inherits the lock of the system; here it closes its share at once, so that it does not
    keep the folder locked when the process that it came from has ended.
    """

    def __init__(self, directory: Path) -> None:
        self._process, self._handle = os.getpid(), _lock(directory)
        self.held = True
        if hasattr(os, "register_at_fork"):
            LOCKS.add(self)

    @property
    def forked(self) -> bool:
        """Whether this is another process than the one that has the lock."""
        return os.getpid() != self._process

    def release(self) -> None:
        """Let others in."""
        if self.held and self._handle is not None:
            if not self.forked:  # at once, though a fork may not have closed its share yet
                _unlock(self._handle)
            os.close(self._handle)
        self.held, self._handle = False, None


LOCKS: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def _release_in_child() -> None:
    for lock in list(LOCKS):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)


def _lock(directory: Path) -> int | None:
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    handle = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise DurabilityError(
            f"{directory} is in use by another command, service or learner; end that one first, "
            "or take another folder"
        ) from error
    return handle


def _unlock(handle: int) -> None:
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_UN)
