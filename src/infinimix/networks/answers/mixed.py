"""Posterior predictive of rows of categories and numbers, averaged over networks.

Whole rows are as in `predictive`: a number is a Student t, given its real parents and the rows of
the same configuration of its discrete parents. Where cells are missing, categories are summed
out and numbers integrated out. Only columns that lead to an observed cell matter. If a number
among them is missing, all numbers are, given the categories, jointly normal with the means of their
parameters, as in networks of numbers alone. Rows with the same missing cells go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from infinimix.networks.answers.elimination import Factor, eliminate
from infinimix.networks.answers.predictive import (
    MOST_COMPLETIONS,
    Mixture,
    chunks,
    log_student,
    patterns,
)
from infinimix.networks.engine.graphs import ancestors, topological_order
from infinimix.networks.learning.conditional import ConditionalFamily

MOST_COMBINATIONS = 4096  # of missing categories on which numbers depend
ROOM = 2_000_000  # entries of the covariance matrices that are in memory at once


class Evidence(NamedTuple):
    """Rows with the same cells observed, and the same cells set from outside."""

    X: np.ndarray  # (R, N)
    seen: np.ndarray  # (N,) bool
    fixed: np.ndarray  # (N,) bool


class Answer(NamedTuple):
    """What one network says of rows: of the observed cells, and of one number given them."""

    log_p: np.ndarray  # (R,)
    mean: np.ndarray  # (R,)
    square: np.ndarray  # (R,) the mean of the square


class MixedMixture(Mixture):
    """Networks of categories and numbers with weights, each over one completed table."""

    def __init__(self, names: Sequence[str], *parts: Any) -> None:
        super().__init__(*parts)
        self.names = names
        self._lines: dict[int, ConditionalFamily] = {}

    def _codes(self, X: np.ndarray) -> np.ndarray:
        return np.where(self.cards > 0, X, 0.0).astype(np.int64)

    def conditional(self, f: int) -> ConditionalFamily:
        """Return the family of a number."""
        if f not in self._lines:
            k, c, parents = self.families[f]
            self._lines[f] = ConditionalFamily(self.tables[k], c, parents, self.data[k])
        return self._lines[f]

    def _family_log_p(self, f: int, X: np.ndarray) -> np.ndarray:
        c = self.families[f][1]
        if self.cards[c]:
            return super()._family_log_p(f, X)
        family, out = self.conditional(f), np.empty(len(X))
        codes = family.configurations(X)
        cells = X[:, [*family.real, c]]
        for code in np.unique(codes).tolist():
            rows = codes == code
            (R, n, mean), x = family.group(code), cells[rows]
            both = log_student(R, n, mean, x, family.settings)
            above = log_student(R[:-1, :-1], n, mean[:-1], x[:, :-1], family.settings)
            out[rows] = both - above
        return out

    def factors(self, s: int, do: dict[int, int] | None = None) -> list[Factor]:
        """Return the tables of the categories of network s; numbers have none."""
        known = {c: np.eye(int(self.cards[c]))[v] for c, v in (do or {}).items() if self.cards[c]}
        out: list[Factor] = []
        for c in np.flatnonzero(self.cards).tolist():
            parents = self.families[self.index[s, c]][2]
            if c in known:
                out.append(((c,), known[c]))
                continue
            table = self.cpt(self.index[s, c]).reshape(*self.cards[parents], self.cards[c])
            out.append(((*map(int, parents), c), table))
        return out

    # --- rows -------------------------------------------------------------------------------

    def log_density(self, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """Return the log predictive density of each row."""
        out = np.empty(len(X))
        for rows, holes in patterns(missing):
            if not holes.any():
                out[rows] = self._log_whole(X[rows])
            else:
                out[rows] = self.log_given(Evidence(X[rows], ~holes, np.zeros(self.N, bool)))
        return out

    def log_given(self, evidence: Evidence) -> np.ndarray:
        """Return the log density of the observed cells of each row."""
        logs = [self.answer(s, evidence, None).log_p for s in range(len(self.graphs))]
        return np.asarray(logsumexp(logs, axis=0, b=self.weights[:, None]))

    def number_moments(
        self, t: int, X: np.ndarray, missing: np.ndarray, fixed: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of number t in each row, given its other cells."""
        hidden, held = missing.copy(), np.zeros(self.N, bool) if fixed is None else fixed
        hidden[:, t] = True
        mean, std = np.empty(len(X)), np.empty(len(X))
        for rows, holes in patterns(hidden):
            own = Evidence(X[rows], ~holes & ~held, held)
            parts = [self.answer(s, own, t) for s in range(len(self.graphs))]
            logs, means, squares = (np.array(x) for x in zip(*parts, strict=True))
            w = self.weights[:, None] * np.exp(logs - logs.max(axis=0))
            w /= w.sum(axis=0)
            mean[rows] = (w * means).sum(axis=0)
            std[rows] = np.sqrt(np.maximum((w * squares).sum(axis=0) - mean[rows] ** 2, 0.0))
        return mean, std

    # --- one network --------------------------------------------------------------------------

    def answer(self, s: int, evidence: Evidence, target: int | None) -> Answer:
        """Return what network s says of the observed cells, and of number `target` given them."""
        X, seen, fixed = evidence
        A = np.where(fixed, 0, self.graphs[s])
        wanted = seen.copy()
        wanted[[] if target is None else [target]] = True
        near = (wanted | ancestors(A)[:, wanted].any(axis=1)) & ~fixed
        tables = np.flatnonzero(near & (self.cards > 0))
        numbers = np.array([c for c in topological_order(A) if near[c] and not self.cards[c]], int)
        summed = self._summed(s, tables[~seen[tables]], numbers)
        sizes = self.cards[summed]
        cases = np.indices(sizes).reshape(len(sizes), int(np.prod(sizes))).T
        room = len(cases) * max(len(numbers), 1) ** 2
        parts = []
        for rows in chunks(len(X), max(ROOM // room, 1)):
            filled = np.repeat(X[rows], len(cases), axis=0)
            filled[:, summed] = np.tile(cases, (len(rows), 1))
            logs = self._log_tables(s, evidence, rows, filled, tables, summed)
            more, mean, spread = self._log_numbers(s, filled, numbers, evidence, target)
            logs, mean, spread = (x.reshape(len(rows), -1) for x in (logs + more, mean, spread))
            total = logsumexp(logs, axis=1)
            w = np.exp(logs - total[:, None])
            parts.append((total, (w * mean).sum(axis=1), (w * (spread + mean**2)).sum(axis=1)))
        return Answer(*(np.concatenate(x) for x in zip(*parts, strict=True)))

    def _summed(self, s: int, hidden: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the missing categories whose combinations are listed: all, or as few as can be."""
        if np.log(self.cards[hidden]).sum() <= log(MOST_COMPLETIONS) + 1e-9:
            return hidden
        needed = hidden[self.graphs[s][np.ix_(hidden, numbers)].any(axis=1)]
        if np.log(self.cards[needed]).sum() > log(MOST_COMBINATIONS) + 1e-9:
            some = ", ".join(repr(self.names[j]) for j in needed)
            raise ValueError(
                f"numbers of this mixed network depend on {len(needed)} missing categories, which "
                f"have more than {MOST_COMBINATIONS} combinations: give some of {some}"
            )
        return needed

    def _log_tables(
        self, s: int, evidence: Evidence, rows: np.ndarray, filled: np.ndarray, tables: np.ndarray,
        summed: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Return the log probability of the observed and the listed categories, (rows x cases,)."""
        X, seen, fixed = evidence
        if seen[tables].sum() + len(summed) == len(tables):
            own = (self._family_log_p(self.index[s, c], filled) for c in tables.tolist())
            return np.asarray(sum(own, np.zeros(len(filled))))
        given, out = tables[seen[tables]].tolist(), []
        for x in self._codes(X[rows]):
            factors = self.factors(s, {j: int(x[j]) for j in np.flatnonzero(fixed).tolist()})
            out.append(eliminate(factors, {j: int(x[j]) for j in given}, summed.tolist()).ravel())
        with np.errstate(divide="ignore"):
            return np.log(np.concatenate(out))

    def _log_numbers(
        self, s: int, X: np.ndarray, numbers: np.ndarray, evidence: Evidence, target: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the log density of the observed numbers; mean and variance of the target."""
        nothing, at = np.zeros(len(X)), np.flatnonzero(evidence.seen[numbers])
        if len(at) == len(numbers):
            own = (self._family_log_p(self.index[s, c], X) for c in numbers.tolist())
            return np.asarray(sum(own, nothing)), nothing, nothing
        mean, cov = self._normal(s, X, numbers)
        L = np.linalg.cholesky(cov[:, at[:, None], at])
        y = np.linalg.solve(L, (X[:, numbers[at]] - mean[:, at])[..., None])[..., 0]
        logs = -0.5 * ((y * y).sum(axis=1) + len(at) * log(2 * pi))
        logs -= np.log(np.einsum("mii->mi", L)).sum(axis=1)
        if target is None:
            return logs, nothing, nothing
        t = int(np.flatnonzero(numbers == target)[0])
        z = np.linalg.solve(L, cov[:, at, t][..., None])[..., 0]
        return logs, mean[:, t] + (z * y).sum(axis=1), cov[:, t, t] - (z * z).sum(axis=1)

    def _normal(self, s: int, X: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance of numbers, parents first, given the categories of rows X.

        A number that was set from outside is not among them; its value is in X.
        """
        place = {int(c): k for k, c in enumerate(numbers)}
        mean = np.zeros((len(X), len(numbers)))
        cov = np.zeros((len(X), len(numbers), len(numbers)))
        for c, k in place.items():
            family = self.conditional(self.index[s, c])
            lines = family.lines(X)
            free = np.array([place.get(int(p), -1) for p in family.real], int)
            b, p = lines.slopes[:, free >= 0], free[free >= 0]
            held = lines.slopes[:, free < 0] * X[:, family.real[free < 0]]
            mean[:, k] = lines.intercept + held.sum(axis=1) + (b * mean[:, p]).sum(axis=1)
            cov[:, k] = cov[:, :, k] = np.einsum("mp,mpj->mj", b, cov[:, p])
            cov[:, k, k] = lines.variance + (b * cov[:, p, k]).sum(axis=1)
        return mean, cov

    def draw_cell(self, s: int, c: int, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return values of variable c in network s, given its parents in rows X."""
        if self.cards[c]:
            return super().draw_cell(s, c, X, rng)
        family, out = self.conditional(self.index[s, c]), np.empty(len(X))
        for t, code in enumerate(family.configurations(X).tolist()):
            a, b, variance = family.regression(code, rng)
            out[t] = a + X[t, family.real] @ b + np.sqrt(variance) * rng.standard_normal()
        return out
