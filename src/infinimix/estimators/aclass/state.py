"""What an `AClassClassifier` has learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.calibration import NEUTRAL, Calibration
from infinimix.estimators.aclass.relevance import Relevance
from infinimix.estimators.common.labels import Labels
from infinimix.estimators.common.mixture_estimator import add_log_slopes
from infinimix.estimators.common.state import MixtureState, read_codes, read_labels, read_rows
from infinimix.tables import EncodedTable, Schema


class Training(NamedTuple):
    """The rows of `fit`, encoded; `predict_batch` learns from them again."""

    table: EncodedTable
    codes: np.ndarray  # -1 without label


@dataclass
class AClassState(MixtureState):
    """A mixture for each class, its labels, and what `fit` has found beside them."""

    labels: Labels
    calibration: Calibration = NEUTRAL
    training: Training | None = None  # None after `partial_fit`, which keeps no rows
    relevance: Relevance | None = None  # of the columns, if it was learned
    unlabelled_gain: float = float("nan")

    def add_rows(self, table: EncodedTable, new_labels: list[Any]) -> None:
        """Note what rows of a stream have brought that the bank has learned already."""
        self.labels.extend(new_labels)
        self.schema = table.schema.extended(table.novel)
        self.log_slopes = add_log_slopes(self.log_slopes, table)
        self.training = self.relevance = None
        self.unlabelled_gain = float("nan")

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        training = self.training and {
            "blocks": list(self.training.table.blocks), "codes": self.training.codes,
        }  # fmt: skip
        return super().to_tree() | {
            "labels": self.labels.values,
            "calibration": tuple(self.calibration),
            "training": training,
            "relevance": tuple(self.relevance or ()),
            "unlabelled_gain": self.unlabelled_gain,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> AClassState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        parts = cls._parts(tree, model)
        schema, n_classes = parts["schema"], parts["bank"].n_classes
        return cls(
            **parts,
            labels=read_labels(tree["labels"], n_classes),
            calibration=_read_calibration(tree["calibration"]),
            training=_read_training(schema, tree.get("training"), n_classes),
            relevance=_read_relevance(schema, tree.get("relevance", ())),
            unlabelled_gain=float(tree.get("unlabelled_gain", np.nan)),
        )


def _read_calibration(pair: Any) -> Calibration:
    calibration = Calibration(*pair)
    if not all(isinstance(x, float) for x in pair) or not 0.0 < calibration.power < np.inf:
        raise ValueError("its power of the likelihood is no positive number")
    return calibration


def _read_training(schema: Schema, saved: Any, n_classes: int) -> Training | None:
    if saved is None:
        return None
    codes = read_codes(saved["codes"], n_classes)
    return Training(read_rows(schema, saved["blocks"], len(codes)), codes)


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
