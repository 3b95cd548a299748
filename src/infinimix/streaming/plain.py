"""Tables as JSON and back, to the bit: what a log keeps of the rows that were learned.

Arrays and sparse matrices keep their bytes; rows as dicts or lists keep their values. Frames become
rows as dicts. A missing cell is null. A record without rows says that a provisional class was given
a name.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from infinimix.tables.dates import is_temporal
from infinimix.tables.jsonable import from_jsonable, to_jsonable
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import as_dicts
from infinimix.tables.sparsity import is_sparse


def to_json(X: Any, y: list[Any] | None, **more: Any) -> bytes:
    """Return rows, labels and more as one line of JSON, without its end.

    Raises
    ------
    TypeError
        If a cell is no number, text, bytes or missing, with the name of its column.
    """
    labels = None if y is None else [_cell(label, "y") for label in y]
    record = {**more, "X": _plain_table(X), "y": labels}
    return json.dumps(record, separators=(",", ":")).encode("ascii")


def name_to_json(number: int, label: Any, **more: Any) -> bytes:
    """Return the name that a provisional class is given, and more, as one line of JSON."""
    record = {**more, "name": [number, _cell(label, "name")]}
    return json.dumps(record, separators=(",", ":")).encode("ascii")


def from_json(text: bytes) -> dict[str, Any]:
    """Return what `to_json` or `name_to_json` wrote, all as it is to be learned."""
    record: dict[str, Any] = json.loads(text)
    if "name" in record:
        number, label = record["name"]
        return record | {"name": (number, from_jsonable(label))}
    record["X"] = _read_table(record["X"])
    if record["y"] is not None:
        record["y"] = [from_jsonable(label) for label in record["y"]]
    return record


def as_learned(record: bytes, X: Any, y: list[Any] | None) -> tuple[Any, list[Any] | None]:
    """Return what `from_json` reads in a record of these rows, without reading where it is X."""
    if not _is_itself(X):
        rows = from_json(record)
        return rows["X"], rows["y"]
    return X, None if y is None else [from_jsonable(_cell(label, "y")) for label in y]


def _is_itself(X: Any) -> bool:
    """Whether a table comes back from JSON as it is."""
    if type(X) is np.ndarray:
        return X.dtype.kind in "biuf" and X.flags.c_contiguous
    return type(X) is list and all(type(row) is str for row in X)


def _plain_table(X: Any) -> dict[str, Any]:
    if is_sparse(X):
        matrix = X.tocsr()
        parts = (matrix.data, matrix.indices, matrix.indptr)
        return {"csr": [_plain_array(part) for part in parts], "shape": list(matrix.shape)}
    plain = type(X) is np.ndarray and X.dtype.kind in "biuf"
    if plain:
        return {"array": _plain_array(X)}
    if isinstance(X, np.ndarray):  # of objects, or with a mask
        X = [[None if v is np.ma.masked else v for v in row] for row in X]
    rows = list(X) if isinstance(X, list | tuple) else list(as_dicts(X))
    if rows and all(isinstance(row, str) for row in rows):
        return {"texts": [_cell(row, "text") for row in rows]}
    if not rows or not isinstance(rows[0], Mapping):
        cells = [[_cell(value, f"x{j}") for j, value in enumerate(row)] for row in rows]
        return {"lists": cells}
    if all(isinstance(key, str) for row in rows for key in row):
        return {"dicts": [{k: _cell(v, k) for k, v in row.items()} for row in rows]}
    pairs = [[[_cell(k, "key"), _cell(v, str(k))] for k, v in row.items()] for row in rows]
    return {"pairs": pairs}


def _read_table(data: dict[str, Any]) -> Any:
    if "csr" in data:
        from scipy import sparse  # slow to load, and most rows are dicts

        parts = tuple(_read_array(part) for part in data["csr"])
        return sparse.csr_array(parts, shape=tuple(data["shape"]))
    if "array" in data:
        return _read_array(data["array"])
    if "texts" in data:
        return data["texts"]
    if "lists" in data:
        return [[from_jsonable(value) for value in row] for row in data["lists"]]
    rows = data["pairs"] if "pairs" in data else [row.items() for row in data["dicts"]]
    return [{from_jsonable(k): from_jsonable(v) for k, v in row} for row in rows]


def _plain_array(array: np.ndarray) -> list[Any]:
    array = np.ascontiguousarray(array)
    text = base64.b64encode(array.tobytes()).decode("ascii")
    return [array.dtype.str, list(array.shape), text]


def _read_array(data: list[Any]) -> np.ndarray:
    dtype, shape, text = data
    return np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape).copy()


def _cell(value: Any, column: str) -> Any:
    if type(value) is str:  # as below, at once: a document a row comes here thousands of times
        return value
    if isinstance(value, np.ndarray | list | dict | set | tuple):
        raise TypeError(f"column {column!r} has a {type(value).__name__} in a cell")
    if is_missing(value):
        return None
    if is_temporal(value) and not isinstance(value, dt.timedelta):
        value = value.astype("M8[us]").item() if isinstance(value, np.generic) else value
        return value.isoformat()  # which is read as the same date
    return to_jsonable(value.item() if isinstance(value, np.generic) else value, column)
