"""The Online CRP, row by row: predict, then learn what the label says (Algorithms 1 and 2, 2014).

A class is a group of each of R replicas, which differ in how corrections are made; slot 0 is
the group of all rows, class c of replica r has slot 1 + c R + r. For a row x, replica r says

    P_r(c | x) proportional to  m_c relax_c exp(beta_r log p(x | c, r) + correction)

and the answer is the mean of the replicas, weighted by how well each has predicted the labels so
far. beta_r is a temperature, learned by the gradient of the log-loss. The correction is that of
`refinement`. After the label y, where z was predicted: if z = y the row is added to y; otherwise it
is added to y with weight `positive` and taken from z with weight `negative` (at most half of what z
holds, and no count falls below 0), and f_y, e_z grow by one.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.seam import add, mark, refresh, score
from infinimix.families.words import SAMPLED, DirichletMultinomial, redraw
from infinimix.inference.novelty import bounded, learn_novelty, new_class_probability
from infinimix.inference.refinement import LEAST, correct, learn_correction
from infinimix.inference.weighting import note, show
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.dispatch import operation
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp, log
from infinimix.partitions.relaxed import (
    DYNAMIC,
    POSTERIOR,
    log_relax,
    move_alpha,
    weigh_alpha,
)

# Places in `course`, the numbers that all classes share.
ALPHA, ROWS, POSITIVE, UP, DOWN, CAP, RULE, CALIBRATES, OPEN, STEPS = range(10)
HELD, PRAISE, BLAME, LAST, NAMED = range(5)  # first axis of classes
NEGATIVE, STEP, LOG_BETA, SQUARES, SHARE = range(5)  # first axis of replicas
NEW, UNTOLD = -1, -2  # a class that is not there; no class was said
PREDICTED_NEW = 0.5
FIXED_SHARE = 1e-3  # of the weight of the replicas is spread evenly: the best one may change
UNSURE = 1e-4  # the least probability by which replicas are compared
PACE = 0.1  # of log beta


class Model(NamedTuple):
    """All that learns; a tuple of arrays that kernels write."""

    family: tuple
    stats: tuple
    weights: tuple  # of the words of a row, see `weighting`
    refinement: tuple
    classes: np.ndarray  # (5, C) rows; f; e; when last seen; whether it has a name
    replicas: np.ndarray  # (5, R)
    novelty: np.ndarray  # (2, 4) weights; squared gradients
    course: np.ndarray  # (10,)
    log_alpha_weight: np.ndarray  # (grid,)


class Room(NamedTuple):
    """Room for the thoughts about one row, by slots, by classes and by features."""

    score: np.ndarray
    correction: np.ndarray
    p: np.ndarray
    mean: np.ndarray
    base: np.ndarray
    index: np.ndarray
    value: np.ndarray
    signal: np.ndarray


def new_room(slots, classes, features):
    """Return room for rows with at most so many features."""
    by_slot = (np.zeros(slots) for _ in range(3))
    by_class = (np.zeros(classes) for _ in range(2))
    return Room(*by_slot, *by_class, np.zeros(features, np.int64), np.zeros(features), np.zeros(4))


@operation
def renew(family, stats, k, X, i, rng):
    """Draw the parameters of group k anew, if the family scores by drawn ones."""


@renew.implement(tuple)
def _(family, stats, k, X, i, rng):
    pass


@renew.implement(DirichletMultinomial)
def _(family, stats, k, X, i, rng):
    if family.form[0] == SAMPLED:
        redraw(family, stats, k, X, i, rng)
        refresh(family, stats, k)


@part
def enter(model, k, X, i, w, rng):
    """Add a row to group k with weight w; below 0, take it away."""
    add(model.family, model.stats, k, X, i, w)
    renew(model.family, model.stats, k, X, i, rng)


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
        beta, top, total = exp(replicas[LOG_BETA, r]), -np.inf, 0.0
        for c in range(n_classes):
            k = 1 + c * size + r
            p[k] = base[c] + beta * room.score[k] + room.correction[k]
            top = max(top, p[k])
        if top == -np.inf:  # there is no class yet
            return density
        for c in range(n_classes):
            k = 1 + c * size + r
            p[k] = exp(p[k] - top) if base[c] > -np.inf else 0.0
            total += p[k]
        for c in range(n_classes):
            k = 1 + c * size + r
            p[k] /= total
            mean[c] += replicas[SHARE, r] * p[k]
        density = top + log(total) if r == 0 else density
    return density


@part
def sense_novelty(model, best, density, unknown, room):
    """Write the signals of a new class, and return its probability."""
    signal, course = room.signal, model.course
    if density == -np.inf:
        return 1.0
    doubt = min(max(1.0 - best, 1e-9), 1.0 - 1e-9)
    beta = exp(model.replicas[LOG_BETA, 0])
    signal[0] = 1.0
    signal[1] = bounded(log(doubt / (1.0 - doubt)))
    signal[2] = bounded(beta * room.score[0] - density + log(course[ROWS] + 1.0))
    signal[3] = unknown
    return new_class_probability(model.novelty, signal, course[ALPHA], course[ROWS])


@part
def think(model, live, n_classes, X, i, room):
    """Score row X[i] by all classes; return its most probable class and the chance of a new one.

    Also returned: its features' number, and the row as it is to be learned.
    """
    shown, a, whole, b, unknown = show(model.weights, X, i)
    for k in live:
        room.score[k] = 0.0
    score(model.family, model.stats, shown, a, live, room.score)
    used = 0
    if model.refinement.b.shape[0] > 0:
        used = mark(model.family, model.stats, shown, a, 0, room.index, room.value)
    correct(model.refinement, room.index, room.value, used, live.shape[0], room.correction)
    rate_classes(model, n_classes, room.base)
    density = mix_replicas(model, n_classes, room)
    best = 0
    for c in range(n_classes):
        best = c if room.mean[c] > room.mean[best] else best
    top = room.mean[best] if n_classes > 0 else 0.0
    new = sense_novelty(model, top, density, unknown, room)
    return best, new, used, whole, b


@part
def learn_shares(model, y, n_classes, room):
    """Weigh the replicas by what they said of class y, and let each learn its temperature."""
    replicas, p, score_ = model.replicas, room.p, room.score
    size, total = replicas.shape[1], 0.0
    said = max(room.mean[y], UNSURE)
    for r in range(size):
        own = 1 + y * size + r
        replicas[SHARE, r] *= max(p[own], UNSURE) / said
        total += replicas[SHARE, r]
        if model.course[CALIBRATES] > 0.0:
            slope = 0.0
            for c in range(n_classes):
                k = 1 + c * size + r
                slope += p[k] * (score_[k] - score_[own]) if p[k] > 0.0 else 0.0
            slope *= exp(replicas[LOG_BETA, r])
            replicas[SQUARES, r] += slope * slope
            replicas[LOG_BETA, r] -= PACE * slope / np.sqrt(replicas[SQUARES, r] + 1e-8)
    for r in range(size):
        even = FIXED_SHARE / size
        replicas[SHARE, r] = (1.0 - FIXED_SHARE) * replicas[SHARE, r] / total + even


@part
def learn_corrections(model, y, n_classes, used, room):
    """Move the corrections of every class whose probability was wrong."""
    replicas, size = model.replicas, model.replicas.shape[1]
    for r in range(size):
        if replicas[STEP, r] > 0.0:
            for c in range(n_classes):
                k = 1 + c * size + r
                wrong = room.p[k] - (1.0 if c == y else 0.0)
                if wrong > LEAST or wrong < -LEAST:
                    learn_correction(
                        model.refinement, room.index, room.value, used, k, wrong,
                        replicas[STEP, r],
                    )  # fmt: skip


@part
def learn_alpha(model, predicted_new, is_new):
    """Let alpha follow what has come."""
    course = model.course
    if course[RULE] == DYNAMIC:
        course[ALPHA] = move_alpha(course[ALPHA], predicted_new, is_new)
    elif course[RULE] == POSTERIOR:
        course[ALPHA] = weigh_alpha(model.log_alpha_weight, course[ROWS], is_new)


@part
def seat(model, y, z, X, i, rng):
    """Add a row to its class y, and correct the class z that was predicted instead."""
    classes, replicas, course = model.classes, model.replicas, model.course
    size, right = replicas.shape[1], z == y or z == UNTOLD
    for r in range(size):
        enter(model, 1 + y * size + r, X, i, 1.0 if right else course[POSITIVE], rng)
        if not right and z >= 0 and replicas[NEGATIVE, r] > 0.0:
            w = min(replicas[NEGATIVE, r], 0.5 * classes[HELD, z])
            enter(model, 1 + z * size + r, X, i, -w, rng)
    if not right:
        classes[PRAISE, y] += 1.0
        if z >= 0:
            classes[BLAME, z] += 1.0
    classes[HELD, y] += 1.0
    classes[LAST, y] = course[STEPS]


@part
def settle(model, slots, X, i, whole, b, rng):
    """Count a row among all rows; words that are new now have a pseudo-count everywhere."""
    course = model.course
    new_words = note(model.weights, X, i, course[STEPS])
    enter(model, 0, whole, b, 1.0, rng)
    if new_words > 0:
        know_words(model.family, model.stats, slots, new_words)
    course[ROWS] += 1.0
    course[STEPS] += 1.0


@operation
def know_words(family, stats, slots, new_words):
    """Let more words have a pseudo-count."""


@know_words.implement(tuple)
def _(family, stats, slots, new_words):
    pass


@know_words.implement(DirichletMultinomial)
def _(family, stats, slots, new_words):
    family.known[0] += new_words
    for k in range(slots):
        refresh(family, stats, k)


@part
def decide(model, best, new, n_classes, mean, u):
    """Return the predicted class, NEW if there is none or, in an open world, if that is likelier."""
    opens = model.course[OPEN] > 0.0
    if u >= 0.0:  # a draw instead of the most probable class
        if opens and u < new:
            return NEW
        return invert(mean, n_classes, (u - new) / (1.0 - new) if opens else u)
    if mean.shape[0] == 0 or (opens and new > (1.0 - new) * mean[best]):
        return NEW
    return best


@kernel
def advance(model, room, slots, X, rows, told, given, draws, rng, proba, answers):
    """Predict rows; then, one by one, learn those whose class is told.

    told[i] is the class of row i, or UNTOLD; given[i] a prediction made earlier, or UNTOLD.
    `draws` are uniform numbers for sampled decisions, or -1. Written: `proba` (unless empty), and
    of `answers` the prediction, the probability of the class told (NaN if it had no rows), that
    of the predicted class, and that of a new class.
    """
    n_classes = (slots - 1) // model.replicas.shape[1]
    live = np.arange(slots)
    for i in range(rows):
        best, new, used, whole, b = think(model, live, n_classes, X, i, room)
        empty = n_classes == 0 or room.mean[best] == 0.0
        z = NEW if empty else decide(model, best, new, n_classes, room.mean, draws[i])
        y = told[i]
        for c in range(proba.shape[1]):
            proba[i, c] = room.mean[c]
        answers[0, i], answers[1, i], answers[3, i] = z, np.nan, new
        answers[2, i] = room.mean[z] if z >= 0 else new
        if y < 0:
            continue
        is_new = model.classes[HELD, y] == 0.0 or empty
        if not is_new:
            answers[1, i] = room.mean[y]
            learn_shares(model, y, n_classes, room)
            learn_corrections(model, y, n_classes, used, room)
        if not empty:
            learn_novelty(model.novelty, room.signal, new, is_new)
        learn_alpha(model, empty or new > (1.0 - new) * room.mean[best], is_new)
        seat(model, y, z if given[i] == UNTOLD else given[i], whole, b, rng)
        settle(model, slots, X, i, whole, b, rng)
