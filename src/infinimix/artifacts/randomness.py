"""NumPy's random generators as plain values, and back, to continue bit for bit.

A Generator is its bit generator's state and the seed sequence that its
``spawn`` draws children from; both are kept. States from a file are checked,
because the C code behind them trusts its position counters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import BitGenerator, Generator, SeedSequence

from infinimix.artifacts.errors import ArtifactError, damage_in

BIT_GENERATORS: dict[str, type[BitGenerator]] = {
    each.__name__: each
    for each in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
        np.random.MT19937,
    )
}

# The work of a SeedSequence grows with the square of its pool; NumPy's default is 4.
MAX_POOL = 1024


def describe_generator(bits: BitGenerator) -> dict[str, Any]:
    """All that a bit generator will do next, as a plain dict and a SeedSequence."""
    name = type(bits).__name__
    if BIT_GENERATORS.get(name) is not type(bits):
        known = ", ".join(BIT_GENERATORS)
        raise ArtifactError(f"cannot store the bit generator {name}; use one of {known}")
    seed = getattr(bits, "seed_seq", None)
    if seed is not None and type(seed) is not SeedSequence:
        raise ArtifactError(f"cannot store a seed of type {type(seed).__name__}; use SeedSequence")
    return {"state": bits.state, "seed": seed}


def restore_generator(fields: Any) -> Generator:
    """Generator whose next draws and spawns are those of the one described.

    A generator without a seed sequence (seeded by NumPy's legacy code) cannot
    spawn; the restored one draws the same, and spawns from fresh entropy.
    """
    with damage_in("the state of a random generator"):
        state, seed = fields["state"], fields["seed"]
        if seed is not None and type(seed) is not SeedSequence:
            raise ValueError("its seed is not a SeedSequence")
        _check_positions(state)
        bits: Any = BIT_GENERATORS[state["bit_generator"]](seed)
        bits.state = state
        return Generator(bits)


def _check_positions(state: dict[str, Any]) -> None:
    name = state["bit_generator"]
    if name == "MT19937" and not 0 <= state["state"]["pos"] <= len(state["state"]["key"]) == 624:
        raise ValueError("position out of range")
    if name == "Philox" and not 0 <= state["buffer_pos"] <= len(state["buffer"]) == 4:
        raise ValueError("position out of range")


def describe_seed(seed: SeedSequence) -> dict[str, Any]:
    """All that a seed sequence will do next, as a plain dict."""
    if seed.pool_size > MAX_POOL:
        raise ArtifactError(f"cannot store a SeedSequence with a pool above {MAX_POOL}")
    return {
        "entropy": seed.entropy,
        "spawn_key": tuple(seed.spawn_key),
        "pool_size": seed.pool_size,
        "n_children_spawned": seed.n_children_spawned,
    }


def restore_seed(fields: Any) -> SeedSequence:
    """SeedSequence that generates and spawns as the one described."""
    with damage_in("a seed sequence"):
        if fields["entropy"] is None or not 4 <= fields["pool_size"] <= MAX_POOL:
            raise ValueError("entropy or pool_size out of range")
        return SeedSequence(**fields)
