"""Machine code on disk: found again by its types, the processor and a fingerprint of the sources.

numba's own disk cache watches only the file of the cached function, so after an edit to a function
that is compiled into others it would run stale machine code; and processes that compile at the same
time may mix up its numbered files. Here each kernel and signature has a file of its own, whose name
holds a hash of all that the machine code depends on: types, processor, numba, Python, and the
sources that it can come from (`dependencies`). So an edit recompiles what depends on the edited
file. Comments and docstrings are no part of that hash.
"""

import gc
import hashlib
import json
import os
import pickle
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.event import Listener, register
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from infinimix.kernels import ahead, dependencies
from infinimix.kernels.origins import origins
from infinimix.kernels.sources import find_file

NOTE = "infinimix-sources.txt"  # beside the machine code: what sources were parsed, and the answer
STATES = 20  # of the sources, which are noted
PYTHON = sys.implementation.cache_tag


@cache
def fingerprints():
    """Return for each file a hash of all that its kernels depend on, and one of all sources.

    Parsing takes as long as a small fit, so the answer for these very bytes is noted on disk.
    """
    texts, raw = dependencies.read_sources(), hashlib.sha256(PYTHON.encode())
    for name, text in sorted(texts.items()):
        raw.update(f"{name} {len(text)}\n".encode())
        raw.update(text)
    key, note = f"{raw.hexdigest()} ", _note()
    for known in (ahead.FOLDER / NOTE, note):
        for line in _lines(known):
            if line.startswith(key):
                return json.loads(line.removeprefix(key))
    found = dependencies.fingerprints(dependencies.parse(texts))
    _remember(note, f"{key}{json.dumps(found, sort_keys=True)}")
    return found


def _lines(note):
    try:
        return note.read_text(encoding="ascii").splitlines()
    except OSError:
        return []


def _remember(note, line):
    """Write a line to the file of notes, where the latest are kept."""
    half = note.with_suffix(f".{os.getpid()}.half")
    with suppress(OSError):
        half.write_text("\n".join([*_lines(note)[1 - STATES :], line, ""]), encoding="ascii")
        half.replace(note)


def _note():
    """Return the file of notes, in the folder that numba chooses."""
    try:
        return Path(FunctionCache(fingerprints.__wrapped__).cache_path) / NOTE
    except RuntimeError:  # no folder to write to: parse in every process
        return Path(os.devnull, NOTE)


def fingerprint(modules):
    """Return a hash of all sources that a kernel depends on which comes from these modules."""
    found = sorted({_fingerprint_of(module) for module in modules})
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()[:24]


def _fingerprint_of(module):
    """Return that of one module; what is not ours may call all that is."""
    known = fingerprints()
    file = find_file(module, known)
    if file is not None:
        return known[file]
    path = Path(getattr(sys.modules.get(module), "__file__", None) or os.devnull)
    text = path.read_bytes() if path.is_file() else b""
    return hashlib.sha256(known[dependencies.ALL].encode() + text).hexdigest()[:24]


_ANNOUNCED = False


def hush():
    """Say nothing of compiling in this process."""
    global _ANNOUNCED
    _ANNOUNCED = True


def announce():
    """Say once that a cold start compiles, and how long, so that a pause is understood."""
    if _ANNOUNCED:
        return
    hush()
    print(
        "infinimix: compiling kernels for this call (2 to 15 seconds of CPU time, for a network "
        "half a minute; longer on a busy computer; once: later runs load them from disk, and "
        "`infinimix warm-up` compiles everything now)",
        file=sys.stderr,
    )


class NoCollection(Listener):
    """While numba compiles garbage is not collected: that took a tenth of the time.

    All of numba's compilations are told of; those inside others are only counted.
    """

    _depth, _was_on = 0, False

    def on_start(self, event):
        """Turn the collector off, if this is the outermost function."""
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event):
        """Turn it on again, also after an error."""
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


@cache
def compile_without_collection():
    """Ask numba to tell of what it compiles from now on; it compiles in one thread at a time."""
    register("numba:compile", NoCollection())


def machine_code_alone(reduced):
    """Return a kernel as numba reduces it to a file, without what only a compiler would read.

    That is its LLVM code, for callers to inline, and the types of all its variables as text. A
    kernel from disk is called by Python and by address alone: for compiled code there is its other
    form (`compile.Kernel.inner`). To read them took half of the time of loading. The names of the
    functions that are called stay, as numba looks there for what a library has.
    """
    (name, kind, code), description, *middle, _, reload_init, environments = reduced
    if kind == "object":
        called = description.llvm_func_name, description.llvm_cpython_wrapper_name
        code = code[0], _names_alone(code[1], called)
    return (name, kind, code), description, *middle, "", reload_init, environments


def _names_alone(bitcode, wanted):
    """Return a module of empty functions with those of the wanted names that a module has."""
    module = llvm.parse_bitcode(bitcode)
    names = [f.name for f in module.functions if f.name in wanted and not f.is_declaration]
    text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
    return llvm.parse_assembly(text).as_bitcode()


class KernelCache(FunctionCache):
    """The machine code of one function, a file for each signature; a miss is announced."""

    def _named(self, sig, processor):
        func = self._py_func
        own = func.__module__, func.__qualname__, func.__code__.co_code
        parts = repr((sig, processor, numba.__version__, PYTHON, own, config.BOUNDSCHECK))
        key = hashlib.sha256(parts.encode()).hexdigest()
        name = f"{Path(func.__code__.co_filename).stem}.{func.__qualname__}.{key[:24]}"
        return f"{name}.{fingerprint(origins(func, sig))}.nbc"

    def _file(self, sig, codegen):
        return Path(self._cache_path) / self._named(sig, codegen.magic_tuple())

    def _read(self, sig, codegen):
        """Return what came with the wheel, or what is on disk; raise OSError if neither."""
        for shipped in ahead.processors():
            with suppress(OSError):
                return (ahead.FOLDER / self._named(sig, shipped)).read_bytes()
        return self._file(sig, codegen).read_bytes()

    def load_overload(self, sig, target_context):
        """Load what is on disk without all that only a compiler needs.

        numba's own would import and install its implementation of NumPy here, a fifth of a second
        in every process. Machine code needs the runtime that counts references; whoever compiles
        after a miss has numba install the rest.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _load_overload(self, sig, target_context):
        try:
            data = self._read(sig, target_context.codegen())
        except OSError:
            announce()
            compile_without_collection()
            return None
        return self._impl.rebuild(target_context, pickle.loads(data))

    def _save_overload(self, sig, data):
        if not self._impl.check_cachable(data):
            return
        self._impl.locator.ensure_cache_path()
        path = self._file(sig, data.codegen)
        for old in path.parent.glob(f"{Path(path.stem).stem}.*.nbc"):
            old.unlink(missing_ok=True)  # of sources as they were
        half = path.with_suffix(f".{os.getpid()}.half")  # never half a file under its name
        half.write_bytes(dumps(machine_code_alone(self._impl.reduce(data))))
        half.replace(path)
