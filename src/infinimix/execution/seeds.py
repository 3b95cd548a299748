"""Seeds for tasks: independent streams from one, whoever runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import SeedSequence


def spawn(seed: SeedSequence, n: int) -> list[SeedSequence]:
    """Return `n` independent children of `seed`, which remembers how many it has had.

    Spawning twice therefore gives other children than spawning once: make a seed sequence
    anew to repeat a run.

    Examples
    --------
    >>> from numpy.random import SeedSequence
    >>> [child.spawn_key for child in spawn(SeedSequence(0), 2)]
    [(0,), (1,)]
    """
    return seed.spawn(n)
