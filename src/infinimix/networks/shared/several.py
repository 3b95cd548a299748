"""Several tables, each with a model and a problem of its own, for networks that share roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.networks.learning.columns import (
    NetworkColumns,
    check_codes,
    read_columns,
    read_interventions,
    warn_of_constants,
)
from infinimix.networks.learning.problem import Problem, make_problem


def name_tables(tables: Any) -> dict[Any, Any]:
    """Return tables by name; those of a list are named 0, 1, ..."""
    if isinstance(tables, Mapping):
        return dict(tables)
    if isinstance(tables, Sequence) and not isinstance(tables, str | bytes):
        return dict(enumerate(tables))
    raise ValueError(
        "tables must be a mapping from name to table, or a list of tables; "
        f"got {type(tables).__name__}."
    )


def read_tables(tables: Any) -> dict[Any, Any]:
    """Return tables by name; ValueError if there are not several."""
    named = name_tables(tables)
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


def read_each(given: Any, tables: Any, name: str, default: Any = None) -> dict[Any, Any]:
    """Return what is said of each table; ValueError for a table there is not.

    Kinds of columns may be said of all tables at once.
    """
    if not isinstance(given, Mapping):
        if given is not None and name != "columns":
            raise ValueError(f"{name} must be a mapping from table to what is said of it.")
        return dict.fromkeys(tables, given)
    strange = [table for table in given if table not in tables]
    if strange:
        raise ValueError(f"{name} names {strange[0]!r}, which is not a table.")
    for table, own in given.items() if name == "known_roles" else ():
        if own is not None and not isinstance(own, Mapping):
            raise ValueError(f"known_roles of {table!r} must be a mapping from column to role.")
    return {table: given.get(table, default) for table in tables}


def read_members(
    models: dict[Any, Any], tables: dict[Any, Any], masks: dict[Any, Any],
    seed: np.random.SeedSequence, who: str,
) -> tuple[list[NetworkColumns], list[Problem]]:  # fmt: skip
    """Return the columns of each table, and what the chains of its model begin with."""
    columns, problems = [], []
    roles: list[Any] = []  # the known ones of all tables
    for (name, table), own in zip(tables.items(), seed.spawn(len(tables)), strict=True):
        try:
            found, problem = _read_member(models[name], table, masks[name], own, who)
            rows = problem.X, problem.missing, problem.skip
            warn_of_constants(found, *rows, stacklevel=5, table=f"table {name!r}: ")
            problem.anchor = _share_known(problem.anchor, models[name].known_roles, roles)
        except ValueError as error:
            raise ValueError(f"table {name!r}: {error}") from error
        columns.append(found)
        problems.append(problem)
    return columns, problems


def _share_known(anchor: Any, named: Any, roles: list[Any]) -> Any:
    """Return the known roles of columns by their places in `roles`, to which new ones are added."""
    if anchor is None:
        return None
    own = list(dict.fromkeys(named.values()))  # in the order of `read_knowledge`
    roles += [role for role in own if role not in roles]
    places = np.array([roles.index(role) for role in own])
    return np.where(anchor >= 0, places[anchor], -1)


def _read_member(
    model: Any, table: Any, mask: Any, seed: np.random.SeedSequence, who: str
) -> tuple[NetworkColumns, Problem]:
    """Return the columns of a table, and what the chains of its model begin with."""
    found, encoded = read_columns(table, model.columns, model.likelihood, int(model.n_bins), who)
    if found.schema.width < 2:
        raise ValueError("there is one column; a network needs two or more.")
    codes, missing = found.codes(encoded)
    check_codes(found, missing, bool(model.bdeu), who)
    known = model._knowledge(found.schema.names)
    skip = read_interventions(mask, codes.shape)
    return found, make_problem(model, found, codes, missing, known, seed, skip)
