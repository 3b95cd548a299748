"""What goes in comes out: types, order and bits; and what cannot go in is named."""

from __future__ import annotations

import collections
import enum
import io
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from infinimix import artifacts
from infinimix.artifacts import ArtifactError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**130), 2**130)
    | st.floats()
    | st.text(st.characters())
    | st.binary(max_size=20)
)
DTYPES = (
    hnp.scalar_dtypes()
    | hnp.unicode_string_dtypes(min_len=1)
    | hnp.byte_string_dtypes(min_len=1)
    | hnp.array_dtypes(allow_subarrays=True)
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
KEYS = st.text(st.characters(), max_size=4) | st.sampled_from(["$tuple", "$", "$array"])
TREES = st.recursive(
    SCALARS | ARRAYS | ARRAYS.map(np.transpose),
    lambda nest: (
        st.lists(nest, max_size=4)
        | st.lists(nest, max_size=4).map(tuple)
        | st.dictionaries(KEYS, nest, max_size=4)
    ),
    max_leaves=8,
)


@given(tree=TREES)
def test_any_tree_survives(tree: Any, dumps: Any, loads: Any, assert_same: Any) -> None:
    data = dumps(tree)
    again = loads(data)
    assert_same(tree, again)
    assert dumps(again) == data


EXACT: list[Any] = [
    -0.0,
    math.inf,
    -math.inf,
    struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0],
    5e-324,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    3**20_000,
    "\ud83d\ude00",
    "\U0001f600 \x00",
    "",
    b"",
    (),
    ((),),
    [[], {}],
    {"$array": 0},
    {"$unknown": 1, "\ud800": (2,)},
    {"": None, "b": 1, "a": 2},
    np.array(3.5),
    np.zeros((0, 3)),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.array(["ab", "c"], "<U5"),
    np.array(["2020-01-01", "NaT"], "M8[ns]"),
    np.array([1, 2], ">i2"),
    np.zeros(2, np.dtype([("a", "i1"), ("b", "<f8", (2,))], align=True)),
    np.zeros(3, "V0"),
    np.zeros(1, [("\u0416 \ud800", "f8"), (("title", "\n'"), "i4")]),
    np.float32(0.1),
    np.bool_(True),
    np.int8(-3),
    np.float64("nan"),
    np.complex64(1 - 2j),
    np.str_("a\x00"),
    np.str_(""),
    np.bytes_(b"a\x00"),
    np.datetime64("2020-01-01", "D"),
    np.timedelta64(5, ("s", 25)),
    np.longdouble(1) / 3,
    np.void(b"abc"),
    np.zeros(1, [("a", "f8"), ("b", "U2")])[0],
]


@pytest.mark.parametrize("value", EXACT, ids=range(len(EXACT)))
def test_corner_values_survive(value: Any, dumps: Any, loads: Any, assert_same: Any) -> None:
    assert_same(value, loads(dumps(value)))


def test_views_are_stored_by_value(dumps: Any, loads: Any, assert_same: Any) -> None:
    base = np.arange(24.0).reshape(4, 6)
    for view in (base[::2, ::-1], base[:, 1], np.broadcast_to(np.float32(2), (3, 2))):
        assert_same(np.array(view, order="C"), loads(dumps(view)))


def test_memory_maps_are_stored_as_arrays(tmp_path: Path, dumps: Any, loads: Any) -> None:
    np.save(tmp_path / "a.npy", np.arange(5))
    again = loads(dumps(np.load(tmp_path / "a.npy", mmap_mode="r")))
    assert type(again) is np.ndarray
    assert again.tolist() == [0, 1, 2, 3, 4]


def test_arrays_come_back_writable_and_own_their_memory(dumps: Any, loads: Any) -> None:
    array = np.arange(5)
    array.flags.writeable = False
    again = loads(dumps(array))
    assert again.flags.writeable
    assert again.flags.owndata


def test_an_array_that_occurs_twice_is_stored_once(dumps: Any, loads: Any) -> None:
    array = np.random.default_rng(0).random(1000)
    data = dumps({"a": array, "b": [array]})
    again = loads(data)
    assert len(data) < 10_000
    assert again["a"] is again["b"][0]


class Colour(enum.IntEnum):
    RED = 1


class Fancy(np.float64):
    pass


REFUSED = [
    ({"model": {"groups": [1, 2, 3, {4}]}}, "tree['model']['groups'][3]: "),
    ({"a": {1: 2}}, "tree['a']: cannot store the key 1"),
    ({"a": (0, np.array([None]))}, "tree['a'][1]: "),
    ([np.zeros(1, [("a", "O")])], "tree[0]: "),
    ([np.ma.masked_array([1.0])], "tree[0]: "),
    ([Colour.RED], "tree[0]: "),
    ([Fancy(1.0)], "tree[0]: "),
    ([collections.OrderedDict()], "tree[0]: "),
    ([np.random.RandomState(0)], "tree[0]: "),
    ([np.zeros(1, [(f"field{i}", "f8") for i in range(2000)])], "tree[0]: "),
    (lambda: 0, "tree: cannot store a value of type function"),
]


@pytest.mark.parametrize(("tree", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refusals_name_the_place(tree: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.imx"
    with pytest.raises(ArtifactError) as caught:
        artifacts.write(path, "thing", tree, library_version="1")
    assert str(caught.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_depth_is_bounded_the_same_way_in_both_directions(dumps: Any, loads: Any) -> None:
    tree: Any = 0
    for _ in range(100):
        tree = {"$": (tree,)} if _ % 2 else [tree]
    with pytest.raises(ArtifactError, match="100 deep"):
        dumps(tree)
    tree = 0
    for _ in range(100):
        tree = {"$": tree}
    assert loads(dumps(tree)) == tree


def test_a_tree_inside_itself_is_refused(dumps: Any) -> None:
    tree: list[Any] = []
    tree.append(tree)
    with pytest.raises(ArtifactError, match="inside itself"):
        dumps(tree)


def test_the_answer_has_kind_tree_and_header(tmp_path: Path) -> None:
    path = tmp_path / "a.imx"
    artifacts.write(str(path), "thing", {"a": np.arange(3)}, library_version="0.1.0")
    kind, tree, header = artifacts.read(path, kind="thing")
    assert kind == header["kind"] == "thing"
    assert tree["a"].tolist() == [0, 1, 2]
    assert header["format_version"] == artifacts.FORMAT_VERSION == 1
    assert header["library_version"] == "0.1.0"
    assert list(header["sha256"]) == ["tree.json", "arrays/0.npy"]


def test_another_kind_is_refused(dumps: Any) -> None:
    with pytest.raises(ArtifactError, match="holds 'thing', but 'other' was asked for"):
        artifacts.read(io.BytesIO(dumps(1)), kind="other")


@pytest.mark.parametrize("bad", ["", None, 3])
def test_kind_and_version_must_be_text(bad: Any) -> None:
    with pytest.raises(ArtifactError, match="kind"):
        artifacts.write(io.BytesIO(), bad, {}, library_version="1")
    with pytest.raises(ArtifactError, match="library_version"):
        artifacts.write(io.BytesIO(), "thing", {}, library_version=bad)


def test_equal_trees_give_equal_bytes(tmp_path: Path, dumps: Any) -> None:
    def tree() -> Any:
        zeros = np.zeros(100_000)
        return {"a": zeros, "b": [np.arange(9.0), zeros], "rng": np.random.default_rng(3)}

    artifacts.write(tmp_path / "a", "thing", tree(), library_version="0.1.0")
    assert (tmp_path / "a").read_bytes() == dumps(tree()) == dumps(tree())


def test_numpy_itself_can_read_the_arrays(dumps: Any) -> None:
    array = np.array([(1.5, 2)], [("\u0416", "f8"), ("b", "i4")])
    matrix = np.asfortranarray(np.arange(6).reshape(2, 3))
    with zipfile.ZipFile(io.BytesIO(dumps([array, matrix]))) as archive:
        again = [np.load(archive.open(f"arrays/{i}.npy"), allow_pickle=False) for i in range(2)]
    assert again[0].dtype == array.dtype
    assert again[0].tolist() == array.tolist()
    assert again[1].tolist() == matrix.tolist()
