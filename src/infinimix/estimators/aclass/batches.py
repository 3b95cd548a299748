"""Rows to classify as a batch: learned along with the training rows, by Gibbs over labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.relevance import hide
from infinimix.estimators.common.table_estimator import block_names, is_auto
from infinimix.estimators.common.together import average_equals, canonical_order, join
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.bank import Bank
from infinimix.scikit import check_is_fitted


class Training(NamedTuple):
    """The rows of `fit`, encoded; `predict_batch` learns from them again."""

    blocks: tuple[np.ndarray, ...]
    codes: np.ndarray  # -1 without label


def label_prior(prior: Any) -> str | None:
    """Return the prior while labels are drawn, if it is not that of the model.

    What few labelled rows say of hyper-parameters is soon wrong, so "auto" learns none there.
    """
    return "reference" if is_auto(prior) else None


class LabelBatches:
    """`predict_batch` and `predict_proba_batch` of an `AClassClassifier`."""

    _bank: Any
    _schema: Any
    _labels: Any
    _training: Training | None
    _relevance: Any
    _check_names: Any
    _execute: Any
    classes_: Any
    columns: Any
    gamma: float
    prior: Any

    def predict_proba_batch(self, X: Any) -> np.ndarray:
        """Return the probability of each class for rows that are learned along with the others.

        Gibbs sweeps draw labels and groups of the training rows and these together; the model
        itself stays as it is. The order of the rows does not matter. Asked after `fit` only, as
        the rows of `partial_fit` are not kept.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> rows = [[0.1 * i + 9.0 * (i % 2)] for i in range(40)]
        >>> model = AClassClassifier(effort="fast", random_state=0).fit(rows[:2], ["low", "high"])
        >>> model.predict_batch(rows[2:6]).tolist()
        ['low', 'high', 'low', 'high']
        """
        check_is_fitted(self)
        if self._training is None:
            raise ValueError(
                "A batch is learned along with the rows of fit, but this model has learned rows "
                "by partial_fit, which are not kept. Use predict_proba, or fit it."
            )
        if hasattr(X, "__len__") and len(X) == 0:
            return np.empty((0, len(self.classes_)))
        if type(X) is not np.ndarray or self._schema.named:
            self._check_names(X)
        known, codes = self._training
        schema, known, query = join(self._schema, known, X, self.columns, type(self).__name__)
        order, n = canonical_order(query), len(codes)
        query = tuple(block[order] for block in query)
        rows = tuple(map(np.concatenate, zip(known, query, strict=True)))
        codes = np.append(codes, np.full(len(order), -1, np.int64))
        if getattr(self, "_relevance", None) is not None:
            rows = hide(schema, rows, self._relevance.shared)
        layout = Layout(block_names(schema), schema.category_counts)
        bank = Bank(self._bank.settings, layout, self._bank.seed)
        found = bank.label(
            rows, codes, len(self.classes_), float(self.gamma), self._execute,
            label_prior(self.prior),
        )  # fmt: skip
        proba = np.empty((len(order), len(self.classes_)))
        proba[order] = average_equals(query, found[n:, self._labels.order])
        return proba / proba.sum(axis=1, keepdims=True)

    def predict_batch(self, X: Any) -> np.ndarray:
        """Return the most probable class of rows that are learned along with the others."""
        proba = self.predict_proba_batch(X)
        return self.classes_[proba.argmax(axis=1)]
