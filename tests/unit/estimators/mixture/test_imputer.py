"""`CRPImputer`: every form of table comes back as it came, but for its holes."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from infinimix import CRPImputer, load, save
from tests.unit.estimators.tables import KINDS, columns_of, make_table

SMALL = {"n_particles": 3, "n_islands": 2, "random_state": 0}
COLUMNS = {"visits": "count"}


def make_frame(n=50):
    rng = np.random.default_rng(0)
    g = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "real": rng.normal(8 * g, 1),
            "single": rng.normal(8 * g, 1).astype("f4"),
            "flag": pd.array(g == 1, dtype="boolean"),
            "whole": pd.array(40 * g + rng.integers(0, 20, n), dtype="Int64"),
            "colour": pd.Categorical(np.array(["red", "blue"])[g]),
            "word": np.array(["p", "q"])[g],
            "visits": pd.array(rng.poisson(2 + 9 * g), dtype="Int64"),
            "digit": g.astype(float),
        },
        index=np.arange(n) + 1000,
    )
    complete = frame.copy()
    for j in range(frame.shape[1]):
        frame.iloc[np.flatnonzero(rng.random(n) < 0.2), j] = None
    return frame, complete, g


FRAME, COMPLETE, GROUP = make_frame()


@pytest.fixture(scope="module")
def imputer():
    return CRPImputer(COLUMNS, **SMALL).fit(FRAME)


def test_a_frame_comes_back_with_its_names_its_index_and_its_types(imputer):
    filled = imputer.transform(FRAME)
    assert filled.index.equals(FRAME.index)
    assert list(filled.columns) == list(FRAME.columns)
    assert not filled.isna().any().any()
    assert FRAME.isna().any().any()  # the table itself stays as it was
    types = FRAME.dtypes.astype(str).to_dict() | {"whole": "Float64", "visits": "Float64"}
    assert filled.dtypes.astype(str).to_dict() == types
    for name in FRAME:
        seen = FRAME[name].notna()
        assert (filled[name][seen] == FRAME[name][seen]).all()
    for name in ("flag", "colour", "word", "digit"):
        assert (filled[name] == COMPLETE[name]).mean() > 0.95


def test_draws_of_whole_numbers_are_whole():
    drawn = CRPImputer(COLUMNS, **SMALL, strategy="draw").fit_transform(FRAME)
    types = FRAME.dtypes.astype(str).to_dict() | {"whole": "Float64"}  # which is a real column
    assert drawn.dtypes.astype(str).to_dict() == types
    assert not drawn.isna().any().any()


def test_observed_cells_come_back_to_the_bit():
    X = np.array([[0.1, np.nan], [-0.0, 1e-310], [1e-300, 3.0], [np.nan, -1e100]])
    for dtype in ("f8", "f4"):
        with np.errstate(over="ignore"):
            table = np.nan_to_num(X.astype(dtype), nan=np.nan, neginf=-1e30)
        filled = CRPImputer("real", **SMALL).fit_transform(table)
        seen = ~np.isnan(table)
        assert filled.dtype == table.dtype
        assert filled[seen].tobytes() == table[seen].tobytes()
        assert np.isfinite(filled).all()


def test_polars_stays_polars(imputer):
    cells = FRAME.astype(object).where(FRAME.notna(), None)
    types = {"single": pl.Float32, "colour": pl.Categorical, "word": pl.Enum(["p", "q"])}
    frame = pl.DataFrame({c: cells[c].tolist() for c in cells}, schema_overrides=types)
    filled, spread = imputer.transform(frame), imputer.uncertainty(frame)
    assert filled.null_count().sum_horizontal()[0] == 0
    assert filled.schema == {**frame.schema, "whole": pl.Float64, "visits": pl.Float64}
    expected = imputer.transform(FRAME)
    for name in FRAME:
        assert filled[name].to_list() == expected[name].tolist()
    assert isinstance(spread, pl.DataFrame)
    assert np.array_equal(spread.to_numpy(), imputer.uncertainty(FRAME).to_numpy())


def test_rows_as_dicts_stay_dicts_and_get_the_keys_they_lack(imputer):
    rows = [{"real": 8.0, "flag": True}, {"real": None, "word": "p"}]
    filled = imputer.transform(rows)
    assert rows[1] == {"real": None, "word": "p"}
    assert filled[0]["real"] == 8.0
    assert all(set(row) == set(FRAME) for row in filled)
    assert filled[0]["word"] == "q"
    assert imputer.uncertainty(rows).shape == (2, 8)


def test_sparse_matrices_stay_sparse():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [[1, 0, 1]]
    X[4, 0] = X[7, 2] = np.nan
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        matrix = make(X)
        model = CRPImputer("real", **SMALL).fit(matrix)
        filled = model.transform(matrix)
        assert type(filled) is type(matrix)
        assert np.array_equal(filled.toarray(), model.transform(X))
        assert np.isnan(matrix.toarray()).sum() == 2


def test_lists_and_objects_and_masks():
    rows = [[0.5, "a"], [0.7, "a"], [None, "b"], [9.0, "b"], [9.1, None]]
    listed = CRPImputer(**SMALL).fit(rows).transform(rows)
    assert listed.dtype == object
    assert listed[:, 1].tolist() == ["a", "a", "b", "b", "b"]
    table = np.array(rows, dtype=object)
    assert CRPImputer(**SMALL).fit(table).transform(table).tolist() == listed.tolist()
    assert CRPImputer(**SMALL).fit_transform([[0.5, 1], [None, 0]]).dtype == np.float64
    masked = np.ma.masked_array(np.arange(30).reshape(15, 2), mask=np.eye(15, 2))
    filled = CRPImputer("real", **SMALL).fit_transform(masked)
    assert not isinstance(filled, np.ma.MaskedArray)
    assert (filled[2:] == masked.data[2:]).all()
    assert filled[0, 0] != 0


def test_a_category_never_seen_is_observed(imputer):
    row = FRAME.head(1).assign(word="new", real=np.nan)
    filled, spread = imputer.transform(row), imputer.uncertainty(row)
    assert filled["word"].tolist() == ["new"]
    assert spread["word"].tolist() == [0.0]
    assert spread["real"].item() > 0


def test_columns_of_which_nothing_is_known():
    rows = [{"a": None, "b": 1.5}, {"a": None, "b": None}, {"a": None, "b": 2.5}]
    model = CRPImputer(**SMALL).fit(rows)
    assert [row["a"] for row in model.transform(rows)] == [None] * 3
    assert (model.uncertainty(rows)["a"] == 0).all()
    frame = pd.DataFrame(rows)
    assert model.transform(frame)["a"].isna().all()
    numbers = CRPImputer("real", **SMALL).fit_transform([[np.nan, 1.0], [np.nan, 2.0]])
    assert np.isfinite(numbers).all()


def test_several_draws():
    X = make_table("mixed", 40)
    model = CRPImputer(columns_of("mixed"), **SMALL, strategy="draw", n_draws=4).fit(X)
    drawn = model.transform(X)
    seen = ~np.isnan(X)
    assert drawn.shape == (4, *X.shape)
    assert (drawn[:, seen] == X[seen]).all()
    assert (drawn[0] != drawn[1]).any()
    frames = CRPImputer(COLUMNS, **SMALL, strategy="draw", n_draws=2).fit(FRAME).transform(FRAME)
    assert [type(frame) for frame in frames] == [pd.DataFrame] * 2
    tables = model.set_output(transform="pandas").transform(X)
    assert [list(table) for table in tables] == [[f"x{j}" for j in range(6)]] * 4


def test_draws_follow_the_seed_and_do_not_disturb_learning():
    X = make_table("mixed", 60)
    one, two = (
        CRPImputer(columns_of("mixed"), **SMALL, strategy="draw").fit(X[:40]) for _ in range(2)
    )
    assert np.array_equal(one.transform(X), two.transform(X))
    one.transform(X)
    one.strategy = two.strategy = "mean"
    assert np.array_equal(
        one.partial_fit(X[40:]).transform(X), two.partial_fit(X[40:]).transform(X)
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_uncertainty_is_zero_where_a_cell_is_observed(kind):
    X = make_table(kind, 40)
    model = CRPImputer(columns_of(kind), **SMALL).fit(X)
    spread = model.uncertainty(X)
    assert ((spread > 0) == np.isnan(X)).all()
    assert np.isfinite(spread).all()
    limit = 1.0 if kind in ("binary", "categorical") else np.inf
    assert (spread <= limit).all()


def test_what_set_output_chooses():
    X = make_table("real", 20)
    model = CRPImputer(**SMALL).fit(X)
    assert isinstance(model.transform(X), np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(model.transform(X), pd.DataFrame)
    polars = clone(model.set_output(transform="polars")).fit(X).transform(X)
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == ["x0", "x1"]
    assert isinstance(model.set_output(transform="default").transform(X), np.ndarray)
    named = CRPImputer(COLUMNS, **SMALL).set_output(transform="polars").fit_transform(FRAME)
    assert named.columns == list(FRAME)
    assert named["word"].dtype == pl.String
    with pytest.raises(ValueError, match="'default', 'pandas', 'polars'.*'arrow'"):
        model.set_output(transform="arrow")


def test_in_pipelines_and_beside_other_columns():
    numbers = FRAME[["real", "single"]].astype(float)
    line = make_pipeline(CRPImputer(**SMALL), LogisticRegression()).fit(numbers, GROUP)
    assert line.score(numbers, GROUP) > 0.9
    columns = ColumnTransformer(
        [("numbers", CRPImputer(**SMALL), ["real", "single"])], remainder="drop"
    ).set_output(transform="pandas")
    assert list(columns.fit_transform(FRAME)) == ["numbers__real", "numbers__single"]
    assert line[0].get_feature_names_out().tolist() == ["real", "single"]


def test_it_is_saved_and_loaded():
    file, X = io.BytesIO(), make_table("mixed", 40)
    model = CRPImputer(columns_of("mixed"), **SMALL, strategy="draw", n_draws=2).fit(X)
    model.transform(X)
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [("strategy", "median"), ("strategy", None), ("n_draws", 0), ("n_draws", 1.5)],
)
def test_wrong_parameters_are_named(name, value):
    X = make_table("real", 10)
    with pytest.raises(ValueError, match=f"'{name}' parameter of CRPImputer must be"):
        CRPImputer(**SMALL, **{name: value}).fit(X)
    model = CRPImputer(**SMALL).fit(X).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        model.transform(X)


def test_a_better_model_has_a_better_score():
    X = make_table("real", 80)
    assert CRPImputer(**SMALL).fit(X).score(X) > CRPImputer(**SMALL, alpha=1e-9).fit(X).score(X)
