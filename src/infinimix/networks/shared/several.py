"""Several tables, each with a model and a problem of its own, for networks that share roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.networks.bayes_net import BlockmodelBayesNet
from infinimix.networks.learning.columns import read_columns
from infinimix.networks.learning.knowledge import read_knowledge
from infinimix.networks.learning.problem import Problem, make_problem


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


def read_kinds(columns: Any, tables: dict[Any, Any]) -> dict[Any, Any]:
    """Return what is said of the columns of each table; ValueError for a table there is not."""
    if not isinstance(columns, Mapping):
        return dict.fromkeys(tables, columns)
    strange = [name for name in columns if name not in tables]
    if strange:
        raise ValueError(f"columns names {strange[0]!r}, which is no table.")
    return {name: columns.get(name, "auto") for name in tables}


def read_members(
    franchise: Any, tables: dict[Any, Any], kinds: dict[Any, Any], seed: np.random.SeedSequence
) -> tuple[dict[Any, BlockmodelBayesNet], list[Problem]]:
    """Return models of the tables, not fitted yet, and what their chains begin with."""
    models, problems = {}, []
    for (name, table), own in zip(tables.items(), seed.spawn(len(tables)), strict=True):
        models[name] = _new_model(franchise, kinds[name])
        problems.append(_read_table(models[name], name, table, own, type(franchise).__name__))
    if franchise.n_temperatures > 1 and any(p.missing.any() for p in problems):
        raise ValueError("n_temperatures above 1 needs tables without missing cells.")
    return models, problems


def _new_model(franchise: Any, kinds: Any) -> BlockmodelBayesNet:
    return BlockmodelBayesNet(
        normalise="partition" if franchise.normalise == "network" else "global",
        alpha=franchise.alpha, beta=franchise.beta, gamma=franchise.gamma,
        n_chains=franchise.n_chains, n_iter=franchise.n_iter, burn_in=franchise.burn_in,
        columns=kinds, likelihood=franchise.likelihood, bdeu=franchise.bdeu,
        n_bins=franchise.n_bins, max_parents=franchise.max_parents, n_temperatures=1,
        random_state=franchise.random_state,
    )  # fmt: skip


def _read_table(
    model: BlockmodelBayesNet, name: Any, table: Any, seed: np.random.SeedSequence, who: str
) -> Problem:
    """Give a model its columns, and return what its chains begin with."""
    try:
        columns, encoded = read_columns(
            table, model.columns, model.likelihood, int(model.n_bins), who
        )
    except ValueError as error:
        raise ValueError(f"table {name!r}: {error}") from error
    if columns.schema.width < 2:
        raise ValueError(f"table {name!r} has one column; a network needs two or more.")
    codes, missing = columns.codes(encoded)
    known = read_knowledge(columns.schema.names)
    model._columns, model._skip, model._known = columns, None, known
    model._name_features(columns)
    return make_problem(model, columns, codes, missing, known, seed)
