"""Results that stay where they are: the same from every executor, and nothing left behind."""

import gc
import os
import time

import numpy as np
import pytest

from infinimix import execution


@pytest.fixture(params=["serial", "threads", "processes", "dask"])
def executor(request):
    if request.param == "dask":
        return execution.dask(request.getfixturevalue("client"))
    return execution.serial() if request.param == "serial" else getattr(execution, request.param)(2)


def make(n):
    return np.arange(n), np.full((n, 3), float(n))


def add(task):
    (one, other), more = task
    assert all(array.flags.behaved for array in (*one.value, *other.value))
    return one.value[0].sum() + other.value[1].sum() + more


def test_tasks_work_on_what_others_have_left(executor):
    with executor, execution.placing() as place:
        left = place(make, [10_000, 20_000, 3])
        sums = place(add, [((left[0], left[1]), 1.0), ((left[2], left[0]), 2.0)])
        found = execution.map(lambda placed: float(placed.value), sums)
    arrays = [make(n) for n in (10_000, 20_000, 3)]
    first = arrays[0][0].sum() + arrays[1][1].sum() + 1.0
    assert found == [first, arrays[2][0].sum() + arrays[0][1].sum() + 2.0]


def fail(i):
    if i:
        raise KeyError(i)
    return i


def test_what_a_task_raises_is_raised_where_its_result_is_asked_for(executor):
    def ask():
        with executor, execution.placing() as place:
            return execution.map(lambda placed: placed.value, place(fail, [0, 1, 2]))

    with pytest.raises(KeyError, match="1"):
        ask()


def test_values_are_not_for_the_caller(client):
    with execution.dask(client), execution.placing() as place:
        (left,) = place(make, [5])
        with pytest.raises(RuntimeError, match="by tasks only"):
            _ = left.value
        (process,) = execution.map(lambda placed: (len(placed.value[0]), os.getpid()), [left])
    assert process[0] == 5
    assert process[1] != os.getpid()


def keys(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


def test_nothing_is_left_on_a_cluster(client):
    def interrupted(left):
        with execution.placing() as place:
            left += place(make, [5, 6])
            raise KeyboardInterrupt

    with execution.dask(client):
        with execution.placing() as place:
            left = place(make, [5, 6])
            assert execution.map(lambda placed: len(placed.value[0]), left) == [5, 6]
        with pytest.raises(KeyboardInterrupt):
            interrupted(left)
    assert wait_for(lambda: not client.run_on_scheduler(keys))


def test_who_lets_a_result_go_between_two_others_stays_connected(client):
    """A client that loses its connection to the scheduler loses all of its futures."""
    other = client.submit(abs, -3)
    with execution.dask(client), execution.placing() as place:
        first = place(make, [5])
        last = place(lambda placed: placed.value, place(lambda placed: placed.value, first))
        assert execution.map(lambda placed: len(placed.value[0]), last) == [5]
        gc.collect()  # what has pickled the one between them holds it, too
    assert client.submit(abs, -4).result() == 4  # the scheduler has read what was sent before
    assert other.result() == 3
    del other
    assert wait_for(lambda: not client.run_on_scheduler(keys))


def wait_for(is_so):
    for _ in range(100):
        if is_so():
            return True
        time.sleep(0.1)
    return False
