"""An Online CRP as a tree of plain values and arrays, and back, bit for bit.

Written are the arrays that kernels write, cut to the classes and words that there are. The kernels
trust their arrays, so whatever comes from a file is checked first: shapes, dtypes, bounds. The base
measure of a table is found anew in the pooled rows that it was found in.
"""

from functools import partial

import numpy as np

from infinimix.families.priors import Layout, find_families
from infinimix.families.product import refresh_all
from infinimix.families.seam import empty, n_features, sound
from infinimix.families.words import (
    MEAN,
    REDRAWN,
    REINFORCED,
    SAMPLED,
    UNDRAWN,
    WordStats,
    empty_words,
    form_of,
)
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.drawn_table_learner import DrawnTableLearner
from infinimix.inference.online_crp.learner import NEW_CLASS_TERMS, OnlineSettings, Rngs
from infinimix.inference.online_crp.model import STEPS
from infinimix.inference.online_crp.refinement import Refinement, new_refinement
from infinimix.inference.online_crp.table_learner import TableLearner
from infinimix.inference.online_crp.weighting import LOGS, POWER, ROWS_WITH, UNIT
from infinimix.inference.online_crp.word_learner import WordLearner
from infinimix.partitions.relaxed import ALPHA_RULES

SHARED = ("replicas", "novelty", "course", "log_alpha_weight")  # whose shape is always the same
MOST_ROWS = 2.0**53


def learner_to_tree(learner):
    """Return all that a learner knows."""
    model, classes = learner.model, learner.n_classes
    describe = _words_to_tree if isinstance(learner, WordLearner) else _table_to_tree
    slots = 1 + classes * learner.size
    return {
        "settings": learner.settings._asdict(),
        "rngs": list(learner.rngs),
        "classes": np.ascontiguousarray(model.classes[:, :classes]),
        **{name: getattr(model, name) for name in SHARED},
        "bias": np.ascontiguousarray(model.refinement.bias[:, :slots]),
        **describe(learner, slots),
    }


def _words_to_tree(learner, slots):
    model, known = learner.model, learner.known_words()
    words = int(known[-1]) + 1 if len(known) else 0
    corner = partial(_corner, words=words, slots=slots)
    return {
        "prior": float(model.family.prior[0]),
        "form": form_of(model.family),
        "rule": model.weights.rule,
        "max_features": learner.max_features,
        "rows": float(model.weights.rows[0]),
        "frequencies": model.weights.words[:words],
        "n": corner(model.stats.n),
        "t": corner(model.stats.t),
        "total": model.stats.total[:slots],
        "corrections": [corner(array) for array in model.refinement[:2]] if learner.refines else [],
    }


def _table_to_tree(learner, slots):
    model = learner.model
    drawn = isinstance(learner, DrawnTableLearner)
    return {
        **learner.layout.to_tree(),
        "prior": learner.prior,
        "pool": [own.n for own in learner.pool],
        "n": [own.n[:slots] for own in model.stats],
        **({"drawn": [_parameters(own, slots) for own in model.stats]} if drawn else {}),
        "corrections": [_corner(array, len(array), slots) for array in model.refinement[:2]],
    }


def _parameters(stats, slots):
    """Return what is scored by: the arrays beside those that count."""
    return [array[:slots] for name, array in zip(stats._fields, stats, strict=True) if name != "n"]


def _corner(array, words, slots):
    return np.ascontiguousarray(array[:words, :slots])


def words_from_tree(tree):
    """Return the learner of words that `learner_to_tree` described."""
    most = tree["max_features"]
    _demand(most is None or (type(most) is int and most > 0), "a bound on words that is none")
    _demand(tree["form"] in (MEAN, REINFORCED, SAMPLED, REDRAWN), "a form of words that is none")
    rule = _floats(tree["rule"], (3,))
    _demand(
        set(rule[[LOGS, UNIT]]) <= {0.0, 1.0} and 0.0 <= rule[POWER] <= 1.0, "a wrong weighting"
    )
    prior, settings = float(tree["prior"]), _settings(tree["settings"])
    _demand(0.0 < prior < np.inf, "a pseudo-count that is not positive")
    learner = WordLearner(settings, prior, int(tree["form"]), rule, most, np.random.SeedSequence(0))
    words, slots = len(tree["frequencies"]), _restore_shared(learner, tree)
    weights, family = learner.model.weights, learner.model.family
    frequencies = _counts(tree["frequencies"], (words, weights.words.shape[1]))
    weights.rows[0] = float(tree["rows"])
    family.known[0] = np.count_nonzero(frequencies[:, ROWS_WITH])
    _demand(0.0 <= weights.rows[0] < np.inf, "words of no rows")
    learner.model = learner.model._replace(
        weights=weights._replace(words=frequencies),
        stats=_word_stats(tree, family, words, slots),
        refinement=_corrections(tree, words if learner.refines else 0, slots),
    )
    refresh_all(family, learner.model.stats, slots)
    return learner


def _word_stats(tree, family, words, slots):
    blank = empty_words(family, 0, 1)
    n, t = _counts(tree["n"], (words, slots)), _floats(tree["t"], (words, slots), blank.t.dtype)
    total, near = _counts(tree["total"], (slots,)), {"rtol": 1e-5, "atol": 1e-5}
    if family.form[0] == SAMPLED:
        _demand(bool(((t >= UNDRAWN) & (t < -UNDRAWN)).all()), "parameters that nobody has drawn")
    else:
        fits = np.allclose(t, np.log(family.prior[0] + n), **near)
        _demand(fits and np.allclose(total, n.sum(axis=0), **near), "counts that do not add up")
    return WordStats(n, t, total, np.zeros(slots))


def table_from_tree(tree):
    """Return the learner of tables that `learner_to_tree` described."""
    layout = Layout.from_tree(tree)
    _demand(bool((layout.category_counts >= 0).all()), "fewer categories than none")
    form = DrawnTableLearner if "drawn" in tree else TableLearner
    learner = form(_settings(tree["settings"]), layout, tree["prior"], np.random.SeedSequence(0))
    slots = _restore_shared(learner, tree)
    learner.pool = _statistics(learner.model.family, 1, tree["pool"])
    family = find_families(layout, learner.prior, learner.pool)
    stats = _statistics(family, slots, tree["n"])
    refresh_all(family, stats, slots)
    if form is DrawnTableLearner:
        _restore_drawn(stats, slots, tree["drawn"])
    refines = any(learner.settings.steps)
    refinement = _corrections(tree, n_features(family) if refines else 0, slots)
    learner.model = learner.model._replace(family=family, stats=stats, refinement=refinement)
    learner.open(learner.n_classes)  # with the room to spare that it had
    return learner


def _restore_drawn(stats, slots, saved):
    for own, arrays in zip(stats, saved, strict=True):
        for array, drawn in zip(_parameters(own, slots), arrays, strict=True):
            array[:] = _floats(drawn, array.shape)


def _statistics(family, slots, counts):
    stats = empty(family, slots)
    for own, saved in zip(stats, counts, strict=True):
        own.n[:] = _floats(saved, own.n.shape)
    _demand(bool(sound(family, stats)), "statistics that no rows have")
    return stats


def _restore_shared(learner, tree):
    """Restore what all learners have; return the number of slots."""
    classes, n_classes = tree["classes"], len(tree["classes"][0])
    fresh = learner.model
    course, rngs = _as_of_now(tree, fresh.course)
    cap, course[at.CAP] = course[at.CAP], 0.0  # which alone may be without bound
    arrays = tree | {"course": course}
    shared = {name: _floats(arrays[name], getattr(fresh, name).shape) for name in SHARED}
    course, replicas = shared["course"], shared["replicas"]
    course[at.CAP] = cap
    given = [*range(at.POSITIVE, at.STEPS), at.PUBLISHED, at.TAKEN]  # as the settings say
    _demand((course[given] == fresh.course[given]).all(), "a course that was not set")
    kept = [at.NEGATIVE, at.STEP]
    _demand((replicas[kept] == fresh.replicas[kept]).all(), "replicas that were not set")
    _demand((replicas[[at.SQUARES, at.SHARE]] >= 0.0).all(), "replicas of no weight")
    _demand(abs(replicas[at.SHARE].sum() - 1.0) < 1e-6, "replicas of no weight")
    steps = course[STEPS]
    _demand(0.0 <= steps < MOST_ROWS and steps == int(steps), "rows that cannot be counted")
    _demand(course[at.ALPHA] > 0.0 and 0.0 <= course[at.ROWS] <= steps, "a course without rows")
    _demand((shared["novelty"][1] >= 0.0).all(), "gradients that no rows have")
    classes = _counts(classes, (len(fresh.classes), n_classes))
    _demand(set(classes[at.NAMED]) <= {0.0, 1.0}, "classes half named")
    _demand(bool((classes[at.LAST] <= steps).all()), "classes of the future")
    _demand(len(rngs) == len(Rngs._fields), "random generators are lacking")
    for rng in rngs:
        _demand(isinstance(rng, np.random.Generator), "a random generator is lacking")
    learner.rngs, learner.n_classes = Rngs(*rngs), n_classes
    learner.model = fresh._replace(classes=classes, **shared)
    return 1 + n_classes * learner.size


def _as_of_now(tree, fresh):
    """Return course and generators; files of before `new_class` have fewer of both."""
    course, rngs = np.array(tree["course"]), list(tree["rngs"])
    if len(rngs) == len(Rngs._fields) - 1 and course.shape == (at.PUBLISHED,):
        course = np.concatenate([course, fresh[at.PUBLISHED :]])
        rngs.append(np.random.default_rng(0))  # alpha was never drawn
    return course, rngs


def _corrections(tree, features, slots):
    blank = new_refinement(0, slots)
    kinds = [array.dtype for array in blank]
    bias = _floats(tree["bias"], (2, slots), kinds[2])
    b, squares = tree["corrections"] or blank[:2]
    b = _floats(b, (features, slots), kinds[0])
    squares = _counts(squares, (features, slots), kinds[1])
    _demand(bool((bias[1] >= 0.0).all()), "gradients that no rows have")
    return Refinement(b, squares, bias)


def _settings(tree):
    settings = OnlineSettings(**tree)
    up, down, cap = settings.regret
    size = len(settings.negatives)
    numbers = (up, down, settings.positive, *settings.negatives, *settings.steps)
    flags = (settings.calibrate, settings.sampled, settings.open_world)
    life = settings.half_life
    right = (
        all(type(x) is float for x in (*numbers, cap, settings.alpha))
        and all(0.0 <= x < np.inf for x in numbers)
        and down < 1.0
        and cap >= 0.0
        and 0.0 < settings.alpha < np.inf
        and settings.alpha_rule in ALPHA_RULES
        and settings.new_class in NEW_CLASS_TERMS
        and all(type(flag) is bool for flag in flags)
        and 1 <= size == len(settings.steps)
        and (life is None or (type(life) is float and 0.0 < life < np.inf))
    )
    _demand(right, "settings that nobody can have set")
    return settings._replace(negatives=tuple(settings.negatives), steps=tuple(settings.steps))


def _counts(array, shape, kind=np.float64):
    """Return an array of numbers from 0 on, for kernels to write."""
    array = _floats(array, shape, kind)
    _demand(bool((array >= 0.0).all()), "counts below zero")
    return array


def _floats(array, shape, kind=np.float64):
    """Return an array of finite numbers, for kernels to write."""
    fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == kind
    _demand(fits, f"an array that is not of shape {shape}")
    _demand(bool(np.isfinite(array).all()), "numbers that are none")
    return np.array(array, order="C")


def _demand(holds, otherwise):
    if not holds:
        raise ValueError(otherwise)
