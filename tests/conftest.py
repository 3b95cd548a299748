"""What all tests share: one thread each, fixed examples, and seeds for statistical tests.

`INFINIMIX_SEEDS=20` runs statistical tests with 20 seeds, those that repeat one run many times with
all of their runs, and lets hypothesis look for new examples; `--hypothesis-profile many` does the
last alone.
"""

import gc
import os

# Before NumPy is imported: workers of pytest-xdist share the cores between them.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import pytest
from hypothesis import HealthCheck, settings

gc.disable()  # until all tests are collected: hardly any of what they import is ever freed

N_SEEDS = int(os.environ.get("INFINIMIX_SEEDS", "1"))

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,  # a first call may compile
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "many", settings.get_profile("fixed"), derandomize=False, max_examples=1000
)
settings.load_profile("fixed" if N_SEEDS == 1 else "many")


def pytest_collection_finish():
    """Collect garbage from here on, but leave out modules and thousands of test items.

    And seldom: with Python's own numbers it is a tenth of the time of tests that make many objects.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(params=range(N_SEEDS))
def seed(request):
    """The seed of a statistical test: 0, and more when asked for."""
    return request.param
