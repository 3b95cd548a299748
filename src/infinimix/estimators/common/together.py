"""Training and query rows as one table.

The queries of a batch are rows of the table like any other: their categories count, and where
the kinds of columns were guessed they are guessed from all rows together (of five rows, a column
of 0, 1 and 2 may look binary, and few rows of few numbers real); but text in a column of numbers
is refused, as it is one by one. Nothing here depends on the order of the queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from infinimix.tables import EncodedTable, Schema, encode, read_schema
from infinimix.tables.aligned import open_aligned
from infinimix.tables.forms import Cells, Table
from infinimix.tables.judging import judge

CHOSEN = ("real", "categorical")  # what rows choose between; no rows choose nothing


def join(known: EncodedTable, X: Any, columns: Any, who: str) -> tuple[EncodedTable, EncodedTable]:
    """Return both tables in the schema of both together.

    Parameters
    ----------
    known : EncodedTable
        The training rows.
    X : table
        The queries.
    columns
        As the user asks for.
    who : str
        For error messages.
    """
    schema = known.schema
    guessed = _guesses(columns) and not schema.dates
    chosen = _chosen(known, columns) if guessed else {}
    try:
        query = encode(schema, X, learn=True, who=who, strict=guessed, lenient=True)
    except (TypeError, ValueError):
        if not guessed:
            raise
        joined = _guess_again(known, X, columns, who, chosen)
        if _has_text_among_numbers(schema, joined[0].schema):  # a slip makes no category
            raise
        return joined
    if guessed and _is_another_guess(known, query, columns, chosen):
        return _guess_again(known, X, columns, who, chosen)
    query = _arrange(query)
    return known._replace(schema=query.schema), query


def canonical_order(table: EncodedTable) -> np.ndarray:
    """Return an order of the rows that depends on nothing but their cells."""
    cells = np.concatenate([block.astype(float) for block in table.blocks], axis=1)
    return np.lexsort(cells.T)


def average_equals(table: EncodedTable, answers: np.ndarray) -> np.ndarray:
    """Return answers about rows in canonical order; rows with equal cells get equal answers."""
    blocks = [np.nan_to_num(block.astype(float), nan=np.inf) for block in table.blocks]
    cells = np.concatenate(blocks, axis=1)
    first = np.append(True, (cells[1:] != cells[:-1]).any(axis=1))
    run = np.cumsum(first) - 1
    sums = np.zeros((run[-1] + 1, answers.shape[1]))
    np.add.at(sums, run, answers)
    return np.asarray(sums[run] / np.bincount(run)[run, None])


def _guesses(columns: Any) -> bool:
    return not isinstance(columns, str) or columns == "auto"


def _asked(columns: Any) -> set[Any]:
    """Return the names and positions of the columns whose kinds are asked for."""
    if isinstance(columns, str):
        return set()
    return {member for key in columns for member in (key if isinstance(key, tuple) else (key,))}


def _is_another_guess(
    known: EncodedTable, query: EncodedTable, columns: Any, chosen: Mapping[str, str]
) -> bool:
    """Is a column of numbers of another kind if all rows are judged together?"""
    schema = known.schema
    parts = schema.decode(known.blocks), schema.extended(query.novel).decode(query.blocks)
    return bool(_judged_otherwise(schema, columns, *parts).keys() - chosen.keys())


def _chosen(known: EncodedTable, columns: Any) -> dict[str, str]:
    """Return the kinds of columns that the training rows chose against the rule: they stay."""
    schema, holes = known.schema, known.holes()
    found = _judged_otherwise(schema, columns, schema.decode(known.blocks))
    empty = {name for j, name in enumerate(schema.names) if holes[:, j].all()}
    return {n: kind for n, kind in found.items() if kind in CHOSEN and n not in empty}


def _judged_otherwise(schema: Schema, columns: Any, *parts: dict[str, Any]) -> dict[str, str]:
    """Return the kinds of columns of numbers that the rule does not give them, for these rows."""
    found, asked = {}, _asked(columns)
    for j, column in enumerate(schema.columns):
        if schema.sources[j] in ("int", "float") and not {column.name, j} & asked:
            cells = np.concatenate([np.asarray(part[column.name], float) for part in parts])
            kind = "real" if column.record.has_atom else column.kind
            if kind != judge(Cells(cells), "float"):
                found[column.name] = kind
    return found


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
    known: EncodedTable, X: Any, columns: Any, who: str, chosen: Mapping[str, str]
) -> tuple[EncodedTable, EncodedTable]:
    """Guess the kinds of columns from all rows, but for those that were chosen."""
    schema = known.schema
    table = open_aligned(schema, X, who)  # by name, in the order of the training rows
    old = [column.tolist() for column in schema.decode(known.blocks).values()]
    cells = [[*old[j], *_listed(table.column(j))] for j in range(schema.width)]
    rows = [dict(zip(schema.names, row, strict=True)) for row in zip(*cells, strict=True)]
    both = read_schema(rows, _requests(schema, table, columns), chosen=chosen)
    first = encode(both, rows[: known.n_rows], learn=True, who=who)
    both = both.extended(first.novel)
    second = _arrange(encode(both, rows[known.n_rows :], learn=True, who=who))
    return EncodedTable(second.schema, first.blocks), second


def _listed(cells: Cells) -> list[Any]:
    """Return a column as a list, with None where a mask says that cells are missing."""
    values = cells.values if isinstance(cells.values, list) else cells.values.tolist()
    if cells.missing is None:
        return values
    return [None if hole else v for v, hole in zip(values, cells.missing.tolist(), strict=True)]


def _requests(schema: Schema, table: Table, columns: Any) -> dict[Any, str]:
    """Return what is asked of columns, by their names; columns of no numbers stay categorical."""
    names: dict[Any, str] = dict(enumerate(schema.names))
    names |= dict(zip(table.labels, schema.names, strict=True))
    names |= {name: name for name in schema.names}

    def name_of(key: Any) -> str:
        return names.get(key, str(key))  # a label of the training rows that X does not have

    asked: dict[Any, str] = {}
    for key, kind in {} if isinstance(columns, str) else columns.items():
        block = isinstance(key, tuple) and key not in names
        asked[tuple(map(name_of, key)) if block else name_of(key)] = kind
    seen = zip(schema.positions("categorical").tolist(), schema.categories, strict=True)
    kept = [schema.names[j] for j, values in seen if values and schema.sources[j] == "object"]
    return dict.fromkeys(kept, "categorical") | asked


def _arrange(table: EncodedTable) -> EncodedTable:
    """Add new categories to the schema, numbered by what they are, not by which came first."""
    if not table.novel:
        return table
    schema, wider = table.schema, table.schema.extended(table.novel)
    at = wider.blocks.index("categorical")
    codes, categories = table.blocks[at].copy(), list(wider.categories)
    for k, old in enumerate(schema.category_counts.tolist()):
        new = categories[k][old:]
        order = sorted(range(len(new)), key=lambda v: (type(new[v]).__name__, repr(new[v])))
        place = np.arange(len(categories[k]) + 1)
        place[-1] = -1  # of a missing cell
        place[[old + v for v in order]] = np.arange(old, len(categories[k]))
        codes[:, k] = place[codes[:, k]]
        categories[k] = (*categories[k][:old], *(new[v] for v in order))
    blocks = (*table.blocks[:at], codes, *table.blocks[at + 1 :])
    return EncodedTable(replace(wider, categories=tuple(categories)), blocks)
