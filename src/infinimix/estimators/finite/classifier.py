"""`FiniteMixtureClassifier`: mixtures by EM over rows with and without labels."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from infinimix.estimators.common.labels import Labels, check_lengths, read_some_labels
from infinimix.estimators.common.mixture_estimator import with_novel
from infinimix.estimators.common.parameters import Columns, Prior, Seed, seed_sequence
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.common.partitioned_rows import gather_rows, over_partitions
from infinimix.estimators.common.probabilities import BatchProbabilities
from infinimix.estimators.common.shared_methods import PublishedForm
from infinimix.estimators.common.table_estimator import TableEstimator, in_natural_units
from infinimix.estimators.common.together import canonical_order, join
from infinimix.estimators.common.unlabelled import gains, warn_if_they_hurt
from infinimix.estimators.common.weights import (
    class_factors,
    count_rows_of,
    read_weights,
    repeat_counted,
    weigh_all,
)
from infinimix.estimators.finite.binning import Edges, cut_blocks, find_edges, lay_out
from infinimix.estimators.finite.parameters import (
    FINITE_RULES,
    find_prior,
    make_plan,
    weigh_unlabelled,
)
from infinimix.estimators.finite.parted import fit_there
from infinimix.estimators.finite.state import FiniteState
from infinimix.families.priors import blank, find_families
from infinimix.inference.finite.ensemble import Ensemble, Plan, class_proba, learn, log_classes
from infinimix.inference.finite.shards import Shards, WeightedRows, here, pool
from infinimix.kernels.logs import logsumexp
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.encoded import Blocks
from infinimix.tables.forms import is_empty


class FiniteMixtureClassifier(PublishedForm, BatchProbabilities, TableEstimator):
    """A classifier of few labels: finite mixtures that learn from rows without labels too.

    The rows come from a mixture of components, within which the columns and the class are
    independent. EM finds the components; a row without label helps to find them, and the labels
    say which classes they hold. `fit` takes such rows, and `predict_batch` lets the rows to
    classify be learned along with the training rows, which is worth most with few labels.

    Parameters
    ----------
    columns
        As in `CRPMixture`.
    n_components : {"auto", "bic", "classes"} or int
        Number of components, of each class if they are owned. "auto" takes the smallest
        that is about as good as the best by the evidence of Cheeseman and Stutz, "bic" by the
        BIC; "classes" has one for each class.
    estimate : {"mean", "map"}
        Parameters are posterior means, or modes with a small floor below all probabilities.
    class_model : {"variable", "owned"}
        "variable": the class is one more categorical column of a component. "owned": every
        component belongs to one class; with `n_components="classes"` that is naive Bayes, with
        EM over rows without labels.
    n_init : int
        Number of restarts. All of them answer: their probabilities are averaged.
    unlabelled : label, optional
        What stands for "no label" in `y`, such as -1. None and NaN always do.
    random_state : int, Generator or None
        Seed.
    bins : int, optional
        Cut real columns into so many bins, at quantiles of the training rows. By default they
        are Normal within a component.
    prior : {"reference", "uniform", "empirical"} or mapping
        Of the parameters of a component: "reference" and "empirical" as in `CRPMixture`,
        "uniform" has a pseudo-count of 1 for each category and each class, as the paper does. Or
        a mapping as there.
    unlabelled_weight : float
        How much a row without label counts, from 0 to 1; those of a batch as well.
    max_iter : int
        Most steps of EM from each start.
    class_weight : {"balanced"} or mapping from labels to numbers, optional
        What multiplies the weights of the rows of a class; labels that are not named have 1.
        "balanced" makes the weights of all classes the same in sum.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    n_components_ : int
        Number of components of each mixture, over all classes.
    component_scores_ : dict
        The mean score of each number of components that was tried.
    log_posterior_trace_ : array (steps, n_init)
        Log posterior density of the observed cells and labels, step by step. It never falls,
        up to rounding (with gaussian blocks, which have no point estimate, it may).
    n_iter_ : int
        Steps of EM.
    unlabelled_gain_ : float
        By how much the rows without labels of `fit` lower the log-loss of labelled rows, held out
        in three folds. If it is negative by more than chance, `fit` warns. NaN if there are no
        such rows, less than six labels or less than two of some class.
    columns_, blocks_, n_features_in_, feature_names_in_
        As in `CRPMixture`.

    Notes
    -----
    `as_published()` is the paper's own form: one MAP estimate under a uniform prior on all
    parameters. What the paper leaves open: there are as many components as classes, which comes
    closest to its table, and real columns are cut into five bins. A mode under a uniform prior may
    be 0; a floor of 0.001 counts keeps probabilities above that.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import FiniteMixtureClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(4, 1, (50, 2))])
    >>> y = [None] * 100
    >>> y[0], y[99] = "low", "high"
    >>> model = FiniteMixtureClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.5], [3.5, 3.0]]).tolist()
    ['low', 'high']
    >>> few = FiniteMixtureClassifier(random_state=0).fit(X[[0, 99]], ["low", "high"])
    >>> few.predict_batch(X[1:99]).tolist().count("low")
    49
    """

    _rules = FINITE_RULES
    _published: ClassVar[dict[str, Any]] = {
        "n_components": "classes", "estimate": "map", "prior": "uniform", "bins": 5, "n_init": 1,
    }  # fmt: skip
    _state: FiniteState | None = None
    State = FiniteState

    def __init__(
        self,
        columns: Columns = "auto",
        n_components: Any = "auto",
        estimate: str = "mean",
        class_model: str = "variable",
        n_init: int = 9,
        unlabelled: Any = None,
        random_state: Seed = None,
        bins: int | None = None,
        prior: Prior = "reference",
        unlabelled_weight: float = 1.0,
        max_iter: int = 200,
        class_weight: Any = None,
    ) -> None:
        self.columns = columns
        self.n_components = n_components
        self.estimate = estimate
        self.class_model = class_model
        self.n_init = n_init
        self.unlabelled = unlabelled
        self.random_state = random_state
        self.bins = bins
        self.prior = prior
        self.unlabelled_weight = unlabelled_weight
        self.max_iter = max_iter
        self.class_weight = class_weight

    # --- Learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FiniteMixtureClassifier:
        """Learn a table.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows; also in partitions (`read_partitions`).
        y : sequence of n_rows labels, or the name of a column of a table in partitions
            None, NaN and `unlabelled` are no label.
        sample_weight : sequence of n_rows numbers, optional
            Whole numbers are counts: a row of weight 3 is three equal rows, one of weight 0 is left
            out. Others are relative, scaled to a mean of 1: how much each row counts in the
            expected counts of EM. Kinds of columns and edges of `bins` look at rows, not at
            relative weights.
        """
        if sample_weight is None and is_read_by_workers(X):
            state, gain = fit_there(self, X, y)
            warn_if_they_hurt(gain, type(self).__name__)
            self._state = state
            return self
        weight = None
        X, y = gather_rows(X, y, self._gather, sample_weight)
        if sample_weight is not None:
            weight = read_weights(sample_weight, count_rows_of(X))
        X, y, weight = repeat_counted(X, y, weight)
        table, labels = self._read(X), Labels()
        codes, new = read_some_labels(labels, y, self.unlabelled)
        check_lengths(table.n_rows, len(codes))
        labels.extend(new)
        table, seed = with_novel(table), seed_sequence(self.random_state)
        edges = find_edges(table, int(self.bins)) if self.bins else ()
        plan, blocks = make_plan(self, len(new)), cut_blocks(table, edges)
        learn = partial(self._learn, schema=table.schema, edges=edges, seed=seed)
        weight = weigh_all(codes, weight, class_factors(self.class_weight, labels, codes, weight))
        ensemble, gain = learn(plan, blocks, codes, weight), np.empty(0)
        if self.unlabelled_weight:
            gain = gains(learn, plan, ensemble.n_components, blocks, codes, weight, 0)
        warn_if_they_hurt(gain, type(self).__name__)
        self._state = FiniteState(
            table.schema, table, codes, labels, edges, plan, seed, ensemble,
            float(gain.mean()) if gain.size else float("nan"), weight,
        )  # fmt: skip
        return self

    def _learn(
        self,
        plan: Plan,
        blocks: Blocks,
        codes: np.ndarray,
        own: np.ndarray | None,
        schema: Schema,
        edges: Edges,
        seed: Any,
    ) -> Ensemble:
        """Return the ensemble for cut rows; classes are in the order of `Labels`."""
        own = np.ones(len(codes)) if own is None else own
        family = self._families(schema, edges, here(WeightedRows(blocks, codes, own)))
        weight = own * weigh_unlabelled(self.unlabelled_weight, codes)
        return learn(plan, family, blocks, codes, weight, seed)

    def _families(self, schema: Schema, edges: Edges, rows: Shards) -> Any:
        """Return the families of cut rows, with the prior that these call for."""
        layout = lay_out(schema, edges)
        prior = find_prior(self.prior, schema, edges)
        return find_families(layout, prior, pool(blank(layout), rows))

    # --- Answers row by row ---------------------------------------------------------------------

    def _log_classes(self, ensemble: Ensemble, cut: Blocks) -> np.ndarray:
        return log_classes(ensemble, cut)[:, :, self._fitted().labels.order]

    @over_partitions
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row by itself, as in `classes_`.

        Parameters
        ----------
        X : table
            The rows.
        """
        state = self._fitted()
        return class_proba(
            self._log_classes(state.ensemble, cut_blocks(self._encode(X), state.edges))
        )

    @over_partitions
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row, over all classes and restarts.

        With `bins`, real cells are bins, and this is the log probability of these.

        Parameters
        ----------
        X : table
            The rows.
        """
        state, table = self._fitted(), self._encode(X)
        joint = self._log_classes(state.ensemble, cut_blocks(table, state.edges))
        log_p = logsumexp(joint, axis=(1, 2)) - np.log(joint.shape[1])
        return log_p if state.edges else in_natural_units(log_p, table)

    # --- Answers for a batch, learned along with the training rows ------------------------------

    def predict_proba_batch(self, X: Any) -> np.ndarray:
        """Return the probability of each class for rows that are learned along with the others.

        EM runs over the training rows and these, which have no labels; the model itself stays
        as it is. The order of the rows does not matter.

        Parameters
        ----------
        X : table
            The rows.
        """
        state = self._fitted()
        if state.table is None:
            raise ValueError(
                "A batch is learned along with the rows of fit, but this model has learned rows on "
                "a cluster that had read them. Use predict_proba, or fit a table in memory."
            )
        if is_empty(X):
            return np.empty((0, len(self.classes_)))
        self._check_names(X)
        known, query = join(state.table, X, self.columns, type(self).__name__)
        order = canonical_order(query)
        answers = class_proba(self._log_classes(*self._learn_batch(known, query.take(order))))
        proba = np.empty_like(answers)
        proba[order] = answers
        return proba

    def _learn_batch(self, known: EncodedTable, query: EncodedTable) -> tuple[Ensemble, Blocks]:
        """Learn training rows and queries together; return the mixtures and the queries, cut."""
        state, schema = self._fitted(), known.schema
        edges = state.edges
        if self.bins and schema.kinds() != state.schema.kinds():
            edges = find_edges(known, int(self.bins))
        cut = cut_blocks(known.concat(query), edges)
        codes = np.append(state.codes, np.full(query.n_rows, -1, np.int64))
        weight = None if state.weight is None else np.append(state.weight, np.ones(query.n_rows))
        ensemble = self._learn(state.plan, cut, codes, weight, schema, edges, state.seed)
        return ensemble, tuple(block[known.n_rows :] for block in cut)

    # --- Fitted attributes ----------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        return self._fitted().labels.classes

    @property
    def n_components_(self) -> int:
        """Number of components of each mixture, over all classes."""
        return int(self._fitted().ensemble.n_components)

    @property
    def component_scores_(self) -> dict[int, float]:
        """The mean score of each number of components that was tried."""
        return dict(self._fitted().ensemble.scores)

    @property
    def log_posterior_trace_(self) -> np.ndarray:
        """Log posterior density of the observed cells and labels, step by step."""
        return self._fitted().ensemble.trace.copy()

    @property
    def n_iter_(self) -> int:
        """Steps of EM."""
        return len(self._fitted().ensemble.trace)

    @property
    def unlabelled_gain_(self) -> float:
        """By how much rows without labels lower the log-loss of labelled rows, held out."""
        return self._fitted().unlabelled_gain
