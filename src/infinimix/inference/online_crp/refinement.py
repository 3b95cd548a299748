"""A correction of the scores in the log domain: what a class gets wrong, feature by feature.

The paper relaxes the prior of a class after its mistakes. Here each feature of a row (a word, a
category, a standardised number) relaxes too: class c adds sum_f b[f, c] x_f to its log score, and
after a row b moves against the gradient of the log-loss, by steps that shrink with the gradients
that the cell has had (AdaGrad). Where the model of a class is right, b stays small; where words
come together, as they do in real text, b takes back what was counted twice.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import part

FLOOR = 1e-2  # below which squared gradients do not lengthen a step
LEAST = 0.02  # probability that is wrong by less is not worth a correction
BIAS = 0.5  # step of the bias, of that of a feature


class Refinement(NamedTuple):
    """Corrections of S slots by F features; without features there are none."""

    b: np.ndarray  # (F, S)
    squares: np.ndarray  # (F, S) of the gradients
    bias: np.ndarray  # (2, S) correction and squared gradients without any feature


def new_refinement(features, slots):
    """Return corrections that correct nothing yet."""
    cells = (np.zeros((features, slots), np.float32) for _ in range(2))
    return Refinement(*cells, np.zeros((2, slots)))


@part
def correct(refinement, index, value, used, slots, out):
    """Write the corrections of the first `slots` slots for a row with these features."""
    b = refinement.b
    for k in range(slots):
        out[k] = refinement.bias[0, k]
    for j in range(used):
        f, x = index[j], value[j]
        for k in range(slots):
            out[k] += x * b[f, k]


@part
def learn_correction(refinement, index, value, used, k, gradient, step, cell):
    """Move the corrections of slot k; `gradient` is its probability less what it should be.

    `cell` is room for as many numbers as there are features.
    """
    b, squares, bias = refinement.b, refinement.squares, refinement.bias
    bias[1, k] += gradient * gradient
    bias[0, k] -= BIAS * step * gradient / np.sqrt(1.0 + bias[1, k])
    for j in range(used):
        square = gradient * value[j]
        cell[j] = squares[index[j], k] + square * square
        squares[index[j], k] = cell[j]
    for j in range(used):  # a loop of its own, so that the roots are vectorised
        cell[j] = step * gradient * value[j] / np.sqrt(cell[j] + FLOOR)
    for j in range(used):
        b[index[j], k] -= cell[j]
