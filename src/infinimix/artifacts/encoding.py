"""A tree of plain values as JSON plus a list of arrays.

JSON's own types stand for themselves. Everything else is an object with one
key that starts with ``$``, the tag, which ``decoding`` knows by the same name:

========================  =====================================================
``{"$tuple": [...]}``     a tuple
``{"$dict": [[k, v]..]}`` a dict with a key that JSON or the tags would confuse
``{"$int": "0x..."}``     an integer beyond 64 bits
``{"$float": "7ff8..."}`` nan or an infinity, as the 16 hex digits of its bits
``{"$str": "base64"}``    text with lone surrogates (UTF-8 with surrogatepass)
``{"$bytes": "base64"}``  bytes
``{"$array": 3}``         the array in ``arrays/3.npy``
``{"$np.scalar": [...]}`` a NumPy scalar: dtype and bytes in hex
``{"$np.str": text}``     numpy.str_; ``$np.bytes`` numpy.bytes_
``{"$np.record": 3}``     a structured scalar, kept as a 0-d array
``{"$shared": 2}``        an entry of the list of generators and seed sequences
``{"$generator": {...}}`` a numpy.random.Generator; ``$seed`` a SeedSequence
========================  =====================================================

Arrays, generators and seed sequences that occur twice are stored once and are
one object again after reading: two copies of a generator would repeat each
other's draws.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence

from infinimix.artifacts import npy, randomness
from infinimix.artifacts.errors import ArtifactError
from infinimix.artifacts.formats import to_json

MAX_DEPTH = 100
STORABLE = (
    "an artifact holds dict with str keys, list, tuple, None, bool, int, float, str, bytes, "
    "NumPy arrays and scalars, numpy.random.Generator and SeedSequence"
)


def encode(tree: Any) -> tuple[bytes, list[npy.Parts]]:
    """JSON text and npy arrays that stand for ``tree``.

    Raises
    ------
    ArtifactError
        Naming the place of the first value that cannot be stored.
    """
    encoder = Encoder()
    try:
        code = encoder.encode(tree)
        text = to_json({"shared": encoder.shared, "tree": code})
    except (ArtifactError, RecursionError) as error:
        raise ArtifactError(f"{place(encoder.path)}: {error}") from error
    return text, encoder.arrays


def place(path: list[str | int]) -> str:
    """A path as one would write it in Python: ``tree['model'][3]``."""
    steps = [f"[{key!r}]" for key in path]
    if len(steps) > 20:
        steps[10:-10] = ["[...]"]
    return "tree" + "".join(steps)


class Encoder:
    """One walk over one tree; ``path`` is where it stands, also after a refusal."""

    def __init__(self) -> None:
        self.arrays: list[npy.Parts] = []
        self.shared: list[Any] = []
        self.path: list[str | int] = []
        # By id; the object is kept too, so that no id is used again meanwhile.
        self._seen: dict[int, tuple[object, int]] = {}
        self._rules: dict[type, Callable[[Any], Any]] = {
            type(None): lambda value: value,
            bool: lambda value: value,
            int: encode_int,
            float: encode_float,
            str: encode_str,
            bytes: lambda value: {"$bytes": base64.b64encode(value).decode()},
            list: self._list,
            tuple: lambda value: {"$tuple": self._list(value)},
            dict: self._dict,
            np.ndarray: lambda value: {"$array": self._array(value)},
            np.memmap: lambda value: {"$array": self._array(value)},
            Generator: self._generator,
            SeedSequence: self._seed,
        }

    def encode(self, value: Any) -> Any:
        rule = self._rules.get(type(value))
        if rule is not None:
            return rule(value)
        if isinstance(value, np.generic) and type(value) is value.dtype.type:
            return self._scalar(value)
        name = type(value).__qualname__
        raise ArtifactError(f"cannot store a value of type {name}; {STORABLE}")

    def _child(self, key: str | int, value: Any) -> Any:
        self.path.append(key)
        if len(self.path) > MAX_DEPTH:
            raise ArtifactError(f"nested more than {MAX_DEPTH} deep, or inside itself")
        code = self.encode(value)
        self.path.pop()
        return code

    def _list(self, values: list[Any] | tuple[Any, ...]) -> list[Any]:
        plain = {*map(type, values)} == {str} and len(self.path) < MAX_DEPTH
        if plain and not _has_surrogates("".join(values)):  # a vocabulary: all at once
            return list(values)
        return [self._child(index, value) for index, value in enumerate(values)]

    def _dict(self, values: dict[Any, Any]) -> dict[str, Any]:
        for key in values:
            if type(key) is not str:
                raise ArtifactError(f"cannot store the key {key!r}; keys must be str")
        codes = {key: self._child(key, value) for key, value in values.items()}
        if any(key.startswith("$") or _has_surrogates(key) for key in values):
            return {"$dict": [[encode_str(key), code] for key, code in codes.items()]}
        return codes

    def _array(self, array: npy.Array) -> int:
        if id(array) not in self._seen:
            self.arrays.append(npy.dump(array))
            self._seen[id(array)] = array, len(self.arrays) - 1
        return self._seen[id(array)][1]

    def _scalar(self, scalar: np.generic) -> dict[str, Any]:
        # Not str(scalar): NumPy's drops trailing zeros, as an array would.
        if isinstance(scalar, np.str_):
            return {"$np.str": encode_str(str.__str__(scalar))}
        if isinstance(scalar, np.bytes_):
            return {"$np.bytes": base64.b64encode(scalar).decode()}
        if scalar.dtype.names is not None:
            return {"$np.record": self._array(np.array(scalar))}
        return {"$np.scalar": [scalar.dtype.str, scalar.tobytes().hex()]}

    def _generator(self, rng: Generator) -> dict[str, int]:
        bits = rng.bit_generator
        return self._once(bits, "$generator", lambda: randomness.describe_generator(bits))

    def _seed(self, seed: SeedSequence) -> dict[str, int]:
        return self._once(seed, "$seed", lambda: randomness.describe_seed(seed))

    def _once(self, value: object, tag: str, describe: Callable[[], Any]) -> dict[str, int]:
        """Reference to ``value`` in the shared list, where what it needs comes before it."""
        if id(value) not in self._seen:
            code = {tag: self.encode(describe())}
            self._seen[id(value)] = value, len(self.shared)
            self.shared.append(code)
        return {"$shared": self._seen[id(value)][1]}


def encode_int(value: int) -> Any:
    """Integers beyond 64 bits go in hex: Python limits the digits of decimal ones."""
    return value if -(2**63) <= value < 2**63 else {"$int": hex(value)}


def encode_float(value: float) -> Any:
    """Finite floats survive JSON exactly; the others keep their bits, NaN payload included."""
    return value if math.isfinite(value) else {"$float": struct.pack(">d", value).hex()}


def encode_str(value: str) -> Any:
    """JSON would join two lone surrogates into one character, so those are tagged."""
    if not _has_surrogates(value):
        return value
    return {"$str": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()}


def _has_surrogates(value: str) -> bool:
    if value.isascii():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False
