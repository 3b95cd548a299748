"""How probably two rows are in the same group.

Each row is placed on its own, as a new row, among the groups of a particle:
r_k(x) = mass_k p(x | group k) / sum, where one of the terms is a new group. Two rows share an
old group with probability sum_k r_k(x) r_k(y); in a new group a row is alone. This is averaged
over particles by their weights, over islands equally, and over classes by the probabilities
that both rows are of the class, as groups belong to classes.
"""

from __future__ import annotations

import numpy as np

from infinimix.estimators.answers.filling import parts_of
from infinimix.families.seam import score_rows
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.population import MASS, SIZE
from infinimix.tables.encoded import Blocks


def same_group(bank: Bank, X: Blocks, Y: Blocks, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
    """Return for each row of X and each of Y the probability that they share a group.

    `of_x` and `of_y` are the probabilities of the classes, one column for each class of the bank.
    """
    out = np.zeros((len(X[0]), len(Y[0])))
    for c, islands in enumerate(bank.classes):
        for part, rows in parts_of(X):
            for other, columns in parts_of(Y):
                shared = sum(_shared(f, part, other) for f in islands) / len(islands)
                out[rows, columns] += np.outer(of_x[rows, c], of_y[columns, c]) * shared
    return out


def _shared(f: ParticleFilter, X: Blocks, Y: Blocks) -> np.ndarray:
    from scipy.special import softmax  # slow to load, and most fits need none

    live, _ = f.mixture()
    scores = [_scores(f, live, blocks) for blocks in (X, Y)]
    out = np.zeros((len(X[0]), len(Y[0])))
    for r, weight in enumerate(f.weights()):
        old = f.held(r)
        may_open = f.particles[SIZE, r] <= f.bound
        held = np.append(0, old) if may_open else old
        at = np.searchsorted(live, held)
        log_mass = np.log(f.mass[MASS, held])
        one, two = (softmax(s[:, at] + log_mass, axis=1)[:, int(may_open) :] for s in scores)
        out += weight * (one @ two.T)
    return out


def _scores(f: ParticleFilter, live: np.ndarray, blocks: Blocks) -> np.ndarray:
    scores = np.zeros((len(blocks[0]), len(live)))
    score_rows(f.family, f.stats, live, blocks, scores)
    return scores
