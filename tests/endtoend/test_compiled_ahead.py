"""What users reach is compiled ahead of time: a fresh installation compiles nothing.

And it gives back all memory that compiled code asks for: much of it counts no references.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from infinimix.kernels import ahead, cache

COUNTING = """
import gc, runpy, sys
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

rtsys.initialize(cpu_target.target_context)
runpy.run_path(sys.argv[1], run_name="__main__")
gc.collect()
counted = rtsys.get_allocation_stats()
print(counted.mi_alloc, counted.mi_alloc - counted.mi_free, counted.alloc - counted.free)
"""


def shipped():
    """Return whether kernels of these very sources, for this processor, stand beside them."""
    note, answer = ahead.FOLDER / cache.NOTE, json.dumps(cache.fingerprints(), sort_keys=True)
    return bool(ahead.processors()) and note.is_file() and answer in note.read_text("ascii")


@pytest.mark.skipif(not shipped(), reason="no kernels of these sources are there: make compiles")
def test_broad_use_compiles_nothing_and_keeps_no_memory(tmp_path):
    script = Path(__file__).with_name("broad_use.py")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_NRT_STATS": "1"}
    command = [sys.executable, "-c", COUNTING, script]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    compiled = [path.name.rsplit(".", 3)[0] for path in tmp_path.rglob("*.nbc")]
    assert compiled == [], "add a use of these to cli/workloads.py"
    made, *left = map(int, done.stdout.split()[-3:])
    assert made > 100_000
    assert left == [0, 0], "compiled code keeps arrays that nobody needs"
