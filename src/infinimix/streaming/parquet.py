"""Parquet files, in chunks or as a whole, by PyArrow or polars, whichever is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from infinimix.streaming.bad import StreamError

if TYPE_CHECKING:
    from infinimix.streaming.chunks import Chunk
    from infinimix.streaming.readers import StreamReader

MAGIC = b"PAR1"  # the first and the last bytes of a file
BLOCK = 50_000  # rows that polars decodes at once: it starts again for each


def read_parquet(reader: StreamReader) -> Iterator[Chunk]:
    """Yield chunks of a Parquet file as frames of the library that reads it."""
    if reader.source == "-":
        raise ValueError("Parquet cannot be read from standard input; its index is at its end.")
    if isinstance(reader.source, str | os.PathLike) and os.path.isfile(reader.source):
        _check_file(reader.source)
    frames = _read_arrow if _has_arrow() else _read_polars
    for frame in frames(reader.source, reader.chunk):
        yield _split(reader, frame)


def _has_arrow() -> bool:
    """Whether PyArrow reads files; ImportError if nothing does."""
    from infinimix.tables.parquet_files import find_library  # here, as a stream of CSV needs none

    return find_library() == "pyarrow"


def check_magic(head: bytes, tail: bytes, name: Any) -> None:
    """Refuse what is no Parquet before a library is loaded, which takes half a second."""
    if not head.startswith(MAGIC) or not tail.endswith(MAGIC):
        raise StreamError(f"{name} cannot be read as Parquet: it does not begin and end with PAR1.")


def _check_file(source: Any) -> None:
    with open(source, "rb") as file:
        head = file.read(len(MAGIC))
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - len(MAGIC)))
        check_magic(head, file.read(), source)


class ParquetTypes(NamedTuple):
    """The types of columns, and what pandas has noted of them, as the library has them."""

    types: Mapping[str, Any]
    notes: Any = None


def read_columns(file: Any) -> tuple[dict[str, list[Any]], ParquetTypes]:
    """Return a whole Parquet file as columns of plain values, and their types in it."""
    if _has_arrow():
        import pyarrow.parquet as pq

        table = pq.read_table(file)
        types = {field.name: field.type for field in table.schema}
        return table.to_pydict(), ParquetTypes(types, table.schema.metadata)
    import polars as pl

    frame = pl.read_parquet(file)
    return frame.to_dict(as_series=False), ParquetTypes(dict(frame.schema))


def write_columns(
    columns: Mapping[str, list[Any]], file: Any, known: ParquetTypes | None = None
) -> None:
    """Write columns of plain values as a Parquet file; known types are kept."""
    types, notes = known or ParquetTypes({})
    if _has_arrow():
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrays = {name: _to_arrow(cells, types.get(name)) for name, cells in columns.items()}
        pq.write_table(pa.table(arrays).replace_schema_metadata(notes), file)
        return
    import polars as pl

    series = [_to_polars(name, cells, types.get(name)) for name, cells in columns.items()]
    pl.DataFrame(series).write_parquet(file)


def _to_arrow(cells: list[Any], type: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(cells, type=type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array(cells)  # filled cells may be none of the type


def _to_polars(name: str, cells: list[Any], type: Any) -> Any:
    import polars as pl

    try:
        return pl.Series(name, cells, dtype=type)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series(name, cells)  # filled cells may be none of the type


def _split(reader: StreamReader, native: Any) -> Chunk:
    """Take the labels off."""
    import narwhals as nw

    frame = nw.from_native(native, eager_only=True)
    for name in (reader.target, *reader.options.drop):
        if name not in frame.columns:
            raise StreamError(
                f"there is no column {name!r}; the columns are "
                + ", ".join(map(repr, frame.columns))
            )
    X = frame.drop([reader.target, *reader.options.drop]).to_native()
    return X, frame[reader.target].to_list()


def _read_arrow(source: Any, chunk: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = os.fspath(source) if isinstance(source, os.PathLike) else source
    try:
        file = pq.ParquetFile(name)
    except pa.ArrowInvalid as error:
        raise StreamError(f"{source} cannot be read as Parquet: {error}") from error
    for batch in file.iter_batches(batch_size=chunk):
        yield pa.Table.from_batches([batch])


def _read_polars(source: Any, chunk: int) -> Iterator[Any]:
    import polars as pl

    try:
        file = pl.scan_parquet(source)
        n_rows = file.select(pl.len()).collect().item()
    except pl.exceptions.ComputeError as error:
        raise StreamError(f"{source} cannot be read as Parquet: {error}") from error
    for first in range(0, n_rows, BLOCK):
        block = file.slice(first, BLOCK).collect()
        for at in range(0, len(block), chunk):
            yield block.slice(at, chunk)
