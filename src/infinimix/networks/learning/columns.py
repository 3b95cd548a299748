"""Tables to what the scores take: codes of categories, or standardised numbers.

Binary and categorical columns are codes; real, count and gaussian ones numbers, and spiked ones are
real here. A table with both is discretised: its numbers are cut at quantiles of the observed
cells, and `edges` says where. Or it is mixed, if that is asked for, and its numbers stay numbers.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from infinimix.estimators.common.partitioned_rows import READ_IT, refuse_partitions
from infinimix.tables import EncodedTable, Schema, encode, read_schema
from infinimix.tables.column import Column, record_of
from infinimix.tables.transforms import Spike

MANY_CATEGORIES = 10  # up to so many nobody is warned
SMALLEST = 1e-150  # numbers that vary by less have squares of 0, as those beyond 1e150 have none
MOST_NAMED = 6  # columns that one warning lists


@dataclass
class NetworkColumns:
    """What the columns of a fitted network are."""

    schema: Schema
    gaussian: bool  # all columns are numbers
    edges: dict[int, np.ndarray] = field(default_factory=dict)  # column -> inner cuts
    centre: np.ndarray = field(default_factory=lambda: np.zeros(0))
    scale: np.ndarray = field(default_factory=lambda: np.ones(0))
    mixed: bool = False  # some are, and the others have categories

    @property
    def numbers(self) -> np.ndarray:
        """Which columns are modelled as numbers, (N,) bool."""
        found = np.zeros(self.schema.width, bool)
        for block in self.schema.blocks:
            found[self.schema.positions(block)] = not record_of(block).discrete
        return found & (self.gaussian or self.mixed)

    @property
    def cards(self) -> np.ndarray | None:
        """Categories of each column, None if all are numbers; of a mixed table 0 for numbers."""
        if self.gaussian:
            return None
        counts = np.full(self.schema.width, 2, np.int64)
        for block in self.schema.blocks:
            for k, j in enumerate(self.schema.positions(block).tolist()):
                if record_of(block).has_categories:
                    counts[j] = max(int(self.schema.category_counts[k]), 1)
                elif not record_of(block).discrete:
                    counts[j] = 0 if self.mixed else len(self.edges[j]) + 1
        return counts

    def codes(self, encoded: EncodedTable) -> tuple[np.ndarray, np.ndarray]:
        """Return an encoded table, (rows, N), and where it has holes."""
        numbers = self.numbers
        out = np.zeros((encoded.n_rows, len(numbers)), float if numbers.any() else np.int64)
        missing = np.zeros(out.shape, bool)
        for block, cells in zip(self.schema.blocks, encoded.blocks, strict=True):
            for k, j in enumerate(self.schema.positions(block).tolist()):
                column = cells[:, k]
                numeric = not record_of(block).discrete
                missing[:, j] = np.isnan(column) if numeric else column < 0
                if numbers[j]:
                    column = (column - self.centre[j]) / self.scale[j]
                elif numeric:
                    column = np.searchsorted(self.edges[j], column, side="right")
                out[:, j] = np.where(missing[:, j], 0, column)
        return out, missing

    def log_slopes(self, encoded: EncodedTable, missing: np.ndarray) -> np.ndarray:
        """Return what turns densities of standardised numbers into natural ones."""
        numbers = self.numbers
        if not numbers.any():
            return np.zeros(encoded.n_rows)
        own = np.log(np.where(numbers, self.scale, 1.0))
        slopes = np.where(missing, 0.0, -own).sum(axis=1)
        return slopes + self.schema.log_slopes(encoded.blocks)

    def decode(self, X: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return rows as natural columns; a bin is a number drawn uniformly from it."""
        blocks = []
        for block in self.schema.blocks:
            at = self.schema.positions(block)
            cells = X[:, at]
            if self.numbers[at].any():
                cells = cells * self.scale[at] + self.centre[at]
            elif not record_of(block).discrete:
                cells = np.stack([self._middle(int(j), X[:, j], rng) for j in at], axis=1)
            blocks.append(np.ascontiguousarray(cells, dtype=record_of(block).dtype))
        return self.schema.decode(blocks)

    def _middle(self, j: int, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        low, high = self.centre[j], self.scale[j]  # of discretised columns: the range
        cuts = np.concatenate([[low], self.edges[j], [high]])
        return cuts[codes] + rng.random(len(codes)) * (cuts[codes + 1] - cuts[codes])

    def states(self, j: int) -> tuple[Any, ...]:
        """Return the categories of a discrete column."""
        if j in self.edges:
            cuts = [f"{x:.4g}" for x in self.edges[j]]
            if not cuts:
                return ("all",)
            middle = (f"{a}_to_{b}" for a, b in pairwise(cuts))
            return (f"below_{cuts[0]}", *middle, f"from_{cuts[-1]}")
        at = self.schema.positions("categorical").tolist()
        return self.schema.categories[at.index(j)] if j in at else (0, 1)


def read_columns(
    X: Any, columns: Any, likelihood: str, n_bins: int, who: str
) -> tuple[NetworkColumns, EncodedTable]:
    """Decide what the columns are, and encode the table."""
    refuse_partitions(X, "A network", READ_IT)
    schema = _without_spikes(read_schema(X, columns, codes=True))
    encoded = encode(schema, X, learn=True, who=who)
    schema = schema.extended(encoded.novel)
    numeric = [b for b in schema.blocks if not record_of(b).discrete]
    names = [
        schema.names[j] for b in schema.blocks if b not in numeric for j in schema.positions(b)
    ]
    if likelihood == "gaussian" and names:
        raise ValueError(
            f"likelihood='gaussian' needs numbers in all columns; {names[0]!r} has categories"
        )
    gaussian = bool(numeric) and not names and likelihood != "discrete"
    mixed = bool(numeric) and bool(names) and likelihood == "mixed"
    room = np.zeros(schema.width), np.ones(schema.width)
    made = NetworkColumns(schema, gaussian, {}, *room, mixed)
    for block, cells in zip(schema.blocks, encoded.blocks, strict=True):
        if block in numeric:
            for k, j in enumerate(schema.positions(block).tolist()):
                _measure(made, j, cells[:, k], gaussian or mixed, n_bins)
    return made, encoded


def check_codes(columns: NetworkColumns, missing: np.ndarray, bdeu: bool, who: str) -> None:
    """Refuse columns without a cell, and warn of those with very many categories.

    With a pseudo-count in every cell, rows of such a column spread over so many cells that hardly
    one is met twice, and parents that say nothing score better than none.
    """
    names, n = columns.schema.names, len(missing)
    for j in np.flatnonzero(missing.all(axis=0)):
        raise ValueError(f"column {names[j]!r} has no observed cell: leave it out")
    if columns.cards is None or bdeu:
        return
    for j in np.flatnonzero(columns.cards > max(MANY_CATEGORIES, n / 10)):
        warnings.warn(
            f"column {names[j]!r} has {columns.cards[j]} categories in {n} rows: {who} will find "
            "parents of it that say nothing. Leave it out, join categories, or set bdeu=True.",
            stacklevel=4,
        )


def warn_of_constants(
    columns: NetworkColumns, codes: np.ndarray, missing: np.ndarray, skip: np.ndarray | None,
    stacklevel: int, table: str = "",
) -> None:  # fmt: skip
    """Warn of columns without variation, whose edges have probabilities that look like findings.

    A column that was set in all rows is left out: whoever has set it knows that.
    """
    seen = ~missing
    first = codes[seen.argmax(axis=0), np.arange(codes.shape[1])]
    constant = ((codes == first) | missing).all(axis=0)
    if skip is not None:
        constant &= ~skip.all(axis=0)
    binned = np.array([j in columns.edges for j in range(len(constant))])
    binned &= columns.centre < columns.scale  # of discretised columns: the range
    found = [
        f"{what} {_list_some(columns.schema.names, at)}"
        for what, at in (("constant:", constant & ~binned), ("in one bin:", constant & binned))
        if at.any()
    ]
    if found:
        warnings.warn(
            f"{table}{'; '.join(found)}. Nothing is learned about such a column, and its edges "
            "have their prior probability. Leave it out"
            + (", or let n_bins be larger." if (constant & binned).any() else "."),
            stacklevel=stacklevel,
        )


def _list_some(names: tuple[str, ...], at: np.ndarray) -> str:
    """Return the names of columns, the first few if there are many."""
    own = [repr(names[j]) for j in np.flatnonzero(at)]
    rest = f" and {len(own) - MOST_NAMED} more" if len(own) > MOST_NAMED else ""
    return ", ".join(own[:MOST_NAMED]) + rest


def check_signed_columns(columns: NetworkColumns) -> None:
    """Refuse columns whose effects can have no signs: those that are not low or high."""
    schema, instead = columns.schema, "use columns of 0 and 1, or effects='any'"
    for j in schema.positions("categorical").tolist():
        raise ValueError(
            f"effects='signed' needs columns with a low and a high value, and the categories of "
            f"{schema.names[j]!r} have no order: {instead}"
        )
    if columns.cards is None:
        raise ValueError(
            "effects='signed' needs columns with a low and a high value, and all columns are "
            "numbers: set likelihood='discrete' and n_bins=2, which cuts them at their medians"
        )
    for j in np.flatnonzero(columns.cards != 2):
        one = columns.cards[j] == 1
        raise ValueError(
            f"effects='signed' needs columns with a low and a high value, and {schema.names[j]!r} "
            + ("is always the same: leave it out" if one else "has more bins: set n_bins=2")
        )


def _without_spikes(schema: Schema) -> Schema:
    """Let spiked columns be real: the scores know no value that has a probability of its own."""
    columns = [
        Column(column.name, "real", column.transform.inner)
        if isinstance(column.transform, Spike)
        else column
        for column in schema.columns
    ]
    return replace(schema, columns=tuple(columns))


def _measure(made: NetworkColumns, j: int, column: np.ndarray, number: bool, n_bins: int) -> None:
    seen = column[~np.isnan(column)]
    if number:
        if len(seen):
            made.centre[j], made.scale[j] = _standardise(seen, made.schema.names[j])
        return
    inner = np.quantile(seen, np.arange(1, n_bins) / n_bins) if len(seen) else np.zeros(0)
    cuts = np.unique(inner)
    made.edges[j] = cuts[cuts > seen.min()] if len(seen) else cuts
    made.centre[j], made.scale[j] = (seen.min(), seen.max()) if len(seen) else (0.0, 0.0)


def _standardise(seen: np.ndarray, name: str) -> tuple[float, float]:
    """Return the mean and the standard deviation of numbers, 1 where they are all the same."""
    width = float(seen.max() - seen.min())
    if width == 0.0:
        return float(seen[0]), 1.0  # their mean may differ from them by rounding
    if width < SMALLEST:
        raise ValueError(
            f"column {name!r} varies by {width:.1g} in all, and the square of that is too small "
            "for float64; rescale the column"
        )
    return float(seen.mean()), float(seen.std())


def read_interventions(mask: Any, shape: tuple[int, int]) -> np.ndarray | None:
    """Return which cells were set from outside; None if none was."""
    if mask is None:
        return None
    mask = np.asarray(mask)
    if mask.shape != shape or mask.dtype != bool:
        raise ValueError(f"interventions must be an array of bool of shape {shape}")
    return mask if mask.any() else None
