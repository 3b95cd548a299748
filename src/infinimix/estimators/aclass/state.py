"""What an `AClassClassifier` has learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.correction import NEUTRAL, Correction
from infinimix.estimators.aclass.relevance import Relevance
from infinimix.estimators.aclass.shared_part import loadings_of
from infinimix.estimators.aclass.stream_relevance import StreamRelevance
from infinimix.estimators.aclass.tree_models import TreeModels
from infinimix.estimators.common.features import LinearFeatures
from infinimix.estimators.common.joint_numbers import JointNumbers
from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.mixture_estimator import add_log_slopes
from infinimix.estimators.common.state import MixtureState, read_codes, read_labels, read_rows
from infinimix.inference.ensemble.agreement import class_rows, log_evidence_given_labels
from infinimix.inference.partition.assignments import best_particle
from infinimix.tables import EncodedTable, Schema

NAN = float("nan")


class Training(NamedTuple):
    """The rows of `fit`, encoded; `predict_batch` learns from them again."""

    table: EncodedTable
    codes: np.ndarray  # -1 without label


@dataclass
class AClassState(MixtureState):
    """A mixture for each class, its labels, and what `fit` has found beside them."""

    labels: Labels
    correction: Correction = NEUTRAL
    training: Training | None = None  # None after `partial_fit`, which keeps no rows
    relevance: Relevance | None = None  # of the columns, if it was learned
    unlabelled_gain: float = NAN
    class_factors: np.ndarray | None = None  # of P(y), in the order of the bank, by weights
    stream_relevance: StreamRelevance | None = None  # of the columns, if a stream learns it

    @property
    def class_count(self) -> np.ndarray:
        """Rows of each class; rows without label count as the islands have labelled them."""
        return class_rows(self.bank)[self.labels.order]

    @property
    def n_groups(self) -> np.ndarray:
        """Number of groups of each class, in its best particle."""
        return np.array([len(best_particle(self.bank, c)[1]) for c in self.labels.order])

    @property
    def log_evidence(self) -> float:
        """Log of an unbiased estimate of the probability of all rows given their labels."""
        shared = 0.0 if self.relevance is None else self.relevance.log_shared
        return log_evidence_given_labels(self.bank) + self.log_slopes + shared

    @property
    def inclusion(self) -> np.ndarray:
        """The probability of each column that it differs between groups; ones if not learned."""
        found: Any = self.relevance or self.stream_relevance
        return np.ones(self.schema.width) if found is None else found.inclusion.copy()

    @property
    def shared_loadings(self) -> np.ndarray:
        """How columns vary whatever the class is, along each shared direction."""
        return loadings_of(self.bank, self.schema)

    @property
    def marked(self) -> tuple[str, ...]:
        """The columns that have a missingness indicator."""
        return tuple(self.schema.names[j] for j in self.schema.indicated)

    def log_prior(self, gamma: float) -> np.ndarray:
        """Return log P(y) in the order of the bank, with a pseudo-count of gamma for each class."""
        weight = class_rows(self.bank) + gamma
        if self.class_factors is not None:
            weight = weight * self.class_factors
        return np.log(weight / np.add.reduce(weight))  # past what `sum` asks before it adds

    def log_classes(self, table: EncodedTable, log_prior: np.ndarray) -> np.ndarray:
        """Return log P(y | x), unnormalised, in the order of the bank, as is P(y)."""
        if self.stream_relevance is not None:
            table = self.stream_relevance.hide(table)
        log_density = self.bank.log_densities(table.blocks)
        corrected = self.correction.log_classes(log_density, table)
        return np.add(corrected, log_prior, out=corrected)  # which is new, and nobody else's

    def add_rows(self, table: EncodedTable, new_labels: list[Any]) -> None:
        """Note what rows of a stream have brought that the bank has learned already."""
        if new_labels:
            self.labels.extend(new_labels)
        if table.schema.transforms:
            self.log_slopes = add_log_slopes(self.log_slopes, table)
        if table.novel or table.schema is not self.schema:
            self.schema = table.schema.extended(table.novel)
        self.training = self.relevance = None
        self.unlabelled_gain = NAN

    def add_class_weights(self, class_weight: Any) -> None:
        """Let classes that have come since the factors were found have those of a mapping."""
        if self.class_factors is None and class_weight is None:
            return
        known = np.ones(0) if self.class_factors is None else self.class_factors
        new = self.labels.values[len(known) :]
        if new:
            named = class_weight if isinstance(class_weight, Mapping) else {}
            more = np.array([float(named.get(label, 1.0)) for label in new])
            self.class_factors = np.concatenate([known, more])

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        training = self.training and {
            "blocks": list(self.training.table.blocks), "codes": self.training.codes,
        }  # fmt: skip
        return super().to_tree() | {
            "labels": self.labels.values,
            "calibration": (self.correction.power, self.correction.loss),
            "correction": _correction_to_tree(self.correction),
            "training": training,
            "relevance": tuple(self.relevance or ()),
            "unlabelled_gain": self.unlabelled_gain,
            "class_factors": self.class_factors,
            "stream_relevance": self.stream_relevance and self.stream_relevance.to_tree(),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> AClassState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        parts = cls._parts(tree, model)
        schema, n_classes = parts["schema"], parts["bank"].n_classes
        return cls(
            **parts,
            labels=read_labels(tree["labels"], n_classes),
            correction=_read_correction(schema, tree, n_classes),
            training=_read_training(schema, tree.get("training"), n_classes),
            relevance=_read_relevance(schema, tree.get("relevance", ())),
            unlabelled_gain=float(tree.get("unlabelled_gain", np.nan)),
            class_factors=_read_factors(tree.get("class_factors"), n_classes),
            stream_relevance=_read_stream_relevance(schema, tree, parts["bank"]),
        )


def _read_factors(saved: Any, n_classes: int) -> np.ndarray | None:
    if saved is None:
        return None
    if not _is_finite(saved, (n_classes,)) or not (saved > 0).all():
        raise ValueError("the weights of its classes are no positive numbers")
    return np.asarray(saved)


def _correction_to_tree(correction: Correction) -> dict[str, Any] | None:
    if correction.offsets is None:
        return None
    features = correction.features
    return {
        "offsets": correction.offsets,
        "coefficients": correction.coefficients,
        "features": None if features is None else list(features),
        "joint": _joint_to_tree(correction),
        "trees": _trees_to_tree(correction),
    }


def _joint_to_tree(correction: Correction) -> dict[str, Any] | None:
    joint = correction.joint
    if joint is None:
        return None
    return joint.to_tree() | {"power": correction.joint_power}


def _trees_to_tree(correction: Correction) -> dict[str, Any] | None:
    trees = correction.trees
    return None if trees is None else trees.to_tree() | {"powers": correction.tree_powers}


def _read_correction(schema: Schema, tree: dict[str, Any], n_classes: int) -> Correction:
    pair, saved = tree["calibration"], tree.get("correction")
    power, loss = pair
    if not all(isinstance(x, float) for x in pair) or not 0.0 < power < np.inf:
        raise ValueError("its power of the likelihood is no positive number")
    if saved is None:
        return Correction(power, loss)
    offsets, coefficients, features = saved["offsets"], saved["coefficients"], saved["features"]
    sound = _is_finite(offsets, (len(offsets),)) and 0 < len(offsets) <= n_classes
    if sound and features is not None:
        features = LinearFeatures(*features)
        sound = all(isinstance(x, np.ndarray) and x.ndim == 1 for x in features)
        sound = sound and features.n_categories.dtype == np.int64 and features.fits(schema)
        sound = sound and _is_finite(coefficients, (features.width, len(offsets)))
    if not sound or (features is None) != (coefficients is None):
        raise ValueError("the correction of its probabilities does not fit its columns")
    joint = _read_joint(schema, saved.get("joint"), n_classes)
    trees = _read_trees(schema, saved.get("trees"), len(offsets))
    return Correction(power, loss, offsets, features, coefficients, *joint, *trees)


def _read_joint(
    schema: Schema, saved: dict[str, Any] | None, n_classes: int
) -> tuple[JointNumbers | None, float]:
    """Return the second model and its power; raise ValueError if it does not fit the columns."""
    if saved is None:
        return None, 0.0
    power = saved["power"]
    if not isinstance(power, float) or not 0.0 < power < np.inf:
        raise ValueError("the power of its second model is no positive number")
    return JointNumbers.from_tree(saved, schema, n_classes), power


def _read_trees(
    schema: Schema, saved: dict[str, Any] | None, n_classes: int
) -> tuple[TreeModels | None, np.ndarray | None]:
    """Return trees and their powers; raise ValueError if they do not fit the columns."""
    if saved is None:
        return None, None
    trees, powers = TreeModels.from_tree(saved, schema), saved["powers"]
    if not _is_finite(powers, (trees.n_models,)) or len(trees.log_prior) != n_classes:
        raise ValueError("the powers of its trees do not fit them")
    return trees, powers


def _is_finite(array: Any, shape: tuple[int, ...]) -> bool:
    is_array = isinstance(array, np.ndarray) and array.dtype == np.float64
    return is_array and array.shape == shape and bool(np.isfinite(array).all())


def _read_training(schema: Schema, saved: Any, n_classes: int) -> Training | None:
    if saved is None:
        return None
    codes = read_codes(saved["codes"], n_classes)
    return Training(read_rows(schema, saved["blocks"], len(codes)), codes)


def _read_stream_relevance(schema: Schema, tree: Any, bank: Any) -> StreamRelevance | None:
    saved = tree.get("stream_relevance")
    return None if saved is None else StreamRelevance.from_tree(saved, bank, schema.width)


def _read_relevance(schema: Schema, saved: Any) -> Relevance | None:
    if not saved:
        return None
    found = Relevance(*saved)
    p = np.asarray(found.inclusion)
    sound = (
        p.shape == (schema.width,) and p.dtype == np.float64 and bool(((p >= 0) & (p <= 1)).all())
    )
    if not sound or not isinstance(found.log_shared, float) or not np.isfinite(found.log_shared):
        raise ValueError("the relevance of its columns is no probability")
    return found
