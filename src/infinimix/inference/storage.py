"""A bank as a tree of plain values and arrays, and back, bit for bit."""

import numpy as np

from infinimix.families.priors import Layout
from infinimix.families.seam import empty, refresh_all, sound
from infinimix.inference.bank import Bank, Settings
from infinimix.inference.filter import n_particle_rows
from infinimix.inference.soundness import check_population

ARRAYS = ("slots", "mass", "groups", "crowd", "logw", "tally", "u")


def bank_to_tree(bank):
    """Return all that a bank knows."""
    return {
        "settings": bank.settings._asdict(),
        "names": {kind: list(names) for kind, names in bank.layout.names.items()},
        "category_counts": bank.layout.category_counts,
        "entropy": bank.seed.entropy,
        "spawn_key": tuple(bank.seed.spawn_key),
        "sampler": bank.sampler(),
        "n_rows": bank.n_rows,
        "pool": _counts(bank.pool),
        "classes": [[_filter_to_tree(f) for f in islands] for islands in bank.classes],
    }


def bank_from_tree(tree):
    """Return the bank that `bank_to_tree` described."""
    names = {kind: tuple(names) for kind, names in tree["names"].items()}
    layout = Layout(names, np.asarray(tree["category_counts"], np.int64))
    seed = np.random.SeedSequence(tree["entropy"], spawn_key=tree["spawn_key"])
    bank = Bank(Settings(**tree["settings"]), layout, seed)
    bank.n_rows, bank._sampler = int(tree["n_rows"]), _generator(tree["sampler"])
    bank.pool = _statistics(bank.shape, 2, tree["pool"])  # counts only: nothing is scored in it
    bank.family = bank._estimate()
    for islands in tree["classes"]:
        _check_size(bank.settings, islands)
        bank.add_class()
        for f, saved in zip(bank.classes[-1], islands, strict=True):
            _restore_filter(f, saved)
    rows = [{f.n_rows for f in islands} for islands in bank.classes]
    if any(len(counts) != 1 for counts in rows) or sum(map(sum, rows)) != bank.n_rows:
        raise ValueError("its classes do not add up to its rows")
    return bank


def _filter_to_tree(f):
    return {name: getattr(f, name) for name in ARRAYS} | {"rng": f.rng, "stats": _counts(f.stats)}


def _check_size(settings, islands):
    """Raise ValueError, before room is made, if the islands are not as many and as large."""
    size = n_particle_rows(settings.n_particles, settings.resampling)
    if len(islands) != settings.n_islands or any(len(saved["logw"]) != size for saved in islands):
        raise ValueError("its particles are not as many as it says")


def _restore_filter(f, tree):
    for name in ARRAYS:
        current, saved = getattr(f, name), tree[name]
        if saved.dtype != current.dtype or saved.ndim != current.ndim:
            raise ValueError(f"{name} has the wrong shape")
        setattr(f, name, np.ascontiguousarray(saved))
    check_population(f)
    f.rng = _generator(tree["rng"])
    f.stats = _statistics(f.family, f.slots.shape[1], tree["stats"])
    refresh_all(f.family, f.stats, f.slots.shape[1])


def _counts(stats):
    """Return what must be remembered of each family; `refresh` makes the rest of it."""
    return [own.n for own in stats]


def _statistics(family, slots, counts):
    """Return statistics with these counts."""
    stats = empty(family, slots)
    for own, saved in zip(stats, counts, strict=True):
        if saved.shape != own.n.shape or saved.dtype != own.n.dtype:
            raise ValueError(f"statistics of shape {saved.shape}, expected {own.n.shape}")
        own.n[:] = saved
    if not sound(family, stats):
        raise ValueError("statistics that no rows have")
    return stats


def _generator(value):
    if not isinstance(value, np.random.Generator):
        raise ValueError("a random generator is lacking")
    return value
