"""What an `OnlineCRPClassifier` has learned: its input, its classes and its learner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.fitted import check_names, list_names
from infinimix.estimators.common.labels import check_labels
from infinimix.estimators.common.state import check_layout, layout_of, read_schema
from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.estimators.online.roster import Nameless, Roster
from infinimix.estimators.online.rows import Read, TableInput, TextInput
from infinimix.families.given import resolve_prior
from infinimix.families.priors import Layout
from infinimix.inference.online_crp import model as at
from infinimix.inference.online_crp.learner import OnlineAnswers, OnlineLearner
from infinimix.inference.online_crp.storage import learner_to_tree, table_from_tree, words_from_tree
from infinimix.scikit import _check_feature_names
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary


@dataclass
class OnlineState:
    """A stream so far. It learns in place, and is torn while it does."""

    source: Any  # TextInput or TableInput
    roster: Roster
    learner: OnlineLearner
    n_features: int | None = None  # of matrices and frames
    feature_names: tuple[str, ...] | None = None
    torn: bool = False  # by an interrupt: some rows are half learned

    def check_whole(self) -> None:
        """Raise RuntimeError if an interrupt has left rows half learned."""
        if self.torn:
            raise RuntimeError(
                "A call of partial_fit was interrupted while it was learning. Fit the model again, "
                "or load it from where it was saved."
            )

    def check_names(self, model: Any, X: Any, learn: bool) -> None:
        """Check the names of a frame against those of the first one."""
        if not hasattr(X, "columns"):
            return
        if isinstance(self.source, TableInput) and self.source.schema is not None:
            check_names(model, X, self.source.schema, learn=learn)
        elif self.feature_names is not None:
            list_names(X)  # none of which may be there twice
            _check_feature_names(model, X, reset=False)

    def read(self, X: Any, who: str, answers: bool) -> Read:
        """Read rows, to learn them or for answers; they have the columns of those before."""
        read: Read = self.source.read(X, who, answers)
        width, expected = self.source.features(X, read)[0], self.n_features
        if width is None or expected is None:
            return read
        if width < expected or (answers and width > expected):  # more columns may be learned
            raise ValueError(
                f"X has {width} features, but {who} is expecting {expected} features as input."
            )
        return read

    def commit(self, X: Any, read: Read) -> None:
        """Keep what a call has found, once all its rows are learned."""
        self.source.commit(self.learner, read)
        width, names = self.source.features(X, read)
        if width is not None:
            self.n_features = max(width, self.n_features or 0)
            self.feature_names = self.feature_names or names
        self.torn = False

    def open_classes(self, new: list[Any]) -> None:
        """Open classes for these labels."""
        if new or not self.learner.n_classes:  # the first rows need room even without labels
            self.roster.extend(new)
            self.learner.open(len(self.roster.members))

    def remove(self, c: int) -> None:
        """Forget class c; its rows stay among all rows."""
        self.learner.forget(c)
        self.roster.remove(c)

    def forget(self, label: Any) -> None:
        """Forget the class of a label, if it is not the only one."""
        codes = self.roster.codes
        if label not in codes:
            raise ValueError(f"{label!r} is none of the classes {list(codes)!r}.")
        if len(codes) == 1:
            raise ValueError(f"{label!r} is the only class; fit the model again instead.")
        self.remove(codes[label])

    def forget_oldest(self, among: Iterable[int]) -> None:
        """Forget the class that has had no row for longest."""
        last = self.learner.model.classes[at.LAST]
        self.remove(min(among, key=lambda c: (last[c], c)))

    def forecast_of(self, answers: OnlineAnswers) -> Forecast:
        """Return answers with labels; None where nothing was learned."""
        empty = np.isnan(answers.confidence) | ((answers.predicted < 0) & (answers.new >= 1.0))
        predicted = self.labels_of(answers.predicted, objects=True)
        predicted[empty] = None
        return Forecast(predicted, answers.proba_told, answers.confidence, answers.new)

    def labels_of(self, codes: np.ndarray, objects: bool = False) -> np.ndarray:
        """Return the labels of classes; NEW_CLASS where there is none."""
        roster = self.roster
        if not objects and (codes >= 0).all():
            return roster.classes[roster.place[codes]]
        members = np.empty(len(roster.members) + 1, dtype=object)
        for c, member in enumerate(roster.members):
            members[c] = NEW_CLASS if isinstance(member, Nameless) else member
        members[-1] = NEW_CLASS
        return members[codes]

    @property
    def columns(self) -> dict[str, str]:
        """The kind of each column of a table."""
        if not isinstance(self.source, TableInput) or self.source.schema is None:
            raise AttributeError("Rows of text have words instead of columns_.")
        return dict(self.source.schema.requests())

    @property
    def class_count(self) -> np.ndarray:
        """Rows of each class."""
        return self.learner.model.classes[at.HELD, self.roster.order]

    @property
    def alpha(self) -> float:
        """The concentration now."""
        return float(self.learner.model.course[at.ALPHA])

    @property
    def temperature(self) -> float:
        """What the log densities are divided by, in the mean."""
        replicas = self.learner.model.replicas
        return float(np.exp(-replicas[at.SHARE] @ replicas[at.LOG_BETA]))

    @property
    def negative_weights(self) -> dict[tuple[float, float], float]:
        """How much the settings that run side by side count."""
        rows = self.learner.model.replicas[[at.NEGATIVE, at.STEP, at.SHARE]].T
        return {(float(n), float(s)): float(w) for n, s, w in rows}

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        self.check_whole()
        source, text = self.source, isinstance(self.source, TextInput)
        return {
            "text": source.text.state() if text else None,
            "vocabulary": source.vocabulary.state() if text else None,
            "schema": None if text else source.schema.to_json(),
            "members": [_member_to_tree(member) for member in self.roster.members],
            "next_number": self.roster.next_number,
            "n_features": self.n_features,
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "learner": learner_to_tree(self.learner),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> OnlineState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        text = tree["text"] is not None
        source, learner = _read_text(tree) if text else _read_table(tree, model.columns)
        roster = _read_roster(tree["members"], tree["next_number"])
        named = learner.model.classes[at.NAMED, : learner.n_classes]
        members = [not isinstance(member, Nameless) for member in roster.members]
        if members != (named > 0.0).tolist():
            raise ValueError("its labels do not fit its classes")
        return cls(source, roster, learner, *_read_features(tree))


def _member_to_tree(member: Any) -> dict[str, Any]:
    if isinstance(member, Nameless):
        return {"number": member.number, "examples": member.examples}
    return {"label": member}


def _read_text(tree: dict[str, Any]) -> tuple[TextInput, OnlineLearner]:
    learner = words_from_tree(tree["learner"])
    source = TextInput(Text.from_state(tree["text"]), learner.max_features)
    source.vocabulary = Vocabulary.from_state(tree["vocabulary"])
    hashed = source.text.n_hashed
    if learner.words > (len(source.vocabulary) if hashed is None else hashed):
        raise ValueError("its words are not those of its statistics")
    return source, learner


def _read_table(tree: dict[str, Any], columns: Any) -> tuple[TableInput, OnlineLearner]:
    schema = read_schema(tree["schema"])
    resolve_prior(tree["learner"]["prior"], schema.kinds(), schema.gaussian_blocks)
    check_layout(layout_of(schema), Layout.from_tree(tree["learner"]))
    learner = table_from_tree(tree["learner"])
    source = TableInput(columns)
    source.schema = schema
    return source, learner


def _read_roster(members: Any, next_number: Any) -> Roster:
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


def _read_features(tree: dict[str, Any]) -> tuple[int | None, tuple[str, ...] | None]:
    width, names = tree["n_features"], tree["feature_names"]
    if width is None and names is None:
        return None, None
    listed = names is None or (isinstance(names, list) and all(type(n) is str for n in names))
    if type(width) is not int or width < 0 or not listed or len(names or range(width)) != width:
        raise ValueError("its features have no number")
    return width, None if names is None else tuple(names)
