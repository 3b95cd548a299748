"""What a `HybridClassifier` has learned, and its form for files.

A classifier of scikit-learn has no form but pickle, which can run code. The default one is a
logistic regression on standardised columns, which is four arrays: these are written, and from them
it is made anew. Other classifiers are not saved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.plain_parameters import find_nested
from infinimix.estimators.common.state import read_labels
from infinimix.estimators.common.trees import rebuild, tree_of
from infinimix.estimators.hybrid.design import count_columns


class HybridState(NamedTuple):
    """A fitted generative model, and a fitted classifier for each filled table."""

    generative: Any
    estimators: list[Any]
    labels: Labels
    seed: np.random.SeedSequence  # of what is drawn for new rows

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays; the classifiers must be those of `make_default`."""
        return {
            "generative": {"model": type(self.generative).__name__, **tree_of(self.generative)},
            "labels": self.labels.values,
            "estimators": [_to_tree(one, self.labels) for one in self.estimators],
            "entropy": self.seed.entropy,
            "spawn_key": tuple(self.seed.spawn_key),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> HybridState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        if model.discriminative is not None:
            raise ValueError("its classifier is one that cannot be saved")
        own = tree["generative"]
        generative = rebuild(find_nested(own["model"]), own)
        labels = read_labels(tree["labels"])
        width = count_columns(generative._schema)
        estimators = [_from_tree(one, labels, width) for one in tree["estimators"]]
        if len(estimators) not in ((1, int(model.n_draws)) if len(labels.classes) > 1 else (0,)):
            raise ValueError("it has not as many classifiers as filled tables")
        seed = np.random.SeedSequence(tree["entropy"], spawn_key=tree["spawn_key"])
        return cls(generative, estimators, labels, seed)


def make_default() -> Pipeline:
    """Return the classifier that learns filled tables where the user names none."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _to_tree(fitted: Pipeline, labels: Labels) -> dict[str, np.ndarray]:
    scaler, logistic = fitted[0], fitted[1]
    return {
        "mean": scaler.mean_, "scale": scaler.scale_,
        "coef": logistic.coef_, "intercept": logistic.intercept_,
        "classes": np.searchsorted(labels.classes, logistic.classes_),
    }  # fmt: skip


def _from_tree(tree: dict[str, Any], labels: Labels, width: int) -> Pipeline:
    mean, scale, coef, intercept = (tree[k] for k in ("mean", "scale", "coef", "intercept"))
    at = tree["classes"]
    numbers = (mean, scale, coef, intercept)
    sound = all(isinstance(x, np.ndarray) and x.dtype == np.float64 for x in numbers)
    if not sound or not all(np.isfinite(x).all() for x in numbers) or at.dtype != np.int64:
        raise ValueError("a classifier of it is no logistic regression")
    n_rows = 1 if len(at) == 2 else len(at)
    fits = coef.shape == (n_rows, width) and intercept.shape == (n_rows,)
    known = len(at) > 1 and (np.diff(at) > 0).all() and at[0] >= 0 and at[-1] < len(labels.classes)
    if not fits or not known or not mean.shape == scale.shape == (width,) or (scale <= 0.0).any():
        raise ValueError("a classifier of it does not fit its columns and classes")
    fitted = make_default()
    scaler, logistic = fitted[0], fitted[1]
    scaler.mean_, scaler.scale_, scaler.var_ = mean, scale, scale**2
    scaler.n_features_in_ = logistic.n_features_in_ = width
    logistic.coef_, logistic.intercept_ = coef, intercept
    logistic.classes_ = labels.classes[at]
    return fitted
