"""`CRPRegressor`: the distribution of a number given the other cells, by one CRP mixture."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal, overload

import numpy as np

from infinimix.estimators.common.mixture_estimator import (
    MixtureEstimator,
    add_log_slopes,
    one_class,
    with_novel,
)
from infinimix.estimators.common.parameters import Columns, Prior, Seed, generator, one_of
from infinimix.estimators.common.partitioned_rows import READ_IT, refuse_partitions
from infinimix.estimators.common.weights import WHOLE_ROWS, repeat_only
from infinimix.estimators.mixture.regression.answers import mean_and_std, quantiles
from infinimix.estimators.mixture.regression.calibration import Outlook
from infinimix.estimators.mixture.regression.correction import NEUTRAL, Joint, LearningPlan, correct
from infinimix.estimators.mixture.regression.state import RegressorState
from infinimix.estimators.mixture.regression.target import (
    REQUESTS,
    encode_target,
    find_target,
    join_schema,
    join_target,
    log_slopes,
    read_values,
)
from infinimix.inference.partition.assignments import best_particle
from infinimix.inference.partition.filter import ROWS_AT_ONCE
from infinimix.scikit import RegressorMixin
from infinimix.tables import EncodedTable


class CRPRegressor(RegressorMixin, MixtureEstimator):
    """Regression by a CRP mixture of all columns and the target.

    The model is of the joint of X and y, so cells of X may be missing anywhere, in training rows
    and in new ones, and the answer is a whole distribution: a mean, quantiles, intervals, a
    density. Where y is nearly linear in X, a mixture alone predicts its mean poorly; `fit` corrects
    it on held-out rows, and finds on them how wide intervals must be to cover.

    Parameters
    ----------
    columns, alpha, prior, effort, n_particles, n_islands, resampling, sweeps, max_groups
        As in `CRPMixture`. A prior by kind is one of the target too; the target's own name is "y".
    target : "auto", "real", "real:log" or "real:rank"
        Whether the target is transformed first. With "auto" it is if it has a long tail, from 30
        rows on. All answers are in natural units.
    correction : {"auto", "none"}
        "auto": the mean is c + a m(x) + a' m'(x) + z . B. m is the conditional mean of the mixture,
        m' that of a second mixture in which the numbers and the target are one gaussian block, if
        it helps (not with `effort="fast"`), and z are the cells, standardised or one-hot. All is
        fitted on held-out rows, the ridge of B chosen on them too. "none": m(x).
    calibrate : bool
        Find on held-out rows the scale of the distribution around the mean, and its levels, so that
        intervals cover as many rows as they say. False: the plain conditional of the joint model,
        without any correction.
    spikes : {"auto", "ignore"}
        As in `AClassClassifier`, for the columns of X.
    n_jobs, random_state, verbose
        As in `CRPMixture`.

    Attributes
    ----------
    target_ : str
        The kind of the target, with its transform.
    held_out_r2_ : float
        R^2 of training rows that were held out, corrected by the others; NaN if nothing was
        calibrated.
    n_groups_ : int
        Number of groups of the best particle.
    log_evidence_ : float
        Log of an unbiased estimate of the probability of all rows and their targets.
    columns_, blocks_, n_features_in_, feature_names_in_
        As in `CRPMixture`; the target is not among them.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import CRPRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = 3.0 * X[:, 0] + rng.normal(size=200)
    >>> model = CRPRegressor(random_state=0).fit(X, y)
    >>> model.predict([[2.0, 0.0], [1.0, None]]).round(0).tolist()
    [6.0, 3.0]
    >>> low, high = model.predict_interval([[1.0, 0.0]], coverage=0.9)[0]
    >>> bool(0.5 < low < 3.0 < high < 5.5)
    True
    """

    _state: RegressorState | None = None
    State = RegressorState
    _rules: ClassVar = {"target": one_of(*REQUESTS)}
    window = 0  # no parameter here: a regressor learns whole tables, no streams

    def __init__(
        self,
        columns: Columns = "auto",
        alpha: float | str = "learn",
        prior: Prior = "auto",
        effort: str = "default",
        n_particles: int | None = None,
        n_islands: int | None = None,
        resampling: str = "optimal",
        sweeps: int | None = None,
        max_groups: int | None = None,
        target: str = "auto",
        correction: str = "auto",
        calibrate: bool = True,
        spikes: str = "auto",
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool = False,
    ) -> None:
        self.columns = columns
        self.alpha = alpha
        self.prior = prior
        self.effort = effort
        self.n_particles = n_particles
        self.n_islands = n_islands
        self.resampling = resampling
        self.sweeps = sweeps
        self.max_groups = max_groups
        self.target = target
        self.correction = correction
        self.calibrate = calibrate
        self.spikes = spikes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # --- Learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CRPRegressor:
        """Learn a whole table and its target; what was learned before is forgotten.

        Parameters
        ----------
        X : table
            The rows.
        y : sequence of n_rows numbers
            The target.
        sample_weight : sequence of n_rows whole numbers, optional
            Counts: a row of weight 3 is three equal rows, one of weight 0 is left out.
            Other weights are refused: a group has a whole number of rows.
        """
        refuse_partitions(X, type(self).__name__, READ_IT)
        X, y = repeat_only(type(self).__name__, WHOLE_ROWS, sample_weight, X, y)
        table = with_novel(self._read(X, spikes=self.spikes == "auto"))
        values = read_values(y, table.n_rows)
        target = find_target(table.schema, values, self.target)
        t = encode_target(target, values)
        joint = Joint(table, t, join_schema(table.schema, target))
        seed = self._new_seed(joint.schema, streams=False)
        rows = join_target(joint.schema, table, t)
        bank = self._learn_table(rows, *one_class(rows), seed).bank
        within = (float(values.min()), float(values.max()))
        correction = NEUTRAL
        if self.calibrate:
            settings = self._settings(joint.schema, streams=False)
            stacks, seconds = self.correction == "auto", self.effort != "fast"
            plan = LearningPlan(settings, seed, self._run, target, within, stacks, seconds)
            correction = correct(joint, plan)
        slopes = add_log_slopes(0.0, rows)
        self._state = RegressorState(table.schema, bank, slopes, target, within, correction)
        return self

    # --- Answers --------------------------------------------------------------------------------

    def _outlooks(self, X: Any) -> Iterator[tuple[slice, Outlook]]:
        """Yield the rows in parts, with the distributions of their targets."""
        return self._in_parts(self._rows(X))

    def _in_parts(self, table: EncodedTable) -> Iterator[tuple[slice, Outlook]]:
        state = self._fitted()
        for first in range(0, table.n_rows, ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, table.n_rows))
            yield rows, state.outlook(table.take(rows))

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> np.ndarray: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of the target of each row given its cells, and its standard deviation.

        Of a transformed target these are the moments of its values, where those beyond the
        training values count as the nearest of these: logarithms with long tails have no mean.

        Parameters
        ----------
        X : table
            The rows.
        return_std : bool
            Return the standard deviations as well.
        """
        state = self._fitted()
        found = [mean_and_std(o, state.target, state.within) for _, o in self._outlooks(X)]
        mean, std = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: Any, q: Any) -> np.ndarray:
        """Return quantiles of the target of each row.

        Parameters
        ----------
        X : table
            The rows.
        q : float or sequence of floats
            Levels between 0 and 1; 0.5 is the median.

        Returns
        -------
        array of shape (n_rows,), or (n_rows, number of levels) for a sequence
        """
        levels = _check_levels(q)
        state = self._fitted()
        found = [
            quantiles(o, state.target, np.tile(levels, (len(o.mean), 1)))
            for _, o in self._outlooks(X)
        ]
        table = np.concatenate(found)
        return table[:, 0] if np.ndim(q) == 0 else table

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return intervals (n_rows, 2) that cover the target with a probability.

        As probable are values below them and above them. With `calibrate`, so many of new rows
        like the training rows are covered, over all rows: not among every sort of rows.

        Parameters
        ----------
        X : table
            The rows.
        coverage : float
            The probability, between 0 and 1.
        """
        number = isinstance(coverage, Real) and not isinstance(coverage, bool)
        if not number or not 0.0 < float(coverage) < 1.0:
            raise ValueError(f"coverage must be a number between 0 and 1; got {coverage!r}.")
        tail = 0.5 * (1.0 - float(coverage))
        return self.predict_quantiles(X, [tail, 1.0 - tail])

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """Return log p(y | x) for each row and its target, in natural units.

        Parameters
        ----------
        X : table
            The rows.
        y : sequence of numbers
            The target of each row.
        """
        table, state = self._rows(X), self._fitted()
        t = encode_target(state.target, read_values(y, table.n_rows))
        found = [outlook.log_density(t[rows]) for rows, outlook in self._in_parts(table)]
        return np.concatenate(found) + log_slopes(state.target, t)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Seed = 0) -> np.ndarray:
        """Draw targets of each row given its cells: an array (n_rows, n_samples).

        Parameters
        ----------
        X : table
            The rows.
        n_samples : int
            Draws for each row.
        random_state : int, Generator or None
            Where draws come from.
        """
        if (
            not isinstance(n_samples, int | np.integer)
            or isinstance(n_samples, bool)
            or n_samples < 1
        ):
            raise ValueError(f"n_samples must be a whole number from 1 on; got {n_samples!r}.")
        state, rng = self._fitted(), generator(random_state)
        found = []
        for _, outlook in self._outlooks(X):
            p = rng.uniform(1e-12, 1.0 - 1e-12, (len(outlook.mean), int(n_samples)))
            found.append(quantiles(outlook, state.target, p))
        return np.concatenate(found)

    # --- Fitted attributes ----------------------------------------------------------------------

    @property
    def target_(self) -> str:
        """The kind of the target, with its transform."""
        transform = self._fitted().target.transform
        return f"real:{transform.name}" if transform else "real"

    @property
    def held_out_r2_(self) -> float:
        """R^2 of training rows that were held out."""
        return float(self._fitted().correction.r2)

    @property
    def n_groups_(self) -> int:
        """Number of groups of the best particle."""
        return len(best_particle(self._bank, 0)[1])


def _check_levels(q: Any) -> np.ndarray:
    try:
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
    except (TypeError, ValueError):
        levels = np.empty(0)
    if levels.ndim != 1 or not levels.size or not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"q must be levels between 0 and 1, such as 0.5 or [0.1, 0.9]; got {q!r}.")
    return levels
