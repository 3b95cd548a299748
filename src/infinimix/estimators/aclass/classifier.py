"""`AClassClassifier`: one CRP mixture per class (Mansinghka, Roy, Rifkin, Tenenbaum 2007)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from infinimix.estimators.aclass.batches import label_together
from infinimix.estimators.aclass.explaining import weigh_class
from infinimix.estimators.aclass.learning import (
    correct_classes,
    drawing,
    learn_classes,
    learn_stream,
    read_stream,
    read_training,
)
from infinimix.estimators.aclass.normalising import log_totals
from infinimix.estimators.aclass.parted import fit_there
from infinimix.estimators.aclass.row_by_row import learn_row, score_rows
from infinimix.estimators.aclass.state import AClassState, Training
from infinimix.estimators.answers.explanation import Explanation, place_row
from infinimix.estimators.answers.groups import describe_groups, draw_rows
from infinimix.estimators.answers.imputing import ask, impute_values
from infinimix.estimators.answers.questions import Questions
from infinimix.estimators.common.fitted import of_state
from infinimix.estimators.common.mixture_estimator import MixtureEstimator, add_log_slopes
from infinimix.estimators.common.one_row import OneRow
from infinimix.estimators.common.parameters import (
    PUBLISHED_FILTER,
    Columns,
    Prior,
    Seed,
    check_parameter,
    one_of,
)
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.common.partitioned_rows import by_batches, over_partitions
from infinimix.estimators.common.probabilities import BatchProbabilities
from infinimix.estimators.common.shared_methods import PublishedForm
from infinimix.estimators.common.table_estimator import in_natural_units
from infinimix.estimators.common.unlabelled import bank_gains, warn_if_they_hurt
from infinimix.tables import EncodedTable

if TYPE_CHECKING:
    import pandas as pd


class AClassClassifier(PublishedForm, Questions, OneRow, BatchProbabilities, MixtureEstimator):
    """A generative classifier whose classes are CRP mixtures, learned online.

    Each class finds its own prototypes, as many as its rows call for. Rows may come all at
    once (`fit`) or in any portions (`partial_fit`, or `learn_one` for single dicts), with cells
    missing anywhere and labels appearing at any time.

    Parameters
    ----------
    columns, alpha, prior, effort, n_particles, n_islands, resampling, sweeps, window, max_groups
        As in `CRPMixture`, for each class; the base measure is pooled over the classes. Numbers of
        3 to 20 distinct values that `columns` leaves to "auto" are categorical or real in `fit` as
        the classes of left-out rows say, if they say it clearly; `partial_fit`, `effort="fast"` and
        `calibrate=False` leave it to the rule of `CRPMixture`.
    gamma : float
        Pseudo-count of each class: P(y) = (rows of y + gamma) / (rows + classes * gamma).
    calibrate : bool
        Correct the class probabilities in `fit`, on rows that each island scores before it learns
        them: by a power of the likelihood, so that redundant columns do not make the probabilities
        too sure, and as `correction` says.
    holes : {"auto", "ignore", "mark"}
        What a missing cell says by being missing. "ignore": nothing, it is left out. "mark": every
        column that has missing cells in the first table gets a missingness indicator, one more
        binary cell that says whether the cell is missing. "auto": `fit` adds indicators to the
        columns whose missing cells, more probably than not, depend on the class, and
        `partial_fit` to none. Indicators are part of their columns, never columns themselves.
    spikes : {"auto", "ignore"}
        What `fit` does with numbers of which a fifth or more are one value, such as 0: "auto" makes
        columns that `columns` leaves to "auto" "spiked", where that value has a probability of its
        own; "ignore" leaves them real. `partial_fit` looks for no such value.
    n_jobs, random_state, verbose
        As in `CRPMixture`.
    unlabelled : label, optional
        What stands for "no label" in `y`, such as -1. None and NaN always do.
    relevance : {"all", "learn"}
        "learn": a column whose cells are as probable under one model for all rows as under those
        of the classes or groups is modelled once and says nothing of the class. `fit` finds
        these columns and then learns the others again, which helps where many columns are noise;
        such a model takes no `partial_fit`. A stream that is begun by `partial_fit` finds them
        anew at every power of two of the row count, and leaves them out of the probabilities.
    n_label_particles : int
        How many ways to label the rows without labels of `partial_fit` each island follows; the
        time of such a row grows with their number. 1 draws one label and stays with it.
    unlabelled_share : float
        The share of the rows without label that `fit` learns, chosen at random: less than 1 where
        a warning says that they hurt, 0 to leave them out.
    correction : {"auto", "linear", "none"}
        "linear": log P(y | x) = log P(y) + power log p(x | y) + power' log p'(x | y) + o b_y + z .
        B_y, unnormalised, where p' is a model of those numbers that are correlated within classes,
        as one gaussian block, if there are any and it helps; o is the share of observed cells, z
        are the cells, standardised or one-hot. The ridge of B is found by cross-validation on
        held-out rows. "auto": the same, and in the sum also what a random forest and boosted trees
        say, each with a power, if that helps held-out rows. "none" and `effort="fast"`: the power
        alone. With fewer than 40 labelled rows the power is 1 at most (two powers: 1/2 each), and
        it is all that is found if some class has no held-out row, as one of two rows has none.
        `partial_fit` leaves the correction as `fit` has found it.
    class_weight : {"balanced"} or mapping from labels to numbers, optional
        What multiplies P(y) and the weights of the held-out rows of a class when probabilities are
        corrected; labels that are not named have 1. "balanced" makes the classes equally probable
        before a row is seen. The densities of the classes stay as they are.
    shared_directions : int
        Above 0, each gaussian block is the mean of a group plus a part that all classes share:
        normal, with so many directions in which rows vary whatever their class is, and a variance
        for each column. `fit` finds them from all rows; groups then have no covariance of their
        own. `columns` must name a gaussian block. `partial_fit` keeps the shared part of `fit`.

    Attributes
    ----------
    unlabelled_gain_ : float
        By how much the rows without labels lowered the mean log-loss of labelled rows, held out in
        `fit` in three folds; NaN if there were none, or too few labels to tell.
    feature_relevance_ : array
        With `relevance="learn"`, the probability of each column that it differs between groups;
        those of less than one half are shared. Ones otherwise.
    shared_loadings_ : array of shape (n_columns, n_directions)
        By how much each column varies along each shared direction, in units of the column; zeros
        in columns that are in no gaussian block.
    likelihood_power_ : float
        That power; 1 unless `fit` has found another one.
    loo_log_loss_ : float
        Mean log-loss of training rows (at most 20,000 of them) that were held out while the others
        were learned, each corrected by what the others call for: to choose between models without
        further data. NaN if nothing was calibrated.
    classes_ : array
        The labels, sorted.
    class_count_ : array
        Rows of each class, on average over islands and labellings if some rows had no label.
    n_groups_ : array
        Number of groups of each class, in its best particle.
    log_evidence_ : float
        Log of an unbiased estimate of the probability of all rows given their labels; labels that
        `partial_fit` lacked are summed over, and those that `fit` drew are taken as given.
    marked_ : tuple of str
        The columns that have a missingness indicator.
    columns_, blocks_, n_features_in_, feature_names_in_
        As in `CRPMixture`.

    Notes
    -----
    `as_published()` is the paper's own form: one filter of 40 particles a class, and nothing else.
    The weights of particles are multiplied from row to row; the paper's pseudocode replaces them,
    which is an error (docs/how-it-works.md). Learn the rows with `partial_fit` to have them in
    their own order, as the paper does.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import AClassClassifier
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, np.nan]] * 10)
    >>> y = np.array(["same", "same", "differ", "differ"] * 10)
    >>> model = AClassClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1, 1], [0, 1]]).tolist()
    ['same', 'differ']
    """

    _state: AClassState | None = None
    _published: ClassVar[dict[str, Any]] = PUBLISHED_FILTER | {
        "calibrate": False, "holes": "ignore", "spikes": "ignore",
    }  # fmt: skip
    State = AClassState
    _rules: ClassVar = {"correction": one_of("auto", "linear", "none")}

    def __init__(
        self,
        columns: Columns = "auto",
        alpha: float | str = "learn",
        gamma: float = 1.0,
        prior: Prior = "auto",
        effort: str = "default",
        n_particles: int | None = None,
        n_islands: int | None = None,
        resampling: str = "optimal",
        sweeps: int | None = None,
        window: int = 0,
        max_groups: int | None = None,
        calibrate: bool = True,
        holes: str = "auto",
        spikes: str = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool = False,
        unlabelled: Any = None,
        relevance: str = "all",
        n_label_particles: int = 8,
        unlabelled_share: float = 1.0,
        correction: str = "auto",
        class_weight: Any = None,
        shared_directions: int = 0,
    ) -> None:
        self.columns = columns
        self.alpha = alpha
        self.gamma = gamma
        self.prior = prior
        self.effort = effort
        self.n_particles = n_particles
        self.n_islands = n_islands
        self.resampling = resampling
        self.sweeps = sweeps
        self.window = window
        self.max_groups = max_groups
        self.calibrate = calibrate
        self.holes = holes
        self.spikes = spikes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.unlabelled = unlabelled
        self.relevance = relevance
        self.n_label_particles = n_label_particles
        self.unlabelled_share = unlabelled_share
        self.correction = correction
        self.class_weight = class_weight
        self.shared_directions = shared_directions

    # --- Learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AClassClassifier:
        """Learn a whole table; what was learned before is forgotten.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows; also in partitions (`read_partitions`).
        y : sequence of n_rows labels, or the name of a column of a table in partitions
            None, NaN and `unlabelled` are no label: each island draws labels for such rows by
            Gibbs sweeps over labels and groups, and learns them with these.
        sample_weight : sequence of n_rows numbers, optional
            Whole numbers are counts: a row of weight 3 is learned as three equal rows, one of
            weight 0 not at all. Other weights are relative (only their ratios matter): they weigh
            the rows in P(y) and in the held-out loss that the correction minimises; a group of rows
            in a CRP mixture has a whole number of rows, so the densities of the classes count
            every row of weight above 0 once.
        """
        if sample_weight is None and is_read_by_workers(X):
            self._state = fit_there(self, X, y)
            return self
        rows = read_training(self, X, y, sample_weight)
        learned, relevance = learn_classes(self, rows)
        correction = correct_classes(self, rows, learned)
        options = drawing(self, learned.bank.settings.prior)
        gain = bank_gains(learned, correction.power, self._execute, options)
        self._state = AClassState(
            rows.table.schema, learned.bank, add_log_slopes(0.0, rows.table), rows.labels,
            correction, Training(rows.table, rows.codes), relevance,
            float(gain.mean()) if len(gain) else np.nan,
            None if rows.weighting is None else rows.weighting.classes,
        )  # fmt: skip
        warn_if_they_hurt(gain, type(self).__name__, "unlabelled_share")
        return self

    @by_batches
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> AClassClassifier:
        """Learn more rows, in their order; any cutting into calls gives the same model.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows. Those of a table in partitions are learned batch by batch, as by one call for
            each.
        y : sequence of n_rows labels, or the name of a column of a table in partitions
            Labels; new ones may appear at any time. None, NaN and `unlabelled` are none: such a
            row is of one of the classes known before it, and each island follows the most
            probable ways to label the rows so far, `n_label_particles` at most.
        classes : sequence of labels, optional
            Labels to know of before their first row: needed if the first row has no label.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> model = AClassClassifier("real", effort="fast", random_state=0)
        >>> model = model.partial_fit([[0.0], [9.0], [0.2], [0.1]], ["low", "high", "low", "low"])
        >>> model = model.partial_fit([[8.8], [0.3], [9.1]], [None, None, "high"])
        >>> model.class_count_.round().tolist()
        [3.0, 4.0]
        """
        state = self._state
        if state is not None and classes is None and learn_row(self, state, X, y):
            return self
        state, rows = read_stream(self, state, X, y, classes)  # checks, and changes nothing
        learn_stream(self, state, rows)
        # Last, so that an interrupted first call leaves no half of a model, and a later one no
        # code of a category that the bank has no room for. The bank itself learns in place, and
        # knows when a later call was interrupted.
        state.add_rows(rows.table, rows.new)
        state.add_class_weights(self.class_weight)
        self._state = state
        state.bank.torn = False
        return self

    # --- Predictions ----------------------------------------------------------------------------

    def _log_prior(self) -> np.ndarray:
        return self._log_class_prior().take(self._fitted().labels.order)

    def _log_joint(self, table: EncodedTable) -> np.ndarray:
        """Return the log of P(y) p(x | y), in the order of `classes_`."""
        state = self._fitted()
        log_density = state.bank.log_densities(table.blocks)
        return (log_density + self._log_class_prior()).take(state.labels.order, axis=1)

    def _log_corrected(self, table: EncodedTable) -> np.ndarray:
        """Return the unnormalised log probability of each class, in the order of `classes_`."""
        return self._log_classes(table).take(self._fitted().labels.order, axis=1)

    def _class_scores(self, X: Any) -> np.ndarray:
        """Do the same for rows that are not encoded; a single one needs no new arrays."""
        return score_rows(self, self._fitted(), X)

    @over_partitions
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the log probability of each class for each row, as in `classes_`.

        Parameters
        ----------
        X : table
            The rows.
        """
        joint = self._class_scores(X)
        return joint - log_totals(joint)

    def predict_proba_batch(self, X: Any) -> np.ndarray:
        """Return the probability of each class for rows that are learned along with the others.

        Gibbs sweeps draw labels and groups of the training rows and these together; the model
        itself stays as it is. The order of the rows does not matter. Asked after `fit` only, as
        the rows of `partial_fit` are not kept.

        Parameters
        ----------
        X : table
            The rows.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> rows = [[0.1 * i + 9.0 * (i % 2)] for i in range(40)]
        >>> model = AClassClassifier(effort="fast", random_state=0).fit(rows[:2], ["low", "high"])
        >>> model.predict_batch(rows[2:6]).tolist()
        ['low', 'high', 'low', 'high']
        """
        return label_together(self, self._fitted(), X)

    # --- Other answers (more in `Questions`) ----------------------------------------------------

    @over_partitions
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log predictive density of each row, over all classes.

        Parameters
        ----------
        X : table
            The rows.
        """
        table = self._rows(X)
        return in_natural_units(log_totals(self._log_joint(table))[:, 0], table)

    def sample(
        self,
        n_samples: int = 1,
        given: Mapping[Any, Any] | None = None,
        random_state: Seed = None,
        *,
        n: int | None = None,
    ) -> tuple[pd.DataFrame | np.ndarray, np.ndarray]:
        """Draw rows and their labels; the parameters are those of `CRPMixture.sample`.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        given : mapping from column to value, optional
            Cells that every row shall have.
        random_state : int, Generator or None
            Where draws come from.
        n : int, optional
            Another name of `n_samples`.
        """
        state, number = self._fitted(), n_samples if n is None else n
        prior = self._log_class_prior()
        X, codes = draw_rows(state.bank, state.schema, number, given, prior, random_state)
        return X, state.labels.array[codes]

    def prototypes(self, label: Any) -> pd.DataFrame:
        """Return a DataFrame of the groups of a class, as `CRPMixture.prototypes` does.

        Parameters
        ----------
        label : label
            A class.
        """
        state = self._fitted()
        if label not in state.labels.values:
            raise ValueError(f"{label!r} is none of the classes {self.classes_.tolist()!r}.")
        return describe_groups(state.bank, state.schema, state.labels.values.index(label))

    @overload
    def impute(self, X: Any, y: Any = None, return_std: Literal[False] = False) -> Any: ...
    @overload
    def impute(self, X: Any, y: Any = None, *, return_std: Literal[True]) -> tuple[Any, Any]: ...
    def impute(self, X: Any, y: Any = None, return_std: bool = False) -> Any:
        """Return the table with its missing cells filled, as `CRPMixture.impute` does.

        Parameters
        ----------
        X : table
            The rows.
        y : sequence of labels, optional
            The classes of the rows, if they are known; else all classes are weighed by P(y)
            p(x | y), as in `score_samples` and `sample`, without `likelihood_power_`.
        return_std : bool
            Return the table of uncertainties as well.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> rows, labels = [[1.0], [1.2], [0.8], [5.0], [5.2], [4.8]] * 5, [*"aaabbb"] * 5
        >>> model = AClassClassifier(random_state=0).fit(rows, labels)
        >>> model.impute([[None], [None]], y=["a", "b"]).round(0).tolist()
        [[1.0], [5.0]]
        """
        table = self._rows(X)
        codes = None if y is None else self._fitted().labels.known_codes(y, table.n_rows)
        filled, spread = impute_values(self._mixture(), ask(X, table), codes)
        return (filled, spread) if return_std else filled

    def explain(self, x: Any, label: Any = None, against: Any = None) -> Explanation:
        """Return why a row is of a class: what columns say, and which groups it may be in.

        The evidence of a column is its share of log P(label | x) - log P(against | x), in nats:
        what its cell adds to these log odds when it is read after some of the others, averaged
        over the orders in which columns may be read (all orders for at most eight observed
        columns, else a fixed choice of some). It sums, exactly, to the log odds minus those
        before the row was seen. Where every class has one group it is the log ratio of naive
        Bayes, times `likelihood_power_`. A missing cell adds nothing, unless its
        column is one of `marked_`.

        Parameters
        ----------
        x : one row
            A dict, a list of cells, a pandas Series, or a table of one row.
        label : a class, optional
            The class to speak for; by default the one that is predicted.
        against : a class, optional
            The class to compare with; by default all others together.

        Returns
        -------
        Explanation
            Prints itself; has `columns`, `groups` (of the class), `new_group`, `to_frame()`.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> rows = [{"legs": legs, "size": s} for legs in (6, 8) for s in (1.0, 1.1, 1.2)]
        >>> model = AClassClassifier(random_state=0).fit(rows * 5, [*"aaabbb"] * 5)
        >>> why = model.explain({"legs": 8, "size": 1.1})
        >>> why.answer, why.to_frame().index[0]
        ('b', 'legs')
        """
        X, row = self._row_to_explain(x)
        labels = self._fitted().labels
        c = None if label is None else labels.code_of(label, "label")
        rival = None if against is None else labels.code_of(against, "against")
        answer, p, summary, evidence = weigh_class(self._log_classes, row, labels, c, rival)
        groups, new = place_row(self._bank, labels.code_of(answer, "label"), row)
        return self._explanation(answer, p, summary, X, (evidence, groups, new))

    def _log_class_prior(self) -> np.ndarray:
        """Return log P(y) in the order of the bank."""
        gamma = self.gamma
        if type(gamma) is not float or not 0.0 < gamma < np.inf:
            check_parameter(self, "gamma", gamma)  # read here, so it may change after fit
        return self._fitted().log_prior(gamma)

    def _log_classes(self, table: EncodedTable) -> np.ndarray:
        """Return the unnormalised `predict_log_proba`, in the order of the bank."""
        return self._fitted().log_classes(table, self._log_class_prior())

    # --- Fitted attributes ----------------------------------------------------------------------

    classes_ = of_state("labels.classes", "The labels, sorted.")
    class_count_ = of_state("class_count", "Rows of each class, as the islands have labelled them.")
    n_groups_ = of_state("n_groups", "Number of groups of each class, in its best particle.")
    likelihood_power_ = of_state("correction.power", "Power of the likelihood in probabilities.")
    loo_log_loss_ = of_state("correction.loss", "Mean log-loss of held-out training rows.")
    unlabelled_gain_ = of_state("unlabelled_gain", "What rows without labels did for the log-loss.")
    feature_relevance_ = of_state("inclusion", "The probability that a column differs by group.")
    shared_loadings_ = of_state("shared_loadings", "How columns vary whatever the class is.")
    marked_ = of_state("marked", "The columns that have a missingness indicator.")
