"""Which kind is each column: the `columns=` argument and the "auto" rule.

The rule: booleans and columns with only {0, 1} are binary; strings, objects and categoricals
are categorical; floats are real; integers with at most 10 distinct values are categorical,
other integers real. Objects that are all numbers are judged as the numbers they are, and columns
of a frame that are float only because their whole numbers have holes as whole numbers. No column is
a count unless `columns=` says so: whole numbers may also be years, ranks or codes. Real columns
that are real only by this rule get the transform that `shapes.choose` finds, if any.
"""

import numbers
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.cells import NUMBERS, encode_real, is_missing
from infinimix.tables.forms import Cells, Columns, Table
from infinimix.tables.readers import open_table
from infinimix.tables.schema import KINDS, Column, Schema
from infinimix.tables.shapes import FEWEST, TRANSFORMS, choose
from infinimix.tables.transforms import Transform

__all__ = ["MOST_CATEGORIES", "MOST_JOINT", "read_schema"]

#: Integers with more distinct values than this are real.
MOST_CATEGORIES = 10

#: A gaussian block keeps four numbers for every two of its columns, in every group.
MOST_JOINT = 128

_LATER = ("text",)


def read_schema(
    X: Any, columns: str | Mapping[Any, str] = "auto", natural: Collection[Any] = ()
) -> Schema:
    """Decide the kind of each column of a table.

    Parameters
    ----------
    X : data frame, 2-D array, sparse matrix, list of dicts or list of lists
        The table. Only its columns are read: the categories stay empty until `encode`.
    columns : str or mapping
        ``"auto"``, one kind for all columns, or a mapping from column to kind; a mapping may
        leave columns out, which are then ``"auto"``. Columns without names are addressed by
        their position or as ``"x0"``, ``"x1"``, ... ``"real:log"`` and ``"real:rank"`` ask for
        a transform as well, ``"real"`` for none. A tuple of columns with the kind
        ``"gaussian"`` is a block of its own; all columns that have this kind without a tuple
        are one block together.
    natural : collection
        Columns, or the kind ``"real"``, to which ``"auto"`` gives no transform.

    Returns
    -------
    Schema

    Examples
    --------
    >>> import numpy as np
    >>> read_schema(np.array([[0, 1.5], [1, 2.5]])).kinds()
    {'x0': 'binary', 'x1': 'real'}
    """
    table = open_table(X)
    if table.width == 0:
        raise errors.too_few("feature", (table.n_rows, 0))
    asked = _read_request(columns, table)
    found, sources = [], []
    for j, name in enumerate(table.names):
        cells = table.column(j)
        sources.append(_source(cells, name))
        kind, _, transform = asked.get(j, "auto").partition(":")
        if kind == "auto":
            holed = isinstance(table, Columns) and _whole_but_for_holes(cells)
            kind = _judge(cells, "int" if holed else sources[-1])
            free = kind == "real" and not {"real", name, table.labels[j], j} & set(natural)
            found.append(Column(name, kind, _choose(cells, name) if free else None))
        else:
            found.append(Column(name, kind, _find(cells, name, transform) if transform else None))
    empty = tuple(() for column in found if column.kind == "categorical")
    return Schema(tuple(found), table.named, empty, tuple(sources), _blocks(columns, found, table))


def _read_request(columns: str | Mapping[Any, str], table: Table) -> dict[int, str]:
    """The kinds the user asked for, by position."""
    if isinstance(columns, str):
        return dict.fromkeys(range(table.width), _check_kind(columns))
    if not isinstance(columns, Mapping):
        raise ValueError(
            "columns must be 'auto', a kind or a mapping from column to kind, "
            f"not a {type(columns).__name__}"
        )
    places, asked = _places(table), {}
    blocks = [key for key in columns if isinstance(key, tuple) and key not in places]
    for key, kind in columns.items():
        kind = _check_kind(kind)
        for member in _check_block(key, kind) if key in blocks else (key,):
            if member not in places:
                raise ValueError(
                    f"columns names {member!r}, which is not a column of X; it has "
                    + errors.listed(table.names)
                )
            j = places[member]
            if j in asked and blocks:
                raise ValueError(f"columns names the column {table.names[j]!r} twice")
            asked[j] = kind
    return asked


def _places(table: Table) -> dict[Any, int]:
    """Where each column is, by name and by label."""
    places: dict[Any, int] = {name: j for j, name in enumerate(table.names)}
    return places | {label: j for j, label in enumerate(table.labels)}


def _check_block(key: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    if kind != "gaussian" or not key:
        raise ValueError(
            f"columns: {key!r} is no column of X, and only a gaussian block is named by a tuple of "
            f'its columns, as in {{("x0", "x1"): "gaussian"}}; got the kind {kind!r}'
        )
    return key


def _blocks(columns: Any, found: list[Column], table: Table) -> tuple[tuple[int, ...], ...]:
    """The positions of the columns of each gaussian block, by their first column."""
    places = _places(table)
    named = [] if isinstance(columns, str) else [key for key in columns if key not in places]
    blocks = [tuple(sorted(places[member] for member in key)) for key in named]
    inside = {j for members in blocks for j in members}
    others = (j for j, column in enumerate(found) if column.kind == "gaussian" and j not in inside)
    blocks = sorted(block for block in (*blocks, tuple(others)) if block)
    for block in blocks:
        if len(block) > MOST_JOINT:
            raise ValueError(
                f"columns asks for a gaussian block of {len(block)} columns; at most {MOST_JOINT} "
                "can be modelled jointly. Make several blocks of them, or let some be real"
            )
    return tuple(blocks)


def _check_kind(kind: Any) -> str:
    if kind in _LATER:
        raise ValueError(f"columns: the kind {kind!r} is not available yet; there are {KINDS}")
    if isinstance(kind, str) and ":" in kind:
        return _check_transform(kind)
    if not isinstance(kind, str) or kind not in (*KINDS, "auto"):
        raise ValueError(f"columns: unknown column kind {kind!r}; there are {('auto', *KINDS)}")
    return kind


def _check_transform(request: str) -> str:
    kind, _, transform = request.partition(":")
    known = " and ".join(f"'real:{name}'" for name in TRANSFORMS)
    if kind != "real":
        raise ValueError(
            f"columns: {request!r} asks for a transform, which only real columns have; "
            f"there are {known}"
        )
    if transform not in TRANSFORMS:
        raise ValueError(
            f"columns: unknown transform {transform!r} in {request!r}; there are {known}"
        )
    return request


def _find(cells: Cells, name: str, transform: str) -> Transform:
    """The transform that a column is asked to have, with the parameters that suit its cells."""
    values = encode_real(cells, name)
    return TRANSFORMS[transform](values[~np.isnan(values)])


def _choose(cells: Cells, name: str) -> Transform | None:
    """The transform that a real column has if nobody asks."""
    if len(cells.values) < FEWEST:
        return None
    try:
        values = encode_real(cells, name)
    except (TypeError, ValueError):
        return None  # `encode` will refuse the cell, in its turn
    return choose(values[~np.isnan(values)])


def _source(cells: Cells, name: str) -> str:
    """The type of a column's values: "bool", "int", "float", or "object" for all others."""
    if isinstance(cells.values, np.ndarray):
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}[cells.values.dtype.kind]
    types = set(map(type, cells.values))
    if any(issubclass(t, complex | np.complexfloating) for t in types):
        raise errors.complex_data(name)
    if cells.category or str in types:
        return "object"
    return _source_of_types({type(value) for value in cells.values if not _hole(value)})


def _hole(value: Any) -> bool:
    """Missing, without asking values that are no numbers what they think of comparison."""
    return is_missing(value) if value is None or not hasattr(value, "__len__") else False


def _source_of_types(types: set[type]) -> str:
    if not types or not all(issubclass(t, NUMBERS) for t in types):
        return "object"
    if all(issubclass(t, bool | np.bool_) for t in types):
        return "bool"
    whole = all(issubclass(t, numbers.Integral | np.bool_) for t in types)
    return "int" if whole else "float"


def _judge(cells: Cells, source: str) -> str:
    """The "auto" rule."""
    if source == "object":
        return "categorical"
    values = _observed(cells)
    if not len(values):
        return "real" if source == "float" else "categorical"
    if _only_zero_one(values):
        return "binary"
    few = source != "float" and _few_distinct(values)
    return "categorical" if few else "real"


def _whole_but_for_holes(cells: Cells) -> bool:
    """Is a column of a frame float only because its whole numbers have holes?"""
    if not cells.widened or not isinstance(cells.values, np.ndarray):
        return False
    values = np.asarray(_observed(cells))
    return 0 < len(values) < len(cells.values) and bool((values == np.rint(values)).all())


def _observed(cells: Cells) -> NDArray[Any] | set[Any]:
    """What is not missing; of a list, the distinct values."""
    if isinstance(cells.values, list):
        return {value for value in cells.values if not is_missing(value)}
    values = cells.values if cells.missing is None else cells.values[~cells.missing]
    return values[~np.isnan(values)] if values.dtype.kind == "f" else values


def _only_zero_one(values: NDArray[Any] | set[Any]) -> bool:
    if isinstance(values, set):
        return values <= {0, 1}
    return bool(((values == 0) | (values == 1)).all())


def _few_distinct(values: NDArray[Any] | set[Any]) -> bool:
    if isinstance(values, set):
        return len(values) <= MOST_CATEGORIES
    if len(np.unique(values[:1000])) > MOST_CATEGORIES:
        return False
    return len(np.unique(values)) <= MOST_CATEGORIES
