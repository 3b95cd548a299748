"""The header, the format's version, and the way up from older versions.

The format version covers the container and the encoding of trees. It rises when
a file written today could not be read correctly by yesterday's reader. What a
kind keeps in its tree is versioned by whoever owns that kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from infinimix.artifacts.errors import ArtifactError, damage_in

MAGIC = "infinimix-artifact"
FORMAT_VERSION: int = 1

HEADER = "header.json"
TREE = "tree.json"

Upgrade = Callable[[str, Any], Any]

# UPGRADES[v](kind, tree) turns a tree as format v had it into one of format v + 1.
UPGRADES: dict[int, Upgrade] = {}


def array_name(index: int) -> str:
    """Name of the archive member that holds array number ``index``."""
    return f"arrays/{index}.npy"


def member_names(n_arrays: int) -> list[str]:
    """Names of all members after the header, in their order in the file."""
    return [TREE, *map(array_name, range(n_arrays))]


def to_json(value: Any) -> bytes:
    """Compact standard JSON in ASCII; non-finite floats are an error, not an extension."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, check_circular=False)
    return text.encode("ascii")


def from_json(data: bytes, part: str) -> Any:
    """Parse standard JSON, whatever goes wrong being damage in ``part``."""
    with damage_in(part):
        return json.loads(data.decode("ascii"), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def make_header(kind: str, library_version: str, digests: Sequence[str]) -> dict[str, Any]:
    """Header of an archive whose members, the tree first, have these SHA-256 digests."""
    for name, value in (("kind", kind), ("library_version", library_version)):
        if not isinstance(value, str) or not value:
            raise ArtifactError(f"{name} must be a string that is not empty, got {value!r}")
    return {
        "magic": MAGIC,
        "format_version": FORMAT_VERSION,
        "library_version": library_version,
        "kind": kind,
        "sha256": dict(zip(member_names(len(digests) - 1), digests, strict=True)),
    }


def check_header(data: bytes, kind: str | None) -> dict[str, Any]:
    """Parse and judge a header, in the order that gives the most helpful refusal.

    The version is judged before anything that a later format could have changed.
    """
    header = from_json(data, HEADER)
    if not isinstance(header, dict) or header.get("magic") != MAGIC:
        raise ArtifactError("this is not an infinimix artifact: its header has another signature")
    _check_version(header)
    found = _text(header, "kind")
    if kind is not None and found != kind:
        raise ArtifactError(f"this artifact holds {found!r}, but {kind!r} was asked for")
    _check_digests(header.get("sha256"))
    return header


def _check_version(header: dict[str, Any]) -> None:
    version, library = header.get("format_version"), _text(header, "library_version")
    if type(version) is not int or version < 1:
        raise ArtifactError(f"{HEADER} is damaged (format_version is {version!r})")
    if version > FORMAT_VERSION:
        raise ArtifactError(
            f"it was written by infinimix {library} in format {version}; this infinimix reads "
            f"up to format {FORMAT_VERSION}: upgrade infinimix"
        )


def _check_digests(digests: Any) -> None:
    if not isinstance(digests, dict) or list(digests) != member_names(len(digests) - 1):
        raise ArtifactError(f"{HEADER} is damaged (its list of members is not one we write)")


def _text(header: dict[str, Any], key: str) -> str:
    value = header.get(key)
    if not isinstance(value, str):
        raise ArtifactError(f"{HEADER} is damaged ({key} is {value!r})")
    return value


def upgrade(kind: str, tree: Any, version: int) -> Any:
    """Lift a tree from format ``version`` to the present one, a step at a time."""
    for step in range(version, FORMAT_VERSION):
        if step not in UPGRADES:
            raise ArtifactError(
                f"it is in format {step}, which this infinimix no longer reads: load it with an "
                "older infinimix and save it again"
            )
        tree = UPGRADES[step](kind, tree)
    return tree
