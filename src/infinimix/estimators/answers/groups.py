"""Groups as people want to see them: a table of prototypes, and rows drawn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.estimators.answers.displays import prototype_table
from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.answers.imputing import Query, natural_spreads, natural_values
from infinimix.estimators.common.parameters import Seed, generator
from infinimix.families.given import find_column
from infinimix.families.seam import draw, fill, typical
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.partition.assignments import best_particle
from infinimix.inference.partition.population import MASS
from infinimix.tables import Schema, encode
from infinimix.tables.column import record_of
from infinimix.tables.errors import listed
from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    import pandas as pd


def describe_groups(bank: Bank, schema: Schema, c: int) -> pd.DataFrame:
    """Return a DataFrame of the groups of the best particle of class c."""
    import pandas as pd

    f, held = best_particle(bank, c)
    rows = f.mass[MASS, held]
    table: dict[str, Any] = {"weight": rows / max(rows.sum(), 1.0), "rows": rows.astype(int)}
    blocks = typical(f.family, f.stats, held)
    values = typical_columns(schema, blocks)
    for name, column in values.items():
        table[_free_name(name, table, values)] = column
    return prototype_table(pd.DataFrame(table).rename_axis("group"))


def group_moments(bank: Bank, schema: Schema, c: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return mean or most probable value of each column in each group, and how they spread.

    They are those of a new row of the group: what `impute` would put into a row that is known to
    be of it, and how far that may be off.
    """
    import pandas as pd

    f, held = best_particle(bank, c)
    blank = encode(schema, [{}] * len(held), learn=False)
    weight = np.eye(f.mass.shape[1])[held]
    values, spreads = fill(f.family, f.stats, weight, blank.blocks)
    holes = np.ones((len(held), schema.width), bool)
    wide = natural_spreads(Query(None, blank, holes), values, spreads)
    index = pd.RangeIndex(len(held), name="group")
    means = pd.DataFrame(natural_values(schema, values), index)[list(schema.names)]
    return means, pd.DataFrame(wide, index, list(schema.names))


def _free_name(name: str, taken: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """Return the name of a column, made longer if the table of groups has it already."""
    if name not in taken:
        return name
    longer = f"{name} (column)"
    while longer in names:
        longer += " (column)"
    return longer


def draw_rows(
    bank: Bank, schema: Schema, n: int, given: Any, log_prior: Any, random_state: Seed = None
) -> tuple[Any, np.ndarray]:
    """Draw n rows and their classes, given some cells; the classes have these log weights.

    Without a seed they come from the stream of the bank.
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or int(n) < 0:
        raise ValueError(
            "n_samples, also called n, the number of rows to draw, must be a whole number from 0 "
            f"on; got {n!r}."
        )
    rng = bank.sampler() if random_state is None else generator(random_state)
    mixture = predictive_of(bank, log_prior)
    fixed = _encode_given(schema, {} if given is None else given)
    weight = mixture.responsibilities(fixed)[0]
    slots = rng.choice(mixture.slots, size=n, p=weight)
    rows = tuple(np.repeat(block, n, axis=0) for block in fixed)
    blocks = draw(mixture.family, mixture.stats, slots, rows, rng)
    classes = np.searchsorted(mixture.bounds, slots, side="right") - 1
    return _table(schema, blocks, _natural(schema, given)), classes


def _encode_given(schema: Schema, given: Any) -> tuple[np.ndarray, ...]:
    if not isinstance(given, Mapping):
        raise TypeError("given must map columns to values, such as {'age': 40}.")
    row = {_column_name(schema, key): value for key, value in given.items()}
    table = encode(schema, [row], learn=False, who="sample", strict=True)
    if "categorical" in schema.blocks:
        _check_seen(schema, row, table.blocks[schema.blocks.index("categorical")][0])
    return table.hide_indicators().blocks  # what is not given is unknown, not missing


def _column_name(schema: Schema, key: Any) -> str:
    """Return the name of a column of `given`, which may be a position."""
    name = find_column(key, schema.names)
    if name is None:
        known = listed(schema.names)
        raise ValueError(f"given has {key!r}, which is not a column; there are {known}")
    return name


def _check_seen(schema: Schema, row: Mapping[str, Any], codes: np.ndarray) -> None:
    """Raise if a category is unknown: rows with it cannot be drawn."""
    for k, j in enumerate(schema.positions("categorical").tolist()):
        name = schema.names[j]
        if codes[k] < 0 and not is_missing(row.get(name)):
            raise ValueError(
                f"given[{name!r}] is {row[name]!r}, which this model has never seen; "
                f"it knows {listed(schema.categories[k])}"
            )


def typical_columns(schema: Schema, blocks: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return typical values by name, in table order; averages stay as they are."""
    pairs = list(zip(schema.blocks, blocks, strict=True))
    cells = [np.zeros(b.shape, np.int8) if record_of(kind).averaged else b for kind, b in pairs]
    columns = schema.occurring(schema.decode(cells))
    for kind, block in pairs:
        if record_of(kind).averaged:
            for j, position in enumerate(schema.positions(kind)):
                columns[schema.names[position]] = block[:, j]
    return columns


def _natural(schema: Schema, given: Any) -> dict[str, float]:
    """Return the given cells of columns that the way there and back rounds."""
    cells = {_column_name(schema, key): value for key, value in (given or {}).items()}
    changed = {column.name for column in schema.columns if column.transform or column.grid}
    return {n: float(v) for n, v in cells.items() if n in changed and not is_missing(v)}


def _table(schema: Schema, blocks: Sequence[np.ndarray], natural: Mapping[str, float]) -> Any:
    columns = schema.snapped(schema.decode(blocks))
    for name, value in natural.items():
        columns[name][:] = value
    if schema.named:
        import pandas as pd

        return pd.DataFrame(columns)
    arrays = list(columns.values())
    if any(a.dtype.kind not in "biuf" for a in arrays):
        arrays = [a.astype(object) for a in arrays]
    return np.column_stack(arrays)
