"""Which kind is each column: the `columns=` argument, or the "auto" rule of `judging`.

No column is a count unless `columns=` says so: whole numbers may also be years, ranks or
codes. Real columns that are real only by the rule get the transform that `shapes.choose` finds, if
any; and where spikes are looked for, those with a value that is common are spiked. Real and
spiked columns have the resolution that `resolution.find_resolution` finds; but the first rows of a
stream do not decide what was asked for, so that a stream may be cut anywhere.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.column import KINDS, TRANSFORMED, Column
from infinimix.tables.forms import Cells, Columns, Table
from infinimix.tables.judging import MOST_CATEGORIES, judge, source_of, whole_but_for_holes
from infinimix.tables.readers import open_table
from infinimix.tables.resolution import find_few, find_grid, find_resolution
from infinimix.tables.schema import Schema
from infinimix.tables.shapes import FEWEST, TRANSFORMS, choose, choose_spike, find_spike
from infinimix.tables.spreading import find_dates
from infinimix.tables.transforms import Spike, Transform

__all__ = [
    "GUESSED",
    "MOST_CATEGORIES",
    "MOST_JOINT",
    "AskedColumn",
    "Rule",
    "decide",
    "make_schema",
    "read_request",
    "read_schema",
]

#: Asks for a binary column that is a guess all the same, from rows that are not in this table.
GUESSED = "auto:binary"

#: A gaussian block keeps four numbers for every two of its columns, in every group.
MOST_JOINT = 128

_LATER = ("text",)


def read_schema(
    X: Any,
    columns: str | Mapping[Any, str] = "auto",
    natural: Collection[Any] = (),
    spikes: bool = False,
    stream: bool = False,
    codes: bool = False,
    chosen: Mapping[str, str] = MappingProxyType({}),
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
        a transform as well, ``"real"`` for none. ``"spiked"``, also as ``"spiked:log"`` and
        ``"spiked:rank"``, sets the most common value apart. A tuple of columns with the kind
        ``"gaussian"`` is a block of its own; all columns that have this kind without a tuple
        are one block together. ``"date"`` is a column of dates, which ``"auto"`` finds too;
        ``"date:dmy"`` and ``"date:mdy"`` say what comes first where day and month could change
        places. ``"auto:binary"`` is a column that other rows have shown to be binary, as a guess.
    natural : collection
        Columns, or the kinds ``"real"`` and ``"spiked"``, to which ``"auto"`` gives no transform;
        columns named here are not spiked by ``"auto"`` either.
    spikes : bool
        Whether ``"auto"`` makes a real column spiked if one value is common in it.
    stream : bool
        Whether X is but the first rows of a stream: columns whose kind is asked for then have no
        resolution, as it would depend on how many rows come first.
    codes : bool
        Whether integers of few values are codes of categories, however few the rows are: networks
        take them for that.
    chosen : mapping from names to kinds
        What columns that are left to ``"auto"`` are in place of what the rule says: ``"real"`` or
        ``"categorical"``, by somebody who has seen more than their values.

    Returns
    -------
    Schema

    Examples
    --------
    >>> import numpy as np
    >>> read_schema(np.array([[0, 1.5], [1, 2.5]])).kinds()
    {'x0': 'binary', 'x1': 'real'}
    """
    table, dates, columns = find_dates(open_table(X), columns)
    if table.width == 0:
        raise errors.too_few("feature", (table.n_rows, 0))
    rule = Rule(natural, spikes, stream, codes, isinstance(table, Columns), chosen)
    asked = read_request(columns, table)
    found = [
        decide(table.column(j), AskedColumn(name, table.labels[j], j, asked.get(j, "auto")), rule)
        for j, name in enumerate(table.names)
    ]
    return make_schema(table, columns, found, dates)


class Rule(NamedTuple):
    """How columns are decided: the arguments of `read_schema`, and whether the table is a frame."""

    natural: Collection[Any] = ()
    spikes: bool = False
    stream: bool = False
    codes: bool = False
    is_frame: bool = True
    chosen: Mapping[str, str] = MappingProxyType({})


class AskedColumn(NamedTuple):
    """A column, and what is asked of it."""

    name: str
    label: Any
    at: int
    kind: str


def decide(
    cells: Cells, asked: AskedColumn, rule: Rule, n_cells: int | None = None
) -> tuple[Column, str]:
    """Decide what a column is; return it, and the type of its values.

    `n_cells` is how many cells are observed where `cells` are only the distinct ones: that is
    enough for kinds without transforms.
    """
    name, source = asked.name, source_of(cells, asked.name)
    kind, _, transform = asked.kind.partition(":")
    if asked.kind == GUESSED:
        column = Column(name, "binary", guessed=True)
    elif kind == "auto":
        holed = rule.codes and rule.is_frame and whole_but_for_holes(cells)
        by_rule = judge(cells, "int" if holed else source, rule.codes, n_cells)
        kind = rule.chosen.get(name, by_rule)
        free = kind == "real" and not {"real", name, asked.label, asked.at} & set(rule.natural)
        column = _choose(cells, name, rule.spikes, rule.natural) if free else Column(name, kind)
        column = replace(column, guessed=True)
    else:
        column = Column(name, kind, _find(cells, name, kind, transform))
    if column.guessed or not rule.stream:
        column = _with_resolution(cells, column, rule.stream)
    return column, source


def make_schema(
    table: Table, columns: Any, found: Sequence[tuple[Column, str]], dates: Any = ()
) -> Schema:
    """Return the schema of columns that were decided; their categories are empty."""
    decided, sources = [column for column, _ in found], tuple(source for _, source in found)
    empty = tuple(() for column in decided if column.kind == "categorical")
    blocks = _blocks(columns, decided, table)
    return Schema(tuple(decided), table.named, empty, sources, blocks, dates=dates)


def read_request(columns: str | Mapping[Any, str], table: Table) -> dict[int, str]:
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
            f"columns: {key!r} is not a column of X, and only a gaussian block is named by a tuple "
            f'of its columns, as in {{("x0", "x1"): "gaussian"}}; got the kind {kind!r}'
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
        raise ValueError(f"columns: the kind {kind!r} is not available yet; there are {(*KINDS,)}")
    if isinstance(kind, str) and ":" in kind:
        return kind if kind == GUESSED else _check_transform(kind)
    if not isinstance(kind, str) or kind not in (*KINDS, "auto"):
        raise ValueError(f"columns: unknown column kind {kind!r}; there are {('auto', *KINDS)}")
    return kind


def _check_transform(request: str) -> str:
    kind, _, transform = request.partition(":")
    known = [f"'{one}:{name}'" for one in TRANSFORMED for name in TRANSFORMS]
    if kind not in TRANSFORMED:
        raise ValueError(
            f"columns: {request!r} asks for a transform, which only real columns have; "
            f"there are {' and '.join(known)}"
        )
    if transform not in TRANSFORMS:
        raise ValueError(
            f"columns: unknown transform {transform!r} in {request!r}; there are "
            + " and ".join(known)
        )
    return request


def _find(cells: Cells, name: str, kind: str, transform: str) -> Transform | None:
    """The transform that a column is asked to have, with the parameters that suit its cells."""
    if kind == "spiked":
        return find_spike(_seen(KINDS[kind].encode(cells, name)), transform)
    return TRANSFORMS[transform](_seen(KINDS[kind].encode(cells, name))) if transform else None


def _choose(cells: Cells, name: str, spikes: bool, natural: Collection[Any]) -> Column:
    """A column that is real if nobody asks, or spiked, with the transform that it then has."""
    if len(cells.values) < FEWEST:
        return Column(name, "real")
    try:
        values = _seen(KINDS["real"].encode(cells, name))
    except (TypeError, ValueError):
        return Column(name, "real")  # `encode` will refuse the cell, in its turn
    spike = choose_spike(values) if spikes else None
    if spike is None:
        return Column(name, "real", choose(values))
    return Column(name, "spiked", Spike(spike.atom) if "spiked" in natural else spike)


def _with_resolution(cells: Cells, column: Column, stream: bool) -> Column:
    """A column with the resolution of its encoded cells, if it is of a kind that has one.

    Its values are those of a whole table: the first rows of a stream may lack some.
    """
    if not KINDS[column.kind].transformed:
        return column
    try:
        values = KINDS[column.kind].encode(cells, column.name)
    except (TypeError, ValueError):
        return column  # as above
    grid, few = find_grid(_seen(values)), () if stream else find_few(_seen(values))
    values = column.transform.encode(values) if column.transform else values
    resolution = find_resolution(values[np.isfinite(values)])
    return replace(column, resolution=resolution, grid=grid, values=few)


def _seen(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]
