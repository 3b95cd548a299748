"""Chains over graphs that may have circles: `chains` with another shape and another start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infinimix.networks.chains import KEEP, Chain, start_classes
from infinimix.networks.engine.acyclicity import Constants
from infinimix.networks.engine.blocks import UNDIRECTED, new_prior, new_state
from infinimix.networks.engine.chain import new_model, new_record, stack_states
from infinimix.networks.engine.free_graphs import choose_slots
from infinimix.networks.engine.graphs import words
from infinimix.networks.engine.scores import new_cache
from infinimix.networks.problem import Problem, make_data


@dataclass
class FreeProblem(Problem):
    """What all chains share; columns of X beyond the nodes are the variables before."""

    per_partition: bool = False
    shape: int = UNDIRECTED

    @property
    def n_nodes(self) -> int:
        """The number of variables."""
        return len(self.layout.cand)


class FreeChain(Chain):
    """One chain; single slots and classes move, and there are no larger moves on graphs."""

    def __init__(self, problem: FreeProblem, seed: np.random.SeedSequence, apart: bool) -> None:
        self.problem, self.rng, self.tell = problem, np.random.default_rng(seed), None
        self.X = problem.X
        self.data = make_data(problem, self.X)
        self.cache = new_cache(self.data, problem.layout)
        N, kept = problem.n_nodes, min(problem.n_iter, KEEP)
        self.thin = max(problem.n_iter // kept, 1)
        self.record = new_record(N, words(N), kept)
        A = start_graph(problem, self.rng, apart)
        self._start_graph(A, start_classes(problem, A, self.rng, apart))

    def _start_graph(self, A: np.ndarray, z: np.ndarray) -> None:
        p, N = self.problem, self.problem.n_nodes
        assert isinstance(p, FreeProblem)
        prior = new_prior(
            N, p.prior, False, p.alpha, p.beta, p.learn, p.anchor, p.roles, p.bonus,
            Constants.empty(N), p.shape,
        )  # fmt: skip
        model = new_model(self.data, p.layout, prior, self.cache)
        self.model = model._replace(couples=choose_slots(p.layout, p.shape))
        states = [new_state(prior, p.layout, A, z) for _ in p.powers]
        self.states, self.powers = stack_states(states), np.array(p.powers, float)
        self.at, self.larger = np.arange(len(p.powers)), np.zeros(3, np.int64)
        self.orders = None


def start_graph(problem: FreeProblem, rng: np.random.Generator, apart: bool) -> np.ndarray:
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
