"""Columns and kinds: any table the user has, to encoded arrays, once.

`read_schema` looks at a table and decides what each column is; `encode` turns the same or a
later table into one C-contiguous array per kind. Behind these two doors the rest of the library
sees only arrays: it never asks whether the rows came from pandas, polars, NumPy, SciPy sparse
matrices or a list of dicts, nor how a missing cell was spelled.

Files: `column` what a column may be, `schema` what is known of all of them, `kinds` the rule that
decides it, `shapes` and `transforms` for skewed real columns, `encoding` the conversion, `encoded`
its result, `holes` what is missing; `dates` reads dates, and `spreading` makes several columns of
one; below them `readers` opens every kind of input as one of the
`forms`, `aligned` in the order of a schema, `cells` converts one column, `missing` and `sparsity`
answer a question each, `scans` holds the compiled passes, `errors` words the refusals.

Tables in partitions, of files or of Dask, are opened by `partition_sources` and `lazy_tables`;
`partitioned` gathers them in the few bytes of `packed`, which `readers` opens like a frame, and
`digests` decides the columns of partitions that are elsewhere.

Text is a table too, one that has as many columns as there are words. `text` says how strings
become words (`stemming`, `hashing`), `vocabulary` which word has which column, and `documents`
turns strings, lists of words, dicts and matrices of counts into sparse counts; below it `bags`
and `grids` open every kind of input, and `counts` holds the compiled passes.
"""

from typing import TYPE_CHECKING

from infinimix.later import late_names

if TYPE_CHECKING:
    from infinimix.tables.column import Column, Novel
    from infinimix.tables.encoded import EncodedTable
    from infinimix.tables.encoding import encode
    from infinimix.tables.kinds import read_schema
    from infinimix.tables.schema import Schema
    from infinimix.tables.text import Text

__all__ = ["Column", "EncodedTable", "Novel", "Schema", "Text", "encode", "read_schema"]

if not TYPE_CHECKING:  # else a misspelt name would be Any
    __getattr__ = late_names(__name__, {
        ".column": ("Column", "Novel"), ".encoded": ("EncodedTable",), ".encoding": ("encode",),
        ".kinds": ("read_schema",), ".schema": ("Schema",), ".text": ("Text",),
    })  # fmt: skip
