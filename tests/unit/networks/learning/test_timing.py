"""Chains whose moves take long, by a clock that only they move on."""

from types import SimpleNamespace

import pytest

from infinimix.networks.learning import timing
from infinimix.networks.learning.timing import Budget, Clock


class SlowChain:
    """A sweep is ten moves of graphs and one of classes; each takes as long as is said."""

    step = 50

    def __init__(self, clock, move, classes=0.0, guess=0.0):
        self.clock, self.move, self.classes, self.guess = clock, move, classes, guess
        self.problem = SimpleNamespace(burn_in=1000, n_iter=10**6)
        self.counted = self.class_moves = 0

    def spend(self, seconds):
        self.clock.now += seconds

    def move_classes(self):
        self.spend(self.classes)
        self.class_moves += 1

    def parts(self):
        for _ in range(10):
            yield "pairs", 0.0, lambda: self.spend(self.move)
        yield "classes", self.guess, self.move_classes

    def finish_parts(self, count):
        self.counted += count

    def advance(self, n, count):
        self.spend(n * (10 * self.move + self.classes))
        self.counted += n * count
        self.class_moves += n

    def anneal(self, warm):
        self.warm = warm

    def report(self):
        pass


@pytest.fixture
def clock(monkeypatch):
    made = SimpleNamespace(now=100.0)
    monkeypatch.setattr(timing.time, "monotonic", lambda: made.now)
    return made


def run(clock, chain, seconds):
    begin, own = clock.now, Clock(chain, seconds)
    own.burn_in()
    own.count()
    return clock.now - begin


@pytest.mark.parametrize("move", [1e-4, 0.01, 0.3, 2.0])
def test_a_chain_is_late_by_one_move_at_most(clock, move):
    chain = SlowChain(clock, move)
    assert run(clock, chain, 5.0) <= 5.0 + move + 1e-9
    assert chain.counted >= 1
    assert chain.warm == 1.0


def test_moves_of_classes_that_would_take_too_long_are_left_out(clock):
    chain = SlowChain(clock, 0.01, classes=200.0, guess=100.0)
    assert run(clock, chain, 5.0) <= 5.1
    assert chain.class_moves == 0
    assert chain.counted > 20
    quick = SlowChain(clock, 0.01, classes=0.01, guess=1.0)
    assert run(clock, quick, 5.0) <= 5.1
    assert quick.class_moves > 20


def test_chains_share_what_is_left(clock):
    budget = Budget(clock.now + 12.0, 4, None)
    taken = []
    for late in (0.0, 2.0, 0.0, 0.0):
        taken.append(budget.take())
        clock.now += taken[-1] + late
    assert taken == pytest.approx([3.0, 3.0, 2.0, 2.0], abs=0.67)
    assert clock.now <= 100.0 + 12.0 + 1e-9
    assert Budget(clock.now + 12.0, 4, 2).take() == pytest.approx(6.0)
