"""`read_partitions`: folders and globs of files, lazy frames, and collections of Dask."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infinimix.tables.lazy_tables import DaskTable, LazyTable
from infinimix.tables.parquet_files import read_head, read_range
from infinimix.tables.partitioned import PartitionedTable, is_of_dask, rows_at_once
from infinimix.tables.sparsity import loaded_type

__all__ = ["open_partitions", "read_partitions"]

ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
ZIPPED = (".gz", ".bz2", ".xz", ".zst", ".zip")


@dataclass(frozen=True)
class ParquetPart:
    """Some rows of a Parquet file."""

    path: str
    first: int
    n_rows: int
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.path}, rows {self.first} to {self.first + self.n_rows - 1}"

    def frames(self, text: Sequence[str] = ()) -> Iterator[Any]:
        yield read_range(self.path, self.first, self.n_rows, self.columns)


@dataclass(frozen=True)
class CsvPart:
    """A CSV file, read in batches of rows."""

    path: str
    columns: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path

    def frames(self, text: Sequence[str] = ()) -> Iterator[Any]:
        import pandas as pd

        rows = rows_at_once(len(self.columns))
        types = dict.fromkeys(text, str)
        with pd.read_csv(
            self.path, usecols=list(self.columns), dtype=types, chunksize=rows, low_memory=False,
            **self.options,
        ) as chunks:  # fmt: skip
            for chunk in chunks:
                yield chunk[list(self.columns)]


def read_partitions(
    source: Any,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    **csv_options: Any,
) -> PartitionedTable:
    """Open a table that is larger than memory, partition by partition.

    Pass the result as `X` to `fit`, with the name of a column as `y`; to `partial_fit`, which
    learns one partition after the other; or to `predict_proba` and `predict`, which then return an
    iterator of arrays.

    Parameters
    ----------
    source : path, sequence of paths, polars.LazyFrame, or a frame or array of Dask
        A folder of Parquet or CSV files, a file, or a pattern such as ``"data/*.csv"``. Files are
        read in the order of their names.
    columns : sequence of str, optional
        The columns to read; by default all of the first file.
    drop : sequence of str
        Columns to leave out.
    csv_options : options
        Options of `pandas.read_csv`, such as ``sep`` and ``decimal``.

    Returns
    -------
    PartitionedTable

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from infinimix import AClassClassifier, read_partitions
    >>> rows = pd.DataFrame({"size": [1.0, 1.2, 5.0, 5.3] * 5, "kind": [*"aabb"] * 5})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(2):
    ...         rows.to_csv(f"{folder}/{i}.csv", index=False)
    ...     table = read_partitions(folder)
    ...     model = AClassClassifier(random_state=0).fit(table, "kind")
    >>> model.class_count_.tolist()
    [20, 20]
    """
    if is_of_dask(source) or isinstance(source, loaded_type("polars", "LazyFrame")):
        return _open_lazily(source, columns, drop)
    paths = find_files(source)
    formats = {_format_of(path) for path in paths}
    if len(formats) > 1:
        raise ValueError(f"{source} holds files of several formats: {', '.join(sorted(formats))}")
    if formats == {"parquet"}:
        return _open_parquet(paths, columns, drop)
    return _open_csv(paths, columns, drop, csv_options)


def open_partitions(X: Any) -> PartitionedTable:
    """Return what `is_in_partitions` as a table in partitions."""
    return X if isinstance(X, PartitionedTable) else read_partitions(X)


def find_files(source: Any) -> list[str]:
    """Return the files of a folder, of a pattern, or of a list of these, by name."""
    if not isinstance(source, str | os.PathLike):
        return [path for one in source for path in find_files(one)]
    name = os.fspath(source)
    if os.path.isdir(name):
        found = [entry.path for entry in os.scandir(name) if entry.is_file()]
        found = [path for path in found if _ending(path) in ENDINGS]
    else:
        found = [name] if os.path.isfile(name) else glob.glob(name)
    if not found:
        raise FileNotFoundError(
            f"{name}: there is no such file, no file of this pattern, or no .parquet or .csv file "
            "in this folder"
        )
    return sorted(found)


def _ending(path: str) -> str:
    stem, end = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if end in ZIPPED else end


def _format_of(path: str) -> str:
    if _ending(path) not in ENDINGS:
        raise ValueError(f"{path}: partitions are files that end in {', '.join(ENDINGS)}")
    return ENDINGS[_ending(path)]


def _chosen(
    names: Sequence[str], columns: Sequence[str] | None, drop: Sequence[str], where: str
) -> tuple[str, ...]:
    """Return the columns to read, in the order of the first partition."""
    for name in (*(columns or ()), *drop):
        if name not in names:
            raise ValueError(
                f"{where} has no column {name!r}; it has {', '.join(map(repr, names))}"
            )
    kept = names if columns is None else [name for name in names if name in columns]
    return tuple(name for name in kept if name not in drop)


def _open_parquet(
    paths: Sequence[str], columns: Sequence[str] | None, drop: Sequence[str]
) -> PartitionedTable:
    parts: list[Any] = []
    names = _chosen(read_head(paths[0]).names, columns, drop, paths[0])
    step = rows_at_once(len(names))
    for path in paths:
        head = read_head(path)
        _chosen(head.names, names, (), path)
        parts += [
            ParquetPart(path, first, min(step, head.n_rows - first), names)
            for first in range(0, head.n_rows, step)
        ]
    return PartitionedTable(parts, names)


def _open_csv(
    paths: Sequence[str],
    columns: Sequence[str] | None,
    drop: Sequence[str],
    options: Mapping[str, Any],
) -> PartitionedTable:
    import pandas as pd

    if _format_of(paths[0]) == "csv" and ".tsv" in paths[0].lower():
        options = {"sep": "\t", **options}
    sep = options.get("sep", options.get("delimiter", ","))
    if pd.__version__ < "3" and "engine" not in options and sep is not None and len(sep) == 1:
        options = {"float_precision": "round_trip", **options}  # as pandas 3 reads numbers
    heads = [[*pd.read_csv(path, nrows=0, **options).columns] for path in paths]
    names = _chosen(heads[0], columns, drop, paths[0])
    for path, head in zip(paths, heads, strict=True):
        _chosen(head, names, (), path)
    return PartitionedTable([CsvPart(path, names, dict(options)) for path in paths], names)


def _open_lazily(
    source: Any, columns: Sequence[str] | None, drop: Sequence[str]
) -> PartitionedTable:
    if columns is None and not drop:
        return DaskTable(source) if is_of_dask(source) else LazyTable(source)
    if is_of_dask(source):
        names = _chosen([*source.columns], columns, drop, "the frame")
        return DaskTable(source[[*names]])
    names = _chosen(source.collect_schema().names(), columns, drop, "the lazy frame")
    return LazyTable(source.select([*names]))
