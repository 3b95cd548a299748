"""What the user knows of a network, from the words of options: edges, roles, set cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infinimix.cli.errors import CommandError, hint, listed
from infinimix.cli.places import wrong_with_file

YES, NO = {"1", "1.0", "true", "yes"}, {"0", "0.0", "false", "no", ""}


def read_edges(
    texts: Sequence[str] | None, option: str, tables: Mapping[str, Sequence[str]]
) -> dict[str, list[tuple[str, str]]]:
    """Return edges by table, from texts such as "a -> b"; of several tables "table: a -> b"."""
    found: dict[str, list[tuple[str, str]]] = {}
    for text in texts or ():
        table, edge = _table_of(text, option, tables, "from -> to")
        ends = [part.strip() for part in re.split("->|--", edge)]
        if len(ends) != 2 or not all(ends):
            raise CommandError(f"{option}: {text!r} is no edge; write it as 'from -> to'.")
        for name in ends:
            _need(name, tables[table], option)
        found.setdefault(table, []).append((ends[0], ends[1]))
    return found


def _table_of(
    text: str, option: str, tables: Mapping[str, Sequence[str]], form: str
) -> tuple[str, str]:
    """Return the table that an edge or a role is of, and the edge or role."""
    if len(tables) == 1:
        return next(iter(tables)), text
    table, colon, edge = text.partition(":")
    if table.strip() in tables and colon:
        return table.strip(), edge
    wrong = "does not say of which table it is"
    if colon:
        wrong = f"names a table {table.strip()!r}, and there are {listed(tables)}"
    raise CommandError(f"{option}: {text!r} {wrong}; write it as '{next(iter(tables))}: {form}'.")


def read_roles(
    texts: Sequence[str] | None, tables: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Return known roles by table and column, from "a=cause"; of several "table: a=cause"."""
    found: dict[str, dict[str, str]] = {}
    for text in texts or ():
        table, said = _table_of(text, "--role", tables, "column=role")
        name, equals, role = said.rpartition("=")
        if not equals or not name.strip() or not role.strip():
            raise CommandError(f"--role: {text!r} is no role of a column; write it as COLUMN=ROLE.")
        _need(name.strip(), tables[table], "--role")
        roles = found.setdefault(table, {})
        if roles.setdefault(name.strip(), role.strip()) != role.strip():
            raise CommandError(
                f"--role: column {name.strip()!r} has two roles, {roles[name.strip()]!r} and "
                f"{role.strip()!r}; say one of them."
            )
    return found


def _need(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        raise CommandError(f"{option} names {name!r}, which is no column of the network; "
                           + hint(name, list(names)))  # fmt: skip


def read_set_files(texts: Sequence[str], tables: Mapping[str, Sequence[str]]) -> dict[str, Path]:
    """Return files of set cells by table, from their paths; of several tables "table: path"."""
    found: dict[str, Path] = {}
    for text in texts:
        table, path = _table_of(text, "--interventions", tables, "set.csv")
        if table in found:
            raise CommandError(f"--interventions: there are two files for {table!r}; join them.")
        found[table] = Path(path.strip())
        wrong = wrong_with_file(found[table])
        if wrong:
            raise CommandError(wrong)
    return found


def read_set_cells(path: Path, reading: Any, names: Sequence[str], n_rows: int) -> Any:
    """Return which cells were set from outside, an array of bool, from a table of 0 and 1."""
    from infinimix.cli.files import read_source
    from infinimix.cli.tables_in import understand

    source = read_source(path, reading)
    _need_known(source, names)
    if source.n_rows != n_rows:
        raise CommandError(
            f"--interventions: {path} has {source.n_rows:,} rows, and the table {n_rows:,}; it "
            "needs a row for each."
        )
    import numpy as np

    mask, table = np.zeros((n_rows, len(names)), bool), understand(source, reading)
    for name in source.names:
        for row, cell in enumerate(table.columns[name]):
            text = "" if cell is None or cell != cell else str(cell).strip().lower()
            if text not in YES | NO:
                raise CommandError(
                    f"--interventions: {path} has {cell!r} in column {name!r}, row {row + 1}; it "
                    "takes 1 where a cell was set from outside, else 0."
                )
            mask[row, list(names).index(name)] = text in YES
    return mask


def _need_known(source: Any, names: Sequence[str]) -> None:
    """Refuse a table of set cells that has other columns than the network."""
    for name in source.names:
        if name not in names:
            raise CommandError(
                f"--interventions: {source.name} has a column {name!r}, which the network does not "
                "have; leave it out."
            )
