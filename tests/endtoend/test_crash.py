"""A process that is killed while it learns: the next one has all that it said it had learned."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from infinimix import AClassClassifier
from infinimix.streaming import DurableLearner
from tests.conftest import N_SEEDS
from tests.unit.estimators.states import differences, state_of

PARAMETERS = {"columns": "real", "n_particles": 3, "n_islands": 1, "random_state": 0}
SCRIPT = """
import sys
from infinimix import AClassClassifier
from infinimix.streaming import DurableLearner

learner = DurableLearner(AClassClassifier(**{parameters}), sys.argv[1], snapshot_every=7)
while True:
    n = learner.n_rows
    learner.learn_one({{"x": float(n * n % 17), "y": float(n % 5)}}, n % 3)
    print(n + 1, flush=True)
"""


def test_a_killed_process_loses_nothing_that_it_has_confirmed(tmp_path):
    command = [sys.executable, "-c", SCRIPT.format(parameters=PARAMETERS), str(tmp_path)]
    for lines in (3, 20):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        confirmed = [int(process.stdout.readline()) for _ in range(lines)][-1]
        process.kill()
        process.communicate()
        with DurableLearner(AClassClassifier(**PARAMETERS), tmp_path) as learner:
            assert learner.n_rows >= confirmed
            expected = AClassClassifier(**PARAMETERS)
            for n in range(learner.n_rows):
                expected.learn_one({"x": float(n * n % 17), "y": float(n % 5)}, n % 3)
            assert differences(state_of(learner.model), state_of(expected)) == []
            query = [{"x": 1.0, "y": 2.0}]
            assert np.array_equal(learner.predict_proba(query), expected.predict_proba(query))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize(("script", "few"), [("killing.py", 6), ("killing_service.py", 3)])
def test_kills_under_load_lose_no_acknowledged_row_and_learn_none_twice(script, few, tmp_path):
    kills = 200 if N_SEEDS > 1 else few
    script = Path(__file__).with_name(script)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(kills)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kills"] == kills
