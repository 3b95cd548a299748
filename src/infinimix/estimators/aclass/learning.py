"""How an `AClassClassifier` reads and learns rows: those of a whole table, and those of a stream.

`fit` reads a table with its labels and weights, learns a mixture for each class, and corrects the
probabilities on rows that were held out. `partial_fit` reads rows before anything changes, and then
lets the bank, the block of correlated numbers and the relevance of the columns learn them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.batches import label_prior
from infinimix.estimators.aclass.correction import NEUTRAL, Correction, correct, find_power
from infinimix.estimators.aclass.missingness import indicate
from infinimix.estimators.aclass.relevance import Relevance, find_relevance, learn_relevant
from infinimix.estimators.aclass.shared_part import (
    check_shared,
    check_stream_shared,
    learn_shared,
)
from infinimix.estimators.aclass.state import AClassState
from infinimix.estimators.aclass.stream_relevance import (
    StreamRelevance,
    check_stream_relevance,
    learn_with_relevance,
)
from infinimix.estimators.common.doubtful_kinds import choose_kinds
from infinimix.estimators.common.joint_numbers import learn_joint
from infinimix.estimators.common.labels import (
    Labels,
    check_lengths,
    read_some_labels,
    read_stream_labels,
)
from infinimix.estimators.common.mixture_estimator import Labelled, Learned, with_novel
from infinimix.estimators.common.partitioned_rows import gather_rows
from infinimix.estimators.common.table_estimator import given_in_numbers
from infinimix.estimators.common.unlabelled import thin
from infinimix.estimators.common.weights import (
    Weighting,
    check_stream_weights,
    class_factors,
    count_rows_of,
    read_weights,
    repeat_counted,
    weigh_rows,
)
from infinimix.inference.ensemble.bank import Settings
from infinimix.tables import EncodedTable

# --- A whole table -------------------------------------------------------------------------------


class TrainingRows(NamedTuple):
    """The rows of `fit`, their labels and weights, and the seed of all that is drawn."""

    table: EncodedTable
    codes: np.ndarray  # of the classes, -1 without label
    labels: Labels
    weighting: Weighting | None
    seed: np.random.SeedSequence


def read_training(model: Any, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
    """Return the rows to learn, with missingness indicators; counts repeat rows."""
    weight = None
    X, y = gather_rows(X, y, model._gather, sample_weight)
    if sample_weight is not None:
        X, y, weight = repeat_counted(X, y, read_weights(sample_weight, count_rows_of(X)))
    table, labels = model._read(X, spikes=model.spikes == "auto"), Labels()
    codes, new = read_some_labels(labels, y, model.unlabelled)
    check_lengths(table.n_rows, len(codes))
    labels.extend(new)
    if asks_for_kinds(model):
        factors = class_factors(model.class_weight, labels, codes, weight)
        weighting = weigh_rows(codes, len(new), weight, factors)
        named = given_in_numbers(model.prior)
        chosen = choose_kinds(
            with_novel(table), codes, len(new), float(model.gamma), weighting, named
        )
        if chosen:
            table = model._read(X, spikes=model.spikes == "auto", chosen=chosen)
    table = with_novel(indicate(model.holes, X, table, codes, type(model).__name__))
    check_shared(model, table.schema)
    seed = model._new_seed(table.schema, streams=False)
    table, codes, weight = thin(table, codes, weight, float(model.unlabelled_share), seed)
    factors = class_factors(model.class_weight, labels, codes, weight)
    weighting = weigh_rows(codes, len(new), weight, factors)
    return TrainingRows(table, codes, labels, weighting, seed)


def asks_for_kinds(model: Any) -> bool:
    """Return whether rows may choose the kinds of columns in doubt, against the "auto" rule."""
    return bool(model.calibrate) and model.effort != "fast"


def drawing(model: Any, prior: Any) -> dict[str, Any]:
    """Return how classes are weighed while labels are drawn, for a bank with this prior."""
    return {"gamma": model.gamma, "label_prior": label_prior(model.prior, prior)}


def learn_classes(model: Any, rows: TrainingRows) -> tuple[Learned, Relevance | None]:
    """Return a mixture for each class, and the relevance of the columns if it is to be learned."""

    def learn(table: EncodedTable, settings: Settings | None = None) -> Learned:
        n_classes, check = len(rows.labels.values), bool(model.calibrate)
        own = settings or model._settings(table.schema, streams=False)
        options = drawing(model, own.prior)
        found: Learned = model._learn_table(
            table, rows.codes, n_classes, rows.seed, own, check=check, **options
        )
        return found

    if model.shared_directions:
        own = model._settings(rows.table.schema, streams=False)
        return learn_shared(learn, own, rows.table, rows.codes, model.shared_directions), None
    learned = learn(rows.table)
    if model.relevance != "learn":
        return learned, None
    relevance = find_relevance(learned)
    return learn_relevant(learn, learned, relevance), relevance


def correct_classes(model: Any, rows: TrainingRows, learned: Learned) -> Correction:
    """Return what held-out rows call for: a power alone, or all that `correction` says."""
    second = partial(learn_joint, learned, rows.seed, model._run)
    return correct_learned(model, learned, rows.weighting, rows.seed, second)


def correct_learned(
    model: Any,
    learned: Learned,
    weighting: Weighting | None,
    seed: np.random.SeedSequence,
    second: Callable[[bool], Any],
) -> Correction:
    """Do the same, given what learns the second model."""
    if not model.calibrate:
        return NEUTRAL
    gamma = float(model.gamma)
    if model.correction == "none" or model.effort == "fast":
        return find_power(learned, gamma, weighting)
    whole = model.relevance == "all"
    trees, offsets = model.correction == "auto" and whole, model.holes != "ignore"
    return correct(learned, second if whole else None, gamma, seed, weighting, trees, offsets)


# --- A stream ------------------------------------------------------------------------------------


class StreamRows(NamedTuple):
    """Rows of a call of `partial_fit`, which nothing has learned yet."""

    table: EncodedTable
    labelled: Labelled
    new: list[Any]  # labels that have not been seen before


def read_stream(
    model: Any, state: AClassState | None, X: Any, y: Any, classes: Any
) -> tuple[AClassState, StreamRows]:
    """Return the rows of a call, and the state that they are for: a new one at the first call."""
    if state is None:
        check_stream_weights(model.class_weight)
    check_stream_relevance(model, state)
    check_stream_shared(model, state)
    table = model._read(X, stream=True) if state is None else model._encode(X, learn=True)
    labels = Labels() if state is None else state.labels
    codes, new, n_known = read_stream_labels(labels, y, model.unlabelled, classes, table.n_rows)
    labelled = Labelled(codes, len(labels.values) + len(new), n_known)
    if state is None:
        table = indicate(model.holes, X, table, None, type(model).__name__)
        seed = model._new_seed(table.schema, streams=True)
        bank = model._new_bank(table.schema, seed, streams=True)
        state = AClassState(table.schema, bank, 0.0, labels)
        if model.relevance == "learn":
            state.stream_relevance = StreamRelevance(bank, table.schema.width)
    return state, StreamRows(table, labelled, new)


def learn_stream(model: Any, state: AClassState, rows: StreamRows) -> None:
    """Learn rows in their order, in place: the bank knows when a call was interrupted."""
    joint = state.correction.joint
    if joint is not None:
        joint.prepare()
    if state.stream_relevance is None:
        model._learn_stream(state.bank, rows.table, rows.labelled)
    else:
        learn_with_relevance(state, rows.table, rows.labelled, model._learn_stream)
    if joint is not None:
        joint.learn(rows.table, rows.labelled, model._execute)
