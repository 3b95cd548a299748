"""Chains over classes in an order, with the graph summed out: `chains` with another state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from infinimix.networks.engine.chain import GAMMA_GRID
from infinimix.networks.engine.families import GAMMA
from infinimix.networks.engine.graphs import words
from infinimix.networks.engine.ordered import OrderedState, Sums, fill_weights, set_blocks
from infinimix.networks.engine.ordered_chain import advance_ordered
from infinimix.networks.engine.ordered_sites import advance_sites
from infinimix.networks.engine.scores import compute_score, set_logs
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.layered_chains import LayeredChain, layers_pay
from infinimix.networks.learning.problem import Problem
from infinimix.networks.learning.signed_chains import SignedChain
from infinimix.networks.learning.starts import start_order


class OrderedChain(GraphChain):
    """One chain; `state` is where it is, `sums` the weights of all sets of parents."""

    def _start(self, apart: bool) -> None:
        p, N = self.problem, self.problem.n_nodes
        bonus = np.zeros((N, N)) if p.bonus is None else p.bonus
        anchor = np.full(N, -1) if p.anchor is None else np.asarray(p.anchor, np.int64)
        z = start_order(p, self.rng, apart)
        self.sums = self._new_sums(bonus, anchor)
        self.must = np.zeros(N, np.uint64)
        for i, c in np.argwhere(bonus == np.inf):
            self.must[c] |= np.uint64(1 << int(p.layout.pos[c, i]))
        self._fill()
        role = np.full(N + 2, -1)
        for i in np.flatnonzero(anchor >= 0):
            role[z[i]] = anchor[i]
        eta = np.full((N + 2, N + 2), 0.5)
        info = np.array([z.max() + 1, p.order_known], np.int64)
        pa, fam = np.zeros((N, words(N)), np.uint64), np.zeros(N, np.uint64)
        self.state = OrderedState(z.astype(np.int64), eta, role, info, pa, fam)

    def _fill(self) -> None:
        """Compute the weights of all sets of parents."""
        fill_weights(self.sums, self.must)
        set_blocks(self.sums)

    def _new_sums(self, bonus: np.ndarray, anchor: np.ndarray) -> Sums:
        """Return room for the weights; the odds of required edges are in `must` instead."""
        p, N = self.problem, self.problem.n_nodes
        size = 1 if p.published else 1 << p.layout.cand.shape[1]
        odds = np.exp(np.where(np.isinf(bonus), 0.0, bonus))
        return Sums(
            self.data, p.layout, self.cache, np.zeros((N, size)), np.zeros((N, size)),
            np.array([p.alpha, *p.beta, *p.learn], float), odds, anchor,
            np.zeros(size, np.uint64), np.zeros(size), self._absent(), np.zeros((N + 1, N + 1)),
        )  # fmt: skip

    def _absent(self) -> np.ndarray:
        """Return which pairs are never linked and count as gaps, as they do in other priors."""
        N = self.problem.n_nodes
        never = (self.problem.layout.pos < 0) & ~np.eye(N, dtype=bool)
        return never.astype(np.uint8) if never.any() else np.zeros((N, 0), np.uint8)

    @property
    def step(self) -> int:
        """How many sweeps are made before gamma or missing cells are drawn."""
        return 5 if self.problem.missing.any() or self.problem.learn.gamma else 50

    def anneal(self, warm: float) -> None:
        """Do nothing: the likelihood of a graph that is summed out has no power."""

    def parts(self) -> Iterator[tuple[Any, float, Callable[[], None]]]:
        """Yield nothing: a sweep has no parts, and is made when they are finished."""
        return iter(())

    def finish_parts(self, count: bool) -> None:
        """Make one sweep."""
        self.advance(1, count)

    def _sweep(self, n: int, count: bool) -> None:
        advance_ordered(self.sums, self.state, n, self.record, count, self.thin, self.rng)
        if self.problem.learn.gamma:
            self._draw_gamma()

    def _draw_gamma(self) -> None:
        """Move gamma to a neighbour on its grid, as `draw_gamma` does for chains over graphs."""
        settings, old = self.data.settings, float(self.data.settings[GAMMA])
        at = int(np.abs(GAMMA_GRID - old).argmin()) + int(self.rng.choice([-1, 1]))
        if not 0 <= at < len(GAMMA_GRID):
            return
        logs = []
        for gamma in (old, GAMMA_GRID[at]):
            settings[GAMMA] = gamma
            set_logs(self.data)
            logs.append(
                sum(
                    compute_score(self.data, self.problem.layout, self.cache, c, word)
                    for c, word in enumerate(self.state.fam)
                )
            )
        if np.log1p(-self.rng.random()) < logs[1] - logs[0]:
            self._forget()
        else:
            settings[GAMMA] = old
            set_logs(self.data)

    def _forget(self) -> None:
        super()._forget()
        self._fill()

    def _graph(self) -> np.ndarray:
        """Return the graph as it was drawn last, as words."""
        return np.asarray(self.state.pa)


class OrderedSitesChain(OrderedChain):
    """The same prior by the moves of the thesis: the graph is part of the state, empty at first."""

    def _fill(self) -> None:
        """Do nothing: no sums are needed."""

    def _sweep(self, n: int, count: bool) -> None:
        advance_sites(self.sums, self.state, n, self.record, count, self.thin, self.rng)


def make_chain(problem: Problem, seed: np.random.SeedSequence, apart: bool) -> GraphChain:
    """Return the chain that the prior of a network without cycles needs."""
    if problem.signed:
        return SignedChain(problem, seed, apart)
    if problem.prior != "ordered":
        return (LayeredChain if layers_pay(problem) else GraphChain)(problem, seed, apart)
    kind = OrderedSitesChain if problem.published else OrderedChain
    return kind(problem, seed, apart)
