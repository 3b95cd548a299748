"""Kernels on disk: right after an edit anywhere, silent when warm or when they came along."""

import gc
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from numba.core.event import install_listener, trigger_event

import infinimix
from infinimix.kernels import cache, dependencies
from infinimix.kernels.cache import machine_code_alone
from infinimix.kernels.compile import INTERPRETED, kernel

PACKAGE = Path(infinimix.__file__).parent
FINGERPRINTS = """
from infinimix.kernels.dependencies import *
print(sorted(fingerprints(parse(read_sources())).items()))
"""
SCRIPT = """
import numpy as np
from infinimix.families import BetaBernoulli
from infinimix.families.product import refresh_all
from infinimix.families.seam import empty, score_rows

family, log_density = BetaBernoulli(np.full((2, 2), 0.5)), np.zeros((1, 1))
stats = empty(family, 1)
refresh_all(family, stats, 1)
score_rows(family, stats, np.array([0]), np.array([[1, 0]], np.int8), log_density)
print(log_density[0, 0])
"""


@pytest.fixture
def package(tmp_path):
    """A copy that may be edited."""
    ignored = shutil.ignore_patterns("__pycache__", "ahead_of_time")
    return Path(shutil.copytree(PACKAGE, tmp_path / "infinimix", ignore=ignored))


def run(package):
    """Score a row in a fresh process, with few kernels; return its density and what was said."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    env |= {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(package.parent / "cache")}
    env["INFINIMIX_AHEAD"] = "none"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, cwd=package.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout), done.stderr


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def kept(package):
    """Return the names of the files of kernels; they hold what these depend on."""
    return {path.name for path in (package.parent / "cache").rglob("*.nbc")}


def test_a_cold_start_speaks_a_warm_one_is_silent_an_edit_counts(package):
    """The edit is in a family; the cached kernel that has it inlined is in another file."""
    cold, said = run(package)
    assert said.count("infinimix: compiling") == 1
    warm, said = run(package)
    assert warm == cold
    assert said == ""
    before = kept(package)
    source, old = package / "families" / "bernoulli.py", "log_ratio(ones, zeros)"
    edit(source, old, old.replace("ones", "2.0 * ones"))
    edited, said = run(package)
    assert "infinimix: compiling" in said
    assert edited > cold + 0.5
    after = kept(package)
    assert len(after) == len(before)  # those of the sources as they were are gone
    assert {name for name in after - before if "BetaBernoulli" not in name} == set()
    assert {name for name in before & after if "BetaBernoulli" in name} == set()
    assert before & after  # of engines


def test_the_fingerprints_depend_neither_on_the_place_nor_on_the_process(package):
    """Sets are in another order in every process, and constants may be sets."""
    here = dependencies.fingerprints(dependencies.parse(dependencies.read_sources()))
    found = {f"{sorted(here.items())}\n"}
    for seed, place in ("1", PACKAGE), ("2", package):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(place.parent)}
        command = [sys.executable, "-c", FINGERPRINTS]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


@pytest.fixture
def note(monkeypatch, tmp_path):
    """Let answers be noted in a file of their own."""
    monkeypatch.setattr(cache.ahead, "FOLDER", tmp_path / "none")
    monkeypatch.setattr(cache, "_note", lambda: tmp_path / "note.txt")
    return tmp_path / "note.txt"


def test_the_fingerprints_are_noted_and_found_again(monkeypatch, note):
    """Parsing is for the first process; bytes that were never seen are parsed anew."""
    found = cache.fingerprints.__wrapped__()
    monkeypatch.setattr(dependencies, "parse", lambda texts: {})
    assert cache.fingerprints.__wrapped__() == found
    monkeypatch.setattr(dependencies, "read_sources", lambda: {"a.py": b"x = 1"})
    assert cache.fingerprints.__wrapped__() != found


def test_of_the_sources_as_they_were_the_latest_are_remembered(monkeypatch, note):
    for k in range(cache.STATES + 5):
        monkeypatch.setattr(dependencies, "read_sources", lambda k=k: {"a.py": b"x = %d" % k})
        cache.fingerprints.__wrapped__()
    assert len(note.read_text().splitlines()) == cache.STATES
    monkeypatch.setattr(dependencies, "parse", lambda texts: 1 / 0)
    cache.fingerprints.__wrapped__()
    assert [path.name for path in note.parent.iterdir()] == ["note.txt"]


def test_what_is_not_ours_depends_on_all_that_is(monkeypatch):
    """A function or a family of a user may call anything, and its own file counts."""
    everything = {dependencies.ALL: "all", "families/seam.py": "seam"}
    monkeypatch.setattr(cache, "fingerprints", lambda: everything)
    assert cache.fingerprint({"infinimix.families.seam"}) == "seam"
    theirs, unknown = cache.fingerprint({__name__}), cache.fingerprint({"infinimix.no_such_file"})
    both = cache.fingerprint({__name__, "infinimix.families.seam"})
    assert len({theirs, unknown, both, "all", "seam"}) == 5
    everything[dependencies.ALL] = "edited"
    assert cache.fingerprint({__name__}) != theirs


@kernel
def twice(x):
    return 2.0 * x


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_what_is_kept_on_disk_is_called_and_not_linked(monkeypatch):
    """The names of a kernel's functions stay, so that it is found; their LLVM code does not."""

    def nothing_on_disk(self, sig, codegen):  # an earlier run may have left it there
        raise FileNotFoundError

    monkeypatch.setattr(cache.KernelCache, "_read", nothing_on_disk)
    dispatcher = twice.dispatcher
    assert dispatcher(1.5) == 3.0
    (compiled,) = dispatcher.overloads.values()
    reduced = compiled._reduce()
    kept = machine_code_alone(reduced)
    assert len(kept) == len(reduced)
    assert kept[0][2][0] == reduced[0][2][0]  # the machine code
    module = llvm.parse_bitcode(kept[0][2][1])
    names = {f.name for f in module.functions}
    description = compiled.fndesc
    assert names == {description.llvm_func_name, description.llvm_cpython_wrapper_name}
    assert len(kept[0][2][1]) < len(reduced[0][2][1])
    again = type(compiled)._rebuild(compiled.target_context, *kept)
    assert again.entry_point(2.5) == 5.0


def test_garbage_waits_while_numba_compiles():
    """Functions within functions are told of, too, and errors end a compilation as well."""
    assert gc.isenabled()
    with install_listener("infinimix:test", cache.NoCollection()):
        with trigger_event("infinimix:test"), trigger_event("a test"):
            assert not gc.isenabled()
        assert gc.isenabled()
        with suppress(ZeroDivisionError), trigger_event("infinimix:test"):
            raise ZeroDivisionError
        assert gc.isenabled()
