"""`AClassClassifier`: one CRP mixture per class (Mansinghka, Roy, Rifkin, Tenenbaum 2007)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from infinimix.estimators.base import TableEstimator
from infinimix.estimators.calibration import NEUTRAL, calibrate_left_out
from infinimix.estimators.class_answers import ClassAnswers
from infinimix.estimators.class_attributes import ClassAttributes
from infinimix.estimators.groups import describe_groups, draw_rows
from infinimix.estimators.label_batches import LabelBatches, Training, label_prior
from infinimix.estimators.labels import (
    Labels,
    check_lengths,
    read_some_labels,
    read_stream_labels,
)
from infinimix.estimators.marking import find_marks
from infinimix.estimators.normalising import log_totals
from infinimix.estimators.one_row import OneRow
from infinimix.estimators.parameters import check_parameter
from infinimix.estimators.relevance import find_relevance, learn_relevant
from infinimix.estimators.unlabelled import bank_gains, take, thin, warn_if_they_hurt
from infinimix.inference.agreement import class_rows
from infinimix.scikit import ClassifierMixin, check_is_fitted
from infinimix.tables import Encoded, Schema, encode


class AClassClassifier(
    ClassAttributes, ClassAnswers, LabelBatches, OneRow, ClassifierMixin, TableEstimator
):
    """A generative classifier whose classes are CRP mixtures, learned online.

    Each class finds its own prototypes, as many as its rows call for. Rows may come all at
    once (`fit`) or in any portions (`partial_fit`, or `learn_one` for single dicts), with cells
    missing anywhere and labels appearing at any time.

    Parameters
    ----------
    columns, alpha, prior, effort, n_particles, n_islands, resampling, sweeps, window, max_groups
        As in `CRPMixture`, for each class; the base measure is pooled over the classes.
    gamma : float
        Pseudo-count of each class: P(y) = (rows of y + gamma) / (rows + classes * gamma).
    calibrate : bool
        Find a power of the likelihood in `fit`, so that redundant columns do not make the
        probabilities too sure: P(y | x) is proportional to P(y) p(x | y)^power. It is found on
        the training rows, each left out in turn.
    holes : {"auto", "ignore", "mark"}
        What a missing cell says by being missing. "ignore": nothing, it is left out. "mark": every
        column that has missing cells in the first table gets a mark beside it, one more binary
        cell that says whether the cell is missing. "auto": `fit` marks the columns whose missing
        cells, more probably than not, depend on the class, and `partial_fit` none. Marks are
        part of their columns and never columns themselves.
    spikes : {"auto", "ignore"}
        What `fit` does with numbers of which a fifth or more are one and the same value, such as 0:
        with "auto" the columns that `columns` leaves to "auto" then become "spiked", where that
        value has a probability of its own; with "ignore" they stay real. `partial_fit` looks for
        no such value, whatever is said here.
    n_jobs, random_state, verbose
        As in `CRPMixture`.
    unlabelled : label, optional
        What stands for "no label" in the `y` of `fit` and `partial_fit`, such as -1. None and NaN
        always do.
    relevance : {"all", "learn"}
        "learn": a column whose cells are as probable under one model for all rows as under those
        of the classes or groups is modelled once and says nothing of the class. `fit` finds
        these columns and then learns the others again, which helps where many columns are noise;
        such a model takes no `partial_fit`.
    n_label_particles : int
        How many ways to label the rows without labels of `partial_fit` each island follows. They
        share what they have in common, and the time of such a row grows with their number; 1
        draws one label and stays with it.
    unlabelled_share : float
        The share of the rows without label that `fit` learns, chosen at random: less than 1 where
        a warning says that they hurt, 0 to leave them out. (A drawn label counts as one row, so
        such rows cannot count a part of one.)

    Attributes
    ----------
    unlabelled_gain_ : float
        By how much the rows without labels lowered the mean log-loss of labelled rows, held out in
        `fit` in three folds; NaN if there were none, or too few labels to tell.
    feature_relevance_ : array
        With `relevance="learn"`, the probability of each column that it differs between groups;
        those of less than one half are shared. Ones otherwise.
    likelihood_power_ : float
        That power; 1 unless `fit` has found another one.
    loo_log_loss_ : float
        Mean log-loss of the training rows (at most 2,000 of them), each left out in turn: to
        choose between models without further data. NaN if nothing was calibrated.
    classes_ : array
        The labels, sorted.
    class_count_ : array
        Rows of each class; on average over the islands and their labellings, if some rows had
        no label.
    n_groups_ : array
        Number of groups of each class, in its best particle.
    log_evidence_ : float
        Log of an unbiased estimate of the probability of all rows given their labels; labels that
        `partial_fit` lacked are summed over, and those that `fit` drew are taken as given.
    marked_ : tuple of str
        The columns whose missing cells are marked.
    columns_, blocks_, n_features_in_, feature_names_in_
        As in `CRPMixture`.

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

    def __init__(
        self,
        columns: Any = "auto",
        alpha: Any = "learn",
        gamma: float = 1.0,
        prior: Any = "auto",
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
        random_state: Any = None,
        verbose: bool = False,
        unlabelled: Any = None,
        relevance: str = "all",
        n_label_particles: int = 8,
        unlabelled_share: float = 1.0,
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

    def fit(self, X: Any, y: Any) -> AClassClassifier:
        """Learn a whole table; what was learned before is forgotten.

        Rows whose label is None, NaN or `unlabelled` have none: each island draws labels for
        them by Gibbs sweeps over labels and groups, and learns them with these.
        """
        labels = Labels()

        def read(n_rows: int) -> tuple[np.ndarray, int, None]:
            codes, new = read_some_labels(labels, y, self.unlabelled)
            check_lengths(n_rows, len(codes))
            labels.extend(new)
            return codes, len(new), None

        wishes = {"gamma": self.gamma, "label_prior": label_prior(self.prior)}
        fitted = self._fit_bank(X, read, check=bool(self.calibrate), **wishes)
        relevance, codes = None, fitted.codes
        if self.relevance == "learn":
            relevance = find_relevance(fitted.schema, fitted.bank, fitted.encoded.blocks, codes)
            fitted = learn_relevant(self, fitted, relevance, wishes)
        calibration = calibrate_left_out(fitted, self.gamma) if self.calibrate else NEUTRAL
        gain = bank_gains(fitted, calibration.power, self._execute, wishes)
        self._take(X, fitted.schema, fitted.bank, fitted.encoded)
        self._labels, self._calibration = labels, calibration
        self._training = Training(fitted.encoded.blocks, codes)
        self._relevance, self._gain = relevance, float(gain.mean()) if len(gain) else np.nan
        warn_if_they_hurt(gain, type(self).__name__, "unlabelled_share")
        return self

    def _thin(self, encoded: Encoded, codes: np.ndarray) -> tuple[Encoded, np.ndarray]:
        """Leave out all but a share of the rows without labels."""
        if self.unlabelled_share == 1 or (codes >= 0).all():
            return encoded, codes
        rows = thin(codes, float(self.unlabelled_share))
        return encoded._replace(blocks=take(encoded.blocks, rows), n_rows=len(rows)), codes[rows]

    def _finds_spikes(self) -> bool:
        return self.spikes == "auto"

    def _mark(
        self, X: Any, schema: Schema, encoded: Encoded, codes: Any = None
    ) -> tuple[Schema, Encoded]:
        """Mark holes as `holes` asks for; `codes` are the classes of a whole table."""
        marked = find_marks(self.holes, schema, encoded, codes)
        if not marked:
            return schema, encoded
        schema = replace(schema, marked=marked)
        return schema, encode(schema, X, learn=True, who=type(self).__name__)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> AClassClassifier:
        """Learn more rows, in their order; any cutting into calls gives the same model.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            The rows.
        y : sequence of n_rows labels
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
        everywhere = isinstance(self.relevance, str) and self.relevance == "all"
        if not everywhere or getattr(self, "_relevance", None) is not None:
            check_parameter(self, "relevance", self.relevance)
            raise ValueError(
                "partial_fit needs relevance='all': which columns are shared by the classes is "
                "found in a whole table, by fit."
            )
        labels = self._labels if hasattr(self, "_labels") else Labels()
        new: list[Any] = []

        def read(n_rows: int) -> tuple[np.ndarray, int, int | None]:
            codes, found, n_known = read_stream_labels(labels, y, self.unlabelled, classes, n_rows)
            new.extend(found)
            return codes, len(labels.values) + len(found), n_known

        self._learn_rows(X, read)
        self._training = self._relevance = None  # there are more rows now, which nobody keeps
        self._gain = np.nan
        if new or not hasattr(self, "_labels"):
            labels.extend(new)
            self._labels = labels
            self._calibration = getattr(self, "_calibration", NEUTRAL)
        return self

    def _log_prior(self) -> np.ndarray:
        check_parameter(self, "gamma", self.gamma)  # read here, so it may change after fit
        weight = class_rows(self._bank)[self._labels.order] + self.gamma
        return np.log(weight / np.add.reduce(weight))  # past what `sum` asks before it adds

    def _log_joint(self, blocks: Any, power: float = 1.0) -> np.ndarray:
        """Return the log of P(y) p(x | y)^power."""
        log_density = self._bank.log_densities(blocks).take(self._labels.order, axis=1)
        return power * log_density + self._log_prior()

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the log probability of each class for each row, as in `classes_`."""
        joint = self._log_joint(self._fitted_rows(X), self._calibration.power)
        return joint - log_totals(joint)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row, as in `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        joint = self._log_joint(self._fitted_rows(X), self._calibration.power)
        return self.classes_[joint.argmax(axis=1)]

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log predictive density of each row, over all classes."""
        blocks = self._fitted_rows(X)
        return self._in_natural_units(log_totals(self._log_joint(blocks))[:, 0], blocks)

    def sample(self, n: int = 1, given: Any = None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels, all with the cells that `given` fixes."""
        check_is_fitted(self)
        X, codes = draw_rows(self._bank, self._schema, n, given, self._log_class_prior())
        return X, self._labels.array[codes]

    def prototypes(self, label: Any) -> Any:
        """Return a DataFrame of the groups of a class, as `CRPMixture.prototypes` does."""
        check_is_fitted(self)
        if label not in self._labels.values:
            raise ValueError(f"{label!r} is none of the classes {self.classes_.tolist()!r}.")
        return describe_groups(self._bank, self._schema, self._labels.values.index(label))
