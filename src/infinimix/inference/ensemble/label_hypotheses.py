"""Rows without labels in a stream: a particle filter over labels, outside the filters over groups.

An outer particle is a world: one way to label the rows so far, with a filter for each class (the
nested filter that the AClass paper sketches in its last section). Its weight is

    w = P(y) prod_c evidence_c / chance

with P(y) Dirichlet-multinomial (but for what all worlds share), the evidence that of the filters of
the groups, and `chance` the probability with which resampling has let the world live. A row with
label is learned by all worlds. A row x without label makes of each world one child for each class,

    w(world, c) proportional to w(world) (m_c + gamma) p(x | c, world)

and of these at most `size` are kept by optimal resampling (Fearnhead and Clifford 2003). So no two
worlds label the rows alike, and the sum of the weights is an unbiased estimate of the probability
of all rows and labels, whatever the number of worlds and particles; with room for all labellings
and all partitions nothing is random, and it is exact.

Hidden here: worlds share the filter of a class as long as they have the same rows in it, and such a
filter learns a row once. A world that sends the row elsewhere keeps the old filter, so only what
differs is copied.
"""

import copy
from dataclasses import dataclass, field

import numpy as np

from infinimix.families.seam import map_arrays
from infinimix.inference.partition.resampling.optimal import DUST, FLOOR, threshold
from infinimix.kernels.compile import kernel
from infinimix.kernels.gamma import rise


@kernel
def log_rises(s, counts):
    """Return the sum of lgamma(s + n) - lgamma(s) over the counts."""
    total = 0.0
    for n in counts:
        total += rise(s, n) if n > 0.0 else 0.0  # not a bit, however many classes are empty
    return total


@dataclass
class World:
    """One labelling of the rows so far."""

    filters: list = field(default_factory=list)  # of each class, shared with other worlds
    windows: list = field(default_factory=list)  # of each filter, if there are to be sweeps
    log_chance: float = 0.0  # of having lived until now

    @property
    def rows(self):
        """Return the number of rows of each class."""
        return np.array([f.n_rows for f in self.filters], np.float64)

    def log_prior(self, gamma):
        """Return log P(y), without the part that is the same for all labellings of n rows."""
        return log_rises(gamma, self.rows)


def log_weights(worlds, gamma, bounded=True):
    """Return the log weight of each world.

    Without `bounded` it is that under a prior that has not been divided by the probability of
    the bound on groups, which takes long to work out: good enough to resample by.
    """
    known = {}
    for f in (f for world in worlds for f in world.filters):
        if id(f) not in known:
            log_evidence = f.log_evidence if bounded else f.log_weight
            known[id(f)] = log_evidence() if f.n_rows else 0.0
    return np.array([
        world.log_prior(gamma) + sum(known[id(f)] for f in world.filters) - world.log_chance
        for world in worlds
    ])  # fmt: skip


def weights(worlds, gamma):
    """Return the weights of worlds, which sum to 1."""
    if len(worlds) == 1:
        return np.ones(1)
    log_w = log_weights(worlds, gamma)
    w = np.exp(log_w - log_w.max())
    return w / w.sum()


def distinct(worlds, c):
    """Return (filter, window) of class c in all worlds, those that are shared once."""
    if len(worlds) == 1:
        return [(worlds[0].filters[c], worlds[0].windows[c])]
    found = {id(world.filters[c]): (world.filters[c], world.windows[c]) for world in worlds}
    return list(found.values())


def branch(worlds, X, i, n_open, gamma, size, rng, learn):
    """Return the worlds after row i, which has no label; it may be of the first n_open classes.

    `learn(f, window, X, rows)` filters rows of one class.
    """
    log_w = log_child_weights(worlds, X, i, n_open, gamma)
    chosen, log_chance = choose(log_w.ravel(), size, rng)
    pairs = [divmod(int(j), n_open) for j in chosen]
    kept = {id(f) for w, c in pairs for k, f in enumerate(worlds[w].filters) if k != c}
    learned, children, row = {}, [], np.array([i])
    for (w, c), chance in zip(pairs, log_chance, strict=True):
        f, window = worlds[w].filters[c], worlds[w].windows[c]
        if id(f) not in learned:
            pair = _copied(f, window) if id(f) in kept else (f, window)
            learn(*pair, X, row)
            learned[id(f)] = pair
        child = World([*worlds[w].filters], [*worlds[w].windows], worlds[w].log_chance + chance)
        child.filters[c], child.windows[c] = learned[id(f)]
        children.append(child)
    return children


def log_child_weights(worlds, X, i, n_open, gamma):
    """Return the log weight of each child, (worlds, classes)."""
    known = {}
    for f in (f for world in worlds for f in world.filters[:n_open]):
        if id(f) not in known:
            known[id(f)] = f.log_next(X, i)
    log_density = np.array([[known[id(f)] for f in w.filters[:n_open]] for w in worlds])
    log_class = np.log([world.rows[:n_open] + gamma for world in worlds])
    before = log_weights(worlds, gamma, bounded=False) if len(worlds) > 1 else np.zeros(1)
    return before[:, None] + log_class + log_density


def choose(log_w, size, rng):
    """Return at most `size` of the candidates, in order, and the log chance that each had.

    All that are no dust if there is room. Else a share above kappa is kept for sure, and the others
    are kept share / kappa of the time, by one systematic draw.
    """
    q = np.exp(log_w - log_w.max())
    alive = np.flatnonzero(q > DUST)
    q = q[alive] / q[alive].sum()
    if len(alive) <= size:
        return alive, np.zeros(len(alive))
    chance = np.minimum(q / max(kappa_of(q, size), FLOOR), 1.0)
    marks = np.cumsum(np.append(rng.random(), np.where(chance < 1.0, chance, 0.0)))
    lives = (chance == 1.0) | (np.diff(np.floor(marks)) > 0.0)
    lives[q.argmax()] |= not lives.any()  # rounding
    return alive[lives], np.log(chance[lives])


@kernel
def kappa_of(q, size):
    """Return what a share must be above to be kept for sure."""
    return threshold(q, q.size, size)


def _copied(f, window):
    """Return a filter and its window that learn apart from these, and draw the same numbers.

    What a filter will draw says nothing of what it has drawn, so worlds may share it: their
    weights then differ less by chance.
    """
    twin, beside = copy.copy(f), copy.copy(window)
    twin.stats, twin.rng = map_arrays(np.copy, f.stats), copy.deepcopy(f.rng)
    twin._bound = copy.copy(f._bound)  # of its own statistics
    for name in ("slots", "mass", "groups", "particles", "logw", "counters", "u"):
        setattr(twin, name, getattr(f, name).copy())
    beside.z = window.z.copy()
    return twin, beside
