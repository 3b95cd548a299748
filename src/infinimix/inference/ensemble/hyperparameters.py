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
from infinimix.families.product import engine
from infinimix.families.reweighing import Along, weigh_along, weigh_one_by_one
from infinimix.kernels.compile import INTERPRETED
from infinimix.kernels.logs import logsumexp


def draw_hyperparameters(rng, base, grid, groups):
    """Draw every hyper-parameter of a table, given the groups: one Gibbs scan.

    Parameters
    ----------
    rng : Generator or None
        None takes the most probable positions instead of drawing them.
    base : Base
        The priors of the columns, wherever they are on the grid.
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
    scan = scan_one_by_one if INTERPRETED else scan_block
    for b, (block, own) in enumerate(base.blocks.items()):
        if own.moves:
            stats = gather([(stats[b], slots) for stats, slots in groups])
            scan(rng, own, grid[block], stats, common[block])
    return grid, common


def gather(groups):
    """Return the statistics of groups from several tables, as one table.

    That is, what was counted: the evidence depends on nothing else, and the other arrays are those
    of the first table.
    """
    counted = [stats.n[slots] for stats, slots in groups]
    return groups[0][0]._replace(n=np.concatenate(counted))


def scan_block(rng, own, positions, stats, common):
    """Draw the hyper-parameters of a block one after another, in place."""
    free, along = own.free.nonzero()[0], Along(stats)
    for j, hyper in enumerate(own.hypers):
        levels, log_p, shapes, p = _prior(hyper.tau0)
        size = len(log_p) + len(GRID) * len(free)
        noise = np.zeros(size) if rng is None else rng.gumbel(size=size)
        table, drawn = np.zeros((len(GRID), own.width)), np.zeros(1 + len(free), np.int64)
        product = along(own.each(positions, j))
        draw_along.run(*product, len(stats.n), free, log_p, shapes, p, noise, table, drawn)
        common[j] = levels[drawn[0] // len(TAUS)]
        positions[j, free] = GRID[drawn[1:]]


@engine("column_evidence")
def draw_along(family, steps, n_groups, free, log_p, shapes, p, noise, table, drawn):
    """Draw level and spread of a hyper-parameter, and its position in each free column, by indices.

    That is `weigh_positions` and `draw_positions` in one; the table of evidence is left too.
    """
    weigh_along(family, steps, n_groups, table)
    n, width = table.shape[0], free.shape[0]
    total = np.empty(log_p.shape[0])
    for i in range(total.shape[0]):
        total[i] = log_p[i] + noise[i]
    likelihood = np.empty(n)
    for d in free:
        top = -np.inf
        for v in range(n):
            top = max(top, table[v, d])
        for v in range(n):
            likelihood[v] = np.exp(table[v, d] - top)
        for i in range(total.shape[0]):
            together = 0.0
            for v in range(n):
                together += p[i, v] * likelihood[v]
            total[i] += np.log(together)  # -inf if the spread is too small to reach the column
    best = 0  # by a loop: what `argmax` needs of numba would be loaded with the machine code
    for i in range(total.shape[0]):
        if total[i] > total[best]:
            best = i
    drawn[0] = best
    for j in range(width):
        top = -np.inf
        for v in range(n):
            found = shapes[best, v] + table[v, free[j]] + noise[total.shape[0] + v * width + j]
            if found > top:
                top, drawn[1 + j] = found, v


def scan_one_by_one(rng, own, positions, stats, common):
    """Do what `scan_block` does, step by step."""
    for j, hyper in enumerate(own.hypers):
        table = weigh_positions(own.each(positions, j), stats, own.width)[:, own.free]
        common[j], positions[j, own.free] = draw_positions(rng, hyper, table)


def weigh_positions(families, stats, width):
    """Return the log evidence of each column under each family: (families, columns).

    The families are stacked, as `seam.prior_finder` says.
    """
    table = np.zeros((len(GRID), width))
    weigh_one_by_one(families, stats, table)
    return table


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
