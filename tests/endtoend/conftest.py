"""What tests of the command share: small models, where a test is about files, options and words."""

import pytest

from infinimix.estimators.common.effort import EFFORTS, Effort


@pytest.fixture(scope="module")
def small_models():
    """Let `--effort fast` take one island of four: commands fit dozens of models in these tests.

    Other processes, and tests of the documentation, have the efforts that users have.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EFFORTS, "fast", Effort(n_particles=1, n_islands=1, sweeps=0))
        yield
