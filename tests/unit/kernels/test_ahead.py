"""Kernels compiled ahead of time: found without a cache, and only where they can run."""

import os
import subprocess
import sys

import pytest

from infinimix.kernels import ahead

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


def test_a_processor_without_the_instructions_does_not_run_them(folder, monkeypatch):
    monkeypatch.setattr(ahead, "FOLDER", folder)
    find = ahead.processor.__wrapped__
    assert find()[1] == ahead.level()
    monkeypatch.setattr(ahead, "LEVELS", {ahead._architecture(): ("new", ["not there"])})
    assert find() is None
    monkeypatch.setattr(ahead, "LEVELS", {})
    assert find() is None
    with pytest.raises(SystemExit, match="no common processor"):
        ahead.build(folder)


def test_nothing_was_shipped(monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "FOLDER", tmp_path / "none")
    assert ahead.processor.__wrapped__() is None
