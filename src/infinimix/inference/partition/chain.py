"""A Markov chain on one particle of a filter whose rows are at hand.

The filter draws one of its particles, the rows find out in which of its groups they are, and
Gibbs sweeps and split-merge moves go on from there: resampling to one particle followed by a
move that leaves the posterior as it is, so the evidence stays an unbiased estimate. `keep`
sets a state aside as a further particle; in the end all states weigh the same.
"""

import numpy as np

from infinimix.inference.partition.gibbs import SPARE, sweep
from infinimix.inference.partition.split_merge import split_merge

MOVES = 10  # split-merge moves of each sweep
NO_LOO = np.empty(0)


def trace_back(trace, r):
    """Return in which position of its particle each row ended, for particle r."""
    z = np.empty(len(trace), np.int64)
    for j in range(len(trace) - 1, -1, -1):
        z[j], r = trace[j, 1, r], trace[j, 0, r]
    return z


class Chain:
    """One particle of a filter, and the positions z of its rows in it."""

    def __init__(self, f, X, rows, z, r=0):
        self.f, self.X, self.rows, self.z, self.r = f, X, np.ascontiguousarray(rows), z, r
        self.made = np.zeros(2, np.int64)  # splits, merges

    @classmethod
    def drawn(cls, f, X, rows, trace):
        """Go on from a particle of the filter, drawn by weight; it alone is left."""
        r = int(f.rng.choice(f.n_particles, p=f.weights()))
        f.collapse(r)
        return cls(f, X, rows, trace_back(trace, r))

    @classmethod
    def heaviest(cls, f, X, rows, trace):
        """Look at the heaviest particle of the filter, among the others."""
        r = int(np.argmax(f.weights()))
        return cls(f, X, rows, trace_back(trace, r), r)

    def sweep(self):
        """Let every row choose again, then try to split and merge."""
        self._visit(self.rows, self.z, NO_LOO)
        f, moves = self.f, MOVES if len(self.rows) > 1 else 0
        while moves and len(self.rows) == f.n_rows:
            moves = split_merge(
                f.family, f.stats, self.X, self.rows, self.z, moves, *self._state(), self.made
            )
            if moves:
                f.make_room(SPARE)

    def leave_one_out(self, chosen):
        """Return the log predictive density of each chosen row given all other rows."""
        loo = np.empty(len(chosen))
        if len(chosen):
            self._visit(self.rows[chosen], self.z[chosen], loo)
        return loo

    def _visit(self, rows, z, loo):
        f, j = self.f, 0
        while True:
            j = sweep(f.family, f.stats, self.X, rows, z, j, *self._state(), loo)
            if j == len(rows):
                return
            f.make_room(SPARE)

    def _state(self):
        f = self.f
        return self.r, *f.population(), f.rng, f.bound

    def keep(self):
        """Set the present state aside."""
        self.f.set_aside()
