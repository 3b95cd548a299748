"""Data folders as the papers read them, made up and small."""

import json

import numpy as np
import pandas as pd


def write_tables(root, names, n=60):
    """Write tables of two classes with a categorical and a numeric column, some cells missing."""
    for k, name in enumerate(names):
        rng = np.random.default_rng(k)
        y = rng.integers(2, size=n)
        frame = pd.DataFrame({
            "colour": np.where(rng.random(n) < 0.8, np.array(["red", "blue"])[y], "green"),
            "size": (y + 0.5 * rng.normal(size=n)).round(2).astype(str),
            "class": np.array(["ant", "bee"])[y],
        })  # fmt: skip
        frame.loc[::9, "size"] = "?"
        folder = root / name
        folder.mkdir()
        frame.to_csv(folder / "data.csv.gz", index=False)
        (folder / "schema.json").write_text(json.dumps({"target": "class"}))
