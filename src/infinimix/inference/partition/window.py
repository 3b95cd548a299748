"""Rejuvenation while streaming: Gibbs sweeps over the latest rows, so that memory stays flat.

A filter never looks back: a row that was put in the wrong group when there were few stays
there. A window keeps the latest rows of one filter, and where they are in each of its
particles. Whenever the filter has seen another half of a window, all particles sweep over
the rows in it (Gibbs moves between filter steps; the weights stay as they are, since the
moves leave each particle's posterior as it is). Older rows stay where they were put.

Hidden here: sweeps come at row counts, not at calls, so the result does not depend on how a
stream is split into calls.
"""

import numpy as np

from infinimix.inference.partition.chain import Chain


class Window:
    """The latest rows of a filter, by `update`, and their positions z in each particle."""

    def __init__(self, size):
        self.size, self.blocks = size, ()
        self.z = np.zeros((1, 0), np.int64)  # (particles, rows)

    def update(self, f, X, rows):
        """Filter rows in their order, sweeping whenever half a window is full."""
        step, first = max(self.size // 2, 1), 0
        while first < len(rows):
            last = min(len(rows), first + step - f.n_rows % step)
            self._filter(f, X, rows[first:last])
            if f.n_rows % step == 0:
                self._sweep(f)
            first = last

    def _filter(self, f, X, rows):
        trace = np.empty((len(rows), 2, len(f.logw)), np.int32)
        f.update(X, rows, trace)
        z = np.empty((f.n_particles, self.z.shape[1] + len(rows)), np.int64)
        r = np.arange(f.n_particles)
        for j in range(len(rows) - 1, -1, -1):
            z[:, self.z.shape[1] + j], r = trace[j, 1, r], trace[j, 0, r]
        if self.z.shape[1]:  # none after `fit`, whatever the particles
            z[:, : self.z.shape[1]] = self.z[r]
        new = tuple(block[rows] for block in X)
        pairs = zip(self.blocks or tuple(block[:0] for block in new), new)
        self.z = np.ascontiguousarray(z[:, -self.size :])
        self.blocks = tuple(np.concatenate(pair)[-self.size :] for pair in pairs)

    def _sweep(self, f):
        """Let the rows of the window choose again, in every particle."""
        every = np.arange(self.z.shape[1])
        for r in range(f.n_particles):
            chain = Chain(f, self.blocks, every, self.z[r].copy(), r)
            chain.sweep()
            self.z[r] = chain.z
