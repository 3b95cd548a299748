"""Predictions of an Online CRP for a row, before its label is known.

Replica r says

    P_r(c | x) proportional to  m_c relax_c exp(beta_r log p(x | c, r) + correction)

and the prediction is the mean of the replicas, weighted by how well each has predicted the labels
so far. The correction is that of `refinement`, the chance of a new class that of `novelty`.
"""

import numpy as np

from infinimix.families.seam import features, score, unseen_share
from infinimix.inference.online_crp.model import (
    ALPHA,
    BLAME,
    CAP,
    DOWN,
    HELD,
    LOG_BETA,
    NAMED,
    NEW,
    OPEN,
    PRAISE,
    PUBLISHED,
    ROWS,
    SHARE,
    UP,
)
from infinimix.inference.online_crp.novelty import (
    DENSITY,
    DOUBT,
    ONE,
    UNKNOWN,
    UNSEEN,
    bounded,
    new_class_probability,
    published_probability,
    squashed,
)
from infinimix.inference.online_crp.refinement import correct
from infinimix.inference.online_crp.weighting import show
from infinimix.inference.online_crp.word_groups import score_base
from infinimix.kernels.compile import exact, part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.partitions.relaxed import log_relax


@part
def rate_classes(model, n_classes, base):
    """Write the log weight of each class before the row is seen; -inf without rows or name."""
    classes, course = model.classes, model.course
    for c in range(n_classes):
        base[c] = -np.inf
        if classes[HELD, c] > 0.0 and classes[NAMED, c] > 0.0:
            relax = log_relax(
                classes[PRAISE, c], classes[BLAME, c], course[UP], course[DOWN], course[CAP]
            )
            base[c] = log(classes[HELD, c]) + relax


@exact
def add_up(p, n_classes, size, r):
    """Return the sum over the classes of a replica; classes without rows change no bit of it."""
    total = 0.0
    for c in range(n_classes):
        total += p[1 + c * size + r]
    return total


@part
def mix_replicas(model, n_classes, room):
    """Write what each replica says and their weighted mean; return the first one's log density.

    The latter is log of sum_c m_c relax_c p(x | c)^beta.
    """
    replicas, p, mean, base = model.replicas, room.p, room.mean, room.base
    size, density = replicas.shape[1], -np.inf
    for c in range(n_classes):
        mean[c] = 0.0
    for r in range(size):
        beta, top = exp(replicas[LOG_BETA, r]), -np.inf
        for c in range(n_classes):
            k = 1 + c * size + r
            p[k] = base[c] + beta * room.score[k] + room.correction[k]
            top = max(top, p[k])
        if top == -np.inf:  # there is no class yet
            return density
        for c in range(n_classes):
            k = 1 + c * size + r
            p[k] = exp(p[k] - top) if base[c] > -np.inf else 0.0
        total = add_up(p, n_classes, size, r)
        for c in range(n_classes):
            k = 1 + c * size + r
            p[k] /= total
            mean[c] += replicas[SHARE, r] * p[k]
        density = top + log(total) if r == 0 else density
    return density


@exact
def find_entropy(mean, n_classes):
    """Return the entropy over the classes, in nats; classes without rows change no bit of it."""
    entropy = 0.0
    for c in range(n_classes):
        if mean[c] > 0.0:  # classes without rows add no entropy
            entropy -= mean[c] * log(mean[c])
    return entropy


@part
def sense_novelty(model, n_classes, density, unknown, strange, room):
    """Write the signals of a new class, and return its probability."""
    signal, course = room.signal, model.course
    if density == -np.inf:
        return 1.0
    entropy = find_entropy(room.mean, n_classes)
    rivals = max(exp(entropy) - 1.0, 1e-9)  # as many equally probable classes have this entropy
    beta = exp(model.replicas[LOG_BETA, 0])
    signal[ONE] = 1.0
    signal[DOUBT] = bounded(log(rivals))
    signal[DENSITY] = squashed(beta * room.score[0] - density + log(course[ROWS] + 1.0))
    signal[UNKNOWN], signal[UNSEEN] = unknown, strange
    return new_class_probability(model.novelty, signal, course[ALPHA], course[ROWS])


@part
def think(model, live, n_classes, X, i, room):
    """Score row X[i] by all classes; return its most probable class and the chance of a new one.

    Also returned: the row as it is to be learned.
    """
    shown, a, whole, b, unknown = show(model.weights, X, i)
    for k in live:
        room.score[k] = 0.0
    score(model.family, model.stats, shown, a, live, room.score)
    used = 0
    if model.refinement.b.shape[0] > 0:
        used = features(model.family, model.stats, shown, a, 0, room.feature, room.value)
    correct(model.refinement, room.feature, room.value, used, live.shape[0], room.correction)
    rate_classes(model, n_classes, room.base)
    density = mix_replicas(model, n_classes, room)
    best = 0
    for c in range(n_classes):
        best = c if room.mean[c] > room.mean[best] else best
    if model.course[PUBLISHED] > 0.0:
        new = 1.0
        if density > -np.inf:
            beta = exp(model.replicas[LOG_BETA, 0])
            slot = live.shape[0]
            base = score_base(model.family, model.stats, slot, shown, a, room.score)
            new = published_probability(model.course[ALPHA], beta * base, density)
        return best, new, whole, b
    k = 1 + best * model.replicas.shape[1]
    strange = unseen_share(model.family, model.stats, k, whole, b) if n_classes > 0 else 1.0
    new = sense_novelty(model, n_classes, density, unknown, strange, room)
    return best, new, whole, b


@part
def decide(model, best, new, n_classes, mean, u):
    """Return the predicted class; in an open world NEW, if that is more probable."""
    opens = model.course[OPEN] > 0.0
    if u >= 0.0:  # a draw instead of the most probable class
        if opens and u < new:
            return NEW
        return invert(mean, n_classes, (u - new) / (1.0 - new) if opens else u)
    if mean.shape[0] == 0 or (opens and new > (1.0 - new) * mean[best]):
        return NEW
    return best
