"""Streams for `OnlineCRPClassifier`, and all that one knows, to compare bit by bit."""

import numpy as np

from infinimix import OnlineCRPClassifier
from infinimix.families.seam import map_arrays
from tests.unit.estimators.tables import columns_of, make_labels, make_table


def make_texts(n, seed=0, n_classes=4, n_words=60, longest=12):
    """Return n dicts of counts, some empty, and labels; classes and words come one by one."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(n_words, 0.1), n_classes)
    codes = np.minimum(rng.integers(0, n_classes, n), np.arange(n) // 8)
    rows = [rng.multinomial(rng.integers(0, longest), theta[k]) for k in codes]
    X = [{f"w{w}": float(row[w]) for w in np.flatnonzero(row)} for row in rows]
    return X, [f"c{k}" for k in codes]


def make_stream(what, n, seed=0):
    """Return the rows and labels of a stream, and what its columns are."""
    if what == "text":
        return *make_texts(n, seed), "text"
    return make_table(what, n, seed), make_labels(n, seed).tolist(), columns_of(what)


def hide(labels, share, seed=0):
    """Return labels some of which are missing, but not the first."""
    gone = np.random.default_rng(seed).random(len(labels)) < share
    gone[0] = False
    return [None if g else label for g, label in zip(gone, labels, strict=True)]


def new_model(columns="text", **parameters):
    return OnlineCRPClassifier(columns, **({"random_state": 0} | parameters))


def cuts_of(n, seed, longest=17):
    """Return random pairs of a first row and the row after the last."""
    sizes = np.random.default_rng(seed).integers(1, longest, n)
    ends = np.minimum(np.cumsum(sizes), n)
    ends = ends[: int(np.argmax(ends == n)) + 1]
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))


def online_state(model):
    """Return all that a model knows of its classes and words, and where its generators are."""
    learner, source = model._state.learner, model._state.source
    slots = 1 + learner.n_classes * learner.size
    classes, state = learner.n_classes, {"members": []}
    for member in model._state.roster.members:
        state["members"].append(repr(getattr(member, "__dict__", member)))
    m = learner.model
    text = hasattr(source, "vocabulary")
    words = len(learner.known_words()) and int(learner.known_words()[-1]) + 1 if text else None
    state |= {
        "input": source.vocabulary.words if text else source.schema.to_json(),
        "next number": model._state.roster.next_number,
        "rngs": str([rng.bit_generator.state for rng in learner.rngs[:2]]),  # not that of answers
        "classes": m.classes[:, :classes].copy(),
        "replicas": m.replicas.copy(),
        "novelty": m.novelty.copy(),
        "course": m.course.copy(),
        "grid": m.log_alpha_weight.copy(),
        "corrections": [a[:words, :slots].tolist() for a in m.refinement[:2]],
        "bias": m.refinement.bias[:, :slots].copy(),
        "features": getattr(model, "n_features_in_", None),
    }
    if text:
        state["frequencies"] = m.weights.words[:words].copy()
        state |= {f"{k}": a[:words, :slots].tolist() for k, a in enumerate(m.stats[:2])}
        state |= {f"{k} of slots": a[:slots].tolist() for k, a in enumerate(m.stats[2:])}
        state |= {f"family {k}": array.copy() for k, array in enumerate(m.family)}
    else:
        leaves = []
        map_arrays(lambda array: leaves.append(array[:slots].tolist()), m.stats)
        map_arrays(lambda array: leaves.append(array.tolist()), m.family)
        state["leaves"] = leaves
    return state
