"""`--cluster`: the same answer from the workers of a scheduler."""

import json
import math

import pytest

from infinimix import load
from tests.endtoend.command_files import invoke

distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        2, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def table(tmp_path):
    rows = [f"{i % 7},{math.sin(i):.3f},{'ab'[i % 2]}" for i in range(60)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["u,v,y", *rows]), encoding="utf-8")
    return str(path)


def test_a_cluster_evaluates_the_same(table, address):
    args = ("evaluate", table, "-t", "y", "--folds", 2, "--effort", "fast", "--json")
    alone, shared = invoke(*args), invoke(*args, "--cluster", address)
    assert shared.exit_code == 0, shared.output
    assert json.loads(shared.stdout) == json.loads(alone.stdout)


def test_a_cluster_fits_the_same(table, address, tmp_path):
    for name, more in {"one.imx": (), "two.imx": ("--cluster", address)}.items():
        done = invoke("fit", table, "-t", "y", "--effort", "fast", "-o", tmp_path / name, *more)
        assert done.exit_code == 0, done.output
    one, two = (load(tmp_path / name).predict_proba([[1, 0.5]]) for name in ("one.imx", "two.imx"))
    assert (one == two).all()


def test_an_address_where_nobody_answers(table, monkeypatch):
    monkeypatch.setattr("infinimix.execution.cluster.WAIT", "0.2s")
    done = invoke("evaluate", table, "-t", "y", "--cluster", "tcp://127.0.0.1:9")
    assert done.exit_code == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in done.stderr
