"""What a file holds of an `OnlineCRPClassifier`: its input, its classes and its learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.labels import check_labels
from infinimix.estimators.common.schema_checks import check_layout, check_schema
from infinimix.estimators.online.classifier import OnlineCRPClassifier
from infinimix.estimators.online.learning import check_not_torn
from infinimix.estimators.online.roster import Nameless, Roster
from infinimix.estimators.online.rows import TableInput, TextInput
from infinimix.families.given import resolve_prior
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.storage import learner_to_tree, table_from_tree, words_from_tree
from infinimix.tables import Schema
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary


def online_to_tree(model: OnlineCRPClassifier) -> dict[str, Any]:
    """Return all that a model knows."""
    check_not_torn(model)
    source, names = model._input, getattr(model, "feature_names_in_", None)
    text = isinstance(source, TextInput)
    return {
        "text": source.text.state() if text else None,
        "vocabulary": source.vocabulary.state() if text else None,
        "schema": None if text else source.schema.to_json(),
        "members": [_member_to_tree(member) for member in model._roster.members],
        "next_number": model._roster.next_number,
        "n_features": getattr(model, "n_features_in_", None),
        "feature_names": None if names is None else names.tolist(),
        "learner": learner_to_tree(model._learner),
    }


def _member_to_tree(member: Any) -> dict[str, Any]:
    if isinstance(member, Nameless):
        return {"number": member.number, "examples": member.examples}
    return {"label": member}


def online_from_tree(model: OnlineCRPClassifier, tree: dict[str, Any]) -> OnlineCRPClassifier:
    """Give a model all that it knew."""
    restore = _restore_table if tree["text"] is None else _restore_text
    restore(model, tree)
    model._roster = _roster_from_tree(tree["members"], tree["next_number"])
    members, named = model._roster.members, model._learner.model.classes[at.NAMED]
    if [not isinstance(member, Nameless) for member in members] != (named > 0.0).tolist():
        raise ValueError("its labels do not fit its classes")
    _restore_features(model, tree["n_features"], tree["feature_names"])
    model._torn = False
    return model


def _restore_text(model: OnlineCRPClassifier, tree: dict[str, Any]) -> None:
    model._learner = learner = words_from_tree(tree["learner"])
    model._input = source = TextInput(Text.from_state(tree["text"]), learner.max_features)
    source.vocabulary = Vocabulary.from_state(tree["vocabulary"])
    hashed = source.text.n_hashed
    if learner.words > (len(source.vocabulary) if hashed is None else hashed):
        raise ValueError("its words are not those of its statistics")


def _restore_table(model: OnlineCRPClassifier, tree: dict[str, Any]) -> None:
    schema = Schema.from_json(tree["schema"])
    check_schema(schema)
    resolve_prior(tree["learner"]["prior"], schema.kinds(), schema.gaussian_blocks)
    model._learner = table_from_tree(tree["learner"])
    check_layout(schema, model._learner.layout)
    model._input = TableInput(model.columns)
    model._input.schema = schema


def _roster_from_tree(members: Any, next_number: Any) -> Roster:
    labels = check_labels([m["label"] for m in members if "label" in m], "members")
    nameless = [m for m in members if "label" not in m]
    numbers = [m["number"] for m in nameless]
    sound = (
        type(next_number) is int
        and all(type(k) is int and 0 < k < next_number for k in numbers)
        and len(set(numbers)) == len(numbers)
        and len(set(labels)) == len(labels)
        and len({isinstance(label, str) for label in labels}) < 2
        and all(isinstance(row, dict) for m in nameless for row in m["examples"])
    )
    if not sound:
        raise ValueError("its labels do not fit its classes")
    kept = [
        m["label"] if "label" in m else Nameless(m["number"], list(m["examples"])) for m in members
    ]
    return Roster(kept, next_number)


def _restore_features(model: OnlineCRPClassifier, width: Any, names: Any) -> None:
    if width is None and names is None:
        return
    listed = names is None or (isinstance(names, list) and all(type(n) is str for n in names))
    if type(width) is not int or width < 0 or not listed or len(names or range(width)) != width:
        raise ValueError("its features have no number")
    model.n_features_in_ = width
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
