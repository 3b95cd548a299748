"""Kernels compiled ahead of time: found without a cache, and only where they can run."""

import os
import subprocess
import sys

import pytest

from infinimix.kernels import ahead

find_levels = ahead.levels.__wrapped__  # each time anew
CALL = """
import numpy as np
from infinimix.kernels.draws import invert
print(invert(np.array([0.5, 0.5]), 2, 0.7))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One small kernel, compiled for the common processor."""
    folder = tmp_path_factory.mktemp("kernels") / "ahead"
    ahead.build(folder, ("-c", CALL))
    return folder


def run(folder, cache):
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "INFINIMIX_AHEAD": str(folder)}
    command = [sys.executable, "-c", CALL]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True)


def test_a_first_call_compiles_nothing(folder, tmp_path):
    done = run(folder, tmp_path)
    assert done.stdout == "1\n"
    assert done.stderr == ""
    assert list(tmp_path.rglob("*.nbc")) == []


def test_without_them_it_compiles_and_says_so(tmp_path):
    done = run(tmp_path / "none", tmp_path)
    assert done.stdout == "1\n"
    assert "compiling kernels" in done.stderr
    assert len(list(tmp_path.rglob("*.nbc"))) == 1


@pytest.fixture
def machine(monkeypatch, folder):
    """Let this be a machine of an architecture, with some features."""

    def become(architecture, *features):
        monkeypatch.setattr(ahead, "FOLDER", folder)
        monkeypatch.setattr(ahead.platform, "machine", lambda: architecture)
        monkeypatch.setattr(ahead.llvm, "get_host_cpu_features", lambda: dict.fromkeys(features, 1))
        monkeypatch.setattr(ahead, "levels", find_levels)
        return [name for _, name, _ in ahead.processors.__wrapped__()]

    return become


def test_a_processor_runs_code_of_those_that_it_is_compatible_with(machine):
    (_, newest), (_, older), _ = ahead.LEVELS["x86_64"]
    assert machine("x86_64", *newest) == ["x86-64-v3", "x86-64-v2", "x86-64"]
    assert machine("AMD64", *newest) == ["x86-64-v3", "x86-64-v2", "x86-64"]
    assert machine("x86_64", *older, "avx") == ["x86-64-v2", "x86-64"]
    assert machine("x86_64", "sse2") == ["x86-64"]
    assert machine("aarch64") == machine("riscv64") == ["generic"]


def test_a_machine_compiles_for_itself_if_it_is_an_old_one(machine, monkeypatch, tmp_path):
    built = []
    monkeypatch.setattr(ahead.subprocess, "run", lambda *_, env, check: built.append(env))
    for features in [(), ahead.LEVELS["x86_64"][1][1], ahead.LEVELS["x86_64"][0][1]]:
        machine("x86_64", *features)
        ahead.build(tmp_path / "kernels")
    names = [env["NUMBA_CPU_NAME"] for env in built]
    assert names == ["x86-64", "x86-64-v2", "x86-64-v3"]


@pytest.mark.skipif("x86-64" not in ahead.levels(), reason="one level of processors is known here")
def test_kernels_of_an_older_machine_serve_a_newer_one(tmp_path):
    code = f"""
from pathlib import Path
from infinimix.kernels import ahead
ahead.levels = lambda: ["x86-64"]
ahead.build(Path("older"), ("-c", {CALL!r}))
"""
    environment = os.environ | {"INFINIMIX_AHEAD": "none"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    done = run(tmp_path / "older", tmp_path / "cache")
    assert done.stdout == "1\n"
    assert done.stderr == ""


def test_nothing_was_shipped(monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "FOLDER", tmp_path / "none")
    assert ahead.processors.__wrapped__() == []
