"""`OnlineCRPClassifier`: streams whose classes emerge (Liu, Tsai and Lee, Online CRP, 2014)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from infinimix.estimators.common.fitted import check_fitted, feature_names, of_state
from infinimix.estimators.common.labels import check_labels, check_lengths
from infinimix.estimators.common.one_row import OneRow, check_row
from infinimix.estimators.common.parameters import (
    Columns,
    Prior,
    Seed,
    check_parameters,
)
from infinimix.estimators.common.partitioned_rows import (
    by_batches,
    over_partitions,
    refuse_partitions,
)
from infinimix.estimators.common.probabilities import ClassProbabilities
from infinimix.estimators.common.shared_methods import PublishedForm
from infinimix.estimators.common.weights import WHOLE_STEPS, repeat_only
from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.estimators.online.learning import (
    begin,
    learn_in_shards,
    learn_parts,
    read_predictions,
)
from infinimix.estimators.online.open_world import (
    ProvisionalClass,
    find_provisional,
    list_provisional,
    merge_classes,
    name_provisional,
)
from infinimix.estimators.online.parameters import RULES_ONLINE, check_shards, is_text
from infinimix.estimators.online.row_by_row import answer_row, learn_row, predict_row
from infinimix.estimators.online.rows import Read
from infinimix.estimators.online.state import OnlineState
from infinimix.inference.online_crp.learner import OnlineAnswers
from infinimix.scikit import (
    BaseEstimator,
    check_consistent_length,
)

if TYPE_CHECKING:
    from infinimix.tables.text import Text


class OnlineCRPClassifier(PublishedForm, OneRow, ClassProbabilities, BaseEstimator):
    """A classifier for streams of text or of table rows, whose classes may appear at any time.

    Each row is predicted and then learned, one after the other, in memory that does not grow with
    the number of rows. A class is one group of rows with its parameters integrated out; its
    prior is a Chinese restaurant process that remembers mistakes. Where the prediction was
    wrong, the row is taken away from the predicted class, and the scores are corrected word by
    word; how strongly is found while learning.

    Parameters
    ----------
    columns : "text", Text, or as in `CRPMixture`
        What a row is. "text" takes strings, lists of words, dicts and matrices of counts; a `Text`
        says how strings become words. "auto", a kind or a mapping take tables with missing cells.
    alpha : float
        Concentration: how readily a class is new. With `alpha_rule`, where it starts.
    alpha_rule : "dynamic", "posterior", "posterior-published" or "fixed"
        "dynamic" moves alpha by a tenth, down after a row that was taken for new and was not, up
        after the reverse; "posterior" is its posterior mean given the classes so far;
        "posterior-published" draws it from the posterior of equations 8 and 9.
    regret : tuple of two or three numbers
        Rates g1, g2 of the relaxing function: the prior of a class is multiplied by (1 + g1) for
        every row that it should have had, and by (1 - g2) for every row that it should not. The
        log of the product is kept within a cap of .5, or the third number.
    positive : float
        Weight of a row in its class if another one was predicted; otherwise it is 1.
    negative : float or "auto"
        Weight with which such a row is taken away from the class that was predicted, at most half
        of what that holds; counts are clipped at zero. "auto" runs 0 and 1 side by side and
        weighs them by how well they predict. With `new_class="published"` a row of text is taken
        away as a whole, however little the class holds.
    prior : "auto", float, or as in `CRPMixture`
        Pseudo-count of each word (auto: .5 with counts, else .1); for tables a base measure
        (auto: "empirical").
    weighting : "auto", "counts", "log" or "logidf"
        What a word that occurs c times weighs: c, log(1 + c), that times log((N + 2) / (n + 1)) if
        n of the N rows so far had it, or (auto) times the root of that. All but "counts" are scaled
        to a length of one. Counts are scored by the exact Dirichlet-multinomial, weights by the
        mean of the posterior.
    algorithm : "collapsed", "sampled" or "redrawn"
        Parameters integrated out (Algorithm 2), or drawn from their posterior (Algorithm 1). After
        a row of text "sampled" draws its own words anew, "redrawn", as the paper, all words of its
        classes: the same distribution, more slowly. In tables both draw all parameters.
    decision : "argmax" or "sample"
        Predict the most probable class, or draw one.
    calibrate : bool
        Learn a temperature online, so that probabilities mean what they say.
    open_world : bool
        Let `predict` answer `NEW_CLASS`, and rows without label gather in provisional classes.
    half_life : float, optional
        Rows after which a row counts half as much, for streams that drift.
    max_classes, max_features : int, optional
        Bounds on memory. The class that has had no row for longest is forgotten when there is one
        too many, among those with a name and among provisional ones; so are the rarest words.
    refine : float or "auto"
        Step of the corrections in the log domain, word by word; 0 is the paper's, none. "auto" runs
        .25 and 1 side by side.
    random_state : int, Generator or None
        For draws, of decisions, parameters or alpha.
    new_class : "learned" or "published"
        How probable a new class is: by a logistic regression that is learned online, or by the
        paper's term, alpha times the density of the row under the base measure (equations 4 and
        7). With the latter a row that was taken for new and is the first of its class was
        predicted right, and the dynamic alpha moves by what was predicted.
    n_shards : int
        `fit` learns rows of text in so many shards, on the workers of `execution`, merged whenever
        each has learned `shard_rows` rows; 1 learns row by row, as `partial_fit` does.
    shard_rows : int
        Rows that a shard learns between two merges.

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
        Kinds of the columns of a table.

    Notes
    -----
    `as_published()` is the paper's own form: Algorithm 2 on counts, b = 1, no cap, no calibration.
    A new class is scored by the base measure, and alpha starts at one and is dynamic, as in its
    experiments. What the paper leaves open: counts are clipped at zero when written, the words that
    have a pseudo-count are those that rows have had, alpha moves by a tenth, and there is nothing
    to take back where a row was wrongly taken for new.

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
    _published: ClassVar[dict[str, Any]] = {
        "weighting": "counts", "regret": (0.01, 0.01, np.inf), "positive": 1.0, "negative": 1.0,
        "calibrate": False, "refine": 0.0, "open_world": True, "new_class": "published",
    }  # fmt: skip
    _state: OnlineState | None = None
    State = OnlineState

    def __init__(
        self,
        columns: Columns | Text = "text",
        alpha: float = 1.0,
        alpha_rule: str = "dynamic",
        regret: tuple[float, ...] = (0.01, 0.01),
        positive: float = 1.0,
        negative: Any = "auto",
        prior: Prior = "auto",
        weighting: str = "auto",
        algorithm: str = "collapsed",
        decision: str = "argmax",
        calibrate: bool = True,
        open_world: bool = False,
        half_life: float | None = None,
        max_classes: int | None = None,
        max_features: int | None = None,
        refine: Any = "auto",
        random_state: Seed = None,
        new_class: str = "learned",
        n_shards: int = 1,
        shard_rows: int = 2048,
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
        self.new_class = new_class
        self.n_shards = n_shards
        self.shard_rows = shard_rows

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = is_text(self.columns)
        tags.classifier_tags.poor_score = is_text(self.columns)  # of numbers that are no counts
        return tags

    @property
    def features_emerge(self) -> bool:  # type: ignore[override]
        """May rows have words that no row has had? Columns of a table are those of the first."""
        return is_text(self.columns)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineCRPClassifier:
        """Learn rows in their order; what was learned before is forgotten.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.
        """
        fresh = type(self)(**self.get_params(deep=False))
        if self.n_shards == 1:
            self._state = fresh.partial_fit(X, y, sample_weight=sample_weight)._state
            return self
        check_parameters(self)
        check_shards(self)
        instead = "leave n_shards at 1 to learn it batch by batch, or read its texts into memory"
        refuse_partitions(X, f"fit with n_shards={self.n_shards}", instead)
        (X, y) = repeat_only(type(self).__name__, WHOLE_STEPS, sample_weight, X, y)
        self._state = learn_in_shards(fresh, X, y)
        return self

    @by_batches
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        predicted: Any = None,
        sample_weight: Any = None,
    ) -> OnlineCRPClassifier:
        """Learn more rows, in their order; any cutting into calls gives the same model.

        Parameters
        ----------
        X : rows
            As `columns` says; also a table in partitions (`read_partitions`), batch by batch.
        y : sequence of labels, or the name of a column of a table in partitions
            Labels; new ones may appear at any time. With `open_world=True` a label may be missing
            (None or NaN): if such a row looks new, it joins a provisional class.
        classes : sequence of labels, optional
            Labels to know of before their first row; never necessary.
        predicted : sequence of labels, optional
            What was predicted when the rows came, if the labels come later: corrections are then
            about that prediction. `NEW_CLASS` and None (not known) may be among them.
        sample_weight : sequence of n_rows whole numbers, optional
            Counts: a row of weight 3 is learned three times, one after the other, a row of weight 0
            not at all. Other weights are refused: each row is also a step of the calibration, of
            the corrections and of alpha, and there is no fraction of a step.
        """
        if sample_weight is not None:
            who = type(self).__name__
            X, y, predicted = repeat_only(who, WHOLE_STEPS, sample_weight, X, y, predicted)
        state, plain = self._state, classes is None and predicted is None
        if state is not None and plain and learn_row(state, X, y):
            return self
        for _ in self._learn(X, y, classes, predicted):
            pass
        return self

    def forecast(self, X: Any, y: Any, classes: Any = None, predicted: Any = None) -> Forecast:
        """Predict each row, then learn it, row by row; return what was predicted.

        This is `partial_fit` with its answers, for prequential runs.

        Parameters
        ----------
        X, y, classes, predicted
            As in `partial_fit`.
        """
        parts = [s.forecast_of(said) for s, said in self._learn(X, y, classes, predicted)]
        return Forecast(*map(np.concatenate, zip(*parts, strict=True)))

    def _learn(
        self, X: Any, y: Any, classes: Any, predicted: Any
    ) -> Iterator[tuple[OnlineState, OnlineAnswers]]:
        """Learn rows in parts; yield what was said of each, before other classes come."""
        state = self._state
        if state is None:
            state, read, labels, new, made = begin(self, X, y, classes, predicted)
        else:
            read = self._read(X, answers=False)
            labels, new = state.roster.read(y, classes, bool(self.open_world))
            check_lengths(read.n_rows, len(labels))
            made = read_predictions(predicted, labels)
        self._state = state
        state.torn = True  # until all is learned; an interrupt cannot be undone
        state.source.prepare(state.learner, read)
        for answers in learn_parts(state, read, labels, new, made, self.max_classes):
            yield state, answers
        state.commit(X, read)

    def _read(self, X: Any, answers: bool) -> Read:
        """Read rows, to learn them or for answers, without changing anything."""
        state = self._fitted()
        state.check_whole()
        state.check_names(self, X, learn=not answers)
        return state.read(X, type(self).__name__, answers)

    # --- Answers --------------------------------------------------------------------------------

    def _fitted(self) -> OnlineState:
        """Return the state; raise NotFittedError if nothing was learned."""
        if self._state is None:
            check_fitted(self)
        assert self._state is not None
        return self._state

    def _answer(self, X: Any, proba: bool = False) -> OnlineAnswers:
        state = self._fitted()
        said = answer_row(state, X, proba)
        if said is not None:
            return said
        read = state.source.blur(self._read(X, answers=True))
        state.source.prepare(state.learner, read)
        return state.source.run(state.learner, read, proba=proba)

    @over_partitions
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row; in an open world it may be `NEW_CLASS`.

        Parameters
        ----------
        X : table
            The rows.
        """
        return self._fitted().labels_of(self._answer(X).predicted)

    @over_partitions
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each of `classes_`; they sum to one.

        Parameters
        ----------
        X : table
            The rows.
        """
        return self._answer(X, proba=True).proba[:, self._fitted().roster.order]

    def new_class_proba(self, X: Any) -> np.ndarray:
        """Return the probability that each row is of a class that has no name yet.

        Parameters
        ----------
        X : table
            The rows.
        """
        return self._answer(X).new

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right; `NEW_CLASS` never is.

        Parameters
        ----------
        X : table
            The rows.
        y : sequence of labels
            The true labels.
        sample_weight : sequence of numbers, optional
            The weight of each row.
        """
        labels = check_labels(y)
        predicted = self._fitted().labels_of(self._answer(X).predicted, objects=True)
        check_consistent_length(predicted, labels)
        right = [a == b for a, b in zip(predicted, labels, strict=True)]
        return float(np.average(right, weights=sample_weight))

    def predict_one(self, x: Any) -> Any:
        """Return the class of a row, None while nothing is learned; it may be `NEW_CLASS`.

        Parameters
        ----------
        x : dict from feature to value
            The row.
        """
        if self._state is None:
            return None
        code = predict_row(self._state, [check_row(x)])
        if code is None:
            code = int(self._answer([x]).predicted[0])
        return NEW_CLASS if code < 0 else self._state.roster.members[code]

    # --- Classes, with a name or without --------------------------------------------------------

    def provisional_classes(self) -> list[ProvisionalClass]:
        """Return the classes without a name, the largest first.

        Examples
        --------
        >>> from infinimix import OnlineCRPClassifier
        >>> model = OnlineCRPClassifier(open_world=True)
        >>> rows = ["red apple", "green apple", "red pear", "fast car", "slow car"] * 4
        >>> model = model.partial_fit(rows, (["fruit"] * 3 + ["car"] * 2) * 4)
        >>> model = model.partial_fit(["oboe solo", "oboe and harp"], [None, None])
        >>> [(c.number, c.size) for c in model.provisional_classes()]
        [(1, 2.0)]
        >>> model.name_class(1, "music")
        >>> model.predict(["harp solo"]).tolist()
        ['music']
        """
        return list_provisional(self._fitted())

    def name_class(self, number: int, label: Any) -> None:
        """Give a provisional class a label; if there is such a class already, it joins that.

        Parameters
        ----------
        number : int
            The number of a provisional class.
        label : label
            The name that it gets.
        """
        name_provisional(self._fitted(), number, label, self.max_classes)

    def merge_provisional(self, number: int, into: int) -> None:
        """Add one provisional class to another.

        Parameters
        ----------
        number : int
            The number of a provisional class.
        into : int
            The number of the class that it becomes a part of.
        """
        merge_classes(self._fitted(), number, into)

    def forget_provisional(self, number: int) -> None:
        """Forget a provisional class; its rows stay among all rows.

        Parameters
        ----------
        number : int
            The number of a provisional class.
        """
        state = self._fitted()
        state.remove(find_provisional(state, number))

    def forget_class(self, label: Any) -> None:
        """Forget a class and all that was learned of it; its rows stay among all rows.

        Parameters
        ----------
        label : label
            The class to forget.
        """
        self._fitted().forget(label)

    # --- Fitted attributes ----------------------------------------------------------------------

    classes_ = of_state("roster.classes", "The labels, sorted.")
    columns_ = of_state("columns", "The kind of each column of a table.")
    class_count_ = of_state("class_count", "Rows of each class.")
    alpha_ = of_state("alpha", "The concentration now.")
    temperature_ = of_state("temperature", "What the log densities are divided by, in the mean.")
    negative_weights_ = of_state(
        "negative_weights", "How much the settings that run side by side count."
    )

    @property
    def n_features_in_(self) -> int:
        """The number of columns of matrices and frames."""
        if self._state is None or self._state.n_features is None:
            raise AttributeError("'n_features_in_' is there once a matrix was learned.")
        return self._state.n_features

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns of frames."""
        return feature_names(self._fitted().feature_names)
