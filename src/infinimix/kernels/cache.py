"""Machine code on disk: found again by its types, the processor and a fingerprint of the sources.

numba's own disk cache watches only the file of the cached function, so after an edit to a function
that is compiled into others it would run stale machine code; and processes that compile at the same
time may mix up its numbered files. Here each kernel and signature has a file of its own, whose name
holds a hash of all that the machine code depends on: types, processor, numba, Python, and every
source that is compiled. Comments and docstrings are no part of that hash.
"""

import hashlib
import os
import pickle
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType

import llvmlite.binding as llvm
import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from infinimix.kernels import ahead

PACKAGE = Path(__file__).resolve().parents[1]
COMPILED_ROOMS = (
    "kernels", "families", "partitions", "inference", "tables", "maxmargin", "networks/engine",
    "papers/m2dpm",
)  # fmt: skip
IMPORT = re.compile(rb"^\s*from (infinimix[\w.]*) import ([\w, ]+)", re.MULTILINE)
NOTE = "infinimix-sources.txt"  # beside the machine code: what sources were parsed, and their hash
PYTHON = sys.implementation.cache_tag


def room_sources(package=PACKAGE):
    """Return the names and bytes of all files in rooms with compiled code."""
    texts, root = {}, os.fspath(package)
    for room in COMPILED_ROOMS:
        for folder, _, names in os.walk(os.path.join(root, *room.split("/"))):
            place = os.path.relpath(folder, root).replace(os.sep, "/")
            for name in names:
                if name.endswith(".py"):
                    with open(os.path.join(folder, name), "rb") as file:
                        texts[f"{place}/{name}"] = file.read()
    return texts


def compiled_sources(package=PACKAGE, texts=None):
    """Return the names and bytes of the files with compiled code, and of what these import.

    A file has compiled code if it imports from `kernels`; constants may come from other files.
    `texts` are those of all rooms, if they are at hand.
    """
    texts = room_sources(package) if texts is None else texts
    waiting = [name for name in texts if b"infinimix.kernels" in texts[name]]
    waiting += [name for name in texts if name.startswith("kernels/")]
    found = {}
    while waiting:
        name = waiting.pop()
        if name in texts and name not in found:
            found[name] = texts[name]
            for module, names in IMPORT.findall(texts[name]):
                place = module.decode().removeprefix("infinimix").lstrip(".").replace(".", "/")
                members = [f"/{member.strip()}" for member in names.decode().split(",")]
                waiting += [f"{place}{member}.py" for member in ("", *members)]
    return sorted(found.items())


def digest_code(sources):
    """Hash what sources do: their bytecode without docstrings, comments and line numbers."""
    digest = hashlib.sha256()
    for name, text in sources:
        code = compile(text, name, "exec", dont_inherit=True, optimize=2)
        digest.update(f"{name}\n{_describe(code)!r}\n".encode())
    return digest.hexdigest()


def _describe(code):
    consts = [_describe_constant(c) for c in code.co_consts]
    return code.co_name, code.co_code, consts, code.co_names, code.co_varnames


def _describe_constant(value):
    if isinstance(value, CodeType):
        return _describe(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else value  # in no order


@cache
def fingerprint():
    """Return the hash of all compiled code.

    Parsing takes as long as a small fit, so the answer for these very bytes is noted on disk.
    """
    texts, raw = room_sources(), hashlib.sha256(PYTHON.encode())
    for name, text in sorted(texts.items()):
        raw.update(f"{name} {len(text)}\n".encode())
        raw.update(text)
    key, note = f"{raw.hexdigest()} ", _note()
    for known in (ahead.FOLDER / NOTE, note):
        with suppress(OSError):
            for line in known.read_text(encoding="ascii").splitlines():
                if line.startswith(key):
                    return line.removeprefix(key)
    found = digest_code(compiled_sources(texts=texts))
    with suppress(OSError), note.open("a", encoding="ascii") as file:
        file.write(f"{key}{found}\n")
    return found


def _note():
    """Return the file of hashes, in the folder that numba chooses."""
    try:
        return Path(FunctionCache(_describe).cache_path) / NOTE
    except RuntimeError:  # no folder to write to: parse in every process
        return Path(os.devnull)


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
        return f"{name}.{fingerprint()[:24]}.nbc"

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
