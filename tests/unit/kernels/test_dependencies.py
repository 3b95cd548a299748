"""Which kernels an edit recompiles: those that its file can be compiled into, and few others."""

import json
import os
import subprocess
import sys

import pytest

from infinimix.kernels import dependencies
from infinimix.kernels.compile import INTERPRETED
from infinimix.kernels.dependencies import (
    ALL,
    closure,
    find_links,
    fingerprints,
    parse,
    read_sources,
)
from infinimix.kernels.sources import SourceFile

MAKERS = b"from infinimix.kernels.compile import", b"@engine"
REGISTRIES = b"@overload", b"register_model(", b"@infer", b"@lower", b"typeof_impl", b"@unbox"
WORKLOAD = """
import numpy as np
from infinimix.families import BetaBernoulli
from infinimix.families.product import score_slots
from infinimix.families.seam import empty
from infinimix.families.words import SAMPLED, empty_words, new_words
from infinimix.networks.engine.graphs import reaches

family, log_density = BetaBernoulli(np.full((2, 2), 0.5)), np.zeros((1, 1))
stats = empty(family, 1)
score_slots(family, stats, np.array([[1, 0]], np.int8), np.array([0]), log_density)
empty_words(new_words(0.5, SAMPLED), 2, 2)
reaches(np.zeros((2, 1), np.uint64), 0, 1)
"""


@pytest.fixture(scope="module")
def texts():
    return read_sources()


@pytest.fixture(scope="module")
def sources(texts):
    return parse(texts)


@pytest.fixture(scope="module")
def before(sources):
    return fingerprints(sources)


@pytest.fixture
def edit(texts, sources, before):
    """Return the files with kernels that have another fingerprint after an edit."""

    def edited(name, old, new):
        assert texts[name].count(old) == 1
        text = texts[name].replace(old, new)
        after = fingerprints(sources | {name: SourceFile(name, text, texts)})
        assert (after[ALL] == before[ALL]) == (after == before)
        return {
            name for name, text in texts.items()
            if after[name] != before[name] and any(maker in text for maker in MAKERS)
        }  # fmt: skip

    return edited


def rooms(names):
    return {
        next(room for room in dependencies.ROOMS if name.startswith(f"{room}/")) for name in names
    }


# --- edits --------------------------------------------------------------------------------------


def test_an_edit_of_trees_recompiles_trees_alone(edit):
    trees = edit("inference/trees/growth.py", b"LEAST_GAIN = 1e-9", b"LEAST_GAIN = 1e-8")
    assert trees == {"inference/trees/growth.py", "inference/trees/paths.py"}


def test_an_edit_of_networks_recompiles_no_mixture(edit):
    edited = edit("networks/engine/graphs.py", b"import numpy", b"x = 1\nimport numpy")
    assert rooms(edited) == {"networks/engine"}


def test_an_edit_of_a_family_recompiles_no_engine_and_no_other_family(edit):
    """They call through addresses; only files that import all families are compiled again."""
    edited = edit("families/bernoulli.py", b"import numpy", b"x = 1\nimport numpy")
    assert "families/bernoulli.py" in edited
    assert [name for name in edited if name.startswith("families/")] == ["families/bernoulli.py"]
    assert rooms(edited) == {"families", "inference"}
    engines = {"families/product.py", "inference/partition/gibbs.py", "inference/partition/live.py"}
    assert not edited & engines


def test_an_edit_of_what_dispatches_recompiles_all_who_call_operations(edit):
    edited = edit("families/tuples.py", b"import numpy", b"x = 1\nimport numpy")
    assert {"families/bernoulli.py", "inference/partition/gibbs.py"} <= edited
    assert not rooms(edited) & {"networks/engine", "tables", "partitions"}


def test_an_edit_of_kernels_recompiles_all(edit, texts):
    edited = edit("kernels/elementary.py", b"TINIEST_LOG = -708.0", b"TINIEST_LOG = -707.0")
    assert edited == {name for name in texts if any(maker in texts[name] for maker in MAKERS)}
    assert "papers/m2dpm/dpmnl_moves.py" in edited
    assert len(edited) > 80


def test_constants_of_files_without_kernels_count(edit):
    edited = edit("inference/online_crp/model.py", b"import numpy", b"x = 1\nimport numpy")
    assert "inference/online_crp/step.py" in edited
    assert not edited & {"inference/online_crp/novelty.py", "families/product.py"}


# --- conservative -------------------------------------------------------------------------------


def test_all_that_kernels_import_is_known(texts):
    """Else a file would have to be a room, or move: an edit there would go unnoticed."""
    every = {
        path.relative_to(dependencies.ROOT).as_posix(): path.read_bytes()
        for path in dependencies.ROOT.rglob("*.py")
    }
    makers = {name for name, text in every.items() if any(maker in text for maker in MAKERS)}
    links = find_links({name: SourceFile(name, texts[name], every) for name in texts})
    needed = set().union(*[closure(links, name) for name in makers])
    assert needed <= texts.keys()
    serving = {n for n, text in every.items() if b".implement(" in text} - {"kernels/dispatch.py"}
    assert serving <= texts.keys()


def test_numba_is_told_of_types_where_every_kernel_that_meets_them_depends_on_it(texts):
    """In `kernels`, or where the class of the type is: that is among the origins of a kernel."""
    telling = {
        name for name, text in texts.items()
        if b"numba" in text and any(word in text for word in REGISTRIES)
    }  # fmt: skip
    outside = {name for name in telling if not name.startswith("kernels/")}
    assert outside == {"networks/engine/packs.py"}


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_what_numba_compiled_into_a_kernel_is_among_its_dependencies(tmp_path):
    """An oracle that looks on while numba compiles; by hand it has seen all of `warm-up`."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "INFINIMIX_AHEAD": "none"}
    command = [sys.executable, "-m", "tests.unit.kernels.watching", WORKLOAD]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    compiled = set()
    for name, said, files in map(json.loads, done.stdout.splitlines()):
        assert set(files) <= set(said), name
        compiled |= {(name, file) for file in files}
    assert ("score.BetaBernoulli", "families/bernoulli.py") in compiled
    assert ("refresh_of", "families/words.py") in compiled  # by the class of an argument
    assert ("reaches", "networks/engine/graphs.py") in compiled
