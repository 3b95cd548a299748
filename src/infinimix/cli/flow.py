"""Streams for the command: kinds from the first rows, a learner that may be kept in a folder."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.bundles import KindOptions
from infinimix.cli.columns_in import MARKERS, NUMERIC_MARKERS
from infinimix.cli.dates import find_dates, tell_dates
from infinimix.cli.errors import CommandError
from infinimix.cli.files import find_format, look_at, read_source
from infinimix.cli.ids import find_stream_ids, holds_texts, word_ids
from infinimix.cli.kinds import FLAGS
from infinimix.cli.learning import find_class, make, reads_tables
from infinimix.cli.out import is_watched, mention
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import need_columns, split_names, understand
from infinimix.evaluation.abilities import LearnsTables, able
from infinimix.streaming.bad import BadRecords, StreamError
from infinimix.streaming.readers import StreamReader, read_stream
from infinimix.tables.rows import as_dicts, cut

if TYPE_CHECKING:
    from infinimix.streaming.result import PrequentialResult

UNLABELLED = ("aclass",)  # models that learn rows without label
RECORD = re.compile(r"line \d+: ")  # begins what is wrong with one record, not with the file
BARS = "▁▂▃▄▅▆▇█"
POINTS = 40


def read_rows(path: Path, reading: Reading, target: str) -> list[dict[str, Any]]:
    """Return the rows of an Excel file as a stream has them."""
    source = read_source(path, reading)
    need_columns(source, [target, *reading.drop], "an option")
    table = understand(source, reading, labels=target)
    columns = table.plain_columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@dataclass
class Flow:
    """A stream as the user described it; an iterable of chunks, read once."""

    source: Path
    target: str
    text: str | None
    reads: KindOptions
    chunk: int
    skip_bad: bool
    keep: Sequence[str] = ()  # columns to use, although they seem to name rows
    skip: int = 0  # rows that have been learned before
    unlabelled: bool = False  # whether the model learns rows without label
    knows: bool = False  # whether it knows classes before the first row
    names: list[str] = field(default_factory=list)
    spare: list[str] = field(default_factory=list)
    dates: dict[str, str] = field(default_factory=dict)  # their kinds
    ids: dict[str, str] = field(default_factory=dict)  # columns left out, and why

    def __post_init__(self) -> None:
        reading = self.reads.reading
        self.drop = reading.drop
        format: str | None = find_format(self.source, reading.format)
        encoding, delimiter = reading.encoding, reading.delimiter
        if format in ("csv", "tsv", "jsonl") and self.source.is_file():
            encoding, delimiter = look_at(self.source, str(format), reading)
        given: Any = str(self.source)
        if format == "xlsx":
            given, format = read_rows(self.source, reading, self.target), None
        reader = read_stream(
            given, self.target, format=format, chunk=self.chunk, drop=self.drop,
            on_bad="skip" if self.skip_bad else "raise",
            missing=MARKERS if reading.missing is None else ("", *reading.missing),
            dashes=NUMERIC_MARKERS if reading.missing is None else (),
            delimiter=delimiter, encoding=encoding, decimal=reading.decimal,
            only=None if self.text is None else [self.text], unlabelled=self.unlabelled,
        )  # fmt: skip
        self._chunks = self._read(reader)
        self._first = next(self._chunks, None)
        self.bad = reader.bad
        if self._first is None:
            name = "standard input" if str(self.source) == "-" else self.source
            raise CommandError(f"{name} {_word_empty(self.bad)}; nothing was learned.")
        self._name_columns()

    def _read(self, reader: StreamReader) -> Iterator[Any]:
        """Yield chunks; a record that cannot be used is told with what may be done about it."""
        try:
            yield from reader
        except StreamError as error:
            if not RECORD.match(str(error)):
                raise
            what = "add --skip-bad to pass over such rows"
            if "it has no label" in str(error) and self.text is None:
                what += f", or --model {UNLABELLED[0]}, which learns them without label"
            raise CommandError(f"{error}; {what}.") from error

    def _name_columns(self) -> None:
        rows = list(as_dicts(self._first[0]))  # type: ignore[index]
        names = list(dict.fromkeys(str(key) for row in rows for key in row))
        if not names:
            raise CommandError(f"the stream has no column to learn from besides {self.target!r}.")
        if self.text is not None and self.text not in names:
            raise CommandError(f"the stream has no column {self.text!r}, which --text names.")
        self.names = names if self.text is None else [self.text]
        self.spare = [*self.drop, *(name for name in names if name not in self.names)]
        self._rows = rows
        if self.text is None:  # before anything slow is loaded, as an open order is refused
            named = {n for given in self.reads.kinds.values() for n in split_names(given)}
            cells = {n: [row.get(n) for row in rows] for n in names if n not in named}
            self.dates = find_dates(cells, self.reads.date_order)
            kept = {*self.keep, *self.dates}
            ids = find_stream_ids({n: c for n, c in cells.items() if n not in kept})
            self.leave_out(ids if len(ids) < len(names) else {})

    def leave_out(self, ids: Mapping[str, str]) -> None:
        """Leave out columns that name rows, and no others but those that the options name."""
        self.names = [name for name in (*self.names, *self.ids) if name not in ids]
        self.spare = [*(name for name in self.spare if name not in self.ids), *ids]
        self.ids = dict(ids)

    def columns(self) -> Any:
        """Return the kinds of all columns, by the first chunk and the options.

        What the chunk has shown to be binary stays a guess, unlike what an option names: another
        number counts as missing, and the stream goes on.
        """
        from infinimix.tables import read_schema  # numba: slow to load
        from infinimix.tables.kinds import GUESSED

        if self.text is not None:
            return "text"
        flags = self.reads.kinds.items()
        asked = {name: FLAGS[flag] for flag, names in flags for name in split_names(names)}
        unknown = [name for name in asked if name not in self.names]
        if unknown:
            raise CommandError(f"the stream has no column {unknown[0]!r}, which an option names.")
        asked |= {name: kind for name, kind in self.dates.items() if name not in asked}
        schema = read_schema(self._without_ids(self._rows), asked or "auto")
        found = schema.requests_by_input()
        guesses = [c.name for c in schema.columns if c.guessed and c.record.two_valued]
        found |= {name: GUESSED for name in guesses if name in found}
        texts = [n for n in self.ids if holds_texts(row.get(n) for row in self._rows)]
        for text in (*word_ids(self.ids, texts), *tell_dates(found)):
            warnings.warn(text, stacklevel=2)
        return found

    def __iter__(self) -> Iterator[tuple[Any, list[Any]]]:
        left = self.skip
        for X, y in self._from_first_label():
            over = min(left, len(y))
            left -= over
            if over < len(y):
                yield self._rows_of(cut(X, over, len(y))), y[over:]

    def _from_first_label(self) -> Iterator[Any]:
        """Yield chunks without the rows before the first label, if no class is known by then."""
        early, met = 0, self.knows or not self.unlabelled
        for X, y in chain([self._first], self._chunks):
            at = 0 if met else next((i for i, v in enumerate(y) if v is not None), len(y))
            early, met = early + at, met or at < len(y)
            if met:
                yield cut(X, at, len(y)), y[at:]
        if early:
            which = "the first row" if early == 1 else f"the first {early:,} rows"
            warnings.warn(
                f"{which} left out: no label had come, so no class was known.", stacklevel=2
            )

    def _rows_of(self, X: Any) -> Any:
        if self.text is None:
            return self._without_ids(as_dicts(X)) if self.ids else X
        texts = (row.get(self.text) for row in as_dicts(X))
        return ["" if text is None else str(text) for text in texts]

    def _without_ids(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{k: v for k, v in row.items() if k not in self.ids} for row in rows]


def _word_empty(bad: BadRecords) -> str:
    """Return why there are no rows."""
    if not bad.total:
        return "has no rows"
    which = "the only row was" if bad.total == 1 else f"all {bad.total:,} rows were"
    return (
        f"has no row to learn: {which} set aside, the first (line {bad[0].line}) as {bad[0].reason}"
    )


def open_learner(
    name: str, flow: Flow, settings: dict[str, Any], folder: Path | None, snapshot_every: int
) -> tuple[Any, int]:
    """Return what learns, and how many rows it has learned before."""
    from infinimix.streaming.durable import DurableLearner  # numba: slow to load
    from infinimix.streaming.recovery import newest_model

    cls = find_class(name)
    if not able(cls, LearnsTables) or not reads_tables(name):
        raise CommandError(
            f"--model: {name} cannot learn a table row by row; take online-crp or aclass."
        )
    if flow.text is not None and name != "online-crp":
        raise CommandError(f"--text: {name} does not read words; take --model online-crp.")
    if folder is None:
        return make(cls, columns=flow.columns(), **settings), 0
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--folder: {str(folder)!r} is a file; name a folder.")
    kept = newest_model(folder) if folder.exists() else None
    if kept is None:
        model = make(cls, columns=flow.columns(), **settings)
    else:  # kinds, and what names rows, were decided by the first rows of all
        known = kept.columns
        flow.leave_out({n: why for n, why in flow.ids.items() if n not in known})
        model = make(cls, columns=known, **settings)
    learner = DurableLearner(model, folder, snapshot_every)
    if learner.n_rows:
        mention(f"Going on after {learner.n_rows:,} rows in {folder}.")
    return learner, learner.n_rows


def run(
    learner: Any, flow: Flow, window: int, batch: int, max_rows: int | None
) -> PrequentialResult:
    """Let the learner go through the stream."""
    from infinimix.streaming.prequential_run import prequential  # numba: slow to load

    with _told_once():
        return prequential(
            learner, flow, window=window, batch=None if batch == 1 else batch, max_rows=max_rows,
            on_bad="skip" if flow.skip_bad else "raise", progress=is_watched(),
        )  # fmt: skip


@contextmanager
def _told_once() -> Iterator[None]:
    """Tell once of a column that it was no binary one: every row may have another number."""
    from infinimix.tables.errors import MisfitWarning

    told: set[str] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_new(message: Any, *rest: Any, **more: Any) -> None:
            if isinstance(message, MisfitWarning):
                if told.issuperset(message.columns):
                    return
                told.update(message.columns)
            show(message, *rest, **more)

        warnings.showwarning = show_new
        yield


def draw_error(curve: dict[str, list[float]]) -> str:
    """Return the error along the stream as a line of bars."""
    errors = [error for error in curve["error"] if error == error]
    if not errors:
        return "-"
    step = max(1, -(-len(errors) // POINTS))
    points = errors[::step]
    top = max(max(points), 1e-9)
    bars = "".join(BARS[min(int(p / top * 8), 7)] for p in points)
    return f"{bars}  {errors[0]:.0%} to {errors[-1]:.0%}"
