"""Single documents of a stream: learned, and answered, past all that is the same from row to row.

One row is many rows of size one, and nothing here says what a row does to a model: words are read
by the passes of `tables`, and learned and scored by the learner. What is left out are choices that
`partial_fit` and `predict` make anew at each call. A row for which they may come out otherwise (a
new label, rows of a table, hashed words) is left to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from infinimix.estimators.common.labels import PLAIN
from infinimix.estimators.online.rows import TextInput
from infinimix.estimators.online.state import OnlineState
from infinimix.families.words import WordRows
from infinimix.inference.online_crp.learner import OnlineAnswers
from infinimix.kernels.held import hold
from infinimix.tables.single_documents import DocumentReader, take_back, take_reader


def learn_row(state: OnlineState, X: Any, y: Any) -> bool:
    """Learn one document of a known class if it is a plain one; return whether it was."""
    if not _is_plain(state, X) or type(y) is not list or len(y) != 1 or type(y[0]) not in PLAIN:
        return False
    code, source = state.roster.codes.get(y[0]), state.source
    if code is None:
        return False
    reader = take_reader()
    try:
        if not reader.read(X[0], source.vocabulary, source.text):
            return False
        state.torn = True  # until all is learned; an interrupt cannot be undone
        source.reserve(state.learner, reader.n_columns, reader.n_words)
        state.learner.learn_row(_held(reader), code)
        source.keep(state.learner, reader.novel)
        state.torn = False
        return True
    finally:
        take_back(reader)


def answer_row(state: OnlineState, X: Any, proba: bool) -> OnlineAnswers | None:
    """Return what is said of one document if it is a plain one, or None."""
    answers: OnlineAnswers | None = _ask(state, X, lambda row: state.learner.answer_row(row, proba))
    return answers


def predict_row(state: OnlineState, X: Any) -> int | None:
    """Return the class that is predicted for one document if it is a plain one, or None."""
    code: int | None = _ask(state, X, state.learner.predict_row)
    return code


def _ask(state: OnlineState, X: Any, answer: Callable[[Any], Any]) -> Any:
    """Return the answer about one document if it is a plain one, or None."""
    if not _is_plain(state, X):
        return None
    reader, source = take_reader(), state.source
    try:
        if not reader.read(X[0], source.vocabulary, source.text):
            return None
        reader.blur()
        source.reserve(state.learner, reader.n_columns, reader.n_words)
        return answer(_held(reader))
    finally:
        take_back(reader)


def _held(reader: DocumentReader) -> Any:
    """Return the row as the learner takes it; the arrays are the same from row to row."""
    if reader.held is None:
        reader.held = hold(WordRows(reader.indptr, reader.indices, reader.data))
    return reader.held


def _is_plain(state: OnlineState, X: Any) -> bool:
    """Is there one document, and nothing to do but to read it and to run the learner?"""
    return (
        type(X) is list
        and len(X) == 1
        and type(state.source) is TextInput
        and not state.torn
        and state.learner.settings.new_class == "learned"
    )
