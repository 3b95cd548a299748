"""One row at a time, as dicts: `learn_one`, `predict_one` and `predict_proba_one`, as in River.

One row is many rows of size one: they call `partial_fit`, `predict` or `predict_proba`. A stream
learned by `learn_one` leaves the same model, bit for bit, as one learned in portions (given the
kinds of the columns, which the first call settles).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class OneRow:
    """What a classifier with `partial_fit` and `predict_proba` can do with a single dict.

    Attributes
    ----------
    features_emerge : bool
        Whether rows may have keys that the first call did not have. Where it is False a new key
        is refused by name, as dropping it would lose data in silence. Then either let `columns`
        name all features to come, `infinimix.streaming.RiverClassifier` wait for them, or leave
        them out of the rows.
    """

    features_emerge: bool = False

    classes_: Any
    partial_fit: Any
    predict: Any
    predict_proba: Any
    __sklearn_is_fitted__: Any

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row; keys that it lacks are missing cells.

        Parameters
        ----------
        x : dict from feature to value
            The row. One row says little about its columns (is 1 a flag, a category or a
            number?), so let `columns` say what they are. If it is a mapping, features that it
            names may be missing from the first rows.
        y : label
            Its class; it may be a new one.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> model = AClassClassifier({"size": "real", "colour": "categorical"}, random_state=0)
        >>> model.predict_one({"size": 3.0})
        >>> model.learn_one({"size": 3.1}, "ant")
        >>> model.learn_one({"size": 8.2, "colour": "blue"}, "bee")
        >>> model.predict_one({"size": 8.0})
        'bee'
        >>> sorted(model.predict_proba_one({"size": 3.0}))
        ['ant', 'bee']
        """
        self.partial_fit([self._whole_row(x)], [y])

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Return the most probable class of a row; None while nothing is learned.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        if not self.__sklearn_is_fitted__():
            return None
        return self.predict([check_row(x)]).tolist()[0]

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probability of each class; {} while nothing is learned.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        if not self.__sklearn_is_fitted__():
            return {}
        probability = self.predict_proba([check_row(x)])[0]
        return dict(zip(self.classes_.tolist(), probability.tolist(), strict=True))

    def _whole_row(self, x: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """Return the row; the very first with the features that it lacks but `columns` names."""
        check_row(x)
        columns = None if self.__sklearn_is_fitted__() else getattr(self, "columns", None)
        if not isinstance(columns, Mapping):
            return x
        named: dict[Any, None] = {}
        for key in columns:
            block = isinstance(key, tuple) and key not in x  # a gaussian block, by its columns
            named.update(dict.fromkeys(key if block else (key,)))
        return {**named, **x}


def check_row(x: Any) -> Any:
    """Return a row; raise TypeError if it is no dict."""
    if type(x) is not dict and not isinstance(x, Mapping):
        raise TypeError(
            f"One row is a dict from feature to value, not a {type(x).__name__}; "
            "partial_fit and predict take tables."
        )
    return x
