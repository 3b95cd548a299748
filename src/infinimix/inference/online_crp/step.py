"""The Online CRP, row by row: predict, then learn what the label says (Algorithms 1 and 2, 2014).

After the label y, where z was predicted: if z = y the row is added to y; otherwise it is added to y
with weight `positive` and taken from z with weight `negative` (at most half of what z holds, and no
count falls below 0), and f_y, e_z grow by one. The temperatures beta_r follow the gradient of the
log-loss, the weights of the replicas their likelihood.

As published, a row that was taken for new and is the first of its class was predicted right, alpha
moves by what was predicted, and nothing is learned about what looks new.
"""

import numpy as np

from infinimix.families.seam import add, features
from infinimix.inference.online_crp.answers import decide, think
from infinimix.inference.online_crp.model import (
    ALPHA,
    BLAME,
    CALIBRATES,
    HELD,
    LAST,
    LOG_BETA,
    NEGATIVE,
    NEW,
    POSITIVE,
    PRAISE,
    PUBLISHED,
    ROWS,
    RULE,
    SHARE,
    SQUARES,
    STEP,
    STEPS,
    TAKEN,
    UNTOLD,
)
from infinimix.inference.online_crp.novelty import learn_novelty
from infinimix.inference.online_crp.refinement import LEAST, learn_correction
from infinimix.inference.online_crp.weighting import note
from infinimix.inference.online_crp.word_groups import (
    begin,
    foresee,
    know_words,
    renew,
    spread_words,
)
from infinimix.kernels.compile import exact, kernel
from infinimix.kernels.elementary import exp
from infinimix.kernels.memory import borrowed
from infinimix.partitions.relaxed import (
    DYNAMIC,
    POSTERIOR,
    RELAXED,
    draw_alpha,
    move_alpha,
    weigh_alpha,
)

FIXED_SHARE = 1e-3  # of the weight of the replicas is spread evenly: the best one may change
UNSURE = 1e-4  # the least probability by which replicas are compared
PACE = 0.1  # of log beta


@kernel
def begin_class(model, c, rng):
    """Make the groups of a class ready for its first row."""
    size = model.replicas.shape[1]
    if model.classes[HELD, c] == 0.0:
        for r in range(size):
            begin(model.family, model.stats, 1 + c * size + r, rng)


@kernel
def enter(model, k, X, i, w, rng):
    """Add a row to group k with weight w; below 0, take it away."""
    add(model.family, model.stats, k, X, i, w)
    renew(model.family, model.stats, k, X, i, rng)


@exact
def find_slope(p, score_, n_classes, size, r, own):
    """Return the mean score of a replica, less that of the class told, in one order of adding."""
    slope = 0.0
    for c in range(n_classes):
        k = 1 + c * size + r
        slope += p[k] * (score_[k] - score_[own]) if p[k] > 0.0 else 0.0
    return slope


@kernel
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
            slope = find_slope(p, score_, n_classes, size, r, own) * exp(replicas[LOG_BETA, r])
            replicas[SQUARES, r] += slope * slope
            replicas[LOG_BETA, r] -= PACE * slope / np.sqrt(replicas[SQUARES, r] + 1e-8)
    for r in range(size):
        even = FIXED_SHARE / size
        replicas[SHARE, r] = (1.0 - FIXED_SHARE) * replicas[SHARE, r] / total + even


@kernel
def learn_corrections(model, y, n_classes, X, i, room):
    """Move the corrections of every class whose probability was wrong, by all words of a row."""
    replicas, size = model.replicas, model.replicas.shape[1]
    if model.refinement.b.shape[0] == 0:
        return
    used = features(model.family, model.stats, X, i, 0, room.feature, room.value)
    for r in range(size):
        if replicas[STEP, r] > 0.0:
            for c in range(n_classes):
                k = 1 + c * size + r
                wrong = room.p[k] - (1.0 if c == y else 0.0)
                if wrong > LEAST or wrong < -LEAST:
                    learn_correction(
                        model.refinement, room.feature, room.value, used, k, wrong,
                        replicas[STEP, r], room.cell,
                    )  # fmt: skip


@kernel
def learn_alpha(model, predicted_new, is_new, base, n_classes, u):
    """Let alpha follow what has come; `base` are the log weights of classes before the row."""
    course = model.course
    if course[RULE] == DYNAMIC:
        course[ALPHA] = move_alpha(course[ALPHA], predicted_new, is_new)
    elif course[RULE] == POSTERIOR:
        course[ALPHA] = weigh_alpha(model.log_alpha_weight, course[ROWS], is_new)
    elif course[RULE] == RELAXED:
        course[ALPHA] = draw_alpha(model.log_alpha_weight, base, n_classes, is_new, u)


@kernel
def seat(model, y, z, X, i, rng):
    """Add a row to its class y, and correct the class z that was predicted instead."""
    classes, replicas, course = model.classes, model.replicas, model.course
    if z >= 0 and classes[HELD, z] == 0.0:  # a class that was forgotten since it was predicted
        z = NEW
    size, right = replicas.shape[1], z == y or z == UNTOLD
    if course[PUBLISHED] > 0.0 and z == NEW and classes[HELD, y] == 0.0:
        right = True
    begin_class(model, y, rng)
    for r in range(size):
        enter(model, 1 + y * size + r, X, i, 1.0 if right else course[POSITIVE], rng)
        if not right and z >= 0 and replicas[NEGATIVE, r] > 0.0:
            w = min(replicas[NEGATIVE, r], course[TAKEN] * classes[HELD, z])
            enter(model, 1 + z * size + r, X, i, -w, rng)
    if not right:
        classes[PRAISE, y] += 1.0
        if z >= 0:
            classes[BLAME, z] += 1.0
    classes[HELD, y] += 1.0
    classes[LAST, y] = course[STEPS]


@kernel
def settle(model, slots, X, i, whole, b, rng):
    """Count a row among all rows; words that are new now have a pseudo-count everywhere."""
    course = model.course
    new_words = note(model.weights, X, i, course[STEPS])
    enter(model, 0, whole, b, 1.0, rng)
    if new_words > 0:
        know_words(model.family, model.stats, slots, new_words)
        spread_words(model.family, model.stats, model.classes, model.replicas, X, i, rng)
    course[ROWS] += 1.0
    course[STEPS] += 1.0


@kernel
def advance(model, room, slots, X, rows, asked, rng):
    """Predict rows; then, one by one, learn those whose class is told (`model.RowsAsked`).

    Written: `proba` (unless empty), and of `answers` the prediction, the probability of the class
    told (NaN if it had no rows), that of the predicted class, and that of a new class.
    """
    model, room, X = borrowed(model), borrowed(room), borrowed(X)
    told, given, draws, chances, proba, answers = borrowed(asked)
    n_classes = (slots - 1) // model.replicas.shape[1]
    live = np.arange(slots)
    for i in range(min(rows, 1)):
        foresee(model.family, model, slots, X, i, told[i])
    for i in range(rows):
        if i + 1 < rows:
            foresee(model.family, model, slots, X, i + 1, told[i + 1])
        best, new, whole, b = think(model, live, n_classes, X, i, room)
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
            learn_corrections(model, y, n_classes, whole, b, room)
        said = z if given[i] == UNTOLD else given[i]
        looks_new = empty or new > (1.0 - new) * room.mean[best]
        if model.course[PUBLISHED] > 0.0:
            looks_new = said == NEW
        elif not empty:
            learn_novelty(model.novelty, room.signal, new, is_new)
        learn_alpha(model, looks_new, is_new, room.base, n_classes, chances[i])
        seat(model, y, said, whole, b, rng)
        settle(model, slots, X, i, whole, b, rng)
