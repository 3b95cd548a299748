"""Dynamic networks: rows of sequences become pairs of neighbouring rows, earlier and later.

The network of such pairs has every variable twice, and edges lead into the later slice only. The
chains, priors and answers are those of any other network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.networks.engine.families import cell_weight
from infinimix.networks.learning.completion import Ties


def pair_slices(
    X: Any, sequences: Any = None, within: bool = False
) -> tuple[Any, list[tuple[str, str]]]:
    """Return the table of pairs of neighbouring rows, and the edges to forbid in it.

    Each variable is there as `name@before` and `name@now`. Edges into what was before are
    forbidden, and unless `within` those between variables of one time, too. The two slices of a
    variable may have different roles: what it does to others, and what others do to it.

    Parameters
    ----------
    X : array (rows, N), DataFrame or mapping of columns
        Rows in the order of time.
    sequences : array (rows,), optional
        Which sequence a row belongs to; rows are paired within sequences only. By default all are
        one sequence.
    within : bool
        Allow edges between variables of the same time.

    Returns
    -------
    table : DataFrame if X is one, else a list with one dict a row
        For `fit`.
    forbidden : list of (from, to)
        For the parameter `forbidden`.

    Examples
    --------
    >>> from infinimix import BlockmodelBayesNet
    >>> from infinimix.networks import pair_slices
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.integers(2, size=(60, 2)), axis=0) % 2
    >>> table, forbidden = pair_slices(X)
    >>> list(table[0])
    ['x0@before', 'x1@before', 'x0@now', 'x1@now']
    >>> model = BlockmodelBayesNet(forbidden=forbidden, n_iter=50, n_chains=2, random_state=0)
    >>> model = model.fit(table)
    >>> model.edge_marginals_[:2, 2:].shape  # from before to now
    (2, 2)
    """
    columns = _columns(X)
    before, now = pair_rows(len(next(iter(columns.values()))), sequences)
    earlier = [f"{name}@before" for name in columns]
    later = [f"{name}@now" for name in columns]
    table = {f"{name}@before": x[before] for name, x in columns.items()}
    table |= {f"{name}@now": x[now] for name, x in columns.items()}
    forbidden = [(a, b) for a in (*earlier, *later) for b in earlier if a != b]
    if not within:
        forbidden += [(a, b) for a in later for b in later if a != b]
    if hasattr(X, "columns"):
        return type(X)(table), forbidden
    rows = zip(*(x.tolist() for x in table.values()), strict=True)
    return [dict(zip(table, row, strict=True)) for row in rows], forbidden


def pair_rows(n: int, sequences: Any = None, needed: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of n rows and of the rows after them, within sequences.

    If there are none, that is an error where they are needed.

    Examples
    --------
    >>> before, now = pair_rows(4, ["a", "b", "a", "a"])
    >>> before.tolist(), now.tolist()
    ([0, 2], [2, 3])
    """
    labels = np.zeros(n, int) if sequences is None else np.asarray(sequences)
    if labels.shape != (n,):
        raise ValueError(f"sequences must have one label for each of the {n} rows")
    for row in np.flatnonzero([x is None or x != x for x in labels]):
        raise ValueError(f"sequences has no label in row {row}: each row belongs to a sequence")
    _, codes = np.unique(labels, return_inverse=True)
    order = np.argsort(codes, kind="stable")  # a sequence need not be in one piece
    before, now = order[:-1], order[1:]
    same = codes[before] == codes[now]
    if needed and not same.any():
        raise ValueError(f"no sequence has two rows (n_samples = {n})")
    return before[same], now[same]


def tie_slices(before: np.ndarray, now: np.ndarray, n: int) -> Ties:
    """Return how cells of n rows depend on each other, of which some are pairs in time.

    Rows at even places of their sequences are one wave, and those at odd places another: a cell
    depends on cells of the rows next to it.

    Examples
    --------
    >>> ties = tie_slices(*pair_rows(4, ["a", "b", "a", "a"]), 4)
    >>> ties.before.tolist(), ties.after.tolist()
    ([-1, -1, 0, 2], [2, -1, 3, -1])
    >>> [wave.tolist() for wave in ties.waves]
    [[True, True, False, True], [False, False, True, False]]
    """
    above, below, odd = np.full(n, -1), np.full(n, -1), np.zeros(n, bool)
    above[now], below[before] = before, now
    for i, j in zip(before.tolist(), now.tolist(), strict=True):
        odd[j] = not odd[i]
    return Ties(now, above, below, (~odd, odd))


def first_log_probabilities(
    codes: np.ndarray, missing: np.ndarray, cards: Any, prior: Sequence[float]
) -> tuple[np.ndarray, ...]:
    """Return log P of the categories in a row without a row before: how often they were observed.

    No family speaks of these cells, and where they are missing they need a distribution. `prior`
    are gamma and who shares it.
    """
    out = []
    for j, r in enumerate(cards):
        counts = np.bincount(codes[~missing[:, j], j], minlength=r) + cell_weight(prior, 1, r)
        out.append(np.log(counts / counts.sum()))
    return tuple(out)


def _columns(X: Any) -> dict[str, np.ndarray]:
    """Return the columns of a table by name."""
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        keys = X.columns if hasattr(X, "columns") else X
        columns = {str(name): np.asarray(X[name]) for name in keys}
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must have rows and columns; its shape is {X.shape}")
        columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    if not columns:
        raise ValueError("X has no columns")
    return columns
