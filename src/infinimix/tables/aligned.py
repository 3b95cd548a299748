"""A table opened with its columns in the order of a schema, by name or by position."""

from dataclasses import replace
from typing import Any

from infinimix.tables import errors
from infinimix.tables.forms import Columns, Table, may_lack
from infinimix.tables.readers import open_table
from infinimix.tables.records import open_records
from infinimix.tables.schema import Schema
from infinimix.tables.spreading import spread

__all__ = ["open_aligned"]


def open_aligned(schema: Schema, X: Any, who: str = "the model", lenient: bool = True) -> Table:
    """Open a table; `who` expects the columns of the schema, and says so if they are others.

    Where it is lenient, a table may lack up to half of the columns; their cells are missing.
    """
    plain = type(X) is list and not schema.dates
    records = open_records(schema, X) if plain else None
    if records is not None:
        return records
    table = open_table(X)
    if schema.dates:
        return _open_with_dates(schema, table, who, lenient)
    if isinstance(table, Columns) and (table.partial or (table.named and schema.named)):
        return table.arranged(schema.names, who, lenient)
    if table.width != schema.width:
        raise errors.wrong_width(table.names, schema.names, who)
    return table


def _open_with_dates(schema: Schema, table: Table, who: str, lenient: bool) -> Table:
    """The same where columns are spread; a table may hold a date or its parts."""
    inputs = schema.inputs
    if isinstance(table, Columns) and (table.partial or (table.named and schema.named)):
        known = {*inputs, *schema.names}
        unknown = [name for name in table.names if name not in known]
        parted = {d.name for d in schema.dates if {*d.columns} & {*table.names}}
        absent = [n for n in inputs if n not in table.names and n not in parted]
        if unknown or (absent and not table.partial and not may_lack(absent, inputs, lenient)):
            raise errors.wrong_columns(unknown, absent, who)
    elif table.width != len(inputs):
        raise errors.wrong_width(table.names, inputs, who)
    else:
        table = replace(table, names=inputs)
    return spread(table, schema.dates, schema.names)
