"""Changed model files: what accident or malice may make of one, drawn at random.

A file is changed as bytes, or as the tree that it holds; a changed tree is written again, with
digests that fit, as somebody would who means it.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from infinimix import artifacts

Rng = np.random.Generator
NUMBERS = (
    0, 1, -1, 2, 7, 10**6, 2**31, -(2**31), 2**62, 10**18, 2**70, 0.0, 0.5, -0.5, 1.0, 1e-300,
    1e300, -1e300, float("nan"), float("inf"), -float("inf"),
)  # fmt: skip
OTHERS = (
    None, True, False, "", "x", "auto", "real", "$tuple", "x" * 300, b"x", [], {}, (), [0], ["x"],
    {"x": 0}, {"pairs": []}, {"pairs": [("x", 1)]}, [[]], np.float64(1.0), np.int64(3),
)  # fmt: skip
DTYPES = ("f8", "f4", "i8", "i4", "u8", "i1", "?", "c16", "U3", ">f8", ">i8", "f2")


def mutate(data: bytes, rng: Rng) -> tuple[str, bytes]:
    """Return a name and the bytes of one changed file."""
    way = rng.choice(4, p=[0.08, 0.06, 0.06, 0.8])
    return (_bytes, _text, _array_file, _tree)[way](data, rng)


def _bytes(data: bytes, rng: Rng) -> tuple[str, bytes]:
    """Damage anywhere: flipped, lost, added or repeated bytes."""
    at, n = int(rng.integers(len(data))), int(rng.integers(1, 40))
    changed = {
        "flip": data[:at] + bytes([data[at] ^ int(rng.integers(1, 256))]) + data[at + 1 :],
        "cut": data[:at],
        "lose": data[:at] + data[at + n :],
        "add": data[:at] + rng.bytes(n) + data[at:],
        "noise": data[:at] + rng.bytes(n) + data[at + n :],
        "blank": data[:at] + bytes(len(data[at : at + n])) + data[at + n :],
    }
    name = str(rng.choice(list(changed)))
    return f"bytes: {name} at {at}", changed[name]


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the members of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repack(members: dict[str, bytes], deflate: bool = True) -> bytes:
    """Return a file of these members, with digests that fit."""
    header = json.loads(members["header.json"])
    header["sha256"] = {name: sha256(members[name]).hexdigest() for name in header["sha256"]}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps(header))
        for name in header["sha256"]:
            how = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
            archive.writestr(name, members[name], how)
    return out.getvalue()


def _text(data: bytes, rng: Rng) -> tuple[str, bytes]:
    """Change characters of the tree's JSON."""
    members = unpack(data)
    text = bytearray(members["tree.json"])
    places = sorted(int(at) for at in rng.integers(len(text), size=int(rng.integers(1, 4))))
    for at in places:
        text[at : at + 1] = rng.choice([b"0", b"9", b"-", b"e9", b'"', b"[", b"}", b"", b"a"])
    return f"tree.json at {places}", repack(members | {"tree.json": bytes(text)})


def _array_file(data: bytes, rng: Rng) -> tuple[str, bytes]:
    """Let one npy file say that it holds something else, or far more."""
    members = unpack(data)
    arrays = [name for name in members if name.endswith(".npy")]
    name = str(rng.choice(arrays))
    shape = rng.choice(
        ["(3,)", "()", "(-1,)", "(2, 0)", "(10**9,)", "(1000000000000,)", "(60000,)"]
    )
    kind = rng.choice(["<f8", "<i8", "|O", "|b1", "<U2", "|V0"])
    text = f"{{'descr':'{kind}','fortran_order':False,'shape':{shape}}}".encode()
    start = np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text
    body = bytes(480_000 if "6000" in shape and kind.endswith("8") else 24)
    return f"{name}: {kind} of {shape}", repack(members | {name: start + body})


@lru_cache(maxsize=1)
def _read(data: bytes) -> bytes:
    """Return the kind and the tree of a file, pickled: a copy is sooner made than read again."""
    return pickle.dumps(artifacts.read(io.BytesIO(data))[:2])


def _tree(data: bytes, rng: Rng) -> tuple[str, bytes]:
    """Change the tree itself, in one place or in two."""
    kind, tree = pickle.loads(_read(data))
    names = []
    for _ in range(1 + (rng.random() < 0.15)):
        path = _choose(tree, rng)
        parent: Any = tree
        for key in path[:-1]:
            parent = parent[key]
        what, value = _change(parent[path[-1]], rng)
        names.append(f"{'.'.join(map(str, path))}: {what}")
        tree = _put(tree, path, value)
        if rng.random() < 0.1:
            _rename(tree, path, rng, names)
    out = io.BytesIO()
    try:
        artifacts.write(out, kind, tree, library_version="0")
    except artifacts.ArtifactError:  # what cannot be written is no file
        return _tree(data, rng)
    return "; ".join(names), out.getvalue()


def _choose(tree: Any, rng: Rng) -> list[Any]:
    """Return the way to some place, not at the root.

    Half of the time each branch is as probable as another, or else each leaf, most of which are
    arrays and numbers far down.
    """
    if rng.random() < 0.5:
        leaves = list(_leaves(tree, []))
        return leaves[int(rng.integers(len(leaves)))]
    path: list[Any] = []
    while isinstance(tree, dict | list | tuple) and len(tree):
        if path and rng.random() < 0.12:
            break
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        path.append(keys[int(rng.integers(len(keys)))])
        tree = tree[path[-1]]
    return path


def _leaves(tree: Any, path: list[Any]) -> Iterator[list[Any]]:
    if not isinstance(tree, dict | list | tuple) or not len(tree):
        yield path
        return
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield from _leaves(tree[key], [*path, key])


def _put(tree: Any, path: list[Any], value: Any) -> Any:
    """Return a tree with another value in one place."""
    if not path:
        return value
    changed = list(tree) if isinstance(tree, tuple) else tree
    changed[path[0]] = _put(tree[path[0]], path[1:], value)
    return tuple(changed) if isinstance(tree, tuple) else changed


def _rename(tree: Any, path: list[Any], rng: Rng, names: list[str]) -> None:
    """Drop, rename or repeat the key at the end of a way, if it is one."""
    for key in path[:-1]:
        tree = tree[key]
    if not isinstance(tree, dict):
        return
    value = tree.pop(path[-1])
    if rng.random() < 0.5:
        tree[f"{path[-1]}x"] = value
    names.append("its key lost")


def _change(value: Any, rng: Rng) -> tuple[str, Any]:
    """Return in words what a value becomes, and that."""
    if isinstance(value, np.ndarray):
        return _change_array(value, rng)
    if isinstance(value, dict | list | tuple) and rng.random() < 0.7:
        return _change_container(value, rng)
    if isinstance(value, int | float | np.number) and rng.random() < 0.7:
        return _change_number(value, rng)
    if isinstance(value, str) and rng.random() < 0.5:
        new = [value + "x", value[:-1], value.upper(), value * 50, "", "spiked", "count", "text"]
        return _said(new[int(rng.integers(len(new)))])
    pool = NUMBERS + OTHERS
    return _said(pool[int(rng.integers(len(pool)))])


def _said(value: Any) -> tuple[str, Any]:
    return f"{value!r:.60}", copy.copy(value)


def _change_number(value: Any, rng: Rng) -> tuple[str, Any]:
    if isinstance(value, bool):
        return _said(not value)
    own = [-value, value + 1, value * 2, value - 1, str(value), [value], value * 1e-9]
    own += [float(value)] if isinstance(value, int) else [int(value) if np.isfinite(value) else 0]
    pool = own * 3 + list(NUMBERS)
    return _said(pool[int(rng.integers(len(pool)))])


def _change_container(value: Any, rng: Rng) -> tuple[str, Any]:
    if isinstance(value, dict):
        keys = list(value)
        if not keys:
            return _said({"x": 0})
        one, two = (keys[int(k)] for k in rng.integers(len(keys), size=2))
        ways = {
            "lose": {k: v for k, v in value.items() if k != one},
            "rename": {f"{k}x" if k == one else k: v for k, v in value.items()},
            "swap": value | {one: value[two], two: value[one]},
            "reverse": dict(reversed(value.items())),
        }
    else:
        items = list(value)
        at = int(rng.integers(len(items) + 1))
        ways = {
            "lose": items[:at] + items[at + 1 :],
            "repeat": items[: at + 1] + items[at : at + 1] + items[at + 1 :],
            "reverse": items[::-1],
            "none": [],
            "add": [*items, None],
            "double": items + items,
        }
        ways = {k: type(value)(v) for k, v in ways.items()}
        ways["type"] = list(value) if isinstance(value, tuple) else tuple(value)
    name = str(rng.choice(list(ways)))
    return name, copy.deepcopy(ways[name])


def _change_array(x: np.ndarray, rng: Rng) -> tuple[str, Any]:
    if x.size and x.dtype.kind in "iuf" and rng.random() < 0.6:
        return _change_cells(x, rng)
    axis = int(rng.integers(max(x.ndim, 1)))
    ways: dict[str, Any] = {
        "empty": x[..., :0] if x.ndim else x,
        "ravel": x.ravel(),
        "more axes": x[None],
        "transpose": x.T,
        "one number": x.ravel()[0] if x.size else 0,
        "list": x.tolist(),
        "none": None,
        "text": "x",
        "dtype": _cast(x, str(rng.choice(DTYPES))),
        "fortran": np.asfortranarray(x),
    }
    if x.ndim and x.shape[axis]:
        ways |= {
            "shorter": np.delete(x, -1, axis),
            "longer": np.concatenate([x, x.take([-1], axis)], axis),
            "double": np.concatenate([x, x], axis),
            "first only": x.take([0], axis),
            "reverse": np.flip(x, axis),
        }
    name = str(rng.choice(list(ways)))
    return name, ways[name]


def _cast(x: np.ndarray, kind: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return x.astype(kind)
        except (ValueError, TypeError):
            return np.zeros(x.shape, kind)


def _change_cells(x: np.ndarray, rng: Rng) -> tuple[str, np.ndarray]:
    """Change one cell, some, or all of them."""
    new, how = x.copy(), int(rng.integers(3))
    places = rng.integers(x.size, size=(1, 3, x.size)[how])
    new = np.ascontiguousarray(new)
    flat = new.reshape(-1)
    pick = int(rng.integers(len(NUMBERS) + 6))
    with np.errstate(all="ignore"):
        own = [flat + 1, -flat, flat * 2, flat - 1, np.roll(flat, 1), np.flip(flat)]
        if pick < len(NUMBERS):
            value = _fitting(NUMBERS[pick], x.dtype)
            flat[places] = value
            return f"{('one cell', 'some cells', 'all cells')[how]} {value}", new
        flat[places] = own[pick - len(NUMBERS)].astype(x.dtype)[places]
    return f"cells changed by way {pick - len(NUMBERS)}", new


def _fitting(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number that an array of this kind can hold, as near as it can."""
    if dtype.kind == "f":
        return dtype.type(float(value))
    if value != value:
        return dtype.type(0)
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return dtype.type(int(min(max(value, low), high)))
