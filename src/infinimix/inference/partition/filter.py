"""The particle filter as an object: it owns the arrays, grows them, and answers questions.

The kernels of `sampled` and `optimal` check before each row that the worst case fits, and
otherwise return the first row not done. Here what is short is doubled, uniforms are drawn
anew, and the kernel goes on from that row. No row is done in part, so nothing
has to be undone, and the result does not depend on how a stream is split into calls.
"""

from bisect import bisect_right
from itertools import accumulate
from math import exp, log

import numpy as np

from infinimix.families.product import Bound, are_like, as_cells, rows_of
from infinimix.families.reweighing import EVIDENCE, Copies, reweigh
from infinimix.families.seam import empty, map_arrays, score_rows, widen, width
from infinimix.inference.partition import live
from infinimix.inference.partition.population import (
    COPIES,
    LIVE,
    MASS,
    ORDER,
    PLACE,
    REF,
    ROWS,
    SIZE,
    UNIQUE,
    USED,
    WIDEST,
    keep_only,
    log_growth,
    set_aside,
)
from infinimix.inference.partition.resampling import lookahead, optimal, sampled
from infinimix.kernels.memory import aligned, aligned_copy
from infinimix.partitions.crp import UNBOUNDED, log_at_most, log_prior_ratio

RESAMPLING = {
    "multinomial": (sampled.advance, 0),
    "systematic": (sampled.advance, 1),
    "optimal": (optimal.advance, 0),
    "lookahead": (lookahead.advance, lookahead.RHO),
}
ROWS_AT_ONCE = 1024  # rows scored together: their table of densities stays in the cache
FEW = 16  # particles: for more, arrays are quicker than number after number
NO_TRACE = np.zeros((0, 2, 0), np.int32)
_LATEST = (None, 0, None)  # the latest family, number of slots, and statistics of empty groups
WEIGHED = (*optimal.advance.uses, *EVIDENCE)  # operations, where hyper-parameters change


def is_n_to_m(resampling):
    """Does the filter keep the best of all children, rather than draw one for each copy?"""
    return resampling in ("optimal", "lookahead")


def n_particle_rows(size, resampling):
    """Return how many particles must have room at once; N-to-M splits before it drops."""
    return 2 * size + 1 if is_n_to_m(resampling) else size


def doubled(array):
    """Return statistics with twice the slots; the new ones are empty groups, as slot 0 is."""
    return aligned(np.concatenate([array, np.repeat(array[:1], len(array), axis=0)]))


def empty_groups(family, slots):
    """Return statistics of groups without rows; many filters begin with one family in turn."""
    global _LATEST
    latest, size, stats = _LATEST
    if latest is not family or size != slots:
        stats = empty(family, slots)
        _LATEST = family, slots, stats
    return map_arrays(aligned_copy, stats)


def is_same(families, others):
    """Are these the same hyper-parameters, laid out for the same categories?"""
    if type(families) is not tuple:
        families, others = (families,), (others,)
    pairs = zip(families, others, strict=True)
    return all(a is b or np.array_equal(a, b) for f, g in pairs for a, b in zip(f, g))


class ParticleFilter:
    """Particles for one CRP mixture of any family; rows come in by `update`."""

    def __init__(self, family, alpha, size, resampling, max_groups, rng, slots=64):
        slots = max(slots, 2 * size + 2)
        particles = n_particle_rows(size, resampling)
        self.family, self.stats = family, empty_groups(family, slots)
        self.resampling, self.size, self.rng = resampling, size, rng
        self.bound = UNBOUNDED if max_groups is None else max_groups
        self.slots = np.zeros((5, slots), np.int64)
        self.slots[ORDER] = self.slots[PLACE] = np.arange(slots)
        self.mass = np.zeros((3, slots))
        self.groups = np.zeros((particles, 16), np.int64)
        self.particles = np.zeros((4, particles), np.int64)
        self.logw = np.zeros(particles)
        self.u = rng.random(1024 + 64 * size)
        self.counters = np.array([0, 1, 1, 1, 0, 0])  # one particle, holding the empty group
        self.slots[REF, 0], self.mass[MASS, 0], self.particles[SIZE, 0] = 2, alpha, 1
        copies = 1 if is_n_to_m(resampling) else size
        self.particles[COPIES, 0], self.logw[0] = copies, -log(copies)
        self._bound, self._copies = Bound(optimal.advance.uses), Copies()

    def update(self, X, rows, trace=NO_TRACE, ahead=False):
        """Filter the rows X[rows], in that order; with `ahead` "lookahead" sees the next one.

        The last row of a call has no next one, so with `ahead` the cutting into calls matters.
        """
        X = as_cells(self.family, X)  # held while their addresses are used
        self.update_placed(rows_of(X), rows, trace, ahead)

    def update_placed(self, placed, rows, trace=NO_TRACE, ahead=False):
        """Do the same with rows as engines take them."""
        j, end = 0, len(rows)
        advance, kind = RESAMPLING[self.resampling]
        if advance is lookahead.advance and not ahead:
            kind = 0.0  # a power of 0 looks at no row but the current one
        while True:
            j = (advance.machine or advance.run)(
                *self._bound(self.family, self.stats), placed, rows, j, self.slots, self.mass,
                self.groups, self.particles, self.logw, self.counters, self.u, trace, self.size,
                self.bound, kind,
            )  # fmt: skip
            if j == end:
                return
            self.make_room(self.size + 1)

    def population(self):
        """Return the arrays of the particles, as kernels take them."""
        return self.slots, self.mass, self.groups, self.particles, self.logw, self.counters

    def make_room(self, spare):
        """Double what is short for so many more slots; draw new uniforms when they run out."""
        slots, columns = self.slots.shape[1], self.groups.shape[1]
        if self.counters[LIVE] + spare > slots:
            self.stats = map_arrays(doubled, self.stats)
            self.mass = np.pad(self.mass, ((0, 0), (0, slots)))
            self.slots = np.pad(self.slots, ((0, 0), (0, slots)))
            self.slots[ORDER, slots:] = self.slots[PLACE, slots:] = np.arange(slots, 2 * slots)
        if self.counters[WIDEST] + 1 > columns:
            self.groups = np.pad(self.groups, ((0, 0), (0, columns)))
        if self.counters[USED] + 2 * self.size > len(self.u):
            self.rng.random(out=self.u)
            self.counters[USED] = 0

    def collapse(self, r):
        """Let particle r stand for all, with the weight of all."""
        total = self.log_weight()
        keep_only(r, *self.population())
        self.weigh_evenly(total)

    def set_aside(self):
        """Keep the first particle as it is now as a further one; all weigh the same then."""
        total = self.log_weight()
        set_aside(*self.population())
        self.weigh_evenly(total)

    def weigh_evenly(self, total=None):
        """Share a weight, and the copies that the way of resampling calls for, evenly."""
        total = self.log_weight() if total is None else total
        unique = int(self.counters[UNIQUE])
        copies = unique if is_n_to_m(self.resampling) else self.size
        self.particles[COPIES, :unique] = [len(c) for c in np.array_split(range(copies), unique)]
        self.logw[:unique] = total - log(copies)

    def retarget(self, family, alpha):
        """Change the hyper-parameters; the particles then stand for the new posterior."""
        old = self.mass.item(MASS, 0)
        if alpha != old:
            n_rows = self.counters.item(ROWS)
            if n_rows:
                self._reweigh_alpha(n_rows, alpha, old)
            self.mass[MASS, 0] = alpha
        if family is self.family or is_same(family, self.family):
            return
        n_live = self.counters.item(LIVE)
        live, free = self.slots[ORDER, :n_live].copy(), self.slots[ORDER, n_live:].copy()
        columns = np.zeros((2, n_live, self._width()))
        before, _held = self._weighed(), (self.family, self.stats)  # while addresses are used
        if not are_like(family, self.family):
            self.stats = widen(self.family, self.stats, family)
        self.family = family
        (reweigh.machine or reweigh.run)(*before, *self._weighed(), live, columns)
        self._copies(self.stats, free)  # the bits of free slots shall not tell when they came
        gain, (less, more) = np.zeros(self.slots.shape[1]), np.add.reduce(columns, axis=2)
        gain[live] = more - less
        for r in range(self.n_particles):  # the ratio of the evidence (Chopin 2002)
            self.logw[r] += np.add.reduce(gain[self.held(r)])

    def _reweigh_alpha(self, n_rows, alpha, old):
        """Multiply the weights by the ratio of the priors; few particles go number by number."""
        unique = self.counters.item(UNIQUE)
        if unique > FEW:
            self.logw[:unique] += log_prior_ratio(self.n_groups(), n_rows, alpha, old)
            return
        ratios = {}  # by the number of groups, which is mostly that of all
        for r, size in enumerate(self.particles[SIZE, :unique].tolist()):
            if size not in ratios:
                ratios[size] = log_prior_ratio(size - 1, n_rows, alpha, old)
            self.logw[r] += ratios[size]

    def _width(self):
        """Return how many columns the evidence tells apart."""
        return sum(map(width, self.family)) if type(self.family) is tuple else width(self.family)

    def _weighed(self):
        """Return the product for engines that weigh groups: more than most filters are asked."""
        if self._bound.uses != WEIGHED:
            self._bound = Bound(WEIGHED)
        return self._bound(self.family, self.stats)

    @property
    def n_rows(self):
        """How many rows the filter has seen."""
        return self.counters.item(ROWS)

    @property
    def alpha(self):
        """The concentration: the mass of the empty group."""
        return self.mass.item(MASS, 0)

    @property
    def n_particles(self):
        """How many distinct particles there are now."""
        return self.counters.item(UNIQUE)

    def log_weights(self):
        """Return the log weight of each particle, all its copies together."""
        unique = self.counters.item(UNIQUE)
        return self.logw[:unique] + np.log(self.particles[COPIES, :unique])

    def draw(self, rng):
        """Draw a particle by its weight, number by number: there are few."""
        unique = self.counters.item(UNIQUE)
        single = max(self.particles[COPIES, :unique].tolist()) == 1  # a copy each: nothing to add
        logw = (self.logw[:unique] if single else self.log_weights()).tolist()
        top = max(logw)
        ends = list(accumulate([exp(x - top) for x in logw]))
        return bisect_right(ends, rng.random() * ends[-1], hi=len(ends) - 1)

    def weights(self):
        """Return the normalised weight of each particle, all its copies together."""
        logw = self.log_weights()
        w = np.exp(logw - np.maximum.reduce(logw))  # past what `max` and `sum` ask before
        return w / np.add.reduce(w)  # so that they sum to 1 even where the logs are huge

    def log_weight(self):
        """Return the log of the total weight: the evidence without the bound on groups."""
        return np.logaddexp.reduce(self.log_weights())

    def log_evidence(self):
        """Return the log of an unbiased estimate of the probability of all rows."""
        total = self.log_weight()
        if self.bound < self.n_rows:
            total -= log_at_most(self.n_rows, self.alpha, self.bound)
        return float(total)

    def held(self, r):
        """Return the slots of particle r, without the empty group."""
        return self.groups[r, 1 : self.particles[SIZE, r]]

    def n_held(self, r):
        """Return the number of groups of particle r."""
        return self.particles.item(SIZE, r) - 1

    def n_groups(self):
        """Return the number of groups of each particle."""
        return self.particles[SIZE, : self.counters.item(UNIQUE)] - 1

    def mixture(self):
        """Return the live slots and their weights in the predictive; the weights sum to 1.

        All particles together are one mixture over the distinct groups. The weights are
        divided by their sum, which is 1 unless some particles are at the bound.
        """
        mix = np.zeros(self.slots.shape[1])
        for r, w in enumerate(self.weights()):
            mix[self.held(r)] += w
            mix[0] += w if self.particles[SIZE, r] <= self.bound else 0.0
        live = np.sort(self.slots[ORDER, : self.counters[LIVE]])
        mix = mix[live] * self.mass[MASS, live]
        return live, mix / mix.sum()

    def log_mixture(self, divisor):
        """Return the live slots and their log weights in the predictive, less log(divisor)."""
        return live.log_mixture(*self.population(), self.bound, float(divisor))

    def score_groups(self, rows, divisor, first, scores, log_mix):
        """Score a table of rows in each group of the mixture, from place `first` on."""
        (live.score_groups.machine or live.score_groups.run)(
            *self._bound(self.family, self.stats), rows, self.slots, self.mass, self.groups,
            self.particles, self.logw, self.counters, self.bound, divisor, first, scores, log_mix,
        )  # fmt: skip

    def log_next(self, X, i):
        """Return the log density of one row, without a bound on groups: fast, for streams."""
        X = as_cells(self.family, X)
        product = self._bound(self.family, self.stats)
        return log_growth.run(*product, rows_of(X), i, *self.population(), self.bound)

    def log_density(self, X):
        """Return the log predictive density of each row."""
        live, weights = self.mixture()
        out = np.empty(len(X[0]))
        with np.errstate(divide="ignore"):  # at the bound the empty group has no weight
            log_mix = np.log(weights)
        for i in range(0, len(out), ROWS_AT_ONCE):
            part = tuple(block[i : i + ROWS_AT_ONCE] for block in X)
            scores = np.tile(log_mix, (len(part[0]), 1))
            score_rows(self.family, self.stats, live, part, scores)
            out[i : i + ROWS_AT_ONCE] = np.logaddexp.reduce(scores, axis=1)
        return out
