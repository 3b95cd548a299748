"""A cluster of Dask for tests."""

from contextlib import contextmanager

import pytest


@contextmanager
def start_cluster(n_workers):
    """Start so many workers of one thread, as processes that import all by themselves."""
    distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
