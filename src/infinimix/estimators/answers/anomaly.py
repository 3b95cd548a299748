"""How strange rows and cells are: minus log densities, and shares of the model's own rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.answers.filling import Predictive, parts_of
from infinimix.kernels.holes import hole_of, is_hole
from infinimix.tables import EncodedTable, Schema


def row_scores(mixture: Predictive, table: EncodedTable) -> np.ndarray:
    """Return minus the log density of each row, in the units of the table."""
    scores, schema = -mixture.log_density(table.blocks), table.schema
    return scores - schema.log_slopes(table.blocks) if schema.transforms else scores


def cell_scores(mixture: Predictive, table: EncodedTable) -> np.ndarray:
    """Return -log p(cell | the other cells of its row) in table order; NaN where missing.

    That is log p(the others) - log p(the row).
    """
    schema = table.schema
    out = np.full((table.n_rows, schema.width), np.nan)
    for part, rows in parts_of(table.blocks):
        total = mixture.score(part)
        whole = mixture.sum_slots(total.copy())
        for j, (b, k) in enumerate(schema.places):
            cells = part[b][:, k]
            score = mixture.sum_slots(total + mixture.score_others(b, part[b], k)) - whole
            score -= _log_slope(schema, j, cells)
            out[rows, j] = np.where(is_hole(cells), np.nan, score)
    return out


def shares_less_strange(
    mixture: Predictive, table: EncodedTable, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return for each row which share of n rows of the model's own is less strange.

    A row with holes is compared with rows that have the same holes. Ties count half.
    """
    scores, own = row_scores(mixture, table), draw_own(mixture, table, n, rng)
    holes = np.concatenate([is_hole(block) for block in table.blocks], axis=1)
    patterns, kind = np.unique(holes, axis=0, return_inverse=True)
    cuts = np.cumsum([block.shape[1] for block in table.blocks])[:-1]
    shares = np.empty(len(scores))
    for p, pattern in enumerate(patterns):
        masked = tuple(map(_masked, own.blocks, np.split(pattern, cuts)))
        ladder = np.sort(row_scores(mixture, own._replace(blocks=masked)))
        rows = np.flatnonzero(kind.ravel() == p)
        low, high = (np.searchsorted(ladder, scores[rows], side) for side in ("left", "right"))
        shares[rows] = (low + high) / (2 * n)
    return shares


def draw_own(
    mixture: Predictive, table: EncodedTable, n: int, rng: np.random.Generator
) -> EncodedTable:
    """Draw n complete rows from the predictive; `table` is any rows, for their form."""
    blank = table.blank(n)
    return blank._replace(blocks=mixture.draw(blank.blocks, rng)[0])


def _masked(block: np.ndarray, holes: np.ndarray) -> np.ndarray:
    masked = block.copy()
    masked[:, holes] = hole_of(block.dtype)
    return masked


def _log_slope(schema: Schema, j: int, cells: np.ndarray) -> Any:
    """Return what leads from a density of encoded cells of column j to one of natural cells."""
    transform = schema.columns[j].transform
    return 0.0 if transform is None else transform.log_slope(cells)
