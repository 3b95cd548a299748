"""Executors that send tasks to other processes: the same contract, and what travels."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from infinimix import execution
from infinimix.execution import dask, processes, serial
from infinimix.execution.packing import LARGE, pack, unpack

distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")


@pytest.fixture(scope="module", params=["processes", "dask"])
def executor(request):
    if request.param == "dask":
        return dask(request.getfixturevalue("client"))
    return processes(2)


def test_results_come_in_payload_order_from_other_processes(executor):
    def task(seconds):
        time.sleep(seconds)
        return seconds, os.getpid()

    with executor as ex:
        found = ex.map(task, [0.05, 0.0, 0.02])
    assert [seconds for seconds, _ in found] == [0.05, 0.0, 0.02]
    assert os.getpid() not in {process for _, process in found}


def test_nothing_to_do(executor):
    with executor as ex:
        assert ex.map(abs, []) == []
    assert executor.map(abs, (-i for i in range(3))) == [0, 1, 2]  # without `with`


def test_the_first_exception_in_payload_order_is_raised(executor):
    def task(i):
        time.sleep(0.1 * (i == 1))
        if i in (1, 3):
            raise KeyError(i)
        return i

    with executor as ex:
        with pytest.raises(KeyError, match="1"):
            ex.map(task, range(5))
        assert ex.map(abs, [-1, -2]) == [1, 2]  # still in order


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_a_worker_outlives_what_a_task_raises(executor, kind):
    def task(i):
        raise kind(i)

    with executor as ex:
        with pytest.raises(kind):
            ex.map(task, range(2))
        assert ex.map(abs, [-1]) == [1]


def test_tasks_see_how_the_caller_treats_overflows(executor):
    with executor as ex, np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ex.map(lambda x: np.float64(1.0) / x, np.zeros(3))


def test_a_map_inside_a_task_runs_there(executor):
    def task(_):
        here = {os.getpid(), threading.get_ident()}

        def inner(_):
            return {os.getpid(), threading.get_ident()} == here

        return execution.map(inner, range(4), n_jobs=4)

    with executor as ex:
        assert ex.map(task, range(2)) == [[True] * 4] * 2


def test_each_task_that_has_ended_is_told(executor):
    told = []
    with executor:
        assert execution.map(abs, [-1, -2, -3], done=lambda: told.append(1)) == [1, 2, 3]
    assert len(told) == 3


def test_arrays_come_as_kernels_take_them(executor):
    """Aligned, writable, in the same order of memory, both ways."""
    large = np.arange(LARGE, dtype=float).reshape(256, -1)
    payloads = [(large, large.T, np.arange(3)), (large, np.asfortranarray(large), np.arange(4))]

    def task(arrays):
        assert all(array.flags.behaved for array in arrays)
        return [array.flags.c_contiguous for array in arrays], arrays

    with executor as ex:
        for (flags, arrays), sent in zip(ex.map(task, payloads), payloads, strict=True):
            assert flags == [array.flags.c_contiguous for array in sent]
            assert all(array.flags.behaved for array in arrays)
            assert all(map(np.array_equal, arrays, sent))


def test_calls_do_not_answer_for_each_other(executor):
    """Also when one ends by an exception, and its tasks are cancelled."""
    with executor as ex:
        for k in range(20):
            if k % 3 == 0:
                with pytest.raises(ZeroDivisionError):
                    ex.map(lambda i: 1 / i, [0, 1])
            assert ex.map(lambda i, k=k: i * k, [1, 2]) == [k, 2 * k]


def test_an_array_that_several_hold_travels_once():
    table, own = np.zeros(LARGE), np.ones(LARGE)
    packed, shared = pack([(table, 1), (table, 2, own), {"deep": [table]}])
    assert list(map(id, shared.values())) == [id(table)]
    assert max(len(one.pickled) for one in packed) < 1000
    assert [len(one.own) for one in packed] == [0, 1, 0]
    back = unpack(packed[1], shared)
    assert back[0] is table
    assert back[2] is own


def test_one_object_twice_in_a_payload_is_one_object_there():
    small, large = np.zeros(3), np.zeros(LARGE)
    (packed,), shared = pack([[small, small, large, large]])
    a, b, c, d = unpack(packed, shared)
    assert a is b
    assert c is d


def test_a_worker_that_dies_changes_nothing(client):
    table = np.arange(LARGE)
    workers = list(client.run(os.getpid).values())

    def work(payload):
        table, seed = payload
        return table.sum() + np.random.default_rng(seed).random()

    def task(payload):
        time.sleep(0.4)
        return work(payload)

    payloads = [(table, seed) for seed in range(6)]
    timer = threading.Timer(0.6, os.kill, (workers[0], signal.SIGKILL))
    timer.start()
    with dask(client) as ex:
        found = ex.map(task, payloads)
    timer.join()
    with serial() as ex:
        assert ex.map(work, payloads) == found


def names_on(client):
    return client.run_on_scheduler(lambda dask_scheduler: sorted(map(str, dask_scheduler.tasks)))


def wait_until_left(client, *names):
    """Wait until the scheduler has forgotten all tasks but these: nobody waits for it to do so."""
    for _ in range(100):
        if [name[:16] for name in names_on(client)] == [*names]:
            return
        time.sleep(0.05)
    assert names_on(client) == [*names]


def test_a_caller_who_stops_leaves_nothing_behind(client):
    table = np.arange(LARGE)

    def stop():
        assert all(name.startswith("infinimix-") for name in names_on(client))
        raise KeyboardInterrupt

    def task(payload):
        time.sleep(0.05 * payload[1])

    with dask(client) as ex, pytest.raises(KeyboardInterrupt), ex.keeping([table]):
        ex.map(task, [(table, i) for i in range(50)], stop)
    wait_until_left(client)


def test_kept_arrays_travel_once_and_go_at_the_end(client):
    table = np.arange(LARGE)
    with dask(client) as ex:
        with ex.keeping([table]):
            found = [ex.map(lambda one: int(one[0][one[1]]), [(table, 7)]) for _ in range(3)]
            wait_until_left(client, "infinimix-table-")
        wait_until_left(client)
    assert found == [[7], [7], [7]]


class Killed:
    key = "infinimix-pack_part-0"

    def result(self):
        raise distributed.KilledWorker(self.key, None, 3)


class Partition:
    name = "data/7.parquet"


def test_too_little_memory_names_the_partition(client, monkeypatch):
    monkeypatch.setattr(distributed, "as_completed", list)
    ex = dask(client)
    monkeypatch.setattr(ex, "_submit", lambda *args: [Killed()])
    monkeypatch.setattr(client, "cancel", lambda futures: None)
    with pytest.raises(MemoryError, match=r"task 1 of 1 \(data/7.parquet\) ended every worker"):
        ex.map(abs, [(Partition(), ())])


def test_too_little_memory_inside_a_task_names_its_partitions(client):
    def fail(placed):
        raise MemoryError("out of it")

    class Named:
        def __init__(self, name):
            self.name = name

    def both(placed):
        return sum(one.value for one in placed)

    with dask(client) as ex, ex.placing() as place:
        left = place(lambda task: 1, [(Named("a.csv"),), (Named("b.csv"),), (Named("c.csv"),)])
        with pytest.raises(MemoryError, match=r"task 1 of 3 \(a.csv\) needs more .*: out of it"):
            ex.map(fail, left)
        joined = place(both, [tuple(left)])
        with pytest.raises(MemoryError, match=r"\(a.csv ... c.csv\)"):
            ex.map(fail, joined)


def test_a_task_may_use_all_threads_of_its_worker():
    def task(_):
        def thread(_):
            time.sleep(0.02)  # so that one thread does not take all
            return threading.get_ident()

        with execution.all_threads():
            shared = execution.map(thread, range(4))
        return len({*shared}), len({*execution.map(thread, range(2))})

    here = {"processes": False, "dashboard_address": ":0", "set_as_default": False}
    with (
        distributed.Client(n_workers=1, threads_per_worker=2, **here) as client,
        dask(client) as ex,
    ):
        assert ex.map(task, [0]) == [(2, 1)]
    with serial() as ex:
        assert ex.map(task, [0]) == [(1, 1)]


def test_a_client_is_given_found_or_refused(client):
    assert dask().client is client
    assert dask(client).client is client
    with pytest.raises(TypeError, match="address"):
        dask(3)
