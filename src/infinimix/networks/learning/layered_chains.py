"""Chains over large graphs that draw the whole graph again, with sets of parents summed out.

The tables of `engine.layers` run over the sets of a few candidates of each node. At first these
are the strong ones of the layout. What a node may need is found out by the chain: its parents, its
children and the other parents of its children in the graphs that it has seen, as an edge that
turns round takes these over. So the candidates are chosen again while the chain burns in, after
2, 8, 32, ... steps, older graphs counting half each time; then they stay. The first of them are the
strong candidates of other moves too. These go on between, and single edges reach all parents.

Chains that burn in by sweeps then share what they have found (`pooling`): all choose their
candidates once more, by the graphs of all, and each may jump to orders of the nodes that any of
them has met. That is fixed while sweeps count, and where chains are they stay: nothing else is
shared, so gaps between them still say how far they agree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from infinimix.networks.engine.candidates import ALL, STRONG
from infinimix.networks.engine.chain import Record
from infinimix.networks.engine.groups import new_group, redraw_groups
from infinimix.networks.engine.layer_tables import count_blankets, new_layers
from infinimix.networks.engine.layers import redraw_layers
from infinimix.networks.engine.order_jumps import jump_orders, list_orders
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.problem import Problem

CANDIDATES = 12
ROUNDS = 10  # over all nodes, whenever the graph is drawn again
SWEEPS = 2  # of the other moves between
MOST_GROUPS, FULL = 20, 288  # groups of nodes that are redrawn as often: N^2 / FULL of N nodes
JUMPS = 10  # tries, whenever the graph is drawn again
NOTED = 128  # orders of a chain that are remembered, up to twice as many
ALONE = 0.8  # the share of the burn-in before chains share what they have found


class Layering:
    """The tables of one chain, and what it has seen."""

    def __init__(self, layout: Any, n_classes: int) -> None:
        N = len(layout.cand)
        self.layout = layout  # whose strong candidates change
        self.allowed = layout.pos >= 0  # [child, parent]
        self.base = self._base(layout)
        self.seen = np.zeros((N, N))
        self.steps, self.next, self.learns = 0, 2, True
        size = min(CANDIDATES, layout.cand.shape[1])
        self.layers = new_layers(self._order(size), n_classes)
        self.group = new_group(N, size)
        self.tries = max(min(N * N // FULL, MOST_GROUPS), 1)
        self.noted: list[np.ndarray] = []  # orders, as the places of the nodes
        self.met, self.spacing = 0, 1
        self.orders: Any = None  # an OrderList, once there is one

    def _base(self, layout: Any) -> np.ndarray:
        """Return a little for the strong candidates, so that they fill up the tables."""
        N, C = layout.cand.shape
        base = np.zeros((N, N))
        for c in range(N):
            strong = [k for k in range(C) if int(layout.strong[c]) >> k & 1]
            base[c, layout.cand[c, strong]] = 1e-3
        return base

    def _order(self, size: int) -> np.ndarray:
        """Return the candidates of each node, the most wanted first, -1 where there are fewer."""
        wanted = np.where(self.allowed, self.seen + self.base, -1.0)
        np.fill_diagonal(wanted, -1.0)
        order = np.argsort(-wanted, axis=1, kind="stable")[:, :size]
        return np.where(np.take_along_axis(wanted, order, 1) > 0.0, order, -1)

    def step(self, model: Any, state: Any, power: float, rng: Any) -> None:
        """Draw the whole graph again, and learn from the old one which candidates are wanted."""
        if self.learns:
            count_blankets(state, self.seen)
            self.steps += 1
            if self.steps == self.next:
                self.next *= 4
                self._choose()
        done = redraw_layers(model, state, self.layers, ROUNDS, power, rng)
        if done and power == 1.0:
            self._note(rng)
        if done:
            redraw_groups(model, state, self.layers, self.group, self.tries, rng)
        if done and self.orders is not None:
            jump_orders(model, state, self.layers, self.orders, JUMPS, rng)

    def _note(self, rng: Any) -> None:
        """Remember an order in which the levels are now, evenly spread over all steps."""
        if self.met % self.spacing == 0:
            t = self.layers.t
            order = np.lexsort((rng.random(len(t)), t))
            self.noted.append(np.argsort(order).astype(np.int16))
            if len(self.noted) > 2 * NOTED:
                self.noted, self.spacing = self.noted[::2], 2 * self.spacing
        self.met += 1

    def share(self, seen: np.ndarray, orders: np.ndarray) -> None:
        """Choose candidates by what all chains have seen, and jump to these orders from now on."""
        if self.learns:
            self.seen, self.learns = seen, False
            self._choose()
        self.orders = list_orders(orders, self.layers.cand)
        self.noted, self.met, self.spacing = [], 0, 1

    def _choose(self) -> None:
        """Choose the candidates again; scores are computed for nodes whose candidates changed."""
        layers, order = self.layers, self._order(self.layers.cand.shape[1])
        for c in range(len(order)):
            if set(order[c]) != set(layers.cand[c]):
                layers.cand[c] = order[c]
                layers.core[c] = np.nan
                layers.place[c] = -1
                for k, v in enumerate(order[c]):
                    if v >= 0:
                        layers.place[c, v] = k
                first = [int(self.layout.pos[c, v]) for v in order[c, :STRONG] if v >= 0]
                self.layout.strong[c] = np.uint64(sum(1 << k for k in first))
        self.seen *= 0.5


class LayeredChain(GraphChain):
    """One chain; whole graphs are drawn again after every few sweeps."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, apart: bool) -> None:
        layout = problem.layout._replace(strong=problem.layout.strong.copy())  # its own
        super().__init__(replace(problem, layout=layout), seed, apart)

    def _start(self, apart: bool) -> None:
        super()._start(apart)
        self.burn_in_left = 0  # sweeps, after `burn_in_alone`
        self.layering = Layering(self.problem.layout, self.model.prior.held.shape[1])

    @property
    def step(self) -> int:
        """How many sweeps are made before whole graphs are drawn."""
        return SWEEPS

    def burn_in_alone(self) -> LayeredChain:
        """Make the first sweeps of the burn-in, annealed at first; the rest has power 1."""
        alone = int(ALONE * self.problem.burn_in)
        for k in range(0, alone, self.step):
            self.anneal(min(1.0, 0.1 + 1.8 * k / max(alone, 1)))
            self.advance(min(self.step, alone - k), False)
            self.report_burn_in(min(k + self.step, alone))
        self.anneal(1.0)
        self.burn_in_left, self.problem.burn_in = self.problem.burn_in - alone, 0
        self.tell = None
        return self

    def run(self) -> Record:
        """Run the chain; what is left of a burn-in comes first."""
        alone = self.burned
        for k in range(0, self.burn_in_left, self.step):
            self.advance(min(self.step, self.burn_in_left - k), False)
            self.report_burn_in(alone + min(k + self.step, self.burn_in_left))
        self.burn_in_left = 0
        return super().run()

    @property
    def whole_burn_in(self) -> int:
        """How many sweeps the burn-in has, those made already included."""
        return super().whole_burn_in + self.burn_in_left

    def _sweep(self, n: int, count: bool) -> None:
        super()._sweep(n, count)
        self.layering.learns = self.layering.learns and not count
        for r, power in enumerate(self.powers):
            self.layering.step(self.model, self.states[self.at[r]], float(power), self.rng)


def layers_pay(problem: Problem) -> bool:
    """Are there many nodes, and scores that are known once and for all?"""
    changing = bool(problem.missing.any()) or problem.learn.gamma
    return problem.n_nodes > ALL and not problem.published and not changing
