"""A cluster of Dask for tests."""

from contextlib import contextmanager

import pytest

#: Dask watches itself many times a second, in every process, for pages that no test opens.
UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
}


@contextmanager
def start_cluster(n_workers):
    """Start so many workers of one thread, as processes that import all by themselves."""
    dask = pytest.importorskip("dask", reason="needs infinimix[dask]")
    distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set(UNWATCHED),
        distributed.LocalCluster(n_workers, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
