"""Who runs a `map`: the innermost executor entered, otherwise `n_jobs`."""

import threading
from contextlib import suppress

import pytest

from infinimix import execution
from infinimix.execution import executor_for, serial, threads


def runs_here(n_jobs=None):
    return set(execution.map(lambda _: threading.get_ident(), range(4), n_jobs=n_jobs)) == {
        threading.get_ident()
    }


def runs_in_two_threads(n_jobs=None):
    barrier = threading.Barrier(2)  # two payloads meet here only if two threads run them

    def meet(_):
        with suppress(threading.BrokenBarrierError):
            barrier.wait(10)
        return threading.get_ident()

    return len(set(execution.map(meet, range(2), n_jobs=n_jobs)) - {threading.get_ident()}) == 2


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_serial_by_default(n_jobs):
    assert runs_here(n_jobs)


def test_n_jobs_asks_for_threads():
    assert runs_in_two_threads(2)


def test_the_executor_entered_wins_over_n_jobs():
    with serial():
        assert runs_here(2)
    with threads(2):
        assert runs_in_two_threads()
    assert runs_here()


def test_the_innermost_executor_wins_and_the_outer_returns():
    with threads(2) as outer:
        with serial():
            assert runs_here()
        assert executor_for(None) is outer
    assert executor_for(None) is not outer


def test_an_executor_may_be_entered_again_inside_itself():
    with threads(2) as ex:
        with executor_for(4) as same:
            assert same is ex
        assert runs_in_two_threads()


def test_an_exception_leaves_no_executor_in_charge():
    with pytest.raises(RuntimeError), threads(2):
        raise RuntimeError
    assert runs_here()


def test_an_executor_is_not_in_charge_in_other_threads():
    seen = []
    with threads(2) as ex:
        other = threading.Thread(target=lambda: seen.append(executor_for(None) is ex))
        other.start()
        other.join()
    assert seen == [False]
