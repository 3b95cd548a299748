"""Rows without labels in a stream: a particle filter over labels, outside the filters over groups.

An outer particle is a label hypothesis: one way to label the rows so far, with a filter for each
class (the nested filter that the AClass paper sketches in its last section). Its weight is

    w = P(y) prod_c evidence_c / chance

with P(y) Dirichlet-multinomial (up to a factor that all hypotheses share), the evidence that of the
filters of the groups, and `chance` the probability that resampling has kept the hypothesis. A row
with label is learned by all hypotheses. A row x without label makes of each hypothesis h one child
for each class,

    w(h, c) proportional to w(h) (m_c + gamma) p(x | c, h)

and of these at most `size` are kept by optimal resampling (Fearnhead and Clifford 2003). So no two
hypotheses label the rows alike, and the sum of the weights is an unbiased estimate of the
probability of all rows and labels, whatever the number of hypotheses and particles; with room for
all labellings and all partitions nothing is random, and it is exact.

Hidden here: hypotheses share the filter of a class as long as they have the same rows in it, and
such a filter learns a row once. A hypothesis that puts the row elsewhere keeps the old filter, so
only what differs is copied.
"""

import copy
from dataclasses import dataclass, field

import numpy as np

from infinimix.families.seam import map_arrays
from infinimix.inference.partition.resampling.optimal import FLOOR, threshold
from infinimix.inference.partition.resampling.pairs import NEGLIGIBLE
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
class LabelHypothesis:
    """One labelling of the rows so far."""

    filters: list = field(default_factory=list)  # of each class, shared with other hypotheses
    windows: list = field(default_factory=list)  # of each filter, if there are to be sweeps
    log_chance: float = 0.0  # probability of having been kept so far

    @property
    def rows(self):
        """Return the number of rows of each class."""
        return np.array([f.n_rows for f in self.filters], np.float64)

    def log_prior(self, gamma):
        """Return log P(y), without the part that is the same for all labellings of n rows."""
        return log_rises(gamma, self.rows)


def log_weights(hypotheses, gamma, bounded=True):
    """Return the log weight of each hypothesis.

    Without `bounded` it is that under a prior that has not been divided by the probability of
    the bound on groups, which takes long to work out: good enough to resample by.
    """
    known = {}
    for f in (f for h in hypotheses for f in h.filters):
        if id(f) not in known:
            log_evidence = f.log_evidence if bounded else f.log_weight
            known[id(f)] = log_evidence() if f.n_rows else 0.0
    return np.array([
        h.log_prior(gamma) + sum(known[id(f)] for f in h.filters) - h.log_chance
        for h in hypotheses
    ])  # fmt: skip


def weights(hypotheses, gamma):
    """Return the weights of hypotheses, which sum to 1."""
    if len(hypotheses) == 1:
        return np.ones(1)
    log_w = log_weights(hypotheses, gamma)
    w = np.exp(log_w - log_w.max())
    return w / w.sum()


def distinct(hypotheses, c):
    """Return (filter, window) of class c in all hypotheses, those that are shared once."""
    if len(hypotheses) == 1:
        return [(hypotheses[0].filters[c], hypotheses[0].windows[c])]
    found = {id(h.filters[c]): (h.filters[c], h.windows[c]) for h in hypotheses}
    return list(found.values())


def branch(hypotheses, X, i, n_open, gamma, size, rng, learn):
    """Return the hypotheses after row i, which has no label; it may be of the first n_open classes.

    `learn(f, window, X, rows)` filters rows of one class.
    """
    log_w = log_child_weights(hypotheses, X, i, n_open, gamma)
    chosen, log_chance = choose(log_w.ravel(), size, rng)
    pairs = [divmod(int(j), n_open) for j in chosen]
    kept = {id(f) for w, c in pairs for k, f in enumerate(hypotheses[w].filters) if k != c}
    learned, children, row = {}, [], np.array([i])
    for (w, c), chance in zip(pairs, log_chance, strict=True):
        f, window = hypotheses[w].filters[c], hypotheses[w].windows[c]
        if id(f) not in learned:
            pair = _copied(f, window) if id(f) in kept else (f, window)
            learn(*pair, X, row)
            learned[id(f)] = pair
        child = LabelHypothesis(
            [*hypotheses[w].filters], [*hypotheses[w].windows], hypotheses[w].log_chance + chance
        )
        child.filters[c], child.windows[c] = learned[id(f)]
        children.append(child)
    return children


def log_child_weights(hypotheses, X, i, n_open, gamma):
    """Return the log weight of each child, (hypotheses, classes)."""
    known = {}
    for f in (f for h in hypotheses for f in h.filters[:n_open]):
        if id(f) not in known:
            known[id(f)] = f.log_next(X, i)
    log_density = np.array([[known[id(f)] for f in w.filters[:n_open]] for w in hypotheses])
    log_class = np.log([h.rows[:n_open] + gamma for h in hypotheses])
    before = log_weights(hypotheses, gamma, bounded=False) if len(hypotheses) > 1 else np.zeros(1)
    return before[:, None] + log_class + log_density


def choose(log_w, size, rng):
    """Return at most `size` of the candidates, in order, and the log probabilities to keep them.

    All of more than negligible weight if there is room. Otherwise a share above kappa is kept
    for sure, and the others with probability share / kappa, by one systematic draw.
    """
    q = np.exp(log_w - log_w.max())
    alive = np.flatnonzero(q > NEGLIGIBLE)
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

    Later draws of a filter do not depend on earlier ones, so hypotheses may share the generator:
    their weights then differ less by chance.
    """
    twin, beside = copy.copy(f), copy.copy(window)
    twin.stats, twin.rng = map_arrays(np.copy, f.stats), copy.deepcopy(f.rng)
    twin._bound = copy.copy(f._bound)  # of its own statistics
    for name in ("slots", "mass", "groups", "particles", "logw", "counters", "u"):
        setattr(twin, name, getattr(f, name).copy())
    beside.z = window.z.copy()
    return twin, beside
