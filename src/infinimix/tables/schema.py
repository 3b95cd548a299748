"""What is known of the columns of a table: their names, kinds and categories.

A `Schema` is a value: it never changes, it compares by content, it goes to JSON and back
exactly, and growing means making another one. That is what lets a failed call leave a model as
it was: encode against the schema, learn, and only then keep `schema.extended(novel)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.column import KINDS, TRANSFORMED, Column, Novel, kind_of
from infinimix.tables.dates import DateColumn
from infinimix.tables.decoding import decode_codes
from infinimix.tables.jsonable import from_jsonable, to_jsonable
from infinimix.tables.resolution import nearest, snap
from infinimix.tables.transforms import Transform, transform_from_json


class Spare(list[Any]):
    """Things that are used again in this process; a copy has none of them."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Spare, ()


@dataclass(frozen=True)
class Schema:
    """The columns of a table and the categories met so far.

    Attributes
    ----------
    columns : tuple of Column
        In table order.
    named : bool
        Whether the input had string column names.
    categories : tuple of tuple
        For each categorical column its values, in the order of their codes.
    sources : tuple of str
        For each column the type its values came as: ``"bool"``, ``"int"``, ``"float"`` or
        ``"object"``; `decode` gives values of that type back.
    joint : tuple of tuple of int
        The positions of the columns of each gaussian block, in table order.
    indicated : tuple of int
        The positions of the columns that have a missingness indicator, in table order; the
        indicators are at the end of the binary block.
    dates : tuple of DateColumn
        The columns of dates, each of which has become several columns.

    Examples
    --------
    >>> from infinimix.tables import encode, read_schema
    >>> rows = [{"size": 1.5, "colour": "red"}, {"size": None, "colour": "blue"}]
    >>> schema = read_schema(rows)
    >>> schema.kinds()
    {'size': 'real', 'colour': 'categorical'}
    >>> encoded = encode(schema, rows, learn=True)
    >>> schema = schema.extended(encoded.novel)
    >>> schema.categories
    (('red', 'blue'),)
    >>> schema.decode(encoded.blocks)["colour"].tolist()
    ['red', 'blue']
    """

    columns: tuple[Column, ...]
    named: bool
    categories: tuple[tuple[Any, ...], ...]
    sources: tuple[str, ...]
    joint: tuple[tuple[int, ...], ...] = ()
    indicated: tuple[int, ...] = ()
    dates: tuple[DateColumn, ...] = ()

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the columns of the table, in its order: dates before they were spread."""
        return tuple(self.positions_of)

    @cached_property
    def positions_of(self) -> dict[str, tuple[int, ...]]:
        """For each column of the table where it is here: a date is in several places."""
        owner = {column: date.name for date in self.dates for column in date.columns}
        found: dict[str, tuple[int, ...]] = {}
        for j, name in enumerate(self.names):
            key = owner.get(name, name)
            found[key] = (*found.get(key, ()), j)
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in table order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """The kinds present, in the order of `KINDS`; then ``"gaussian 1"``, ... if there are."""
        present = {column.kind for column in self.columns} | (
            {"binary"} if self.indicated else set()
        )
        more = [f"gaussian {b}" for b in range(1, len(self.joint))]
        return (*(kind for kind in KINDS if kind in present), *more)

    @cached_property
    def uniform(self) -> str | None:
        """The kind of all columns if it is one, and one whose cells need no looking up."""
        plain = not self.indicated and not self.dates
        one = len(self.blocks) == 1 and self.blocks[0] != "categorical" and plain
        return self.blocks[0] if one else None

    @cached_property
    def _positions(self) -> dict[str, NDArray[np.int64]]:
        kinds = np.array([column.kind for column in self.columns], dtype=object)
        found = {kind: np.flatnonzero(kinds == kind).astype(np.int64) for kind in KINDS}
        gaussian = (block for block in self.blocks if kind_of(block) == "gaussian")
        for block, members in zip(gaussian, self.joint, strict=True):
            found[block] = np.array(members, dtype=np.int64)
        for positions in found.values():
            positions.flags.writeable = False
        return found

    def positions(self, block: str) -> NDArray[np.int64]:
        """Where the columns of a block are, in table order (read-only)."""
        return self._positions[block]

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """For each column of the table its block, and where it is in there."""
        found = {
            int(j): (b, k)
            for b, kind in enumerate(self.blocks)
            for k, j in enumerate(self.positions(kind))
        }
        return tuple(found[j] for j in range(self.width))

    @cached_property
    def blank(self) -> dict[str, None]:
        """A row as a dict in which all cells are missing; never to be changed."""
        return dict.fromkeys(self.names)

    @cached_property
    def readers(self) -> "Spare":
        """Readers of single rows that nobody uses now (`single_rows`)."""
        return Spare()

    @cached_property
    def pickers(self) -> dict[str, Callable[[dict[str, Any]], tuple[Any, ...]]]:
        """For each block what picks its cells from a row as a dict, in table order."""
        return {block: _picker(self._names_of(block)) for block in self.blocks}

    def _names_of(self, block: str) -> list[str]:
        return [self.names[j] for j in self.positions(block).tolist()]

    def owners(self, block: str) -> NDArray[np.int64]:
        """Whose cells a block holds, in table order: as `positions`, and then whose indicators."""
        indicated = self.indicated if block == "binary" else ()
        return np.append(self.positions(block), np.array(indicated, np.int64))

    @cached_property
    def indicator_names(self) -> tuple[str, ...]:
        """What the missingness indicators are called; no column has such a name."""
        end = " is missing"
        while any(name.endswith(end) for name in self.names):
            end += "?"
        return tuple(self.names[j] + end for j in self.indicated)

    @property
    def gaussian_blocks(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of each gaussian block."""
        return tuple(tuple(self.names[j] for j in members) for members in self.joint)

    @cached_property
    def category_counts(self) -> NDArray[np.int64]:
        """The number of categories of each categorical column so far (read-only)."""
        counts = np.array([len(values) for values in self.categories], dtype=np.int64)
        counts.flags.writeable = False
        return counts

    @cached_property
    def lookups(self) -> tuple[dict[Any, int], ...]:
        """For each categorical column the code of each value; never to be changed."""
        return tuple({v: code for code, v in enumerate(values)} for values in self.categories)

    def kinds(self, indicators: bool = False) -> dict[str, str]:
        """The kind of each column, by name; if asked, those of the indicators too."""
        kinds = {column.name: column.kind for column in self.columns}
        return kinds | dict.fromkeys(self.indicator_names, "binary") if indicators else kinds

    def requests(self) -> dict[str, str]:
        """The kind and the transform of each column, by name, as `columns=` spells them."""
        shapes = {c.name: c.transform.name if c.transform else "" for c in self.columns}
        kinds = self.kinds().items()
        return {name: f"{kind}:{shapes[name]}" if shapes[name] else kind for name, kind in kinds}

    def requests_by_input(self) -> dict[str, str]:
        """The same by column of the table: `columns=` that reads another one in the same way."""
        dates = {date.name: date.request for date in self.dates}
        asked = self.requests()
        return {name: dates.get(name) or asked[name] for name in self.inputs}

    @cached_property
    def transforms(self) -> tuple[tuple[int, Transform], ...]:
        """The transforms there are, each with the place of its column in its block."""
        return tuple(pair for pairs in self.transforms_by_kind.values() for pair in pairs)

    @cached_property
    def transforms_by_kind(self) -> dict[str, tuple[tuple[int, Transform], ...]]:
        """The same by kind; never to be changed."""
        found: dict[str, tuple[tuple[int, Transform], ...]] = {}
        for kind in TRANSFORMED:
            columns = (self.columns[j] for j in self.positions(kind).tolist())
            found[kind] = tuple((k, c.transform) for k, c in enumerate(columns) if c.transform)
        return found

    @cached_property
    def resolutions(self) -> dict[str, float]:
        """The resolutions there are, of encoded cells, by name; never to be changed."""
        return {column.name: column.resolution for column in self.columns if column.resolution}

    @cached_property
    def grids(self) -> dict[str, tuple[float, float]]:
        """The grids on which natural values lie, by name; never to be changed."""
        return {column.name: column.grid for column in self.columns if column.grid}

    def snapped(self, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Columns of natural values that a model has found, as values that may occur."""
        return columns | {name: snap(columns[name], *grid) for name, grid in self.grids.items()}

    def occurring(self, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The same, as values that do occur in columns that have few."""
        few = {c.name: nearest(columns[c.name], c.values) for c in self.columns if c.values}
        return self.snapped(columns) | few

    def log_slopes(self, blocks: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """For each row of encoded blocks the log of the slopes of all transforms.

        A log density of encoded rows becomes one of natural rows by adding it.
        """
        total = np.zeros(len(blocks[0]))
        for kind, pairs in self.transforms_by_kind.items():
            for k, transform in pairs:
                slopes = transform.log_slope(blocks[self.blocks.index(kind)][:, k])
                total += np.where(np.isnan(slopes), 0.0, slopes)
        return total

    def extended(self, novel: Novel) -> "Schema":
        """A schema that knows the novel categories too, with the codes `encode` gave them."""
        if not novel:
            return self
        added: dict[int, list[Any]] = {}
        for column, value in zip(novel.columns.tolist(), novel.values, strict=True):
            added.setdefault(column, []).append(value)
        categories, lookups = list(self.categories), list(self.lookups)
        for column, values in added.items():
            first = len(categories[column])
            lookups[column] = lookups[column] | {v: first + i for i, v in enumerate(values)}
            categories[column] += tuple(values)
        grown = replace(self, categories=tuple(categories))
        grown.__dict__["lookups"] = tuple(lookups)
        return grown

    def decode(self, blocks: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Encoded blocks back to columns of natural values, by name, in table order.

        Missing numbers come back as NaN, other missing cells as None in an object array.
        """
        found: dict[int, NDArray[Any]] = {}
        for place, block in zip(self.blocks, blocks, strict=True):
            kind = kind_of(place)
            for k, j in enumerate(self.positions(place).tolist()):
                if kind == "categorical":
                    found[j] = decode_codes(block[:, k], self.categories[k])
                    continue
                transform = self.columns[j].transform
                cells = transform.decode(block[:, k]) if transform else block[:, k]
                found[j] = KINDS[kind].decoder(cells, self.sources[j])
        return {name: found[j] for j, name in enumerate(self.names)}

    def _guessed(self) -> list[int]:
        """The positions of columns that were guessed to hold bits or categories."""
        kinds = ("binary", "categorical")
        return [j for j, c in enumerate(self.columns) if c.guessed and c.kind in kinds]

    def _values(self) -> dict[str, list[float]]:
        return {c.name: list(c.values) for c in self.columns if c.values}

    def to_json(self) -> dict[str, Any]:
        """A dict of plain lists, strings and numbers for `json.dumps`; `from_json` undoes it.

        Raises
        ------
        TypeError
            If a category is neither a string, bytes, an integer, a float nor a bool.
        """
        names = (self.names[j] for j in self.positions("categorical"))
        return {
            "columns": [
                [c.name, c.kind, *([c.transform.to_json()] if c.transform else [])]
                for c in self.columns
            ],
            "named": self.named,
            "categories": [
                [to_jsonable(value, name) for value in values]
                for name, values in zip(names, self.categories, strict=True)
            ],
            "sources": list(self.sources),
            **({"joint": [list(members) for members in self.joint]} if self.joint else {}),
            **({"marked": list(self.indicated)} if self.indicated else {}),
            **({"guessed": guessed} if (guessed := self._guessed()) else {}),
            **({"resolutions": self.resolutions} if self.resolutions else {}),
            **({"grids": dict(self.grids)} if self.grids else {}),
            **({"values": values} if (values := self._values()) else {}),
            **({"dates": [_date_to_json(date) for date in self.dates]} if self.dates else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Schema":
        """The schema that `to_json` wrote."""
        guessed, steps = data.get("guessed", ()), data.get("resolutions", {})  # not in older files
        grids = {name: tuple(grid) for name, grid in data.get("grids", {}).items()}
        values = data.get("values", {})
        return cls(
            columns=tuple(
                _column_from_json(
                    *entry,
                    guessed=j in guessed,
                    resolution=steps.get(entry[0], 0.0),
                    grid=grids.get(entry[0]),
                    values=tuple(values.get(entry[0], ())),
                )
                for j, entry in enumerate(data["columns"])
            ),
            named=bool(data["named"]),
            categories=tuple(tuple(map(from_jsonable, values)) for values in data["categories"]),
            sources=tuple(data["sources"]),
            joint=tuple(tuple(members) for members in data.get("joint", ())),
            indicated=tuple(data.get("marked", ())),
            dates=tuple(map(_date_from_json, data.get("dates", ()))),
        )


def _column_from_json(name: str, kind: str, *transform: list[Any], **more: Any) -> Column:
    return Column(name, kind, transform_from_json(transform[0]) if transform else None, **more)


def _date_to_json(date: DateColumn) -> list[Any]:
    return [date.name, date.order, date.origin, list(date.parts), list(date.columns)]


def _date_from_json(data: list[Any]) -> DateColumn:
    name, order, origin, parts, columns = data
    return DateColumn(name, order, int(origin), tuple(parts), tuple(columns))


def _picker(names: list[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return partial(_pick, tuple(names))  # pickled with the schema, which a lambda is not


def _pick(names: tuple[str, ...], row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple([row[name] for name in names])
