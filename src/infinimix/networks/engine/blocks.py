"""The block prior: a CRP partition of the nodes, and a Beta-Bernoulli for each pair of classes.

    P(G, z) = CRP(z; alpha) prod_ab B(b1 + n+_ab, b2 + n-_ab) / B(b1, b2) [G acyclic] / Z(z)

over ordered pairs i != j with i in a and j in b, a = b included. Z(z) is 1 with one constant for
all (`normalise="global"`) and the probability of acyclicity given z with `"partition"`. One class
that never changes is the prior `sparse`; no blocks at all is `uniform`. Roles that are known, or
brought from another network, are classes that exist from the start, with pseudo-counts.

Graphs of other shapes have no acyclicity and no Z. An undirected graph is kept as both directions
of its edges, and its blocks are unordered pairs of classes: what is counted within a class is there
twice, and so are the counts between classes. In a dynamic network i -> i is legal; such loops are
in no block, but have one Beta-Bernoulli of their own, for all nodes.
"""

from math import lgamma
from typing import NamedTuple

import numpy as np
from numba import types

from infinimix.kernels.compile import kernel, part
from infinimix.kernels.elementary import log
from infinimix.networks.engine.calls import Calls, call_of, through
from infinimix.networks.engine.constants import Constants, log_constant
from infinimix.networks.engine.graphs import ONE, ZERO, bit, has, lowest, words
from infinimix.networks.engine.hyper import ALPHA, B1, B2, EDGES, MEMBERS, PAIRS
from infinimix.networks.engine.packs import packed

UNIFORM, BLOCKS = 0, 1
LINKED, APART, BOTH = range(3)  # rows of `logs`
ACYCLIC, UNDIRECTED, DYNAMIC = range(3)
constant_at = through(None, types.uint64, None, None, returns=types.float64)
BETA_GRID = (0.25, 0.5, 1.0, 2.0, 4.0)


@packed
class Prior(NamedTuple):
    """What is believed of graphs before the rows are seen."""

    hyper: np.ndarray  # ALPHA, B1, B2, what is learned, STICKS
    logs: np.ndarray  # (3, T): LINKED, APART, BOTH: lgamma of b1 + k, b2 + k, b1 + b2 + k
    anchor: np.ndarray  # (N,) the known class of a node, -1 if it is not known
    held: np.ndarray  # (2, K, K) int64: pseudo-edges and pseudo-pairs, EDGES and PAIRS
    pseudo_members: np.ndarray  # (K,)
    bonus: np.ndarray  # (N, N), [parent, child]: log odds from the user; -inf no, inf always
    constants: Constants
    calls: Calls  # `log_constant`, if it has a say
    kind: int
    n_roles: int  # classes 0 .. n_roles - 1 exist from the start
    classes_move: bool
    per_partition: bool
    shape: int  # ACYCLIC, UNDIRECTED or DYNAMIC


class Known(NamedTuple):
    """What the user knows; None where nothing is known."""

    anchor: np.ndarray | None = None  # (N,) the known class of a node, -1 if it is not known
    roles: np.ndarray | None = None  # (3, L, L): EDGES, PAIRS, MEMBERS that classes have before
    bonus: np.ndarray | None = None  # (N, N), [parent, child]: log odds


NOTHING = Known()


@packed
class ChainState(NamedTuple):
    """A graph and a partition."""

    fam: np.ndarray  # (N,) uint64: parents as bits of the child's candidates
    pa: np.ndarray  # (N, W) uint64: parents as bits of the nodes
    z: np.ndarray  # (N,) int64
    m: np.ndarray  # (K,) members of each class
    plus: np.ndarray  # (K, K) edges from class to class, pseudo-edges included
    key: np.ndarray  # (1,) uint64: identifies the sizes of the classes


@part
def pairs(prior, state, a, b):
    """Return the number of ordered pairs from class a to class b."""
    own = state.m[a] - 1 if a == b else state.m[b]
    return state.m[a] * own + prior.held[PAIRS, a, b]


@part
def log_beta(prior, n, total):
    """Return log B(b1 + n, b2 + total - n)."""
    return prior.logs[LINKED, n] + prior.logs[APART, total - n] - prior.logs[BOTH, total]


@kernel
def set_beta(prior):
    """Fill the tables of log gamma functions for the b1 and b2 that are set."""
    b1, b2 = prior.hyper[B1], prior.hyper[B2]
    for k in range(prior.logs.shape[1]):
        prior.logs[LINKED, k] = lgamma(b1 + k)
        prior.logs[APART, k] = lgamma(b2 + k)
        prior.logs[BOTH, k] = lgamma(b1 + b2 + k)


@part
def set_edge(layout, state, i, j, present):
    """Put in or take out the edge i -> j; it must be absent, or present, before."""
    state.fam[j] ^= ONE << np.uint64(layout.pos[j, i])
    state.pa[j, i >> 6] ^= bit(i)
    state.plus[state.z[i], state.z[j]] += 1 if present else -1


@kernel
def set_parents(layout, state, c, mask):
    """Give child c the candidates in `mask` as parents."""
    change = state.fam[c] ^ mask
    while change != ZERO:
        k = lowest(change)
        change &= change - ONE
        i = layout.cand[c, k]
        set_edge(layout, state, i, c, mask & (ONE << np.uint64(k)) != ZERO)


@kernel
def shift_node(prior, state, i, sign):
    """Let node i enter (+1) or leave (-1) its class: counts of edges and members."""
    k = state.z[i]
    for j in range(state.z.shape[0]):
        if j == i:
            continue
        if has(state.pa[i], j):
            state.plus[state.z[j], k] += sign
        if has(state.pa[j], i):
            state.plus[k, state.z[j]] += sign
    sizes = prior.constants.hashes
    state.key[0] += sizes[state.m[k] + sign] - sizes[state.m[k]]
    state.m[k] += sign


@kernel
def count_links(state, i, out, into):
    """Fill out[c] and into[c] with the edges of i to and from the other members of class c."""
    for c in range(out.shape[0]):
        out[c] = into[c] = 0
    for j in range(state.z.shape[0]):
        if j != i:
            if has(state.pa[j], i):
                out[state.z[j]] += 1
            if has(state.pa[i], j):
                into[state.z[j]] += 1


@kernel
def log_joining(prior, state, k):
    """Return log P(z) / Z(z) of a node that joins class k, up to a term that all k share."""
    members = state.m[k] + prior.pseudo_members[k]
    score = log(members) if members > 0.0 else log(prior.hyper[ALPHA])
    if prior.per_partition:
        sizes = prior.constants.hashes
        key = state.key[0] + sizes[state.m[k] + 1] - sizes[state.m[k]]
        state.m[k] += 1
        score -= constant_at(prior.calls[0], (prior.constants, key, state.m, prior.hyper))
        state.m[k] -= 1
    return score


@kernel
def class_score(prior, state, k, out, into):
    """Return the log weight of class k for a node that is out of all, with these links."""
    score, ways = log_joining(prior, state, k), 2 if prior.shape == UNDIRECTED else 1
    for c in range(state.m.shape[0]):
        if state.m[c] == 0:
            continue
        size = state.m[c]
        if c == k:
            n, total = state.plus[k, k], pairs(prior, state, k, k)
            score += log_beta(prior, (n + out[k] + into[k]) // ways, (total + 2 * size) // ways)
            score -= log_beta(prior, n // ways, total // ways)
        else:
            n, total = state.plus[k, c], pairs(prior, state, k, c)
            score += log_beta(prior, n + out[c], total + size) - log_beta(prior, n, total)
            if ways == 2:
                continue
            n, total = state.plus[c, k], pairs(prior, state, c, k)
            score += log_beta(prior, n + into[c], total + size) - log_beta(prior, n, total)
    return score


@part
def spare_class(prior, state):
    """Return an empty class that stands for all that do not exist yet."""
    k = prior.n_roles
    while state.m[k] > 0:
        k += 1
    return k


@part
def open_to_all(prior, state, k, spare):
    """May a node whose role is not known join class k?"""
    return state.m[k] > 0 or k == spare or (k < prior.n_roles and prior.pseudo_members[k] > 0.0)


@kernel
def log_partition(prior, state):
    """Return log P(z), by Chinese restaurant process, pseudo-members counted first."""
    alpha, total, n = prior.hyper[ALPHA], 0.0, 0.0
    for k in range(state.m.shape[0]):
        if state.m[k] > 0:
            held = prior.pseudo_members[k]
            total += lgamma(held + state.m[k]) - lgamma(held) if held > 0.0 else log(alpha)
            if held == 0.0:
                total += lgamma(1.0 * state.m[k])
        n += prior.pseudo_members[k]
    for i in range(state.z.shape[0]):
        total -= log(alpha + n + i)
    return total


@kernel
def log_prior(prior, state):
    """Return log P(G, z), up to one constant, with the user's log odds in it."""
    total, loops = 0.0, 0
    n = state.z.shape[0]
    for i in range(n):
        loops += has(state.pa[i], i)
        for j in range(n):
            odds = prior.bonus[i, j]
            if odds != 0.0 and odds < np.inf and has(state.pa[j], i):
                total += odds
    if prior.kind == UNIFORM:
        return total
    total += log_partition(prior, state)
    for a in range(state.m.shape[0]):
        for b in range(state.m.shape[0]):
            if prior.shape == UNDIRECTED and b < a:
                continue
            if state.m[a] > 0 and state.m[b] > 0:
                ways = 2 if prior.shape == UNDIRECTED and a == b else 1
                full = pairs(prior, state, a, b) // ways
                total += log_beta(prior, state.plus[a, b] // ways, full)
                total -= log_beta(prior, prior.held[EDGES, a, b], prior.held[PAIRS, a, b])
    if prior.shape == DYNAMIC:
        total += log_beta(prior, loops, n) - log_beta(prior, 0, 0)
    if prior.per_partition:
        total -= constant_at(prior.calls[0], (prior.constants, state.key[0], state.m, prior.hyper))
    return total


def new_state(prior, layout, A, z):
    """Return the state with adjacency A, all of whose edges must be candidates, and classes z."""
    N = len(z)
    K = prior.held.shape[1]
    state = ChainState(
        np.zeros(N, np.uint64), np.zeros((N, words(N)), np.uint64), np.asarray(z, np.int64).copy(),
        np.bincount(z, minlength=K).astype(np.int64), prior.held[EDGES].copy(),
        np.zeros(1, np.uint64),
    )  # fmt: skip
    with np.errstate(over="ignore"):
        state.key[0] = prior.constants.hashes[state.m].sum()
    for i, j in np.argwhere(np.asarray(A)):
        if layout.pos[j, i] < 0:
            raise ValueError(f"the edge {i} -> {j} is not among the candidates")
        set_edge(layout, state, i, j, True)
        if i == j:  # loops are in no block
            state.plus[state.z[i], state.z[i]] -= 1
    return state


def new_prior(
    N, kind="blockmodel", per_partition=True, hyper=(0.5, 1.0, 1.0), learn=(False,) * 3,
    known=NOTHING, constants=None, shape=ACYCLIC,
):  # fmt: skip
    """Return a prior for N nodes; `hyper` is alpha, b1 and b2."""
    roles = np.zeros((3, 0, 0), np.int64) if known.roles is None else np.asarray(known.roles)
    n_roles = roles.shape[1]
    K = N + n_roles + 1
    held, members = np.zeros((2, K, K), np.int64), np.zeros(K)
    held[:, :n_roles, :n_roles] = roles[[EDGES, PAIRS]]
    members[:n_roles] = np.diagonal(roles[MEMBERS])
    moves = kind == "blockmodel" and N > 1
    hyper = np.array([*hyper, *learn, 0.0], float)
    constants, calls = constants or Constants.empty(N), Calls()
    if per_partition and moves:
        counts = np.zeros(K, np.int64)
        calls = Calls([call_of(log_constant, constants, np.uint64(0), counts, hyper)])
    anchor, bonus = known.anchor, known.bonus
    prior = Prior(
        hyper, np.zeros((3, N * N + int(held.max()) + 2)),
        np.full(N, -1) if anchor is None else np.asarray(anchor, np.int64), held, members,
        np.zeros((N, N)) if bonus is None else np.ascontiguousarray(bonus, dtype=float),
        constants, calls, UNIFORM if kind == "uniform" else BLOCKS, n_roles, moves,
        bool(per_partition and moves), int(shape),
    )  # fmt: skip
    set_beta(prior)
    return prior
