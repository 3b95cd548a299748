"""A chain of the Gibbs infinite SVM: its state, its steps, and what is kept of it.

The integral that the paper calls intractable has a closed form. With s^2 = nu^2 |x|^2,

    I2 = Phi(-l / s) + exp(2 c^2 s^2 - 2 c l) Phi((l - 2 c s^2) / s),

and the new expert, given the row, is an exact draw: y eta.x is one of two truncated normals, the
part orthogonal to x keeps its prior. With more than two classes phi is the product of the hinges of
all outputs, one against the rest, so I2 is a product too, and every step is exact as before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from infinimix.families.seam import empty, map_arrays, reserve
from infinimix.maxmargin.loops.gibbs import count_rows, draw_experts, sweep


class SVMHyper(NamedTuple):
    """Concentration of the CRP, weight of the hinge, scale of the experts' prior, margin."""

    alpha: float
    c: float
    nu: float
    margin: float


@dataclass
class Kept:
    """States of a chain after one another: clusters of all of them."""

    sizes: np.ndarray  # (M,)
    eta: np.ndarray  # (M, C, p)
    owner: np.ndarray  # (M,) which state a cluster belongs to
    stats: Any  # of M groups


@dataclass
class SVMChain:
    """The state of the sampler, and its data."""

    families: Any
    blocks: tuple[np.ndarray, ...]
    X: np.ndarray  # (n, p) for the experts, with a one
    Y: np.ndarray  # (n, C) signs
    hyper: SVMHyper
    z: np.ndarray
    rng: np.random.Generator
    c: Any = None  # (n,) weight of the hinge of each row; None: that of hyper
    traces: dict[str, list[float]] = field(default_factory=lambda: {"n_clusters": [], "hinge": []})

    def __post_init__(self) -> None:
        self.c = np.full(len(self.z), self.hyper.c) if self.c is None else self.c
        K = int(self.z.max()) + 1
        self.z = self.z + 1  # slot 0 is the empty cluster
        room = max(16, 2 * K)
        self.stats = empty(self.families, room)
        count_rows(self.families, self.stats, self.blocks, self.z)
        self.sizes = np.bincount(self.z, minlength=room).astype(float)
        self.eta = np.zeros((room, self.Y.shape[1], self.X.shape[1]))
        self.slots, self.n_live = np.arange(room), K + 1
        _, _, nu, margin = self.hyper
        squares = nu**2 * np.einsum("ij,ij->i", self.X, self.X)
        log_above, log_all = first_expert(squares, self.c, margin)
        self.above = np.exp(log_above - log_all)
        self.log_new = self.Y.shape[1] * log_all
        self.draw_experts()

    def draw_experts(self) -> None:
        """Draw all experts given the clusters."""
        _, _, nu, margin = self.hyper
        draw_experts(
            self.rng, self.X, self.Y, self.z, self.slots, self.n_live, self.eta, self.c, nu, margin
        )

    def step(self) -> None:
        """One sweep over the rows, then the experts; what happened is traced."""
        alpha, _, nu, margin = self.hyper
        row = 0
        while row < len(self.z):
            if self.n_live >= len(self.sizes) - 1:
                self._make_room()
            row, self.n_live = sweep(
                self.families, self.stats, self.blocks, self.X, self.Y, self.log_new,
                self.above, self.z, self.sizes, self.eta, self.slots, self.n_live, row,
                np.log(alpha), self.c, nu, margin, self.rng,
            )  # fmt: skip
        self.draw_experts()
        scores = np.einsum("ip,icp->ic", self.X, self.eta[self.z])
        self.traces["n_clusters"].append(float(self.n_live - 1))
        self.traces["hinge"].append(float(np.maximum(margin - self.Y * scores, 0.0).sum()))

    def _make_room(self) -> None:
        now = len(self.sizes)
        self.stats = reserve(self.families, self.stats, 2 * now)
        self.sizes = np.concatenate([self.sizes, np.zeros(now)])
        self.eta = np.concatenate([self.eta, np.zeros_like(self.eta)])
        self.slots = np.concatenate([self.slots, np.arange(now, 2 * now)])

    def keep(self) -> Kept:
        """Return the state as it is now."""
        live = np.sort(self.slots[1 : self.n_live])
        stats = map_arrays(lambda array: array[live], self.stats)
        return Kept(self.sizes[live], self.eta[live], np.zeros(len(live), np.int64), stats)

    def labels(self) -> np.ndarray:
        """Return the clusters of the rows, numbered from 0."""
        return np.unique(self.z, return_inverse=True)[1].astype(np.int64)


def join(states: list[Kept]) -> Kept:
    """Return many states as one table of clusters."""
    owner = np.repeat(np.arange(len(states)), [len(one.sizes) for one in states])
    return Kept(
        np.concatenate([one.sizes for one in states]),
        np.concatenate([one.eta for one in states]),
        owner,
        map_arrays(lambda *arrays: np.concatenate(arrays), *[one.stats for one in states]),
    )


def first_expert(squares: np.ndarray, c: Any, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the logs of both parts of I2: of y eta.x above the margin, and of all; s^2 given."""
    s = np.sqrt(squares)
    above = log_ndtr(-margin / s)
    below = 2.0 * c**2 * squares - 2.0 * c * margin + log_ndtr((margin - 2.0 * c * squares) / s)
    return above, np.logaddexp(above, below)


def effective_size(trace: Any) -> float:
    """Return the effective sample size of a trace (Geyer's initial positive sequence)."""
    x = np.asarray(trace, float) - np.mean(trace)
    n = len(x)
    variance = float(x @ x) / n
    if n < 4 or variance == 0.0:
        return float(n)
    spectrum = np.abs(np.fft.rfft(x, 2 * n)) ** 2
    rho = np.fft.irfft(spectrum)[:n] / (n * variance)
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    time = 2.0 * pairs[: ends[0] if len(ends) else None].sum() - 1.0
    return float(n / max(time, 1.0 / n)) if time > 0 else float(n)
