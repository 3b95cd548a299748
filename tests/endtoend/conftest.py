"""What tests of the command share: small models, where a test is about files, options and words."""

import pytest

from infinimix.cli import baselines
from infinimix.estimators.common.effort import EFFORTS, Effort

FEW_TREES = 20  # of the forests beside our models


@pytest.fixture(scope="module")
def small_models():
    """Let `--effort fast` take one island of four, and forests few trees.

    Commands fit dozens of models in these tests.

    Other processes, and tests of the documentation, have the efforts that users have.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EFFORTS, "fast", Effort(n_particles=1, n_islands=1, sweeps=0))
        patch.setattr(baselines, "TREES", FEW_TREES)
        yield


@pytest.fixture
def few_islands(monkeypatch):
    """Let two islands do what sixteen would, and few trees: pages show what to call."""
    monkeypatch.setitem(EFFORTS, "default", EFFORTS["default"]._replace(n_islands=2))
    monkeypatch.setattr(baselines, "TREES", FEW_TREES)
