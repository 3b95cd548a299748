"""Posterior predictive of rows, averaged over networks.

Given a network, the predictive of one row is a network too: each table has its posterior mean,
each Gaussian family is a Student t. So a family is scored once for all networks that have it, and
a network is a sum over families. Missing cells of discrete rows are summed over; those of real rows
are left out of a joint normal with the moments of the network, which for these rows takes the
place of the Student t.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import lgamma, log, pi

import numpy as np
from scipy.special import logsumexp

from infinimix.networks.answers.elimination import Factor, eliminate
from infinimix.networks.engine.families import IS_GAUSSIAN, PRIOR_MU, PRIOR_W, Data, cell_weight
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.learning.completion import code_parents, draw_regression, posterior_means

MOST_COMPLETIONS = 256
CHUNK = 2000


def log_student(
    R: np.ndarray, n: float, mean: np.ndarray, X: np.ndarray, settings: np.ndarray
) -> np.ndarray:
    """Return the log predictive density of rows, given posterior scatter and mean of n others."""
    d = len(mean)
    lam, nu = settings[PRIOR_MU] + n, settings[PRIOR_W] + n + 1.0
    if d == 0:
        return np.zeros(len(X))
    scale = R * (lam + 1.0) / (lam * nu)
    L = np.linalg.cholesky(scale)
    y = np.linalg.solve(L, (X - mean).T)
    return np.asarray(
        lgamma(0.5 * (nu + d)) - lgamma(0.5 * nu) - 0.5 * d * log(nu * pi)
        - np.log(np.diag(L)).sum() - 0.5 * (nu + d) * np.log1p((y * y).sum(axis=0) / nu)
    )  # fmt: skip


def patterns(missing: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows with the same missing cells, a few at a time, and which cells these are."""
    found, which = np.unique(missing, axis=0, return_inverse=True)
    for k, holes in enumerate(found):
        rows = np.flatnonzero(which.ravel() == k)
        for part in chunks(len(rows), CHUNK):
            yield rows[part], holes


def complete(
    X: np.ndarray, missing: np.ndarray, cards: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return all that rows may be where cells are missing, and where those of each row begin."""
    many = np.where(missing, cards, 1).prod(axis=1)
    begins = many.cumsum() - many
    filled, holes = np.repeat(X, many, axis=0), np.repeat(missing, many, axis=0)
    left = np.arange(len(filled)) - np.repeat(begins, many)
    for j in np.flatnonzero(missing.any(axis=0))[::-1]:
        at = holes[:, j]
        filled[at, j] = left[at] % cards[j]
        left[at] //= cards[j]
    return filled, begins


def chunks(n: int, size: int) -> Iterator[np.ndarray]:
    """Yield the numbers from 0 to n, so many at a time."""
    for at in range(0, n, size):
        yield np.arange(at, min(at + size, n))


class Mixture:
    """Networks with weights, each over one completed table."""

    def __init__(
        self, graphs: np.ndarray, weights: np.ndarray, place: np.ndarray,
        data: list[Data], tables: list[np.ndarray],
    ) -> None:  # fmt: skip
        self.graphs, self.weights, self.place = graphs, weights / weights.sum(), place
        self.data, self.tables = data, tables
        self.gaussian = bool(data[0].settings[IS_GAUSSIAN])
        self.cards = data[0].cards
        self.N = graphs.shape[-1]
        known: dict[tuple[int, int, bytes], int] = {}
        self.index = np.empty((len(graphs), self.N), np.int64)
        self.families: list[tuple[int, int, np.ndarray]] = []
        for s, (A, k) in enumerate(zip(graphs, place, strict=True)):
            for c in range(self.N):
                key = (int(k), c, A[:, c].tobytes())
                if key not in known:
                    known[key] = len(self.families)
                    self.families.append((int(k), c, np.flatnonzero(A[:, c])))
                self.index[s, c] = known[key]
        self._tables: dict[int, np.ndarray] = {}
        self._means = (
            [posterior_means(d, t) for d, t in zip(data, tables, strict=True)]
            if self.gaussian
            else []
        )

    def _codes(self, X: np.ndarray) -> np.ndarray:
        """Return rows in which categories are whole numbers."""
        return X

    # --- families ---------------------------------------------------------------------------

    def cpt(self, f: int) -> np.ndarray:
        """Return the mean table of a discrete family, (configurations, categories)."""
        if f not in self._tables:
            k, c, parents = self.families[f]
            data, X = self.data[k], self._codes(self.tables[k])
            q, r = int(np.prod(self.cards[parents])), int(self.cards[c])
            each = cell_weight(data.settings, q, r)
            used = slice(None) if data.skip.shape[1] == 0 else data.skip[c] == 0
            cell = code_parents(X, parents, self.cards) * r + X[:, c]
            counts = np.bincount(cell[used], minlength=q * r).reshape(q, r) + each
            self._tables[f] = counts / counts.sum(axis=1, keepdims=True)
        return self._tables[f]

    def _family_log_p(self, f: int, X: np.ndarray) -> np.ndarray:
        k, c, parents = self.families[f]
        if self.gaussian:
            both = self._log_t(k, c, np.append(parents, c), X)
            return both - self._log_t(k, c, parents, X)
        X = self._codes(X)
        return np.asarray(np.log(self.cpt(f)[code_parents(X, parents, self.cards), X[:, c]]))

    def _log_t(self, k: int, c: int, held: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return the log density of columns `held`: a multivariate Student t."""
        data = self.data[k]
        own = c if len(data.R) > 1 else 0
        R, mean = data.R[own][np.ix_(held, held)], self._means[k][own][held]
        return log_student(R, data.rows[own], mean, X[:, held], data.settings)

    # --- rows -------------------------------------------------------------------------------

    def log_density(self, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return the log predictive density of each row."""
        out, few = np.empty(len(X)), self._have_few_completions(missing)
        at = np.flatnonzero(few)
        out[at] = self._average(self._log_completed(X[at], missing[at]))
        for rows, holes in patterns(missing[~few]):
            at = np.flatnonzero(~few)[rows]
            out[at] = (
                self._log_whole(X[at])
                if not holes.any()
                else self._average(self.log_holed(X[at], holes))
            )
        return out

    def _average(self, logs: np.ndarray) -> np.ndarray:
        """Return the logs of the means over networks, of log densities (rows, networks)."""
        return np.asarray(logsumexp(logs, axis=1, b=self.weights))

    def _have_few_completions(self, missing: np.ndarray) -> np.ndarray:
        """Return which rows of categories are scored by summing over all that they may be."""
        if self.gaussian:
            return np.zeros(len(missing), bool)
        size = missing @ np.log(np.maximum(self.cards, 1))
        return np.asarray((size <= log(MOST_COMPLETIONS)) & ~missing.all(axis=1))

    def _log_whole(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(logsumexp(self.log_families(X), axis=0, b=self.weights[:, None]))

    def log_families(self, X: np.ndarray, children: slice = slice(None)) -> np.ndarray:
        """Return the log densities of complete rows in each network; of some children only."""
        index = self.index[:, children]
        scores = {f: self._family_log_p(f, X) for f in np.unique(index).tolist()}
        return np.stack([sum(scores[f] for f in own) for own in index.tolist()])

    def log_holed(self, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return the log densities of rows with the same missing cells, (rows, networks)."""
        if missing.all():
            return np.zeros((len(X), len(self.graphs)))
        if self.gaussian:
            return np.array([self._log_normal(x, ~missing) for x in X])
        if self._have_few_completions(missing[None])[0]:
            return self._log_completed(X, np.broadcast_to(missing, X.shape))
        seen = np.flatnonzero(~missing).tolist()
        return np.array([self._log_eliminated({j: int(x[j]) for j in seen}) for x in X])

    def _log_completed(self, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return log densities (rows, networks), the sums over all that missing cells may be.

        Rows go together whatever cells they lack: a call for each family takes longer than rows.
        """
        many = np.where(missing, self.cards, 1).prod(axis=1)
        parts = [np.empty((0, len(self.graphs)))]
        for rows in np.split(
            np.arange(len(X)), np.flatnonzero(np.diff(many.cumsum() // CHUNK)) + 1
        ):
            filled, begins = complete(X[rows], missing[rows], self.cards)
            logs = self.log_families(filled)
            top = np.maximum.reduceat(logs, begins, axis=1)
            logs -= np.repeat(top, many[rows], axis=1)
            sums = np.add.reduceat(np.exp(logs), begins, axis=1)
            parts.append(np.ascontiguousarray((top + np.log(sums)).T))
        return np.concatenate(parts)

    def _log_eliminated(self, given: dict[int, int]) -> list[float]:
        """Return the log probability of some cells in each network, the others summed out."""
        return [
            np.log(eliminate(self.factors(s), given, []).sum()) for s in range(len(self.graphs))
        ]

    def factors(self, s: int, do: dict[int, int] | None = None) -> list[Factor]:
        """Return the tables of network s; those of variables that are set are replaced."""
        out: list[Factor] = []
        for c in range(self.N):
            parents = self.families[self.index[s, c]][2]
            if do and c in do:
                out.append(((c,), np.eye(int(self.cards[c]))[do[c]]))
                continue
            table = self.cpt(self.index[s, c]).reshape(*self.cards[parents], self.cards[c])
            out.append(((*map(int, parents), c), table))
        return out

    # --- real columns -----------------------------------------------------------------------

    def regression(self, s: int, c: int) -> tuple[float, np.ndarray, float]:
        """Return means of intercept, coefficients and variance of column c in network s."""
        k, parents = int(self.place[s]), self.families[self.index[s, c]][2]
        own = self._means[k][c if len(self._means[k]) > 1 else 0]
        return draw_regression(self.data[k], own, c, parents, None)

    def moments(self, s: int, do: dict[int, float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance of network s with the posterior means of its parameters."""
        mean, cov = np.zeros(self.N), np.zeros((self.N, self.N))
        for c in topological_order(self.graphs[s]):
            parents = self.families[self.index[s, c]][2]
            if do and c in do:
                mean[c] = do[c]
                continue
            a, b, variance = self.regression(s, int(c))
            mean[c] = a + mean[parents] @ b
            cov[c] = cov[:, c] = cov[:, parents] @ b
            cov[c, c] = variance + b @ cov[np.ix_(parents, parents)] @ b
        return mean, cov

    def _log_normal(self, x: np.ndarray, seen: np.ndarray) -> np.ndarray:
        logs = []
        for s in range(len(self.graphs)):
            mean, cov = self._moments[s]
            L = np.linalg.cholesky(cov[np.ix_(seen, seen)])
            y = np.linalg.solve(L, x[seen] - mean[seen])
            logs.append(-0.5 * (y @ y + seen.sum() * log(2 * pi)) - np.log(np.diag(L)).sum())
        return np.array(logs)

    @cached_property
    def _moments(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The moments of each network, as nothing is set from outside."""
        return [self.moments(s) for s in range(len(self.graphs))]

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n rows, each from a network of its own."""
        X = np.zeros((n, self.N), np.int64 if self.cards.all() and not self.gaussian else float)
        which = rng.choice(len(self.graphs), n, p=self.weights)
        for s in np.unique(which):
            rows = np.flatnonzero(which == s)
            part = X[rows]
            for c in topological_order(self.graphs[s]):
                part[:, c] = self.draw_cell(int(s), int(c), part, rng)
            X[rows] = part
        return X

    def draw_cell(self, s: int, c: int, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return values of variable c in network s, given its parents in rows X."""
        f = self.index[s, c]
        k, _, parents = self.families[f]
        if not self.gaussian:
            p = self.cpt(f)[code_parents(self._codes(X), parents, self.cards)].cumsum(axis=1)
            return np.asarray((rng.random((len(X), 1)) * p[:, -1:] > p).sum(axis=1))
        own, out = self._means[k][c if len(self._means[k]) > 1 else 0], np.empty(len(X))
        for t in range(len(X)):
            a, b, variance = draw_regression(self.data[k], own, c, parents, rng)
            out[t] = a + X[t, parents] @ b + np.sqrt(variance) * rng.standard_normal()
        return out
