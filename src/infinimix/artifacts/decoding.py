"""The way back from JSON and arrays to a tree; the tags are those of ``encoding``.

Nothing here looks up a name in a module or calls what a file names: a tag is
either in the table below or an error.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from infinimix.artifacts import npy, randomness
from infinimix.artifacts.encoding import MAX_DEPTH, place
from infinimix.artifacts.errors import ArtifactError, damage_in
from infinimix.artifacts.formats import TREE

T = TypeVar("T")

SIMPLE_DTYPE = re.compile(r"[<>|][biufcmMV]\d{1,9}(\[\w{1,20}\])?")


def decode(document: Any, arrays: list[npy.Array]) -> Any:
    """Tree that was encoded as this JSON document and these arrays."""
    if not isinstance(document, dict) or list(document) != ["shared", "tree"]:
        raise ArtifactError(f"{TREE} is damaged (it must hold 'shared' and 'tree')")
    decoder = Decoder(arrays)
    with damage_in(TREE):
        try:
            for code in expect(list, document["shared"]):
                decoder.share(decoder.decode(code))
            return decoder.decode(document["tree"])
        except (ValueError, TypeError, LookupError) as error:
            raise ArtifactError(f"{TREE} is damaged at {place(decoder.path)}: {error}") from error


def expect(kind: type[T], value: Any) -> T:
    """``value`` if it has exactly this type."""
    if type(value) is not kind:
        raise ArtifactError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


class Decoder:
    """One walk over one document; ``path`` is where it stands, also after a refusal."""

    def __init__(self, arrays: list[npy.Array]) -> None:
        self.arrays = arrays
        self.shared: list[Any] = []
        self.path: list[str | int] = []
        self._tags: dict[str, Callable[[Any], Any]] = {
            "$tuple": lambda body: tuple(self._list(expect(list, body))),
            "$dict": self._pairs,
            "$int": decode_int,
            "$float": decode_float,
            "$str": lambda body: from_base64(body).decode("utf-8", "surrogatepass"),
            "$bytes": from_base64,
            "$array": lambda body: pick(self.arrays, body),
            "$np.scalar": decode_scalar,
            "$np.str": lambda body: np.str_(expect(str, self.decode(body))),
            "$np.bytes": lambda body: np.bytes_(from_base64(body)),
            "$np.record": lambda body: pick(self.arrays, body)[()],
            "$shared": lambda body: pick(self.shared, body),
            "$generator": lambda body: randomness.restore_generator(self.decode(body)),
            "$seed": lambda body: randomness.restore_seed(self.decode(body)),
        }

    def decode(self, code: Any) -> Any:
        if type(code) is list:
            return self._list(code)
        if type(code) is dict:
            return self._dict(code)
        return code

    def share(self, value: Any) -> None:
        """Note a value that several places have; containers in each other could be endless."""
        if not isinstance(value, np.random.Generator | np.random.SeedSequence):
            raise ArtifactError(f"a shared {type(value).__name__}")
        self.shared.append(value)

    def _child(self, key: str | int, code: Any) -> Any:
        self.path.append(key)
        if len(self.path) > MAX_DEPTH:
            raise ArtifactError(f"nested more than {MAX_DEPTH} deep")
        value = self.decode(code)
        self.path.pop()
        return value

    def _list(self, codes: list[Any]) -> list[Any]:
        if {*map(type, codes)} == {str} and len(self.path) < MAX_DEPTH:
            return codes  # a vocabulary: all at once
        return [self._child(index, code) for index, code in enumerate(codes)]

    def _dict(self, codes: dict[str, Any]) -> Any:
        if any(key.startswith("$") for key in codes):
            return self._tagged(codes)
        return {key: self._child(key, code) for key, code in codes.items()}

    def _tagged(self, codes: dict[str, Any]) -> Any:
        tag, body = next(iter(codes.items()))
        if len(codes) != 1 or tag not in self._tags:
            raise ArtifactError(f"unknown tag {'+'.join(codes)!r}; a newer infinimix may know it")
        return self._tags[tag](body)

    def _pairs(self, body: Any) -> dict[str, Any]:
        pairs = [(expect(str, self.decode(key)), code) for key, code in expect(list, body)]
        return {key: self._child(key, code) for key, code in pairs}


def pick(values: list[Any], index: Any) -> Any:
    """Entry ``index``, refusing what Python would take as counting from the end."""
    if not 0 <= expect(int, index) < len(values):
        raise ArtifactError(f"refers to entry {index} of {len(values)}")
    return values[index]


def decode_int(body: Any) -> int:
    return int(expect(str, body), 16)


def decode_float(body: Any) -> float:
    (value,) = struct.unpack(">d", bytes.fromhex(expect(str, body)))
    return float(value)


def from_base64(body: Any) -> bytes:
    return base64.b64decode(expect(str, body), validate=True)


def decode_scalar(body: Any) -> Any:
    """A NumPy scalar from its dtype and its bytes."""
    name, digits = expect(list, body)
    if not SIMPLE_DTYPE.fullmatch(expect(str, name)):
        raise ArtifactError(f"{name!r} is not the dtype of a scalar")
    data, dtype = bytearray.fromhex(expect(str, digits)), np.dtype(name)
    if len(data) != dtype.itemsize:
        raise ArtifactError(f"a scalar of dtype {name} in {len(data)} bytes")
    return np.ndarray((), dtype, data)[()]
