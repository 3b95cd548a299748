"""The compiled loops of max-margin mixtures, interpreted, do the same."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

from infinimix import DPMeans, GibbsInfiniteSVC, MaxMarginDPMeans
from tests.unit.maxmargin.synthetic import turned_rules

ROOT = Path(__file__).resolve().parents[2]


def answers():
    X, y, _ = turned_rules(20, 0, classes=3)
    X[::7, 1] = np.nan
    model = MaxMarginDPMeans(lam=20.0, s=1.0, random_state=0, calibrate=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = [*model.fit(X, y).objective_history_.tolist(), *model.labels_.tolist()]
        model.partial_fit(X[:9] + 0.5, y[:9])
    out += model.decision_function(X).ravel().tolist()
    out += DPMeans(9.0, creation="sequential", random_state=0).fit(X).labels_.tolist()
    chain = GibbsInfiniteSVC(n_iter=2, burn_in=1, random_state=0).fit(X, y)
    return out + chain.predict_proba(X).ravel().tolist()


def test_interpreted_equals_compiled():
    code = "import json, tests.oracle.test_margin_interpreted as t\nprint(json.dumps(t.answers()))"
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    np.testing.assert_allclose(json.loads(run.stdout), answers(), rtol=1e-6, atol=1e-8)
