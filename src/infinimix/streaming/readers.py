"""`read_stream`: files, standard input, tables and iterators as chunks of rows and labels.

Whatever cannot be used is counted and kept with its line number and the reason; rows, bad records
and blank lines together are all that was read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from infinimix.streaming.bad import BadRecords, StreamError
from infinimix.streaming.cells import MISSING
from infinimix.streaming.chunks import Chunk, cut_up, is_many, stack
from infinimix.streaming.formats import read_csv, read_json_lines, read_svmlight, take_label
from infinimix.streaming.lines import open_lines
from infinimix.streaming.parquet import read_parquet
from infinimix.streaming.records import format_of
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import cut, pick

TEXT = {
    "csv": read_csv, "tsv": read_csv, "jsonl": read_json_lines, "svmlight": read_svmlight,
}  # fmt: skip
FORMATS = (*TEXT, "parquet")


class Options(NamedTuple):
    """What only some formats ask for."""

    drop: Sequence[str]
    names: Sequence[str] | None
    types: Mapping[str, str]
    missing: Sequence[str]
    delimiter: str
    zero_based: bool
    encoding: str | None = None
    decimal: str | None = None
    only: Sequence[str] | None = None
    unlabelled: bool = False
    dashes: Sequence[str] = ()

    def uses(self, name: str, target: Any) -> bool:
        """Whether the cells of a column have to be understood."""
        if name in self.drop:
            return False
        return self.only is None or name == target or name in self.only


def read_stream(
    source: Any,
    target: Any = None,
    *,
    format: str | None = None,
    chunk: int = 1000,
    on_bad: str = "raise",
    drop: Sequence[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    missing: Sequence[str] = MISSING,
    delimiter: str | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    encoding: str | None = None,
    decimal: str | None = None,
    only: Sequence[str] | None = None,
    unlabelled: bool = False,
    dashes: Sequence[str] = (),
) -> StreamReader:
    r"""Read rows and labels in chunks, for `prequential` or for a loop with `partial_fit`.

    Parameters
    ----------
    source : path, "-", open file, table or iterable
        A file (compressed, if its name ends in .gz, .bz2, .xz or .zst), standard input, a frame,
        array or sparse matrix, or an iterable of dicts or of pairs (row, label).
    target : str, or sequence of labels
        The column or key that holds the label; for arrays and matrices the labels themselves.
        Files of svmlight and pairs have their labels with them.
    format : "csv", "tsv", "jsonl", "parquet" or "svmlight", optional
        By default what the name of the file says.
    chunk : int
        Rows in a chunk.
    on_bad : "raise" or "skip"
        What to do with a record that cannot be used: raise `StreamError`, after the rows before
        it, or go on. It is counted and listed in `bad` in either case.
    drop : sequence of str
        Columns to leave out.
    names : sequence of str, optional
        The columns of a CSV file without a header.
    types : mapping, optional
        "number" or "text" for columns of a CSV file. Others are numbers if all cells of the first
        chunk are (of labels: whole numbers), else text; later cells must fit.
    missing : sequence of str
        How a CSV file spells missing cells.
    delimiter : str, optional
        Between the cells of a CSV file; by default a comma, in TSV a tab.
    n_features : int, optional
        Columns of svmlight; by default as many as the first chunk has.
    zero_based : bool
        Whether svmlight counts its columns from 0.
    encoding : str, optional
        Of a text file, as Python calls it; by default UTF-8, or UTF-16 where the first bytes of
        the file show it.
    decimal : "." or ",", optional
        The decimal mark of a CSV file; by default found for each column of the first chunk. Where
        it makes a difference and cells leave it open ("1,234"), it has to be given.
    only : sequence of str, optional
        The columns of CSV and JSON lines that are used, beside the target; the others are handed
        out as they stand, whatever they hold. By default all.
    dashes : sequence of str
        How a CSV file spells missing cells in columns of numbers and dates, beside `missing`.
    unlabelled : bool
        Whether rows without a label are handed out too, with the label None; by default they are
        bad records. Files of svmlight always have labels.

    Returns
    -------
    StreamReader
        An iterable of (X, y): X is a list of dicts, a sparse matrix (svmlight) or a part of the
        table, y a list of labels.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO("size,kind\n3.1,ant\n8.2,bee\n7.9\n")
    >>> reader = read_stream(file, target="kind", format="csv", on_bad="skip")
    >>> list(reader)
    [([{'size': 3.1}, {'size': 8.2}], ['ant', 'bee'])]
    >>> reader.n_rows, reader.bad
    (2, [BadRecord(line=4, reason='it has 1 cells, but there are 2 columns')])
    """
    if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise ValueError(f"chunk must be a whole number from 1 on; got {chunk!r}.")
    is_file = isinstance(source, str | os.PathLike) or hasattr(source, "read")
    format = _find_format(source, format) if is_file else "table"
    if is_file and format != "svmlight" and not isinstance(target, str):
        raise ValueError(f"target must name the column of labels; got {target!r}.")
    delimiter = delimiter or ("\t" if format == "tsv" else ",")
    options = Options(
        tuple(drop), names, types or {}, missing, delimiter, zero_based, encoding, decimal, only,
        unlabelled, dashes,
    )  # fmt: skip
    return StreamReader(source, target, format, chunk, on_bad, options, n_features)


class StreamReader:
    """An iterable of chunks that knows what it has read; see `read_stream`.

    Attributes
    ----------
    n_rows : int
        Rows handed out so far, since the latest start.
    n_blank : int
        Blank lines so far.
    bad : list of BadRecord
        The first 1,000 bad records (line from 1 on, reason); `bad.total` counts all.
    """

    def __init__(
        self, source: Any, target: Any, format: str, chunk: int, on_bad: str, options: Options,
        n_features: int | None,
    ) -> None:  # fmt: skip
        self.source, self.target, self.format, self.chunk = source, target, format, chunk
        self.options = options
        self.on_bad = on_bad
        self._n_features = n_features
        self._start()

    def _start(self) -> None:
        self.n_rows = self.n_blank = 0
        self.bad = BadRecords(self.on_bad)
        self.n_features = self._n_features

    def __iter__(self) -> Iterator[Chunk]:
        self._start()
        for X, y in self._chunks():
            self.n_rows += len(y)
            yield X, y

    def _chunks(self) -> Iterator[Chunk]:
        if self.format == "parquet":
            yield from labelled(self, read_parquet(self))
        elif self.format == "table":
            yield from _read_table(self)
        else:
            with open_lines(self.source, self.options.encoding) as lines:
                join = self._matrix if self.format == "svmlight" else self._dicts
                yield from grouped(TEXT[self.format](self, lines), self.chunk, join)

    def _dicts(self, rows: list[Any]) -> list[Any]:
        for name in self.options.drop:
            for row in rows:
                row.pop(name, None)
        return rows

    def _matrix(self, rows: list[Any]) -> Any:
        from scipy import sparse  # slow to load, and only svmlight needs it

        if self.n_features is None:
            self.n_features = max((max(columns, default=-1) for columns, _ in rows)) + 1
        starts = [0]
        for columns, _ in rows:
            starts.append(starts[-1] + len(columns))
        values = [value for _, row in rows for value in row]
        places = [column for columns, _ in rows for column in columns]
        return sparse.csr_array((values, places, starts), shape=(len(rows), self.n_features))


def grouped(rows: Iterable[tuple[Any, Any]], size: int, join: Any) -> Iterator[Chunk]:
    """Yield rows in chunks; those before an error come before it."""
    X: list[Any] = []
    y: list[Any] = []
    failure: StreamError | None = None
    try:
        for row, label in rows:
            X.append(row)
            y.append(label)
            if len(y) == size:
                yield join(X), y
                X, y = [], []
    except StreamError as error:
        failure = error
    if y:
        yield join(X), y
    if failure is not None:
        raise failure


def labelled(reader: StreamReader, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield chunks without the rows that have no label; those are bad records, unless wanted."""
    row = 0
    for X, y in chunks:
        if reader.options.unlabelled:
            yield X, [None if is_missing(label) else label for label in y]
            continue
        holes = [i for i, label in enumerate(y) if is_missing(label)]
        if holes and reader.bad.fatal:  # the rows before it come before the error
            yield cut(X, 0, holes[0]), y[: holes[0]]
        for i in holes:
            reader.bad.add(row + i + 1, "it has no label")
        row += len(y)
        if holes:
            kept = sorted(set(range(len(y))) - set(holes))
            X, y = pick(X, kept), [y[i] for i in kept]
        if y:
            yield X, y


def _read_table(reader: StreamReader) -> Iterator[Chunk]:
    """Read what is in memory, or comes by itself."""
    source, target = reader.source, reader.target
    if isinstance(source, tuple) and len(source) == 2 and target is None:
        source, target = source
    if is_many(target):
        yield from labelled(reader, cut_up(source, target, reader.chunk))
    elif hasattr(source, "columns") and isinstance(target, str):
        from infinimix.tables.frames import to_narwhals  # narwhals: slow to load

        frame = to_narwhals(source)
        X = frame.drop([target, *reader.options.drop]).to_native()
        yield from labelled(reader, cut_up(X, frame[target].to_list(), reader.chunk))
    elif isinstance(source, Iterable):
        yield from grouped(_read_items(reader, source), reader.chunk, stack)
    else:
        raise TypeError(f"a {type(source).__name__} is not a source of rows")


def _read_items(reader: StreamReader, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for line, item in enumerate(items, 1):
        try:
            if isinstance(item, Mapping):
                row = {k: v for k, v in item.items() if k not in reader.options.drop}
                pair = row, take_label(row, reader)
            elif isinstance(item, tuple | list) and len(item) == 2:
                pair = item[0], item[1]
            else:
                raise ValueError(f"a {type(item).__name__} is neither a dict nor a pair")
            if is_missing(pair[1]) and not reader.options.unlabelled:
                raise ValueError("it has no label")
        except ValueError as error:
            reader.bad.add(line, str(error))
        else:
            yield pair


def _find_format(source: Any, format: str | None) -> str:
    if format is None:
        name = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
        format = format_of(str(name or getattr(source, "name", "")))
        if format is None:
            raise ValueError(
                f"the name of {source!r} does not say what it holds; give format=, one of "
                f"{', '.join(map(repr, FORMATS))}."
            )
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {format!r}.")
    return format
