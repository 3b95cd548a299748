"""The missing cells of a user's table: most probable values, draws, and how sure they are.

Between `filling`, which knows encoded rows, and `writing`, which knows forms of tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.filling import Predictive
from infinimix.estimators.answers.writing import as_they_came, inputs_of, numbers_like, write_cells
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import record_of
from infinimix.tables.encoded import Blocks
from infinimix.tables.holes import find_holes
from infinimix.tables.transforms import Transform

Better = dict[int, tuple[np.ndarray, float]]  # by column: values, and the ratio of errors


class Query(NamedTuple):
    """A table to be filled: as it came, encoded, and where its holes are."""

    X: Any
    table: EncodedTable
    holes: np.ndarray

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.table.schema


def ask(X: Any, table: EncodedTable) -> Query:
    """Return a query for a table; holes whose column has no known category stay holes."""
    schema, holes = table.schema, find_holes(table.schema, X)
    for k, j in enumerate(schema.positions("categorical").tolist()):
        if not schema.categories[k]:
            holes[:, j] = False
    return Query(X, table, holes)


def impute_values(
    mixture: Predictive, query: Query, codes: Any = None, better: Better | None = None
) -> tuple[Any, Any]:
    """Return the table with its holes filled by means and modes, and the spreads of these.

    `better` has other values for some columns, and how much smaller their errors are.
    """
    values, spreads = mixture.fill(query.table.blocks, codes)
    columns, wide = natural_values(query.schema, values), natural_spreads(query, values, spreads)
    for j, (instead, ratio) in (better or {}).items():
        columns[query.schema.names[j]] = instead
        wide[:, j] *= ratio
    found = as_they_came(query.schema, wide)
    return _write(query, columns), numbers_like(inputs_of(query.schema), query.X, found)


def impute_draws(mixture: Predictive, query: Query, rng: np.random.Generator) -> Any:
    """Return the table with its holes drawn, the cells of each row together."""
    blocks, _ = mixture.draw(query.table.blocks, rng)
    return _write(query, query.schema.snapped(query.schema.decode(blocks)))


def _write(query: Query, columns: dict[str, np.ndarray]) -> Any:
    """Return the table with its holes filled; those of dates stay."""
    holes = as_they_came(query.schema, query.holes)
    return write_cells(inputs_of(query.schema), query.X, holes, columns)


def natural_values(schema: Schema, values: Blocks) -> dict[str, np.ndarray]:
    """Return means and modes by name; the mean of a count need not be whole."""
    kinds = [record_of(block) for block in schema.blocks]
    cells = [kind.nearest(v) for kind, v in zip(kinds, values, strict=True)]
    columns = schema.snapped(schema.decode(cells))
    for block, kind, means in zip(schema.blocks, kinds, values, strict=True):
        if kind.averaged and not kind.discrete:
            for k, j in enumerate(schema.positions(block).tolist()):
                columns[schema.names[j]] = means[:, k]
    return columns


def natural_spreads(query: Query, values: Blocks, spreads: Blocks) -> np.ndarray:
    """Return the spread of each hole, in the units of its column, and 0 elsewhere."""
    out = np.zeros(query.holes.shape)
    for j, (b, k) in enumerate(query.schema.places):
        rows = np.flatnonzero(query.holes[:, j])
        spread = spreads[b][rows, k]
        transform = query.schema.columns[j].transform
        if transform is not None:
            near = np.isfinite(values[b][rows, k])  # a common value has a probability beside it
            spread[near] = _half_width(transform, values[b][rows, k][near], spread[near])
        out[rows, j] = spread
    return out


def _half_width(transform: Transform, centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return half of what lies within one spread of the centre, in natural units."""
    return 0.5 * (transform.decode(centre + spread) - transform.decode(centre - spread))
