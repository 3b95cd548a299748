"""A table opened with its columns in the order of a schema, by name or by position."""

from typing import Any

from infinimix.tables import errors
from infinimix.tables.forms import Columns, Table
from infinimix.tables.readers import open_table
from infinimix.tables.records import open_records
from infinimix.tables.schema import Schema

__all__ = ["open_aligned"]


def open_aligned(schema: Schema, X: Any, who: str = "the model") -> Table:
    """Open a table; `who` expects the columns of the schema, and says so if they are others."""
    records = open_records(schema, X) if type(X) is list else None
    if records is not None:
        return records
    table = open_table(X)
    if isinstance(table, Columns) and (table.partial or (table.named and schema.named)):
        return table.arranged(schema.names, who)
    if table.width != schema.width:
        raise errors.wrong_width(table.names, schema.names, who)
    return table
