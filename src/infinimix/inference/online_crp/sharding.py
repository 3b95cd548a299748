"""Several learners of one stream of words, merged into one now and then.

Each of S shards starts from the same state, learns its own rows in their order, and predicts them
by what it knows; then all that was learned is put together. With x0 before and x_s after,

    x = x0 + sum_s (x_s - x0)        what is counted: words, rows, mistakes, log evidences
    x = x0 + mean_s (x_s - x0)       what is moved by gradients, over the shards that have moved it

where no count falls below 0. The number of shards, not that of workers, decides what is found. What
a shard cannot know are mistakes that the rows of others would have taught it since the last merge.
"""

from copy import deepcopy

import numpy as np

from infinimix.families.product import refresh_all
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.refinement import Refinement
from infinimix.inference.online_crp.weighting import LAST, LOG_WITH, ROWS_WITH

COUNTED = [at.HELD, at.PRAISE, at.BLAME]
FEW_TO_MANY = np.finfo(float).tiny


def learn_shards(learner, parts, execute):
    """Let a learner learn several parts of a stream side by side, in place.

    `parts` are pairs of rows of words and their classes, all of which are open.
    """
    parts = [part for part in parts if len(part[1])]
    if len(parts) == 1:
        _learn((learner, *parts[0]))
        return
    merge(learner, execute(_learn, [(deepcopy(learner), *part) for part in parts]))


def _learn(task):
    learner, X, told = task
    learner.run(X, len(told), told)
    return learner


def merge(learner, learned):
    """Put what copies of a learner have learned together, in place."""
    before, after = learner.model, [one.model for one in learned]
    n = _added(before.stats.n, [m.stats.n for m in after])
    words = before.weights.words.copy()
    words[:, ROWS_WITH] = _added(
        before.weights.words[:, ROWS_WITH], [m.weights.words[:, ROWS_WITH] for m in after]
    )
    words[:, LOG_WITH] = np.log1p(words[:, ROWS_WITH])
    words[:, LAST] = np.max([m.weights.words[:, LAST] for m in after], axis=0)
    family = before.family
    family.known[0] = np.count_nonzero(words[:, ROWS_WITH])
    t = np.log(family.prior[0] + n).astype(before.stats.t.dtype)
    stats = before.stats._replace(n=n, t=t, total=n.sum(axis=0))
    rows = _added(before.weights.rows, [m.weights.rows for m in after])
    refresh_all(family, stats, len(stats.total))
    learner.model = before._replace(
        stats=stats,
        weights=before.weights._replace(words=words, rows=rows),
        refinement=_merge_refinements(before.refinement, [m.refinement for m in after]),
        classes=_merge_classes(before.classes, [m.classes for m in after]),
        replicas=_merge_replicas(before.replicas, [m.replicas for m in after]),
        novelty=_moved(before.novelty, [m.novelty for m in after], squares=1),
        course=_merge_course(before.course, [m.course for m in after]),
        log_alpha_weight=_summed(before.log_alpha_weight, [m.log_alpha_weight for m in after]),
    )


def _summed(before, after):
    return before + np.sum([one - before for one in after], axis=0)


def _added(before, after):
    """Return counts with those of all shards; none falls below 0."""
    return np.maximum(_summed(before, after), 0.0)


def _averaged(before, after):
    """Return what gradients move, by the mean of the shards that have moved it."""
    steps = np.array([one - before for one in after])
    movers = np.maximum(np.count_nonzero(steps, axis=0), 1)
    return (before + steps.sum(axis=0) / movers).astype(before.dtype)


def _moved(before, after, squares):
    """Return a table of weights whose row `squares` holds squared gradients."""
    out = _averaged(before, after)
    out[squares] = _added(before[squares], [one[squares] for one in after])
    return out


def _merge_refinements(before, after):
    return Refinement(
        _averaged(before.b, [one.b for one in after]),
        _added(before.squares, [one.squares for one in after]).astype(before.squares.dtype),
        _moved(before.bias, [one.bias for one in after], squares=1),
    )


def _merge_classes(before, after):
    out = before.copy()
    out[COUNTED] = _added(before[COUNTED], [one[COUNTED] for one in after])
    out[at.LAST] = np.max([one[at.LAST] for one in after], axis=0)
    return out


def _merge_replicas(before, after):
    """Temperatures are moved by gradients; the weights are likelihoods, whose logs are added."""
    out = _moved(before, after, squares=at.SQUARES)
    logs = [np.log(np.maximum(one[at.SHARE], FEW_TO_MANY)) for one in (before, *after)]
    log_share = _summed(logs[0], logs[1:])
    share = np.exp(log_share - log_share.max())
    out[at.SHARE] = share / share.sum()
    return out


def _merge_course(before, after):
    out = before.copy()
    for place in (at.ROWS, at.STEPS):
        out[place] = _summed(before[place], [one[place] for one in after])
    log_alpha = [np.log(one[at.ALPHA]) for one in (before, *after)]
    out[at.ALPHA] = np.exp(_averaged(log_alpha[0], log_alpha[1:]))
    return out
