"""Payloads on their way to other processes: an array that several share travels once.

Tasks of one `map` mostly work on one table. `pack` pickles each payload with its large arrays left
out, and tells which of them several payloads hold, so that an executor can send these once; `run`
puts a payload together again and runs its task there.

What tasks have left on a worker (`placed`) is sent as arrays that several share are: by reference.

What a task raises comes back as a value, because executors raise the first exception in the order
of the payloads, and libraries raise the first in time.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.execution.executors import work_alone
from infinimix.execution.placed import Placed, There

LARGE = 2**16  # bytes; smaller arrays stay in the pickle


class Packed(NamedTuple):
    """One payload: its pickle, and the arrays that were left out of it, by number."""

    pickled: bytes
    own: dict[int, np.ndarray]  # of this payload alone
    shared: tuple[int, ...]  # numbers of those that others hold, too
    errors: Any  # what NumPy does about overflows and the like, where it was packed


class Failed(NamedTuple):
    """What a task has raised."""

    error: BaseException


def pack(
    payloads: Iterable[Any], kept: Collection[int] = ()
) -> tuple[list[Packed], dict[int, Any]]:
    """Return the payloads without their large arrays, and the arrays that several hold.

    Arrays whose `id` is kept are among these in any case, and so is what lies on workers.
    """
    arrays: dict[int, Any] = {}
    numbers: dict[int, int] = {}
    pickles, held = [], []
    for payload in payloads:
        file = io.BytesIO()
        pickler = _pickler(file, arrays, numbers)
        pickler.dump(payload)
        pickles.append(file.getvalue())
        held.append(pickler.held)
    times = Counter(number for some in held for number in some)
    shared = {
        number: arrays[number]
        for number, n in times.items()
        if n > 1 or id(arrays[number]) in kept or isinstance(arrays[number], There)
    }
    packed = [
        Packed(
            pickled,
            {number: arrays[number] for number in sorted(some) if number not in shared},
            tuple(sorted(some & shared.keys())),
            np.geterr(),
        )
        for pickled, some in zip(pickles, held, strict=True)
    ]
    return packed, shared


def unpack(packed: Packed, shared: Mapping[int, Any]) -> Any:
    """Return the payload; arrays that came read-only are copied: kernels are for others."""
    arrays = {number: writable(array) for number, array in packed.own.items()}
    arrays |= {number: writable(shared[number]) for number in packed.shared}
    return _Unpickler(io.BytesIO(packed.pickled), arrays).load()


def run(task: Callable[[Any], Any], packed: Packed, shared: Mapping[int, Any]) -> bytes:
    """Run a task on a packed payload; return the pickle of what it returns, or raises (`Failed`).

    Libraries would send arrays so that they come back read-only.
    """
    return bytes(_cloudpickle().dumps(run_here(task, packed, shared)))


def run_here(task: Callable[[Any], Any], packed: Packed, shared: Mapping[int, Any]) -> Any:
    """Run a task on a packed payload; return what it returns, or raises (`Failed`)."""
    try:
        with np.errstate(**packed.errors):
            return work_alone(task, unpack(packed, shared))
    except BaseException as error:  # a worker goes on, whatever a task raises
        return Failed(error)


def opened(results: Sequence[bytes], names: Sequence[str] = ()) -> list[Any]:
    """Return what tasks returned; raise the first exception in the order of the payloads.

    If memory was too little, the message has the name of the payload.
    """
    values = [pickle.loads(result) for result in results]
    for i, value in enumerate(values):
        if isinstance(value, Failed):
            name = names[i] if names else ""
            if isinstance(value.error, MemoryError) and name and name not in str(value.error):
                text = f"task {i + 1} of {len(values)}{named(name)} needs more memory than there is"
                raise MemoryError(f"{text}: {value.error}") from value.error
            raise value.error
    return values


def named(name: str) -> str:
    """Return the name of a payload as messages have it."""
    return f" ({name})" if name else ""


def _cloudpickle() -> Any:
    """Return the library that pickles closures; joblib brings it, in former versions as its own."""
    try:
        import cloudpickle
    except ImportError:
        from joblib.externals import cloudpickle
    return cloudpickle


def _pickler(file: io.BytesIO, arrays: dict[int, Any], numbers: dict[int, int]) -> Any:
    """Return a pickler that leaves large arrays out, and knows which."""

    class Pickler(_cloudpickle().Pickler):  # type: ignore[misc]
        held: set[int]

        def persistent_id(self, thing: Any) -> int | tuple[int] | None:
            is_array = type(thing) is np.ndarray and not thing.dtype.hasobject
            if not (is_array and thing.nbytes >= LARGE) and type(thing) is not There:
                return None
            number = numbers.setdefault(id(thing), len(numbers))
            arrays[number] = thing  # kept alive, so that no other has its id
            self.held.add(number)
            return (number,) if type(thing) is There else number

    pickler = Pickler(file)
    pickler.held = set()
    return pickler


class _Unpickler(pickle.Unpickler):
    """Puts the arrays back, and what other tasks have returned."""

    def __init__(self, file: io.BytesIO, arrays: Mapping[int, Any]) -> None:
        super().__init__(file)
        self._arrays = arrays

    def persistent_load(self, pid: Any) -> Any:
        if isinstance(pid, int):
            return self._arrays[pid]
        found = self._arrays[pid[0]]
        if isinstance(found, Failed):
            raise found.error
        return Placed(found)


def writable(thing: Any) -> Any:
    """Return an array that kernels take, a copy if it is read-only; or a tuple of such arrays."""
    if isinstance(thing, np.ndarray):
        return thing if thing.flags.behaved else thing.copy(order="K")  # aligned, too
    return tuple(map(writable, thing)) if type(thing) is tuple else thing
