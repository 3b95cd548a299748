"""Hyper-parameters from the evidence: Gibbs draws of the positions on their grids.

Given the groups, the columns are independent up to the common level c and the spread tau of
a hyper-parameter:

    P(c, tau, v | groups) ~ P(c) P(tau) prod_d P(v_d | c, tau) prod_k evidence(column d of k; v_d)

A table of the last product, one row for each position on the grid, is all that is needed: c and tau
are drawn with the v_d summed out, then each v_d given them. So a hyper-parameter of a kind of
columns is one exact draw given the others, its common level with it, and a scan visits one after
another. Blind to the family: it knows statistics, slots and `column_evidence`. One base measure
serves all classes, so their groups come together.
"""

from functools import cache

import numpy as np

from infinimix.families.catalogue import modelled
from infinimix.families.grids import GRID, TAUS, learned
from infinimix.families.priors import families_at
from infinimix.families.product import add_columns
from infinimix.families.seam import map_arrays, map_first
from infinimix.kernels.logs import logsumexp


def draw_hyperparameters(rng, layout, prior, pool, grid, groups):
    """Draw every hyper-parameter of a table, given the groups: one Gibbs scan.

    Parameters
    ----------
    rng : Generator or None
        None takes the most probable positions instead of drawing them.
    layout, prior, pool
        As `find_families` takes them.
    grid : dict
        The positions so far, as `families.grids.centred` lays them out; it is not changed.
    groups : list of (stats, slots)
        Statistics of the table's families and the slots that hold a group, class by class.

    Returns
    -------
    grid, common : dict
        New positions, and by block the common level of each hyper-parameter (0 where none is
        drawn).
    """
    grid = {block: positions.copy() for block, positions in grid.items()}
    common = {block: np.zeros(len(positions), np.int64) for block, positions in grid.items()}
    for b, (block, names) in enumerate(layout.names.items()):
        free = learned(names, prior)
        if not free.any() or not modelled(block).grid:
            continue
        stats = gather([(stats[b], slots) for stats, slots in groups])
        for j, hyper in enumerate(modelled(block).grid):
            families = each_position(block, layout, prior, pool[b], grid[block], j)
            table = weigh_positions(families, stats, len(names))[:, free]
            common[block][j], grid[block][j, free] = draw_positions(rng, hyper, table)
    return grid, common


def each_position(block, layout, prior, pool, positions, j):
    """Return the families with hyper-parameter j of all columns at each position in turn."""
    positions = np.repeat(positions[None], len(GRID), axis=0)
    positions[:, j] = GRID[:, None]
    return families_at(block, layout, prior, pool, positions)


def weigh_positions(families, stats, width):
    """Return the log evidence of each column under each family: (families, columns).

    A product of all families in one call, as if each had columns of its own with the same cells.
    """
    table, every = np.zeros((1, len(families) * width)), np.arange(len(map_first(stats)))
    add_columns(tuple(families), (stats,) * len(families), every, 0, table)
    return table.reshape(len(families), width)


def gather(groups):
    """Return the statistics of groups from several tables, as one table."""
    tables, slots = zip(*groups, strict=True)

    def take(*arrays):
        parts = [array[held] for array, held in zip(arrays, slots, strict=True)]
        return np.concatenate(parts)

    return map_arrays(take, *tables)


def draw_positions(rng, hyper, table):
    """Draw a hyper-parameter's common level and its position in each column, as above."""
    levels, log_p, shapes, p = _prior(hyper.tau0)
    with np.errstate(divide="ignore"):  # the widest tau reaches all of them: some sum is positive
        log_p = log_p + np.log(p @ np.exp(table - table.max(axis=0))).sum(axis=1)
    i = _pick(rng, log_p)
    return levels[i // len(TAUS)], GRID[_pick(rng, shapes[i][:, None] + table)]


@cache
def _prior(tau0):
    """Return the levels c; for each and each tau, log P(c, tau), log P(v | c, tau) and the latter.

    P(v | c, tau) has a row for each level and spread, and a column for each position.
    """
    levels, log_p = np.zeros(1, np.int64), np.zeros(1)
    if tau0 > 0.0:
        levels, log_p = GRID, _log_normal(GRID, 0, tau0)
    log_p = np.add.outer(log_p, -np.log(TAUS)).ravel()
    shapes = _log_normal(GRID, levels[:, None, None], TAUS[:, None]).reshape(-1, len(GRID))
    return levels, log_p, shapes, np.exp(shapes)


def _log_normal(v, centre, spread):
    """Return the log probabilities of a Normal that knows only the grid (the last axis)."""
    log_p = -0.5 * ((v - centre) / spread) ** 2
    return log_p - logsumexp(log_p, axis=-1, keepdims=True)


def _pick(rng, log_p):
    """Draw an index along the first axis (with Gumbel's noise), or return the most probable."""
    return np.argmax(log_p if rng is None else log_p + rng.gumbel(size=log_p.shape), axis=0)


def draw_from_prior(rng, layout, prior):
    """Draw positions and common levels from their prior: what to expect before any row.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.families.priors import Layout
    >>> layout = Layout({"binary": ("a", "b", "c")}, np.zeros(0, np.int64))
    >>> grid, common = draw_from_prior(np.random.default_rng(0), layout, "learn")
    >>> grid["binary"].shape, common["binary"].shape
    ((2, 3), (2,))
    """
    grid, common = {}, {}
    for block, names in layout.names.items():
        free = learned(names, prior)
        flat = np.zeros((len(GRID), len(names)))
        drawn = [draw_positions(rng, hyper, flat) for hyper in modelled(block).grid]
        common[block] = np.array([c for c, _ in drawn], np.int64)
        grid[block] = np.array([v * free for _, v in drawn], np.int64).reshape(-1, len(names))
    return grid, common
