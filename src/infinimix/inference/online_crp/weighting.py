"""What a row shows to its classes: words are weighted by how rare they are in the stream so far.

A word that occurs c times in a row weighs, by the three numbers of `TermWeights.rule`,

    (log(1 + c) or c) * max(log((N + 2) / (N_w + 1)), 0)^power,  then the row has length one or not

where N_w of the N rows before had the word. A word that no row has had says nothing about the
classes, so a row is scored by its `known` words alone; it is learned `whole`. All other rows are
shown as they are.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.words import WordRows
from infinimix.kernels.dispatch import operation
from infinimix.kernels.elementary import log

LOGS, POWER, UNIT = range(3)  # of rule
ROWS_WITH, LOG_WITH, LAST = range(3)  # second axis of words
SMALL = np.log1p(np.arange(256.0))  # logs of counts, which are small most of the time


class AsIs(NamedTuple):
    """Rows of a table need no weighting."""

    nothing: np.ndarray


class TermWeights(NamedTuple):
    """Running frequencies of words, and room for one row."""

    words: np.ndarray  # (W, 4) rows that had the word; log(1 + that); when the last one came
    rows: np.ndarray  # (1,) rows so far
    rule: np.ndarray  # (3,) whether counts are logged; power of rarity; whether of length one
    known: WordRows
    whole: WordRows


def new_weights(words, rule):
    """Return the weights of `words` words of a stream without rows."""
    room = _one_row(0), _one_row(0)
    return TermWeights(np.zeros((words, 4)), np.zeros(1), np.array(rule, float), *room)


def with_room(weights, longest):
    """Return the weights with room for a row of so many words."""
    return weights._replace(known=_one_row(longest), whole=_one_row(longest))


def _one_row(longest):
    return WordRows(np.zeros(2, np.int64), np.zeros(longest, np.int32), np.zeros(longest))


@operation
def show(weights, X, i):
    """Return what row X[i] is scored by, what is learned of it, and how much of it is unknown.

    Rows come as pairs of an array and a place in it.
    """


@operation
def note(weights, X, i, now):
    """Remember that row X[i] was seen; return how many of its words were not known before."""


@show.implement(AsIs)
def _(weights, X, i):
    return X, i, X, i, 0.0


@note.implement(AsIs)
def _(weights, X, i, now):
    return 0


@show.implement(TermWeights)
def _(weights, X, i):
    known, whole, rule, words = weights.known, weights.whole, weights.rule, weights.words
    log_rows, m, used = log(weights.rows[0] + 2.0), 0, 0
    squares_known, squares = 0.0, 0.0
    for j in range(X.start[i], X.start[i + 1]):
        word, x = X.word[j], X.weight[j]
        if rule[LOGS] > 0.0:
            whole_count = x < SMALL.size and x == int(x)
            x = SMALL[int(x)] if whole_count else np.log1p(x)
        if rule[POWER] > 0.0:
            rare = max(log_rows - words[word, LOG_WITH], 0.0)
            x *= np.sqrt(rare) if rule[POWER] == 0.5 else rare ** rule[POWER]
        whole.word[m], whole.weight[m] = word, x
        squares += x * x
        m += 1
        if words[word, ROWS_WITH] > 0.0:
            known.word[used], known.weight[used] = word, x
            squares_known += x * x
            used += 1
    if rule[UNIT] > 0.0:
        scale = 1.0 / np.sqrt(squares) if squares > 0.0 else 0.0
        for j in range(m):
            whole.weight[j] *= scale
        scale = 1.0 / np.sqrt(squares_known) if squares_known > 0.0 else 0.0
        for j in range(used):
            known.weight[j] *= scale
    known.start[1], whole.start[1] = used, m
    return known, 0, whole, 0, 1.0 - squares_known / squares if squares > 0.0 else 0.0


@note.implement(TermWeights)
def _(weights, X, i, now):
    new, words = 0, weights.words
    for j in range(X.start[i], X.start[i + 1]):
        word = X.word[j]
        before = words[word, ROWS_WITH]
        new += before == 0.0
        words[word, ROWS_WITH], words[word, LAST] = before + 1.0, now
        words[word, LOG_WITH] = log(before + 2.0)
    weights.rows[0] += 1.0
    return new
