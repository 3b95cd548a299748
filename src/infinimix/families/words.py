"""Dirichlet-multinomial words: a row is a sparse list of words with their counts.

Each of V known words has the pseudo-count `prior`. A group that holds n_w of word w, T in all,
gives a row x with X words in all

    REINFORCED   sum_w rise(prior + n_w, x_w) - rise(V prior + T, X)
    MEAN         sum_w x_w log(prior + n_w) - X log(V prior + T)
    SAMPLED      sum_w x_w log theta_w,  theta drawn from the group's posterior

with rise(a, x) = lgamma(a + x) - lgamma(a). REINFORCED is the exact predictive of the words in
their order, with all parameters integrated out: a word makes its next occurrence in the row more
probable. MEAN scores every word by the predictive of one word, so a row may have any weights that
stand for its words. SAMPLED is the paper's Algorithm 1 (Online CRP, 2014): theta is g / sum(g) with
g_w from Gamma(prior + n_w), so that after a row only its own words need a new draw (the paper draws
all of them: REDRAWN). A word has a draw in every group with rows from the row on that has it first;
`fade` and `merge` change only the counts, and leave new draws to the caller.

Hidden here: the arrays are word-major, since a row touches few words of all groups. Unlike other
families the slot is therefore the last axis of cells, `reserve` makes room for groups, and
`count` leaves the cells ready that it has touched. Counts are clipped at zero when written.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families import product, seam
from infinimix.families.registration import register
from infinimix.kernels.compile import exact, part
from infinimix.kernels.elementary import log
from infinimix.kernels.gamma import rise

MEAN, REINFORCED, SAMPLED, REDRAWN = range(4)
ROUNDING = 1e-6  # of a log in single precision
LANES = 8  # sums that are added up side by side
LEAST = 1e-300  # of a drawn parameter: its log stays finite
UNDRAWN = -700.0  # stands for the log of one that is not drawn; the log of LEAST is more


class WordRows(NamedTuple):
    """Rows of words, one after the other."""

    start: np.ndarray  # (rows + 1,) where each row's words start
    word: np.ndarray  # the words' numbers
    weight: np.ndarray  # how often each occurs, or what it weighs


class DirichletMultinomial(NamedTuple):
    """Hyper-parameters of rows of words."""

    prior: np.ndarray  # (1,) pseudo-count of each word
    known: np.ndarray  # (1,) number of words that have a pseudo-count
    form: np.ndarray  # (2,) MEAN, REINFORCED or SAMPLED, by which rows are scored; draws all anew?


class SampledMultinomial(DirichletMultinomial):
    """Words scored by drawn parameters, form SAMPLED: a class, as only it compiles the draws.

    `form[1]` is 1 if after each row all parameters of its groups are drawn anew, as Algorithm 1 is
    written, and not only those of its words.
    """


class WordStats(NamedTuple):
    """Statistics of K groups over at most W words."""

    n: np.ndarray  # (W, K) counts
    t: np.ndarray  # (W, K) log(prior + n), or log g of the latest draw
    total: np.ndarray  # (K,) sum of the counts, or of g
    norm: np.ndarray  # (K,) log of the total, prior included


def new_words(prior, form):
    """Return words of which none is known; REDRAWN is SAMPLED in how rows are scored."""
    kind = SampledMultinomial if form in (SAMPLED, REDRAWN) else DirichletMultinomial
    forms = np.array([min(form, SAMPLED), form == REDRAWN])
    return kind(np.array([prior]), np.zeros(1), forms)


def form_of(family):
    """Return the form that `new_words` was given."""
    return REDRAWN if family.form[1] else int(family.form[0])


def blank_cell(family):
    """Return what `t` is of a word without counts."""
    return UNDRAWN if family.form[0] == SAMPLED else np.log(family.prior[0])


def empty_words(family, words, slots):
    """Return statistics of `slots` groups over at most `words` words, not drawn yet."""
    t = np.full((words, slots), blank_cell(family), np.float32)
    stats = WordStats(np.zeros((words, slots)), t, np.zeros(slots), np.zeros(slots))
    product.refresh_all(family, stats, slots)
    return stats


@part
def is_prefix(live):
    """Are the slots just the first ones? Then a loop over them can be vectorised."""
    return live.shape[0] > 0 and live[live.shape[0] - 1] == live.shape[0] - 1


@seam.empty.implement(DirichletMultinomial)
def _(family, slots):
    return empty_words(family, int(family.known[0]), slots)


@seam.count.implement(DirichletMultinomial)
def _(family, stats, k, X, i, w):
    n, t, prior, change = stats.n, stats.t, family.prior[0], 0.0
    first, last = X.start[i], X.start[i + 1]
    cell = np.empty(last - first)
    for j in range(first, last):
        word = X.word[j]
        before = n[word, k]
        after = max(before + w * X.weight[j], 0.0)
        n[word, k] = after
        cell[j - first] = prior + after
        change += after - before
    if family.form[0] != SAMPLED:
        for j in range(last - first):  # a loop of its own, so that the logs are vectorised
            cell[j] = log(cell[j])
        for j in range(first, last):
            t[X.word[j], k] = cell[j - first]
        stats.total[k] = max(stats.total[k] + change, 0.0)


@seam.refresh.implement(DirichletMultinomial)
def _(family, stats, k):
    rest = 0.0 if family.form[0] == SAMPLED else family.prior[0] * family.known[0]
    total = stats.total[k] + rest
    stats.norm[k] = log(total) if total > 0.0 else 0.0  # no word is known yet


@part
def redraw(family, stats, k, X, i, rng):
    """Draw the parameters of a row's words in group k anew, from their posterior."""
    n, t, prior, change = stats.n, stats.t, family.prior[0], 0.0
    for j in range(X.start[i], X.start[i + 1]):
        word = X.word[j]
        before = np.exp(t[word, k]) if t[word, k] > UNDRAWN else 0.0
        t[word, k] = draw_cell(prior + n[word, k], rng)
        change += np.exp(t[word, k]) - before
    stats.total[k] = max(stats.total[k] + change, LEAST)


@part
def log_base(family, X, i):
    """Return the log density of a row under the base measure: that of a group without rows."""
    prior, known, length, density = family.prior[0], family.known[0], 0.0, 0.0
    for j in range(X.start[i], X.start[i + 1]):
        length += X.weight[j]
    if length == 0.0 or known == 0.0:
        return 0.0
    if family.form[0] == MEAN:
        return -length * log(known)
    for j in range(X.start[i], X.start[i + 1]):
        density += rise(prior, X.weight[j])
    return density - rise(prior * known, length)


@part
def draw_cell(shape, rng):
    """Return the log of a draw from Gamma(shape)."""
    return np.log(max(rng.standard_gamma(shape), LEAST))


@part
def draw_group(family, stats, k, rng):
    """Draw the parameters of all words that group 0 has, from the posterior of group k."""
    n, t, prior, total = stats.n, stats.t, family.prior[0], 0.0
    for word in range(n.shape[0]):
        if t[word, 0] > UNDRAWN:
            t[word, k] = draw_cell(prior + n[word, k], rng)
            total += np.exp(t[word, k])
    stats.total[k] = max(total, LEAST)
    seam.refresh(family, stats, k)


@seam.score.implement(DirichletMultinomial)
def _(family, stats, X, i, live, out):
    n, t, prior, slots = stats.n, stats.t, family.prior[0], live.shape[0]
    first, last, length = X.start[i], X.start[i + 1], 0.0
    for j in range(first, last):
        length += X.weight[j]
    if family.form[0] == REINFORCED:
        whole = prior * family.known[0]
        for j in range(first, last):
            word, x = X.word[j], X.weight[j]
            for k in live:
                out[k] += rise(prior + n[word, k], x)
        for k in live:
            out[k] -= rise(whole + stats.total[k], length) if length > 0.0 else 0.0
        return
    if is_prefix(live):
        for k in range(slots):
            out[k] -= length * stats.norm[k]
        for j in range(first, last):
            word, x = X.word[j], X.weight[j]
            for k in range(slots):
                out[k] += x * t[word, k]
    else:
        for k in live:
            out[k] -= length * stats.norm[k]
        for j in range(first, last):
            word, x = X.word[j], X.weight[j]
            for k in live:
                out[k] += x * t[word, k]


@exact
def _sum_lane(family, stats, k, X, first, last, step):
    """Return the squared weights of every so many words: those that group k lacks, and all."""
    strange, total = 0.0, 0.0
    drawn, blank = family.form[0] == SAMPLED, log(family.prior[0]) + ROUNDING
    for j in range(first, last, step):
        square, word = X.weight[j] * X.weight[j], X.word[j]
        total += square
        # The log of the count was read a moment ago, the count itself may be far away.
        lacks = stats.n[word, k] == 0.0 if drawn else stats.t[word, k] < blank
        strange += square if lacks else 0.0
    return strange, total


@exact
def _find_unseen(family, stats, k, X, first, last):
    """Add up in eight lanes, in an order that no compiler chooses: rounding never changes."""
    end, strange, total = last - (last - first) % LANES, 0.0, 0.0
    for j in range(first, first + 2):
        s0, t0 = _sum_lane(family, stats, k, X, j, end, LANES)
        s2, t2 = _sum_lane(family, stats, k, X, j + 2, end, LANES)
        s4, t4 = _sum_lane(family, stats, k, X, j + 4, end, LANES)
        s6, t6 = _sum_lane(family, stats, k, X, j + 6, end, LANES)
        strange, total = strange + ((s0 + s4) + (s2 + s6)), total + ((t0 + t4) + (t2 + t6))
    for j in range(end, last):
        s0, t0 = _sum_lane(family, stats, k, X, j, j + 1, 1)
        strange, total = strange + s0, total + t0
    return strange / total if total > 0.0 else 0.0


@seam.unseen_share.implement(DirichletMultinomial)
def _(family, stats, k, X, i):
    return _find_unseen(family, stats, k, X, X.start[i], X.start[i + 1])


@seam.width.implement(DirichletMultinomial)
def _(family):
    return 1  # the words of a group are one multinomial


@seam.column_evidence.implement(DirichletMultinomial)
def _(family, stats, k, out):
    """Add the evidence of the words in their order; words without counts add nothing."""
    prior, total = family.prior[0], 0.0
    for word in range(stats.n.shape[0]):
        n = stats.n[word, k]
        out[0] += rise(prior, n) if n > 0.0 else 0.0
        total += n
    out[0] -= rise(prior * family.known[0], total) if total > 0.0 else 0.0


@seam.reserve.implement(DirichletMultinomial)
def _(family, stats, slots):
    more = empty_words(family, len(stats.n), slots - stats.n.shape[1])
    return seam.map_arrays(lambda *arrays: np.concatenate(arrays, axis=-1), stats, more)


@seam.fade.implement(DirichletMultinomial)
def _(family, stats, share):
    stats.n[:] *= share
    if family.form[0] != SAMPLED:
        stats.t[:] = np.log(family.prior[0] + stats.n)
        stats.total[:] *= share


@seam.features.implement(DirichletMultinomial)
def _(family, stats, X, i, first, index, value):
    """Describe each word by its weight."""
    used = 0
    for j in range(X.start[i], X.start[i + 1]):
        index[used], value[used] = first + X.word[j], X.weight[j]
        used += 1
    return used


@seam.copy.implement(DirichletMultinomial)
def _(family, stats, source, target):
    n, t = stats.n, stats.t
    for word in range(n.shape[0]):
        n[word, target], t[word, target] = n[word, source], t[word, source]
    stats.total[target] = stats.total[source]


@seam.merge.implement(DirichletMultinomial)
def _(family, stats, source, target):
    n, t, prior, total = stats.n, stats.t, family.prior[0], 0.0
    for word in range(n.shape[0]):
        n[word, target] += n[word, source]
        total += n[word, target]
        if family.form[0] != SAMPLED:
            t[word, target] = log(prior + n[word, target])
    if family.form[0] != SAMPLED:
        stats.total[target] = total
    seam.refresh(family, stats, target)


@seam.sound.implement(DirichletMultinomial)
def _(family, stats):
    return np.isfinite(stats.n).all() and (stats.n >= 0.0).all()


@seam.typical.implement(DirichletMultinomial)
def _(family, stats, slots):
    """Return the posterior mean of each word's probability."""
    n = stats.n[:, slots].T + family.prior[0]
    return n / n.sum(axis=1, keepdims=True)


register(
    DirichletMultinomial,
    cells=None,  # rows of words are no blocks of columns
    without=(*seam.EM, seam.prior, seam.draw, seam.fill, seam.column, seam.widen, seam.n_features),
)
