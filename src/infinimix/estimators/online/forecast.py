"""`Forecast`: what a model said of rows just before it learned them.

A model may have a method `forecast(X, y) -> Forecast` that predicts each row and then learns it,
one after the other: the inner loop of a prequential run, for models that can do it faster than by
calls of `predict_proba` and `partial_fit`. `infinimix.streaming` does the latter for the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class NewClass:
    """The type of `NEW_CLASS`, which is the only one of its kind, also when copied or pickled."""

    def __repr__(self) -> str:
        return "NEW_CLASS"

    def __reduce__(self) -> str:
        return "NEW_CLASS"  # pickle and copy look the name up in this module


#: The answer "none of the classes so far"; equal to nothing but itself.
NEW_CLASS = NewClass()


class Forecast(NamedTuple):
    """Answers for the rows of a chunk, each given before the label of that row was learned.

    Attributes
    ----------
    predicted : array of objects, shape (n_rows,)
        The predicted labels; `NEW_CLASS` where the model says that the class is none it knows,
        None where it had no answer as it had learned nothing.
    proba_true : array of float64
        Probability of the true label; NaN where it was not known yet.
    confidence : array of float64
        Probability of the predicted label; NaN without an answer or without probabilities.
    new : array of float64
        Probability of a new class, before the label is seen; NaN if the model has none.
    """

    predicted: np.ndarray
    proba_true: np.ndarray
    confidence: np.ndarray
    new: np.ndarray

    @classmethod
    def empty(cls, n_rows: int) -> Forecast:
        """Return a forecast without any answer, to be filled in.

        Parameters
        ----------
        n_rows : int
            The number of rows.
        """
        none = np.full(n_rows, None, dtype=object)
        return cls(none, *(np.full(n_rows, np.nan) for _ in range(3)))
