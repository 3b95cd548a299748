"""Everything a fitted model knows, as flat pairs of a name and a value, to compare bit by bit."""

import numpy as np

from infinimix.families.seam import map_arrays
from infinimix.inference.partition.population import LIVE, ORDER, ROWS, SIZE, UNIQUE


def _leaves(prefix, tree):
    found = []
    map_arrays(found.append, tree)
    return {f"{prefix}{k}": array.copy() for k, array in enumerate(found)}


def _generator(rng):
    return str(rng.bit_generator.state)


def _filter(prefix, f):
    """All arrays of a filter.

    A class that is announced before its first row is made ready for every base measure that
    comes and goes until then, and slots without a group keep the traces; nobody reads them,
    so of slots and particles only those in use are compared.
    """
    live = np.sort(f.slots[ORDER, : f.counters[LIVE]])
    unique = f.counters[UNIQUE]
    state = {
        "shapes": tuple(a.shape for a in (f.slots, f.mass, f.groups, f.particles, f.logw, f.u)),
        "live": live,
        "references": f.slots[0, live],
        "mass": f.mass[0, live],
        "groups": [f.groups[r, : f.particles[SIZE, r]].tolist() for r in range(unique)],
        "crowd": f.particles[:2, :unique].copy(),
        "logw": f.logw[:unique].copy(),
        "tally": f.counters.copy(),
        "u": f.u.copy(),
        "rng": _generator(f.rng),
        **_leaves("family", f.family),
        **_leaves("stats", map_arrays(lambda array: array[live], f.stats)),
    }
    if f.counters[ROWS] > 0:
        state |= {"slots": f.slots[:3].copy(), "order": f.slots[ORDER].copy()}
    return {prefix + key: value for key, value in state.items()}


def state_of(model):
    """Return all that a model knows; equal models have equal states."""
    if model._state is None:
        return {"fitted": False, "attributes": sorted(vars(model))}
    known = vars(model._state)
    labels, correction, joint = known.get("labels"), known.get("correction"), None
    if correction is not None and correction.joint is not None:
        joint = correction.joint
        correction = correction._replace(joint=joint.numbers)
    elif known.get("completing") is not None:
        correction, joint = known["completing"].completion, known["completing"].joint
    state = {
        "schema": known["schema"].to_json(),
        "attributes": sorted(vars(model)),
        "log_slopes": known["log_slopes"],
        "correction": repr(correction),
        "relevance": repr(known.get("relevance")),
        "gain": repr(known.get("unlabelled_gain")),
        "labels": repr(labels and labels.values),
        "rows": np.copy(known.get("assignments", np.zeros(0))),
        **_bank(known["bank"]),
    }
    if joint is not None:
        state |= {f"second: {key}": value for key, value in _bank(joint.bank).items()}
    return state


def _bank(bank):
    """All that a bank knows."""
    state = {
        "n_rows": bank.n_rows,
        "n_drawn": bank.n_drawn,
        "n_branched": bank.n_branched,
        "labelled": bank.labelled.copy(),
        "counts": bank.layout.category_counts.copy(),
        "sampler": _generator(bank.sampler()),
        **_leaves("pool", bank.pool),
        **_leaves("family", bank.family),
    }
    for k, island in enumerate(bank.islands):
        state |= {f"island {k}: alpha": island.alpha, f"island {k}: rng": _generator(island.rng)}
        state |= {f"island {k}: positions of {kind}": v for kind, v in island.positions.items()}
        state |= {f"island {k}: label_rng": _generator(island.label_rng)}
        places = {}
        for c, f in ((c, f) for w in island.hypotheses for c, f in enumerate(w.filters)):
            if id(f) not in places:
                places[id(f)] = (c, sum(held == c for held, _ in places.values()))
                again = f", again {places[id(f)][1]}" if places[id(f)][1] else ""
                state |= _filter(f"class {c}, island {k}{again}: ", f)
        held = [([places[id(f)] for f in w.filters], w.log_chance) for w in island.hypotheses]
        state |= {f"island {k}: worlds": held}
    return state


def differences(a, b):
    """Return the names of what differs between two states, to the last bit."""
    unlike = [key for key in [*a, *b] if key not in a or key not in b]
    for key in a.keys() & b.keys():
        one, two = a[key], b[key]
        if isinstance(one, np.ndarray):
            same = one.shape == two.shape and one.dtype == two.dtype
            same = same and one.tobytes() == two.tobytes()
        else:
            same = one == two
        if not same:
            unlike.append(key)
    return sorted(unlike)
