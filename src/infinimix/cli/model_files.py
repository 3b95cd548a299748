"""Model files, and tables read as the model of a file takes them.

A model file is one that `infinimix.load` reads; its notes say how the table was read, so that
`predict` reads later files in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import infinimix
from infinimix.cli.dates import check_dates
from infinimix.cli.errors import CommandError, hint, listed, quoted
from infinimix.cli.learning import Trained
from infinimix.cli.reading import Reading, Source
from infinimix.cli.tables_in import InputTable, tell_styles, understand
from infinimix.evaluation.abilities import ReadsTables, able

if TYPE_CHECKING:
    import pandas as pd


def load_trained(path: Path) -> Trained:
    """Read a model; `ArtifactError` if it is damaged or too new."""
    from infinimix import artifacts

    _, tree, _ = artifacts.read(path)  # a damaged file needs no model, which is slow to load
    notes = tree.get("notes") if isinstance(tree, dict) else None
    return Trained(infinimix.load(path), notes if isinstance(notes, dict) else {})


def reading_of(trained: Trained, reading: Reading) -> Reading:
    """Return how to read a file for a model, where the user leaves it open."""
    missing = reading.missing if reading.missing is not None else trained.notes.get("missing")
    decimals, trim = trained.notes.get("decimals") or {}, bool(trained.notes.get("trimmed"))
    return replace(reading, missing=missing, decimals=decimals, trim=trim)


def read_for(
    trained: Trained, source: Source, reading: Reading, target: str | None = None
) -> tuple[InputTable, pd.DataFrame]:
    """Return the table of a file as a model takes it, and the columns that the model takes."""
    notes, needed = trained.notes, trained.needed
    dates = _dates_of(trained)
    types = dict(notes.get("types") or _types_of(trained.model)) | dict.fromkeys(dates, "date")
    target = target if target is not None else notes.get("target")
    reading = reading_of(trained, reading)
    spared = replace(reading, drop=(*reading.drop, *(notes.get("drop") or ())))
    table = understand(source, spared, types=types, labels=target)
    check_dates(table, dates)
    for text in tell_styles(table, [name for name in table.types if name in needed]):
        warnings.warn(text, stacklevel=2)
    if not needed:
        return table, table.frame.drop(columns=list(reading.drop))
    absent = [name for name in needed if name not in table.types]
    if len(absent) == len(needed):
        raise CommandError(
            f"{source.name} lacks {listed(absent)}, which the model was trained on; "
            + hint(absent[0], table.source.names)
        )
    spare = {target, *(notes.get("drop") or ()), *reading.drop}
    unknown = [name for name in table.source.names if name not in needed and name not in spare]
    if unknown:
        raise CommandError(
            f"{source.name} has columns that the model does not know: {listed(unknown)}; "
            f"leave them out with {quoted(unknown)}"
        )
    return table, fill_absent(table, needed, absent)


def fill_absent(table: InputTable, needed: Sequence[str], absent: Sequence[str]) -> pd.DataFrame:
    """Return the columns that a model takes; those that the file lacks are missing cells."""
    if absent:
        from infinimix.tables.errors import whose  # NumPy, which a frame has loaded

        warnings.warn(
            f"{table.source.name} lacks {listed(absent)}; {whose(absent)} cells count as missing.",
            stacklevel=2,
        )
    blank = dict.fromkeys(absent, None)
    return table.frame.assign(**blank)[list(needed)]


def _types_of(model: Any) -> dict[str, str]:
    """Return what the columns of a model saved from Python held."""
    schema = model._schema if able(model, ReadsTables) else None
    if schema is None or not schema.named:
        return {}
    names = {"object": "text", "int": "number", "float": "number", "bool": "flag"}
    return {n: names[s] for n, s in zip(schema.names, schema.sources, strict=True) if s in names}


def _dates_of(trained: Trained) -> dict[str, str]:
    """Return the columns of dates that a model knows, and in which order it reads them."""
    encoding = trained.notes.get("encoding") or ()
    known = {entry["name"]: entry["date"][0] for entry in encoding if "date" in entry}
    schema = trained.model._schema if able(trained.model, ReadsTables) else None
    return known or ({} if schema is None else {date.name: date.order for date in schema.dates})


def proba_frame(trained: Trained, X: pd.DataFrame, batch: bool = False) -> pd.DataFrame:
    """Return probabilities with a column for each class."""
    import numpy as np
    import pandas as pd  # loaded, as there is a frame

    proba = np.asarray(trained.predict_proba(X, batch))
    return pd.DataFrame(proba, columns=[str(label) for label in trained.model.classes_])
