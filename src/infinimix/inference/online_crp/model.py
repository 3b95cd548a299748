"""The state of an Online CRP as arrays, and scratch arrays for one row.

A class is a group of each of R replicas, which differ in how corrections are made; slot 0 is the
group of all rows, class c of replica r has slot 1 + c R + r.
"""

from typing import NamedTuple

import numpy as np

# Places in `course`, the numbers that all classes share.
ALPHA, ROWS, POSITIVE, UP, DOWN, CAP, RULE, CALIBRATES, OPEN, STEPS, PUBLISHED, TAKEN = range(12)
HELD, PRAISE, BLAME, LAST, NAMED = range(5)  # first axis of classes
NEGATIVE, STEP, LOG_BETA, SQUARES, SHARE = range(5)  # first axis of replicas
NEW, UNTOLD = -1, -2  # a class that is not there; no class was said


class OnlineModel(NamedTuple):
    """All that learns; a tuple of arrays that kernels write."""

    family: tuple
    stats: tuple
    weights: tuple  # of the words of a row, see `weighting`
    refinement: tuple
    classes: np.ndarray  # (5, C) rows; f; e; when last seen; whether it has a name
    replicas: np.ndarray  # (5, R)
    novelty: np.ndarray  # (2, 5) weights; squared gradients
    course: np.ndarray  # (12,)
    log_alpha_weight: np.ndarray  # (grid,)


class Room(NamedTuple):
    """Scratch arrays for one row, by slots, by classes and by features."""

    score: np.ndarray
    correction: np.ndarray
    p: np.ndarray
    mean: np.ndarray
    base: np.ndarray
    feature: np.ndarray
    value: np.ndarray
    cell: np.ndarray
    signal: np.ndarray


class RowsAsked(NamedTuple):
    """What is said about rows and asked of them; `proba` and `answers` are written."""

    told: np.ndarray  # (rows,) class, or UNTOLD
    given: np.ndarray  # (rows,) a prediction made earlier, or UNTOLD
    draws: np.ndarray  # (rows,) uniform numbers for sampled decisions, or -1
    chances: np.ndarray  # (rows,) uniform numbers that alpha is drawn by, or -1
    proba: np.ndarray  # (rows, classes), or nothing
    answers: np.ndarray  # (4, rows) see `step.advance`


def new_room(slots, classes, features):
    """Return scratch arrays for rows with at most so many features."""
    by_slot = (np.zeros(slots + 1) for _ in range(3))  # the last one without rows
    by_class = (np.zeros(classes) for _ in range(2))
    by_feature = (np.zeros(features, dtype) for dtype in (np.int64, float, float))
    return Room(*by_slot, *by_class, *by_feature, np.zeros(5))
