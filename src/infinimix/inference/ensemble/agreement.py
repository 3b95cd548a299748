"""Answers of all islands of a bank together, where they disagree about the labels of rows.

Islands have equal weight, and the label hypotheses of an island their own weights. A hypothesis in
which a class has more rows counts for more in that class, since its P(y) is larger:

    mean P(y) p(x | y) = (mean P(y)) (mean of p(x | y) by weight * P(y))

So the answers keep their form, a probability for each class and one density in each.
"""

import numpy as np

from infinimix.inference.ensemble.label_hypotheses import log_rises, log_weights


def class_rows(bank):
    """Return the rows of each class: whole numbers, unless islands or hypotheses disagree."""
    if not bank.n_drawn:
        return bank.labelled
    rows, weight, _ = _all_hypotheses(bank)
    return weight @ rows


def members_of(bank):
    """Return for each class the filters whose densities are added, each with what divides it."""
    if not bank.n_drawn:
        return [[(f, len(filters)) for f in filters] for filters in bank.classes]
    rows, weight, hypotheses = _all_hypotheses(bank)
    share = weight[:, None] * (rows + bank.settings.gamma)
    share /= share.sum(axis=0)
    return [_add_up(hypotheses, c, share[:, c]) for c in range(bank.n_classes)]


def _add_up(hypotheses, c, share):
    """Return the distinct filters of a class, and one over the share that holds each."""
    found, total = {}, {}
    for h, own in zip(hypotheses, share.tolist(), strict=True):
        f = h.filters[c]
        found[id(f)] = f
        total[id(f)] = total.get(id(f), 0.0) + own
    return [(f, 1.0 / total[key]) for key, f in found.items() if total[key] > 1e-300]


def _all_hypotheses(bank):
    """Return rows of each class in each hypothesis, weights of the hypotheses, and these."""
    hypotheses = [h for island in bank.islands for h in island.hypotheses]
    weight = np.concatenate([island.hypothesis_weights() for island in bank.islands])
    return (
        np.array([h.rows for h in hypotheses]),
        weight / len(bank.islands),
        hypotheses,
    )


def log_evidence_given_labels(bank):
    """Return the log probability of all rows, given the labels that came with them.

    Labels that were missing in a stream are summed over: it is P(rows, labels) / P(labels), with
    all classes that are known by now.
    """
    if not bank.n_branched:
        return float(bank.log_evidence().sum())
    gamma, every = bank.settings.gamma, bank.settings.gamma * bank.n_classes
    logs = [np.logaddexp.reduce(log_weights(island.hypotheses, gamma)) for island in bank.islands]
    known, n = bank.labelled.astype(float), np.array([float(bank.n_rows)])
    log_labels = log_rises(gamma, known) - log_rises(every, known.sum(keepdims=True))
    return float(np.logaddexp.reduce(logs) - np.log(len(logs)) - log_rises(every, n) - log_labels)
