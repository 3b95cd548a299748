"""Kinds that are guessed again, from training and query rows together."""

import numpy as np
import pandas as pd
import pytest

from infinimix.estimators.common.together import join
from infinimix.tables import encode, read_schema


def rows(n, seed):
    """Of 60 rows, `few` is real by the "auto" rule; of 100 it is categorical."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "few": rng.integers(1, 4, n),
            "x": rng.normal(size=n),
            "word": rng.choice(["a", "b"], n),
            "z": rng.normal(size=n),
        }
    )


def joined(first, X, columns="auto"):
    schema = read_schema(first, columns)
    known = encode(schema, first, learn=True)
    known = known._replace(schema=schema.extended(known.novel))
    old, new = join(known, X, columns, "the test")
    assert old.schema == new.schema
    assert old.n_rows == len(first)
    return new.schema, new.schema.decode(new.blocks)


def test_queries_are_matched_by_name():
    first, X = rows(60, 0), rows(40, 1)
    schema, straight = joined(first, X)
    assert schema.kinds()["few"] == "categorical"
    _, other = joined(first, X[["z", "word", "few", "x"]])
    for name in X.columns:
        assert straight[name].tolist() == other[name].tolist() == X[name].tolist()


@pytest.mark.parametrize("columns", ["auto", {"x": "real"}], ids=["auto", "asked"])
@pytest.mark.parametrize("form", ["frame", "dicts"])
def test_queries_may_lack_columns(columns, form):
    X = rows(40, 1)[["few", "word", "z"]]
    given = X if form == "frame" else X.to_dict("records")
    schema, cells = joined(rows(60, 0), given, columns)
    assert schema.names == ("few", "x", "word", "z")
    assert schema.kinds()["few"] == "categorical"
    assert np.isnan(cells["x"]).all()
    assert cells["z"].tolist() == X["z"].tolist()


@pytest.mark.parametrize("key", [1, "x1", (1, 2), ("x1", "x2")])
def test_what_is_asked_of_positions_stays(key):
    asked = {key: "gaussian" if isinstance(key, tuple) else "real:rank"}
    numbers = ["few", "x", "z"]
    first, X = rows(60, 0)[numbers].to_numpy(), rows(40, 1)[numbers].to_numpy()
    schema, _ = joined(first, X, asked)
    assert schema.kinds()["x0"] == "categorical"
    assert schema.kinds()["x1"] == ("gaussian" if isinstance(key, tuple) else "real")


def test_declared_categories_stay_categories():
    first, X = rows(60, 0), rows(40, 1)
    for table in (first, X):
        table["code"] = pd.Categorical(np.arange(len(table)) % 20)
    schema, _ = joined(first, X)
    assert schema.kinds()["few"] == schema.kinds()["code"] == "categorical"


def test_numbers_that_do_not_fit_a_guess_are_missing_beside_dates():
    first, X = rows(60, 0), rows(40, 1)
    first["when"] = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    X["when"] = "2024-02-03"
    first["bit"], X["bit"] = np.arange(60) % 2, 5
    with pytest.warns(UserWarning, match="bit"):
        schema, cells = joined(first, X)
    assert schema.kinds()["bit"] == "binary"
    assert all(v is None or np.isnan(v) for v in cells["bit"].tolist())
