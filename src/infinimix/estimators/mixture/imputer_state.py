"""What a `CRPImputer` has learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.joint_numbers import JointNumbers
from infinimix.estimators.common.state import MixtureState
from infinimix.estimators.mixture.completing import Completing
from infinimix.estimators.mixture.completion import Completion
from infinimix.estimators.mixture.reading import count_categories, is_filled
from infinimix.tables import Schema


@dataclass
class ImputerState(MixtureState):
    """A mixture, and the regressions of its numbers if `fit` has found some."""

    completing: Completing | None = None

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        own = None
        if self.completing is not None:
            joint = self.completing.joint
            own = {
                "completion": list(self.completing.completion),
                "joint": joint and joint.to_tree(),
            }
        return super().to_tree() | {"completing": own}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> ImputerState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        plain = MixtureState.from_tree(tree, model)
        completing = _read_completing(plain.schema, tree.get("completing"))
        return cls(plain.schema, plain.bank, plain.log_slopes, completing)


def _read_completing(schema: Schema, saved: Any) -> Completing | None:
    if saved is None:
        return None
    found, joint = Completion(*saved["completion"]), saved["joint"]
    if not _is_sound(schema, found, 1 if joint is None else 2):
        raise ValueError("the regressions of its numbers do not fit its columns")
    return Completing(found, joint and JointNumbers.from_tree(joint, schema, 1))


def _is_sound(schema: Schema, found: Completion, n_mixtures: int) -> bool:
    """Return whether these may be regressions of such columns."""
    if not all(isinstance(x, np.ndarray) for x in found) or found.columns.dtype != np.int64:
        return False
    columns, J = found.columns.tolist(), len(found.columns)
    known = all(0 <= j < schema.width and is_filled(schema, j) for j in columns)
    counts = count_categories(schema)
    if not known or len(set(columns)) != J or found.n_categories.shape != counts.shape:
        return False
    n_bits, C = sum(column.record.two_valued for column in schema.columns), len(found.curved)
    width = J + C + n_bits + int(found.n_categories.sum())
    if not _have_landmarks(found, J, C, width):
        return False
    width += 1 + n_mixtures + len(found.landmarks)
    numbers = (found.mean, found.scale, found.low, found.high, found.ratio)
    return (
        all(x.shape == (J,) and bool(np.isfinite(x).all()) for x in numbers)
        and bool((found.scale > 0.0).all())
        and found.n_categories.dtype == np.int64
        and bool(((found.n_categories >= 0) & (found.n_categories <= counts)).all())
        and found.weights.ndim == 3
        and found.weights.shape[1:] == (J, width)
        and bool(np.isfinite(found.weights).all())
    )


def _have_landmarks(found: Completion, J: int, C: int, width: int) -> bool:
    """Return whether the curved columns and the landmarks may be those of J numbers."""
    return (
        found.curved.dtype == np.int64
        and set(found.curved.tolist()) <= set(range(J))
        and found.middle.shape == found.size.shape == (C,)
        and bool(np.isfinite(found.middle).all() and (found.size > 0.0).all())
        and found.landmarks.ndim == 2
        and (len(found.landmarks) == 0 or found.landmarks.shape[1] == width)
        and bool(np.isfinite(found.landmarks).all())
    )
