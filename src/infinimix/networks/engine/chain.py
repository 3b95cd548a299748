"""One chain over graphs and partitions: sweeps, tempering, and what is remembered of them.

A sweep visits every pair of nodes with the three-way Gibbs move, and adds a few larger moves: sets
of parents, edge reversals, nodes with their class and links, swaps, classes and split-merges. With
several temperatures, each has a state of its own with the likelihood raised to its power, and
neighbours exchange powers.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import log
from infinimix.networks.engine.blocks import ACYCLIC, BLOCKS, log_prior
from infinimix.networks.engine.calls import Calls, call_of, through
from infinimix.networks.engine.class_moves import (
    draw_alpha,
    draw_beta,
    nearest,
    split_merge,
    swap_classes,
    visit_classes,
)
from infinimix.networks.engine.families import GAMMA
from infinimix.networks.engine.graph_moves import visit_pairs
from infinimix.networks.engine.graphs import has
from infinimix.networks.engine.hyper import (
    ALPHA,
    B1,
    B2,
    KEPT,
    LEARN_ALPHA,
    LEARN_BETA,
    LEARN_GAMMA,
    RECORDED_GAMMA,
    SWEEPS,
)
from infinimix.networks.engine.model import WIDTH, GraphModel
from infinimix.networks.engine.node_swaps import swap_nodes
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.relocation import relocate_some
from infinimix.networks.engine.reversal import reverse_edge
from infinimix.networks.engine.scores import compute_score, family_score, forget, set_logs
from infinimix.networks.engine.set_moves import redraw_set
from infinimix.networks.engine.sites import toggle_edges
from infinimix.networks.engine.unconstrained import slot_gibbs

GAMMA_GRID = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0])
SETS, NODES, SWAPS = range(3)  # of `larger`: how many of each move a sweep tries


@packed
class Moves(NamedTuple):
    """What a sweep is made of. Moves that a chain does not make are not compiled for it."""

    graphs: Calls  # (model, state, power, rng), in their order; one may come several times
    classes: Calls  # (model, state, rng)
    hyper: Calls  # (model, state, rng), of the hyper-parameters, with the state of power 1 alone
    between: Calls  # `exchange`, if there are several powers


move_graph = through(None, None, types.float64, None, returns=None)
move_classes = through(None, None, None, returns=None)
exchange_powers = through(None, None, None, None, None, returns=None)


@packed
class Record(NamedTuple):
    """What a chain remembers."""

    edges: np.ndarray  # (N, N) how often i -> j
    together: np.ndarray  # (N, N) how often i and j share a class
    graphs: np.ndarray  # (S, N, W) graphs of the kept sweeps
    classes: np.ndarray  # (S, N)
    ranks: np.ndarray  # (S, N) place of the class in the order; zeros if there is no order
    log_joint: np.ndarray  # (S,)
    hyper: np.ndarray  # (S, 4) alpha, b1, b2, gamma
    counters: np.ndarray  # (2,): SWEEPS, KEPT


def new_record(N, W, keep):
    """Return a record with room for so many kept sweeps."""
    return Record(
        np.zeros((N, N)), np.zeros((N, N)), np.zeros((keep, N, W), np.uint64),
        np.zeros((keep, N), np.int16), np.zeros((keep, N), np.int16), np.zeros(keep),
        np.zeros((keep, 4)), np.zeros(2, np.int64),
    )  # fmt: skip


@kernel
def log_likelihood(model, state):
    """Return the log marginal likelihood of the graph."""
    total = 0.0
    for c in range(state.fam.shape[0]):
        total += family_score(model.data, model.layout, model.cache, c, state.fam[c])
    return total


@kernel
def sweep(model, state, moves, power, rng):
    """One sweep of all moves."""
    for k in range(len(moves.graphs)):
        move_graph(moves.graphs[k], (model, state, power, rng))
    for k in range(len(moves.classes)):
        move_classes(moves.classes[k], (model, state, rng))


@kernel
def draw_gamma(model, state, rng):
    """Move gamma to a neighbour on its grid (Metropolis); scores are then computed again."""
    data, old = model.data, model.data.settings[GAMMA]
    at = nearest(GAMMA_GRID, old) + (1 if rng.random() < 0.5 else -1)
    if at < 0 or at >= GAMMA_GRID.shape[0]:
        return
    before, after = log_likelihood(model, state), 0.0
    data.settings[GAMMA] = GAMMA_GRID[at]
    set_logs(data)
    for c in range(state.fam.shape[0]):
        after += compute_score(data, model.layout, model.cache, c, state.fam[c])
    if log(1.0 - rng.random()) < after - before:
        forget(model.cache)
    else:
        data.settings[GAMMA] = old
        set_logs(data)


@kernel
def exchange(model, states, powers, at, rng):
    """Let neighbouring powers change places (Metropolis); `at[r]` is who has power r."""
    for r in range(powers.shape[0] - 1):
        mine = log_likelihood(model, states[at[r]])
        other = log_likelihood(model, states[at[r + 1]])
        if log(1.0 - rng.random()) < (powers[r] - powers[r + 1]) * (other - mine):
            at[r], at[r + 1] = at[r + 1], at[r]


@part
def count_sweep(pa, z, record):
    """Count the edges of a sweep, and which variables share a class."""
    n = z.shape[0]
    for i in range(n):
        for j in range(n):
            record.edges[i, j] += has(pa[j], i)
            record.together[i, j] += z[i] == z[j]
    record.counters[SWEEPS] += 1


@kernel
def note(model, state, record, keep):
    """Count a sweep, and keep its state if asked."""
    n = state.z.shape[0]
    count_sweep(state.pa, state.z, record)
    if keep and record.counters[KEPT] < record.graphs.shape[0]:
        s = record.counters[KEPT]
        for i in range(n):
            record.classes[s, i] = state.z[i]
            for w in range(state.pa.shape[1]):
                record.graphs[s, i, w] = state.pa[i, w]
        record.log_joint[s] = log_likelihood(model, state) + log_prior(model.prior, state)
        for k in (ALPHA, B1, B2):
            record.hyper[s, k] = model.prior.hyper[k]
        record.hyper[s, RECORDED_GAMMA] = model.data.settings[GAMMA]
        record.counters[KEPT] += 1


@kernel
def advance(model, states, moves, powers, at, n_sweeps, rounds, record, count, thin, rng):
    """Run so many sweeps of all powers, of some rounds each; `at[r]` is who has power r."""
    for _ in range(n_sweeps):
        for _ in range(rounds):
            for r in range(powers.shape[0]):
                sweep(model, states[at[r]], moves, powers[r], rng)
            if powers.shape[0] > 1:
                exchange_powers(moves.between[0], (model, states, powers, at, rng))
            for k in range(len(moves.hyper)):
                move_classes(moves.hyper[k], (model, states[at[0]], rng))
        if count:
            note(model, states[at[0]], record, (record.counters[SWEEPS] + 1) % thin == 0)


def new_model(data, layout, prior, cache):
    """Return a model with room to work."""
    N, K = len(layout.cand), prior.held.shape[1]
    couples = np.array(np.triu_indices(N, 1))
    first, second = couples
    possible = (layout.pos[second, first] >= 0) | (layout.pos[first, second] >= 0)
    strong = max(int(word).bit_count() for word in layout.strong)
    return GraphModel(
        data, layout, prior, cache, np.ascontiguousarray(couples[:, possible]),
        np.zeros(max(1 << strong, 2 * K + 2)), np.zeros((K, 68)),
        np.zeros((11, max(K, 64)), np.int64), np.zeros((11, 1 << WIDTH)),
        np.zeros((3, 1 << WIDTH), np.int64), np.zeros(1 << WIDTH, np.uint64),
    )  # fmt: skip


def split_moves(moves):
    """Return each move, and a sweep of it alone; together they are one sweep."""
    none, between = Calls(), moves.between
    parts = [(call, Moves(Calls([call]), none, none, between)) for call in moves.graphs]
    parts += [(call, Moves(none, Calls([call]), none, between)) for call in moves.classes]
    return [*parts, (None, Moves(none, none, moves.hyper, between))]


def no_moves(moves):
    """Return a sweep in which nothing moves but powers, to count a state."""
    return Moves(Calls(), Calls(), Calls(), moves.between)


def choose_moves(model, states, larger, rng, published=False):
    """Return what sweeps are made of; `larger` is how many of each larger move they try.

    With `published`, they have only the moves of the thesis.
    """
    prior, state = model.prior, states[0]
    graphs = [visit_pairs if prior.shape == ACYCLIC else slot_gibbs]
    graphs += [redraw_set, reverse_edge] * larger[SETS]
    graphs += [relocate_some] * larger[NODES] + [swap_nodes] * larger[SWAPS]
    classes = [visit_classes, swap_classes, split_merge] if prior.classes_move else []
    if published:
        graphs, classes = [toggle_edges], classes[:1]
    hyper = [draw_alpha] if prior.hyper[LEARN_ALPHA] > 0.0 and prior.classes_move else []
    hyper += [draw_beta] if prior.hyper[LEARN_BETA] > 0.0 and prior.kind == BLOCKS else []
    hyper += [draw_gamma] if prior.hyper[LEARN_GAMMA] > 0.0 else []
    powers, at = np.ones(len(states)), np.arange(len(states))
    between = [exchange] if len(states) > 1 else []
    return Moves(
        Calls(call_of(move, model, state, 1.0, rng) for move in graphs),
        Calls(call_of(move, model, state, rng) for move in classes),
        Calls(call_of(move, model, state, rng) for move in hyper),
        Calls(call_of(move, model, states, powers, at, rng) for move in between),
    )
