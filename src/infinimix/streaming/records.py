"""Records of text files, one reader for all: streams take them as they come, commands all at once.

A record that cannot be read comes with its error; who reads decides whether to go on.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from infinimix.streaming.bad import StreamError
from infinimix.streaming.lines import check_text

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".pq": "parquet", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip


class Record(NamedTuple):
    """One record of a CSV file."""

    line: int  # on which it begins, from 1 on
    cells: list[str]  # none on a blank line
    raw: str  # as it stands in the file, with its line end
    error: str = ""  # why it cannot be read


def read_records(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """Yield the records of a CSV file, blank lines and those that cannot be read among them."""
    held: list[str] = []

    def keep() -> Iterator[str]:
        for line in lines:
            held.append(line)
            yield line

    parser = csv.reader(keep(), delimiter=delimiter, strict=True)
    while True:
        line, error = parser.line_num + 1, ""
        held.clear()
        try:
            cells = next(parser)
            for cell in cells:
                check_text(cell)
        except StopIteration:
            return
        except StreamError:
            raise
        except (csv.Error, ValueError) as wrong:
            cells, error = [], str(wrong)
        yield Record(line, cells, "".join(held), error)


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
    return SUFFIXES.get(os.path.splitext(name.lower().removesuffix(".gz"))[1])


def named_twice(names: Sequence[str]) -> str | None:
    """Return a name that stands in a header twice, if there is one."""
    if len(set(names)) == len(names):
        return None
    return next(name for name in names if list(names).count(name) > 1)
