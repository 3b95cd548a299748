"""Training and query rows as one table.

The queries of a batch are rows of the table like any other: their categories count, and where
the kinds of columns were guessed they are guessed again if the queries do not fit the first
guess (of five rows, a column of 0, 1 and 2 may look binary); but text in a column of numbers is
refused, as it is one by one. Nothing here depends on the order of the queries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.tables import Encoded, Schema, encode, read_schema
from infinimix.tables.kinds import MOST_CATEGORIES

Blocks = tuple[np.ndarray, ...]


def join(
    schema: Schema, blocks: Blocks, X: Any, columns: Any, who: str
) -> tuple[Schema, Blocks, Blocks]:
    """Return the schema of both tables together, and the rows of each in it.

    Parameters
    ----------
    schema, blocks
        What the columns of the training rows are, and these rows.
    X : table
        The queries.
    columns
        As the user asks for.
    who : str
        For error messages.
    """
    try:
        encoded = encode(schema, X, learn=True, who=who)
    except (TypeError, ValueError):
        if not _guesses(columns):
            raise
        joined = _guess_again(schema, blocks, X, columns, who)
        if _has_text_among_numbers(schema, joined[0]):  # a slip of the pen makes no category
            raise
        return joined
    wider = schema.extended(encoded.novel)
    if _guesses(columns) and _too_many(schema, wider, columns):
        return _guess_again(schema, blocks, X, columns, who)
    arranged, query = _arrange(schema, wider, encoded)
    return arranged, blocks, query


def canonical_order(blocks: Blocks) -> np.ndarray:
    """Return an order of the rows that depends on nothing but their cells."""
    cells = np.concatenate([block.astype(float) for block in blocks], axis=1)
    return np.lexsort(cells.T)


def average_equals(blocks: Blocks, answers: np.ndarray) -> np.ndarray:
    """Return answers about rows in canonical order; rows with equal cells get equal answers."""
    cells = np.concatenate([np.nan_to_num(b.astype(float), nan=np.inf) for b in blocks], axis=1)
    first = np.append(True, (cells[1:] != cells[:-1]).any(axis=1))
    run = np.cumsum(first) - 1
    sums = np.zeros((run[-1] + 1, answers.shape[1]))
    np.add.at(sums, run, answers)
    return np.asarray(sums[run] / np.bincount(run)[run, None])


def _guesses(columns: Any) -> bool:
    return not isinstance(columns, str) or columns == "auto"


def _asked(schema: Schema, columns: Any) -> set[Any]:
    """Return the names and positions of the columns whose kinds are asked for."""
    if isinstance(columns, str):
        return set()
    return {member for key in columns for member in (key if isinstance(key, tuple) else (key,))}


def _too_many(schema: Schema, wider: Schema, columns: Any) -> bool:
    """Are there whole numbers that are categories only as long as there are few of them?"""
    asked, counts = _asked(schema, columns), wider.category_counts
    for k, j in enumerate(schema.positions("categorical").tolist()):
        if counts[k] > max(MOST_CATEGORIES, schema.category_counts[k]):
            guessed = not {schema.names[j], j} & asked
            if guessed and all(isinstance(v, int) for v in wider.categories[k]):
                return True
    return False


def _has_text_among_numbers(schema: Schema, both: Schema) -> bool:
    """Is a column of numbers in the training rows one of categories now, and text among them?"""
    numbers = set(range(schema.width)) - set(schema.positions("categorical").tolist())
    return any(
        j in numbers and any(isinstance(v, str) for v in categories)
        for j, categories in zip(
            both.positions("categorical").tolist(), both.categories, strict=True
        )
    )


def _guess_again(
    schema: Schema, blocks: Blocks, X: Any, columns: Any, who: str
) -> tuple[Schema, Blocks, Blocks]:
    """Guess the kinds of columns from all rows."""
    alone = read_schema(X, columns)
    if alone.width != schema.width or (alone.named and alone.names != schema.names):
        encode(schema, X, learn=False, who=who)  # says what is wrong
    encoded = encode(alone, X, learn=True, who=who)
    queries = alone.extended(encoded.novel).decode(encoded.blocks).values()
    known = schema.decode(blocks).values()
    cells = [[*a.tolist(), *b.tolist()] for a, b in zip(known, queries, strict=True)]
    rows = [dict(zip(schema.names, row, strict=True)) for row in zip(*cells, strict=True)]
    both = read_schema(rows, columns)
    n = len(blocks[0])
    first = encode(both, rows[:n], learn=True, who=who)
    both = both.extended(first.novel)
    second = encode(both, rows[n:], learn=True, who=who)
    arranged, query = _arrange(both, both.extended(second.novel), second)
    return arranged, first.blocks, query


def _arrange(schema: Schema, wider: Schema, encoded: Encoded) -> tuple[Schema, Blocks]:
    """Number the new categories by what they are, not by which came first."""
    if not encoded.novel:
        return wider, encoded.blocks
    at = wider.blocks.index("categorical")
    codes, categories = encoded.blocks[at].copy(), list(wider.categories)
    for k, old in enumerate(schema.category_counts.tolist()):
        new = categories[k][old:]
        order = sorted(range(len(new)), key=lambda v: (type(new[v]).__name__, repr(new[v])))
        place = np.arange(len(categories[k]) + 1)
        place[-1] = -1  # of a missing cell
        place[[old + v for v in order]] = np.arange(old, len(categories[k]))
        codes[:, k] = place[codes[:, k]]
        categories[k] = (*categories[k][:old], *(new[v] for v in order))
    blocks = (*encoded.blocks[:at], codes, *encoded.blocks[at + 1 :])
    return Schema(
        wider.columns, wider.named, tuple(categories), wider.sources, wider.joint, wider.marked
    ), blocks
