"""An island: one particle filter per class, over one base measure and one concentration.

Islands are independent of each other. Each may find its hyper-parameters from the evidence
of its own groups: the base measure is shared across the classes (see `hyperparameters`), and so is
the concentration (Escobar and West, see `crp`). In `fit` an island takes the rows in an order of
its own, and may then go on by Gibbs sweeps and split-merge moves (see `chain`).

In a stream with rows without labels an island is a particle filter over labels: it has several
label hypotheses, each with filters of its own, under the same hyper-parameters.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.grids import spread_strengths
from infinimix.inference.ensemble.hyperparameters import draw_hyperparameters
from infinimix.inference.ensemble.label_gibbs import LabelState
from infinimix.inference.ensemble.label_hypotheses import LabelHypothesis, branch, distinct, weights
from infinimix.inference.partition.chain import Chain
from infinimix.inference.partition.filter import NO_TRACE, ParticleFilter
from infinimix.inference.partition.window import Window
from infinimix.partitions.crp import draw_alpha

PORTIONS = (0.125, 0.25, 0.5, 1.0)  # of a table, after which hyper-parameters are found
HELD_OUT = 0.75  # of its own order of rows, from where on an island scores rows before it learns


class Stretch(NamedTuple):
    """A part of `fit`: from one share of the rows of each class to another."""

    first: float
    last: float
    scores: bool  # rows that are held out afterwards; else hyper-parameters are found


def advance(f, X, rows, stretch, trace=NO_TRACE):
    """Filter the rows of a class in a stretch; `rows` is the order of all of them."""
    first, last = (round(share * len(rows)) for share in stretch[:2])
    f.update(X, rows[first:last], trace[first:last], ahead=True)


def held_rows(rows, scored):
    """Return those of the last rows in an order that are to be scored."""
    rest = rows[round(HELD_OUT * len(rows)) :]
    return rest[scored[rest]]


class Island:
    """The filters of all classes; `learn` for a stream, `fit` for a whole table."""

    def __init__(self, settings, seed, k, base):
        self.settings, self.seed, self.k = settings, seed, k
        self.rng = self._generator(2**32 - 2, k)
        self.alpha = 1.0 if settings.alpha == "learn" else settings.alpha
        self.positions = spread_strengths(
            base.layout, settings.prior, k / max(settings.n_islands - 1, 1)
        )
        self.family = base.families(self.positions)
        self.hypotheses = [LabelHypothesis()]
        self.label_rng = self._generator(2**32 - 5, k)  # by which hypotheses are kept
        self.paths = []  # of each class after `fit`: rows, and the group of each in one state

    def _generator(self, *key):
        """Return a generator of this island's own, which depends on nothing but the key."""
        key = (*self.seed.spawn_key, *key)
        return np.random.default_rng(np.random.SeedSequence(self.seed.entropy, spawn_key=key))

    @property
    def filters(self):
        """Filters of each class in the first hypothesis, the only one if no label is missing."""
        return self.hypotheses[0].filters

    @filters.setter
    def filters(self, filters):
        self.hypotheses[0].filters = filters

    @property
    def windows(self):
        """The latest rows of each class in the first hypothesis, for sweeps in a stream."""
        return self.hypotheses[0].windows

    def hypothesis_weights(self):
        """Return the weight of each hypothesis; they sum to 1."""
        return weights(self.hypotheses, self.settings.gamma)

    def _all_filters(self):
        if len(self.hypotheses) == 1:
            return self.filters
        every = range(len(self.filters))
        return [f for c in every for f, _ in distinct(self.hypotheses, c)]

    def new_filter(self, c):
        """Return a filter without rows, and a window, for class c."""
        s, rng = self.settings, self._generator(c, self.k)
        sizes = (s.n_particles, s.resampling, s.max_groups)
        return ParticleFilter(self.family, self.alpha, *sizes, rng), Window(s.window)

    def add_class(self):
        """Open a class without rows, which all hypotheses share."""
        f, window = self.new_filter(len(self.filters))
        for h in self.hypotheses:
            h.filters.append(f)
            h.windows.append(window)

    def learn(self, X, steps):
        """Filter rows in their order.

        A step is the rows of each class in a stretch where all have labels, or one row without,
        and how many classes there are for it.
        """
        s = self.settings
        for shares, free in steps:
            for c, rows in shares:
                for f, window in distinct(self.hypotheses, c):
                    self._update(f, window, X, rows)
            if free is not None:
                size = (s.gamma, s.n_label_particles)
                self.hypotheses = branch(
                    self.hypotheses, X, *free, *size, self.label_rng, self._update
                )

    def _update(self, f, window, X, rows):
        if self.settings.window:
            window.update(f, X, rows)
        else:
            f.update(X, rows)

    def rebase(self, base, changed=True):
        """Take a new estimate of the pooled table, and learn the hyper-parameters again."""
        if changed:  # first: the statistics may need room for a new category
            self.family = base.families(self.positions)
            self._retarget()
        self.find_hyper(base)

    def _draw_particle(self, f):
        if f.n_particles == 1:  # no draw: a class without rows leaves the generator as it is
            return 0
        return f.draw(self.rng)

    def _draw_hypothesis(self):
        if len(self.hypotheses) == 1:
            return self.hypotheses[0]
        return self.hypotheses[
            int(self.rng.choice(len(self.hypotheses), p=self.hypothesis_weights()))
        ]

    def _find_base(self, base, filters, particles):
        """Draw hyper-parameters of the base measure, given one particle of each class."""
        pairs = zip(filters, particles)
        groups = [(f.stats, f.held(r)) for f, r in pairs if f.n_rows]
        self.positions, _ = draw_hyperparameters(self.rng, base, self.positions, groups)

    def _find_alpha(self, filters, particles):
        """Draw the concentration, given how many groups one particle of each class has."""
        sizes = [f.n_held(r) for f, r in zip(filters, particles)]
        rows = [f.n_rows for f in filters]
        self.alpha = draw_alpha(self.rng, self.alpha, sizes, rows, bound=filters[0].bound)

    def _learns(self, base):
        return base.learns or self.settings.alpha == "learn"

    def find_hyper(self, base, particles=None):
        """Draw what is to be learned, given one particle of each class, and reweight all particles.

        Hypothesis and particles are drawn by their weights if they are not given.
        """
        learns_base, learns_alpha = base.learns, self.settings.alpha == "learn"
        if not (learns_base or learns_alpha) or not any([f.n_rows for f in self.filters]):
            return  # before any row the defaults serve better than a draw
        filters = self._draw_hypothesis().filters
        if particles is None:
            particles = [self._draw_particle(f) for f in filters]
        if learns_base:
            self._find_base(base, filters, particles)
            self.family = base.families(self.positions)
        if learns_alpha:
            self._find_alpha(filters, particles)
        self._retarget()

    def _retarget(self):
        for f in self._all_filters():
            f.retarget(self.family, self.alpha)

    def label(self, X, codes, base, gamma):
        """Return the probabilities of the classes of each row, and a label drawn for each.

        `codes` has -1 for rows without label. Every group has a label: with few labels the
        classes of others would be guesses, and there are many of these.
        """
        rng = self._generator(2**32 - 4, self.k)
        family, C = base.families(self.positions), len(self.filters)
        state = LabelState(family, self.alpha, gamma, X, codes, C, rng, all_named=True)
        proba = state.run(base, self.positions, self.settings.alpha == "learn")
        return proba, state.labels

    def fit(self, X, shares, base, record, scored):
        """Filter all rows in an order of the island's own, then move by sweeps.

        With `record`, `paths` tells afterwards which row is in which group. Returned are rows,
        those of the mask `scored` that come last in this island's order, and their log densities in
        each class before any of them was learned. Scoring changes nothing.
        """
        walks = []
        for c, rows in shares:
            f = self.filters[c]
            traced = record or self.settings.sweeps
            trace = np.empty((len(rows), 2, len(f.logw)), np.int32) if traced else NO_TRACE
            walks.append((f, f.rng.permutation(rows), trace))
        held_out = self._filter(X, walks, base, scored)
        chains = []
        if self.settings.sweeps:
            chains = [Chain.drawn(f, X, rows, trace) for f, rows, trace in walks]
            self._sweep(chains, base)
        elif record:
            chains = [Chain.heaviest(f, X, rows, trace) for f, rows, trace in walks]
        self.paths = [(chain.rows, chain.z) for chain in chains] if record else []
        return held_out

    def _filter(self, X, walks, base, scored):
        """Filter the rows of all classes; what is to be learned is found after each portion."""
        held_out = (np.empty(0, np.int64), np.empty((0, len(self.filters))))
        for stretch in self.stretches(base, scored.any()):
            for f, rows, trace in walks:
                advance(f, X, rows, stretch, trace)
            if stretch.scores:
                held = np.concatenate([held_rows(rows, scored) for _, rows, _ in walks])
                held_out = self.score(X, held)
            else:
                self.find_hyper(base)
        return held_out

    def stretches(self, base, check):
        """Return the parts of `fit`; with `check`, rows are scored before the last one."""
        portions = PORTIONS if self._learns(base) else (1.0,)
        ends = [(share, False) for share in portions]
        if check:
            ends.insert(-1, (HELD_OUT, True))
        starts = [0.0, *(share for share, _ in ends)]
        return [Stretch(first, *end) for first, end in zip(starts, ends)]

    def score(self, X, held):
        """Return rows that are held out, in order, and their log density in each class."""
        held = np.sort(held)
        part = tuple(np.ascontiguousarray(block[held]) for block in X)
        if not len(held):
            return held, np.empty((0, len(self.filters)))
        return held, np.stack([f.log_density(part) for f in self.filters], axis=1)

    def _sweep(self, chains, base):
        """Sweep all classes in turn; the states after the last sweeps are kept as particles."""
        sweeps = self.settings.sweeps
        kept = min(self.settings.n_particles, (sweeps + 1) // 2)
        for left in range(sweeps, 0, -1):
            self.find_hyper(base, [0] * len(self.filters))
            for chain in chains:
                if left < kept:
                    chain.keep()
                chain.sweep()
        for chain in chains:
            chain.f.weigh_evenly()
