"""Machine code that comes with an installation, so that the first call compiles nothing.

`python -m infinimix.kernels.ahead` compiles all kernels for a processor that nearly every machine
of its architecture is compatible with (`LEVELS`), and keeps them beside this file. `make` and
`pip install -e .` do so, and every wheel that pip builds brings them (`hatch_build.py`). They are
looked up before the cache on disk: with one installation the same machine code runs at all times,
whatever was compiled before. On an older processor, with another Python or numba, or after an edit
there is nothing to find, and kernels compile when they are first called.
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
# By architecture: LLVM's name of the processor, and what a machine must have to run its code.
LEVELS = {
    "x86_64": ("x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe popcnt sse4.2 xsave".split()),
    "aarch64": ("generic", []),
    "arm64": ("generic", []),
}


def level():
    """Return LLVM's name of the processor that kernels are compiled for, or None."""
    return LEVELS.get(_architecture(), (None,))[0]


def _architecture():
    return {"AMD64": "x86_64"}.get(platform.machine(), platform.machine())


@cache
def processor():
    """Return the identity of shipped machine code that this machine can run, or None."""
    if not FOLDER.is_dir():
        return None
    name, needed = LEVELS.get(_architecture(), (None, []))
    has = llvm.get_host_cpu_features() if needed else {}
    if name is None or not all(has.get(feature) for feature in needed):
        return None
    return llvm.get_process_triple(), name, ""


def build(folder, command=("-m", "infinimix", "warm-up")):
    """Run Python with an empty cache and keep in a folder all that it compiles."""
    if level() is None:
        raise SystemExit(f"infinimix: no common processor is known for {platform.machine()}")
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {
            "NUMBA_CACHE_DIR": scratch,
            "NUMBA_CPU_NAME": level(),
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
