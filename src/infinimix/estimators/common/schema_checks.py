"""Do columns that come from a file fit together, and fit the statistics beside them?"""

from __future__ import annotations

import numpy as np

from infinimix.estimators.common.table_estimator import block_names
from infinimix.families.priors import Layout
from infinimix.tables import Schema
from infinimix.tables.column import KINDS
from infinimix.tables.transforms import Spike, Transform


def check_schema(schema: Schema) -> None:
    """Raise ValueError if the columns contradict each other."""
    categorical = [column for column in schema.columns if column.kind == "categorical"]
    sound = (
        schema.width > 0
        and all(column.kind in KINDS for column in schema.columns)
        and all(isinstance(name, str) for name in schema.names)
        and len(set(schema.names)) == len(schema.sources) == schema.width
        and all(_may_have(c.kind, c.transform) for c in schema.columns)
        and all(transform.sound() for _, transform in schema.transforms)
        and len(schema.categories) == len(categorical)
        and all(len(set(values)) == len(values) for values in schema.categories)
        and sorted(j for members in schema.joint for j in members)
        == [j for j, column in enumerate(schema.columns) if column.kind == "gaussian"]
        and [j for j in range(schema.width) if j in schema.marked] == list(schema.marked)
    )
    if not sound:
        raise ValueError("its columns do not fit together")


def _may_have(kind: str, transform: Transform | None) -> bool:
    """Return whether a column of a kind may have a transform; a spiked one must have a spike."""
    if isinstance(transform, Spike) or kind == "spiked":
        return isinstance(transform, Spike) and kind == "spiked"
    return transform is None or kind == "real"


def check_layout(schema: Schema, layout: Layout) -> None:
    """Raise ValueError unless every code that the columns have fits into the statistics."""
    sound = layout.names == block_names(schema) and np.array_equal(
        layout.category_counts, schema.category_counts
    )
    if not sound:
        raise ValueError("its columns are not those of its statistics")
