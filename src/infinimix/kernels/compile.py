"""The one door to numba: `@kernel`, cached under a fingerprint of every kernel source.

numba's own disk cache watches only the file of the cached function. A generic kernel has
the code of a family inlined, so after an edit to the family numba would run stale machine
code. Here the key of a cached kernel holds a hash of all sources in the compiled rooms.

Set `NUMBA_DISABLE_JIT=1` to run the same bodies interpreted, for debugging.
"""

import hashlib
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import numba
from numba import njit
from numba.core import config
from numba.core.caching import FunctionCache

COMPILED_ROOMS = (
    "kernels", "families", "partitions", "inference", "tables", "maxmargin", "networks/engine",
)  # fmt: skip
SUMS = {"reassoc", "nsz", "contract"}  # sums may be vectorised; NaN keeps its meaning (missing)
INTERPRETED = bool(config.DISABLE_JIT)


@cache
def fingerprint():
    """Hash of the source text of every compiled room."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for room in COMPILED_ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def announce():
    """Say once that a cold start compiles, so that a pause is understood."""
    print(
        "infinimix: compiling kernels for this kind of table (ten to thirty seconds, once; "
        "later runs load them from disk)",
        file=sys.stderr,
    )


class _FingerprintedCache(FunctionCache):
    """numba's disk cache, with the fingerprint in the key; a miss is announced."""

    def _index_key(self, sig, codegen):
        return (*super()._index_key(sig, codegen), fingerprint())

    def load_overload(self, sig, target_context):
        found = super().load_overload(sig, target_context)
        if found is None:
            announce()
        return found


def kernel(func):
    """Compile `func` lazily, without the GIL, cached on disk per types and fingerprint."""
    dispatcher = njit(nogil=True, fastmath=SUMS, error_model="numpy")(func)
    if not INTERPRETED:
        with suppress(RuntimeError):  # no folder to write to: compile in every process
            dispatcher._cache = _FingerprintedCache(func)
    return dispatcher


def part(func):
    """Compile `func` into the kernels that call it: a call would cost more than the work."""
    return njit(nogil=True, fastmath=SUMS, error_model="numpy", forceinline=True)(func)


def exact(func):
    """Compile a small function into its callers; its roundings stay as they are written."""
    return njit(nogil=True, fastmath={"contract"}, error_model="numpy", forceinline=True)(func)


def entry(dispatcher, *args):
    """Return the machine code of a kernel for arguments of these types, without type checks.

    Working out the types of nested tuples takes longer than one row does. The caller must
    pass arguments of just these types: contiguous, writable arrays of the same dtype and rank.
    """
    if INTERPRETED:
        return dispatcher
    return dispatcher.compile(tuple(numba.typeof(arg) for arg in args))
