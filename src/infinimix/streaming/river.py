"""Models of infinimix as a classifier, a clusterer and an anomaly detector of River.

Importing this file needs River; `infinimix.streaming` imports it when a class is asked for. What
River's streams may do, and a table may not, is in `emerging`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from infinimix.evaluation.abilities import LearnsLabels, LearnsWithoutLabels, able
from infinimix.streaming.emerging import EmergingRows, copies, observed

if TYPE_CHECKING:
    from infinimix.streaming.river_types import AnomalyDetector, Clusterer, MiniBatchClassifier
else:
    try:
        from river import base
    except ImportError as error:
        raise ImportError(
            "RiverClassifier needs River: pip install 'infinimix[river]'. So do RiverClusterer and "
            "RiverAnomalyDetector."
        ) from error

    Clusterer, MiniBatchClassifier = base.Clusterer, base.MiniBatchClassifier
    try:
        from river.base import AnomalyDetector
    except ImportError:  # where it was before
        from river.anomaly.base import AnomalyDetector


class RiverClassifier(EmergingRows, MiniBatchClassifier):
    """A classifier of River that learns by a model of infinimix.

    Parameters
    ----------
    model : OnlineCRPClassifier or AClassClassifier
        The model; a copy of it learns, so that `clone` starts again. Its `columns` may name
        features that come later.
    settle : int
        Rows for which new features are taken in. Later ones are left out, with one warning, and
        counted in `n_ignored`. Models whose features may emerge at any time need no settling.

    Attributes
    ----------
    learned : estimator or None
        The model that has learned so far.
    n_ignored : int
        Cells of features that came too late.

    Examples
    --------
    >>> from infinimix import OnlineCRPClassifier
    >>> from infinimix.streaming import RiverClassifier
    >>> from river import compose, preprocessing
    >>> model = compose.Pipeline(
    ...     preprocessing.StandardScaler(), RiverClassifier(OnlineCRPClassifier("auto"))
    ... )
    >>> for size, y in [(3.1, "ant"), (8.2, "bee"), (3.3, "ant"), (8.0, "bee")]:
    ...     model.learn_one({"size": size}, y)
    >>> model.predict_one({"size": 8.5})
    'bee'
    """

    def __init__(self, model: Any, settle: int = 100) -> None:
        if not able(model, LearnsLabels):
            raise TypeError(
                "RiverClassifier takes a classifier that learns row by row, OnlineCRPClassifier or "
                f"AClassClassifier; {type(model).__name__} is none. RiverClusterer and "
                "RiverAnomalyDetector take a CRPMixture."
            )
        super().__init__(model, settle)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from infinimix import AClassClassifier, OnlineCRPClassifier

        yield {"model": AClassClassifier(n_particles=2, n_islands=1, random_state=0)}
        yield {"model": OnlineCRPClassifier("auto", random_state=0)}

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Mapping[Any, Any], y: Any, w: float = 1) -> None:
        """Learn one row; features that are new are taken in while the model settles.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        y : label
            Its class; it may be a new one.
        w : int
            How many times to learn it, 0 for not at all. Fractions are refused.
        """
        self._learn(copies([(dict(x), y)], w))

    def learn_many(self, X: Any, y: Any, w: Any = 1) -> None:
        """Learn the rows of a pandas DataFrame, as `learn_one` learns them one after the other.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y : Series of labels
            Their classes.
        w : int, or a sequence of them
            How many times to learn the rows.
        """
        rows = X.to_dict(orient="records")
        self._learn(copies(list(zip(rows, list(y), strict=True)), w))

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probability of each class; {} while nothing is learned.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        if self.learned is None:
            return {}
        found: dict[Any, float] = self.learned.predict_proba_one(self._known(x))
        return found

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities as a DataFrame, a column for each class; empty at first.

        Parameters
        ----------
        X : DataFrame
            The rows.
        """
        import pandas as pd

        if self.learned is None or not len(X):
            return pd.DataFrame(index=X.index)
        rows = [self._known(observed(x)) for x in X.to_dict(orient="records")]
        proba = self.learned.predict_proba(rows)
        return pd.DataFrame(proba, X.index, self.learned.classes_.tolist())


class _Unlabelled(EmergingRows):
    """What learns rows without labels."""

    def __init__(self, model: Any, settle: int = 100) -> None:
        if not able(model, LearnsWithoutLabels) or able(model, LearnsLabels):
            raise TypeError(
                f"{type(self).__name__} takes a CRPMixture, which learns rows without labels; "
                f"{type(model).__name__} does not. RiverClassifier takes classifiers."
            )
        super().__init__(model, settle)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from infinimix import CRPMixture

        yield {"model": CRPMixture(n_particles=2, n_islands=1, random_state=0)}

    def learn_one(self, x: Mapping[Any, Any], w: float = 1) -> None:
        """Learn one row; features that are new are taken in while the model settles.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        w : int
            How many times to learn it, 0 for not at all. Fractions are refused.
        """
        self._learn(copies([(dict(x), None)], w))

    def learn_many(self, X: Any, w: Any = 1) -> None:
        """Learn the rows of a pandas DataFrame, as `learn_one` learns them one after the other.

        Parameters
        ----------
        X : DataFrame
            The rows.
        w : int, or a sequence of them
            How many times to learn the rows.
        """
        self._learn(copies([(x, None) for x in X.to_dict(orient="records")], w))


class RiverClusterer(_Unlabelled, Clusterer):
    """A clusterer of River that learns by a `CRPMixture`; the number of clusters grows.

    Clusters are numbered from the largest on, so numbers may change places while rows come.

    Parameters
    ----------
    model : CRPMixture
        The model; a copy of it learns.
    settle : int
        As in `RiverClassifier`.

    Examples
    --------
    >>> from infinimix import CRPMixture
    >>> from infinimix.streaming import RiverClusterer
    >>> model = RiverClusterer(CRPMixture(random_state=0))
    >>> for size in [3.1, 8.2, 3.3, 8.0, 3.2] * 3:
    ...     model.learn_one({"size": size})
    >>> model.predict_one({"size": 3.0}), model.predict_one({"size": 8.1})
    (0, 1)
    """

    def predict_one(self, x: Mapping[Any, Any]) -> int:
        """Return the cluster of a row; 0 while nothing is learned.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        return 0 if self.learned is None else int(self.learned.predict([self._known(x)])[0])


class RiverAnomalyDetector(_Unlabelled, AnomalyDetector):
    """An anomaly detector of River that learns by a `CRPMixture`.

    Parameters
    ----------
    model : CRPMixture
        The model; a copy of it learns.
    settle : int
        As in `RiverClassifier`.

    Examples
    --------
    >>> from infinimix import CRPMixture
    >>> from infinimix.streaming import RiverAnomalyDetector
    >>> model = RiverAnomalyDetector(CRPMixture(random_state=0))
    >>> for size in [3.1, 8.2, 3.3, 8.0, 3.2] * 3:
    ...     model.learn_one({"size": size})
    >>> model.score_one({"size": 3.2}) < model.score_one({"size": 30.0})
    True
    """

    def score_one(self, x: Mapping[Any, Any]) -> float:
        """Return minus the log predictive density of a row, in nats; 0 while nothing is learned.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        if self.learned is None:
            return 0.0
        return float(self.learned.anomaly_score([self._known(x)])[0])
