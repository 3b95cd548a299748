"""A bank as a tree of plain values and arrays, and back, bit for bit."""

import numpy as np

from infinimix.families.priors import Layout
from infinimix.families.seam import empty, map_arrays
from infinimix.inference.bank import Bank, Settings
from infinimix.inference.population import CHOSEN, COPIES, MASS, ORDER, PLACE, SIZE

ARRAYS = ("slots", "mass", "groups", "crowd", "logw", "tally", "u")


def bank_to_tree(bank):
    """Return all that a bank knows."""
    prior = bank.settings.prior
    return {
        "settings": {**bank.settings._asdict(), "prior": dict(prior) if _is_map(prior) else prior},
        "names": {kind: list(names) for kind, names in bank.layout.names.items()},
        "category_counts": bank.layout.category_counts,
        "entropy": bank.seed.entropy,
        "spawn_key": tuple(bank.seed.spawn_key),
        "sampler": bank.sampler(),
        "n_rows": bank.n_rows,
        "pool": _arrays(bank.pool),
        "classes": [[_filter_to_tree(f) for f in islands] for islands in bank.classes],
    }


def bank_from_tree(tree):
    """Return the bank that `bank_to_tree` described."""
    names = {kind: tuple(names) for kind, names in tree["names"].items()}
    layout = Layout(names, np.asarray(tree["category_counts"], np.int64))
    seed = np.random.SeedSequence(tree["entropy"], spawn_key=tree["spawn_key"])
    bank = Bank(Settings(**tree["settings"]), layout, seed)
    bank.n_rows, bank._sampler = int(tree["n_rows"]), tree["sampler"]
    bank.pool = _fill(bank.pool, iter(tree["pool"]))
    bank.family = bank._estimate()
    for islands in tree["classes"]:
        bank.add_class()
        for f, part in zip(bank.classes[-1], islands, strict=True):
            _restore_filter(f, part)
    return bank


def _filter_to_tree(f):
    # what is derived (the parts that `refresh` fills) is kept too: its bits depend on history
    return {name: getattr(f, name) for name in ARRAYS} | {"rng": f.rng, "stats": _arrays(f.stats)}


def _restore_filter(f, tree):
    for name in ARRAYS:
        current, saved = getattr(f, name), tree[name]
        if saved.dtype != current.dtype or saved.ndim != current.ndim:
            raise ValueError(f"{name} has the wrong shape")
        setattr(f, name, np.ascontiguousarray(saved))
    check_population(f)
    f.rng = tree["rng"]
    f.rng.random  # noqa: B018 (no generator, no model)
    f.stats = _fill(empty(f.family, f.slots.shape[1]), iter(tree["stats"]))


def check_population(f):
    """Raise ValueError if the arrays could lead a kernel outside of them."""
    (rows, live, unique, widest, used, _), slots = f.tally, f.slots.shape[1]
    particles, columns = f.groups.shape
    sizes = f.crowd[SIZE, :unique]
    order = f.slots[ORDER]
    sound = (
        f.slots.shape[0] == 5
        and f.mass.shape == (3, slots)
        and f.crowd.shape == (4, particles)
        and f.logw.shape == (particles,)
        and particles >= (2 * f.size + 1 if f.resampling == "optimal" else f.size)
        and rows >= 0
        and 1 <= live <= slots
        and 1 <= unique <= particles
        and 1 <= widest <= columns
        and 0 <= used <= len(f.u)
        and len(f.u) > 2 * f.size
        and ((sizes >= 1) & (sizes <= widest)).all()
        and ((f.groups >= 0) & (f.groups < slots)).all()
        and (np.sort(order) == np.arange(slots)).all()
        and (f.slots[PLACE, order] == np.arange(slots)).all()
        and (f.slots[CHOSEN] == 0).all()
        and (f.crowd[COPIES, :unique] >= 1).all()
        and f.crowd[COPIES, :unique].sum() <= max(f.size, 2 * f.size * (f.resampling == "optimal"))
        and np.isfinite(f.logw[:unique]).all()
        and np.isfinite(f.mass[MASS]).all()
    )
    if not sound:
        raise ValueError("the particles of a filter do not fit together")


def _arrays(stats):
    found = []
    map_arrays(found.append, stats)
    return found


def _fill(stats, arrays):
    """Return statistics of the same nest with these arrays; their shapes must agree."""

    def check(old):
        new = next(arrays)
        if new.shape != old.shape or new.dtype != old.dtype:
            raise ValueError(f"statistics of shape {new.shape}, expected {old.shape}")
        return np.ascontiguousarray(new)

    return map_arrays(check, stats)


def _is_map(value):
    return hasattr(value, "items")
