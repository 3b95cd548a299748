"""A cluster of Dask for tests."""

import multiprocessing
from contextlib import contextmanager

import pytest

#: Dask watches itself many times a second, in every process, for pages that no test opens.
UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
}
#: What takes a worker most of a second to load, and is not ours: for every task, and for models.
DASK = ("distributed", "distributed.nanny")
LIBRARIES = ("numba", "pandas", "sklearn.linear_model")


@contextmanager
def start_cluster(n_workers, loaded=LIBRARIES):
    """Start so many workers of one thread, as processes that import infinimix by themselves.

    Where the system can, they are forks of one process that has loaded Dask and these libraries,
    and no more: a worker starts in a tenth of a second, also the one that follows a killed one.
    """
    dask = pytest.importorskip("dask", reason="needs infinimix[dask]")
    distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    can_fork = "forkserver" in multiprocessing.get_all_start_methods()
    method = {"distributed.worker.multiprocessing-method": "forkserver" if can_fork else "spawn"}
    with dask.config.set(UNWATCHED | method):
        if can_fork:
            distributed.utils.get_mp_context().set_forkserver_preload([*DASK, *loaded])
        with (
            distributed.LocalCluster(n_workers, **options) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
