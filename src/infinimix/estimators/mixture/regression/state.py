"""What a `CRPRegressor` has learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.common.features import LinearFeatures
from infinimix.estimators.common.state import MixtureState, read_bank
from infinimix.estimators.mixture.regression.answers import Range
from infinimix.estimators.mixture.regression.calibration import Levels, Outlook
from infinimix.estimators.mixture.regression.conditional import Students, TargetDensity
from infinimix.estimators.mixture.regression.correction import NEUTRAL, RegressionCorrection
from infinimix.estimators.mixture.regression.second import Linked, Second
from infinimix.estimators.mixture.regression.stacking import Stack
from infinimix.estimators.mixture.regression.target import join_schema, join_target
from infinimix.inference.ensemble.storage import bank_to_tree
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import Column
from infinimix.tables.transforms import Spike, transform_from_json


@dataclass
class RegressorState(MixtureState):
    """One mixture of all columns and the target; `schema` is that of the columns alone."""

    target: Column
    within: Range  # of the training values, in natural units
    correction: RegressionCorrection = NEUTRAL

    @property
    def joint(self) -> Schema:
        """The columns and the target, as the bank knows them."""
        return join_schema(self.schema, self.target)

    def outlook(self, table: EncodedTable) -> Outlook:
        """Return the distribution of the target of some rows; mind their number."""
        joint, mixture = self.joint, predictive_of(self.bank)
        students = self._students(joint)
        blocks = join_target(joint, table, None).blocks
        return self.correction.apply(TargetDensity.given(students, mixture, blocks), table)

    def _students(self, joint: Schema) -> Students:
        """Return those of all slots; they are kept, with their table of knots."""
        if "students" not in self.__dict__:
            self.__dict__["students"] = Students.of(predictive_of(self.bank), joint)
        found: Students = self.__dict__["students"]
        return found

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        transform = self.target.transform
        return super().to_tree() | {
            "target": [self.target.name, transform.to_json() if transform else None],
            "within": list(self.within),
            "correction": _to_tree(self.correction),
        }

    @classmethod
    def _modelled(cls, schema: Schema, tree: dict[str, Any]) -> Schema:
        return join_schema(schema, _read_target(tree["target"]))

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> RegressorState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        parts = cls._parts(tree, model)
        low, high = map(float, tree["within"])
        if parts["bank"].n_classes != 1 or not low <= high:
            raise ValueError("its target does not fit its mixture")
        correction = _read_correction(parts["schema"], tree["correction"])
        target = _read_target(tree["target"])
        return cls(**parts, target=target, within=(low, high), correction=correction)


def _read_target(saved: Any) -> Column:
    name, transform = saved
    found = Column(name, "real", transform_from_json(transform) if transform else None)
    shape = found.transform
    if not isinstance(name, str) or isinstance(shape, Spike) or (shape and not shape.sound()):
        raise ValueError("its target is no real column")
    return found


def _to_tree(correction: RegressionCorrection) -> dict[str, Any]:
    stack, features, second = correction.stack, correction.features, correction.second
    return {
        "stack": None if stack is None else list(stack),
        "features": None if features is None else list(features),
        "second": None if second is None else {
            "linked": list(second.linked), "bank": bank_to_tree(second.bank),
        },
        "scale": correction.scale,
        "levels": list(correction.levels),
        "r2": correction.r2,
    }  # fmt: skip


def _read_correction(schema: Schema, saved: dict[str, Any]) -> RegressionCorrection:
    scale, r2, levels = saved["scale"], saved["r2"], Levels(*saved["levels"])
    features = None if saved["features"] is None else LinearFeatures(*saved["features"])
    second = _read_second(schema, saved["second"])
    stack = None if saved["stack"] is None else Stack(*saved["stack"])
    sound = isinstance(scale, float) and 0.0 < scale < np.inf and levels.sound()
    sound = sound and isinstance(r2, float)
    if features is not None:
        sound = sound and all(isinstance(x, np.ndarray) and x.ndim == 1 for x in features)
        sound = sound and features.n_categories.dtype == np.int64 and features.fits(schema)
    if stack is None:
        sound = sound and features is None and second is None
    else:
        width = 0 if features is None else features.width
        sound = sound and isinstance(stack.intercept, float) and bool(np.isfinite(stack.intercept))
        sound = sound and _is_finite(stack.shares, 1 if second is None else 2)
        sound = sound and _is_finite(stack.coefficients, width)
    if not sound:
        raise ValueError("the correction of its predictions does not fit its columns")
    return RegressionCorrection(stack, features, second, scale, levels, r2)


def _read_second(schema: Schema, saved: dict[str, Any] | None) -> Second | None:
    if saved is None:
        return None
    linked = Linked(*saved["linked"])
    if not linked.fits(schema):
        raise ValueError("its second model does not fit its columns")
    bank = read_bank(saved["bank"], linked.layout(schema))
    if bank.n_classes != 1:
        raise ValueError("its second model does not fit its columns")
    return Second(linked, bank)


def _is_finite(array: Any, length: int) -> bool:
    is_array = isinstance(array, np.ndarray) and array.dtype == np.float64
    return is_array and array.shape == (length,) and bool(np.isfinite(array).all())
