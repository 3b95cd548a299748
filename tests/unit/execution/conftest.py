"""What tests of executors share: a cluster of two workers."""

import pytest


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
