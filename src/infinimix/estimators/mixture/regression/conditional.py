"""The distribution of the target given the cells of a row, by the predictive mixture of a bank.

Given x, a row lies in slot s (a group of a particle of an island) with the probability w_s(x);
there the target has a Student's t. So p(t | x) = sum_s w_s(x) St(t; place_s, scale_s, degrees_s),
which is the ratio of the joint densities p(x, t) / p(x). All is in the units of the transform.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from infinimix.estimators.answers.filling import Predictive
from infinimix.families.normal import PLACE, POWER, TIGHTNESS, student_moments
from infinimix.kernels.logs import logsumexp
from infinimix.tables import Schema
from infinimix.tables.encoded import Blocks

KNOTS = 240  # of the table in which quantiles are looked up before they are refined
AROUND = (-6.0, -3.0, -1.5, -0.7, 0.0, 0.7, 1.5, 3.0, 6.0)  # scales from the place of a slot
FARTHER = 4.0 ** np.arange(26)  # spans beyond all slots: so far that nearly no mass is outside
NEGLIGIBLE = 1e-10  # weight of a slot
MOST_STEPS, CLOSE = 100, 1e-12  # of the search for a quantile


@dataclass
class Students:
    """Student's t of the target in each slot, whatever the row."""

    place: np.ndarray  # (S,)
    scale: np.ndarray  # (S,)
    degrees: np.ndarray  # (S,)
    variance: np.ndarray  # (S,) finite: see `student_moments`

    @classmethod
    def of(cls, mixture: Predictive, joint: Schema) -> Students:
        """Return those of the last column of a mixture, which is real."""
        b, k = joint.places[-1]
        t = mixture.stats[b].t[:, :, k]
        degrees = 2.0 * t[:, POWER] - 1.0
        scale = 1.0 / np.sqrt(t[:, TIGHTNESS] * degrees)
        return cls(t[:, PLACE].copy(), scale, degrees, student_moments(t)[1])

    def log_density(self, t: np.ndarray, slots: Any = slice(None)) -> np.ndarray:
        """Return the log density at t in some slots, by the rules of broadcasting."""
        from scipy.special import gammaln  # slow to load

        scale, degrees = self.scale[slots], self.degrees[slots]
        norm = gammaln(0.5 * (degrees + 1.0)) - gammaln(0.5 * degrees)
        norm -= 0.5 * np.log(np.pi * degrees) + np.log(scale)
        z = (t - self.place[slots]) / scale
        return np.asarray(norm - 0.5 * (degrees + 1.0) * np.log1p(z * z / degrees))

    def below(self, t: np.ndarray, slots: Any = slice(None)) -> np.ndarray:
        """Return the probability of values below t in some slots, by the rules of broadcasting."""
        from scipy.special import stdtr  # slow to load

        z = (t - self.place[slots]) / self.scale[slots]
        return np.asarray(stdtr(self.degrees[slots], z))

    @cached_property
    def knots(self) -> np.ndarray:
        """Increasing points, dense where slots are and reaching far beyond them."""
        near = np.sort((self.place[:, None] + self.scale[:, None] * np.array(AROUND)).ravel())
        near = near[np.linspace(0, len(near) - 1, KNOTS).round().astype(int)]
        reach = (near[-1] - near[0]) * FARTHER
        return np.unique(np.concatenate([near[0] - reach, near, near[-1] + reach]))

    @cached_property
    def below_knots(self) -> np.ndarray:
        """The probability of values below each knot, (S, knots)."""
        return self.below(self.knots, np.s_[:, None])


@dataclass
class TargetDensity:
    """The target of some rows: a mixture of Students."""

    students: Students
    weight: np.ndarray  # (rows, S)

    @classmethod
    def given(cls, students: Students, mixture: Predictive, blocks: Blocks) -> TargetDensity:
        """Return the target given rows in which it is missing."""
        return cls(students, mixture.responsibilities(blocks))

    def take(self, rows: Any) -> TargetDensity:
        """Return some of the rows."""
        return TargetDensity(self.students, self.weight[rows])

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean of each row."""
        return np.asarray(self.weight @ self.students.place)

    @cached_property
    def variance(self) -> np.ndarray:
        """The variance of each row; slots without a finite one have that of `student_moments`."""
        place, n = self.students.place, len(self.weight)
        gap = np.empty(n)
        for i in range(n):  # not by E t^2 - (E t)^2, which loses all digits of far values
            gap[i] = self.weight[i] @ (place - self.mean[i]) ** 2
        return np.asarray(self.weight @ self.students.variance + gap)

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows and slots that matter to them, with their weights; and where each row starts."""
        rows, slots = np.nonzero(self.weight > NEGLIGIBLE)
        starts = np.searchsorted(rows, np.arange(len(self.weight)))
        weight = self.weight[rows, slots]
        total = np.add.reduceat(weight, starts)
        return rows, slots, weight / total[rows], starts

    def cdf(self, t: np.ndarray) -> np.ndarray:
        """Return the probability of a value below t, one for each row."""
        rows, slots, weight, starts = self._pairs
        below = self.students.below(t[rows], slots)
        return np.minimum(np.add.reduceat(weight * below, starts), 1.0)

    def log_density(self, t: np.ndarray) -> np.ndarray:
        """Return the log density at t, one for each row."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        log_density = self.students.log_density(t[:, None], np.s_[None, :])
        return np.asarray(logsumexp(log_weight + log_density, axis=1))

    def quantile(self, p: np.ndarray) -> np.ndarray:
        """Return where the probability below is p, one for each row, 0 < p < 1.

        From two knots of the table on, by Newton's steps, and by halving where these lead astray.
        """
        knots = self.students.knots
        table = self.weight @ self.students.below_knots
        above = np.clip((table < p[:, None]).sum(axis=1), 1, len(knots) - 1)
        low, high = knots[above - 1].copy(), knots[above].copy()
        at = np.arange(len(p))
        f_low, f_high = table[at, above - 1], table[at, above]
        rise = np.where(f_high > f_low, f_high - f_low, 1.0)
        t = low + (high - low) * np.clip((p - f_low) / rise, 0.0, 1.0)
        left = np.arange(len(p))
        for _ in range(MOST_STEPS):
            some = self.take(left)
            gap = some.cdf(t[left]) - p[left]
            high[left] = np.where(gap > 0.0, t[left], high[left])
            low[left] = np.where(gap > 0.0, low[left], t[left])
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                step = t[left] - gap / np.exp(some.log_density(t[left]))
            inside = (step > low[left]) & (step < high[left])
            t_next = np.where(inside, step, 0.5 * (low[left] + high[left]))
            done = (np.abs(gap) < CLOSE) | (t_next == t[left])
            t[left] = np.where(np.abs(gap) < CLOSE, t[left], t_next)
            left = left[~done]
            if not len(left):
                break
        return t
