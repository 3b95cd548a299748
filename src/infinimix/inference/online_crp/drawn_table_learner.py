"""Algorithm 1 of the Online CRP over tables: classes are scored by parameters that are drawn.

After a row the parameters of its class are drawn anew from their posterior given all real and
pseudo rows of the class and, where the prediction was wrong, before those the parameters of the
class that was predicted. A class without rows is scored by the integral over the base measure. The
group of all rows is no class: nothing is drawn for it.
"""

import numpy as np

from infinimix.families.posterior_draws import draw_parameters
from infinimix.families.seam import arrays_of, map_arrays
from infinimix.inference.online_crp.learner import OnlineAnswers
from infinimix.inference.online_crp.model import HELD, UNTOLD
from infinimix.inference.online_crp.table_learner import TableLearner


class DrawnTableLearner(TableLearner):
    """Rows are learned one by one, as parameters are drawn between two of them."""

    def run(self, X, n_rows, told=None, given=None, proba=False):
        """Predict rows, and learn those whose class is told, as `OnlineLearner.run` does."""
        if told is None or n_rows == 0:
            return super().run(X, n_rows, told, given, proba)
        parts = []
        for i in range(n_rows):
            row, said = self._slice(X, i, i + 1), None if given is None else given[i : i + 1]
            parts.append(super().run(row, 1, told[i : i + 1], said, proba))
            if told[i] >= 0:
                made = said is not None and said[0] != UNTOLD
                self._draw_touched(int(told[i]), int(said[0] if made else parts[-1].predicted[0]))
        return OnlineAnswers(*map(np.concatenate, zip(*parts, strict=True)))

    def seat(self, X, n_rows, c):
        """Add a row to class c, without a label for it."""
        super().seat(X, n_rows, c)
        self._draw(self._slots_of(c))

    def move(self, source, target):
        """Let class `target` be what class `source` is, with the parameters that it has."""
        super().move(source, target)
        old, new = self._slots_of(source), self._slots_of(target)

        def follow(array):
            array[new] = array[old]

        map_arrays(follow, self.model.stats)

    def rebase(self):
        """Renew the base measure; if it is another one, draw all parameters under it."""
        family, held = self.model.family, map_arrays(np.copy, self.model.stats)
        super().rebase()
        if all(map(np.array_equal, arrays_of(family), arrays_of(self.model.family))):
            map_arrays(np.copyto, self.model.stats, held)
        else:
            self._draw_all()

    def widen(self, category_counts):
        """Let categorical columns have more categories."""
        before = self.layout
        super().widen(category_counts)
        if self.layout is not before:
            self._draw_all()

    def _fade(self, share):
        super()._fade(share)
        self._draw_all()

    def _slots_of(self, c):
        return np.arange(1 + c * self.size, 1 + (c + 1) * self.size)

    def _draw_touched(self, y, z):
        """Draw the parameters of the class told, and first of one wrongly predicted."""
        if z >= 0 and z != y and self.model.classes[HELD, z] > 0.0:
            self._draw(self._slots_of(z))
        self._draw(self._slots_of(y))

    def _draw_all(self):
        held = np.flatnonzero(self.model.classes[HELD, : self.n_classes] > 0.0)
        for c in held.tolist():
            self._draw(self._slots_of(c))

    def _draw(self, slots):
        slots = np.asarray(slots)
        draw_parameters(self.model.family, self.model.stats, slots[slots > 0], self.rngs.parameters)
