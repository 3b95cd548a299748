"""The meaning of `n_jobs`."""

import numpy as np
import pytest

from infinimix import execution
from infinimix.execution import jobs, serial
from infinimix.execution.jobs import count_cores, count_workers


@pytest.mark.parametrize(
    ("n_jobs", "workers"),
    [(None, 1), (1, 1), (3, 3), (np.int64(2), 2), (-1, 4), (-2, 3), (-4, 1), (-9, 1)],
)
def test_workers_on_four_cores(monkeypatch, n_jobs, workers):
    monkeypatch.setattr(jobs, "count_cores", lambda: 4)
    assert count_workers(n_jobs) == workers


def test_cores_are_at_least_one():
    assert count_cores() >= 1


@pytest.mark.parametrize("n_jobs", ["two", "2", True, False, np.True_, 2.0, [1], np.nan])
def test_not_a_whole_number_is_a_type_error(n_jobs):
    with pytest.raises(TypeError, match="n_jobs must be None or a whole number other than 0"):
        execution.map(abs, [1], n_jobs=n_jobs)


def test_zero_is_a_value_error():
    with pytest.raises(ValueError, match="n_jobs must be .*, got 0"):
        execution.map(abs, [1], n_jobs=0)


def test_a_wrong_n_jobs_is_wrong_under_an_executor_too():
    with serial(), pytest.raises(ValueError, match="n_jobs"):
        execution.map(abs, [1], n_jobs=0)


def test_threads_names_its_own_parameter():
    with pytest.raises(ValueError, match="^n must be"):
        execution.threads(0)
