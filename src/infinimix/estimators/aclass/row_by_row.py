"""Single rows of a stream: learned, and scored, past all that is the same from row to row.

One row is many rows of size one, and nothing here says what a row does to a model: the cells are
read by the passes of `tables`, and learned and scored by the bank. What is left out are choices
that `partial_fit` makes anew at each call. A row for which they may come out otherwise (a new label
or category, a table of another form, hyper-parameters that are due) is left to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.aclass.state import AClassState
from infinimix.estimators.common.mixture_estimator import check_whole
from infinimix.tables import EncodedTable
from infinimix.tables.single_rows import take_back, take_reader


def learn_row(model: Any, state: AClassState, X: Any, y: Any) -> bool:
    """Learn one row of a known class if it is a plain one; return whether it was."""
    code = state.labels.find_one(y, model.unlabelled)
    if code is None or state.bank.torn or not _goes_on(model, state):
        return False
    schema = state.schema
    reader = take_reader(schema)
    try:
        return reader.read(X) and bool(state.bank.learn_row(reader.placed, code))
    finally:
        take_back(schema, reader)


def _goes_on(model: Any, state: AClassState) -> bool:
    """Is there nothing to be done beside the bank: is this a stream, and not after `fit`?"""
    relevance = model.relevance
    return (
        state.training is None
        and state.relevance is None
        and state.stream_relevance is None
        and state.correction.joint is None
        and type(relevance) is str
        and relevance == "all"
        and not model.verbose
        and (model.class_weight is None or state.class_factors is not None)
    )


def score_rows(model: Any, state: AClassState, X: Any) -> np.ndarray:
    """Return the unnormalised log probability of each class; one row goes past new arrays."""
    check_whole(state.bank)
    reader = take_reader(state.schema)
    try:
        one = reader.read(X)
        rows = EncodedTable(state.schema, reader.blocks) if one else model._encode(X)
        found: np.ndarray = model._log_corrected(rows)
        return found
    finally:
        take_back(state.schema, reader)
