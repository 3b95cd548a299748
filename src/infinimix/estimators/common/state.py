"""What a model of table rows has learned: one object, assigned once, with a form for files.

Each estimator has a state of its own that begins with the schema. A call that fails leaves it as
it was, since `fit` and `partial_fit` assign it last; `to_tree` and `from_tree` are the form that
`persistence` writes and reads, and `from_tree` refuses what does not fit together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.labels import Labels, check_labels
from infinimix.estimators.common.parameters import check_parameter
from infinimix.families.given import resolve_prior
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.inference.ensemble.storage import bank_from_tree, bank_to_tree, fits
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import KINDS
from infinimix.tables.dates import ORDERS, PARTS, SPAN, TIME, DateColumn
from infinimix.tables.scans import LARGEST
from infinimix.tables.transforms import Spike, Transform

PLAIN = (str, bool, int, float, bytes)  # what categories in a file may be


@dataclass
class TableState:
    """What every model of table rows knows: its columns."""

    schema: Schema


@dataclass
class MixtureState(TableState):
    """CRP mixtures, one for each class, and the columns they speak of.

    The bank learns streams in place, and knows when a call was interrupted (`Bank.torn`).
    """

    bank: Bank
    log_slopes: float  # of all transforms, summed over all learned rows

    @property
    def log_evidence(self) -> float:
        """Log of an unbiased estimate of the probability of all rows, of one class."""
        return float(self.bank.log_evidence()[0]) + float(self.log_slopes)

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays; those of a classifier are there, but empty."""
        return {
            "schema": self.schema.to_json(),
            "bank": bank_to_tree(self.bank),
            "log_slopes": self.log_slopes,
            "labels": None, "rows": None, "calibration": (), "training": None, "relevance": (),
            "unlabelled_gain": float("nan"),
        }  # fmt: skip

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> MixtureState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit.

        The model says what its parameters may be.
        """
        state = cls(**cls._parts(tree, model))
        if state.bank.n_classes != 1 or tree["labels"] is not None:
            raise ValueError("its labels do not fit its classes")
        return state

    @classmethod
    def _modelled(cls, schema: Schema, tree: dict[str, Any]) -> Schema:
        """Return the columns that the bank models: those of the table, and maybe more."""
        return schema

    @classmethod
    def _parts(cls, tree: dict[str, Any], model: Any) -> dict[str, Any]:
        """Return the fields of a `MixtureState`, checked."""
        schema = read_schema(tree["schema"])
        modelled = cls._modelled(schema, tree)
        prior = tree["bank"]["settings"]["prior"]
        check_parameter(model, "prior", prior)
        resolve_prior(prior, modelled.kinds(True), modelled.gaussian_blocks)
        bank = read_bank(tree["bank"], layout_of(modelled), model)
        total = tree["log_slopes"]
        known = isinstance(total, float) and np.isfinite(total)
        if not known or (total and not modelled.transforms):
            raise ValueError("its densities are in no unit")
        read_assignments(tree["rows"])
        return {"schema": schema, "bank": bank, "log_slopes": total}


def read_schema(saved: Any) -> Schema:
    """Return columns from a file; raise ValueError if they contradict each other."""
    schema = Schema.from_json(saved)
    sound = (
        schema.width > 0
        and all(column.kind in KINDS for column in schema.columns)
        and all(isinstance(name, str) for name in schema.names)
        and len(set(schema.names)) == len(schema.sources) == schema.width
        and all(_may_have(c.kind, c.transform) for c in schema.columns)
        and all(transform.sound() for _, transform in schema.transforms)
        and all(_is_resolution(c.kind, c.resolution) for c in schema.columns)
        and all(_is_grid(c.kind, *c.grid) for c in schema.columns if c.grid is not None)
        and all(_are_values(c.kind, c.values) for c in schema.columns if c.values)
        and len(schema.categories) == len(schema.positions("categorical"))
        and all(len(set(values)) == len(values) for values in schema.categories)
        and all(type(value) in PLAIN for values in schema.categories for value in values)
        and sorted(j for members in schema.joint for j in members)
        == [j for j, column in enumerate(schema.columns) if column.kind == "gaussian"]
        and [j for j in range(schema.width) if j in schema.indicated] == list(schema.indicated)
        and all(_is_sound(date, schema) for date in schema.dates)
    )
    if not sound:
        raise ValueError("its columns do not fit together")
    return schema


def _is_sound(date: DateColumn, schema: Schema) -> bool:
    """Return whether a date is spread over columns that are there."""
    known = date.order in (*ORDERS, TIME, SPAN) and {*date.parts} <= {*PARTS}
    return bool(
        known and date.columns and len(date.parts) == len(date.columns)
        and {*date.columns} <= {*schema.names} and date.name not in schema.names
    )  # fmt: skip


def _may_have(kind: str, transform: Transform | None) -> bool:
    """Return whether a column of a kind may have a transform; a spiked one must have a spike."""
    if isinstance(transform, Spike) or KINDS[kind].has_atom:
        return isinstance(transform, Spike) and KINDS[kind].has_atom
    return transform is None or KINDS[kind].transformed


def _is_resolution(kind: str, resolution: Any) -> bool:
    """Return whether a column of a kind may have a resolution; it is a width, squared later."""
    return resolution == 0.0 or (KINDS[kind].transformed and 0.0 < resolution <= LARGEST)


def _is_grid(kind: str, origin: float, step: float) -> bool:
    return KINDS[kind].transformed and abs(origin) <= LARGEST and 0.0 < step <= LARGEST


def _are_values(kind: str, values: tuple[float, ...]) -> bool:
    """Return whether a column of a kind may have few values: numbers, rising."""
    found = np.array(values, np.float64)
    rising = bool((np.abs(found) <= LARGEST).all() and (np.diff(found) > 0.0).all())
    return KINDS[kind].transformed and rising


def read_bank(saved: dict[str, Any], layout: Layout, model: Any = None) -> Bank:
    """Return mixtures of such columns from a file; raise ValueError if they are of others.

    Settings and columns are checked before room is made for statistics.
    """
    settings = Settings(**saved["settings"])
    for name, value in settings._asdict().items():
        check_parameter(settings if model is None else model, name, value)
    check_layout(layout, Layout.from_tree(saved))
    return bank_from_tree(saved)


def layout_of(schema: Schema) -> Layout:
    """Return the layout of statistics for these columns."""
    return Layout(block_names(schema), schema.category_counts, schema.resolutions)


def block_names(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the names of the columns of each block, in table order; indicators come last."""
    names = {
        block: tuple(schema.names[j] for j in schema.positions(block)) for block in schema.blocks
    }
    if schema.indicated:
        names["binary"] += schema.indicator_names
    return names


def check_layout(expected: Layout, layout: Layout) -> None:
    """Raise ValueError unless every code that the columns have fits into the statistics."""
    sound = layout.names == expected.names and np.array_equal(
        layout.category_counts, expected.category_counts
    )
    if not sound or dict(layout.resolutions) != dict(expected.resolutions):
        raise ValueError("its columns are not those of its statistics")


def read_labels(saved: Any, n_classes: int | None = None) -> Labels:
    """Return labels from a file; raise ValueError unless they differ, one for each class."""
    sound = isinstance(saved, list) and 0 < len(saved) == len(set(check_labels(saved)))
    if not sound or n_classes not in (None, len(saved)):
        raise ValueError("its labels do not fit its classes")
    labels = Labels()
    labels.extend(saved)
    return labels


def read_assignments(rows: Any) -> np.ndarray | None:
    """Return the groups of training rows, if there are any; raise ValueError if they are none."""
    vector = isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype == np.int64
    if rows is not None and not vector:
        raise ValueError("labels_ is no vector of whole numbers")
    return rows


def read_codes(codes: Any, n_classes: int) -> np.ndarray:
    """Return the classes of training rows; raise ValueError if they are none."""
    if not isinstance(codes, np.ndarray) or codes.ndim != 1 or codes.dtype != np.int64:
        raise ValueError("its training rows have no labels")
    if codes.size and (codes.min() < -1 or codes.max() >= n_classes):
        raise ValueError("its training rows have labels that it does not know")
    return codes


def read_rows(schema: Schema, saved: Any, n_rows: int) -> EncodedTable:
    """Return training rows; raise ValueError if they do not fit the columns."""
    layout = layout_of(schema)
    blocks = tuple(map(np.ascontiguousarray, saved))
    sound = len(blocks) == len(layout.names) and all(
        fits(layout, n_rows, block, kind) for block, kind in zip(blocks, layout.names, strict=True)
    )
    if not sound:
        raise ValueError("its training rows are not those of its columns")
    return EncodedTable(schema, blocks)
