"""The same kernel bodies, interpreted, do the same as compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from infinimix.inference.partition.population import COPIES, SIZE, UNIQUE
from tests.oracle.enumeration import Enumeration
from tests.oracle.worlds import WORLDS, log_density, run

ROOT = Path(__file__).resolve().parents[2]
CASES = [
    (resampling, size, bound)
    for resampling in ("optimal", "lookahead", "multinomial", "systematic")
    for size, bound in ((1, None), (8, None), (8, 2))
]


def answers():
    """What the filters hold and say after three times seven mixed rows with holes."""
    return [answer for name in ("product-holes", "gaussian-holes") for answer in answers_in(name)]


def answers_in(name):
    world = WORLDS[name]
    world = world._replace(X=tuple(np.tile(x, (3, 1)) for x in world.X))
    world.X[-1][[5, 8], 1] = np.nan  # in a gaussian block, rows that miss some cells
    found = []
    for resampling, size, bound in CASES:
        f, z = run(world, 1.3, size, resampling, 3, bound)
        held = [f.groups[r, : f.particles[SIZE, r]].tolist() for r in range(f.counters[UNIQUE])]
        copies = f.particles[COPIES, : f.counters[UNIQUE]].tolist()
        whole = {"held": held, "copies": copies, "z": z.tolist(), "tally": f.counters.tolist()}
        weights = [*f.weights().tolist(), f.log_evidence(), *log_density(f, world.Y).tolist()]
        f.retarget(tuple(g._replace(prior=2.0 * g.prior) for g in f.family), f.alpha)
        found.append([whole, [*weights, f.log_evidence(), *log_density(f, world.Y).tolist()]])
    return found


def test_interpreted_equals_compiled():
    code = "import json, tests.oracle.test_interpreted as test\nprint(json.dumps(test.answers()))"
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    interpreted = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert interpreted.returncode == 0, interpreted.stderr
    assert "compiling" not in interpreted.stderr
    for case, one, other in zip(CASES * 2, json.loads(interpreted.stdout), answers(), strict=True):
        assert one[0] == other[0], case
        np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-9, err_msg=str(case))


def test_changed_hyper_parameters_give_the_new_evidence():
    """What the answers above end with is right as well, not only the same."""
    world = WORLDS["product-holes"]
    f, _ = run(world, 1.3, 877, "optimal")
    f.retarget(tuple(g._replace(prior=2.0 * g.prior) for g in f.family), f.alpha)
    truth = Enumeration(f.family, world.X, 1.3)
    assert f.log_evidence() == pytest.approx(truth.log_evidence, abs=1e-6)
