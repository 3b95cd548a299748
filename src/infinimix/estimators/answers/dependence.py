"""How much two columns say of each other, by the predictive mixture.

The measure is the information correlation: with I the mutual information of two columns and
H the smaller of their entropies (infinite for a real column),

    r = sqrt((1 - exp(-2 I)) / (1 - exp(-2 H)))

0 if they are independent, 1 if one follows from the other, and |correlation| for two real
columns that are jointly normal. Pairs of binary and categorical columns are summed exactly,
others are averaged over rows drawn from the model.
"""

from __future__ import annotations

import numpy as np

from infinimix.estimators.answers.anomaly import draw_own
from infinimix.estimators.answers.filling import Predictive, is_tied
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import KINDS
from infinimix.tables.encoded import Blocks

MOST_CODES = 2000  # of all discrete columns together: more are not summed exactly
CELLS_AT_ONCE = 1 << 23  # rows times columns times slots that are held at a time


def information_correlations(
    mixture: Predictive, table: EncodedTable, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return r of each pair of columns in table order; `table` is any rows, for their form."""
    schema = table.schema
    kinds = [KINDS[column.kind] for column in schema.columns]
    discrete = np.array([kind.discrete for kind in kinds])
    codes = [_n_codes(schema, j) for j in range(schema.width)]
    exact = sum(codes) <= MOST_CODES
    information, entropy = np.zeros((schema.width,) * 2), np.full(schema.width, np.inf)
    if not (exact and discrete.all()):
        information, entropy = _sampled(mixture, table, n, rng)
        entropy[[not kind.has_mass for kind in kinds]] = np.inf
    if exact and discrete.any():
        at = np.flatnonzero(discrete)
        information[np.ix_(at, at)], entropy[at] = _summed(mixture, table, codes)
    return _correlations(information, entropy)


def _correlations(information: np.ndarray, entropy: np.ndarray) -> np.ndarray:
    least = -np.expm1(-2.0 * np.minimum.outer(entropy, entropy))
    information = 0.5 * (information + information.T)  # the same but for rounding
    share = -np.expm1(-2.0 * np.maximum(information, 0.0))
    square = np.divide(share, least, out=np.zeros_like(share), where=least > 1e-12)
    r = np.sqrt(np.clip(square, 0.0, 1.0))
    np.fill_diagonal(r, 1.0)
    return r


def _n_codes(schema: Schema, j: int) -> int:
    """Return the number of values of a discrete column, 0 for others."""
    kind = schema.columns[j].record
    if kind.has_categories:
        return len(schema.categories[schema.places[j][1]])
    return 2 if kind.two_valued else 0


def _summed(
    mixture: Predictive, table: EncodedTable, codes: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return mutual informations and entropies of the discrete columns, by sums over values."""
    schema, tables = table.schema, []
    columns = [j for j, column in enumerate(schema.columns) if KINDS[column.kind].discrete]
    for j in columns:
        b, k = schema.places[j]
        rows = table.blank(codes[j]).blocks[b]
        rows[:, k] = np.arange(codes[j])
        tables.append(np.exp(mixture.score_cells(b, rows, k)))
    p = np.concatenate(tables)  # (values of all columns, slots)
    weight = np.exp(mixture.log_weight)
    joint, alone = (p * weight) @ p.T, p @ weight
    ratio = np.divide(joint, np.outer(alone, alone), out=np.ones_like(joint), where=joint > 0)
    share = [codes[j] for j in columns]
    owner = np.repeat(np.eye(len(columns)), share, axis=0)  # which column a value is of
    information = owner.T @ (joint * np.log(ratio)) @ owner
    logs = np.log(alone, out=np.zeros_like(alone), where=alone > 0)
    return information, -(alone * logs) @ owner


def _sampled(
    mixture: Predictive, table: EncodedTable, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return mutual informations and entropies of all columns, as means over n drawn rows."""
    own, slots = draw_own(mixture, table, n, rng), len(mixture.log_weight)
    schema, width = table.schema, table.schema.width
    information, entropy = np.zeros((width, width)), np.zeros(width)
    step = max(1, CELLS_AT_ONCE // (width * slots))
    for i in range(0, n, step):
        part = tuple(block[i : i + step] for block in own.blocks)
        joint, alone = _log_pairs(mixture, schema, part)
        information += (joint - alone[:, :, None] - alone[:, None, :]).sum(axis=0)
        entropy -= alone.sum(axis=0)
    return information / n, np.maximum(entropy / n, 0.0)


def _log_pairs(mixture: Predictive, schema: Schema, part: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """Return the log densities of all pairs of cells of each row, and of each cell."""
    where, weight = schema.places, np.exp(mixture.log_weight)
    logs = np.stack([mixture.score_cells(b, part[b], k) for b, k in where], axis=1)
    top = logs.max(axis=2)
    p = np.exp(logs - top[:, :, None])
    joint = np.log((p * weight) @ p.transpose(0, 2, 1)) + top[:, :, None] + top[:, None, :]
    alone = np.log(p @ weight) + top
    for j, (b, k) in enumerate(where):
        for i, (other, m) in enumerate(where[:j]):
            if b == other and is_tied(mixture.family[b]):
                both = mixture.sum_slots(mixture.score_cells(b, part[b], k, m))
                joint[:, i, j] = joint[:, j, i] = both
    return joint, alone
