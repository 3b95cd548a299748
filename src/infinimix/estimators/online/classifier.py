"""`OnlineCRPClassifier`: streams whose classes emerge (Liu, Tsai and Lee, Online CRP, 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.labels import check_labels
from infinimix.estimators.common.one_row import OneRow, check_row
from infinimix.estimators.online.attributes import OnlineAttributes
from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.estimators.online.learning import OnlineLearning
from infinimix.estimators.online.parameters import RULES_ONLINE, is_text
from infinimix.scikit import BaseEstimator, ClassifierMixin, check_consistent_length


class OnlineCRPClassifier(OnlineLearning, OnlineAttributes, OneRow, ClassifierMixin, BaseEstimator):
    """A classifier for streams of text or of table rows, whose classes may appear at any time.

    Each row is predicted and then learned, one after the other, in memory that does not grow with
    the number of rows. A class is one group of rows with its parameters integrated out; its
    prior is a Chinese restaurant process that remembers mistakes. Where the prediction was
    wrong, the row is taken away from the predicted class, and the scores are corrected word by
    word; how strongly is found while learning.

    Parameters
    ----------
    columns : "text", Text, or as in `CRPMixture`
        What a row is. "text" takes strings, lists of words, dicts of counts and matrices of
        counts; a `Text` says how strings become words. "auto", a kind or a mapping take tables
        with missing cells, as `CRPMixture` does, text columns excepted.
    alpha : float
        Concentration: how readily a class is new. With `alpha_rule`, where it starts.
    alpha_rule : "dynamic", "posterior" or "fixed"
        "dynamic" moves alpha by a tenth, down after a row that was taken for new and was not, up
        after the reverse; "posterior" is its posterior mean given the classes so far.
    regret : tuple of two or three numbers
        Rates g1, g2 of the relaxing function: the prior of a class is multiplied by (1 + g1) for
        every row that it should have had, and by (1 - g2) for every row that it should not. The
        log of the product is kept within a cap of .5, or the third number.
    positive : float
        Weight of a row in its class if another one was predicted; otherwise it is 1.
    negative : float or "auto"
        Weight with which such a row is taken away from the class that was predicted, at most half
        of what that holds; counts are clipped at zero. "auto" runs 0 and 1 side by side and
        weighs them by how well they predict.
    prior : "auto", float, or as in `CRPMixture`
        Pseudo-count of each word (auto: .5 with counts, else .1); for tables a base measure
        (auto: "empirical").
    weighting : "auto", "counts", "log" or "logidf"
        What a word that occurs c times weighs: c, log(1 + c), that times log((N + 2) / (n + 1)) if
        n of the N rows so far had it, or (auto) times the root of that. All but "counts" are scaled
        to a length of one. Counts are scored by the exact Dirichlet-multinomial, weights by the
        mean of the posterior.
    algorithm : "collapsed" or "sampled"
        Parameters integrated out (Algorithm 2), or drawn from their posterior (Algorithm 1; text
        only).
    decision : "argmax" or "sample"
        Predict the most probable class, or draw one.
    calibrate : bool
        Learn a temperature online, so that probabilities mean what they say.
    open_world : bool
        Let `predict` answer `NEW_CLASS`, and rows without label gather in provisional classes.
    half_life : float, optional
        Rows after which a row counts half as much, for streams that drift.
    max_classes, max_features : int, optional
        Bounds on memory. The class that has had no row for longest is forgotten when there would
        be one too many, among those with a name and among the provisional ones; the rarest words
        are, when there are too many.
    refine : float or "auto"
        Step of the corrections in the log domain, word by word; 0 is the paper's, none. "auto" runs
        .25 and 1 side by side.
    random_state : int, Generator or None
        For draws, with `decision="sample"` or `algorithm="sampled"`.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    class_count_ : array
        Rows of each class; faded ones with `half_life`.
    alpha_ : float
        The concentration now.
    temperature_ : float
        1 / the power of the likelihood that calibration has found, in the mean.
    negative_weights_ : dict
        How much the side-by-side settings count: (negative, refine) -> weight.
    n_features_in_, feature_names_in_
        Of matrices and frames.
    columns_ : dict
        The kind of each column of a table.

    Examples
    --------
    >>> from infinimix import OnlineCRPClassifier
    >>> model = OnlineCRPClassifier()
    >>> rows = ["the ball and the goal", "votes for the law", "a goal in the match", "a new law"]
    >>> model = model.partial_fit(rows, ["sport", "politics", "sport", "politics"])
    >>> model.predict(["what a match"]).tolist()
    ['sport']
    >>> model.learn_one({"opera": 1, "stage": 2}, "music")
    >>> model.predict_one({"stage": 1})
    'music'
    """

    _rules = RULES_ONLINE

    def __init__(
        self,
        columns: Any = "text",
        alpha: float = 1.0,
        alpha_rule: str = "dynamic",
        regret: tuple[float, ...] = (0.01, 0.01),
        positive: float = 1.0,
        negative: Any = "auto",
        prior: Any = "auto",
        weighting: str = "auto",
        algorithm: str = "collapsed",
        decision: str = "argmax",
        calibrate: bool = True,
        open_world: bool = False,
        half_life: float | None = None,
        max_classes: int | None = None,
        max_features: int | None = None,
        refine: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.columns = columns
        self.alpha = alpha
        self.alpha_rule = alpha_rule
        self.regret = regret
        self.positive = positive
        self.negative = negative
        self.prior = prior
        self.weighting = weighting
        self.algorithm = algorithm
        self.decision = decision
        self.calibrate = calibrate
        self.open_world = open_world
        self.half_life = half_life
        self.max_classes = max_classes
        self.max_features = max_features
        self.refine = refine
        self.random_state = random_state

    @classmethod
    def as_published(cls, **changes: Any) -> OnlineCRPClassifier:
        """Return the paper's own form: Algorithm 2 on counts, b = 1, no cap, no calibration.

        What the paper leaves open is as documented: counts are clipped at zero when written, and
        a new class is scored against all rows so far.

        Examples
        --------
        >>> from infinimix import OnlineCRPClassifier
        >>> OnlineCRPClassifier.as_published(alpha_rule="posterior").refine
        0.0
        """
        published: dict[str, Any] = {
            "weighting": "counts", "regret": (0.01, 0.01, np.inf), "positive": 1.0,
            "negative": 1.0, "calibrate": False, "refine": 0.0, "open_world": True,
        }  # fmt: skip
        return cls(**(published | changes))

    @property
    def features_emerge(self) -> bool:  # type: ignore[override]
        """May rows have words that no row has had? Columns of a table are settled by the first."""
        return is_text(self.columns)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = is_text(self.columns)
        tags.classifier_tags.poor_score = is_text(self.columns)  # of numbers that are no counts
        return tags

    def fit(self, X: Any, y: Any) -> OnlineCRPClassifier:
        """Learn rows in their order; what was learned before is forgotten."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh.partial_fit(X, y)
        for name in ("_learner", "_input", "_roster", "_torn"):
            setattr(self, name, getattr(fresh, name))
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(fresh, name):
                setattr(self, name, getattr(fresh, name))
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, predicted: Any = None
    ) -> OnlineCRPClassifier:
        """Learn more rows, in their order; any cutting into calls gives the same model.

        Parameters
        ----------
        X : rows
            As `columns` says.
        y : sequence of labels
            Labels; new ones may appear at any time. With `open_world=True` a label may be missing
            (None or NaN): if such a row looks new, it joins a provisional class.
        classes : sequence of labels, optional
            Labels to know of before their first row; never necessary.
        predicted : sequence of labels, optional
            What was predicted when the rows came, if the labels come later: corrections are then
            about that prediction. `NEW_CLASS` and None (not known) may be among them.
        """
        self._learn(X, y, classes, predicted)
        return self

    def forecast(self, X: Any, y: Any, classes: Any = None, predicted: Any = None) -> Forecast:
        """Predict each row, then learn it, row by row; return what was predicted.

        This is `partial_fit` with its answers, for prequential runs. Parameters as there.
        """
        parts = self._learn(X, y, classes, predicted, answer=True)
        return Forecast(*map(np.concatenate, zip(*parts, strict=True)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row; in an open world it may be `NEW_CLASS`."""
        return self._labels_of(self._answer(X).predicted)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each of `classes_`; they sum to one."""
        return self._answer(X, proba=True).proba[:, self._roster.order]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the log of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def new_class_proba(self, X: Any) -> np.ndarray:
        """Return the probability that each row is of a class that has no name yet."""
        return self._answer(X).new

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right; `NEW_CLASS` never is."""
        labels = check_labels(y)
        predicted = self._labels_of(self._answer(X).predicted, objects=True)
        check_consistent_length(predicted, labels)
        right = [a == b for a, b in zip(predicted, labels, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def predict_one(self, x: Any) -> Any:
        """Return the class of a row, None while nothing is learned; it may be `NEW_CLASS`."""
        if not self.__sklearn_is_fitted__():
            return None
        code = int(self._answer([check_row(x)]).predicted[0])
        return NEW_CLASS if code < 0 else self._roster.members[code]
