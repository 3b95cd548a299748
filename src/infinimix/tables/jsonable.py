"""Categories to JSON and back, exactly.

Strings, bools, floats and integers of 64 bits are themselves; what JSON lacks is a one-entry
dict. Integers beyond 64 bits go as hexadecimal, which Python reads back at any length.
"""

from typing import Any

__all__ = ["from_jsonable", "to_jsonable"]


def to_jsonable(value: object, column: str) -> Any:
    """A category as something `json.dumps` keeps exactly; `column` is for the error."""
    if isinstance(value, str):
        return str.__str__(value)  # members of string enums go as the strings they equal
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 64 else {"int": hex(value)}
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    raise TypeError(
        f"column {column!r} has categories of type {type(value).__name__}, which cannot be saved; "
        "turn them into strings before the model sees them"
    )


def from_jsonable(data: Any) -> Any:
    """The category that `to_jsonable` wrote."""
    if isinstance(data, dict):
        return int(data["int"], 16) if "int" in data else bytes.fromhex(data["bytes"])
    return data
