"""The disk cache of kernels: right after an edit anywhere, silent when warm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import infinimix
from infinimix.kernels import compile as door

PACKAGE = Path(infinimix.__file__).parent
ROOMS = ("kernels", "families", "partitions", "inference")
SCRIPT = """
import numpy as np
from infinimix.families import BetaBernoulli
from infinimix.inference.filter import ParticleFilter

family = BetaBernoulli(np.full((2, 2), 0.5))
f = ParticleFilter(family, 1.0, 1, "multinomial", None, np.random.default_rng(0), slots=1)
f.update(np.array([[1, 0], [1, 1]], np.int8), np.arange(2))
print(f.log_evidence())
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the compiled rooms that may be edited."""
    target = tmp_path / "infinimix"
    target.mkdir()
    shutil.copy(PACKAGE / "__init__.py", target)
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PACKAGE / room, target / room, ignore=ignored)
    return target


def run(package):
    """Filter two rows in a fresh process; return the evidence and what was said."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    env |= {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(package.parent / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, cwd=package.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout), done.stderr


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_a_cold_start_speaks_a_warm_one_is_silent_an_edit_counts(package):
    """The edit is in a family; the cached kernel that has it inlined is in another file."""
    cold, said = run(package)
    assert said.count("infinimix: compiling") == 1
    warm, said = run(package)
    assert warm == cold
    assert said == ""
    edit(package / "families" / "bernoulli.py", "log(ones / zeros)", "log(2.0 * ones / zeros)")
    edited, said = run(package)
    assert "infinimix: compiling" in said
    assert edited > cold + 0.5


@pytest.mark.parametrize("room", ROOMS)
def test_every_source_of_a_compiled_room_counts(package, room, monkeypatch):
    monkeypatch.setattr(door, "__file__", str(package / "kernels" / "compile.py"))
    fingerprint = door.fingerprint.__wrapped__
    seen = {fingerprint()}
    for path in sorted((package / room).glob("*.py")):
        path.write_text(path.read_text() + "# a remark\n")
        seen.add(fingerprint())
    assert len(seen) == 1 + len(list((package / room).glob("*.py")))
    (package / room / "more.py").write_text("")
    assert fingerprint() not in seen


def test_the_fingerprint_does_not_depend_on_the_place(package, monkeypatch):
    here = door.fingerprint.__wrapped__()
    ignored = shutil.ignore_patterns("__pycache__")
    for room in door.COMPILED_ROOMS:
        if not (package / room).exists():
            shutil.copytree(PACKAGE / room, package / room, ignore=ignored)
    monkeypatch.setattr(door, "__file__", str(package / "kernels" / "compile.py"))
    assert door.fingerprint.__wrapped__() == here
