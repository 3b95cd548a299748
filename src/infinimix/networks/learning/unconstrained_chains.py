"""Chains over graphs that may have cycles: `chains` with another shape and another start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from infinimix.networks.engine.blocks import UNDIRECTED, new_prior
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.constants import Constants
from infinimix.networks.engine.families import Cache
from infinimix.networks.engine.unconstrained import choose_slots
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.completion import OWN_FAMILY, Ties, first_fill
from infinimix.networks.learning.problem import Problem
from infinimix.networks.learning.starts import start_classes


@dataclass
class UnconstrainedProblem(Problem):
    """What all chains share; columns of X beyond the nodes are the variables before."""

    per_partition: bool = False
    shape: int = UNDIRECTED
    rows: np.ndarray | None = None  # (n, N) of a dynamic network, whose X has pairs of rows
    holes: np.ndarray | None = None  # (n, N) bool: where cells are missing in them
    ties: Ties = OWN_FAMILY

    @property
    def n_nodes(self) -> int:
        """The number of variables."""
        return len(self.layout.cand)


class UnconstrainedChain(GraphChain):
    """One chain; single slots and classes move, and there are no larger moves on graphs."""

    problem: UnconstrainedProblem

    def _fill_holes(self) -> np.ndarray:
        p = self.problem
        if p.rows is None or p.holes is None:
            return super()._fill_holes()
        self.rows = first_fill(p.rows, p.holes, self.rng)
        return p.ties.table(self.rows)

    def _draw_cells(self, complete: Callable[..., None]) -> None:
        p, A = self.problem, self.adjacency()
        if p.rows is None:
            complete(self.X, p.missing, A, self.data, self.rng, p.ties)
            return
        complete(self.rows, p.holes, A, self.data, self.rng, p.ties)
        self.X = p.ties.table(self.rows)

    def _start(self, apart: bool) -> None:
        p, N = self.problem, self.problem.n_nodes
        self.cache = shrink(self.cache)
        A, z = start_unconstrained_graph(p, self.rng, apart), start_classes(p, self.rng, apart)
        prior = new_prior(
            N, p.prior, False, (p.alpha, *p.beta), p.learn, p.known, Constants.empty(N), p.shape,
        )  # fmt: skip
        model = new_model(self.data, p.layout, prior, self.cache)
        self._place(model._replace(couples=choose_slots(p.layout, p.shape)), A, z, (0, 0, 0))
        self.orders = None


def shrink(cache: Cache) -> Cache:
    """Return a cache with room for all sets of few candidates: it is emptied for every new cell."""
    N, slots = cache.values.shape
    room = 4 << N  # of which a quarter is ever used
    if room >= slots or cache.keys.shape[1] == 0:
        return cache
    values, keys = np.full((N, room), np.nan), np.zeros((N, room), np.uint64)
    return cache._replace(values=values, keys=keys)


def start_unconstrained_graph(
    problem: UnconstrainedProblem, rng: np.random.Generator, apart: bool
) -> np.ndarray:
    """Return the required edges; or with some others, drawn at random."""
    N, layout = problem.n_nodes, problem.layout
    bonus = np.zeros((N, N)) if problem.bonus is None else problem.bonus
    A = (bonus == np.inf).astype(np.uint8)
    both = problem.shape == UNDIRECTED
    if both:
        A |= A.T
    slots = choose_slots(layout, problem.shape).T
    for i, j in slots[rng.permutation(len(slots))] if apart else ():
        ends = A[:, [i, j]] if both else A[:, [j]]
        if ends.sum(axis=0).max() < min(layout.max_parents, 3) and rng.random() < 2.0 / N:
            A[i, j] = 1
            if both:
                A[j, i] = 1
    return A
