"""A bank as a tree of plain values and arrays, and back, bit for bit."""

from functools import partial

import numpy as np

from infinimix.families.grids import GRID
from infinimix.families.priors import Layout
from infinimix.families.product import refresh_all
from infinimix.families.seam import empty, sound
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.inference.ensemble.label_hypotheses import LabelHypothesis, distinct
from infinimix.inference.partition.filter import n_particle_rows
from infinimix.inference.partition.population import SIZE
from infinimix.inference.partition.soundness import check_population
from infinimix.tables.column import record_of

ARRAYS = {  # what files call the arrays of a filter
    "slots": "slots", "mass": "mass", "groups": "groups", "crowd": "particles", "logw": "logw",
    "tally": "counters", "u": "u",
}  # fmt: skip


def bank_to_tree(bank):
    """Return all that a bank knows."""
    return {
        "settings": bank.settings._asdict(),
        **bank.layout.to_tree(),
        "entropy": bank.seed.entropy,
        "spawn_key": tuple(bank.seed.spawn_key),
        "sampler": bank.sampler(),
        "n_rows": bank.n_rows,
        "n_drawn": bank.n_drawn,
        "n_branched": bank.n_branched,
        "labelled": bank.labelled,
        "pool": _counts(bank.pool),
        "islands": [_island_to_tree(island) for island in bank.islands],
    }


def bank_from_tree(tree):
    """Return the bank that `bank_to_tree` described."""
    layout, settings = Layout.from_tree(tree), Settings(**tree["settings"])
    seed = np.random.SeedSequence(tree["entropy"], spawn_key=tree["spawn_key"])
    if len(tree["islands"]) != settings.n_islands:  # before they are made
        raise ValueError("its islands are not as many as it says")
    bank = Bank(settings, layout, seed)
    bank.n_rows, bank._sampler = int(tree["n_rows"]), _generator(tree["sampler"])
    bank.pool = statistics(bank.shape, 2, tree["pool"])  # counts only: nothing is scored in it
    base = bank._base()
    for island, saved in zip(bank.islands, tree["islands"], strict=True):
        _restore_island(island, base, saved)
    bank.n_classes = len(bank.islands[0].filters)
    if len({len(h.filters) for island in bank.islands for h in island.hypotheses}) != 1:
        raise ValueError("its islands do not have the same classes")
    _restore_rows(bank, tree)
    return bank


def _restore_rows(bank, tree):
    """Restore which rows had labels; raise unless all hypotheses have as many rows, and those."""
    bank.n_drawn, bank.n_branched = int(tree.get("n_drawn", 0)), int(tree.get("n_branched", 0))
    rows = np.array([h.rows for island in bank.islands for h in island.hypotheses], np.int64)
    labelled = tree.get("labelled", rows.min(axis=0, initial=bank.n_rows))
    if labelled.shape != (bank.n_classes,) or labelled.dtype != np.int64:
        raise ValueError("its classes do not add up to its rows")
    without = bank.n_rows - int(labelled.sum())
    sound = (
        bool((rows.sum(axis=1) == bank.n_rows).all() and (labelled <= rows).all())
        and labelled.min(initial=0) >= 0
        and 0 <= bank.n_branched <= bank.n_drawn <= bank.n_rows
        and (without == bank.n_drawn if "labelled" in tree else without <= bank.n_drawn)
    )
    if not sound:
        raise ValueError("its classes do not add up to its rows")
    bank.labelled = labelled


def _island_to_tree(island):
    """Return an island; filters that hypotheses share are written once."""
    C, pairs, places = len(island.filters), [], {}
    for c in range(C):
        for f, window in distinct(island.hypotheses, c):
            places[id(f)] = len(pairs)
            pairs.append((c, f, window))
    held = [[places[id(f)] for f in h.filters] for h in island.hypotheses]
    return {
        "rng": island.rng,
        "label_rng": island.label_rng,
        "alpha": island.alpha,
        "dials": island.positions,
        "filters": [_filter_to_tree(f) for _, f, _ in pairs],
        "windows": [{"blocks": list(w.blocks), "z": w.z} for _, _, w in pairs],
        "worlds": np.array(held, np.int64).reshape(len(held), C),
        "log_chances": np.array([h.log_chance for h in island.hypotheses]),
    }


def _restore_island(island, base, tree):
    island.rng, island.alpha = _generator(tree["rng"]), float(tree["alpha"])
    if tree["dials"].keys() != island.positions.keys() or not 0.0 < island.alpha < np.inf:
        raise ValueError("hyper-parameters that no rows have")
    for kind, own in island.positions.items():
        saved = tree["dials"][kind]
        if (saved.shape, saved.dtype) != (own.shape, own.dtype) or not _on_grid(saved):
            raise ValueError("hyper-parameters that are not on their grid")
        own[:] = saved
    island.family = base.families(island.positions)
    if len(tree["windows"]) != len(tree["filters"]):
        raise ValueError("its windows and filters do not have the same classes")
    pairs = [
        _restore_pair(island, base, *saved)
        for saved in zip(tree["filters"], tree["windows"], strict=True)
    ]
    _restore_hypotheses(island, tree, pairs)


def _restore_pair(island, base, saved, saved_window):
    size = n_particle_rows(island.settings.n_particles, island.settings.resampling)
    if len(saved["logw"]) != size:  # before room is made
        raise ValueError("its particles are not as many as it says")
    f, window = island.new_filter(0)
    _restore_filter(f, saved)
    if f.alpha != island.alpha:
        raise ValueError("its filters do not have the alpha of their island")
    _restore_window(f, window, saved_window, base.layout)
    return f, window


def _restore_hypotheses(island, tree, pairs):
    """Restore which hypothesis has which filters; each is of one class, and held by some."""
    island.label_rng = _generator(tree.get("label_rng", island.label_rng))
    held = tree.get("worlds", np.arange(len(pairs))[None])
    log_chances = tree.get("log_chances", np.zeros(len(held)))
    sound = (
        held.ndim == 2 and held.dtype == np.int64 and log_chances.shape == held.shape[:1]
        and 1 <= len(held) <= max(island.settings.n_label_particles, 1)
        and bool((np.isfinite(log_chances) & (log_chances <= 0.0)).all())
        and np.array_equal(np.unique(held), np.arange(len(pairs)))
        and sum(len(np.unique(column)) for column in held.T) == len(pairs)
    )  # fmt: skip
    if not sound:
        raise ValueError("its hypotheses do not hold its filters")
    island.hypotheses = [
        LabelHypothesis([pairs[j][0] for j in row], [pairs[j][1] for j in row], float(chance))
        for row, chance in zip(held, log_chances, strict=True)
    ]


def _restore_window(f, window, tree, layout):
    """Restore the latest rows; those that kernels could not take are refused."""
    window.blocks, window.z = tuple(map(np.ascontiguousarray, tree["blocks"])), tree["z"]
    if window.z.dtype != np.int64 or window.z.ndim != 2 or window.z.shape[1] > window.size:
        raise ValueError("its latest rows are too many")
    if window.z.shape[1] == 0 and not window.blocks:
        return
    sizes = f.particles[SIZE, : f.n_particles]
    sound = (
        len(window.z) == f.n_particles
        and bool((window.z >= 1).all() and (window.z < sizes[:, None]).all())
        and len(window.blocks) == len(layout.names)
        and all(map(partial(fits, layout, window.z.shape[1]), window.blocks, layout.names))
    )
    if not sound:
        raise ValueError("its latest rows are not in its groups")


def fits(layout, rows, block, kind):
    """Can the family of these columns take the cells of a block?"""
    record = record_of(kind)
    whole = record.discrete
    if block.shape != (rows, len(layout.names[kind])) or (block.dtype.kind == "f") == whole:
        return False
    most = np.array([1]) if record.two_valued else layout.category_counts - 1
    return not whole or bool((block >= -1).all() and (block <= most).all())


def _on_grid(own):
    return bool(((own >= GRID[0]) & (own <= GRID[-1])).all())


def _filter_to_tree(f):
    arrays = {name: getattr(f, field) for name, field in ARRAYS.items()}
    return arrays | {"rng": f.rng, "stats": _counts(f.stats)}


def _restore_filter(f, tree):
    for name, field in ARRAYS.items():
        current, saved = getattr(f, field), tree[name]
        if saved.dtype != current.dtype or saved.ndim != current.ndim:
            raise ValueError(f"{name} has the wrong shape")
        setattr(f, field, np.ascontiguousarray(saved))
    check_population(f)
    f.rng = _generator(tree["rng"])
    f.stats = statistics(f.family, f.slots.shape[1], tree["stats"])
    refresh_all(f.family, f.stats, f.slots.shape[1])


def _counts(stats):
    """Return what must be remembered of each family; `refresh` makes the rest of it."""
    return [own.n for own in stats]


def statistics(family, slots, counts):
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
