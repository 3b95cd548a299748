"""Which row is in which group: of the particle that stands for a whole bank.

That particle is the heaviest of the island with the highest evidence. Its groups are
numbered from the largest on. A filter keeps no assignments, so that its memory does not
grow with the rows; for the rows of a table it is run again, with a record of each step,
which by its seed leads to the same particle.
"""

import numpy as np

from infinimix.families.seam import score_rows
from infinimix.inference.bank import ROWS_AT_ONCE
from infinimix.inference.population import MASS


def best_island(bank, c):
    """Return the number of the island of class c with the highest evidence."""
    # The bound divides the evidence of all islands by the same, which takes long to work out.
    return int(np.argmax([f.log_weight() for f in bank.classes[c]]))


def best_particle(bank, c):
    """Return the filter, and the slots of its heaviest particle from the largest group on."""
    f = bank.classes[c][best_island(bank, c)]
    held = f.held(int(np.argmax(f.weights())))
    return f, held[np.argsort(-f.mass[MASS, held], kind="stable")]


def assign_rows(bank, c, X):
    """Return for each row the most probable group of the best particle."""
    f, held = best_particle(bank, c)
    labels = np.empty(len(X[0]), np.int64)
    log_mass = np.log(f.mass[MASS, held])
    for i in range(0, len(labels), ROWS_AT_ONCE):
        part = tuple(block[i : i + ROWS_AT_ONCE] for block in X)
        scores = np.tile(log_mass, (len(part[0]), 1))
        score_rows(f.family, f.stats, held, part, scores)
        labels[i : i + ROWS_AT_ONCE] = scores.argmax(axis=1)
    return labels


def trace_assignments(bank, c, X, rows):
    """Return the group of each of the rows that `Bank.fit` gave to class c."""
    f = bank.new_filter(c, best_island(bank, c))
    order = f.rng.permutation(rows)
    trace = np.empty((len(rows), 2, len(f.logw)), np.int32)
    f.update(X, order, trace)
    r = int(np.argmax(f.weights()))
    sizes = f.mass[MASS, f.held(r)]
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    labels = np.empty(len(X[0]), np.int64)
    for j in range(len(rows) - 1, -1, -1):
        labels[order[j]] = rank[trace[j, 1, r] - 1]  # position 0 is the empty group
        r = trace[j, 0, r]
    return labels[rows]


def n_groups_posterior(bank, c):
    """Return the probability of 0, 1, 2, ... groups, over all islands and particles."""
    counts = [f.n_groups() for f in bank.classes[c]]
    table = np.zeros(max(int(n.max()) for n in counts) + 1)
    for f, n in zip(bank.classes[c], counts, strict=True):
        np.add.at(table, n, f.weights() / len(counts))
    return table
