"""Who runs a `map`: the innermost executor entered, otherwise `n_jobs`."""

import threading
from contextlib import suppress

import pytest

from infinimix import execution
from infinimix.execution import executor_for, serial, threads


def idents(n_jobs=None):
    barrier = threading.Barrier(2)  # two payloads meet here only if two threads run them

    def meet(_):
        with suppress(threading.BrokenBarrierError):
            barrier.wait(0.2)
        return threading.get_ident()

    return set(execution.map(meet, range(2), n_jobs=n_jobs))


HERE = threading.get_ident


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_serial_by_default(n_jobs):
    assert idents(n_jobs) == {HERE()}


def test_n_jobs_asks_for_threads():
    assert len(idents(2) - {HERE()}) == 2


def test_the_executor_entered_wins_over_n_jobs():
    with serial():
        assert idents(2) == {HERE()}
    with threads(2):
        assert len(idents(None) - {HERE()}) == 2
    assert idents(None) == {HERE()}


def test_the_innermost_executor_wins_and_the_outer_returns():
    with threads(2) as outer:
        with serial():
            assert idents() == {HERE()}
        assert executor_for(None) is outer
    assert executor_for(None) is not outer


def test_an_executor_may_be_entered_again_inside_itself():
    with threads(2) as ex:
        with executor_for(4) as same:
            assert same is ex
        assert len(idents() - {HERE()}) == 2


def test_an_exception_leaves_no_executor_in_charge():
    with pytest.raises(RuntimeError), threads(2):
        raise RuntimeError
    assert idents() == {HERE()}


def test_an_executor_is_not_in_charge_in_other_threads():
    seen = []
    with threads(2) as ex:
        other = threading.Thread(target=lambda: seen.append(executor_for(None) is ex))
        other.start()
        other.join()
    assert seen == [False]
