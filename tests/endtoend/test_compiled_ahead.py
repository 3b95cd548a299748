"""What users reach is compiled ahead of time: a fresh installation compiles nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infinimix.kernels import ahead, cache


def shipped():
    """Return whether kernels of these very sources, for this processor, stand beside them."""
    named = f"*.{cache.fingerprint()[:24]}.nbc"
    return ahead.processor() is not None and any(ahead.FOLDER.glob(named))


@pytest.mark.skipif(not shipped(), reason="no kernels of these sources are there: make compiles")
def test_broad_use_compiles_nothing(tmp_path):
    script = Path(__file__).with_name("broad_use.py")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, script], env=environment, check=True)
    compiled = [path.name.rsplit(".", 3)[0] for path in tmp_path.rglob("*.nbc")]
    assert compiled == [], "add a use of these to cli/workloads.py"
