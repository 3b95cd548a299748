"""`HybridClassifier`: holes filled by a generative model, then any scikit-learn classifier.

With x the observed cells of a row, m its missing ones and theta a discriminative model,

    P(y | x) = E[P(y | x, m, theta)]  over  m ~ p(m | x)  and  theta fitted to filled training rows

and in a training row m is drawn given its label as well. That is multiple imputation: the
generative model says what m may be, the discriminative one what it means.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from infinimix.estimators.aclass.classifier import AClassClassifier
from infinimix.estimators.answers.filling import choose
from infinimix.estimators.common.labels import Labels, read_some_labels
from infinimix.estimators.common.parameters import Seed, check_parameters, child_seed, seed_sequence
from infinimix.estimators.common.partitioned_rows import READ_IT, refuse_partitions
from infinimix.estimators.common.probabilities import ClassProbabilities
from infinimix.estimators.common.weights import count_rows_of, read_weights, repeat_counted
from infinimix.estimators.hybrid.design import design_matrix
from infinimix.estimators.hybrid.state import HybridState, make_default
from infinimix.estimators.mixture.crp_mixture import CRPMixture
from infinimix.scikit import (
    BaseEstimator,
    MetaEstimatorMixin,
    check_is_fitted,
    clone,
)
from infinimix.tables import EncodedTable
from infinimix.tables.encoded import Blocks

ROWS, STATES, DRAWS = range(3)  # what the seeds are for


class HybridClassifier(MetaEstimatorMixin, ClassProbabilities, BaseEstimator):
    """Any scikit-learn classifier for tables with holes, in the cells and in the labels.

    A generative model learns the table as it is and draws what is missing, several times; a
    discriminative classifier learns each filled table, and the answers are averaged. It is given
    numbers: binary columns as 0 and 1, real ones and counts as they are, and a column of 0 and 1
    for each category. Where nothing is missing it learns the table once; where there is only one
    class it learns nothing, and predicts that class.

    `infinimix.save` takes a model with the default classifier. Others of scikit-learn have no form
    but pickle, which it does not write; joblib does.

    Parameters
    ----------
    generative : AClassClassifier or CRPMixture, optional
        What fills holes; an `AClassClassifier` by default. A `CRPMixture` knows no classes: it
        fills cells without looking at labels, and rows without label teach it alone.
    discriminative : classifier, optional
        What learns the filled tables; by default logistic regression on standardised columns.
        Without a `predict_proba` its answers are counted as votes.
    n_draws : int
        How many filled tables there are.
    random_state : int, Generator or None
        Seed, also of the two models where they have none.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    generative_ : estimator
        The fitted generative model.
    estimators_ : list of estimators
        The fitted classifiers: `n_draws` of them, one if nothing was missing, none for one class.
    columns_ : mapping
        The kind of each column.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import AClassClassifier, HybridClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2)) + np.repeat([[0.0], [3.0]], 40, axis=0)
    >>> y = ["low"] * 40 + ["high"] * 40
    >>> X[::5, 0], X[2::5, 1], y[::4] = np.nan, np.nan, [None] * 20
    >>> model = HybridClassifier(AClassClassifier(effort="fast"), random_state=0).fit(X, y)
    >>> model.predict([[0.0, np.nan], [np.nan, 3.5]]).tolist()
    ['low', 'high']
    """

    State = HybridState
    _state: HybridState | None = None

    def __init__(
        self,
        generative: Any = None,
        discriminative: Any = None,
        n_draws: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.generative = generative
        self.discriminative = discriminative
        self.n_draws = n_draws
        self.random_state = random_state

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.input_tags.sparse = tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HybridClassifier:
        """Learn a table.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows; any cell may be missing.
        y : sequence of n_rows labels
            None, NaN and `unlabelled` of the generative model are no label.
        sample_weight : sequence of n_rows numbers, optional
            Whole numbers are counts: a row of weight 3 is learned as three equal rows. Other
            weights are relative, and given to both models: a `CRPMixture` refuses them, and so do
            classifiers whose `fit` has no `sample_weight`.
        """
        refuse_partitions(X, type(self).__name__, READ_IT)
        check_parameters(self)
        weight = None
        if sample_weight is not None:
            X, y, weight = repeat_counted(X, y, read_weights(sample_weight, count_rows_of(X)))
        seed = seed_sequence(self.random_state)
        weights = self._name_weights(weight)
        generative = self._fit_generative(X, y, weight, seed)
        labels = Labels()
        codes, new = read_some_labels(labels, y, getattr(self.generative, "unlabelled", None))
        labels.extend(new)
        table = generative._encode(X)
        if not _has_classes(generative):  # which refuses relative weights
            table, codes = table.take(codes >= 0), codes[codes >= 0]
        missing = table.holes().any(axis=1) | (codes < 0)
        estimators = []
        n = int(self.n_draws) if missing.any() else 1
        for d in range(n if len(labels.values) > 1 else 0):  # most classifiers need two classes
            rng = np.random.default_rng(child_seed(seed, ROWS, d))
            filled, drawn = _fill(generative, table, codes, missing, rng)
            estimator = self._discriminative(child_seed(seed, STATES, d + 1))
            estimators.append(estimator.fit(design_matrix(filled), labels.array[drawn], **weights))
        self._state = HybridState(generative, estimators, labels, seed)
        return self

    def _name_weights(self, weight: np.ndarray | None) -> dict[str, Any]:
        """Return relative weights by the name that `fit` of the classifier has for them."""
        if weight is None:
            return {}
        model = self._discriminative(np.random.SeedSequence(0))
        end, prefix = model, ""
        if isinstance(model, Pipeline):
            end, prefix = model.steps[-1][1], f"{model.steps[-1][0]}__"
        if not has_fit_parameter(end, "sample_weight"):
            raise ValueError(
                f"The 'discriminative' parameter is a {type(end).__name__}, whose fit takes no "
                "sample_weight; give whole numbers, which count equal rows, or another classifier."
            )
        return {f"{prefix}sample_weight": weight}

    def _fit_generative(
        self, X: Any, y: Any, weight: np.ndarray | None, seed: np.random.SeedSequence
    ) -> Any:
        chosen = AClassClassifier() if self.generative is None else self.generative
        if not isinstance(chosen, AClassClassifier | CRPMixture):
            raise TypeError(
                "The 'generative' parameter of HybridClassifier must be an AClassClassifier or a "
                f"CRPMixture, which can draw missing cells; got {type(chosen).__name__}."
            )
        model = clone(chosen)
        if model.random_state is None:
            model.set_params(random_state=_whole(child_seed(seed, STATES, 0)))
        return model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))

    def _discriminative(self, seed: np.random.SeedSequence) -> Any:
        chosen = self.discriminative
        if chosen is None:
            return make_default()
        if not hasattr(chosen, "predict") or not hasattr(chosen, "fit"):
            raise TypeError(
                "The 'discriminative' parameter of HybridClassifier must be a scikit-learn "
                f"classifier; got {type(chosen).__name__}."
            )
        model = clone(chosen)
        names = [k for k, v in model.get_params().items() if k.endswith("random_state")
                 and v is None]  # fmt: skip
        return model.set_params(**dict.fromkeys(names, _whole(seed)))

    @property
    def _fitted(self) -> HybridState:
        """The state; NotFittedError if there is none."""
        check_is_fitted(self)
        return self._state  # type: ignore[return-value]

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return self._fitted.labels.classes

    @property
    def generative_(self) -> Any:
        """The fitted generative model."""
        return self._fitted.generative

    @property
    def estimators_(self) -> list[Any]:
        """The fitted classifiers, one for each filled table."""
        return self._fitted.estimators

    @property
    def columns_(self) -> Any:
        """The kind of each column, as the generative model has found it."""
        return self._fitted.generative.columns_

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self._fitted.generative.n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        return np.asarray(self._fitted.generative.feature_names_in_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row, averaged over what may be missing.

        What is drawn for a row depends on the row alone, so that it gets the same answer in
        every table.

        Parameters
        ----------
        X : table
            The rows.
        """
        table = self.generative_._encode(X)
        if not self.estimators_:
            return np.ones((table.n_rows, 1))
        holed = np.flatnonzero(table.holes().any(axis=1))
        drawn = [self._draw_row(tuple(b[i : i + 1] for b in table.blocks)) for i in holed]
        proba = np.zeros((table.n_rows, len(self.classes_)))
        n = max(int(self.n_draws), len(self.estimators_))
        for d in range(n):
            filled = tuple(block.copy() for block in table.blocks)
            for i, row in zip(holed, drawn, strict=True):
                for own, new in zip(filled, row, strict=True):
                    own[i] = new[d]
            model = self.estimators_[d % len(self.estimators_)]
            proba += self._ask(model, design_matrix(table._replace(blocks=filled)))
            if len(holed) == 0 and len(self.estimators_) == 1:
                break  # every other draw is the same
        return proba / proba.sum(axis=1, keepdims=True)

    def _draw_row(self, row: Blocks) -> Blocks:
        """Return n draws of one row."""
        n = max(int(self.n_draws), len(self.estimators_))
        key = crc32(b"".join(np.ascontiguousarray(block).tobytes() for block in row))
        rng = np.random.default_rng(child_seed(self._fitted.seed, ROWS, DRAWS, key))
        many = tuple(np.repeat(block, n, axis=0) for block in row)
        return tuple(self.generative_._mixture().draw(many, rng)[0])

    def _ask(self, model: Any, design: np.ndarray) -> np.ndarray:
        at = np.searchsorted(self.classes_, model.classes_)
        out = np.zeros((len(design), len(self.classes_)))
        if hasattr(model, "predict_proba"):
            out[:, at] = model.predict_proba(design)
        else:
            found = np.searchsorted(self.classes_, model.predict(design))
            out[np.arange(len(design)), found] = 1.0
        return out


def _has_classes(generative: Any) -> bool:
    return isinstance(generative, AClassClassifier)


def _fill(
    generative: Any, table: EncodedTable, codes: np.ndarray, missing: np.ndarray, rng: Any
) -> tuple[EncodedTable, np.ndarray]:
    """Return rows with their holes drawn, and labels with theirs."""
    rows, codes = np.flatnonzero(missing), codes.copy()
    if len(rows) == 0:
        return table, codes
    part, known = table.take(rows), None
    if _has_classes(generative):
        known = codes[rows]
        free = np.flatnonzero(known < 0)
        if len(free):
            known[free] = choose(generative._class_shares(part.take(free)), rng)
        codes[rows] = known
    drawn, _ = generative._mixture().draw(part.blocks, rng, known)
    filled = tuple(block.copy() for block in table.blocks)
    for own, new in zip(filled, drawn, strict=True):
        own[rows] = new
    return table._replace(blocks=filled), codes


def _whole(seed: np.random.SeedSequence) -> int:
    return int(seed.generate_state(1)[0] >> 1)
