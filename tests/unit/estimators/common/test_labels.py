import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infinimix import AClassClassifier
from infinimix.estimators.common.labels import Labels, as_array, check_labels

X = np.array([[0.0, 1], [1, 1], [0, 0], [1, 0]])


def model(**parameters):
    return AClassClassifier("binary", n_particles=2, n_islands=1, random_state=0, **parameters)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", "a", "b", "a"], ["a", "b"]),
        (("b", "a", "b", "a"), ["a", "b"]),
        (np.array(["b", "a", "b", "a"]), ["a", "b"]),
        (np.array(["b", "a", "b", "a"], dtype=object), ["a", "b"]),
        (pd.Series(["b", "a", "b", "a"]), ["a", "b"]),
        (pd.Series(["b", "a", "b", "a"], dtype="category"), ["a", "b"]),
        (pd.Series(["b", "a", "b", "a"], dtype="string"), ["a", "b"]),
        (pd.Index(["b", "a", "b", "a"]), ["a", "b"]),
        (pl.Series(["b", "a", "b", "a"]), ["a", "b"]),
        (pl.Series(["b", "a", "b", "a"], dtype=pl.Categorical), ["a", "b"]),
        ([7, -2, 7, -2], [-2, 7]),
        (np.array([7, -2, 7, -2], dtype=np.int8), [-2, 7]),
        (np.array([7, -2, 7, -2], dtype=object), [-2, 7]),
        (pd.Series([7, -2, 7, -2], dtype="Int64"), [-2, 7]),
        ([7.0, -2.0, 7.0, -2.0], [-2.0, 7.0]),
        ([True, False, True, False], [False, True]),
        (pd.Series([True, False, True, False], dtype="boolean"), [False, True]),
        (pd.array([7, -2, 7, -2], dtype="Int64"), [-2, 7]),
        (pd.array([True, False, True, False], dtype="boolean"), [False, True]),
        (pd.array(["b", "a", "b", "a"], dtype="string"), ["a", "b"]),
    ],
    ids=lambda value: f"{type(value).__name__}" if not isinstance(value, list) else None,
)
def test_labels_of_any_origin_are_the_same_classes(y, classes):
    fitted = model().fit(X, y)
    assert fitted.classes_.tolist() == classes
    assert [type(c) for c in fitted.classes_.tolist()] == [type(c) for c in classes]
    assert fitted.class_count_.tolist() == [2, 2]
    assert set(fitted.predict(X).tolist()) <= set(classes)
    assert set(fitted.sample(20)[1].tolist()) <= set(classes)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.array([7, None, 7, -2], dtype="Int64"), [-2, 7]),
        (pd.array([True, None, True, False], dtype="boolean"), [False, True]),
        (pd.array(["b", None, "b", "a"], dtype="string"), ["a", "b"]),
    ],
    ids=["whole", "boolean", "string"],
)
def test_labels_keep_their_type_where_some_are_missing(y, classes):
    fitted = model().fit(X, y)
    assert fitted.classes_.tolist() == classes
    assert [type(c) for c in fitted.classes_.tolist()] == [type(c) for c in classes]
    weighted = model().fit(X, y, sample_weight=[1, 2, 1, 1])
    assert weighted.classes_.tolist() == classes


def test_labels_of_pyarrow_keep_their_type():
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    for y in (pa.array([7, None, 7, -2]), pa.chunked_array([[7, None], [7, -2]])):
        fitted = model().fit(X, y)
        assert [type(c) for c in fitted.classes_.tolist()] == [int, int]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_labels_of_a_frame_of_one_column_keep_their_type(frame):
    y = frame({"y": [7, None, 7, -2]})
    if frame is pd.DataFrame:
        y = y.astype("Int64")
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        fitted = model().fit(X, y)
    assert [type(c) for c in fitted.classes_.tolist()] == [int, int]
    with pytest.raises(ValueError, match="1d array"):
        model().fit(X, frame({"y": [1, 2, 1, 2], "z": [1, 2, 1, 2]}))


@pytest.mark.parametrize(
    "values",
    [
        [2**63, 2**63 + 1, 0],
        [2**64 - 1, 2**64 - 2],
        [-1, 2**63, 2**63 + 1],
        [2**70, 2**70 + 1, -(2**70)],
        [-(2**63), 2**63 - 1],
        [1.0, 2**53 + 1],
        [True, 3],
        [],
        ["a\0", "a", ""],  # NumPy's own text drops trailing zeros
    ],
)
def test_an_array_of_labels_holds_each_of_them_exactly(values):
    assert as_array(values).tolist() == values


def test_huge_whole_numbers_stay_apart():
    y = np.array([2**63, 2**63 + 1] * 2, dtype=np.uint64)
    fitted = model().fit(X, y)
    assert fitted.classes_.tolist() == [2**63, 2**63 + 1]
    assert fitted.class_count_.tolist() == [2, 2]
    fitted.partial_fit(X[:1], [-5])
    assert fitted.classes_.tolist() == [-5, 2**63, 2**63 + 1]


@pytest.mark.parametrize("hole", [None, float("nan"), np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("others", [["a", "b", "a"], [1, 2, 1], [1.0, 2.0, 1.0]])
def test_a_row_without_a_label_is_refused_and_named(hole, others):
    with pytest.raises(ValueError, match="y contains NaN, None.*row 3"):
        check_labels([*others, hole])


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", "b", "a", None], dtype="string"),
        pd.Series(["a", "b", "a", None], dtype="category"),
        pd.Series(["a", "b", "a", None]),
        pd.Series([1, 2, 1, None], dtype="Int64"),
        pd.Series([1, 2, 1, None]),
        pl.Series([1, 2, 1, None]),
        pl.Series(["a", "b", "a", None]),
        np.array([0.0, 1, 1, np.nan]),
        np.array([0.0, 1, 1, np.inf]),
    ],
)
def test_holes_of_any_frame_are_no_labels_and_infinity_is_refused(y):
    for method in ("fit", "partial_fit"):
        if isinstance(y, np.ndarray) and np.isinf(y).any():
            with pytest.raises(ValueError, match="None or infinity, first in row 3"):
                getattr(model(), method)(X, y)
        else:
            fitted = getattr(model(), method)(X, y)
            assert len(fitted.classes_) == 2
            assert fitted.class_count_.sum() == pytest.approx(4)


@pytest.mark.parametrize("y", [["a", 1, "a", 1], [1, "a", 1, 1], [True, "True", True, True]])
def test_text_beside_numbers_is_refused_not_turned_into_text(y):
    with pytest.raises(ValueError, match="all text or all numbers"):
        model().fit(X, y)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([b"a", b"b", b"a", b"b"], "bytes in row 0"),
        (np.array([b"a", b"b", b"a", b"b"]), "dtype"),
        ([1, 2, 1, dt.date(2020, 1, 1)], "date in row 3"),
        (np.array(["2020-01-01"] * 4, dtype="M8[ns]"), "dtype datetime64"),
        (pd.Series(pd.to_datetime(["2020-01-01"] * 4)), "Timestamp in row 0"),
        ([1, 2, 1, 1j], "complex in row 3"),
        ([1, 2, 1, {"a"}], "set in row 3"),
    ],
)
def test_what_is_no_label_is_named(y, words):
    with pytest.raises(TypeError, match=words):
        model().fit(X, y)


def test_continuous_targets_are_refused():
    with pytest.raises(ValueError, match="Unknown label type: continuous.*0.5 in row 2"):
        model().fit(X, [0.0, 1.0, 0.5, 1.0])


@pytest.mark.parametrize("y", [[0, 1], [0] * 5, [[0, 1]] * 4, "abcd", 3])
def test_the_wrong_number_or_shape_of_labels_is_refused(y):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples|1d array"):
        model().fit(X, y)


def test_no_labels_at_all_are_refused():
    with pytest.raises(ValueError, match="target y is None"):
        model().fit(X, None)


def test_classes_may_be_declared_at_any_call():
    fitted = model().partial_fit(X, [0, 1, 0, 1], classes=[5, 1])
    assert fitted.classes_.tolist() == [0, 1, 5]
    assert fitted.class_count_.tolist() == [2, 2, 0]
    assert fitted.n_groups_[2] == 0
    assert np.isfinite(fitted.predict_log_proba(X)).all()
    fitted.partial_fit(X, [0, 1, 0, 1], classes=[7])
    assert fitted.classes_.tolist() == [0, 1, 5, 7]
    fitted.partial_fit(X[:2], [7, 5])
    assert fitted.class_count_.tolist() == [4, 4, 1, 1]


@pytest.mark.parametrize("classes", [["a"], [None], [0.5], 3])
def test_declared_classes_are_checked_as_labels_are(classes):
    fitted = model().partial_fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError):
        fitted.partial_fit(X, [0, 1, 0, 1], classes=classes)
    assert fitted.classes_.tolist() == [0, 1]


def test_equal_labels_of_different_types_are_one_class():
    fitted = model().partial_fit(X, [0, 1, 0, 1]).partial_fit(X, [0.0, 1.0, True, False])
    assert fitted.class_count_.tolist() == [4, 4]


def test_order_leads_from_sorted_classes_to_numbers_of_appearance():
    labels = Labels()
    codes, new = labels.read(["m", "z", "a", "m"])
    assert codes.tolist() == [0, 1, 2, 0]
    assert new == ["m", "z", "a"]
    assert labels.values == []  # reading changes nothing
    labels.extend(new)
    assert labels.classes.tolist() == ["a", "m", "z"]
    assert [labels.values[c] for c in labels.order] == ["a", "m", "z"]


def test_known_labels_are_found_by_their_value():
    labels = Labels()
    labels.extend([0, 1, 5])
    for y in ([1, 5], np.array([1, 5]), np.array([1.0, 5.0]), [np.int64(1), 5.0], [True, 5]):
        found = labels.find(y)
        assert found.tolist() == [1, 2]
        assert found.dtype == np.int64
    assert labels.find([]).tolist() == []


@pytest.mark.parametrize(
    "y",
    [
        [1, 2],
        [1, None],
        [1, float("nan")],
        np.array([1.0, np.nan]),
        [1, Decimal(5)],
        [1, 5 + 0j],
        [[1], [5]],
        np.array([[1], [5]]),
        np.array(["1970-01-01T00:00:00.000000001"], "datetime64[ns]"),
        (1, 5),
        None,
        "1",
    ],
    ids=repr,
)
def test_labels_that_take_a_closer_look_are_not_found(y):
    labels = Labels()
    labels.extend([0, 1, 5])
    assert labels.find(y) is None


def test_a_known_label_that_means_none_is_not_found():
    labels = Labels()
    labels.extend([0, 1])
    assert labels.find([1], unlabelled=0) is None
    assert labels.find([1], unlabelled=[0]) is None
    assert labels.find([1], unlabelled=-1).tolist() == [1]
