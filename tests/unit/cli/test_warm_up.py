"""`infinimix warm-up`: its workloads run, and a name that is none is refused."""

import pytest

from infinimix.cli.workloads import WORKLOADS, run
from infinimix.estimators.common.effort import EFFORTS, Effort
from tests.endtoend.command_files import invoke


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_runs(name, monkeypatch):
    monkeypatch.setitem(EFFORTS, "default", Effort(n_particles=4, n_islands=2, sweeps=0))
    run(name)


def test_a_name_that_is_none_is_refused():
    result = invoke("warm-up", "--only", "everything")
    assert result.exit_code == 2
    assert "no 'everything' to compile" in result.stderr
    assert "bayes_nets" in result.stderr


def test_every_workload_says_what_it_is_for():
    assert all(function.__doc__ for function in WORKLOADS.values())
