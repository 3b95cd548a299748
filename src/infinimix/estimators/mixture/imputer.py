"""`CRPImputer`: missing cells filled by a CRP mixture, as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.answers.imputing import Query, ask, impute_draws, impute_values
from infinimix.estimators.answers.writing import to_pandas, to_polars
from infinimix.estimators.common.fitted import check_fitted
from infinimix.estimators.common.mixture_estimator import MixtureEstimator, add_log_slopes
from infinimix.estimators.common.parameters import Columns, Prior, Seed, check_parameter
from infinimix.estimators.common.parted_fits import OneClass, learn_one_class
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.mixture.completing import learn_completing, learn_completing_there
from infinimix.estimators.mixture.imputer_state import ImputerState
from infinimix.scikit import OneToOneFeatureMixin, TransformerMixin, get_config


class CRPImputer(  # type: ignore[call-arg]
    OneToOneFeatureMixin, TransformerMixin, MixtureEstimator, auto_wrap_output_keys=None
):
    """Fill missing cells by what a CRP mixture says of them, given the rest of the row.

    The table comes back in the form it came in: a pandas or polars frame with its columns,
    index and types, an array, a sparse matrix, or rows as dicts. Observed cells come back
    untouched. Cells of a column in which no value was ever seen stay missing if the column is
    categorical.

    Parameters
    ----------
    columns, alpha, prior, effort, n_particles, n_islands, resampling, sweeps, window, max_groups
        As in `CRPMixture`.
    n_jobs, random_state, verbose
        As in `CRPMixture`.
    strategy : "mean" or "draw"
        "mean" fills real cells and counts with their mean, binary and categorical cells with
        their most probable value; the mean of a transformed column ("real:log", "real:rank") is
        that of the transform, taken back; a spiked cell has the common value if that is at least
        as probable as not, else the mean of the others. "draw" draws the missing cells of a row
        together, so that they vary and depend on each other as in the table; every call draws
        anew.
    correction : {"auto", "none"}
        "auto": with "mean", `fit` finds a regression of each column of numbers on the rest of the
        row and on what the mixture says, and on a second mixture in which numbers that go together
        are one gaussian block (`docs/how-it-works.md`), and numbers are filled by that. "none",
        `effort="fast"` and `partial_fit` alone: the mixture alone. Draws are always the mixture's.
    n_draws : int
        How many tables `transform` returns with "draw", for multiple imputation: if it is more
        than 1, a list of tables, or for arrays one array of shape (n_draws, n_rows, n_columns).

    Attributes
    ----------
    log_evidence_ : float
        Log of an unbiased estimate of the probability of all rows.
    columns_, n_features_in_, feature_names_in_
        As in `CRPMixture`.

    Examples
    --------
    >>> import pandas as pd
    >>> from infinimix import CRPImputer
    >>> table = pd.DataFrame(
    ...     {
    ...         "legs": [6, 6, 6, 8, 8, 8] * 5,
    ...         "kind": ["ant", "ant", None, "spider", None, "spider"] * 5,
    ...     }
    ... )
    >>> imputer = CRPImputer(random_state=0).fit(table)
    >>> imputer.transform(table)["kind"].head(6).tolist()
    ['ant', 'ant', 'ant', 'spider', 'spider', 'spider']
    >>> bool(imputer.uncertainty(table).loc[2, "kind"] < 0.2)
    True
    """

    _state: ImputerState | None = None
    State = ImputerState

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
        window: int = 0,
        max_groups: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: bool = False,
        strategy: str = "mean",
        n_draws: int = 1,
        correction: str = "auto",
    ) -> None:
        self.columns = columns
        self.alpha = alpha
        self.prior = prior
        self.effort = effort
        self.n_particles = n_particles
        self.n_islands = n_islands
        self.resampling = resampling
        self.sweeps = sweeps
        self.window = window
        self.max_groups = max_groups
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.strategy = strategy
        self.n_draws = n_draws
        self.correction = correction

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CRPImputer:
        """Learn a whole table; what was learned before is forgotten.

        Parameters
        ----------
        X : table
            The rows; also in partitions (`read_partitions`).
        y : object
            Ignored.
        sample_weight : sequence of n_rows whole numbers, optional
            Counts: a row of weight 3 is three equal rows, one of weight 0 is left out.
            Other weights are refused: a group has a whole number of rows.
        """
        corrects = self.correction == "auto" and self.effort != "fast"
        if sample_weight is None and is_read_by_workers(X):
            found = learn_one_class(self, X, learn_completing_there if corrects else None)
            if isinstance(found, OneClass):
                found = ImputerState(*found)
            assert isinstance(found, ImputerState)
            self._state = found
            return self
        learned = self._learn_whole(X, sample_weight)
        table, bank, completing = learned.table, learned.bank, None
        if corrects:
            completing = learn_completing(table, bank, bank.seed, self._execute)
        slopes = add_log_slopes(0.0, table)
        self._state = ImputerState(table.schema, bank, slopes, completing)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CRPImputer:
        """Learn more rows, in their order; parameters are those of `fit`.

        Parameters
        ----------
        X : table
            The rows.
        y : ignored
            For pipelines.
        sample_weight : sequence of n_rows whole numbers, optional
            Counts, as in `fit`.
        """
        completing = None if self._state is None else self._state.completing
        state = self._learn_rows(X, sample_weight)
        self._state = ImputerState(state.schema, state.bank, state.log_slopes, completing)
        return self

    def transform(self, X: Any) -> Any:
        """Return the table with its missing cells filled, as `strategy` says.

        Parameters
        ----------
        X : table
            The rows.

        Examples
        --------
        >>> from infinimix import CRPImputer
        >>> rows = [[0.0, 1.0], [0.1, 1.1], [9.0, 5.0], [9.1, 5.1], [9.0, None]] * 4
        >>> imputer = CRPImputer(strategy="draw", n_draws=3, random_state=0).fit(rows)
        >>> imputer.transform([[9.2, None], [0.2, 3.0]]).shape
        (3, 2, 2)
        """
        query = self._query(X)
        mixture = predictive_of(self._bank)
        if self.strategy == "mean":
            return self._output(self._impute(query)[0])
        rng = self._bank.sampler()
        if self.n_draws == 1:
            return self._output(impute_draws(mixture, query, rng))
        tables = [self._output(impute_draws(mixture, query, rng)) for _ in range(int(self.n_draws))]
        return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables

    def uncertainty(self, X: Any) -> Any:
        """Return how far the filled cells may be off: a table like X, 0 where it is observed.

        Of a real cell or a count it is the standard deviation, of a binary or categorical one
        the probability that its most probable value is wrong. Groups so small that the
        standard deviation of a real column would be infinite (less than three degrees of
        freedom) count with that of three.

        Parameters
        ----------
        X : table
            The rows.

        Examples
        --------
        >>> from infinimix import CRPImputer
        >>> imputer = CRPImputer(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]] * 10)
        >>> imputer.uncertainty([[None], [1.0]]).round(0).tolist()
        [[1.0], [0.0]]
        """
        return self._impute(self._query(X))[1]

    def _impute(self, query: Query) -> tuple[Any, Any]:
        """Return the table with means and modes in its missing cells, and how sure they are."""
        state = self._fitted()
        better = state.completing and state.completing.fill(state.bank, query.table)
        return impute_values(predictive_of(state.bank), query, better=better)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log predictive density of the observed cells of the rows.

        Parameters
        ----------
        X, y
            As in `CRPMixture.score`.
        """
        return float(self._log_densities(X).mean())

    def set_output(self, *, transform: str | None = None) -> CRPImputer:
        """Choose what `transform` returns: "default" (as it came in), "pandas" or "polars".

        Scikit-learn's own way cannot wrap the tables of several draws.

        Parameters
        ----------
        transform : "default", "pandas", "polars" or None
            The form; None leaves it as it is.
        """
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(
                f"transform must be 'default', 'pandas', 'polars' or None; got {transform!r}."
            )
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def _query(self, X: Any) -> Query:
        check_fitted(self)
        check_parameter(self, "strategy", self.strategy)  # read here, so it may change after fit
        check_parameter(self, "n_draws", self.n_draws)
        return ask(X, self._rows(X))

    def _output(self, table: Any) -> Any:
        chosen = vars(self).get("_sklearn_output_config", {}).get("transform")  # scikit-learn's
        form = chosen or get_config()["transform_output"]
        names = self.get_feature_names_out() if form != "default" else ()
        if form == "pandas":
            return to_pandas(table, names)
        return to_polars(table, names) if form == "polars" else table
