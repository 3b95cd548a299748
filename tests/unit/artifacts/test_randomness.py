"""Generators go on where they were: their draws, their spawns, and what they share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, SeedSequence

from infinimix.artifacts import ArtifactError
from infinimix.artifacts.randomness import (
    BIT_GENERATORS,
    describe_generator,
    restore_generator,
    restore_seed,
)


def draws(rng: Generator) -> list[Any]:
    """Draws of several kinds; 32-bit ones use half a word that the state must keep."""
    small = rng.integers(0, 1000, 3, dtype=np.uint32).tolist()
    return [small, rng.random(700).tolist(), rng.normal(size=5).tolist()]


@pytest.mark.parametrize("name", BIT_GENERATORS)
@pytest.mark.parametrize("used", [0, 1, 2, 3, 623, 624, 625])
def test_a_generator_continues_bit_for_bit(name: str, used: int, dumps: Any, loads: Any) -> None:
    rng = Generator(BIT_GENERATORS[name](5))
    rng.integers(0, 9, used, dtype=np.uint32)
    rng.integers(0, 9, dtype=np.uint32)
    again = loads(dumps(rng))
    assert type(again.bit_generator) is type(rng.bit_generator)
    assert draws(again) == draws(rng)


@pytest.mark.parametrize("name", BIT_GENERATORS)
def test_spawning_continues_too(name: str, dumps: Any, loads: Any) -> None:
    rng = Generator(BIT_GENERATORS[name](5))
    rng.spawn(3)
    again = loads(dumps(rng))
    assert draws(again.spawn(2)[1]) == draws(rng.spawn(2)[1])


def test_shared_generators_stay_shared(dumps: Any, loads: Any) -> None:
    rng = np.random.default_rng(0)
    again = loads(dumps({"a": rng, "b": [rng]}))
    assert again["a"] is again["b"][0]


def test_a_seed_shared_by_two_generators_stays_shared(dumps: Any, loads: Any) -> None:
    seed = SeedSequence(7)
    pair = [Generator(np.random.PCG64(seed)), Generator(np.random.SFC64(seed)), seed]
    one, other, again = loads(dumps(pair))
    assert one.bit_generator.seed_seq is other.bit_generator.seed_seq is again


@pytest.mark.parametrize("entropy", [0, 2**127 + 1, [1, 2, 3], np.arange(3, dtype=np.uint32)])
def test_a_seed_sequence_continues(entropy: Any, dumps: Any, loads: Any) -> None:
    seed = SeedSequence(entropy, spawn_key=(4, 2), pool_size=8)
    seed.spawn(2)
    again = loads(dumps(seed))
    assert again.generate_state(9).tolist() == seed.generate_state(9).tolist()
    assert again.spawn(1)[0].spawn_key == seed.spawn(1)[0].spawn_key == (4, 2, 2)


def test_a_generator_without_a_seed_sequence_draws_the_same(dumps: Any, loads: Any) -> None:
    bits = np.random.MT19937()
    bits._legacy_seeding(3)
    rng = Generator(bits)
    assert draws(loads(dumps(rng))) == draws(rng)


def test_unknown_bit_generators_are_refused(dumps: Any) -> None:
    class MyBits(np.random.PCG64):
        pass

    with pytest.raises(ArtifactError, match=r"tree\['rng'\].*MyBits"):
        dumps({"rng": Generator(MyBits(0))})


@pytest.mark.parametrize(("name", "position"), [("MT19937", 625), ("MT19937", -1), ("Philox", -9)])
def test_positions_that_would_leave_the_buffer_are_refused(name: str, position: int) -> None:
    fields = describe_generator(BIT_GENERATORS[name](0))
    state = fields["state"]
    if name == "MT19937":
        state["state"]["pos"] = position
    else:
        state["buffer_pos"] = position
    with pytest.raises(ArtifactError, match="out of range"):
        restore_generator(fields)


SEED = {"entropy": 1, "spawn_key": (), "pool_size": 4, "n_children_spawned": 0}
ABSURD = [{"pool_size": 10**9}, {"entropy": None}, {"entropy": "x"}, {"n_children_spawned": -1}]


@pytest.mark.parametrize("change", ABSURD)
def test_absurd_seeds_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ArtifactError, match="seed sequence is damaged"):
        restore_seed(SEED | change)


@pytest.mark.parametrize("state", [{}, None, {"bit_generator": "os.system"}, {"bit_generator": []}])
def test_absurd_states_are_refused(state: Any) -> None:
    with pytest.raises(ArtifactError, match="random generator is damaged"):
        restore_generator({"state": state, "seed": None})
