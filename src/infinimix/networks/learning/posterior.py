"""What chains have seen, put together: marginals, diagnostics, roles, template, distinct states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.networks.engine.chain import Record
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import KEPT, SWEEPS


class Draws(NamedTuple):
    """The kept states of all chains."""

    graphs: np.ndarray  # (S, N, W) uint64
    classes: np.ndarray  # (S, N)
    ranks: np.ndarray  # (S, N)
    log_joint: np.ndarray  # (S,)
    hyper: np.ndarray  # (S, 4)
    chain: np.ndarray  # (S,)
    negative: np.ndarray | None = None  # (S, N, W) uint64: parents with a negative effect


def gather(records: list[Record]) -> Draws:
    """Return the kept states of all chains, one after the other."""
    parts = []
    for k, record in enumerate(records):
        n = int(record.counters[KEPT])
        kept = (record.graphs, record.classes, record.ranks, record.log_joint, record.hyper)
        parts.append([*(x[:n] for x in kept), np.full(n, k)])
    return Draws(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def average(weights: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return the probability of what holds in some graphs, (graphs, ...), by their weights.

    The sum of all weights is taken in the same order, graph by graph, and divided out: so what
    holds in all graphs has probability 1 in spite of rounding, and nothing has more.

    Examples
    --------
    >>> average(np.full(10, 0.1), np.ones((10, 2), bool)).tolist()
    [1.0, 1.0]
    """
    held = np.asarray(held)
    parts = np.ones((len(held), held[0].size + 1))
    parts[:, :-1] = held.reshape(len(held), -1)
    parts *= weights[:, None]
    total = parts.sum(axis=0)
    return np.asarray((total[:-1] / total[-1]).reshape(held.shape[1:]))


def edge_gap(records: list[Record]) -> np.ndarray:
    """Return, for each edge, the largest difference between chains of its frequency."""
    share = np.array([r.edges / max(r.counters[SWEEPS], 1) for r in records])
    return share.max(axis=0) - share.min(axis=0)


def rhat_and_ess(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Return split R-hat and effective sample size of each edge; 1 and S where it never changes."""
    n_chains = int(draws.chain.max()) + 1
    A = to_adjacency(draws.graphs).astype(np.float32)
    N = A.shape[-1]
    length = min(int((draws.chain == k).sum()) for k in range(n_chains)) // 2
    if length < 4:
        return np.full((N, N), np.nan), np.full((N, N), np.nan)
    halves = []
    for k in range(n_chains):
        own = A[draws.chain == k]
        halves += [own[:length], own[-length:]]
    x = np.stack(halves).reshape(len(halves), length, N * N)
    within = x.var(axis=1, ddof=1).mean(axis=0)
    between = x.mean(axis=1).var(axis=0, ddof=1)
    total = within * (length - 1) / length + between
    moves = total > 1e-12
    rhat = np.ones(N * N)
    rhat[moves] = np.sqrt(total[moves] / np.maximum(within[moves], 1e-12))
    ess = np.full(N * N, float(len(halves) * length))
    if moves.any():
        ess[moves] = _ess(x[:, :, moves], total[moves])
    return rhat.reshape(N, N), ess.reshape(N, N)


def _ess(x: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return effective sample sizes by Geyer's initial positive sequence."""
    m, n, _ = x.shape
    size = 1 << (2 * n - 1).bit_length()
    centred = x - x.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, size, axis=1)
    cov = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n].mean(axis=0) / n
    rho = 1.0 - (cov[0] * n / max(n - 1, 1) - cov) / total
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2, rho.shape[1]).sum(axis=1)
    alive = np.cumprod(pairs > 0, axis=0)
    tau = np.maximum(2.0 * (pairs * alive).sum(axis=0) - 1.0, 1.0 / np.log10(m * n + 10))
    return m * n / tau


def consensus(together: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the visited partition that agrees best with the co-class probabilities (Binder)."""
    distinct = np.unique(relabel(classes), axis=0)
    losses = [np.abs((z[:, None] == z).astype(float) - together).sum() for z in distinct]
    return distinct[int(np.argmin(losses))]


def relabel(classes: np.ndarray) -> np.ndarray:
    """Return partitions with classes numbered by first appearance."""
    order = np.argsort(classes, axis=1, kind="stable")
    ordered = np.take_along_axis(classes, order, axis=1)
    place = np.broadcast_to(np.arange(classes.shape[1]), classes.shape)
    opens = np.ones(classes.shape, bool)  # the first of its class, among ordered members
    opens[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    start = np.maximum.accumulate(np.where(opens, place, 0), axis=1)
    first = np.empty(classes.shape, np.int64)  # where the class of a member appears first
    np.put_along_axis(first, order, np.take_along_axis(order, start, axis=1), axis=1)
    return np.take_along_axis(np.cumsum(first == place, axis=1) - 1, first, axis=1)


def role_counts(draws: Draws, roles: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges from role to role, (S, K, K), and the ordered pairs, (K, K).

    Edges from a variable to itself are left out.
    """
    member = np.eye(K)[roles]
    A = to_adjacency(draws.graphs).astype(float)
    A[:, np.arange(len(roles)), np.arange(len(roles))] = 0.0
    size = member.sum(axis=0)
    edges = np.einsum("ia,sij,jb->sab", member, A, member, optimize=True)
    return edges, np.outer(size, size) - np.diag(size)


def pool_counts(draws: list[Draws], roles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges and pairs of several networks together; roles are those of all variables."""
    K, at = int(roles.max()) + 1, np.cumsum([0, *(d.graphs.shape[1] for d in draws)])
    parts = [role_counts(d, roles[at[g] : at[g + 1]], K) for g, d in enumerate(draws)]
    return np.sum([e for e, _ in parts], axis=0), np.sum([f for _, f in parts], axis=0)


def template(
    edges: np.ndarray, full: np.ndarray, beta: np.ndarray, rng: Any, undirected: bool = False
) -> dict[str, np.ndarray]:
    """Return edge probabilities between roles: mean and a central 90% interval of each.

    Undirected edges are counted once.
    """
    if undirected:
        once = 1.0 - 0.5 * np.eye(len(full))
        edges, full = edges * once, full * once
    b1, b2 = beta[:, 0, None, None], beta[:, 1, None, None]
    eta = rng.beta(b1 + edges, b2 + full - edges)
    if undirected:
        eta = np.triu(eta) + np.swapaxes(np.triu(eta, 1), 1, 2)
    low, high = np.quantile(eta, [0.05, 0.95], axis=0)
    mean = ((b1 + edges) / (b1 + b2 + full)).mean(axis=0)
    return {"mean": mean, "low": low, "high": high, "edges": edges.mean(axis=0), "pairs": full}


def distinct_states(draws: Draws, averaging: str, n_best: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each distinct state in the draws, and its weight.

    "mcmc": by how often it was visited; "best": the n_best by relative log joint.
    """
    graphs = [x for x in (draws.graphs, draws.negative) if x is not None]
    key = np.concatenate(
        [
            *(x.reshape(len(x), -1).view(np.int64) for x in graphs),
            relabel(draws.classes),
            draws.ranks.astype(np.int64),
        ],
        axis=1,
    )
    _, first, counts = np.unique(key, axis=0, return_index=True, return_counts=True)
    if averaging == "mcmc":
        order = np.argsort(-counts, kind="stable")
        return first[order], counts[order] / counts.sum()
    log_joint = draws.log_joint[first]
    order = np.argsort(-log_joint, kind="stable")[:n_best]
    weight = np.exp(log_joint[order] - log_joint[order[0]])
    return first[order], weight / weight.sum()
