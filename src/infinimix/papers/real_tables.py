"""Tables of the papers' data sets: read, split and described as every experiment does."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from infinimix.papers.data import folder
from infinimix.tables import read_schema


@lru_cache(maxsize=8)
def read_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the cells of a table, and its classes as strings."""
    place = folder(name)
    frame = pd.read_csv(place / "data.csv.gz", na_values=["?"], keep_default_na=False)
    target = json.loads((place / "schema.json").read_text(encoding="utf-8"))["target"]
    y = frame.pop(target).to_numpy().astype(str)
    return frame, y


def column_kinds(frame: pd.DataFrame) -> dict[str, str]:
    """Return the kinds of columns in the whole table: of five rows they cannot be told."""
    return dict(read_schema(frame).kinds())


def folds(y: np.ndarray, n: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and test rows of stratified folds."""
    rows = np.arange(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer members than folds
        yield from StratifiedKFold(n, shuffle=True, random_state=seed).split(rows, y)
