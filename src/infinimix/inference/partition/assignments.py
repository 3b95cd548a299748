"""Which row is in which group: of the particle that stands for a whole bank.

That particle is the heaviest of the island with the highest evidence. Its groups are
numbered from the largest on. A filter keeps no assignments, so that its memory does not
grow with the rows; those of a whole table are recorded by `Bank.fit` when asked for.
"""

import numpy as np

from infinimix.families.seam import score_rows
from infinimix.inference.partition.filter import ROWS_AT_ONCE
from infinimix.inference.partition.population import MASS


def best_island(bank, c):
    """Return the number of the island of class c with the highest evidence."""
    filters = bank.classes[c]
    if bank.settings.alpha == "learn":
        return int(np.argmax([f.log_evidence() for f in filters]))
    # The bound divides the evidence of all islands by the same, which takes long to work out.
    return int(np.argmax([f.log_weight() for f in filters]))


def best_particle(bank, c):
    """Return the filter, and the slots of its heaviest particle from the largest group on."""
    f = bank.classes[c][best_island(bank, c)]
    held = f.held(int(np.argmax(f.weights())))
    return f, held[np.argsort(-f.mass[MASS, held], kind="stable")]


def assign_rows(bank, c, X):
    """Return for each row the most probable group of the best particle."""
    labels = np.empty(len(X[0]), np.int64)
    for rows, scores in score_groups(bank, c, X):
        labels[rows] = scores.argmax(axis=1)
    return labels


def group_probabilities(bank, c, X):
    """Return for each row the probability of each group of the best particle; they sum to one."""
    found = []
    for _, scores in score_groups(bank, c, X):
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        found.append(p / p.sum(axis=1, keepdims=True))
    return np.concatenate(found) if found else np.empty((0, len(best_particle(bank, c)[1])))


def score_groups(bank, c, X):
    """Yield parts of the rows, and their unnormalised log probabilities of groups."""
    f, held = best_particle(bank, c)
    log_mass = np.log(f.mass[MASS, held])
    for i in range(0, len(X[0]), ROWS_AT_ONCE):
        part = tuple(block[i : i + ROWS_AT_ONCE] for block in X)
        scores = np.tile(log_mass, (len(part[0]), 1))
        score_rows(f.family, f.stats, held, part, scores)
        yield slice(i, i + len(scores)), scores


def recorded_assignments(bank, c):
    """Return the group of each row of class c, as `Bank.fit` has recorded it; rows in order."""
    k = best_island(bank, c)
    rows, z = bank.islands[k].paths[c]
    sizes = np.bincount(z)[1:]  # position 0 is the empty group
    rank = np.argsort(np.argsort(-sizes, kind="stable"))
    labels = np.empty(len(rows), np.int64)
    labels[np.argsort(np.argsort(rows))] = rank[z - 1]
    return labels


def n_groups_posterior(bank, c):
    """Return the probability of 0, 1, 2, ... groups, over all islands and particles."""
    counts = [f.n_groups() for f in bank.classes[c]]
    table = np.zeros(max(int(n.max()) for n in counts) + 1)
    for f, n in zip(bank.classes[c], counts, strict=True):
        np.add.at(table, n, f.weights() / len(counts))
    return table


def kept_states(bank, c):
    """Return the number of groups, and the share of the largest, of states that sweeps have kept.

    They are (islands, states): each island has set its states aside one after the other, and its
    first particle is the last of them.
    """
    counts, shares = [], []
    for f in bank.classes[c]:
        order = [*range(1, len(f.n_groups())), 0]
        counts.append(f.n_groups()[order])
        masses = [f.mass[MASS, f.held(r)] for r in order]
        shares.append([mass.max() / mass.sum() for mass in masses])
    return {"n_groups": np.array(counts), "largest_group": np.array(shares)}
