"""Columns and kinds: any table the user has, to encoded arrays, once.

`read_schema` looks at a table and decides what each column is; `encode` turns the same or a
later table into one C-contiguous array per kind. Behind these two doors the rest of the library
sees only arrays: it never asks whether the rows came from pandas, polars, NumPy, SciPy sparse
matrices or a list of dicts, nor how a missing cell was spelled.

Files: `schema` what is known of the columns, `kinds` the rule that decides it, `shapes` and
`transforms` for skewed real columns, `encoding` the conversion, `holes` what is missing; below
them `readers` opens every kind of input as one of the `forms`, `aligned` in the order of a
schema, `cells` converts one column, `scans` holds the compiled passes, `errors` words the
refusals.
"""

from infinimix.tables.encoding import Encoded, encode
from infinimix.tables.kinds import read_schema
from infinimix.tables.schema import Column, Novel, Schema

__all__ = ["Column", "Encoded", "Novel", "Schema", "encode", "read_schema"]
