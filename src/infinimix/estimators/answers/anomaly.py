"""How strange rows and cells are: minus log densities, and shares of the model's own rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.answers.filling import Blocks, Predictive, blank_rows, parts_of, places
from infinimix.families.seam import is_hole
from infinimix.tables import Schema


def row_scores(mixture: Predictive, schema: Schema, blocks: Blocks) -> np.ndarray:
    """Return minus the log density of each row, in the units of the table."""
    scores = -mixture.log_density(blocks)
    return scores - schema.log_slopes(blocks) if schema.transforms else scores


def cell_scores(mixture: Predictive, schema: Schema, blocks: Blocks) -> np.ndarray:
    """Return -log p(cell | the other cells of its row) in table order; NaN where missing.

    That is log p(the others) - log p(the row).
    """
    out = np.full((len(blocks[0]), schema.width), np.nan)
    for part, rows in parts_of(blocks):
        total = mixture.score(part)
        whole = mixture.sum_slots(total.copy())
        for j, (b, k) in enumerate(places(schema)):
            cells = part[b][:, k]
            score = mixture.sum_slots(total + mixture.score_others(b, part[b], k)) - whole
            score -= _log_slope(schema, j, cells)
            out[rows, j] = np.where(is_hole(cells), np.nan, score)
    return out


def shares_less_strange(
    mixture: Predictive, schema: Schema, blocks: Blocks, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return for each row which share of n rows of the model's own is less strange.

    A row with holes is compared with rows that have the same holes. Ties count half.
    """
    scores, own = row_scores(mixture, schema, blocks), draw_own(mixture, blocks, n, rng)
    holes = np.concatenate([is_hole(block) for block in blocks], axis=1)
    patterns, kind = np.unique(holes, axis=0, return_inverse=True)
    cuts = np.cumsum([block.shape[1] for block in blocks])[:-1]
    shares = np.empty(len(scores))
    for p, pattern in enumerate(patterns):
        masked = tuple(map(_masked, own, np.split(pattern, cuts)))
        ladder = np.sort(row_scores(mixture, schema, masked))
        rows = np.flatnonzero(kind.ravel() == p)
        low, high = (np.searchsorted(ladder, scores[rows], side) for side in ("left", "right"))
        shares[rows] = (low + high) / (2 * n)
    return shares


def draw_own(mixture: Predictive, blocks: Blocks, n: int, rng: np.random.Generator) -> Blocks:
    """Draw n complete rows from the predictive."""
    return mixture.draw(blank_rows(blocks, n), rng)[0]


def _masked(block: np.ndarray, holes: np.ndarray) -> np.ndarray:
    masked = block.copy()
    masked[:, holes] = np.nan if block.dtype.kind == "f" else -1
    return masked


def _log_slope(schema: Schema, j: int, cells: np.ndarray) -> Any:
    """Return what leads from a density of encoded cells of column j to one of natural cells."""
    transform = schema.columns[j].transform
    return 0.0 if transform is None else transform.log_slope(cells)
