"""What a model can be asked: the one place where reports, commands and streams find out.

An ability is a protocol, the methods and fitted attributes that go together. `able(model,
Explaining)` asks the model itself, as scikit-learn's and River's own classifiers are welcome here
and many decide by their parameters what they can do; `isinstance` with a protocol would look at
their class only. To ask for something new, write its protocol here.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import get_annotations
from typing import Any, Protocol


def able(model: Any, ability: type) -> bool:
    """Whether a model (or a class of models) has all that an ability names."""
    return all(hasattr(model, name) for name in _names(ability))


@lru_cache
def _names(ability: type) -> tuple[str, ...]:
    """Return the attributes and the methods of a protocol."""
    found = {name for base in ability.__mro__ for name in get_annotations(base)}
    found |= {name for base in ability.__mro__ for name in vars(base) if not name.startswith("_")}
    return tuple(sorted(found))


# --- kinds of models ----------------------------------------------------------------------------


class Classified(Protocol):
    """A fitted classifier."""

    classes_: Any


class Classifying(Classified, Protocol):
    """A fitted classifier with probabilities."""

    def predict_proba(self, X: Any) -> Any: ...


class Predicting(Protocol):
    """A model that says of each row to which class or group it belongs."""

    def predict(self, X: Any) -> Any: ...


class Regressing(Protocol):
    """A model that predicts a number, with intervals."""

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any: ...


class Grouping(Protocol):
    """A mixture, or a classifier whose classes are mixtures."""

    n_groups_: Any


class Prototyping(Grouping, Protocol):
    """One that shows its groups, of a class if it has classes."""

    def prototypes(self, *label: Any) -> Any: ...


class Clustering(Protocol):
    """Clusters that have a mean."""

    n_clusters_: Any
    cluster_means_: Any


class Networking(Protocol):
    """A network whose edges have probabilities."""

    edge_marginals_: Any


class LinkingBothWays(Networking, Protocol):
    """A network whose edges have no direction, and which rows have a pseudo-likelihood in."""

    def pseudo_log_likelihood(self, X: Any) -> Any: ...


class FollowingTime(Networking, Protocol):
    """A network whose edges lead from one row to the next."""

    def score_steps(self, X: Any, sequences: Any = None) -> Any: ...


class SigningEffects(Networking, Protocol):
    """A network whose effects are positive or negative."""

    negative_marginals_: Any
    role_signs_: Any


class SharingRoles(Networking, Protocol):
    """Several networks, whose variables share roles."""

    networks_: Any


# --- what some of them know ---------------------------------------------------------------------


class Counting(Protocol):
    """The rows of each class."""

    class_count_: Any


class KnowsKinds(Protocol):
    """The kind of each column."""

    columns_: Any


class ReadsTables(Protocol):
    """How it reads tables."""

    _schema: Any


class KnowsNames(Protocol):
    """The names of its columns."""

    feature_names_in_: Any


class KnowsRelevance(Protocol):
    """The relevance of its columns, learned if `relevance` is "learn"."""

    relevance: str
    feature_relevance_: Any


class KnowsMissingness(Protocol):
    """The columns that have missingness indicators."""

    marked_: Any


class KnowsPurity(Protocol):
    """The share of rows that have the most frequent label of their cluster."""

    label_purity_: Any


class KnowsSizes(Protocol):
    """The rows of each cluster."""

    cluster_sizes_: Any


class HasExperts(Protocol):
    """A linear classifier in each cluster."""

    coef_: Any


class HoldsOut(Protocol):
    """The log-loss of training rows that were held out."""

    loo_log_loss_: float


class Verbose(Protocol):
    """A progress bar."""

    verbose: Any


# --- what some of them answer -------------------------------------------------------------------


class Parametrised(Protocol):
    """Its parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


class Explaining(Protocol):
    """Why a row is of one class and not of another."""

    def explain(self, x: Any, label: Any = None, against: Any = None) -> Any: ...


class Sampling(Protocol):
    """Rows that look like those learned."""

    def sample(self, n: int = 1) -> Any: ...


class Relating(Protocol):
    """How much pairs of columns say of each other."""

    def dependence(self) -> Any: ...


class HidesCells(Protocol):
    """Encodes rows once, and answers with any of their cells and indicators hidden."""

    _rows: Any
    _log_corrected: Any


class FindsAnomalies(Protocol):
    """How strange a row and its cells are."""

    def anomaly_score(self, X: Any, calibrated: bool = False) -> Any: ...

    def cell_anomaly_score(self, X: Any) -> Any: ...


class AnswersBatches(Protocol):
    """Rows that are classified together."""

    def predict_batch(self, X: Any) -> Any: ...

    def predict_proba_batch(self, X: Any) -> Any: ...


# --- streams ------------------------------------------------------------------------------------


class LearnsTables(Protocol):
    """Learns more rows, as scikit-learn's models do."""

    def partial_fit(self, X: Any, y: Any = None) -> Any: ...


class LearnsRows(Protocol):
    """Learns one row, as River's models do."""

    def learn_one(self, x: Any, y: Any) -> Any: ...


class AnswersRows(Protocol):
    """Probabilities for one row, as River's models give them."""

    def predict_proba_one(self, x: Any) -> dict[Any, float]: ...


class LearnsLabels(LearnsTables, LearnsRows, AnswersRows, Protocol):
    """A classifier that learns rows one by one or many at once."""


class LearnsWithoutLabels(LearnsTables, Predicting, FindsAnomalies, Protocol):
    """A mixture that learns more rows."""


class LetsFeaturesEmerge(Protocol):
    """Says whether rows may have features that no row before has had."""

    features_emerge: bool


class Forecasting(Protocol):
    """Predicts the rows of a chunk and learns them, by itself."""

    def forecast(self, X: Any, y: Any) -> Any: ...


class NoticesNewClasses(Protocol):
    """The probability that a row is of a class never learned."""

    def new_class_proba(self, X: Any) -> Any: ...


class CollectsNewClasses(Protocol):
    """Classes that it has found among rows without labels."""

    def provisional_classes(self) -> list[Any]: ...


class NamesNewClasses(Protocol):
    """Gives them names."""

    def name_class(self, number: int, label: Any) -> None: ...
