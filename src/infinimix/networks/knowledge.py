"""What the user knows, as arrays: edges, roles, their order and template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.networks.engine.graphs import topological_order


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
        raise ValueError("the required edges have a directed circle") from error
    np.fill_diagonal(bonus, -np.inf)
    if shared_roles is not None:
        if known_roles or role_template:
            raise ValueError("shared_roles cannot go with known_roles or role_template")
        held = _shared(shared_roles)
        return Knowledge(bonus, None, tuple(range(held.shape[1])), held)
    return _with_roles(bonus, names, known_roles, role_order, role_template)


def read_free_knowledge(
    names: Sequence[str], required: Any, forbidden: Any, edge_log_odds: Any,
    known_roles: Mapping[str, Any] | None, undirected: bool,
) -> Knowledge:  # fmt: skip
    """Check what the user says of a graph that may have circles.

    What is said of an undirected edge, in either direction, is in `bonus[i, j]` with i < j; in a
    directed graph i -> i may be spoken of.
    """
    bonus = _edges(names, required, forbidden, edge_log_odds, loops=not undirected)
    if undirected:
        bonus = _either_way(names, bonus)
    return _with_roles(bonus, names, known_roles)


def _either_way(names: Sequence[str], bonus: np.ndarray) -> np.ndarray:
    both = (bonus != 0) & (bonus.T != 0) & (bonus != bonus.T)
    if both.any():
        i, j = np.argwhere(both)[0]
        raise ValueError(f"{names[i]!r} -- {names[j]!r} and its reverse are said to differ")
    made = np.triu(np.where(bonus != 0, bonus, bonus.T), 1)
    np.fill_diagonal(made, -np.inf)
    return made


def _edges(
    names: Sequence[str], required: Any, forbidden: Any, odds: Any, loops: bool = False
) -> np.ndarray:
    """Return the log odds of edges, -inf where they are forbidden and inf where required."""
    bonus = np.zeros((len(names),) * 2) if odds is None else _log_odds(names, odds)
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
        edges, gaps = counts
        if edges < 0 or gaps < 0 or int(edges) != edges or int(gaps) != gaps:
            raise ValueError(f"role_template: {a!r} -> {b!r} needs two whole numbers from 0 on")
        held[0, roles.index(a), roles.index(b)] = edges
        held[1, roles.index(a), roles.index(b)] = edges + gaps
    for k, role in enumerate(roles):
        if not (anchor == k).any():
            raise ValueError(f"no variable is known to have the role {role!r}")
    return Knowledge(bonus, anchor, tuple(roles), held)


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
    if isinstance(name, str) and name in names:
        return list(names).index(name)
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    raise ValueError(f"{where} names {name!r}, which is no column; there are {list(names)[:6]}...")


def _pairs(
    names: Sequence[str], edges: Any, where: str, loops: bool = False
) -> Iterable[tuple[int, int]]:
    if edges is None:
        return []
    if isinstance(edges, np.ndarray) and edges.shape == (len(names),) * 2 and edges.dtype == bool:
        return [(int(i), int(j)) for i, j in np.argwhere(edges)]
    out = []
    for edge in edges:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise ValueError(f"{where} must hold pairs (from, to); got {edge!r}")
        i, j = (_place(names, name, where) for name in edge)
        if i == j and not loops:
            raise ValueError(f"{where}: {names[i]!r} cannot be its own parent")
        out.append((i, j))
    return out


def _log_odds(names: Sequence[str], odds: Any) -> np.ndarray:
    N = len(names)
    if isinstance(odds, Mapping):
        bonus = np.zeros((N, N))
        for (a, b), value in odds.items():
            places = _place(names, a, "edge_log_odds"), _place(names, b, "edge_log_odds")
            bonus[places] = value
    else:
        bonus = np.array(odds, float)
    if bonus.shape != (N, N) or not np.isfinite(bonus).all():
        raise ValueError(f"edge_log_odds must be a mapping or a finite array of shape ({N}, {N})")
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
        for role in pair:
            if role not in roles:
                raise ValueError(
                    f"role_template names {role!r}, which no variable is known to have"
                )
    return roles
