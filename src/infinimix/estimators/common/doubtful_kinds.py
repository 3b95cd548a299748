"""Numbers of few values: categories or numbers, by what they say of the class of a row left out.

The "auto" rule (`tables.judging`) goes by the number of values and of cells. Where both kinds could
hold a column it is in doubt, and `fit` of a classifier asks its rows: each is left out in turn, and
the two kinds say, from that cell alone, which class it has,

    P(y | x) ~ (n_y + gamma) p(x | cells of y),

where p is the predictive of one group with the base measure of the pooled column: a Dirichlet for
categories, and for numbers a normal whose cells stand for intervals as wide as the resolution of
the column, with its transform or spike if the rule gives it one. So numbers of few values are an
ordinal scale. What the rule says stays unless the other kind has a lower log-loss by more than
CLEARLY standard errors: the kinds differ little where rows are many, and luck decides where they
are few.

All of it follows from a table of counts, a row for each class and a column for each value. So it is
exact, takes a millisecond, and is the same in whatever order and parts rows come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infinimix.estimators.common.features import category_values, number_cells
from infinimix.estimators.common.weights import Weighting
from infinimix.families import product, seam
from infinimix.families.priors import Layout, blank, find_families
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import Column
from infinimix.tables.resolution import find_resolution
from infinimix.tables.scans import LARGEST

LEAST, MOST = 3, 20  # distinct values of a column in doubt
ENOUGH = 5  # cells for each of them, on average
CLEARLY = 2.0  # standard errors
FIRST = 1000  # cells that mostly tell that there are too many values
LOOKED_AT = 10_000  # cells that a resolution is found from
LITTLE = 1e-9  # nats a row: what rounding makes


class Counts(NamedTuple):
    """The cells of a column: how often each class has each value."""

    values: np.ndarray  # (V,) rising; encoded ones of a column of numbers
    rows: np.ndarray  # (C, V)
    weight: np.ndarray  # (C, V) of these rows in a loss
    squares: np.ndarray  # (C, V) sum of the squares of their weights


def doubtful_columns(schema: Schema, named: Sequence[str] = ()) -> list[int]:
    """Return the columns of numbers whose kinds were guessed; those that are named are not asked.

    How many values they have is not known yet.
    """
    parts = {name for date in schema.dates for name in date.columns}
    return [
        j
        for j, column in enumerate(schema.columns)
        if column.guessed
        and column.name not in parts
        and not {column.name, j} & set(named)
        and schema.sources[j] in ("int", "float")
        and (column.resolution > 0.0 if column.record.transformed else _may_be_real(schema, j))
    ]


def _may_be_real(schema: Schema, j: int) -> bool:
    """Could a real column hold these categories, which are numbers?"""
    if not schema.columns[j].record.has_categories:
        return False
    return all(abs(value) <= LARGEST for value in category_values(schema, j))


def count_cells(
    table: EncodedTable, codes: np.ndarray, n_classes: int, j: int, weight: np.ndarray | None = None
) -> Counts | None:
    """Return the counts of a column over rows with labels; None if there are too many values."""
    b, k = table.schema.places[j]
    column = table.schema.columns[j]
    x = table.blocks[b][:, k] if column.record.transformed else number_cells(table, j)
    seen = (codes >= 0) & ~np.isnan(x)
    x, codes = x[seen], codes[seen]
    if len(np.unique(x[:FIRST])) > MOST:
        return None
    values, at = np.unique(x, return_inverse=True)
    if len(values) > MOST:
        return None
    place, shape = codes * len(values) + at.ravel(), (n_classes, len(values))

    def total(w: np.ndarray | None) -> np.ndarray:
        return np.bincount(place, w, minlength=n_classes * len(values)).reshape(shape).astype(float)

    if weight is None:
        return Counts(values, *(total(None),) * 3)
    return Counts(values, total(None), total(weight[seen]), total(weight[seen] ** 2))


def merge_counts(parts: Sequence[Counts | None]) -> Counts | None:
    """Return the counts of all parts of a column; None if there are too many values."""
    some = [part for part in parts if part is not None]
    if len(some) < len(parts):
        return None
    values = np.unique(np.concatenate([part.values for part in some]))
    if len(values) > MOST:
        return None
    totals = np.zeros((3, len(some[0].rows), len(values)))
    for part in some:
        totals[:, :, np.searchsorted(values, part.values)] += np.stack(part[1:])
    return Counts(values, *totals)


def choose_kind(
    column: Column, counts: Counts | None, gamma: float, factors: np.ndarray | None = None
) -> str | None:
    """Return the kind that a column has against the rule; None if the rule's is kept.

    `factors` multiply P(y).
    """
    if counts is None or not _is_in_doubt(counts):
        return None
    by_rule, other = "categorical", "real"
    if column.kind != "categorical":
        by_rule, other = other, by_rule
    losses = {
        "categorical": left_out_losses("categorical", counts, gamma, factors),
        "real": left_out_losses(
            "real" if column.kind == "categorical" else column.kind,
            counts,
            gamma,
            factors,
            column.resolution or _resolution(counts),
        ),
    }
    gain, error = _mean_and_error(losses[by_rule] - losses[other], counts)
    return other if gain > max(CLEARLY * error, LITTLE) else None


def _is_in_doubt(counts: Counts) -> bool:
    """Could both kinds hold the column, and do several classes have it?"""
    n_values = len(counts.values)
    return bool(
        LEAST <= n_values <= MOST
        and counts.rows.sum() >= ENOUGH * n_values
        and (counts.rows.sum(axis=1) > 0).sum() > 1
    )


def _resolution(counts: Counts) -> float:
    """Return the resolution of a column that the rule takes for categories."""
    pooled = counts.rows.sum(axis=0)
    some = np.ceil(pooled * min(1.0, LOOKED_AT / pooled.sum())).astype(np.int64)
    return find_resolution(np.repeat(counts.values, some))


def _mean_and_error(gain: np.ndarray, counts: Counts) -> tuple[float, float]:
    """Return the mean over rows, by weight, and its standard error."""
    total = counts.weight.sum()
    mean = float((counts.weight * gain).sum() / total)
    return mean, float(np.sqrt((counts.squares * (gain - mean) ** 2).sum()) / total)


def left_out_losses(
    kind: str,
    counts: Counts,
    gamma: float,
    factors: np.ndarray | None = None,
    resolution: float = 0.0,
) -> np.ndarray:
    """Return -log P(y | x) of a row of each class with each value, left out of the counts.

    It is 0 where there is no such row.
    """
    rows, (n_classes, n_values) = counts.rows, counts.rows.shape
    less = np.repeat(rows, n_values, axis=0) - np.tile(np.eye(n_values), (n_classes, 1))
    groups = np.concatenate([rows, np.maximum(less, 0.0)])  # the classes; each without a row
    log_p = _predictives(kind, counts.values, groups, resolution)
    same = np.arange(n_values)
    own = log_p[n_classes:].reshape(n_classes, n_values, n_values)[:, same, same]
    size = rows.sum(axis=1, keepdims=True)
    log_factor = np.zeros(n_classes) if factors is None else np.log(factors)
    every = log_p[:n_classes] + np.log(size + gamma) + log_factor[:, None]
    own = own + np.log(np.maximum(size - 1.0, 0.0) + gamma) + log_factor[:, None]
    losses = np.logaddexp(own, _log_sum_of_others(every)) - own
    return np.where(rows > 0.0, losses, 0.0)


def _predictives(
    kind: str, values: np.ndarray, groups: np.ndarray, resolution: float
) -> np.ndarray:
    """Return the log predictive of each value in groups with such counts (groups, values).

    The base measure is the empirical one, pooled over all rows.
    """
    n_values, n_groups = len(values), len(groups)
    is_coded = kind == "categorical"
    cells = np.arange(n_values, dtype=np.int32) if is_coded else values
    sizes = np.array([n_values] if is_coded else [], np.int64)
    layout = Layout({kind: ("x",)}, sizes, {"x": resolution} if resolution else {})
    X = (np.ascontiguousarray(cells[:, None]),)
    start = blank(layout)
    pool = seam.empty(start, 1)
    n_classes = n_groups // (n_values + 1)
    seam.count_rows(start, pool, groups[:n_classes].sum(axis=0)[:, None], X)
    families = find_families(layout, "empirical", pool)
    stats = seam.empty(families, n_groups)
    seam.count_rows(families, stats, np.ascontiguousarray(groups.T), X)
    product.refresh_all(families, stats, n_groups)
    out = np.zeros((n_values, n_groups))
    seam.score_rows(families, stats, np.arange(n_groups), X, out)
    return out.T


def _log_sum_of_others(log_w: np.ndarray) -> np.ndarray:
    """Return the log of the sum over all rows of an array but each in turn."""
    nothing = np.full((1, log_w.shape[1]), -np.inf)
    before = np.logaddexp.accumulate(np.concatenate([nothing, log_w[:-1]]), axis=0)
    after = np.logaddexp.accumulate(np.concatenate([nothing, log_w[:0:-1]]), axis=0)[::-1]
    return np.asarray(np.logaddexp(before, after))


def choose_kinds(
    table: EncodedTable,
    codes: np.ndarray,
    n_classes: int,
    gamma: float,
    weighting: Weighting | None = None,
    named: Sequence[str] = (),
) -> dict[str, str]:
    """Return the kinds of columns in doubt that rows with labels choose against the rule."""
    weight, factors = (None, None) if weighting is None else weighting
    found = {}
    for j in doubtful_columns(table.schema, named):
        column = table.schema.columns[j]
        counts = count_cells(table, codes, n_classes, j, weight)
        kind = choose_kind(column, counts, gamma, factors)
        if kind is not None:
            found[column.name] = kind
    return found
