"""Hyper-parameters from the evidence: Gibbs draws of the dials of the base measure.

Given the groups, the columns are independent but for the common level c and the spread tau of
a dial:

    P(c, tau, v | groups) ~ P(c) P(tau) prod_d P(v_d | c, tau) prod_k evidence(column d of k; v_d)

A table of the last product, one row for each notch of the grid, is all that is needed: c and tau
are drawn with the v_d summed out, then each v_d given them. So a dial of a kind of columns is one
exact draw given the other dials, its common level with it, and a scan visits one after another.
Blind to the family: it knows statistics, slots and `column_evidence`. One base measure serves
all classes, so their groups come together.
"""

import numpy as np

from infinimix.families.grids import DIALS, GRID, TAUS, learned
from infinimix.families.priors import find_family
from infinimix.families.product import add_columns
from infinimix.families.seam import map_arrays, map_first
from infinimix.kernels.logs import logsumexp


def turn_dials(rng, layout, prior, pool, dials, groups):
    """Draw every dial of a table, given the groups: one Gibbs scan.

    Parameters
    ----------
    rng : Generator or None
        None takes the most probable notches instead of drawing them.
    layout, prior, pool
        As `find_families` takes them.
    dials : dict
        The notches so far, as `families.grids.untouched` lays them out; it is not changed.
    groups : list of (stats, slots)
        Statistics of the table's families and the slots that hold a group, class by class.

    Returns
    -------
    dials, common : dict
        New notches, and by kind the common level of each dial (0 where none is drawn).
    """
    dials = {kind: notches.copy() for kind, notches in dials.items()}
    common = {kind: np.zeros(len(notches), np.int64) for kind, notches in dials.items()}
    for block, (kind, names) in enumerate(layout.names.items()):
        free = learned(names, prior)
        own = [(stats[block], slots) for stats, slots in groups]
        for j, dial in enumerate(DIALS.get(kind, ())):
            if free.any():
                families = each_notch(kind, layout, prior, pool[block], dials[kind], j)
                table = weigh_notches(families, own, len(names))[:, free]
                common[kind][j], dials[kind][j, free] = turn_dial(rng, dial, table)
    return dials, common


def each_notch(kind, layout, prior, pool, notches, j):
    """Yield the family with dial j of all columns at each notch of the grid in turn."""
    notches = notches.copy()
    for notches[j] in GRID:
        yield find_family(kind, layout, prior, pool, notches)


def weigh_notches(families, groups, width):
    """Return the log evidence of each column under each family: (families, columns)."""
    table, stats = np.zeros((len(GRID), width)), gather(groups)
    every = np.arange(len(map_first(stats)))
    for j, family in enumerate(families):
        add_columns(family, stats, every, 0, table[j:])
    return table


def gather(groups):
    """Return the statistics of groups from several tables, as one table."""
    tables, slots = zip(*groups, strict=True)

    def take(*arrays):
        parts = [array[held] for array, held in zip(arrays, slots, strict=True)]
        return np.concatenate(parts)

    return map_arrays(take, *tables)


def turn_dial(rng, dial, table):
    """Draw a dial's common level and its notch in each column; see the formula above."""
    levels, log_p = np.zeros(1, np.int64), np.zeros(1)
    if dial.tau0 > 0.0:
        levels, log_p = GRID, _log_normal(GRID, 0, dial.tau0)
    log_p = np.add.outer(log_p, -np.log(TAUS)).ravel()  # of c and tau together
    shapes = _log_normal(GRID, levels[:, None, None], TAUS[:, None]).reshape(-1, len(GRID))
    with np.errstate(divide="ignore"):  # the widest tau reaches every notch: some sum is positive
        log_p += np.log(np.exp(shapes) @ np.exp(table - table.max(axis=0))).sum(axis=1)
    i = _pick(rng, log_p)
    return levels[i // len(TAUS)], GRID[_pick(rng, shapes[i][:, None] + table)]


def _log_normal(v, centre, spread):
    """Return the log probabilities of a Normal that knows only the grid (the last axis)."""
    log_p = -0.5 * ((v - centre) / spread) ** 2
    return log_p - logsumexp(log_p, axis=-1, keepdims=True)


def _pick(rng, log_p):
    """Draw an index along the first axis (with Gumbel's noise), or return the most probable."""
    return np.argmax(log_p if rng is None else log_p + rng.gumbel(size=log_p.shape), axis=0)


def draw_dials(rng, layout, prior):
    """Draw dials and common levels from their prior: what to expect before any row.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.families.priors import Layout
    >>> layout = Layout({"binary": ("a", "b", "c")}, np.zeros(0, np.int64))
    >>> dials, common = draw_dials(np.random.default_rng(0), layout, "learn")
    >>> dials["binary"].shape, common["binary"].shape
    ((2, 3), (2,))
    """
    dials, common = {}, {}
    for kind, names in layout.names.items():
        free = learned(names, prior)
        flat = np.zeros((len(GRID), len(names)))
        drawn = [turn_dial(rng, dial, flat) for dial in DIALS.get(kind, ())]
        common[kind] = np.array([c for c, _ in drawn], np.int64)
        dials[kind] = np.array([v * free for _, v in drawn], np.int64).reshape(-1, len(names))
    return dials, common
