"""Real tables: where they are, what is dropped, how they are split and knocked out.

The folder is named by the environment variable `INFINIMIX_DATA`; each table is a folder in it
with `data.csv.gz` (missing cells are `?`) and `schema.json` (whose `target` is the class).
Nothing of it is part of the repository: a benchmark that lacks its data says so and is skipped.

Every model is given the frame as pandas reads it. A column is categorical for a peer when it
holds strings or booleans, and numeric otherwise; infinimix decides for itself.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

VARIABLE = "INFINIMIX_DATA"
FOLDS = 5
NAMES = {  # what names a row, or says how others have split the table
    "adult": ["split"],
    "zoo": ["animal"],
    "cylinder_bands": ["timestamp", "cylinder_number", "job_number"],
    "vowel": ["train_or_test", "speaker_number"],
}


class Table(NamedTuple):
    """A table without names; `test` marks the rows of an official test set, if there is one."""

    name: str
    frame: pd.DataFrame
    y: np.ndarray
    test: np.ndarray | None

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.y)


class Split(NamedTuple):
    """Positions of training rows, and of test rows; these in parts, each of which is a fold."""

    train: np.ndarray
    parts: list[np.ndarray]


def find(name: str) -> Path | None:
    """The folder of a data set, or None."""
    root = os.environ.get(VARIABLE)
    folder = Path(root) / name if root else None
    return folder if folder is not None and folder.is_dir() else None


def lacking(names: list[str]) -> str:
    """A sentence about data that are not there."""
    where = os.environ.get(VARIABLE)
    reason = f"not in {VARIABLE}={where}" if where else f"{VARIABLE} names no folder"
    return f"skipped {', '.join(names)}: {reason}"


def load(name: str, n_rows: int | None = None) -> Table:
    """Read a table; n_rows takes a random part of it, always the same."""
    folder = find(name)
    if folder is None:
        raise FileNotFoundError(lacking([name]))
    frame = pd.read_csv(folder / "data.csv.gz", na_values=["?"], keep_default_na=False)
    if n_rows is not None and n_rows < len(frame):
        frame = frame.sample(n_rows, random_state=0).reset_index(drop=True)
    target = json.loads((folder / "schema.json").read_text(encoding="utf-8"))["target"]
    y = frame.pop(target).to_numpy().astype(str)
    test = (frame["split"] == "test").to_numpy() if "split" in frame else None
    return Table(name, frame.drop(columns=NAMES.get(name, [])), y, test)


def splits(table: Table, seed: int, folds: int = FOLDS) -> Iterator[Split]:
    """Stratified folds, or the official split, whose test rows are cut into as many parts."""
    rows = np.arange(len(table.y))
    if table.test is not None:
        yield Split(rows[~table.test], np.array_split(rows[table.test], folds))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer members than folds
        folding = StratifiedKFold(folds, shuffle=True, random_state=seed)
        for train, test in folding.split(rows, table.y):
            yield Split(train, [test])


def knock_out(frame: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """Each observed cell goes with this probability. Integers become floats, as in pandas."""
    gone = np.random.default_rng(seed).random(frame.shape) < share
    return frame.mask(gone) if share else frame


def is_categorical(column: pd.Series) -> bool:
    """Strings and booleans, with or without holes."""
    return not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)


def categorical_columns(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame if is_categorical(frame[name])]


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame if not is_categorical(frame[name])]


def as_objects(frame: pd.DataFrame) -> pd.DataFrame:
    """Categorical columns as strings in object columns, holes as NaN; numbers as floats."""
    out = {}
    for name in frame:
        column = frame[name]
        if is_categorical(column):
            cells = column.astype(object)
            out[name] = cells.where(cells.isna(), cells.astype(str)).where(cells.notna(), np.nan)
        else:
            out[name] = column.astype(float)
    return pd.DataFrame(out)
