"""Do the parts of a fitted network that come from a file fit together?

Each check raises ValueError if what it looks at could not be asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.state import read_schema
from infinimix.networks.engine.graphs import to_adjacency, words
from infinimix.networks.engine.scores import MOST_CELLS
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.posterior import Draws
from infinimix.tables.column import record_of

TEMPLATE = ("mean", "low", "high", "edges", "pairs")
CHUNK = 100  # graphs that are looked at together


def _ask(sound: bool, what: str = "its parts do not fit together") -> None:
    if not sound:
        raise ValueError(what)


def _is(x: Any, shape: tuple[int, ...], kinds: str) -> bool:
    """Is this an array of a shape and of some kind of numbers?"""
    return isinstance(x, np.ndarray) and x.shape == shape and x.dtype.kind in kinds


def columns_to_tree(columns: NetworkColumns) -> dict[str, Any]:
    """Return what the columns are as arrays and plain values."""
    return {
        "schema": columns.schema.to_json(),
        "gaussian": columns.gaussian,
        "edges": [[j, x] for j, x in columns.edges.items()],
        "centre": columns.centre,
        "scale": columns.scale,
    }


def columns_from_tree(tree: dict[str, Any]) -> NetworkColumns:
    """Return the columns that `columns_to_tree` wrote."""
    schema = read_schema(tree["schema"])
    N, gaussian, centre, scale = schema.width, tree["gaussian"], tree["centre"], tree["scale"]
    edges = {int(j): x for j, x in tree["edges"]}
    numeric = {
        j for b in schema.blocks if not record_of(b).discrete for j in schema.positions(b).tolist()
    }
    _ask(
        isinstance(gaussian, bool)
        and not any(column.record.has_atom for column in schema.columns)
        and _is(centre, (N,), "f")
        and _is(scale, (N,), "f")
        and bool(np.isfinite(centre).all() and np.isfinite(scale).all())
        and (edges.keys() == numeric if not gaussian else not edges and len(numeric) == N)
        and (not gaussian or bool((scale > 0).all()))
        and all(_is(x, (len(x),), "f") and bool((np.diff(x) > 0).all()) for x in edges.values()),
        "its columns do not fit together",
    )
    return NetworkColumns(schema, gaussian, edges, centre, scale)


def check_draws(draws: Draws, places: np.ndarray, weights: np.ndarray, N: int) -> None:
    """Check the kept states of N nodes, and which of them are distinct."""
    S, D = len(draws.log_joint), len(places)
    _ask(
        S > 0
        and D > 0
        and _is(draws.graphs, (S, N, words(N)), "u")
        and draws.graphs.dtype == np.uint64
        and _is(draws.classes, (S, N), "iu")
        and _is(draws.ranks, (S, N), "iu")
        and _is(draws.log_joint, (S,), "f")
        and _is(draws.hyper, (S, 4), "f")
        and _is(draws.chain, (S,), "iu")
        and _is(places, (D,), "iu")
        and _is(weights, (D,), "f")
        and bool(0 <= places.min() <= places.max() < S)
        and bool(min(draws.classes.min(), draws.ranks.min(), draws.chain.min()) >= 0)
        and bool((np.isfinite(draws.hyper) & (draws.hyper > 0)).all())
        and bool(np.isfinite(draws.log_joint).all())
        and bool((weights >= 0).all() and np.isclose(weights.sum(), 1.0))
    )


def check_found(found: dict[str, np.ndarray], template: Any, N: int) -> None:
    """Check marginals, diagnostics, roles and template of N nodes."""
    roles = found["roles"]
    _ask(
        _is(roles, (N,), "iu")
        and all(_is(x, (N, N), "f") for k, x in found.items() if k != "roles")
    )
    for name in ("edge_marginals", "co_class_marginals"):
        sound = ((found[name] >= 0) & (found[name] <= 1)).all()
        _ask(bool(sound), f"{name}_ are not probabilities")
    check_roles(roles, template)


def check_roles(roles: np.ndarray, template: Any) -> None:
    """Check that roles are numbered from 0 on, and that a template speaks of these."""
    K = int(roles.max()) + 1
    _ask(
        np.array_equal(np.unique(roles), np.arange(K))
        and set(template) == set(TEMPLATE)
        and all(_is(template[name], (K, K), "f") for name in TEMPLATE)
    )


def check_completed(
    columns: NetworkColumns, completed: Any, skip: np.ndarray | None, chain: np.ndarray
) -> None:
    """Check the rows, and which of their cells were set from outside."""
    N, n = columns.schema.width, len(completed[0])
    kinds = "f" if columns.gaussian else "iu"
    _ask(
        n > 0
        and all(_is(X, (n, N), kinds) for X in completed)
        and (len(completed) == 1 or int(chain.max()) < len(completed))
        and (skip is None or _is(skip, (n, N), "b"))
    )
    for X in completed:
        if columns.cards is None:
            _ask(bool(np.isfinite(X).all()), "its rows hold numbers that are not finite")
        else:
            known = bool(((X >= 0) & (columns.cards > X)).all())
            _ask(known, "its rows hold categories that its columns do not have")


def check_acyclic(draws: Draws, cards: np.ndarray | None) -> None:
    """Check that graphs have no cycles, and tables that a score would allow."""
    for at in range(0, len(draws.graphs), CHUNK):
        A = to_adjacency(draws.graphs[at : at + CHUNK]).astype(bool)
        waiting = np.ones(A.shape[:2], bool)  # nodes with a parent that waits
        while waiting.any():
            still = waiting & (A & waiting[:, :, None]).any(axis=1)
            _ask(not np.array_equal(still, waiting), "one of its graphs has a cycle")
            waiting = still
        if cards is not None:
            logs = np.log(cards)
            cells = np.einsum("sij,i->sj", A.astype(float), logs) + logs
            _ask(bool(cells.max() < np.log(MOST_CELLS) + 1e-9), "one of its tables is too large")


def check_undirected(draws: Draws) -> None:
    """Check that edges go both ways, and none from a node to itself."""
    for at in range(0, len(draws.graphs), CHUNK):
        A = to_adjacency(draws.graphs[at : at + CHUNK])
        sound = np.array_equal(A, A.swapaxes(1, 2)) and not np.einsum("sii->", A.astype(int))
        _ask(sound, "one of its graphs is not undirected")


def check_shared_roles(state: Any, n_tables: int) -> None:
    """Check the roles of all variables of several networks (a `FranchiseState`)."""
    draws = state.draws
    S, V = len(draws[0].log_joint), sum(d.graphs.shape[1] for d in draws)
    _ask(
        len(draws) == n_tables > 1
        and all(len(d.log_joint) == S for d in draws)
        and _is(state.classes, (S, V), "iu")
        and _is(state.log_joint, (S,), "f")
        and bool(np.isfinite(state.log_joint).all())
        and _is(state.co_class_marginals, (V, V), "f")
        and _is(state.roles, (V,), "iu")
    )
    check_roles(state.roles, state.template)
