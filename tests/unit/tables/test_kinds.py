"""Which kind is each column: the "auto" rule and the `columns=` argument."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from infinimix.tables import read_schema

NAN = float("nan")


def kind_of(values):
    """The kind of a single column given as an array."""
    return read_schema(np.asarray(values)[:, None]).columns[0].kind


def kind_of_cells(values):
    """The kind of a single column given as rows of lists."""
    return read_schema([[value] for value in values]).columns[0].kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([True, False]), "binary"),
        (np.array([0, 1, 1]), "binary"),
        (np.array([0.0, 1.0, NAN]), "binary"),
        (np.array([0, 0], dtype=np.uint8), "binary"),
        (np.array([0, -1]), "real"),
        (np.arange(10), "real"),
        (np.arange(250) // 25, "categorical"),
        (np.arange(249) // 25, "real"),
        (np.arange(11), "real"),
        (np.arange(2000) // 150, "real"),
        (np.arange(2000) // 200, "categorical"),
        (np.array([1.0, 2.0]), "real"),
        (np.array([0.0, 1.0, np.inf]), "real"),
        (np.array([NAN, NAN]), "real"),
        (np.array(["a", "b"]), "categorical"),
        (np.array([2**64 - 1, 5] * 25, dtype=np.uint64), "categorical"),
        (np.array([None, None]), "categorical"),
    ],
)
def test_auto_of_arrays(values, kind):
    assert kind_of(values) == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, None], "binary"),
        ([0, 1.0, True, NAN], "binary"),
        ([np.int8(0), np.bool_(True)], "binary"),
        ([1, NAN, 2] * 25, "categorical"),  # NaN is a missing cell here, not a float
        ([1, NAN, 2] * 24, "real"),
        ([1, 2.0], "real"),
        ([2**80, 1, None] * 25, "categorical"),
        ([2**80 + i for i in range(11)], "real"),
        ([Decimal("1.5"), Decimal(2)], "real"),
        (["1", "0"], "categorical"),
        ([1, "a"], "categorical"),
        ([None, NAN], "categorical"),
        ([pd.NA, 1.5], "real"),
    ],
)
def test_auto_of_objects_judges_the_numbers_they_are(values, kind):
    assert kind_of_cells(values) == kind
    assert read_schema(pd.DataFrame({"a": pd.Series(values, dtype=object)})).kinds() == {"a": kind}


def test_auto_of_frames():
    frame = pd.DataFrame(
        {
            "flag": pd.array([True, None, False], dtype="boolean"),
            "small": pd.array([1, None, 3], dtype="Int64"),
            "made_float": [1.0, NAN, 3.0],  # by pandas, as whole numbers have no NaN
            "halves": [1.5, NAN, 3.0],
            "tenths": [0.1, 0.1, 0.2],
            "text": ["a", None, "b"],
            "level": pd.Categorical([0, 1, None]),
            "empty": pd.array([None, None, None], dtype="Int64"),
        }
    )
    kinds = ["binary", *["real"] * 4, *["categorical"] * 3]
    assert list(read_schema(frame).kinds().values()) == kinds
    many = pd.concat([frame] * 25, ignore_index=True)
    kinds = ["binary", *["categorical"] * 7]
    assert list(read_schema(many).kinds().values()) == kinds
    codes = ["binary", "categorical", "categorical", "real", "real", *["categorical"] * 3]
    assert list(read_schema(frame, codes=True).kinds().values()) == codes  # as networks read it


FORMS = {
    "int": lambda x: x.astype(int),
    "float": lambda x: x.astype(float),
    "float32": lambda x: x.astype(np.float32),
    "scaled": lambda x: x * 0.1 + 7.0,
    "objects": lambda x: x.astype(int).astype(object),
    "masked": lambda x: np.ma.masked_array(x.astype(int), x == 1),
    "one hole": lambda x: np.where(np.arange(len(x)) == 5, NAN, x),
    "many holes": lambda x: np.where(np.arange(len(x)) % 6 == 1, NAN, x),
    "all shuffled": lambda x: np.random.default_rng(0).permutation(x),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("n", "kind"), [(400, "categorical"), (60, "real")])
def test_only_values_count_and_neither_types_nor_holes(form, n, kind):
    x = np.arange(n) % 5
    assert read_schema(pd.DataFrame({"a": form(x)})).kinds() == {"a": kind}
    assert read_schema(form(x)[:, None]).kinds() == {"x0": kind}


def test_auto_of_polars():
    frame = pl.DataFrame(
        {
            "flag": [True, None],
            "big": pl.Series([2**100, None], dtype=pl.Int128),
            "few": pl.Series([3, None], dtype=pl.Int8),
            "real": [1.5, None],
            "level": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])),
            "price": pl.Series([Decimal("1.5"), None]),
            "empty": [None, None],
        }
    )
    kinds = ["binary", "real", "real", "real", "categorical", "real", "categorical"]
    assert list(read_schema(frame).kinds().values()) == kinds


def test_auto_of_masked_and_sparse():
    masked = np.ma.masked_equal(np.array([[0, 7], [1, 3], [9, 7]]), 9)
    assert list(read_schema(masked).kinds().values()) == ["binary", "real"]
    many = np.ma.concatenate([masked] * 20)
    assert list(read_schema(many).kinds().values()) == ["binary", "categorical"]
    matrix = sparse.coo_array(np.array([[0.0, 0, 2], [1, 0, NAN]]))
    assert list(read_schema(matrix).kinds().values()) == ["binary", "binary", "real"]


def test_one_kind_for_all_and_mapping():
    rows = [{"a": 1, "b": "u", "c": 0.5}]
    assert set(read_schema(rows, "categorical").kinds().values()) == {"categorical"}
    found = read_schema(rows, {"a": "real", "b": "auto"})
    assert found.kinds() == {"a": "real", "b": "categorical", "c": "real"}
    assert read_schema(np.ones((2, 2)), {1: "real"}).kinds() == {"x0": "binary", "x1": "real"}
    assert read_schema(np.ones((2, 2)), {"x1": "real"}).kinds() == {"x0": "binary", "x1": "real"}
    assert read_schema(pd.DataFrame([[1, 1]], columns=[10, 20]), {20: "real"}).kinds() == {
        "10": "binary",
        "20": "real",
    }


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"age": "real"}, "'age'"),
        ({5: "real"}, "5"),
        ("text", "not available yet"),
        ({("x0", "x9"): "gaussian"}, "'x9', which is not a column"),
        ({("x0", "x1", 0): "gaussian"}, "names the column 'x0' twice"),
        ({("x0",): "gaussian", ("x1", "x0"): "gaussian"}, "names the column 'x0' twice"),
        ({("x0", "x1"): "gaussian", 1: "real"}, "names the column 'x1' twice"),
        ({("x0", "x1"): "real"}, "only a gaussian block is named by a tuple"),
        ({("x0", "x1"): "auto"}, "only a gaussian block is named by a tuple"),
        ({(): "gaussian"}, "only a gaussian block is named by a tuple"),
        ("floaty", "unknown column kind 'floaty'"),
        ({0: 3}, "unknown column kind 3"),
        (7, "columns must be"),
    ],
)
def test_bad_requests_are_refused(columns, text):
    with pytest.raises(ValueError, match=text.replace("(", r"\(")):
        read_schema(np.ones((2, 2)), columns)


def test_gaussian_blocks():
    X = np.random.default_rng(0).normal(size=(5, 6))
    whole = read_schema(X, "gaussian")
    assert whole.joint == ((0, 1, 2, 3, 4, 5),)
    assert whole.blocks == ("gaussian",)
    some = read_schema(X, {(4, "x1"): "gaussian", 0: "count", ("x2", 3): "gaussian"})
    assert list(some.kinds().values()) == ["count", *["gaussian"] * 4, "real"]
    assert some.blocks == ("real", "count", "gaussian", "gaussian 1")
    assert some.gaussian_blocks == (("x1", "x4"), ("x2", "x3"))
    assert some.positions("gaussian").tolist() == [1, 4]
    assert some.positions("gaussian 1").tolist() == [2, 3]
    assert read_schema(X, some.kinds()).gaussian_blocks == (("x1", "x2", "x3", "x4"),)


def test_a_column_whose_name_is_a_tuple_is_no_block():
    frame = pd.DataFrame([[1.5, 2.5]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert read_schema(frame, {("a", "b"): "gaussian"}).joint == ((0,),)


def test_a_block_has_a_largest_width():
    with pytest.raises(ValueError, match="a gaussian block of 129 columns; at most 128"):
        read_schema(np.ones((2, 129)), "gaussian")


def test_a_count_is_never_found_but_can_be_asked_for():
    X = np.random.default_rng(0).poisson(30, (200, 2))
    assert set(read_schema(X).kinds().values()) == {"real"}
    assert set(read_schema(X, "count").kinds().values()) == {"count"}
    assert read_schema(X, {1: "count"}).kinds() == {"x0": "real", "x1": "count"}


def test_categories_start_empty():
    schema = read_schema([{"a": "u"}, {"a": "v"}])
    assert schema.categories == ((),)
    assert schema.category_counts.tolist() == [0]
