"""The contract of executors, visited for each of them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infinimix import execution
from infinimix.execution import Executor, serial, threads

EXECUTORS = {
    "serial": serial,
    "one thread": lambda: threads(1),
    "two threads": lambda: threads(2),
    "five threads": lambda: threads(5),
}


@pytest.fixture(params=EXECUTORS)
def executor(request):
    return EXECUTORS[request.param]()


def draw(payload):
    n, seed = payload
    return np.random.default_rng(seed).random(n)


def nap(seconds):
    time.sleep(seconds)
    return seconds


def test_results_come_in_payload_order(executor):
    with executor as ex:
        assert ex.map(nap, [0.02, 0.0, 0.01]) == [0.02, 0.0, 0.01]


def test_empty_and_lazy_payloads(executor):
    with executor as ex:
        assert ex.map(abs, []) == []
        assert ex.map(abs, (-i for i in range(4))) == [0, 1, 2, 3]


def test_each_payload_brings_its_own_seed(executor):
    payloads = list(zip([3, 1, 2], np.random.SeedSequence(7).spawn(3), strict=True))
    with executor as ex:
        got = ex.map(draw, payloads)
    for a, b in zip(got, map(draw, payloads), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_first_exception_in_payload_order_is_raised_as_it_is(executor):
    errors = {1: KeyError("late"), 3: ValueError("early")}

    def task(i):
        time.sleep(0.02 * (i == 1))
        if i in errors:
            raise errors[i]
        return i

    with executor as ex:
        with pytest.raises(KeyError) as caught:
            ex.map(task, range(10))
        assert caught.value is errors[1]
        assert ex.map(abs, [-1, -2]) == [1, 2]  # still in order


@pytest.mark.parametrize("kind", [StopIteration, KeyboardInterrupt, SystemExit])
def test_exceptions_of_control_flow_pass_too(executor, kind):
    def task(i):
        raise kind(i)

    with executor as ex, pytest.raises(kind):
        ex.map(task, range(4))


def test_nothing_runs_any_more_when_an_exception_is_raised():
    running = []

    def task(i):
        if i == 0:
            raise ValueError
        running.append(i)
        time.sleep(0.02)
        running.remove(i)

    with threads(4) as ex:
        with pytest.raises(ValueError):
            ex.map(task, range(50))
        assert not running


def test_works_without_with(executor):
    assert executor.map(abs, [-1, -2, -3]) == [1, 2, 3]
    assert execution.map(threading.get_ident, []) == []


def test_a_map_inside_a_worker_runs_in_that_worker():
    with threads(2) as ex:

        def inner(_):
            return threading.get_ident()

        def task(_):
            here = threading.get_ident()
            used = {
                *ex.map(inner, range(4)),
                *execution.map(inner, range(4), n_jobs=4),
                *threads(3).map(inner, range(4)),
            }
            with threads(3) as other:
                used.update(other.map(inner, range(4)))
            return used == {here}

        assert all(ex.map(task, range(8)))


def test_threads_are_at_most_n():
    active, most, lock = [0], [0], threading.Lock()

    def task(_):
        with lock:
            active[0] += 1
            most[0] = max(most[0], active[0])
        time.sleep(0.005)
        with lock:
            active[0] -= 1

    with threads(3) as ex:
        ex.map(task, range(20))
    assert 1 <= most[0] <= 3


def test_threads_end_with_the_block():
    with threads(3) as ex:
        ex.map(nap, [0.01] * 6)
        assert any(t.name.startswith("infinimix") for t in threading.enumerate())
    assert not any(t.name.startswith("infinimix") for t in threading.enumerate())


def test_tasks_see_the_context_of_the_caller(executor):
    with executor as ex, np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ex.map(lambda x: np.float64(1.0) / x, np.zeros(3))


def test_one_executor_serves_several_callers():
    with threads(2) as ex, ThreadPoolExecutor(4) as callers:
        futures = [callers.submit(ex.map, nap, [0.001 * i] * 5) for i in range(8)]
        assert [f.result() for f in futures] == [[0.001 * i] * 5 for i in range(8)]


def test_a_new_executor_needs_only_map():
    class Backwards(Executor):
        def map(self, task, payloads):
            return [task(p) for p in reversed(list(payloads))][::-1]

    with Backwards():
        assert execution.map(abs, [-1, 2]) == [1, 2]


@given(
    st.lists(st.integers(1, 5), max_size=12),
    st.integers(0, 2**64),
    st.sampled_from([None, 1, 2, 3, -1, -2]),
)
def test_the_answer_does_not_depend_on_n_jobs(sizes, entropy, n_jobs):
    def run(n_jobs):
        seeds = np.random.SeedSequence(entropy).spawn(len(sizes))
        payloads = list(zip(sizes, seeds, strict=True))
        return [x.tolist() for x in execution.map(draw, payloads, n_jobs=n_jobs)]

    assert run(n_jobs) == run(None)
