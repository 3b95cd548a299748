"""Records of text files, one reader for all: streams take them as they come, commands all at once.

Who reads decides what becomes of a record that cannot be read.
"""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from infinimix.streaming.bad import StreamError
from infinimix.streaming.compression import bare_name
from infinimix.streaming.lines import check_text

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".pq": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip


def read_records(
    lines: Iterable[str], delimiter: str, refuse: Callable[[int, str], None]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV file with the lines on which they begin; no cells if it is blank.

    Line and reason of a record that cannot be read are given to `refuse`, which may raise.
    """
    parser = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        first = parser.line_num + 1
        try:
            record = next(parser)
            for cell in record:
                check_text(cell)
        except StopIteration:
            return
        except StreamError:
            raise
        except (csv.Error, ValueError) as error:
            refuse(first, str(error))
            continue
        yield first, record


def parse_object(text: str) -> Any:
    """Return what a line of JSON holds; ValueError or RecursionError if it cannot be read."""
    check_text(text)
    return json.loads(text, object_pairs_hook=_as_dict)


def _as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("it names a key twice")
    return row


def format_of(name: str) -> str | None:
    """Return what a file holds, by its name; None if that does not say.

    >>> format_of("rows.CSV.gz"), format_of("rows.txt")
    ('csv', None)
    """
    return SUFFIXES.get(os.path.splitext(bare_name(name.lower()))[1])


def tell_apart(names: Sequence[str], where: str = "") -> list[str]:
    """Return names of which each stands there once, and say which columns got another one.

    >>> tell_apart(["a", "b"])
    ['a', 'b']
    """
    found: list[str] = []
    for name in names:
        new, k = name, 2
        while new in found or (new != name and new in names):
            new, k = f"{name}_{k}", k + 1
        found.append(new)
    changed = [(old, new) for old, new in zip(names, found, strict=True) if old != new]
    if changed:
        said = ", ".join(f"{new!r} for {old!r}" for old, new in changed[:8])
        more = f" and {len(changed) - 8} more" if len(changed) > 8 else ""
        text = f"several columns have the same name; the later ones are called {said}{more}."
        warnings.warn(where + text, stacklevel=2)
    return found
