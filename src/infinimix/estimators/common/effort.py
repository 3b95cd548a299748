"""How hard to try: islands, particles and sweeps for a given budget.

Measured on real tables and on mixtures that are what they claim to be (docs/benchmarks.md):
real data are never what a model claims, so islands that err apart are worth more than the
particles of one island, and a few particles are worth more than none.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Effort(NamedTuple):
    """What `effort` decides where the user has not."""

    n_particles: int
    n_islands: int
    sweeps: int


EFFORTS = {
    "fast": Effort(n_particles=1, n_islands=4, sweeps=0),
    "default": Effort(n_particles=4, n_islands=16, sweeps=0),
    "thorough": Effort(n_particles=4, n_islands=16, sweeps=20),
}


def resolve_effort(estimator: Any) -> Effort:
    """Return the numbers to work with: those given, the others by `effort`."""
    chosen = EFFORTS[estimator.effort]
    given = {name: getattr(estimator, name) for name in Effort._fields}
    return chosen._replace(**{k: int(v) for k, v in given.items() if v is not None})
