"""Chains over several networks that share their roles, and the edge probabilities between these.

    P(G_1, ..., z_1, ...) = P(z_1, ...) prod_ab B(b1 + n+_ab, b2 + n-_ab) / B(b1, b2) [all acyclic]

where n+_ab and n-_ab count the edges and gaps of all networks, and pairs of variables of different
networks are no gaps. There is one constant for all; or (`per_partition` of the problems) each
network's Z(z_g), as if it were alone, is divided out. Given the other networks, this is the block
prior of one network with pseudo-counts: so each network has a chain of its own (`GraphChain`), and
a sweep visits one network after the other with the counts of the rest held. Roles of others come
first in the chain's numbering, and the network's own follow. Known roles are the first of all and
always there, as some variable has each; whoever has one keeps it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import lgamma
from typing import Any

import numpy as np

from infinimix.networks.engine.blocks import ChainState, set_beta
from infinimix.networks.engine.chain import Record, log_likelihood
from infinimix.networks.engine.constants import log_constant
from infinimix.networks.engine.hyper import ALPHA, EDGES, KEPT, PAIRS, STICKS, SWEEPS
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.problem import Problem
from infinimix.networks.learning.timing import BURN_IN
from infinimix.networks.shared.weights import draw_weights, log_common, log_franchise


@dataclass
class Sharing:
    """How roles are shared; `c` is None for one common process."""

    alpha: float
    c: float | None

    def log_partition(self, n: np.ndarray) -> float:
        """Return log P(z) for counts (networks, roles)."""
        return log_common(n, self.alpha) if self.c is None else log_franchise(n, self.alpha, self.c)


class SharedChain(GraphChain):
    """The chain of one network, whose visits are one sweep long: too short for whole graphs."""

    draws_whole = False


class Networks:
    """One state of all networks; `visit` moves one of them on, given the others."""

    def __init__(
        self, problems: list[Problem], sharing: Sharing, seed: np.random.SeedSequence, apart: bool
    ) -> None:
        self.sharing = sharing
        *seeds, own = seed.spawn(len(problems) + 1)
        self.rng = np.random.default_rng(own)
        sizes = [p.n_nodes for p in problems]
        self.n_known = count_known(problems)
        K = sum(sizes) + self.n_known + 1
        self.chains = []
        for problem, s in zip(problems, seeds, strict=True):
            room = K - 1 - problem.n_nodes
            problem = replace(problem, roles=np.zeros((3, room, room), np.int64))
            self.chains.append(_widened(SharedChain(problem, s, apart), sum(m * m for m in sizes)))
        self.z = [self._first_roles(g) for g, _ in self.each()]
        self.n = np.array([np.bincount(z, minlength=K) for z in self.z])
        self.edges = np.zeros((len(problems), K, K), np.int64)
        for g, chain in self.each():
            np.add.at(self.edges[g], tuple(self.z[g][np.argwhere(chain.adjacency())].T), 1)
        self.w, self.rest = (self.n.sum(axis=0) > 0) / K, 0.5
        self.draw_weights()

    def each(self) -> enumerate[GraphChain]:
        """Return the networks and their chains."""
        return enumerate(self.chains)

    def _state(self, g: int) -> ChainState:
        return self.chains[g].states[0]

    def _first_roles(self, g: int) -> np.ndarray:
        """Return the roles that network g begins with; its chain numbers its own after n_roles."""
        z, n_roles = self._state(g).z, self.chains[g].model.prior.n_roles
        return np.asarray(np.where(z < n_roles, z, z - n_roles + self.n_known))

    def draw_weights(self) -> None:
        """Draw the weights of the roles, if networks have proportions of their own."""
        alpha, c = self.sharing.alpha, self.sharing.c
        if c is not None:
            self.w, self.rest = draw_weights(self.n, self.w, alpha, c, self.rng)

    def sweep(self, power: float, records: list[Record] | None = None) -> None:
        """Visit every network once, and count what was seen if there are records."""
        for g, chain in self.each():
            chain.powers[:] = power
            if records is not None:
                chain.record = records[g]
            self.visit(g, records is not None)
        self.draw_weights()

    def visit(self, g: int, count: bool) -> None:
        """Move network g on by one sweep of its chain, given the others."""
        chain, state, K = self.chains[g], self._state(g), self.n.shape[1]
        prior = chain.model.prior
        others = self.n.sum(axis=0) - self.n[g]
        stays = others > 0
        stays[: self.n_known] = True
        first, own = stays.nonzero()[0], ((self.n[g] > 0) & ~stays).nonzero()[0]
        at = np.concatenate([np.arange(len(first)), prior.n_roles + np.arange(len(own))])
        held = np.concatenate([first, own])
        names = np.full(K, -1)  # of the chain's classes
        names[at] = held
        self._hold(g, prior, names, at, len(first))
        local = np.zeros(K, np.int64)
        local[held] = at
        state.z[:] = local[self.z[g]]
        state.m[:] = np.bincount(state.z, minlength=K)
        state.key[0] = prior.constants.hashes[state.m].sum()
        state.plus[:] = prior.held[EDGES]
        state.plus[at[:, None], at] += self.edges[g][held[:, None], held]
        chain.advance(1, count)
        new = ((state.m > 0) & (names < 0)).nonzero()[0]
        if len(new):
            free = np.ones(K, bool)
            free[held] = False
            names[new] = free.nonzero()[0][: len(new)]
        self._take(g, prior, state, names)

    def _hold(self, g: int, prior: Any, names: np.ndarray, at: np.ndarray, r: int) -> None:
        """Give the prior of network g what the others have."""
        roles = names[:r]
        size = self.n[np.arange(len(self.n)) != g][:, roles]
        prior.held[:] = 0
        edges = self.edges.sum(axis=0) - self.edges[g]
        prior.held[EDGES, :r, :r] = edges[roles[:, None], roles]
        total = size.sum(axis=0)
        prior.held[PAIRS, :r, :r] = size.T @ size - np.diag(total)
        prior.pseudo_members[:] = 0.0
        if self.sharing.c is None:
            prior.hyper[ALPHA] = self.sharing.alpha
            prior.pseudo_members[:r] = total
        else:
            prior.hyper[ALPHA] = max(self.sharing.c * self.rest, 1e-100)
            prior.hyper[STICKS] = self.sharing.alpha
            prior.pseudo_members[at] = self.sharing.c * self.w[names[at]]

    def _take(self, g: int, prior: Any, state: ChainState, names: np.ndarray) -> None:
        """Take over what the chain of network g has come to."""
        live = state.m.nonzero()[0]
        roles = names[live]
        self.z[g] = names[state.z]
        self.n[g] = 0
        self.n[g, roles] = state.m[live]
        self.edges[g] = 0
        own = (state.plus - prior.held[EDGES])[live[:, None], live]
        self.edges[g][roles[:, None], roles] = own
        if self.sharing.c is not None:
            known = np.flatnonzero(names >= 0)
            self.w = np.zeros(len(self.w))
            self.w[names[known]] = prior.pseudo_members[known] / self.sharing.c
            self.rest = prior.hyper[ALPHA] / self.sharing.c

    def log_likelihood(self) -> float:
        """Return the log marginal likelihood of all graphs."""
        return sum(log_likelihood(chain.model, self._state(g)) for g, chain in self.each())

    def log_joint(self) -> float:
        """Return the log of likelihood and prior, up to one constant."""
        b1, b2 = self.chains[0].problem.beta
        edges = self.edges.sum(axis=0)
        gaps = self.n.T @ self.n - np.diag(self.n.sum(axis=0)) - edges
        total = self.log_likelihood() + self.sharing.log_partition(self.n)
        for a, b in np.argwhere(edges + gaps):
            x, y = b1 + int(edges[a, b]), b2 + int(gaps[a, b])
            total += lgamma(x) + lgamma(y) - lgamma(x + y)
            total -= lgamma(b1) + lgamma(b2) - lgamma(b1 + b2)
        for g, chain in self.each():
            bonus = chain.model.prior.bonus
            total += float(np.where(np.isfinite(bonus), bonus, 0.0)[chain.adjacency() > 0].sum())
            if chain.model.prior.per_partition:
                prior, state = chain.model.prior, self._state(g)
                total -= log_constant(prior.constants, state.key[0], state.m, prior.hyper)
        return total


def count_known(problems: list[Problem]) -> int:
    """Return how many roles are known, in all networks together."""
    return max(int(np.max(p.anchor, initial=-1)) + 1 if p.anchor is not None else 0
               for p in problems)  # fmt: skip


def _widened(chain: GraphChain, pairs: int) -> GraphChain:
    """Let the tables of a chain reach to the pairs of all networks."""
    prior = chain.model.prior
    prior = prior._replace(logs=np.zeros((3, pairs + 2)))
    set_beta(prior)
    chain.model = chain.model._replace(prior=prior)
    return chain


class JointChain:
    """One chain over all networks, tempered if there are several powers."""

    def __init__(
        self, problems: list[Problem], sharing: Sharing, powers: Any,
        seed: np.random.SeedSequence, apart: bool,
    ) -> None:  # fmt: skip
        *seeds, own = seed.spawn(len(powers) + 1)
        self.rng = np.random.default_rng(own)
        self.states = [Networks(problems, sharing, s, apart) for s in seeds]
        self.powers = tuple(float(x) for x in powers)
        self.problem = problems[0]  # says how long to go on
        self._clear()
        self.tell: Callable[[dict[str, Any]], None] | None = None
        self.burned = 0  # sweeps of the burn-in, so far

    def begin_record(self) -> None:
        """Forget all that was counted, and make room for as many sweeps as are to come."""
        for state in self.states:
            for chain in state.chains:
                chain.problem.n_iter = self.problem.n_iter
                chain.begin_record()
        self._clear()

    def _clear(self) -> None:
        """Count from nothing on, in the records of the chains of the state that is not tempered."""
        self.records = [chain.record for chain in self.states[0].chains]
        timed = self.problem.budget is not None
        self._set_thin(1 if timed else -(-self.problem.n_iter // len(self.records[0].graphs)))
        total = sum(chain.problem.n_nodes for chain in self.states[0].chains)
        self.together = np.zeros((total, total))
        self.kept: list[tuple[np.ndarray, float]] = []  # roles of all variables, log joint

    @property
    def whole_burn_in(self) -> int:
        """How many sweeps the burn-in has, those made already included."""
        return self.burned + self.problem.burn_in

    def _set_thin(self, thin: int) -> None:
        """Let all networks, at all powers, keep the same sweeps."""
        for state in self.states:
            for chain in state.chains:
                chain.thin = thin

    def run(self) -> JointChain:
        """Run the chain: annealed start, burn-in, and the sweeps that count."""
        p = self.problem
        seconds = np.inf if p.budget is None else p.budget.take()
        start, done = time.monotonic(), 0

        def gone() -> float:
            return (time.monotonic() - start) / seconds

        while done < p.burn_in and gone() < BURN_IN:
            self._sweep(min(1.0, 0.1 + 1.8 * max(done / p.burn_in, gone() / BURN_IN)), None)
            done += 1
            self.burned = done
            if self.tell is not None and done % 50 == 0:
                self.tell(self.progress())
        done = 0
        while done < p.n_iter and (done == 0 or gone() < 1.0):
            self._sweep(1.0, self.records)
            self._note()
            done += 1
            if self.tell is not None and (done % 50 == 0 or done == p.n_iter):
                self.tell(self.progress())
        return self

    def _sweep(self, warm: float, records: list[Record] | None) -> None:
        for r in range(len(self.powers) - 1):  # neighbours exchange states (Metropolis)
            mine, other = (self.states[k].log_likelihood() for k in (r, r + 1))
            change = (self.powers[r] - self.powers[r + 1]) * warm * (other - mine)
            if np.log1p(-self.rng.random()) < change:
                self.states[r], self.states[r + 1] = self.states[r + 1], self.states[r]
        for r, power in enumerate(self.powers):
            self.states[r].sweep(power * warm, records if r == 0 else None)

    def _note(self) -> None:
        """Count which variables share a role, and keep the roles when the graphs were kept."""
        z = np.concatenate(self.states[0].z)
        self.together += z[:, None] == z
        self._set_thin(self.states[0].chains[0].thin)
        kept, thin = int(self.records[0].counters[KEPT]), len(self.kept)
        while kept < thin:  # the records had no room, and every other state was forgotten
            self.kept, thin = self.kept[::2], (thin + 1) // 2
        if kept > len(self.kept):
            self.kept.append((z, self.states[0].log_joint()))

    def progress(self) -> dict[str, Any]:
        """Return how far the chain is."""
        done = int(self.records[0].counters[SWEEPS])
        return {
            "sweeps": done,
            "log_joint": self.kept[-1][1] if self.kept else np.nan,
            "edges": np.concatenate([r.edges.ravel() for r in self.records]) / max(done, 1),
            "burn_in": self.burned,
        }
