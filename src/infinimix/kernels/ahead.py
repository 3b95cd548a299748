"""Machine code that comes with an installation, so that the first call compiles nothing.

`python -m infinimix.kernels.ahead` compiles all kernels for a processor that nearly every machine
of its architecture is compatible with, or for an older one if this machine is none of these
(`LEVELS`), and keeps them beside this file. `make` and `pip install -e .` do so, and every wheel
that pip builds brings them (`hatch_build.py`). They are looked up before the cache on disk: with
one installation the same machine code runs at all times, whatever was compiled before. On an older
processor than that of the build, or with another Python or numba, there is nothing to find, and
after an edit nothing that depends on the edited file: such kernels compile when first called.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

VARIABLE = "INFINIMIX_AHEAD"  # another folder of kernels, or "none"
FOLDER = Path(os.environ.get(VARIABLE) or Path(__file__).with_name("ahead_of_time"))
# By architecture, newest first: LLVM's name of a processor, and what a machine must have to run
# its code. Nearly all that are in use run that of the first.
LEVELS = {
    "x86_64": (
        ("x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe popcnt sse4.2 xsave".split()),
        ("x86-64-v2", "popcnt sse4.2".split()),
        ("x86-64", []),
    ),
}  # type: dict[str, tuple[tuple[str, list[str]], ...]]
OTHERS = (("generic", []),)  # type: tuple[tuple[str, list[str]], ...]


def _architecture():
    return {"AMD64": "x86_64"}.get(platform.machine(), platform.machine())


@cache
def levels():
    """Return LLVM's names of the processors whose code this machine can run, newest first."""
    known = LEVELS.get(_architecture(), OTHERS)
    has = llvm.get_host_cpu_features() if len(known) > 1 else {}
    return [name for name, needed in known if all(has.get(feature) for feature in needed)]


@cache
def processors():
    """Return the identities of machine code that was shipped and that this machine can run."""
    if not FOLDER.is_dir():
        return []
    return [(llvm.get_process_triple(), name, "") for name in levels()]


def build(folder, command=("-m", "infinimix", "warm-up")):
    """Run Python with an empty cache and keep in a folder all that it compiles."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {
            "NUMBA_CACHE_DIR": scratch,
            "NUMBA_CPU_NAME": levels()[0],
            "NUMBA_CPU_FEATURES": "",
            VARIABLE: "none",
        }
        subprocess.run([sys.executable, *command], env=environment, check=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in [*Path(scratch).rglob("*.nbc"), *Path(scratch).rglob("*.txt")]:
            shutil.copyfile(path, folder / path.name)


if __name__ == "__main__":
    build(FOLDER)
