"""Do the parts of a fitted network that come from a file fit together?

Each check raises ValueError if what it looks at could not be asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.artifacts.expectations import Expected, check_all
from infinimix.estimators.common.state import read_schema
from infinimix.networks.engine.blocks import ACYCLIC, UNDIRECTED
from infinimix.networks.engine.families import MOST_CELLS
from infinimix.networks.engine.graphs import to_adjacency, words
from infinimix.networks.engine.monotone import MOST_SIGNED
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.posterior import Draws
from infinimix.tables.column import record_of


def _share(shape: str, finite: bool = True) -> Expected:
    """Return what probabilities must be, up to the rounding of sums of weights."""
    return Expected(shape, low=0.0, high=1.0 + 1e-9, finite=finite)


# Sizes: S kept states of N nodes in W words each, D of them distinct; K roles.
DRAWS = {
    "log_joint": Expected("S"),
    "graphs": Expected("SNW", "u8"),
    "classes": Expected("SN", "iu", low=0),
    "ranks": Expected("SN", "iu", low=0),
    "hyper": Expected("S4", low=np.nextafter(0.0, 1.0)),
    "chain": Expected("S", "iu", low=0),
}
DISTINCT = {"places": Expected("D", "iu", low=0, high="S"), "weights": _share("D")}
FOUND = {
    "roles": Expected("N", "iu", low=0, high="N"),
    "edge_marginals": _share("NN"),
    "co_class_marginals": _share("NN"),
    "edge_gap": _share("NN", finite=False),
    "rhat": Expected("NN", finite=False),
    "ess": Expected("NN", finite=False),
}
TEMPLATE = {
    **dict.fromkeys(("mean", "low", "high"), _share("KK")),
    **dict.fromkeys(("edges", "pairs"), Expected("KK", low=0.0)),
}
SHARED = {
    "classes": Expected("SV", "iu", low=0),
    "log_joint": Expected("S"),
    "co_class_marginals": _share("VV"),
    "roles": Expected("V", "iu", low=0, high="V"),
}
PAIRS = {"graphs": Expected("MNW", "u8"), "values": Expected("MH", "iuf")}
NO_EDGES = "its signs do not fit to its edges"
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
        **({"mixed": True} if columns.mixed else {}),
        "edges": [[j, x] for j, x in columns.edges.items()],
        "centre": columns.centre,
        "scale": columns.scale,
    }


def columns_from_tree(tree: dict[str, Any]) -> NetworkColumns:
    """Return the columns that `columns_to_tree` wrote."""
    schema = read_schema(tree["schema"])
    N, gaussian, centre, scale = schema.width, tree["gaussian"], tree["centre"], tree["scale"]
    mixed = tree.get("mixed", False)
    edges = {int(j): x for j, x in tree["edges"]}
    numeric = {
        j for b in schema.blocks if not record_of(b).discrete for j in schema.positions(b).tolist()
    }
    _ask(
        isinstance(gaussian, bool)
        and isinstance(mixed, bool)
        and not any(column.record.has_atom for column in schema.columns)
        and _is(centre, (N,), "f")
        and _is(scale, (N,), "f")
        and bool(np.isfinite(centre).all() and np.isfinite(scale).all())
        and edges.keys() == (set() if gaussian or mixed else numeric)
        and (not gaussian or len(numeric) == N)
        and (not mixed or 0 < len(numeric) < N)
        and (not (gaussian or mixed) or bool((scale > 0).all()))
        and all(_is(x, (len(x),), "f") and bool((np.diff(x) > 0).all()) for x in edges.values()),
        "its columns do not fit together",
    )
    return NetworkColumns(schema, gaussian, edges, centre, scale, mixed)


def check_draws(draws: Draws, places: np.ndarray, weights: np.ndarray, N: int) -> None:
    """Check the kept states of N nodes, and which of them are distinct."""
    parts = {name: getattr(draws, name) for name in DRAWS}
    sizes = check_all(DRAWS, parts, {"N": N, "W": words(N)})
    check_all(DISTINCT, {"places": places, "weights": weights}, sizes)
    _ask(bool(np.isclose(weights.sum(), 1.0)), "its states do not have all of the weight")


def read_signs(
    tree: dict[str, Any], draws: Draws, edges: np.ndarray, cards: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return the probabilities of negative effects, checked; nothing if effects have no signs."""
    if draws.negative is None:
        return {}
    found, N = np.asarray(tree["found"]["negative_marginals_"]), len(edges)
    check_all({"negative_marginals": _share("NN")}, {"negative_marginals": found}, {"N": N})
    _ask(
        _are_signs(draws.negative, draws.graphs)
        and cards is not None
        and bool((cards == 2).all())
        and bool((found <= edges + 1e-9).all()),
        NO_EDGES,
    )
    return {"negative_marginals": found}


def _are_signs(negative: Any, graphs: np.ndarray) -> bool:
    """Are these negative effects along edges, of no more parents than there are tables for?"""
    if not _is(negative, graphs.shape, "u") or negative.dtype != graphs.dtype:
        return False
    most = int(to_adjacency(graphs).sum(axis=1).max(initial=0))
    return most <= MOST_SIGNED and not (negative & ~graphs).any()


def check_found(found: dict[str, np.ndarray], template: Any, N: int) -> None:
    """Check marginals, diagnostics, roles and template of N nodes."""
    check_all(FOUND, found, {"N": N})
    check_roles(found["roles"], template)


def check_roles(roles: np.ndarray, template: Any) -> None:
    """Check that roles are numbered from 0 on, and that a template speaks of these."""
    K = len(np.unique(roles))
    _ask(int(roles.max()) == K - 1, "its roles are not numbered from 0 on")
    _ask(set(template) == set(TEMPLATE))
    check_all(TEMPLATE, template, {"K": K})


def check_completed(
    cards: np.ndarray | None, C: int, completed: Any, skip: np.ndarray | None, chain: np.ndarray,
) -> None:  # fmt: skip
    """Check rows of C columns, and which of their cells were set from outside."""
    n = len(completed[0])
    kinds = "f" if cards is None or not cards.all() else "iu"
    _ask(
        n > 0
        and all(_is(X, (n, C), kinds) for X in completed)
        and (len(completed) == 1 or int(chain.max()) < len(completed))
        and (skip is None or _is(skip, (n, C), "b"))
    )
    for X in completed:
        _check_cells(X, cards)


def _check_cells(X: np.ndarray, cards: np.ndarray | None) -> None:
    """Check cells, (..., columns)."""
    if cards is None:
        _ask(bool(np.isfinite(X).all()), "its rows hold numbers that are not finite")
    elif not cards.all():
        _check_cells(X[..., cards == 0], None)
        codes = X[..., cards > 0]
        _ask(bool((codes == np.floor(codes)).all()), "its rows hold parts of categories")
        _check_cells(codes, cards[cards > 0])
    else:
        known = bool(((X >= 0) & (cards > X)).all())
        _ask(known, "its rows hold categories that its columns do not have")


def check_completions(pairs: Any, completed: Any, N: int, cards: np.ndarray | None) -> None:
    """Check graphs of N nodes with the cells that were drawn given them (`Completions`)."""
    _ask(bool(completed) and _is(pairs.missing, completed[0].shape, "b"))
    sizes = {"N": N, "W": words(N), "H": int(pairs.missing.sum())}
    check_all(PAIRS, {"graphs": pairs.graphs, "values": pairs.values}, sizes)
    _ask(len(pairs.graphs) > 0 and pairs.values.dtype.kind == completed[0].dtype.kind)
    own = None if cards is None else cards[np.nonzero(pairs.missing)[1]]
    _check_cells(pairs.values, own)
    if pairs.negative is not None:
        _ask(_are_signs(pairs.negative, pairs.graphs), NO_EDGES)


def check_graphs(graphs: np.ndarray, shape: int, cards: np.ndarray | None) -> None:
    """Check that graphs are what their shape says, and have tables that a score would allow."""
    for at in range(0, len(graphs), CHUNK):
        A = to_adjacency(graphs[at : at + CHUNK]).astype(bool)
        if shape == ACYCLIC:
            _check_acyclic(A)
        elif shape == UNDIRECTED:
            sound = np.array_equal(A, A.swapaxes(1, 2)) and not np.einsum("sii->", A.astype(int))
            _ask(sound, "one of its graphs is not undirected")
        if cards is not None:
            wrong = A & np.outer(cards == 0, cards > 0)
            _ask(not wrong.any(), "in one of its graphs a number is a parent of a category")
            logs = np.log(np.maximum(cards, 1))
            cells = np.einsum("sij,i->sj", A.astype(float), logs) + logs
            _ask(bool(cells.max() < np.log(MOST_CELLS) + 1e-9), "one of its tables is too large")


def _check_acyclic(A: np.ndarray) -> None:
    waiting = np.ones(A.shape[:2], bool)  # nodes with a parent that waits
    while waiting.any():
        still = waiting & (A & waiting[:, :, None]).any(axis=1)
        _ask(not np.array_equal(still, waiting), "one of its graphs has a cycle")
        waiting = still


def check_shared_roles(state: Any, n_tables: int) -> None:
    """Check the roles of all variables of several networks (a `FranchiseState`)."""
    draws = state.draws
    S, V = len(draws[0].log_joint), sum(d.graphs.shape[1] for d in draws)
    _ask(len(draws) == n_tables > 1 and all(len(d.log_joint) == S for d in draws))
    check_all(SHARED, vars(state), {"S": S, "V": V})
    check_roles(state.roles, state.template)
