"""Chains over graphs whose effects have signs: `chains` with other scores and other class moves.

Scores depend on the share of positive effects of each class, which is drawn in every sweep. So
there are no tempered copies, which share a cache, no tables of all sets, and none of the moves that
give a node another class together with other links. Missing cells are drawn given signs and tables
that were drawn given the rows before (`monotone_draws`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infinimix.networks.engine.calls import Calls, call_of
from infinimix.networks.engine.candidates import ALL
from infinimix.networks.engine.families import Cache
from infinimix.networks.engine.graphs import ZERO, to_adjacency, words
from infinimix.networks.engine.hyper import KEPT, SWEEPS
from infinimix.networks.engine.signed_moves import move_signed_classes, note_signs
from infinimix.networks.engine.signed_scores import new_signed_cache
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.monotone_draws import draw_signed_table
from infinimix.networks.learning.posterior import average


class SignRecord(NamedTuple):
    """What a chain remembers of signs."""

    negative: np.ndarray  # (S, N, W) uint64: parents with a negative effect, of the kept sweeps
    counts: np.ndarray  # (N, N) how often there was a negative effect of i on j


class SignedChain(GraphChain):
    """One chain; the signs are summed out while edges move, and drawn while classes move."""

    draws_whole = False

    def _new_cache(self) -> Cache:
        p = self.problem
        n_roles = 0 if p.roles is None else p.roles.shape[1]
        return new_signed_cache(self.data, p.layout, p.n_nodes + n_roles + 1)

    def begin_record(self) -> None:
        """Forget all that was counted, and make room for as many sweeps as are to come."""
        super().begin_record()
        kept, N = len(self.record.graphs), self.problem.n_nodes
        self.signs = SignRecord(np.zeros((kept, N, words(N)), np.uint64), np.zeros((N, N)))

    def _larger(self) -> tuple[int, int, int]:
        N = self.problem.n_nodes
        return (max(N // 2, 2) if N <= ALL else max(2, N // 8)), 0, 0

    def _start(self, apart: bool) -> None:
        super()._start(apart)
        move = call_of(move_signed_classes, self.model, self.states[0], self.rng)
        self.moves = self.moves._replace(classes=Calls([move]))

    def _move(self, moves: Any, n: int, count: bool) -> None:
        """Make n sweeps of these moves; of those that count, the signs are noted."""
        if not count:
            super()._move(moves, n, False)
            return
        counters, N = self.record.counters, self.problem.n_nodes
        for _ in range(n):
            kept, now = int(counters[KEPT]), np.zeros((N, words(N)), np.uint64)
            super()._move(moves, 1, True)
            log_joint = note_signs(self.model, self.states[0], now, self.rng)
            self.signs.counts[:] += to_adjacency(now)
            if counters[KEPT] > kept:
                self.signs.negative[kept] = now
                self.record.log_joint[kept] = log_joint

    def _draw_cells(self, complete: Callable[..., None]) -> None:
        """Draw signs, tables that have them, and the missing cells of the rows."""
        N = self.problem.n_nodes
        self.negative = np.zeros((N, words(N)), np.uint64)
        self.cache.signs.drawn_for[:] = ~ZERO  # so that all signs are drawn again
        note_signs(self.model, self.states[0], self.negative, self.rng)
        effects = self.adjacency().astype(int) - 2 * to_adjacency(self.negative)
        complete(self.X, self.problem.missing, effects, self.data, self.rng, draw=draw_signed_table)

    def _completion(self) -> tuple[np.ndarray, ...]:
        return (*super()._completion(), self.negative)

    def _forget(self) -> None:
        super()._forget()
        self.cache.signs.values[:, :, 0] = np.nan
        self.cache.signs.held[:] = 0

    def _kept_arrays(self) -> tuple[np.ndarray, ...]:
        return (*super()._kept_arrays(), self.signs.negative)


def gather_signs(chains: list[Any]) -> np.ndarray | None:
    """Return the negative effects in the kept states of all chains; None if there are no signs."""
    if not isinstance(chains[0], SignedChain):
        return None
    kept = [chain.signs.negative[: int(chain.record.counters[KEPT])] for chain in chains]
    return np.concatenate(kept)


def negative_marginals(found: dict[str, Any], chains: list[Any], visited: bool) -> np.ndarray:
    """Return the probability of a negative effect of i on j: in all sweeps, or by weights."""
    if visited:
        done = sum(int(chain.record.counters[SWEEPS]) for chain in chains)
        return np.asarray(sum(chain.signs.counts for chain in chains) / max(done, 1))
    negative = to_adjacency(found["draws"].negative[found["places"]]).astype(float)
    return average(found["weights"], negative)
