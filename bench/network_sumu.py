"""sumu as a peer: partition MCMC with six coupled chains, by steps or by CPU time.

Release 0.1.2, the last on PyPI, has a defect that stops its chains on all but small tables. The sum
over the sets of parents in U that have a member in T is a difference of two sums; where these are
nearly equal it shall come from sums for single members instead, but the line that takes the first
member of T takes none (`T & ~T` for `T & -T`). The sum is then minus infinity, or no number, and
a chain that starts in such a place rejects every move. `Sums` takes the place of these sums.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

ESS = 10
CHAINS = 6  # coupled by temperatures; one alone stays in its place
CLOSE = 2.0**-32  # sumu's own bound for sums that are nearly equal
KEPT = 500  # partitions at most of a run by time, each of which gives a graph


def sumu(
    X: np.ndarray,
    seed: int,
    steps: int = 4000,
    most: int = 12,
    ess: float = ESS,
    seconds: float | None = None,
) -> np.ndarray:
    """Edge probabilities by at most so many candidate parents, after steps or CPU seconds."""
    import sumu
    from sumu import gadget

    N = X.shape[1]
    full, sums = np.full, gadget.CandidateRestrictedScore
    kind = gadget.Gadget if seconds is None else _by_time(gadget.Gadget, seconds)
    np.random.seed(seed)  # noqa: NPY002 - it draws from NumPy's global generator
    try:
        np.full = _whole_full(full)  # type: ignore[assignment]
        gadget.CandidateRestrictedScore = Sums
        chain = kind(
            data=sumu.Data(np.ascontiguousarray(X, np.int32)), scoref="bdeu", ess=ess, max_id=-1,
            K=min(N - 1, most), d=2, cp_algo="top" if most >= N - 1 else "greedy-lite",
            cp_path=None, mc3_chains=CHAINS, burn_in=steps // 2, iterations=steps, thinning=10,
            tolerance=CLOSE,
        )  # fmt: skip
        with np.errstate(
            over="ignore"
        ):  # exp of a gain of more than 709 nats is accepted all right
            graphs, _ = chain.sample()
    finally:
        np.full, gadget.CandidateRestrictedScore = full, sums
    P = np.zeros((N, N))
    for graph in graphs:
        for child, *parents in graph:
            for parent in parents[0] if parents else ():
                P[parent, child] += 1
    return P / len(graphs)


class Sums:
    """Log sums over sets of candidate parents, in the place of sumu's `CandidateRestrictedScore`.

    Also the table of sums for single members was seen to hold no numbers, so all is computed here.
    """

    def __init__(self, scores: np.ndarray, candidates: np.ndarray, K: int) -> None:
        sets = np.arange(1 << K)
        self.empty = scores[:, 0].tolist()
        self.inside = _within(scores).tolist()  # [node][U]
        self.holding = np.stack(  # [node, member, U]
            [_within(np.where(sets >> k & 1, scores, -np.inf)) for k in range(K)], axis=1
        ).tolist()
        self.known: dict[tuple[int, int, int], float] = {}

    def sum(self, v: int, U: int, T: int) -> float:
        """Return the log sum over all sets in U that have a member in T."""
        if T == 0:
            return -np.inf if U else self.empty[v]
        key = v, U, T
        if key not in self.known:
            self.known[key] = self._sum(v, U, T)
        return self.known[key]

    def _sum(self, v: int, U: int, T: int) -> float:
        more, less = self.inside[v][U], self.inside[v][U & ~T]
        if more - less >= CLOSE:
            return more + float(np.log1p(-np.exp(less - more)))
        parts = []
        while T:  # sets with this member; those without it come next
            member = T & -T
            parts.append(self.holding[v][member.bit_length() - 1][U])
            U, T = U & ~member, T & ~member
        return float(np.logaddexp.reduce(parts))


def _within(scores: np.ndarray) -> np.ndarray:
    """Return the log sums over all subsets of each set, in the last axis."""
    out = scores.copy()
    sets = np.arange(out.shape[-1])
    for k in range(out.shape[-1].bit_length() - 1):
        has = (sets >> k & 1).astype(bool)
        out[..., has] = np.logaddexp(out[..., has], out[..., ~has])
    return out


def _by_time(gadget: Any, seconds: float) -> Any:
    """The class of a run that ends after so many CPU seconds, the graphs drawn included."""

    class Timed(gadget):  # type: ignore[misc]
        def sample(self) -> Any:
            self.start = time.process_time()
            return super().sample()

        def _run_mcmc(self) -> None:
            begun = time.process_time() - self.start
            rest = max(seconds - begun, 0.0)
            self._until(begun + 0.5 * rest)
            self.Rs = self._until(begun + 0.95 * rest) or [self.mcmc.sample()[0]]
            self.Rs = self.Rs[:: -(-len(self.Rs) // KEPT)]

        def _until(self, end: float) -> list[Any]:
            found = []
            while time.process_time() - self.start < end:
                found.append(self.mcmc.sample()[0])
            return found

    return Timed


def _whole_full(full: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`np.full` that takes sizes like 4096.0, which sumu's compiled code asks for."""

    def whole(shape: object, *args: object, **options: object) -> np.ndarray:
        sizes = tuple(int(n) for n in np.atleast_1d(shape))  # type: ignore[call-overload]
        return full(sizes, *args, **options)

    return whole
