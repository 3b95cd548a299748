"""What the user knows, as arrays: edges, roles, their order and template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from infinimix.networks.engine.families import MOST_CELLS
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.engine.hyper import EDGES, PAIRS
from infinimix.networks.learning.names import find_column, list_others


class Knowledge(NamedTuple):
    """Knowledge about edges and classes; None where there is none."""

    bonus: np.ndarray  # (N, N) [parent, child]: log odds, -inf forbidden, inf required
    anchor: np.ndarray | None  # (N,) the role of a node, -1 if it is not known
    roles: tuple[Any, ...]  # the names of the known roles
    held: np.ndarray | None  # (3, L, L) pseudo-edges, pseudo-pairs, pseudo-members


def read_knowledge(
    names: Sequence[str], required: Any = None, forbidden: Any = None, edge_log_odds: Any = None,
    known_roles: Mapping[str, Any] | None = None, role_order: Sequence[Any] | None = None,
    role_template: Mapping[Any, Any] | None = None, shared_roles: Mapping[str, Any] | None = None,
) -> Knowledge:  # fmt: skip
    """Check what the user says and turn it into arrays."""
    bonus = _edges(names, required, forbidden, edge_log_odds)
    try:
        topological_order(bonus == np.inf)
    except ValueError as error:
        raise ValueError(
            "the required edges have a directed cycle: leave out one of them"
        ) from error
    np.fill_diagonal(bonus, -np.inf)
    if shared_roles is not None:
        if known_roles or role_template:
            raise ValueError("shared_roles cannot go with known_roles or role_template")
        held = _shared(shared_roles)
        return Knowledge(bonus, None, tuple(range(held.shape[1])), held)
    return _with_roles(bonus, names, known_roles, role_order, role_template)


def read_unconstrained_knowledge(
    names: Sequence[str], required: Any, forbidden: Any, edge_log_odds: Any,
    known_roles: Mapping[str, Any] | None, undirected: bool,
) -> Knowledge:  # fmt: skip
    """Check what the user says of a graph that may have cycles.

    What is said of an undirected edge, in either direction, is in `bonus[i, j]` with i < j; in a
    directed graph i -> i may be spoken of.
    """
    bonus = _edges(names, required, forbidden, edge_log_odds, loops=not undirected)
    if undirected:
        bonus = _either_way(names, bonus)
    return _with_roles(bonus, names, known_roles)


def check_room(
    names: Sequence[str], bonus: np.ndarray, most: int, cards: np.ndarray | None
) -> None:
    """Raise ValueError if some variable cannot have all parents that are required of it."""
    required = bonus == np.inf
    for j in np.flatnonzero(required.sum(axis=0) > most).tolist():
        raise ValueError(
            f"{required[:, j].sum()} parents of {names[j]!r} are required, but a variable may have "
            f"{most} here: let max_parents be larger, or require fewer."
        )
    if cards is None:
        return
    sizes = np.maximum(cards, 1).astype(float)  # a number has one table for all of its values
    for j in range(len(names)):
        cells = np.prod(sizes[required[:, j]]) * sizes[j]
        if cells > MOST_CELLS:
            raise ValueError(
                f"the parents that are required of {names[j]!r} make a table of {cells:.0f} cells; "
                f"at most {MOST_CELLS} are possible: require fewer, or join categories."
            )


def bar_numbers(known: Knowledge, names: Sequence[str], cards: np.ndarray | None) -> Knowledge:
    """Forbid edges from numbers to categories, which the families of a mixed table do not have."""
    if cards is None or cards.all():
        return known
    barred = np.outer(cards == 0, cards > 0)
    for i, j in np.argwhere(barred & (known.bonus == np.inf)).tolist():
        raise ValueError(
            f"the edge {names[i]!r} -> {names[j]!r} is required, but with likelihood='mixed' a "
            f"number is no parent of a category: require {names[j]!r} -> {names[i]!r}, or let "
            "likelihood be 'discrete'."
        )
    return known._replace(bonus=np.where(barred, -np.inf, known.bonus))


def _either_way(names: Sequence[str], bonus: np.ndarray) -> np.ndarray:
    both = (bonus != 0) & (bonus.T != 0) & (bonus != bonus.T)
    if both.any():
        i, j = np.argwhere(both)[0]
        edge = f"{names[i]!r} -- {names[j]!r}"
        if {bonus[i, j], bonus[j, i]} == {np.inf, -np.inf}:
            raise ValueError(
                f"the edge {edge} is required and forbidden; as it has no direction, "
                f"{names[j]!r} -- {names[i]!r} is the same edge"
            )
        raise ValueError(
            f"the edge {edge} has no direction, but {bonus[i, j]:g} is said of it, and "
            f"{bonus[j, i]:g} of its reverse (log odds; inf is required, -inf forbidden): name it "
            "once"
        )
    made = np.triu(np.where(bonus != 0, bonus, bonus.T), 1)
    np.fill_diagonal(made, -np.inf)
    return made


def _edges(
    names: Sequence[str], required: Any, forbidden: Any, odds: Any, loops: bool = False
) -> np.ndarray:
    """Return the log odds of edges, -inf where they are forbidden and inf where required."""
    bonus = np.zeros((len(names),) * 2) if odds is None else _log_odds(names, odds, loops)
    for what, edges, value in (("forbidden", forbidden, -np.inf), ("required", required, np.inf)):
        for i, j in _pairs(names, edges, what, loops):
            if value > 0 and bonus[i, j] == -np.inf:
                raise ValueError(f"the edge {names[i]!r} -> {names[j]!r} is required and forbidden")
            bonus[i, j] = value
    return bonus


def _with_roles(
    bonus: np.ndarray, names: Sequence[str], known_roles: Mapping[str, Any] | None,
    role_order: Sequence[Any] | None = None, role_template: Mapping[Any, Any] | None = None,
) -> Knowledge:  # fmt: skip
    roles = _roles(known_roles, role_order, role_template)
    if not roles:
        return Knowledge(bonus, None, (), None)
    anchor = np.full(len(names), -1, np.int64)
    for name, role in (known_roles or {}).items():
        anchor[_place(names, name, "known_roles")] = roles.index(role)
    held = np.zeros((3, len(roles), len(roles)), np.int64)
    for (a, b), counts in (role_template or {}).items():
        edges, gaps = _two_counts(a, b, counts)
        if edges < 0 or gaps < 0 or int(edges) != edges or int(gaps) != gaps:
            raise ValueError(f"role_template: {a!r} -> {b!r} needs two whole numbers from 0 on")
        held[EDGES, roles.index(a), roles.index(b)] = edges
        held[PAIRS, roles.index(a), roles.index(b)] = edges + gaps
    for k, role in enumerate(roles):
        if not (anchor == k).any():
            raise ValueError(f"no variable is known to have the role {role!r}")
    return Knowledge(bonus, anchor, tuple(roles), held)


def _two_counts(a: Any, b: Any, counts: Any) -> tuple[Any, Any]:
    try:
        edges, gaps = counts
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"role_template: {a!r} -> {b!r} needs two whole numbers (edges, gaps); got {counts!r}"
        ) from error
    return edges, gaps


def _shared(shared: Mapping[str, Any]) -> np.ndarray:
    """Return the roles of another network: its edges, pairs and members, by class."""
    try:
        sizes = np.asarray(shared["sizes"], np.int64)
        edges, pairs = (np.asarray(shared[name], np.int64) for name in ("edges", "pairs"))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("shared_roles must be what share_roles() of a model returns") from error
    K = len(sizes)
    sound = edges.shape == pairs.shape == (K, K) and (edges >= 0).all() and (edges <= pairs).all()
    if not sound or (sizes < 1).any():
        raise ValueError("shared_roles must be what share_roles() of a model returns")
    return np.stack([edges, pairs, np.diag(sizes)])


def _place(names: Sequence[str], name: Any, where: str) -> int:
    found = find_column(names, name)
    if found is not None:
        return found
    raise ValueError(f"{where} names {name!r}, which is not a column{list_others(names, name)}")


def _pairs(
    names: Sequence[str], edges: Any, where: str, loops: bool = False
) -> Iterable[tuple[int, int]]:
    if edges is None:
        return []
    if isinstance(edges, np.ndarray) and edges.shape == (len(names),) * 2 and edges.dtype == bool:
        return [(int(i), int(j)) for i, j in np.argwhere(edges)]
    out = []
    for edge in edges:
        edge = edge.tolist() if isinstance(edge, np.ndarray) else edge
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise ValueError(f"{where} must hold pairs (from, to); got {edge!r}")
        i, j = (_place(names, name, where) for name in edge)
        if i == j and not loops:
            raise ValueError(f"{where}: {names[i]!r} cannot be its own parent")
        out.append((i, j))
    return out


def _log_odds(names: Sequence[str], odds: Any, loops: bool) -> np.ndarray:
    N = len(names)
    bonus: np.ndarray = np.zeros((N, N))
    if isinstance(odds, Mapping):
        for edge, value in odds.items():
            ((i, j),) = _pairs(names, [edge], "edge_log_odds", loops)
            if not isinstance(value, Real):
                raise ValueError(f"edge_log_odds of {edge!r} must be a number; got {value!r}")
            bonus[i, j] = value
    else:
        bonus = np.array(odds, float)
    if bonus.shape != (N, N):
        raise ValueError(f"edge_log_odds must be a mapping or an array of shape ({N}, {N})")
    if not np.isfinite(bonus).all():
        i, j = np.argwhere(~np.isfinite(bonus))[0]
        raise ValueError(
            f"edge_log_odds of {names[i]!r} -> {names[j]!r} must be finite; certain edges go into "
            "required or forbidden"
        )
    return bonus


def _roles(
    known: Mapping[str, Any] | None, order: Sequence[Any] | None, given: Mapping[Any, Any] | None
) -> list[Any]:
    roles = list(dict.fromkeys(order or []))
    for role in (known or {}).values():
        if role not in roles:
            if order is not None:
                raise ValueError(f"role_order does not name the role {role!r}")
            roles.append(role)
    for pair in given or {}:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"role_template must have pairs of roles as keys; got {pair!r}")
        for role in pair:
            if role not in roles:
                raise ValueError(
                    f"role_template names {role!r}, which no variable is known to have"
                )
    return roles
