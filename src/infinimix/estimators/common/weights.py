"""Weights of rows and of classes: how they are read, and what they mean.

Whole numbers are counts: a row of weight 3 is three equal rows, and one of weight 0 is none. Other
weights are relative: they are scaled so that the mean of those above 0 is 1, so that a model
learns from as many rows as there are. (Boosting, for example, gives weights that sum to 1.)
A class weight multiplies the weights of all rows of its class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import Labels, extension_arrays
from infinimix.tables.rows import pick
from infinimix.tables.sparsity import loaded_type

MOST_COPIES = 10_000_000  # rows that counts may stand for
WHOLE_ROWS = "A group has a whole number of rows, so a fraction of a row has no meaning here."
WHOLE_STEPS = (
    "Each row is a step of the corrections, of the calibration and of alpha, and there is no "
    "fraction of a step."
)


class Weighting(NamedTuple):
    """How much each row counts in a loss, and by what the weights change the share of a class."""

    rows: np.ndarray  # (n,)
    classes: np.ndarray  # (C,) factors of P(y), in the order of the labels


def read_weights(sample_weight: Any, n_rows: int, scale: bool = True) -> np.ndarray | None:
    """Return the weight of each row, or None if all count once; raise ValueError if they are none.

    Relative weights are scaled to a mean of 1 over the rows that have any, unless more rows follow.
    """
    if sample_weight is None:
        return None
    try:
        weight = np.array(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("sample_weight must be numbers, one for each row.") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, but X has {n_rows} rows: one number for "
            "each row is needed."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise ValueError(f"sample_weight is {weight[row]} in row {row}; it must be 0 or more.")
    if not weight.any():
        raise ValueError("All sample weights are zero: no row is left to learn from.")
    if scale and not are_counts(weight):
        weight /= weight[weight > 0].mean()
    return None if (weight == 1.0).all() else weight


def are_counts(weight: np.ndarray) -> bool:
    """Are the weights counts, which are whole numbers?"""
    return bool((weight == np.floor(weight)).all())


def repeat_counted(X: Any, y: Any, weight: np.ndarray | None) -> tuple[Any, Any, np.ndarray | None]:
    """Return each row as often as its count says, and no weights; or rows of relative weight.

    Rows of weight 0 are left out in any case.
    """
    if weight is None:
        return X, y, None
    if not are_counts(weight):
        return keep_weighted(X, y, weight)
    index = count_out(weight)
    return take_rows(X, index), take_rows(y, index), None


def count_out(weight: np.ndarray) -> np.ndarray:
    """Return the number of each row as often as its count says; refuse counts of too many rows."""
    if weight.sum() > MOST_COPIES:
        raise ValueError(
            f"Whole numbers in sample_weight are counts of rows, and these sum to "
            f"{weight.sum():.3g}, more than {MOST_COPIES:,}. Divide them by a number that makes "
            "them fractions: such weights are relative."
        )
    return np.repeat(np.arange(len(weight)), weight.astype(np.int64))


def repeat_only(who: str, why: str, sample_weight: Any, X: Any, *more: Any) -> tuple[Any, ...]:
    """Return each row as often as its count says; refuse weights that are no counts.

    `why` says what a fraction of a row would mean to `who`: nothing. What is None stays None.
    """
    if sample_weight is None:
        return (X, *more)
    weight = read_weights(sample_weight, count_rows_of(X), scale=False)
    if weight is None:
        return (X, *more)
    if not are_counts(weight):
        row = int(np.flatnonzero(weight != np.floor(weight))[0])
        raise ValueError(
            f"{who} takes whole numbers as sample_weight, which count equal rows; row {row} has "
            f"{weight[row]:g}. {why}"
        )
    index = count_out(weight)
    return tuple(None if table is None else take_rows(table, index) for table in (X, *more))


def first_copies(values: np.ndarray, sample_weight: Any) -> np.ndarray:
    """Return what was found for the first copy of each row that counts repeat, -1 for no copy."""
    count = np.asarray(sample_weight, np.float64)
    if count.ndim == 0:
        return values[:: int(count)]
    found = np.full(len(count), -1, values.dtype)
    starts = np.cumsum(count).astype(np.int64) - count.astype(np.int64)
    found[count > 0] = values[starts[count > 0]]
    return found


def keep_weighted(X: Any, y: Any, weight: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """Return the rows that have a weight above 0, and these weights."""
    if (weight > 0).all():
        return X, y, weight
    index = np.flatnonzero(weight)
    return take_rows(X, index), take_rows(y, index), weight[index]


def take_rows(table: Any, index: np.ndarray) -> Any:
    """Return rows of whatever users call a table, or of labels."""
    from sklearn.utils import _safe_indexing  # slow to load, and most fits need none

    if isinstance(table, loaded_type("pyarrow", "RecordBatch")):  # of which it would make a column
        return pick(table, index)
    if isinstance(table, extension_arrays()):
        return table.take(index)
    return _safe_indexing(table, index)


def count_rows_of(table: Any) -> int:
    """Return how many rows a table has."""
    from sklearn.utils.validation import _num_samples

    return int(_num_samples(table))


def class_factors(
    class_weight: Any, labels: Labels, codes: np.ndarray, weight: np.ndarray | None = None
) -> np.ndarray | None:
    """Return the weight of each class in the order of the labels, or None if there are none.

    "balanced" makes the weights of all classes the same in sum; codes of -1 are no label.
    """
    if class_weight is None:
        return None
    known = codes >= 0
    rows = None if weight is None else weight[known]
    total = np.bincount(codes[known], rows, minlength=len(labels.values))
    return factors_by_total(class_weight, labels, total)


def factors_by_total(class_weight: Any, labels: Labels, total: np.ndarray) -> np.ndarray | None:
    """Return the same, given the sum of the weights of the rows of each class."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return np.asarray(total.sum() / (len(total) * np.maximum(total, 1e-300)))
    unknown = [label for label in class_weight if label not in labels.codes]
    if unknown and len(unknown) == len(class_weight):
        raise ValueError(
            f"class_weight has {unknown[0]!r}, which is none of the classes {labels.values!r}."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels.values])


def weigh_rows(
    codes: np.ndarray, n_classes: int, weight: np.ndarray | None, factors: np.ndarray | None
) -> Weighting | None:
    """Return how much rows with labels count, with a mean of 1, and the factors of P(y).

    P(y) is in proportion to the sum of the weights of the rows of y: a factor is their mean.
    """
    if weight is None and factors is None:
        return None
    known = codes >= 0
    rows = np.ones(len(codes)) if weight is None else weight.copy()
    count = np.bincount(codes[known], minlength=n_classes)
    mean = np.bincount(codes[known], rows[known], minlength=n_classes) / np.maximum(count, 1)
    mean[count == 0] = 1.0
    if factors is not None:
        mean, rows[known] = mean * factors, rows[known] * factors[codes[known]]
    return Weighting(rows / rows[known].mean(), mean)


def weigh_all(
    codes: np.ndarray, weight: np.ndarray | None, factors: np.ndarray | None
) -> np.ndarray | None:
    """Return how much each row counts, by its own weight times that of its class, if it has one."""
    if factors is None:
        return weight
    of_class = np.where(codes < 0, 1.0, factors[codes])
    return of_class if weight is None else weight * of_class


def check_stream_weights(class_weight: Any) -> None:
    """Raise ValueError if class weights depend on rows that are still to come."""
    if isinstance(class_weight, str):
        raise ValueError(
            f"class_weight={class_weight!r} needs the whole table: use fit, or give partial_fit "
            "a model with a mapping from labels to numbers."
        )
