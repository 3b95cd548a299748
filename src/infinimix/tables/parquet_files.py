"""Parquet files by ranges of rows, by polars or PyArrow, whichever is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

__all__ = ["ParquetHead", "find_library", "read_head", "read_range"]


class ParquetHead(NamedTuple):
    """What a file says of itself."""

    n_rows: int
    names: list[str]


def find_library() -> str:
    """Return which library is there to read Parquet."""
    for name in ("pyarrow", "polars"):
        if find_spec(name):
            return name
    raise ImportError("Parquet files need PyArrow or polars: pip install pyarrow")


def read_head(path: str) -> ParquetHead:
    """Read the index of a file; ValueError if it is no Parquet."""
    if find_library() == "pyarrow":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            found = pq.read_metadata(path)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} cannot be read as Parquet: {error}") from error
        return ParquetHead(found.num_rows, list(pq.read_schema(path).names))
    import polars as pl

    try:
        file = pl.scan_parquet(path, glob=False)
        names = file.collect_schema().names()
        return ParquetHead(file.select(pl.len()).collect().item(), names)
    except pl.exceptions.ComputeError as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error


def read_range(path: str, first: int, n_rows: int, names: Sequence[str]) -> Any:
    """Return some rows and columns as a frame of the library that reads them."""
    if find_library() == "polars":
        import polars as pl

        file = pl.scan_parquet(path, glob=False)
        return file.select(list(names)).slice(first, n_rows).collect()
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    groups: list[int] = []
    start = at = 0
    for g in range(file.num_row_groups):
        size = file.metadata.row_group(g).num_rows
        if at < first + n_rows and first < at + size:
            start = at if not groups else start
            groups.append(g)
        at += size
    rows = file.read_row_groups(groups, columns=list(names))
    return rows.slice(first - start, n_rows).combine_chunks()
