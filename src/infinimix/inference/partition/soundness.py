"""Do the arrays of a population fit together? Asked of arrays that come from a file.

The kernels trust their arrays: an index outside of one would crash the process or corrupt
memory. What a filter leaves behind always passes; anything else is refused.
"""

import numpy as np

from infinimix.inference.partition import population
from infinimix.inference.partition.filter import is_n_to_m, n_particle_rows


def check_population(f):
    """Raise ValueError if the arrays of a filter contradict each other."""
    if not (_shapes_agree(f) and _slots_are_listed(f) and _particles_are_whole(f)):
        raise ValueError("the particles of a filter do not fit together")


def _shapes_agree(f):
    slots, (particles, columns) = f.slots.shape[1], f.groups.shape
    return (
        f.slots.shape[0] == 5
        and f.counters.shape == (6,)
        and f.mass.shape == (3, slots)
        and f.particles.shape == (4, particles)
        and f.logw.shape == (particles,)
        and particles == n_particle_rows(f.size, f.resampling)
        and f.counters[population.ROWS] >= 0
        and 1 <= f.counters[population.LIVE] <= slots
        and 1 <= f.counters[population.UNIQUE] <= particles
        and 1 <= f.counters[population.WIDEST] <= columns
        and 0 <= f.counters[population.USED] <= len(f.u)
        and len(f.u) > 2 * f.size
        and bool(((f.u >= 0.0) & (f.u < 1.0)).all())
    )


def _slots_are_listed(f):
    """Is the order of the slots a permutation, with its inverse beside it?"""
    order, every = f.slots[population.ORDER], np.arange(f.slots.shape[1])
    return (
        (np.sort(order) == every).all()
        and (f.slots[population.PLACE, order] == every).all()
        and (f.slots[population.CHOSEN] == 0).all()
    )


def _particles_are_whole(f):
    """Do the particles hold live groups, as often as these say, with all rows in them?"""
    unique, n_live = f.counters[population.UNIQUE], f.counters[population.LIVE]
    live = f.slots[population.ORDER, :n_live]
    sizes, copies = f.particles[population.SIZE, :unique], f.particles[population.COPIES, :unique]
    if not ((sizes >= 1) & (sizes <= f.counters[population.WIDEST])).all() or (copies < 1).any():
        return False
    held = [f.groups[r, :size] for r, size in enumerate(sizes)]
    every = np.concatenate(held)
    if (every < 0).any() or (every >= f.slots.shape[1]).any():
        return False
    references = np.bincount(every, minlength=f.slots.shape[1])
    references[0] += 1  # the empty group is never let go
    mass = f.mass[population.MASS]
    return (
        all(groups[0] == 0 and len(set(groups.tolist())) == len(groups) for groups in held)
        and set(live.tolist()) == set(every.tolist())
        and (f.slots[population.REF, live] == references[live]).all()
        and np.isfinite(f.logw[:unique]).all()
        and copies.sum() <= (f.size + 1 if is_n_to_m(f.resampling) else f.size)  # by rounding
        and bool((mass[live] > 0.0).all() and mass[live[live > 0]].min(initial=1.0) >= 1.0)
        and all(mass[groups[1:]].sum() == f.counters[population.ROWS] for groups in held)
    )
