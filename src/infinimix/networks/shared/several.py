"""Several tables, each with a model and a problem of its own, for networks that share roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.networks.learning.columns import NetworkColumns, read_columns
from infinimix.networks.learning.knowledge import read_knowledge
from infinimix.networks.learning.problem import Problem, make_problem
from infinimix.tables import EncodedTable


def read_tables(tables: Any) -> dict[Any, Any]:
    """Return tables by name; ValueError if there are not several."""
    if isinstance(tables, Mapping):
        named = dict(tables)
    elif isinstance(tables, Sequence) and not isinstance(tables, str | bytes):
        named = dict(enumerate(tables))
    else:
        raise ValueError(
            "tables must be a mapping from name to table, or a list of tables; "
            f"got {type(tables).__name__}."
        )
    if len(named) < 2:
        raise ValueError(
            f"tables must hold two tables or more; got {len(named)}. For one table there is "
            "BlockmodelBayesNet(normalise='global')."
        )
    for name, table in named.items():
        shape = getattr(table, "shape", None)
        if isinstance(table, str | bytes) or (shape is not None and len(shape) != 2):
            raise ValueError(
                f"table {name!r} has no rows and columns; tables must hold tables, not the "
                "columns of one."
            )
    return named


def read_kinds(columns: Any, tables: Any) -> dict[Any, Any]:
    """Return what is said of the columns of each table; ValueError for a table there is not."""
    if not isinstance(columns, Mapping):
        return dict.fromkeys(tables, columns)
    strange = [name for name in columns if name not in tables]
    if strange:
        raise ValueError(f"columns names {strange[0]!r}, which is not a table.")
    return {name: columns.get(name, "auto") for name in tables}


def read_members(
    models: dict[Any, Any], tables: dict[Any, Any], seed: np.random.SeedSequence, who: str
) -> tuple[list[NetworkColumns], list[Problem]]:
    """Return the columns of each table, and what the chains of its model begin with."""
    columns, problems = [], []
    for (name, table), own in zip(tables.items(), seed.spawn(len(tables)), strict=True):
        model = models[name]
        found, encoded = _read_table(model, name, table, who)
        codes, missing = found.codes(encoded)
        known = read_knowledge(found.schema.names)
        columns.append(found)
        problems.append(make_problem(model, found, codes, missing, known, own))
    return columns, problems


def _read_table(model: Any, name: Any, table: Any, who: str) -> tuple[NetworkColumns, EncodedTable]:
    """Return the columns of a table, and its cells; an error says which table it is."""
    try:
        columns, encoded = read_columns(
            table, model.columns, model.likelihood, int(model.n_bins), who
        )
    except ValueError as error:
        raise ValueError(f"table {name!r}: {error}") from error
    if columns.schema.width < 2:
        raise ValueError(f"table {name!r} has one column; a network needs two or more.")
    return columns, encoded
