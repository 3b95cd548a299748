"""Chains from start to record: where to begin, moves on graphs or on classes, what is remembered.

A `Problem` is all that chains share. Each chain has caches, completions of missing cells and a
generator of its own, so chains in threads give what they give one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from infinimix.networks.completion import complete_discrete, complete_gaussian, first_fill
from infinimix.networks.engine.acyclicity import Constants
from infinimix.networks.engine.blocks import State, new_prior, new_state
from infinimix.networks.engine.candidates import ALL, MOST, full_layout, outside_mass
from infinimix.networks.engine.chain import (
    GAMMA_GRID,
    Record,
    advance,
    new_model,
    new_record,
    stack_states,
)
from infinimix.networks.engine.graphs import to_adjacency, topological_order, words
from infinimix.networks.engine.ordered import Row, Sums, fill_weights
from infinimix.networks.engine.ordered_chain import advance_row
from infinimix.networks.engine.orders import new_orders, redraw
from infinimix.networks.engine.scores import (
    GAMMA,
    Layout,
    compute_score,
    fill_scatter,
    forget,
    new_cache,
    set_logs,
)
from infinimix.networks.problem import Problem, make_data

TRIES = 8  # graphs that are proposed whenever the whole graph is drawn anew
KEEP = 500  # states that a chain remembers at most
_CONSTANTS: dict[int, Constants] = {}


class Chain:
    """One chain; `run` moves it on, `record` is what it has seen."""

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, apart: bool) -> None:
        self.problem, self.rng = problem, np.random.default_rng(seed)
        self.tell: Callable[[dict[str, Any]], None] | None = None
        self.X = first_fill(problem.X, problem.missing, self.rng)
        self.data = make_data(problem, self.X)
        self.cache = new_cache(self.data, problem.layout)
        N = problem.n_nodes
        kept = min(problem.n_iter, KEEP)
        self.thin = 1 if problem.seconds is not None else max(problem.n_iter // kept, 1)
        self.record = new_record(N, words(N), kept)
        A, z = start(problem, self.rng, apart)
        (self._start_row if problem.prior == "ordered" else self._start_graph)(A, z)

    def _start_graph(self, A: np.ndarray, z: np.ndarray) -> None:
        p, N = self.problem, self.problem.n_nodes
        prior = new_prior(
            N, p.prior, p.per_partition, p.alpha, p.beta, p.learn, p.anchor, p.roles, p.bonus,
            _CONSTANTS.setdefault(N, Constants.empty(N)),
        )  # fmt: skip
        self.model = new_model(self.data, p.layout, prior, self.cache)
        states = [new_state(prior, p.layout, A, z) for _ in p.powers]
        self.states, self.powers = stack_states(states), np.array(p.powers, float)
        self.at = np.arange(len(p.powers))
        self.larger = np.array([1, N // 2, 2 * N] if N <= ALL else [max(2, N // 8), 0, 2])
        scores_change = p.missing.any() or p.learn[2]  # and are too many to compute again
        self.orders = None
        if N <= ALL and p.prior in ("uniform", "sparse") and not scores_change:
            self.orders = new_orders(N, prior.held.shape[1], ALL)

    def _redraw(self) -> None:
        """Draw the whole graph anew."""
        state = State(*(part[self.at[0]] for part in self.states))
        redraw(self.model, state, self.orders, TRIES, float(self.powers[0]), self.rng)

    def _start_row(self, A: np.ndarray, z: np.ndarray) -> None:
        p, N = self.problem, self.problem.n_nodes
        size = 1 << p.layout.cand.shape[1]
        bonus = np.zeros((N, N)) if p.bonus is None else p.bonus
        odds = np.exp(np.where(np.isinf(bonus), 0.0, bonus))
        anchor = np.full(N, -1) if p.anchor is None else np.asarray(p.anchor, np.int64)
        self.sums = Sums(
            self.data, p.layout, self.cache, np.zeros((N, size)), np.zeros((N, size)),
            np.array([p.alpha, *p.beta, *p.learn], float), odds, anchor,
            np.zeros(size, np.uint64), np.zeros(size),
        )  # fmt: skip
        self.must = np.zeros(N, np.uint64)
        for i, c in np.argwhere(bonus == np.inf):
            self.must[c] |= np.uint64(1 << int(p.layout.pos[c, i]))
        fill_weights(self.sums, self.must)
        role = np.full(N + 2, -1)
        for i in np.flatnonzero(anchor >= 0):
            role[z[i]] = anchor[i]
        eta = np.full((N + 2, N + 2), 0.5)
        info = np.array([z.max() + 1, p.order_known], np.int64)
        pa, fam = np.zeros((N, words(N)), np.uint64), np.zeros(N, np.uint64)
        self.row = Row(z.astype(np.int64), eta, role, info, pa, fam)

    def outside_mass(self) -> np.ndarray:
        """Return, for each node, the weight of one more parent that is no strong candidate."""
        layout, A, N = self.problem.layout, self.adjacency(), self.problem.n_nodes
        bonus = np.zeros((N, N)) if self.problem.bonus is None else self.problem.bonus
        wide = full_layout(bonus > -np.inf, layout.max_parents) if N <= MOST + 1 else layout
        out = np.zeros(N)
        for c in range(N):
            here = layout.cand[c]
            strong = here[[bool(int(layout.strong[c]) >> k & 1) for k in range(len(here))]]
            wide.strong[c] = _word(wide, c, strong)
            parents = _word(wide, c, np.flatnonzero(A[:, c]))
            out[c] = outside_mass(self.data, wide, self.cache, c, parents)
        return out

    def adjacency(self) -> np.ndarray:
        """Return the graph as it is now."""
        ordered = self.problem.prior == "ordered"
        return to_adjacency(self.row.pa if ordered else self.states.pa[self.at[0]])

    def advance(self, n: int, count: bool, heat: float = 1.0) -> None:
        """Run so many sweeps."""
        if count:
            self._make_room(n)
        if self.problem.prior == "ordered":
            advance_row(self.sums, self.row, n, self.record, count, self.thin, self.rng)
        else:
            advance(
                self.model, self.states, self.powers, self.at, self.larger, n, heat, self.record,
                count, self.thin, self.rng,
            )  # fmt: skip
            if self.orders is not None:
                self._redraw()
        if self.problem.prior == "ordered" and self.problem.learn[2]:
            self._draw_gamma()
        if self.problem.missing.any():
            self._complete()

    def _draw_gamma(self) -> None:
        """Move gamma to a neighbour on its grid, for the ordered chain (as `draw_gamma`)."""
        dials, old = self.data.dials, float(self.data.dials[GAMMA])
        at = int(np.abs(GAMMA_GRID - old).argmin()) + int(self.rng.choice([-1, 1]))
        if not 0 <= at < len(GAMMA_GRID):
            return
        logs = []
        for gamma in (old, GAMMA_GRID[at]):
            dials[GAMMA] = gamma
            set_logs(self.data)
            logs.append(
                sum(
                    compute_score(self.data, self.problem.layout, self.cache, c, word)
                    for c, word in enumerate(self.row.fam)
                )
            )
        if np.log1p(-self.rng.random()) < logs[1] - logs[0]:
            forget(self.cache)
            fill_weights(self.sums, self.must)
        else:
            dials[GAMMA] = old
            set_logs(self.data)

    def _make_room(self, n: int) -> None:
        """Forget every other kept state when n more sweeps would be too many to remember."""
        record = self.record
        done, kept = (int(x) for x in record.tally)
        room = len(record.graphs)
        while kept > 1 and kept + (done + n) // self.thin - done // self.thin > room:
            for x in (record.graphs, record.classes, record.ranks, record.log_joint, record.hyper):
                x[: (kept + 1) // 2] = x[:kept:2].copy()
            kept = (kept + 1) // 2
            record.tally[1] = kept
            self.thin *= 2

    def _complete(self) -> None:
        """Draw the missing cells anew; what was known of scores is forgotten."""
        complete = complete_gaussian if self.problem.cards is None else complete_discrete
        complete(self.X, self.problem.missing, self.adjacency(), self.data, self.rng)
        if self.problem.cards is None:
            fill_scatter(self.data, self.X)
        else:
            self.data.codes[:] = self.X.T
        forget(self.cache)
        if self.problem.prior == "ordered":
            fill_weights(self.sums, self.must)

    def run(self) -> Record:
        """Run the chain: annealed start, burn-in, and the sweeps that count."""
        p = self.problem
        end = None if p.seconds is None else time.monotonic() + p.seconds
        step = 5 if p.missing.any() or (p.prior == "ordered" and p.learn[2]) else 50
        if self.larger_moves and self.orders is not None:
            step = 10
        for k in range(0, p.burn_in, step):
            warm = min(1.0, 0.1 + 1.8 * k / max(p.burn_in, 1)) if self.larger_moves else 1.0
            self.powers_scale(warm)
            self.advance(min(step, p.burn_in - k), False)
            if end is not None and time.monotonic() > end - 0.6 * float(p.seconds or 0.0):
                break
        self.powers_scale(1.0)
        for k in range(0, p.n_iter, step):
            self.advance(min(step, p.n_iter - k), True)
            if self.tell is not None:
                self.tell(self.progress())
            if end is not None and time.monotonic() > end:
                break
        return self.record

    @property
    def larger_moves(self) -> bool:
        """Is it a chain over graphs, which can be annealed?"""
        return self.problem.prior != "ordered"

    def powers_scale(self, warm: float) -> None:
        """Multiply all powers of the likelihood."""
        if self.larger_moves:
            self.powers[:] = np.array(self.problem.powers) * warm

    def progress(self) -> dict[str, Any]:
        """Return how far the chain is."""
        done, kept = self.record.tally
        last = self.record.log_joint[kept - 1] if kept else np.nan
        return {
            "sweeps": int(done),
            "log_joint": float(last),
            "edges": self.record.edges / max(done, 1),
        }


def _word(layout: Layout, c: int, nodes: np.ndarray) -> np.uint64:
    """Return nodes as bits of the candidates of c."""
    return np.uint64(sum(1 << int(layout.pos[c, i]) for i in nodes if layout.pos[c, i] >= 0))


def start(problem: Problem, rng: np.random.Generator, apart: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return a graph and a partition to begin with: empty and one class, or drawn at random."""
    N, layout = problem.n_nodes, problem.layout
    A = np.zeros((N, N), np.uint8)
    if problem.bonus is not None:
        A[problem.bonus == np.inf] = 1
    if apart and problem.prior != "ordered":
        place = np.empty(N, np.int64)
        place[topological_order(A)] = np.arange(N)
        if not A.any():
            place = rng.permutation(N)
        for j in range(N):
            for i in rng.permutation(N):
                free = layout.pos[j, i] >= 0 and place[i] < place[j] and not A[i, j]
                if free and A[:, j].sum() < min(layout.max_parents, 3) and rng.random() < 2.0 / N:
                    A[i, j] = 1
    return A, start_classes(problem, A, rng, apart)


def start_classes(
    problem: Problem, A: np.ndarray, rng: np.random.Generator, apart: bool
) -> np.ndarray:
    """Return classes to begin with: all in one, or at random; known ones where they belong."""
    N = problem.n_nodes
    anchor = np.full(N, -1) if problem.anchor is None else np.asarray(problem.anchor)
    n_roles = 0 if problem.roles is None else problem.roles.shape[1]
    if problem.prior == "ordered":
        if (anchor >= 0).any() or A.any():
            return _ordered_start(anchor, A)
        z = rng.integers(min(3, N), size=N) if apart else np.zeros(N, np.int64)
        return np.unique(z, return_inverse=True)[1].astype(np.int64)
    if problem.prior in ("uniform", "sparse"):
        return np.zeros(N, np.int64)
    z = n_roles + (rng.integers(min(4, N), size=N) if apart else np.zeros(N, np.int64))
    return np.where(anchor >= 0, anchor, z)


def _ordered_start(anchor: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return classes in an order that required edges and known roles allow."""
    N = len(anchor)
    depth = np.zeros(N, np.int64)
    for j in topological_order(A):
        above = np.flatnonzero(A[:, j])
        depth[j] = max((depth[i] + 1 for i in above), default=0)
    known = anchor >= 0
    if not known.any():
        return depth
    z = np.where(known, anchor, anchor.max() + 1 + depth)
    z = np.unique(z, return_inverse=True)[1].astype(np.int64)
    for i, j in np.argwhere(A):
        if z[i] >= z[j]:
            raise ValueError(
                "required edges contradict the known roles: with prior='ordered' an edge leads "
                "from an earlier role to a later one"
            )
    return z
