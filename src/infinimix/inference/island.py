"""An island: one particle filter per class, over one base measure and one concentration.

Islands are independent of each other. Each may find its hyper-parameters from the evidence
of its own groups: the base measure is shared across the classes (see `dials`), and so is the
concentration (Escobar and West, see `crp`). In `fit` an island takes the rows in an order of
its own, and may then go on by Gibbs sweeps and split-merge moves (see `chain`).
"""

import numpy as np

from infinimix.families.dials import spread
from infinimix.inference.chain import Chain
from infinimix.inference.dials import turn_dials
from infinimix.inference.filter import NO_TRACE, ParticleFilter
from infinimix.inference.labelling import Labelling
from infinimix.inference.window import Window
from infinimix.partitions.crp import draw_alpha

PORTIONS = (0.125, 0.25, 0.5, 1.0)  # of a table, after which hyper-parameters are found


class Island:
    """The filters of all classes; `learn` for a stream, `fit` for a whole table."""

    def __init__(self, settings, seed, k, base):
        self.settings, self.seed, self.k = settings, seed, k
        self.rng = self._generator(2**32 - 2, k)
        self.alpha = 1.0 if settings.alpha == "learn" else settings.alpha
        self.dials = spread(base.layout, settings.prior, k / max(settings.n_islands - 1, 1))
        self.family = base.families(self.dials)
        self.filters = []
        self.windows = []  # of each class, if there are to be sweeps while streaming
        self.paths = []  # of each class after `fit`: rows, and the group of each in one state

    def _generator(self, *key):
        """Return a generator of this island's own, which depends on nothing but the key."""
        key = (*self.seed.spawn_key, *key)
        return np.random.default_rng(np.random.SeedSequence(self.seed.entropy, spawn_key=key))

    def add_class(self):
        """Open a class without rows."""
        self.windows.append(Window(self.settings.window))
        s, rng = self.settings, self._generator(len(self.filters), self.k)
        self.filters.append(
            ParticleFilter(self.family, self.alpha, s.n_particles, s.resampling, s.max_groups, rng)
        )

    def learn(self, X, shares):
        """Filter rows in their order; `shares` lists the rows of each class."""
        for c, rows in shares:
            if self.settings.window:
                self.windows[c].update(self.filters[c], X, rows)
            else:
                self.filters[c].update(X, rows)

    def rebase(self, base):
        """Follow a new estimate of the pooled table, and find the hyper-parameters anew."""
        self._retarget(base)  # first: the statistics may need room for a new category
        self._find_hyper(base)

    def _draw_particle(self, f):
        if f.n_particles == 1:  # no draw: a class without rows leaves the generator as it is
            return 0
        return int(self.rng.choice(f.n_particles, p=f.weights()))

    def _find_dials(self, base, particles):
        """Draw the dials of the base measure, given the groups of one particle of each class."""
        pairs = zip(self.filters, particles)
        groups = [(f.stats, f.held(r)) for f, r in pairs if f.n_rows]
        self.dials, _ = turn_dials(self.rng, *base, self.dials, groups)

    def _find_alpha(self, particles):
        """Draw the concentration, given how many groups one particle of each class has."""
        sizes = [f.n_groups()[r] for f, r in zip(self.filters, particles)]
        rows = [f.n_rows for f in self.filters]
        self.alpha = draw_alpha(self.rng, self.alpha, sizes, rows, bound=self.filters[0].bound)

    def _learns(self, base):
        return base.learns or self.settings.alpha == "learn"

    def _find_hyper(self, base, particles=None):
        """Draw what is to be learned, given one particle of each class, and weigh all anew.

        The particles are drawn by their weights if they are not given.
        """
        if not self._learns(base) or not any(f.n_rows for f in self.filters):
            return  # before any row the defaults serve better than a draw
        if particles is None:
            particles = [self._draw_particle(f) for f in self.filters]
        if base.learns:
            self._find_dials(base, particles)
        if self.settings.alpha == "learn":
            self._find_alpha(particles)
        self._retarget(base)

    def _retarget(self, base):
        self.family = base.families(self.dials)
        for f in self.filters:
            f.retarget(self.family, self.alpha)

    def label(self, X, codes, base, gamma):
        """Return the probabilities of the classes of each row, and a label drawn for each.

        `codes` has -1 for rows without label. Every group has a label: with few labels the
        classes of others would be guesses, and there are many of these.
        """
        rng = self._generator(2**32 - 4, self.k)
        family, C = base.families(self.dials), len(self.filters)
        state = Labelling(family, self.alpha, gamma, X, codes, C, rng, all_named=True)
        proba = state.run(base, self.dials, self.settings.alpha == "learn")
        return proba, state.labels

    def fit(self, X, shares, base, record, checked):
        """Filter all rows in an order of the island's own, then move by sweeps.

        With `record`, `paths` tells afterwards which row is in which group. Returned are the log
        densities of the rows `checked` in each class; see `Bank.fit`.
        """
        walks = []
        for c, rows in shares:
            f = self.filters[c]
            traced = record or len(checked) or self.settings.sweeps
            trace = np.empty((len(rows), 2, len(f.logw)), np.int32) if traced else NO_TRACE
            walks.append((f, f.rng.permutation(rows), trace))
        self._filter(X, walks, base)
        chains = []
        if self.settings.sweeps:
            chains = [Chain.drawn(f, X, rows, trace) for f, rows, trace in walks]
            self._sweep(chains, base)
        elif record or len(checked):
            chains = [Chain.heaviest(f, X, rows, trace) for f, rows, trace in walks]
        self.paths = [(chain.rows, chain.z) for chain in chains] if record else []
        return self._check(X, chains, checked)

    def _check(self, X, chains, checked):
        """Return the log density of each row in each class, in its own without itself."""
        table = np.empty((len(checked), len(self.filters)))
        if len(checked):
            rows = tuple(block[checked] for block in X)
            for c, (f, chain) in enumerate(zip(self.filters, chains)):
                table[:, c] = f.log_density(rows)
                own = np.flatnonzero(np.isin(chain.rows, checked))
                at = np.searchsorted(checked, chain.rows[own])
                table[at, c] = chain.leave_one_out(own)
        return table

    def _filter(self, X, walks, base):
        """Filter the rows of all classes; what is to be learned is found after each portion."""
        done = 0.0
        for share in PORTIONS if self._learns(base) else (1.0,):
            for f, rows, trace in walks:
                first, last = round(done * len(rows)), round(share * len(rows))
                f.update(X, rows[first:last], trace[first:last], ahead=True)
            self._find_hyper(base)
            done = share

    def _sweep(self, chains, base):
        """Sweep all classes in turn; the states after the last sweeps are kept as particles."""
        sweeps = self.settings.sweeps
        kept = min(self.settings.n_particles, (sweeps + 1) // 2)
        for left in range(sweeps, 0, -1):
            self._find_hyper(base, [0] * len(self.filters))
            for chain in chains:
                if left < kept:
                    chain.keep()
                chain.sweep()
        for chain in chains:
            chain.f.weigh_evenly()
