"""Why a row is where it is: its groups, and what each of its columns says.

For a group, a column speaks by log p(cell | the group) - log p(cell | all groups).

For a class it speaks by its share of the log odds. With groups inside classes, what a column
adds depends on the columns that were read before it, so its evidence is the mean over orders
of the columns (a Shapley value): over all of them for few columns, else over some, each with
its reverse. For every order the steps add up to the log odds, so the evidence does as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.estimators.answers.displays import html_table
from infinimix.estimators.answers.groups import describe_groups
from infinimix.families.seam import score_rows
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.partition.assignments import best_particle
from infinimix.inference.partition.population import MASS
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.aligned import open_aligned

if TYPE_CHECKING:
    import pandas as pd

FEW_COLUMNS = 8  # whose orders are all taken
ROWS_TO_ASK = 4096  # about so many subsets of the columns otherwise
SHOWN = 10  # lines of each table in the short form


def show_probability(p: float) -> str:
    """Return a probability in three digits; nothing that is only probable is called 1.

    >>> show_probability(0.5), show_probability(0.99962)
    ('0.5', 'above 0.999')
    """
    return f"{p:.3g}" if p < 0.9995 else "above 0.999"


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a row is where it is; printed, it shows the columns that speak loudest.

    Attributes
    ----------
    answer
        The group, numbered as in `predict`, or the label of the class.
    probability : float
        Its probability given the row.
    summary : str
        The answer in a sentence.
    columns : DataFrame
        By column, in table order: `value` in the row, `typical` value in the most probable
        group, and `evidence` in nats: positive speaks for the answer, negative against it. A
        missing cell, or a category never seen, has evidence 0, unless the column is one of
        `marked_`: what it says by being missing or not is then part of its evidence.
    groups : DataFrame
        The groups that the row may be in, the most probable first: `probability`, and what
        `prototypes` says of them.
    new_group : float
        The probability that it is in none of them but opens a group of its own.
    """

    answer: Any
    probability: float
    summary: str
    columns: pd.DataFrame
    groups: pd.DataFrame
    new_group: float

    def to_frame(self) -> pd.DataFrame:
        """Return `columns`, those with the most evidence for or against first."""
        size = -self.columns["evidence"].abs()
        return self.columns.iloc[np.argsort(size.to_numpy(), kind="stable")]

    def __repr__(self) -> str:
        frame = self.to_frame()
        more = f"\n... and {len(frame) - SHOWN} more columns" if len(frame) > SHOWN else ""
        return f"{self.summary}\n\n{frame.head(SHOWN).to_string()}{more}"

    def _repr_html_(self) -> str:
        from html import escape

        names = ["value", "typical", "evidence"]
        frame, groups = self.to_frame()[names], self.groups.head(SHOWN)
        caption = "Evidence in nats: blue is for the answer, orange against it."
        if len(frame) > SHOWN:
            caption += f" {len(frame) - SHOWN} more columns say less."
        columns = frame.head(SHOWN).itertuples(name=None)
        heads = ["group", *map(str, groups.columns)]
        return (
            f"<p>{escape(self.summary)}</p>"
            + html_table(["column", *names], columns, bar=3, caption=caption)
            + html_table(heads, groups.itertuples(name=None), bar=1, caption="Groups")
        )


def one_row(x: Any) -> Any:
    """Return a row, however it is given, as a table of one row."""
    if isinstance(x, Mapping):
        return [x]
    if hasattr(x, "to_dict") and not hasattr(x, "columns"):  # a series of pandas
        cells = x.to_dict()
        return [cells] if all(isinstance(name, str) for name in cells) else [list(cells.values())]
    flat = isinstance(x, np.ndarray) and x.ndim == 1
    flat = flat or (isinstance(x, list | tuple) and not any(_is_row(cell) for cell in x))
    return [list(x)] if flat else x


def _is_row(cell: Any) -> bool:
    return isinstance(cell, Mapping | list | tuple | np.ndarray)


def values_of(schema: Schema, X: Any) -> list[Any]:
    """Return the cells of a table of one row as they came, in the order of the schema."""
    table = open_aligned(schema, X, "explain")
    cells = [table.column(j) for j in range(schema.width)]
    return [None if c.missing is not None and c.missing[0] else c.values[0] for c in cells]


def place_row(bank: Bank, c: int, row: EncodedTable) -> tuple[Any, float]:
    """Return the groups of class c from the most probable on, and the share of a new one."""
    f, held = best_particle(bank, c)
    slots = np.append(held, 0) if len(held) < f.bound else held
    log_p = np.log(f.mass[MASS, slots])[None].copy()
    score_rows(f.family, f.stats, slots, row.blocks, log_p)
    p = np.exp(log_p[0] - np.logaddexp.reduce(log_p[0]))
    table = describe_groups(bank, row.schema, c)
    if "probability" in table:
        table = table.rename(columns={"probability": "probability (column)"})
    table.insert(0, "probability", p[: len(held)])
    order = np.argsort(-p[: len(held)], kind="stable")
    return table.iloc[order], float(p[len(held) :].sum())


def evidence_for_group(bank: Bank, group: int, row: EncodedTable) -> np.ndarray:
    """Return log p(cell | group) - log p(cell | all groups) in the best particle."""
    f, held = best_particle(bank, 0)
    slots = np.append(held, 0) if len(held) < f.bound else held
    mass = f.mass[MASS, slots]
    width = row.schema.width
    rows = row.show(np.eye(width, dtype=bool))
    scores = np.zeros((width, len(slots)))
    score_rows(f.family, f.stats, slots, rows.blocks, scores)
    everywhere = np.logaddexp.reduce(scores + np.log(mass / mass.sum()), axis=1)
    return np.where(_observed(row), scores[:, group] - everywhere, 0.0)


def evidence_by_orders(
    row: EncodedTable, log_odds: Callable[[EncodedTable], np.ndarray]
) -> np.ndarray:
    """Return what each column adds to the log odds, averaged over orders of the columns."""
    width = row.schema.width
    known = np.flatnonzero(_observed(row))
    out = np.zeros(width)
    if known.size:
        ask = _by_all_orders if known.size <= FEW_COLUMNS else _by_some_orders
        out[known] = ask(known, lambda masks: log_odds(row.show(masks)), width)
    return out


def _by_all_orders(known: np.ndarray, odds: Callable[..., np.ndarray], width: int) -> np.ndarray:
    n = len(known)
    chosen = np.array(list(product([False, True], repeat=n)))
    masks = np.zeros((len(chosen), width), bool)
    masks[:, known] = chosen
    value, size = odds(masks), chosen.sum(axis=1)
    out = np.empty(n)
    for j in range(n):
        step = 1 << (n - 1 - j)  # from a subset to the one that has column j too
        before = np.flatnonzero(~chosen[:, j])
        share = [factorial(s) * factorial(n - 1 - s) / factorial(n) for s in size[before]]
        out[j] = np.array(share) @ (value[before + step] - value[before])
    return out


def _by_some_orders(known: np.ndarray, odds: Callable[..., np.ndarray], width: int) -> np.ndarray:
    n, rng, out = len(known), np.random.default_rng(0), np.zeros(len(known))
    pairs = max(1, ROWS_TO_ASK // (2 * n))
    for _ in range(pairs):
        order = rng.permutation(n)
        for one in (order, order[::-1]):
            masks = np.zeros((n + 1, width), bool)
            for j in range(n):
                masks[j + 1 :, known[one[j]]] = True
            out[one] += np.diff(odds(masks))
    return out / (2 * pairs)


def _observed(row: EncodedTable) -> np.ndarray:
    """Return which columns are evidence: by a cell, or by a missingness indicator."""
    observed = ~row.holes()[0]
    observed[list(row.schema.indicated)] = True
    return observed
