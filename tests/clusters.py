"""A cluster of Dask for tests, whose workers start quickly."""

import multiprocessing
from contextlib import contextmanager

import pytest

LIBRARIES = [
    "distributed", "distributed.nanny", "pandas", "infinimix.estimators.aclass.classifier",
    "infinimix.estimators.finite.classifier", "infinimix.estimators.mixture.regressor",
    "infinimix.maxmargin.m2dpm", "infinimix.networks",
]  # fmt: skip


@contextmanager
def start_cluster(n_workers):
    """Start so many workers of one thread, and a client.

    Workers are forked by one process that has imported the libraries, as each would do by itself.
    """
    distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")
    dask = pytest.importorskip("dask")
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context()  # has a list of its own at its first call
        multiprocessing.get_context("forkserver").set_forkserver_preload(LIBRARIES)
        with (
            distributed.LocalCluster(n_workers, **options) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
