"""The classes of an Online CRP in memory: room that grows, forgetting, and rows in portions.

`Learner` holds the arrays that `online.advance` writes. Subclasses say what a row is: `WordLearner`
rows of words, whose vocabulary grows; `TableLearner` encoded tables, whose base measure follows the
pooled rows. Whatever changes between two rows (forgetting, pruning, a new base measure) happens at
fixed counts of rows, so any cutting of the rows into calls gives the same model.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.seam import copy, fade, merge, refresh, refresh_all, reserve
from infinimix.inference import online
from infinimix.inference.novelty import START
from infinimix.inference.refinement import Refinement, new_refinement
from infinimix.kernels.compile import kernel
from infinimix.partitions.relaxed import ALPHA_RULES, GRID

FADES = 16  # steps of forgetting in a half-life
CAP = 3.0  # nats: the most that mistakes may do to the prior of a class
SMALLEST = 4  # classes that there is room for at first


class Settings(NamedTuple):
    """What the user asks of an Online CRP, made plain."""

    alpha: float
    alpha_rule: str
    regret: tuple  # g1, g2 and the cap
    positive: float
    negatives: tuple  # one for each replica
    steps: tuple  # of the refinement of each replica
    calibrate: bool
    sampled: bool  # decisions
    open_world: bool
    half_life: float | None


class Answers(NamedTuple):
    """What was said of rows before they were learned."""

    predicted: np.ndarray  # class, online.NEW if there is none
    proba_told: np.ndarray  # probability of the class told, NaN if it had no rows
    confidence: np.ndarray  # probability of what was predicted
    new: np.ndarray  # probability of a new class
    proba: np.ndarray  # (rows, classes) if it was asked for


@kernel
def move_slots(family, stats, source, target, size):
    """Copy the groups of one class over those of another."""
    for r in range(size):
        copy(family, stats, 1 + source * size + r, 1 + target * size + r)
        refresh(family, stats, 1 + target * size + r)


@kernel
def merge_slots(family, stats, source, target, size):
    """Add the groups of one class to those of another."""
    for r in range(size):
        merge(family, stats, 1 + source * size + r, 1 + target * size + r)


@kernel
def seat_rows(model, X, rows, c, rng):
    """Add rows to a class without a label having been told: to its groups, and among all rows."""
    size = model.replicas.shape[1]
    for i in range(rows):
        shown, a, whole, b, unknown = online.show(model.weights, X, i)
        for r in range(size):
            online.enter(model, 1 + c * size + r, whole, b, 1.0, rng)
        model.classes[online.HELD, c] += 1.0
        model.classes[online.LAST, c] = model.course[online.STEPS]


class Learner:
    """An Online CRP; `n_classes` classes, those without rows included."""

    def __init__(self, settings, family, stats, weights, features, seed):
        size, grid = len(settings.negatives), np.zeros(len(GRID))
        course = np.zeros(10)
        up, down, cap = settings.regret
        course[: online.STEPS] = (
            settings.alpha, 0.0, settings.positive, np.log1p(up), np.log1p(-down), cap,
            ALPHA_RULES[settings.alpha_rule], settings.calibrate, settings.open_world,
        )  # fmt: skip
        replicas = np.zeros((5, size))
        replicas[online.NEGATIVE], replicas[online.STEP] = settings.negatives, settings.steps
        replicas[online.SHARE] = 1.0 / size
        refinement = new_refinement(features if any(settings.steps) else 0, 1)
        self.settings, self.n_classes = settings, 0
        self.rng = np.random.default_rng(seed)
        self.model = online.Model(
            family, stats, weights, refinement, np.zeros((5, 0)), replicas,
            np.array([START, np.zeros(4)]), course, grid,
        )  # fmt: skip

    @property
    def size(self):
        """Return the number of replicas."""
        return self.model.replicas.shape[1]

    @property
    def steps(self):
        """Return the number of rows learned, forgotten ones included."""
        return int(self.model.course[online.STEPS])

    def open(self, n_classes):
        """Let there be so many classes; new ones have names, and no rows."""
        model, room = self.model, self.model.classes.shape[1]
        if n_classes > room:
            room = max(n_classes, 2 * room, SMALLEST)
            slots = 1 + room * self.size
            more = room - model.classes.shape[1]
            self.model = model._replace(
                stats=reserve(model.family, model.stats, slots),
                refinement=Refinement(*(_widened(a, slots) for a in model.refinement)),
                classes=np.concatenate([model.classes, np.zeros((5, more))], axis=1),
            )
            self._draw_prior()
        for c in range(self.n_classes, n_classes):
            self._clear(c)
        self.n_classes = max(self.n_classes, n_classes)

    def _draw_prior(self):
        """Draw the parameters of groups without rows, where parameters are drawn."""

    def _clear(self, c):
        """Let class c have no rows."""
        blank = slice(1 + c * self.size, 1 + (c + 1) * self.size)
        self.model.classes[:, c] = 0.0
        self.model.classes[online.NAMED, c] = 1.0
        for array in self.model.refinement:
            array[..., blank] = 0.0
        self._empty_slots(blank)

    def run(self, X, n_rows, told=None, given=None, proba=False):
        """Predict rows, and learn those whose class is told; return `Answers` about all."""
        told = np.full(n_rows, online.UNTOLD) if told is None else told
        given = np.full(n_rows, online.UNTOLD) if given is None else given
        table = np.empty((n_rows, self.n_classes if proba else 0))
        answers = np.empty((4, n_rows))
        learns = bool((told >= 0).any())
        first = 0
        for last in self._stops(n_rows, told) if learns else (n_rows,):
            part = slice(first, last)
            rows, rng = last - first, self.rng
            draws = rng.random(rows) if self.settings.sampled else np.full(rows, -1.0)
            slots = 1 + self.n_classes * self.size
            X_part = self._slice(X, first, last)
            room = online.new_room(slots, self.n_classes, self._longest(X_part))
            online.advance(
                self.model, room, slots, X_part, rows, told[part], given[part], draws, rng,
                table[part], answers[:, part],
            )  # fmt: skip
            first = last
            if learns:
                self._change(X, last)
        return Answers(answers[0].astype(np.int64), *answers[1:], table)

    def _stops(self, n_rows, told):
        """Return the rows, in order, after which something changes; the last is always there."""
        learned = self.steps + np.cumsum(told >= 0)
        due = np.zeros(n_rows, bool)
        for every in self._intervals():
            due |= (told >= 0) & (learned % every == 0)
        due |= self._turns(learned, told >= 0)
        return np.union1d(np.flatnonzero(due) + 1, [n_rows]).tolist()

    def _intervals(self):
        """Return after how many rows something happens each time."""
        return [self._fade_interval()] if self.settings.half_life else []

    def _fade_interval(self):
        return max(1, round(self.settings.half_life / FADES))

    def _turns(self, learned, is_learned):
        """Return the rows after which something else changes."""
        return np.zeros(len(learned), bool)

    def _change(self, X, row):
        """Do what is due after so many rows, of which row `row` of X would be the next."""
        if self.settings.half_life and self.steps and self.steps % self._fade_interval() == 0:
            self._fade(2.0 ** (-self._fade_interval() / self.settings.half_life))

    def _fade(self, share):
        """Let all that was learned count less."""
        model = self.model
        fade(model.family, model.stats, share)
        model.classes[[online.HELD, online.PRAISE, online.BLAME]] *= share
        model.course[online.ROWS] *= share
        refresh_all(model.family, model.stats, 1 + self.n_classes * self.size)

    def move(self, source, target):
        """Let class `target` be what class `source` is."""
        model, size = self.model, self.size
        move_slots(model.family, model.stats, source, target, size)
        model.classes[:, target] = model.classes[:, source]
        for array in model.refinement:
            start, end = 1 + source * size, 1 + target * size
            array[..., end : end + size] = array[..., start : start + size]

    def forget(self, c):
        """Remove class c; the last one takes its number, which is returned."""
        last = self.n_classes - 1
        if c != last:
            self.move(last, c)
        self._clear(last)
        self.n_classes = last
        return last

    def join(self, source, target):
        """Add class `source` to class `target`, and leave it without rows."""
        model = self.model
        merge_slots(model.family, model.stats, source, target, self.size)
        classes, added = model.classes, [online.HELD, online.PRAISE, online.BLAME]
        classes[added, target] += classes[added, source]
        classes[online.LAST, target] = classes[online.LAST, [source, target]].max()
        self._clear(source)

    def seat(self, X, n_rows, c):
        """Add rows to class c, which nobody has told."""
        seat_rows(self.model, X, n_rows, c, self.rng)


def _widened(array, slots):
    shape = (*array.shape[:-1], slots - array.shape[-1])
    return np.concatenate([array, np.zeros(shape)], axis=-1)
