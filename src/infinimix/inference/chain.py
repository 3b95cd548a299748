"""A Markov chain on one particle of a filter whose rows are at hand.

The filter draws one of its particles, the rows find out in which of its groups they are, and
Gibbs sweeps and split-merge moves go on from there: resampling to one particle followed by a
move that leaves the posterior as it is, so the evidence stays an unbiased estimate. `keep`
sets a state aside as a further particle; in the end all states weigh the same.
"""

import numpy as np

from infinimix.inference.gibbs import SPARE, sweep
from infinimix.inference.splitmerge import split_merge

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
        self.f, self.X, self.rows, self.z = f, X, np.ascontiguousarray(rows), z
        self.made = np.zeros(2, np.int64)  # splits, merges
        f.collapse(r)

    @classmethod
    def drawn(cls, f, X, rows, trace):
        """Go on from a particle of the filter, drawn by weight."""
        r = int(f.rng.choice(f.n_particles, p=f.weights()))
        return cls(f, X, rows, trace_back(trace, r), r)

    def sweep(self, loo=NO_LOO):
        """Let every row choose again, then try to split and merge."""
        f, j, moves = self.f, 0, MOVES
        while True:
            j = sweep(f.family, f.stats, self.X, self.rows, self.z, j, 0, *self._arrays(), loo)
            if j == len(self.rows):
                break
            f.make_room(SPARE)
        while moves and len(self.rows) == f.n_rows:
            moves = split_merge(
                f.family, f.stats, self.X, self.rows, self.z, moves, 0, *self._arrays(), self.made
            )
            if moves:
                f.make_room(SPARE)

    def _arrays(self):
        f = self.f
        return f.slots, f.mass, f.groups, f.crowd, f.tally, f.rng, f.bound

    def keep(self):
        """Set the present state aside."""
        self.f.set_aside()
