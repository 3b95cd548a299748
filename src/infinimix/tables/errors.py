"""Refusals of a table, worded in one place: every one names the column, the row and the way out.

The functions build the exception and leave the raising to the caller, so that a reader of the
calling code sees where it stops. Rows are counted from 0, in the table of the failing call.
Several wordings contain phrases that scikit-learn's `check_estimator` looks for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "bad_count",
    "complex_data",
    "date_column",
    "duplicate_names",
    "infinite_cell",
    "listed",
    "misfits",
    "no_documents",
    "no_table",
    "not_binary",
    "not_count",
    "not_date",
    "not_gaussian",
    "not_real",
    "not_spiked",
    "not_word",
    "not_word_count",
    "odd_document",
    "other_names",
    "other_words",
    "too_few",
    "unhashable_cell",
    "wrong_columns",
    "wrong_dimension",
    "wrong_width",
]


def _shown(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python agrees to print
        text = hex(value) if isinstance(value, int) else f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Iterable[object], most: int = 10) -> str:
    shown = [repr(name) for name in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def whose(names: Sequence[object]) -> str:
    return "its" if len(names) == 1 else "their"


def not_binary(name: str, row: int, value: object) -> ValueError:
    return ValueError(
        f"column {name!r} is binary but has the value {_shown(value)} in row {row}; a binary "
        "column holds only 0, 1, False, True and missing cells. Correct the cell, or give the "
        f'column another kind when the model is made, e.g. columns={{{name!r}: "real"}}'
    )


class MisfitWarning(UserWarning):
    """Numbers that guessed kinds cannot hold are missing; `columns` names their columns."""

    columns: tuple[str, ...] = ()


def misfits(found: Mapping[str, tuple[int, object]]) -> MisfitWarning:
    """The warning of numbers that guessed binary columns cannot hold, by column: row and value."""
    (name, (row, value)), *others = found.items()
    more = f", and so do {listed(other for other, _ in others)}" if others else ""
    warning = MisfitWarning(
        f"column {name!r} had only 0 and 1 at first, so it was taken for binary; now it has the "
        f"value {_shown(value)} in row {row}{more}. Such cells count as missing. Say what the "
        f'column is when the model is made, e.g. columns={{{name!r}: "real"}}'
    )
    warning.columns = tuple(found)
    return warning


def not_real(name: str, row: int, value: object) -> ValueError:
    return ValueError(
        f"column {name!r} is real but has the value {_shown(value)} in row {row}, which is not a "
        "number (strings are never parsed). Convert the column to numbers, or give it another "
        f'kind when the model is made, e.g. columns={{{name!r}: "categorical"}}'
    )


def not_count(name: str, row: int, value: object) -> ValueError:
    return ValueError(
        f"column {name!r} is a count but has the value {_shown(value)} in row {row}; a count is a "
        "whole number from 0 to 2**53 - 1 (strings are never parsed), or missing. Correct the "
        "cell, or give the column another kind when the model is made, e.g. "
        f'columns={{{name!r}: "real"}}'
    )


def not_spiked(name: str, row: int, value: object) -> ValueError:
    return ValueError(
        f"column {name!r} is spiked but has the value {_shown(value)} in row {row}, which is not a "
        "number (strings are never parsed). Convert the column to numbers, or give it another "
        f'kind when the model is made, e.g. columns={{{name!r}: "categorical"}}'
    )


def not_gaussian(name: str, row: int, value: object) -> ValueError:
    return ValueError(
        f"column {name!r} is in a gaussian block but has the value {_shown(value)} in row {row}, "
        "which is not a number (strings are never parsed). Convert the column to numbers, or "
        "leave it out of the block when the model is made"
    )


def infinite_cell(name: str, row: int) -> ValueError:
    return ValueError(
        f"column {name!r} has an infinite value in row {row} (or one beyond 1e150, whose square "
        "is too large for float64); replace it by NaN if it is missing, or rescale the column"
    )


def complex_data(name: str) -> ValueError:
    return ValueError(
        f"Complex data not supported: column {name!r} holds complex numbers; pass their real "
        "and imaginary parts as two columns"
    )


def date_column(name: str) -> ValueError:
    return ValueError(
        f"column {name!r} holds dates or times, which have no such kind: give it the kind 'auto' "
        "or 'date' when the model is made, correct cells that are not dates, or drop it"
    )


def not_date(name: str, row: int, value: object) -> ValueError:
    return ValueError(
        f"column {name!r} holds dates or times but has the value {_shown(value)} in row {row}, "
        "which is none of this form. Correct the cell, or replace it by None if it is missing"
    )


def unhashable_cell(name: str, row: int, value: object) -> TypeError:
    return TypeError(
        f"column {name!r} has a {type(value).__name__} in row {row}; argument must be a string "
        "or a number: one cell holds one value, so spread it over several columns first"
    )


def duplicate_names(names: Sequence[object]) -> ValueError:
    twice = dict.fromkeys(name for name in names if names.count(name) > 1)
    return ValueError(f"duplicate column names: {listed(twice)}; rename or drop the copies")


def wrong_columns(unknown: Sequence[str], absent: Sequence[str], who: str) -> ValueError:
    parts = [f"unknown: {listed(unknown)}"] if unknown else []
    parts += [f"missing: {listed(absent)}"] if absent else []
    return ValueError(
        f"the columns of X are not those {who} was given first ({'; '.join(parts)}); the names "
        "have to be the same, in any order"
    )


def other_names(names: Sequence[str], expected: Sequence[str], who: str) -> ValueError:
    changed = [name for name in names if name not in {*expected}]
    what = f"unknown: {listed(changed)}" if changed else "others are missing"
    if {*names} == {*expected}:
        what = "they must be in the same order as they were in fit"
    return ValueError(
        f"The feature names should match those that were passed during fit: the columns of X are "
        f"{listed(names)}, those of {who} {listed(expected)} ({what}). Pass X.to_numpy() if they "
        "are in place"
    )


def wrong_width(names: Sequence[str], expected: Sequence[str], who: str) -> ValueError:
    width, known = len(names), len(expected)
    more = width > known
    what = f"unknown: {listed(names[known:])}" if more else f"missing: {listed(expected[width:])}"
    return ValueError(
        f"X has {width} features, but {who} is expecting {known} features as input ({what}, "
        "if the others are in place)"
    )


def wrong_dimension(ndim: int) -> ValueError:
    if ndim == 1:
        return ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if it "
            "is one column, X.reshape(1, -1) if it is one row"
        )
    shape = "a single value" if ndim == 0 else f"an array of {ndim} dimensions"
    return ValueError(
        f"Expected 2D array, got {shape} instead. Reshape your data to one row per example and "
        "one column per variable"
    )


def too_few(what: str, shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
    )


def no_documents(X: object) -> TypeError:
    way = "a list with one string, dict or list of words per document"
    if isinstance(X, str):
        way = "a list with one string per document, as in [X]"
    elif isinstance(X, bytes):
        way = "a list of strings, as in [X.decode()]"
    elif isinstance(X, Mapping):
        way = "a list with one dict per document, as in [X]"
    return TypeError(f"X is {_form_of(X)}; pass {way}")


def no_table(X: object) -> ValueError:
    return ValueError(
        f"Expected 2D array, but X is {_form_of(X)}; pass a data frame, a 2-D array or a list of "
        "rows"
    )


def _form_of(X: object) -> str:
    forms: dict[Any, str] = {
        str: "one string",
        bytes: "bytes",
        Mapping: "one dict",
        type(None): "None",
    }
    other = f"a {type(X).__name__}"
    return next((form for cls, form in forms.items() if isinstance(X, cls)), other)


def odd_document(row: int, value: object, expected: str) -> TypeError:
    way = "; decode it first" if isinstance(value, bytes) else ""
    return TypeError(
        f"row {row} of X is {_shown(value)}, of type {type(value).__name__}, where {expected} is "
        f"expected{way}. All documents have one form; None is an empty one"
    )


def not_word(row: int, value: object) -> TypeError:
    return TypeError(
        f"row {row} of X has the word {_shown(value)}, of type {type(value).__name__}; words are "
        "strings. Convert it with str, or leave it out"
    )


def not_word_count(name: str, row: int, value: object) -> ValueError:
    way = "Correct it, or leave the word out"
    if isinstance(value, str):
        way = (
            "Strings are never parsed. For a table with one column of text pass that column "
            "alone, for lists of words let every cell be a string"
        )
    return ValueError(
        f"row {row} of X has {_shown(value)} for {name!r}, where a count is expected, a number "
        f"from 0 on. {way}"
    )


def bad_count(name: str, row: int, value: float) -> ValueError:
    if value < 0.0:
        return ValueError(
            f"Negative values in data: row {row} of X has {_shown(value)} for {name!r}, but a word "
            "occurs 0 times or more. Pass counts, or frequencies, that were not centred"
        )
    return ValueError(
        f"row {row} of X has an infinite count for {name!r} (or one beyond 1e150); correct it, or "
        "replace it by NaN if it is missing"
    )


def other_words(known: str, who: str) -> ValueError:
    if known == "words":
        return ValueError(
            f"X is a matrix whose columns have no names, but {who} has learned words; pass a data "
            "frame with the words as names of its columns, or dicts, lists of words or text"
        )
    return ValueError(
        f"X holds words, but {who} has learned columns of matrices without names; pass a matrix "
        "with its columns in the same order"
    )
