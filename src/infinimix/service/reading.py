"""Bodies of requests as rows and labels.

Three forms, each with an optional "id" in the objects of the first two:

- one row: ``{"x": row, "y": label}``;
- many rows: ``{"rows": [row, ...], "labels": [label, ...]}``;
- a list ``[{"x": row, "y": label}, ...]``, or the same as JSON lines, one object a line.

A row is an object from column to cell, an array of cells or words, or a text. All rows of a request
are of one form, and are learned all or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from infinimix.service.limits import Limits
from infinimix.service.problems import HttpProblem, bad_field, too_large
from infinimix.streaming.requests import LONGEST_ID

JSON = "application/json"
LINES = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines")
ONE, MANY = {"x", "y", "id"}, {"rows", "labels", "id"}
ROWS = (dict, list, str)
WHOLE = (-(2**63), 2**64 - 1)  # numbers that are read as whole ones; beyond, JSON is read as floats


@dataclass
class RowBatch:
    """The rows of a request; labels are None if none of them is given."""

    X: list[Any]
    y: list[Any] | None = None
    request_id: str | None = None


def read_batch(body: bytes, media: str, limits: Limits) -> RowBatch:
    """Return the rows of a body; raise HttpProblem if it cannot be used."""
    kind = media.partition(";")[0].strip().lower()
    if kind in LINES:
        lines = [line for line in body.split(b"\n") if line.strip()]
        if len(lines) > limits.rows:
            raise too_large("rows of a request", limits.rows)
        return _of_list(
            [parse(line, limits, f"line {i + 1}") for i, line in enumerate(lines)], limits
        )
    if kind != JSON:
        raise HttpProblem(415, f"send {JSON} or {LINES[0]}, not {kind[:60] or 'nothing'!r}")
    given = parse(body, limits)
    if type(given) is list:
        return _of_list(given, limits)
    return read_object(given, limits)


def parse(text: bytes, limits: Limits, where: str = "the body") -> Any:
    """Return what a JSON text says, if it is not nested too deeply."""
    if _depth_bound(text) > limits.nesting and _depth(text) > limits.nesting:
        raise HttpProblem(422, f"{where} is nested deeper than {limits.nesting} levels")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise HttpProblem(400, f"{where} is no JSON: {error}") from None


def _depth_bound(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")


def _depth(text: bytes) -> int:
    """Return how deep brackets stand inside each other, those in strings left out."""
    deepest = depth = 0
    inside = escaped = False
    for c in text:
        if inside:
            inside = escaped or c != 34
            escaped = c == 92 and not escaped
        elif c == 34:
            inside = True
        elif c in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in b"]}":
            depth -= 1
    return deepest


def read_object(given: Any, limits: Limits) -> RowBatch:
    """Return the rows of an object: one row, or many."""
    if type(given) is not dict:
        raise HttpProblem(422, 'the body must be an object with "x" or "rows", or a list of them')
    if "rows" in given:
        _no_others(given, MANY)
        rows, labels = given["rows"], given.get("labels")
        if type(rows) is not list:
            raise bad_field("rows", "must be a list of rows")
        if labels is not None and (type(labels) is not list or len(labels) != len(rows)):
            raise bad_field("labels", f"must be a list of {len(rows)} labels, one for each row")
        batch = RowBatch(rows, labels)
        _check(batch, limits, "rows[{}]", "labels[{}]")
    elif "x" in given:
        _no_others(given, ONE)
        batch = RowBatch([given["x"]], [given["y"]] if given.get("y") is not None else None)
        _check(batch, limits, "x", "y")
    else:
        raise bad_field("x", 'is missing; one row is {"x": ...}, several are {"rows": [...]}')
    batch.request_id = read_id(given.get("id"), limits)
    return batch


def _of_list(given: list[Any], limits: Limits) -> RowBatch:
    if not given:
        raise HttpProblem(422, "there are no rows")
    for i, one in enumerate(given):
        if type(one) is not dict or "x" not in one:
            raise bad_field(f"[{i}].x", 'is missing; each element is {"x": row, "y": label}')
        if len(one) != 1 + ("y" in one):
            _no_others(one, {"x", "y"}, f"[{i}].")
    labels = [one.get("y") for one in given]
    some = any(label is not None for label in labels)
    batch = RowBatch([one["x"] for one in given], labels if some else None)
    _check(batch, limits, "[{}].x", "[{}].y")
    return batch


def longest_id(limits: Limits) -> int:
    """Return how many characters a request id may have: no more than the log takes."""
    return min(limits.name, LONGEST_ID)


def read_id(given: Any, limits: Limits, field: str = "id") -> str | None:
    """Return a request id."""
    if given is None:
        return None
    most = longest_id(limits)
    if type(given) is not str or not 0 < len(given) <= most:
        raise bad_field(field, f"must be a text of 1 to {most} characters")
    return given


def _no_others(given: dict[str, Any], known: set[str], prefix: str = "") -> None:
    for name in given:
        if name not in known:
            there = ", ".join(sorted(known))
            raise bad_field(prefix + name[:100], f"is no known field; there are {there}")


def _check(batch: RowBatch, limits: Limits, x: str, y: str) -> None:
    if not batch.X:
        raise bad_field("rows", "there are no rows")
    if len(batch.X) > limits.rows:
        raise too_large("rows of a request", limits.rows, "rows")
    form = type(batch.X[0])
    if form not in ROWS:
        raise bad_field(x.format(0), "a row is an object, an array or a text")
    for i, row in enumerate(batch.X):
        if type(row) is not form:
            raise bad_field(x.format(i), "is of another form than the first row")
        if form is not str or len(row) > limits.string:  # most are texts, and short
            _check_row(row, limits, x.format(i))
    for i, label in enumerate(batch.y or ()):
        if type(label) is not str or len(label) > limits.name:
            check_label(label, limits, y.format(i))


def _check_row(row: Any, limits: Limits, where: str) -> None:
    if type(row) is str:
        if len(row) > limits.string:
            raise too_large("characters of a text", limits.string, where)
        return
    if len(row) > limits.columns:
        raise too_large("cells of a row", limits.columns, where)
    for name, cell in row.items() if type(row) is dict else enumerate(row):
        if type(cell) is str and len(cell) > limits.string:
            raise too_large("characters of a cell", limits.string, f"{where}.{str(name)[:100]}")
        if type(cell) in (list, dict):
            raise bad_field(
                f"{where}.{str(name)[:100]}", "a cell is a number, a text, true, false or null"
            )
        if type(name) is str and len(name) > limits.name:
            raise too_large("characters of a column's name", limits.name, where)


def check_label(label: Any, limits: Limits, where: str) -> None:
    """Refuse what is no label."""
    if type(label) is str and len(label) > limits.name:
        raise too_large("characters of a label", limits.name, where)
    if label is not None and type(label) not in (str, int, bool):
        raise bad_field(
            where, "a label is a text or a whole number of 64 bits, or null if it is not known"
        )
