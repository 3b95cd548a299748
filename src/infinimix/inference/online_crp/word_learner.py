"""An Online CRP over rows of words: the vocabulary grows with the stream, and may be bounded."""

import numpy as np

from infinimix.families.product import refresh_all
from infinimix.families.words import (
    LEAST,
    SAMPLED,
    SampledMultinomial,
    WordRows,
    blank_cell,
    empty_words,
    new_words,
)
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.learner import ALL, NOBODY, OnlineLearner
from infinimix.inference.online_crp.refinement import Refinement
from infinimix.inference.online_crp.weighting import (
    LAST,
    LOG_WITH,
    ROWS_WITH,
    new_weights,
    with_room,
)
from infinimix.kernels.held import hold

PRUNE_EVERY = 64  # rows between two looks at the number of words
KEPT = 0.75  # of the most words that are allowed, when there are more


class WordLearner(OnlineLearner):
    """Rows are `families.words.WordRows`; words are numbered by the caller, who says how many."""

    def __init__(self, settings, prior, form, rule, max_features, seed):
        family = new_words(prior, form)
        self.max_features = max_features
        super().__init__(settings, family, empty_words(family, 0, 1), new_weights(0, rule), 0, seed)
        self.refines = any(settings.steps)

    def _most_taken(self, published):
        return ALL if published else super()._most_taken(published)  # counts are clipped anyway

    @property
    def words(self):
        """Return the number of words that there is room for."""
        return len(self.model.stats.n)

    @property
    def longest(self):
        """Return how many words of a row there is room for."""
        return len(self.model.weights.known.word)

    def reserve_words(self, words, longest):
        """Make room for words up to this number, and for rows of so many."""
        if words > self.words:
            self._take_words(slice(None), max(words, 2 * self.words))
        if longest > self.longest:
            weights = with_room(self.model.weights, max(longest, 2 * self.longest))
            self.model = self.model._replace(weights=weights)

    def keep_words(self, kept):
        """Keep only these words, renumbered in this order."""
        self._take_words(np.asarray(kept), len(kept))

    def _take_words(self, kept, words):
        """Lay the arrays out for so many words, of which the first are the kept ones."""
        model, refinement = self.model, self.model.refinement
        stats = model.stats._replace(
            n=_laid_out(model.stats.n, kept, words),
            t=_laid_out(model.stats.t, kept, words, blank_cell(model.family)),
        )
        weights = model.weights._replace(words=_laid_out(model.weights.words, kept, words))
        if self.refines:
            b, squares = (_laid_out(array, kept, words) for array in refinement[:2])
            refinement = Refinement(b, squares, refinement.bias)
        self.model = model._replace(stats=stats, weights=weights, refinement=refinement)

    def _parameter_rng(self):
        sampled = isinstance(self.model.family, SampledMultinomial)
        return self.rngs.parameters if sampled else NOBODY

    def _draw(self, slots):
        if self.model.family.form[0] != SAMPLED:
            return
        stats, prior = self.model.stats, self.model.family.prior[0]
        words = self.known_words()
        for k in slots:
            g = self.rngs.parameters.standard_gamma(prior + stats.n[words, k])
            stats.t[words, k] = np.log(np.maximum(g, LEAST))
            stats.total[k] = max(np.exp(stats.t[words, k]).sum(), LEAST)
        refresh_all(self.model.family, stats, len(stats.total))

    def _empty_slots(self, blank):
        stats, family = self.model.stats, self.model.family
        stats.n[:, blank], stats.t[:, blank] = 0.0, blank_cell(family)
        stats.total[blank] = 0.0
        refresh_all(family, stats, len(stats.total))

    def _slice(self, X, first, last):
        if last - first == len(X.start) - 1:
            return X
        return WordRows(X.start[first : last + 1], X.word, X.weight)

    def _hand(self, X):
        return hold(X) if isinstance(X, WordRows) else X

    def _longest(self, X):
        return self.longest

    def _intervals(self):
        bounded = [PRUNE_EVERY] if self.max_features else []
        return [*super()._intervals(), *bounded]

    def _change(self):
        super()._change()
        if self.max_features and self.steps % PRUNE_EVERY == 0:
            self.prune()

    def _fade(self, share):
        weights = self.model.weights
        weights.words[:, ROWS_WITH] *= share
        weights.words[:, LOG_WITH] = np.log1p(weights.words[:, ROWS_WITH])
        weights.rows[:] *= share
        super()._fade(share)

    def prune(self):
        """If there are too many words, forget the rarest; of equally rare ones the oldest."""
        model = self.model
        words, stats, used = model.weights.words, model.stats, self.known_words()
        surplus = len(used) - int(KEPT * self.max_features)
        if len(used) <= self.max_features:
            return
        order = np.lexsort((words[used, LAST], words[used, ROWS_WITH]))
        gone = used[order[:surplus]]
        held = np.exp(stats.t[gone]) if model.family.form[0] == SAMPLED else stats.n[gone]
        stats.total[:] = np.maximum(stats.total - held.sum(axis=0), 0.0)
        stats.n[gone], stats.t[gone] = 0.0, blank_cell(model.family)
        for array in model.refinement[:2] if self.refines else ():
            array[gone] = 0.0
        words[gone] = 0.0
        model.family.known[0] -= len(gone)
        refresh_all(model.family, stats, len(stats.total))

    def known_words(self):
        """Return the numbers of the words that rows have had."""
        return np.flatnonzero(self.model.weights.words[:, ROWS_WITH] > 0.0)

    def counts(self, c):
        """Return how much of each word class c holds, in the mean of the replicas."""
        share = self.model.replicas[at.SHARE]
        slots = slice(1 + c * self.size, 1 + (c + 1) * self.size)
        return self.model.stats.n[:, slots] @ share


def _laid_out(array, kept, rows, blank=0.0):
    """Return the kept rows and then blank ones, each written once: they are the whole memory."""
    held = array[kept]
    shape = (rows, *array.shape[1:])
    out = np.empty(shape, array.dtype) if blank else np.zeros(shape, array.dtype)
    out[: len(held)] = held
    if blank:
        out[len(held) :] = blank
    return out
