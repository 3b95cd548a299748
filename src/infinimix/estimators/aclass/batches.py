"""Rows to classify as a batch: learned along with the training rows, by Gibbs over labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infinimix.estimators.aclass.state import AClassState, Training
from infinimix.estimators.common.mixture_estimator import is_auto
from infinimix.estimators.common.state import layout_of
from infinimix.estimators.common.together import average_equals, canonical_order, join
from infinimix.inference.ensemble.bank import Bank
from infinimix.tables import EncodedTable
from infinimix.tables.forms import is_empty


def label_prior(prior: Any, own: Any = "learn") -> str | None:
    """Return the prior while labels are drawn, if it is not that of the bank, which is `own`.

    What few labelled rows say of hyper-parameters is soon wrong, so "auto" learns none there; what
    the classes share (`shared_part`) is given by then, and no word.
    """
    return "reference" if is_auto(prior) and isinstance(own, str) else None


def label_together(model: Any, state: AClassState, X: Any) -> np.ndarray:
    """Return the probability of each class for the rows of a table, as in `classes_`."""
    if state.training is None:
        raise ValueError(
            "A batch is learned along with the rows of fit, but this model has learned rows "
            "by partial_fit, which are not kept, or on a cluster that had read them. Use "
            "predict_proba, or fit a table in memory."
        )
    if is_empty(X):
        return np.empty((0, len(state.labels.classes)))
    model._check_names(X)
    known, query = join(state.training.table, X, model.columns, type(model).__name__)
    training, prior = (
        Training(known, state.training.codes),
        label_prior(model.prior, state.bank.settings.prior),
    )
    proba = label_batch(state, training, query, float(model.gamma), prior, model._execute)
    if state.class_factors is not None:
        proba = proba * state.class_factors[state.labels.order]
    return proba / proba.sum(axis=1, keepdims=True)


def label_batch(
    state: AClassState,
    known: Training,
    query: EncodedTable,
    gamma: float,
    prior: str | None,
    execute: Callable[..., Any],
) -> np.ndarray:
    """Return the probability of each class for the query rows, in the order of `classes_`.

    Both tables have one schema. The order of the queries does not matter.
    """
    order, n = canonical_order(query), len(known.codes)
    query = query.take(order)
    rows = known.table.concat(query)
    codes = np.append(known.codes, np.full(len(order), -1, np.int64))
    if state.relevance is not None:
        rows = rows.hide(state.relevance.shared)
    bank = Bank(state.bank.settings, layout_of(rows.schema), state.bank.seed)
    n_classes = len(state.labels.classes)
    found = bank.label(rows.blocks, codes, n_classes, gamma, execute, prior)
    proba = np.empty((len(order), n_classes))
    proba[order] = average_equals(query, found[n:, state.labels.order])
    return proba / proba.sum(axis=1, keepdims=True)
