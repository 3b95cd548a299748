"""Kernels on disk: right after an edit anywhere, silent when warm or when they came along."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import infinimix
from infinimix.kernels import cache
from infinimix.kernels.cache import compiled_sources, digest_code, machine_code_alone
from infinimix.kernels.compile import INTERPRETED, kernel

PACKAGE = Path(infinimix.__file__).parent
ROOMS = ("kernels", "families", "partitions", "inference")
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
    """A copy of the compiled rooms that may be edited."""
    target = tmp_path / "infinimix"
    target.mkdir()
    for file in ("__init__.py", "later.py"):
        shutil.copy(PACKAGE / file, target)
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__", "ahead_of_time")
        shutil.copytree(PACKAGE / room, target / room, ignore=ignored)
    return target


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


def test_a_cold_start_speaks_a_warm_one_is_silent_an_edit_counts(package):
    """The edit is in a family; the cached kernel that has it inlined is in another file."""
    cold, said = run(package)
    assert said.count("infinimix: compiling") == 1
    warm, said = run(package)
    assert warm == cold
    assert said == ""
    source, old = package / "families" / "bernoulli.py", "log_ratio(ones, zeros)"
    edit(source, old, old.replace("ones", "2.0 * ones"))
    edited, said = run(package)
    assert "infinimix: compiling" in said
    assert edited > cold + 0.5


def code_of(package):
    return digest_code(compiled_sources(package))


@pytest.fixture
def parsed_once(monkeypatch):
    """Let text that was parsed before not be parsed again."""
    monkeypatch.setattr(cache, "compile", functools.cache(compile), raising=False)
    monkeypatch.setattr(cache, "_describe", functools.cache(cache._describe))


@pytest.mark.parametrize("room", ROOMS)
def test_every_compiled_source_counts(package, room, parsed_once):
    seen = {code_of(package)}
    names = [name for name, _ in compiled_sources(package) if name.startswith(f"{room}/")]
    assert names
    for name in names:
        path = package / name
        path.write_text(path.read_text() + "more = 1\n")
        seen.add(code_of(package))
    assert len(seen) == 1 + len(names)


@pytest.mark.parametrize("room", ROOMS)
def test_comments_docstrings_and_line_numbers_do_not_count(package, room):
    before = code_of(package)
    for name, text in compiled_sources(package):
        if name.startswith(f"{room}/"):
            first, _, rest = text.decode().partition('"""')
            edited = f'# a remark\n\n{first}"""More words. {rest}# another\n'
            (package / name).write_text(edited)
    assert code_of(package) == before


def test_sources_without_compiled_code_do_not_count(package):
    names = {name for name, _ in compiled_sources(package)}
    filters = "inference/partition/resampling/optimal.py"
    assert {filters, "families/bernoulli.py", "kernels/compile.py"} <= names
    assert "inference/online_crp/model.py" in names  # its constants are compiled into others
    assert "inference/finite/storage.py" not in names


def test_the_fingerprint_does_not_depend_on_the_place(package):
    here = compiled_sources()
    there = [(name, text) for name, text in here if name.startswith(ROOMS)]
    assert code_of(package) == digest_code(there)


def test_every_source_with_kernels_counts():
    """Else an edit to it would run stale machine code."""
    known = {name for name, _ in compiled_sources()}
    files = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")
             if b"from infinimix.kernels.compile import" in path.read_bytes()]  # fmt: skip
    assert "papers/m2dpm/dpmnl_moves.py" in files
    assert not set(files) - known


def test_the_fingerprint_does_not_depend_on_the_process():
    """Sets are in another order in every process, and constants may be sets."""
    script = "from infinimix.kernels.cache import *; print(digest_code(compiled_sources()))"
    found = {f"{digest_code(compiled_sources())}\n"}
    for seed in "12":
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(PACKAGE.parent)}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_the_fingerprint_is_noted_and_found_again(monkeypatch, tmp_path):
    """Parsing is for the first process; bytes that were never seen are parsed anew."""
    monkeypatch.setattr(cache, "_note", lambda: tmp_path / "note.txt")
    found = cache.fingerprint.__wrapped__()
    monkeypatch.setattr(cache, "digest_code", lambda sources: "parsed again")
    assert cache.fingerprint.__wrapped__() == found
    monkeypatch.setattr(cache, "room_sources", lambda: {"a.py": b"x = 1"})
    assert cache.fingerprint.__wrapped__() == "parsed again"


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
