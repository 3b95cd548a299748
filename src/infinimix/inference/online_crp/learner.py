"""The classes of an Online CRP in memory: room that grows, forgetting, and rows in portions.

`OnlineLearner` holds the arrays that `step.advance` writes. Subclasses say what a row is:
`WordLearner` rows of words, whose vocabulary grows; `TableLearner` encoded tables, whose base
measure follows the pooled rows. Whatever changes between two rows (forgetting, pruning, a new base
measure) happens at fixed counts of rows, so any cutting into calls gives the same model.
"""

from threading import Lock
from typing import NamedTuple

import numpy as np

from infinimix.families.product import refresh_all
from infinimix.families.seam import fade, map_arrays, reserve
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp import step
from infinimix.inference.online_crp.class_moves import (
    merge_slots,
    move_slots,
    score_rows_alike,
    seat_rows,
)
from infinimix.inference.online_crp.novelty import START
from infinimix.inference.online_crp.refinement import Refinement, new_refinement
from infinimix.kernels.compile import entry
from infinimix.kernels.held import hold
from infinimix.partitions.relaxed import ALPHA_RULES, GRID, RELAXED

FADES = 16  # steps of forgetting in a half-life
CAP = 0.5  # nats: the most that mistakes may do to the prior of a class
NOBODY = np.zeros(0)
HALF, ALL = 0.5, 1e9  # of a class: the most that a mistake takes away; ALL is without bound
UNTOLD, NO_DRAW = np.full(1024, at.UNTOLD), np.full(1024, -1.0)
NO_TABLE = np.empty((1, 0))
ALMOST_ONE = float(np.nextafter(1.0, 0.0))
SMALLEST = 4  # classes that there is room for at first
NEW_CLASS_TERMS = ("learned", "published")  # what a new class is scored by


class OnlineSettings(NamedTuple):
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
    new_class: str = "learned"


class Rngs(NamedTuple):
    """Generators: one for each use, so that rows may be cut and answers given at any time."""

    parameters: np.random.Generator  # that are drawn, in Algorithm 1
    decisions: np.random.Generator  # that corrections follow
    answers: np.random.Generator  # of which the model knows nothing
    alpha: np.random.Generator  # where that is drawn


class OnlineAnswers(NamedTuple):
    """What was said of rows before they were learned."""

    predicted: np.ndarray  # class, step.NEW if there is none
    proba_told: np.ndarray  # probability of the class told, NaN if it had no rows
    confidence: np.ndarray  # probability of what was predicted
    new: np.ndarray  # probability of a new class
    proba: np.ndarray  # (rows, classes) if it was asked for


class OnlineLearner:
    """An Online CRP; `n_classes` classes, those without rows included."""

    def __init__(self, settings, family, stats, weights, features, seed):
        size, grid = len(settings.negatives), np.zeros(len(GRID))
        course, published = np.zeros(12), settings.new_class == "published"
        up, down, cap = settings.regret
        course[: at.STEPS] = (
            settings.alpha, 0.0, settings.positive, np.log1p(up), np.log1p(-down), cap,
            ALPHA_RULES[settings.alpha_rule], settings.calibrate, settings.open_world,
        )  # fmt: skip
        course[at.PUBLISHED], course[at.TAKEN] = published, self._most_taken(published)
        replicas = np.zeros((5, size))
        replicas[at.NEGATIVE], replicas[at.STEP] = settings.negatives, settings.steps
        replicas[at.SHARE] = 1.0 / size
        refinement = new_refinement(features if any(settings.steps) else 0, 1)
        self.settings, self.n_classes = settings, 0
        self._entry = self._room = self._held = self._alone = None
        self._turn = Lock()  # kernels run without the GIL, and share the room and bound arrays
        self.rngs = Rngs(*map(np.random.default_rng, seed.spawn(4)))
        self.model = at.OnlineModel(
            family, stats, weights, refinement, np.zeros((5, 0)), replicas,
            np.array([START, np.zeros(len(START))]), course, grid,
        )  # fmt: skip

    def __getstate__(self):
        here = "_entry", "_room", "_held", "_alone", "_turn"  # these stay here
        return self.__dict__ | dict.fromkeys(here)

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._turn = Lock()
        self.model = map_arrays(_own, self.model)  # a memory map would be read-only

    @property
    def size(self):
        """Return the number of replicas."""
        return self.model.replicas.shape[1]

    @property
    def steps(self):
        """Return the number of rows learned, forgotten ones included."""
        return int(self.model.course[at.STEPS])

    def _most_taken(self, published):
        """Return which part of a class a mistake may take away, at most."""
        return HALF

    def _spare(self):
        """Return how many classes there is room for beyond those that there are."""
        return 0

    def open(self, n_classes):
        """Let there be so many classes; new ones have names, and no rows."""
        model, room = self.model, self.model.classes.shape[1]
        wanted = n_classes + self._spare()
        if wanted > room:
            room = max(wanted, 2 * room, SMALLEST)
            slots = 1 + room * self.size
            more = room - model.classes.shape[1]
            self.model = model._replace(
                stats=reserve(model.family, model.stats, slots),
                refinement=Refinement(*(_widened(a, slots) for a in model.refinement)),
                classes=np.concatenate([model.classes, np.zeros((5, more))], axis=1),
            )
        self.model.classes[at.NAMED, self.n_classes : n_classes] = 1.0
        self.n_classes = max(self.n_classes, n_classes)

    def _draw(self, slots):
        """Draw the parameters of groups anew, where parameters are drawn."""

    def _clear(self, c):
        """Let class c have no rows, as if it had never been there."""
        blank = slice(1 + c * self.size, 1 + (c + 1) * self.size)
        self.model.classes[:, c] = 0.0
        for array in self.model.refinement:
            array[..., blank] = 0.0
        self._empty_slots(blank)

    def run(self, X, n_rows, told=None, given=None, proba=False):
        """Predict rows, and learn those whose class is told; return `OnlineAnswers` about all.

        Without `told` nothing is changed.
        """
        learns = told is not None and n_rows > 0
        rng = self.rngs.answers if told is None else self.rngs.decisions
        told = _constant(n_rows, UNTOLD) if told is None else told
        given = _constant(n_rows, UNTOLD) if given is None else given
        table = np.empty((n_rows, self.n_classes if proba else 0))
        published = self.settings.new_class == "published"
        begun = published and bool(self.model.classes[at.HELD].any())
        parts, first, sampled = [], 0, self.settings.sampled
        for last in self._stops(n_rows) if learns and n_rows > 1 else (n_rows,):
            size, course = last - first, self.model.course
            before = course[at.STEPS]
            draws = rng.random(size) if sampled else _constant(size, NO_DRAW)
            chances = self._chances(size, learns)
            part = X, told, given, table
            if size < n_rows:
                here = slice(first, last)
                part = self._slice(X, first, last), told[here], given[here], table[here]
            parts.append(self._advance(*part[:3], draws, chances, part[3]))
            first = last
            if course[at.STEPS] > before:
                self._change()
        answers = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        if published:
            _keep_from_one(answers, begun, told)
        return OnlineAnswers(answers[0].astype(np.int64), *answers[1:], table)

    def learn_row(self, X, c):
        """Learn one row of class c, as `run` does; X may be held already."""
        with self._turn:
            self._ask_one(X, c, self.rngs.decisions, self._chances(1, True)[0])
        self._change()

    def answer_row(self, X, proba=False):
        """Return what is said of one row, as `run` does without labels."""
        table = np.empty((1, self.n_classes)) if proba else NO_TABLE
        with self._turn:
            answers = self._ask_one(X, at.UNTOLD, self.rngs.answers, -1.0, table).copy()
        return OnlineAnswers(answers[0].astype(np.int64), *answers[1:], table)

    def predict_row(self, X):
        """Return the class that is predicted for one row, as `run` does without labels."""
        with self._turn:
            return int(self._ask_one(X, at.UNTOLD, self.rngs.answers, -1.0)[0, 0])

    def _ask_one(self, X, c, rng, chance, table=NO_TABLE):
        """Run one row in arrays that are used again; return its answers there."""
        if self._alone is None:
            arrays = np.empty(1, np.int64), UNTOLD[:1], np.empty(1), np.empty(1)
            asked = at.RowsAsked(*arrays, NO_TABLE, np.empty((4, 1)))
            self._alone = asked, hold(asked)
        asked, held = self._alone
        asked.told[0], asked.chances[0] = c, chance
        asked.draws[0] = rng.random() if self.settings.sampled else -1.0
        if table is not NO_TABLE:
            held = hold(asked._replace(proba=table))
        self._call(X, 1, held)
        return asked.answers

    def _chances(self, n_rows, learns):
        """Return uniform numbers to draw alpha by, where it is drawn."""
        if learns and self.model.course[at.RULE] == RELAXED:
            return self.rngs.alpha.random(n_rows)
        return _constant(n_rows, NO_DRAW)

    def _advance(self, X, told, given, draws, chances, table):
        """Run rows; return their answers."""
        asked = at.RowsAsked(told, given, draws, chances, table, np.empty((4, len(told))))
        with self._turn:
            self._call(X, len(told), hold(asked))
        return asked.answers

    def _call(self, X, rows, asked):
        """Call the kernel, past the look at its arguments that would take longer than a row."""
        slots, longest = 1 + self.n_classes * self.size, self._longest(X)
        if self._room is None or self._room[0] != (slots, longest):
            room = at.new_room(slots, self.n_classes, longest)
            self._room = (slots, longest), hold(room)
        model, X = self._bind(X)
        if self._held is None or self._held[0] is not model:
            self._held = model, hold(model)
        args = self._held[1], self._room[1], slots, self._hand(X), rows, asked
        args = *args, self._parameter_rng()
        if self._entry is None:
            self._entry = entry(step.advance, *args)
        self._entry(*args)

    def _hand(self, X):
        """Return rows as `step.advance` takes them."""
        return X

    def _parameter_rng(self):
        """Return what draws parameters: mostly nobody, as a generator is slow to hand over."""
        return NOBODY

    def _bind(self, X):
        """Return model and rows as the kernels take them."""
        return self.model, X

    def _stops(self, n_rows):
        """Return the rows, in order, after which something changes, and the end."""
        stops = {n_rows}
        for every in self._intervals():
            stops.update(range(every - self.steps % every, n_rows + 1, every))
        return sorted(stops) if len(stops) > 1 else stops

    def _intervals(self):
        """Return after how many rows something happens each time."""
        return [self._fade_interval()] if self.settings.half_life else []

    def _fade_interval(self):
        return max(1, round(self.settings.half_life / FADES))

    def _change(self):
        """Do what is due after so many rows."""
        if self.settings.half_life and self.steps and self.steps % self._fade_interval() == 0:
            self._fade(2.0 ** (-self._fade_interval() / self.settings.half_life))

    def _fade(self, share):
        """Let all that was learned count less."""
        model = self.model
        fade(model.family, model.stats, share)
        model.classes[[at.HELD, at.PRAISE, at.BLAME]] *= share
        model.course[at.ROWS] *= share
        held = np.repeat(model.classes[at.HELD] > 0.0, self.size)
        self._draw([0, *(1 + np.flatnonzero(held))])
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
        classes, added = model.classes, [at.HELD, at.PRAISE, at.BLAME]
        classes[added, target] += classes[added, source]
        classes[at.LAST, target] = classes[at.LAST, [source, target]].max()
        self._clear(source)
        self._draw(1 + target * self.size + np.arange(self.size))

    def seat(self, X, n_rows, c):
        """Add a row to class c, without a label for it."""
        slots = 1 + self.n_classes * self.size
        model, X = self._bind(X)
        seat_rows(model, slots, X, n_rows, c, self.rngs.parameters)
        self._change()

    def affinity(self, X, classes):
        """Return how well one row fits each of these classes and, last, a new one."""
        out = np.zeros((1, 1 + self.n_classes * self.size))
        with self._turn:
            model, X = self._bind(X)
            score_rows_alike(model, out.shape[1], X, 1, out)
        model, share = self.model, self.model.replicas[at.SHARE]
        beta = float(share @ np.exp(model.replicas[at.LOG_BETA]))
        own = out[0, 1:].reshape(self.n_classes, self.size) @ share
        held = model.classes[at.HELD, classes]
        return np.append(
            np.log(held) + beta * own[classes],
            np.log(model.course[at.ALPHA]) + beta * out[0, 0],
        )


def _keep_from_one(answers, begun, told):
    """Let a new class be certain only where there is no other; densities may round to that."""
    seen = np.concatenate([[False], np.maximum.accumulate(told >= 0)[:-1]]) | begun
    new = np.where(seen, np.minimum(answers[3], ALMOST_ONE), answers[3])
    answers[2] = np.where(answers[0] < 0, np.minimum(answers[2], new), answers[2])
    answers[3] = new


def _constant(n, values):
    """Return n times the same number, to be read only: mostly a part of what is there already."""
    return values[:n] if n <= len(values) else np.full(n, values[0])


def _own(array):
    return array if type(array) is np.ndarray and array.flags.writeable else np.array(array)


def _widened(array, slots):
    shape = (*array.shape[:-1], slots - array.shape[-1])
    return np.concatenate([array, np.zeros(shape, array.dtype)], axis=-1)
