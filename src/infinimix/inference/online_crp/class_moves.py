"""Compiled moves of whole classes of an Online CRP, and rows without a label."""

import numpy as np

from infinimix.families.product import engine
from infinimix.families.seam import copy, merge, refresh, score
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp import step
from infinimix.inference.online_crp.weighting import show
from infinimix.kernels.compile import kernel


@engine("copy", "refresh")
def move_slots(family, stats, source, target, size):
    """Copy the groups of one class over those of another."""
    for r in range(size):
        copy(family, stats, 1 + source * size + r, 1 + target * size + r)
        refresh(family, stats, 1 + target * size + r)


@engine("merge")
def merge_slots(family, stats, source, target, size):
    """Add the groups of one class to those of another."""
    for r in range(size):
        merge(family, stats, 1 + source * size + r, 1 + target * size + r)


@kernel
def seat_rows(model, slots, X, rows, c, rng):
    """Add rows without labels to a class: to its groups, and to those of all rows."""
    size = model.replicas.shape[1]
    for i in range(rows):
        _, _, whole, b, _ = show(model.weights, X, i)
        step.begin_class(model, c, rng)
        for r in range(size):
            step.enter(model, 1 + c * size + r, whole, b, 1.0, rng)
        model.classes[at.HELD, c] += 1.0
        model.classes[at.LAST, c] = model.course[at.STEPS]
        step.settle(model, slots, X, i, whole, b, rng)


@kernel
def score_rows_alike(model, slots, X, rows, out):
    """Write the log densities of rows in the first `slots` groups, as they are scored."""
    live = np.arange(slots)
    for i in range(rows):
        shown, a, _, _, _ = show(model.weights, X, i)
        score(model.family, model.stats, shown, a, live, out[i])
