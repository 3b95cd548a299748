"""What tests of executors share: a cluster of two workers."""

import pytest

from tests.clusters import start_cluster


@pytest.fixture(scope="module")
def client():
    with start_cluster(2, loaded=()) as client:
        yield client
