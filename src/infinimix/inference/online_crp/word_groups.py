"""What groups of words need beyond the seam while a stream is learned; for tables, nothing.

New words get a pseudo-count everywhere, and with Algorithm 1 parameters are drawn where rows are
learned: of a group when it begins, of a word in all groups when it first appears, and of the words
of a row after it.
"""

import numpy as np

from infinimix.families.seam import refresh
from infinimix.families.words import (
    UNDRAWN,
    DirichletMultinomial,
    SampledMultinomial,
    draw_cell,
    draw_group,
    redraw,
)
from infinimix.inference.online_crp.model import HELD
from infinimix.kernels.dispatch import operation


@operation
def renew(family, stats, k, X, i, rng):
    """Draw the parameters of group k anew, if the family scores by drawn ones."""


@renew.implement(tuple, np.ndarray)
def _(family, stats, k, X, i, rng):
    pass


@renew.implement(SampledMultinomial)
def _(family, stats, k, X, i, rng):
    redraw(family, stats, k, X, i, rng)
    refresh(family, stats, k)


@operation
def begin(family, stats, k, rng):
    """Draw the parameters of group k, which gets its first row, if the family scores by them."""


@begin.implement(tuple, np.ndarray)
def _(family, stats, k, rng):
    pass


@begin.implement(SampledMultinomial)
def _(family, stats, k, rng):
    draw_group(family, stats, k, rng)


@operation
def know_words(family, stats, slots, new_words):
    """Let more words have a pseudo-count."""


@know_words.implement(tuple, np.ndarray)
def _(family, stats, slots, new_words):
    pass


@know_words.implement(DirichletMultinomial)
def _(family, stats, slots, new_words):
    family.known[0] += new_words
    for k in range(slots):
        refresh(family, stats, k)


@operation
def spread_words(family, stats, classes, replicas, X, i, rng):
    """Draw the parameters of a row's new words in all groups with rows, if there are some."""


@spread_words.implement(tuple, np.ndarray)
def _(family, stats, classes, replicas, X, i, rng):
    pass


@spread_words.implement(SampledMultinomial)
def _(family, stats, classes, replicas, X, i, rng):
    size, n, t = replicas.shape[1], stats.n, stats.t
    for c in range(classes.shape[1]):
        for k in range(1 + c * size, 1 + (c + 1) * size if classes[HELD, c] > 0.0 else 0):
            for j in range(X.start[i], X.start[i + 1]):
                word = X.word[j]
                if t[word, k] <= UNDRAWN:
                    t[word, k] = draw_cell(family.prior[0] + n[word, k], rng)
                    stats.total[k] += np.exp(t[word, k])
            refresh(family, stats, k)
