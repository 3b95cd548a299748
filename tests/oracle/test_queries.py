"""Answers of networks with known tables against all rows, and against pgmpy where it is there."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bench.network_queries import Questions, normalised
from infinimix.networks import read_network, sample_network

FOLDER = Path(os.environ.get("INFINIMIX_DATA", "/nowhere")) / "bayesian_networks"
FILES = ("asia", "cancer", "earthquake", "survey", "sachs", "child")


def nets():
    for seed in range(4):
        yield sample_network((2, 2, 3), cards=2 + seed % 2, random_state=seed)


class AllRows(Questions):
    """The other library is a sum over all rows."""

    def __init__(self, net, seed):
        self.net, self.rng = net, np.random.default_rng(seed)
        self.worst, self.asked, self.skipped, self.set = 0.0, 0, 0, 0
        self.seconds = [0.0, 0.0]
        self.rows = np.array(list(product(*(range(r) for r in net.cards))))

    def ask_pgmpy(self, targets, given, do):
        p = np.ones(len(self.rows))
        for j, parents in enumerate(self.net.parents):
            if self.net.names[j] not in do:
                at = (*(self.rows[:, i] for i in parents), self.rows[:, j])
                p *= self.net.tables[j][at]
        for name, value in {**given, **do}.items():
            j = self.net.names.index(name)
            p[self.rows[:, j] != self.net.states[j].index(value)] = 0.0
        places = [self.net.names.index(t) for t in targets]
        table = np.zeros([self.net.cards[j] for j in places])
        np.add.at(table, tuple(self.rows[:, j] for j in places), p)
        return table / table.sum()


@pytest.mark.parametrize("kind", [AllRows, Questions])
def test_queries_are_those_of_others(kind):
    if kind is Questions:
        pytest.importorskip("pgmpy")
    for net in nets():
        asked = kind(net, 0)
        for k in range(12):
            asked.ask(k)
        assert asked.asked == 12
        assert asked.worst < 1e-9


@pytest.mark.parametrize("name", FILES)
def test_files_are_answered_as_pgmpy_does(name):
    pytest.importorskip("pgmpy")
    if not FOLDER.exists():
        pytest.skip("INFINIMIX_DATA has no bayesian_networks")
    asked = Questions(normalised(read_network(FOLDER / f"{name}.bif.gz")), 0)
    for k in range(9):
        asked.ask(k)
    assert asked.worst < 1e-9
