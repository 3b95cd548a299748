"""An island: one particle filter per class, over one base measure and one concentration.

Islands are independent of each other. Each may find its hyper-parameters from the evidence
of its own groups: the base measure is shared across the classes (see `dials`), and so is the
concentration (Escobar and West, see `crp`). In `fit` an island takes the rows in an order of
its own, and may then go on by Gibbs sweeps and split-merge moves (see `chain`).
"""

import numpy as np

from infinimix.inference.chain import Chain, trace_back
from infinimix.inference.filter import NO_TRACE, ParticleFilter

PORTIONS = (0.125, 0.25, 0.5, 1.0)  # of a table, after which hyper-parameters are found


class Island:
    """The filters of all classes; `learn` for a stream, `fit` for a whole table."""

    def __init__(self, settings, seed, k, base):
        self.settings, self.seed, self.k = settings, seed, k
        self.rng = self._generator(2**32 - 2, k)
        self.alpha = 1.0 if settings.alpha == "learn" else settings.alpha
        self.family = base.families()
        self.filters = []
        self.paths = []  # of each class after `fit`: rows, and the group of each in one state

    def _generator(self, *key):
        """Return a generator of this island's own, which depends on nothing but the key."""
        key = (*self.seed.spawn_key, *key)
        return np.random.default_rng(np.random.SeedSequence(self.seed.entropy, spawn_key=key))

    def add_class(self):
        """Open a class without rows."""
        s, rng = self.settings, self._generator(len(self.filters), self.k)
        self.filters.append(
            ParticleFilter(self.family, self.alpha, s.n_particles, s.resampling, s.max_groups, rng)
        )

    def learn(self, X, shares):
        """Filter rows in their order; `shares` lists the rows of each class."""
        for c, rows in shares:
            self.filters[c].update(X, rows)

    def rebase(self, base):
        """Change the base measure for another estimate of the pooled table."""
        self.family = base.families()
        for f in self.filters:
            f.retarget(self.family)

    def fit(self, X, shares, base, record):
        """Filter all rows in an order of the island's own, then move by sweeps.

        With `record`, `paths` tells afterwards which row is in which group.
        """
        s = self.settings
        shares = [(self.filters[c], self.filters[c].rng.permutation(rows)) for c, rows in shares]
        traced = record or s.sweeps > 0
        traces = [self._trace(f, rows) if traced else NO_TRACE for f, rows in shares]
        for (f, rows), trace in zip(shares, traces):
            f.update(X, rows, trace)
        self.paths = []
        if s.sweeps:
            chains = [Chain.drawn(f, X, rows, trace) for (f, rows), trace in zip(shares, traces)]
            self._sweep(chains)
            self.paths = [(chain.rows, chain.z) for chain in chains]
        elif record:
            for (f, rows), trace in zip(shares, traces):
                self.paths.append((rows, trace_back(trace, int(np.argmax(f.weights())))))

    def _trace(self, f, rows):
        return np.empty((len(rows), 2, len(f.logw)), np.int32)

    def _sweep(self, chains):
        """Sweep all classes in turn; the states after the last sweeps are kept as particles."""
        sweeps = self.settings.sweeps
        kept = min(self.settings.n_particles, (sweeps + 1) // 2)
        for left in range(sweeps, 0, -1):
            for chain in chains:
                if left < kept:
                    chain.keep()
                chain.sweep()
