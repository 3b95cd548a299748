"""What sets a group apart: for each column, how far it is from all groups together, in nats.

For a binary column that is the Kullback-Leibler divergence of the group's probability from the
mean over all groups of all classes, for a count that of two Poisson rates; for a real column or
a category it is log p(typical cell | group) - log p(typical cell | all groups). Groups are those
of the best particle of each class, weighed by their rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, rel_entr

from infinimix.estimators.answers.filling import is_tied
from infinimix.families.seam import column, score_rows, typical
from infinimix.inference.partition.assignments import best_particle
from infinimix.inference.partition.population import MASS
from infinimix.tables.column import Kind


class Held(NamedTuple):
    """The groups of the best particle of a class."""

    filter: Any
    slots: np.ndarray
    log_weight: np.ndarray  # among the groups of all classes
    typical: tuple[np.ndarray, ...]


def evidence_of_groups(model: Any, c: int, most: int) -> np.ndarray:
    """Return for the largest groups of class c (of the bank) what each column says of them.

    Parameters
    ----------
    model : CRPMixture or AClassClassifier
        A fitted model.
    c : int
        Class, in the order of the bank.
    most : int
        How many groups are wanted.

    Returns
    -------
    array of shape (groups, columns)
    """
    bank, schema = model._bank, model._schema
    everyone = _held_groups(bank)
    own = everyone[c]
    n = min(most, len(own.slots))
    out = np.empty((n, schema.width))
    for j, (b, k) in enumerate(schema.places):
        cells = own.typical[b][:n, k]
        kind = schema.columns[j].record
        if kind.averaged:
            out[:, j] = _divergence(kind, cells, _mean_typical(everyone, b, k))
        else:
            out[:, j] = _log_ratio(everyone, own, b, k, cells)
    return out


def _held_groups(bank: Any) -> list[Held]:
    found = []
    total = sum(f.n_rows for f in (best_particle(bank, c)[0] for c in range(len(bank.classes))))
    for c in range(len(bank.classes)):
        f, slots = best_particle(bank, c)
        log_weight = np.log(f.mass[MASS, slots] / max(total, 1))
        found.append(Held(f, slots, log_weight, typical(f.family, f.stats, slots)))
    return found


def _mean_typical(everyone: list[Held], b: int, k: int) -> float:
    pairs = [(np.exp(held.log_weight), held.typical[b][:, k]) for held in everyone]
    return float(sum(w @ cells for w, cells in pairs) / sum(w.sum() for w, _ in pairs))


def _divergence(kind: Kind, p: np.ndarray, q: float) -> np.ndarray:
    """Return the divergence of a probability or a rate from another one."""
    if kind.two_valued:
        return rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q)
    return rel_entr(p, q) - p + q


def _log_ratio(everyone: list[Held], own: Held, b: int, k: int, cells: np.ndarray) -> np.ndarray:
    """Return log p(cell | its group) - log p(cell | all groups)."""
    scores = [_score(held, b, k, cells) + held.log_weight for held in everyone]
    together = logsumexp(np.concatenate(scores, axis=1), axis=1)
    together -= logsumexp(np.concatenate([held.log_weight for held in everyone]))
    return np.diagonal(_score(own, b, k, cells)) - together


def _score(held: Held, b: int, k: int, cells: np.ndarray) -> np.ndarray:
    """Return the log density of cells of one column in each group."""
    family, stats = held.filter.family[b], held.filter.stats[b]
    out = np.zeros((len(cells), len(held.slots)))
    if is_tied(family):
        block = np.full((len(cells), held.typical[b].shape[1]), np.nan)
        block[:, k] = cells
        score_rows(family, stats, held.slots, block, out)
    else:
        score_rows(*column(family, stats, k), held.slots, np.ascontiguousarray(cells[:, None]), out)
    return out
