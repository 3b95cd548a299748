"""What groups of words need beyond the seam while a stream is learned; for tables, little.

New words get a pseudo-count everywhere, and with Algorithm 1 parameters are drawn where rows are
learned: of a group when it begins, of a word in all groups when it first appears, and of the words
of a row, or as published of all words, after it. A row under the base measure is a sum for words,
and for tables the score of a slot without rows. And the words of a row lie here and there in arrays
that no cache holds, so the kernel says early which ones it will read.
"""

import numpy as np

from infinimix.families.seam import refresh, score
from infinimix.families.words import (
    UNDRAWN,
    DirichletMultinomial,
    SampledMultinomial,
    draw_cell,
    draw_group,
    log_base,
    redraw,
)
from infinimix.inference.online_crp.model import HELD
from infinimix.kernels.dispatch import operation
from infinimix.kernels.memory import foretell


@operation
def renew(family, stats, k, X, i, rng):
    """Draw the parameters of group k anew, if the family scores by drawn ones."""


@renew.implement(tuple, np.ndarray)
def _(family, stats, k, X, i, rng):
    pass


@renew.implement(SampledMultinomial)
def _(family, stats, k, X, i, rng):
    if family.form[1] and k > 0:  # 0 has all rows: what is drawn for it is never asked for
        draw_group(family, stats, k, rng)
    else:
        redraw(family, stats, k, X, i, rng)
        refresh(family, stats, k)


@operation
def score_base(family, stats, k, X, i, out):
    """Return the log density of row X[i] under the base measure; slot k is one without rows."""


@score_base.implement(tuple, np.ndarray)
def _(family, stats, k, X, i, out):
    out[k] = 0.0
    score(family, stats, X, i, np.arange(k, k + 1), out)
    return out[k]


@score_base.implement(DirichletMultinomial)
def _(family, stats, k, X, i, out):
    return log_base(family, X, i)


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


@operation
def foresee(family, model, slots, X, i, y):
    """Let the memory bring what row X[i] of class y will need; y may be no class."""


@foresee.implement(tuple, np.ndarray)
def _(family, model, slots, X, i, y):
    pass


@foresee.implement(DirichletMultinomial)
def _(family, model, slots, X, i, y):
    size, stats, (b, squares, _) = model.replicas.shape[1], model.stats, model.refinement
    words, refines = model.weights.words, b.shape[0] > 0
    own = 1 + y * size
    for j in range(X.start[i], X.start[i + 1]):
        word = X.word[j]
        foretell(words, word, 0, words.shape[1])
        foretell(stats.t, word, 0, slots)
        if refines:
            foretell(b, word, 0, slots)
        if y >= 0:
            foretell(stats.n, word, own, own + size)
            foretell(stats.n, word, 0, 1)
            if refines:
                foretell(squares, word, own, own + size)
