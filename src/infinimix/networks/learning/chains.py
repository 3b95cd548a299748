"""Chains over graphs and classes, from start to record: how they move, and what they remember.

A `Problem` is all that chains share. Each chain has caches, completions of missing cells and a
generator of its own, so chains in threads give what they give one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from infinimix.networks.engine.blocks import new_prior, new_state
from infinimix.networks.engine.candidates import ALL, MOST, full_layout, outside_mass
from infinimix.networks.engine.chain import (
    Record,
    advance,
    choose_moves,
    new_model,
    new_record,
    no_moves,
    split_moves,
)
from infinimix.networks.engine.class_moves import class_gibbs, split_merge, visit_classes
from infinimix.networks.engine.constants import shared_constants
from infinimix.networks.engine.families import Cache, ParentLayout
from infinimix.networks.engine.graph_moves import pair_gibbs, visit_pairs
from infinimix.networks.engine.graphs import to_adjacency, words
from infinimix.networks.engine.hyper import KEPT, SWEEPS
from infinimix.networks.engine.orders import new_orders, redraw
from infinimix.networks.engine.packs import Several
from infinimix.networks.engine.scores import forget, new_cache, set_rows
from infinimix.networks.learning.completed_tables import KeptCompletions
from infinimix.networks.learning.completion import first_fill
from infinimix.networks.learning.mixed_completion import completion_of
from infinimix.networks.learning.problem import Problem, make_data
from infinimix.networks.learning.starts import start_classes, start_graph
from infinimix.networks.learning.timing import Clock

PAIRS = 256  # of nodes that are visited between two looks at the clock
TRIES = 8  # graphs that are proposed whenever the whole graph is drawn again
KEEP = 500  # states that a chain remembers at most
KEEP_ALL = 20_000  # the same where the best of all visited states are asked for


class GraphChain:
    """One chain; `run` moves it on, `record` is what it has seen."""

    draws_whole = True  # graphs, where there are few nodes

    def __init__(self, problem: Problem, seed: np.random.SeedSequence, apart: bool) -> None:
        self.problem, self.rng = problem, np.random.default_rng(seed)
        self.tell: Callable[[dict[str, Any]], None] | None = None
        self.burned = 0  # sweeps of the burn-in, so far
        self.X = self._fill_holes()
        self.data = make_data(problem, self.X)
        self.cache = self._new_cache()
        self.begin_record()
        self._start(apart)

    def _new_cache(self) -> Cache:
        """Return an empty cache of scores."""
        return new_cache(self.data, self.problem.layout)

    def begin_record(self) -> None:
        """Forget all that was counted, and make room for as many sweeps as are to come."""
        p, N = self.problem, self.problem.n_nodes
        kept = min(p.n_iter, KEEP_ALL if p.keep_all else KEEP)
        self.thin = 1 if p.budget is not None else max(p.n_iter // kept, 1)
        self.record = new_record(N, words(N), kept)
        self.completions = KeptCompletions(p.missing)

    def _start(self, apart: bool) -> None:
        """Begin where `starts` says, and decide which larger moves there are."""
        p, N = self.problem, self.problem.n_nodes
        A, z = start_graph(p, self.rng, apart), start_classes(p, self.rng, apart)
        prior = new_prior(
            N, p.prior, p.per_partition, (p.alpha, *p.beta), p.learn, p.known, shared_constants(N),
        )  # fmt: skip
        scores_change = p.missing.any() or p.learn.gamma  # and are too many to compute again
        self.orders, self.draws_quickly = None, False
        model = new_model(self.data, p.layout, prior, self.cache)
        whole = self.draws_whole and N <= ALL and not p.published
        if whole and not scores_change:
            self.orders = new_orders(N, prior.held.shape[1], ALL)
            # Asked once, so that the moves of a chain do not depend on where it is.
            first = new_state(prior, p.layout, A, z)
            _, self.draws_quickly = redraw(model, first, self.orders, 0, 1.0, self.rng)
        self._place(model, A, z, self._larger())

    def _larger(self) -> tuple[int, int, int]:
        """Return how many of each larger move a sweep tries; few if graphs are drawn quickly."""
        N = self.problem.n_nodes
        if N > ALL:
            return (max(2, N // 8), 0, 2)
        quick = self.draws_quickly and self.problem.prior != "blockmodel"
        return (1, 0, 2) if quick else (1, N // 2, 2 * N)

    def _place(self, model: Any, A: np.ndarray, z: np.ndarray, larger: tuple[int, ...]) -> None:
        """Put all temperatures on one graph and its classes, and choose the moves."""
        p = self.problem
        self.model = model
        self.states = Several(new_state(model.prior, p.layout, A, z) for _ in p.powers)
        self.moves = choose_moves(model, self.states, larger, self.rng, p.published)
        self.powers, self.at = np.array(p.powers, float), np.arange(len(p.powers))

    def run(self) -> Record:
        """Run the chain: annealed start, burn-in, and the sweeps that count."""
        p, step = self.problem, self.step
        if p.budget is not None:
            clock = Clock(self, p.budget.take())
            clock.burn_in()
            clock.count()
            return self.record
        for k in range(0, p.burn_in, step):
            self.anneal(min(1.0, 0.1 + 1.8 * k / max(p.burn_in, 1)))
            self.advance(min(step, p.burn_in - k), False)
            self.report_burn_in(min(k + step, p.burn_in))
        self.anneal(1.0)
        for k in range(0, p.n_iter, step):
            self.advance(min(step, p.n_iter - k), True)
            self.report()
        return self.record

    @property
    def whole_burn_in(self) -> int:
        """How many sweeps the burn-in has, those made already included."""
        return self.burned + self.problem.burn_in

    def report_burn_in(self, done: int) -> None:
        """Tell how many sweeps of the burn-in are made."""
        self.burned = done
        self.report()

    def report(self) -> None:
        """Tell how far the chain is, if somebody wants to know."""
        if self.tell is not None:
            self.tell(self.progress())

    @property
    def rounds(self) -> int:
        """How often a sweep makes all moves: three times in small networks that learn classes."""
        return 3 if self.orders is not None and self.problem.prior == "blockmodel" else 1

    @property
    def step(self) -> int:
        """How many sweeps are made before whole graphs or missing cells are drawn."""
        if self.orders is not None:
            if not self.draws_quickly:
                return 10
            return 2 if self.problem.prior == "blockmodel" else 3
        return 5 if self.problem.missing.any() else 50

    def anneal(self, warm: float) -> None:
        """Multiply all powers of the likelihood."""
        self.powers[:] = np.array(self.problem.powers) * warm

    def advance(self, n: int, count: bool) -> None:
        """Run so many sweeps."""
        if count:
            self._make_room(n)
        self._sweep(n, count)
        if self.problem.missing.any():
            self._complete()
            if count:
                self.completions.note(*self._completion())

    def parts(self) -> Iterator[tuple[Any, float, Callable[[], None]]]:
        """Yield the moves of one sweep: what each does, a guess of its seconds, and the move.

        Pairs of nodes are visited a few at a time, and classes node by node. There is a guess where
        a move may need many constants of partitions, each of which takes seconds in large networks.
        """
        N, guess = self.problem.n_nodes, self._guess_constant()
        for call, moves in split_moves(self.moves):
            kind = call and call[0]
            if kind is visit_pairs:
                for begin in range(0, self.model.couples.shape[1], PAIRS):
                    yield kind, 0.0, partial(self._visit, begin)
            elif kind is visit_classes:
                for i in range(N):
                    yield kind, 4 * guess, partial(self._visit_class, i)
            else:
                many = N * guess if kind is split_merge else 0.0
                yield kind, many, partial(self._move, moves, 1, False)

    def _guess_constant(self) -> float:
        """Return about how many seconds the constant of a partition takes, if it is needed."""
        prior = self.model.prior
        return prior.constants.guess_seconds() if prior.per_partition else 0.0

    def finish_parts(self, count: bool) -> None:
        """Draw missing cells and whole graphs after a sweep by parts, and count the state."""
        self.advance(0, False)
        if count:
            self._make_room(1)
            self._move(no_moves(self.moves), 1, True)

    def _visit(self, begin: int) -> None:
        """Visit some pairs of nodes, at all temperatures."""
        end = min(begin + PAIRS, self.model.couples.shape[1])
        for r, power in enumerate(self.powers):
            pair_gibbs(self.model, self.states[self.at[r]], begin, end, float(power), self.rng)

    def _visit_class(self, i: int) -> None:
        """Draw the class of a node, at all temperatures."""
        for state in self.states:
            class_gibbs(self.model, state, i, self.rng)

    def _move(self, moves: Any, n: int, count: bool) -> None:
        """Make n sweeps of these moves."""
        advance(
            self.model, self.states, moves, self.powers, self.at, n, self.rounds, self.record,
            count, self.thin, self.rng,
        )  # fmt: skip

    def _sweep(self, n: int, count: bool) -> None:
        """Move edges and classes, and draw the whole graph again where that can be done."""
        self._move(self.moves, n, count)
        if self.orders is not None:
            state, power = self.states[self.at[0]], float(self.powers[0])
            redraw(self.model, state, self.orders, TRIES, power, self.rng)

    def _make_room(self, n: int) -> None:
        """Forget every other kept state when n more sweeps would be too many to remember."""
        record = self.record
        done, kept = int(record.counters[SWEEPS]), int(record.counters[KEPT])
        room = len(record.graphs)
        while kept > 1 and kept + (done + n) // self.thin - done // self.thin > room:
            for x in self._kept_arrays():
                x[: (kept + 1) // 2] = x[:kept:2].copy()
            kept = (kept + 1) // 2
            record.counters[KEPT] = kept
            self.thin *= 2

    def _kept_arrays(self) -> tuple[np.ndarray, ...]:
        """Return the arrays with an entry for each kept state."""
        r = self.record
        return r.graphs, r.classes, r.ranks, r.log_joint, r.hyper

    def _fill_holes(self) -> np.ndarray:
        """Return the rows to begin with."""
        return first_fill(self.problem.X, self.problem.missing, self.rng)

    def _draw_cells(self, complete: Callable[..., None]) -> None:
        """Draw the missing cells of the rows."""
        complete(self.X, self.problem.missing, self.adjacency(), self.data, self.rng)

    def _complete(self) -> None:
        """Draw the missing cells again; what was known of scores is forgotten."""
        self._draw_cells(completion_of(self.problem.cards))
        set_rows(self.data, self.X)
        self._forget()

    def _completion(self) -> tuple[np.ndarray, ...]:
        """Return the graph and the missing cells as they were drawn last."""
        return self._graph(), self.X[self.problem.missing]

    def _forget(self) -> None:
        """Forget all scores, as rows or gamma have changed."""
        forget(self.cache)

    def _graph(self) -> np.ndarray:
        """Return the graph as it is now, as words."""
        return np.asarray(self.states[self.at[0]].pa)

    def adjacency(self) -> np.ndarray:
        """Return the graph as it is now."""
        return to_adjacency(self._graph())

    def progress(self) -> dict[str, Any]:
        """Return how far the chain is."""
        done, kept = self.record.counters[SWEEPS], self.record.counters[KEPT]
        last = self.record.log_joint[kept - 1] if kept else np.nan
        return {
            "sweeps": int(done),
            "log_joint": float(last),
            "edges": self.record.edges / max(done, 1),
            "burn_in": self.burned,
        }

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


def _word(layout: ParentLayout, c: int, nodes: np.ndarray) -> np.uint64:
    """Return nodes as bits of the candidates of c."""
    return np.uint64(sum(1 << int(layout.pos[c, i]) for i in nodes if layout.pos[c, i] >= 0))
