"""`CRPMixture`: density estimation, clustering and sampling by one CRP mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from infinimix.estimators.answers.explanation import (
    Explanation,
    evidence_for_group,
    place_row,
    show_probability,
)
from infinimix.estimators.answers.groups import describe_groups, draw_rows, group_moments
from infinimix.estimators.answers.imputing import ask, impute_values
from infinimix.estimators.answers.questions import Questions
from infinimix.estimators.common.inference_data import to_inference_data
from infinimix.estimators.common.mixture_estimator import MixtureEstimator, add_log_slopes
from infinimix.estimators.common.parameters import PUBLISHED_FILTER, Columns, Prior, Seed
from infinimix.estimators.common.parted_fits import learn_one_class
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.estimators.common.partitioned_rows import over_partitions
from infinimix.estimators.common.shared_methods import DensityScore, PublishedForm
from infinimix.estimators.common.state import MixtureState, read_assignments
from infinimix.estimators.common.weights import first_copies
from infinimix.inference.partition.assignments import (
    assign_rows,
    best_particle,
    group_probabilities,
    kept_states,
    n_groups_posterior,
    recorded_assignments,
)
from infinimix.inference.partition.population import MASS
from infinimix.scikit import ClusterMixin, DensityMixin
from infinimix.tables.sparsity import is_sparse

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class CRPMixtureState(MixtureState):
    """One mixture of all rows, and in which group the rows of `fit` are."""

    assignments: np.ndarray | None = None

    def to_tree(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        return super().to_tree() | {"rows": self.assignments}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> CRPMixtureState:
        """Return the state that `to_tree` wrote; raise ValueError if its parts do not fit."""
        parts = vars(MixtureState.from_tree(tree, model))
        return cls(**parts, assignments=read_assignments(tree["rows"]))


class CRPMixture(
    PublishedForm, DensityScore, Questions, ClusterMixin, DensityMixin, MixtureEstimator
):
    """A Chinese restaurant process mixture, learned by particle filters.

    The number of groups grows with the data. Rows may come all at once (`fit`) or in any
    portions (`partial_fit`); cells may be missing anywhere.

    Parameters
    ----------
    columns : "auto", a kind, or a mapping from column to kind
        Kinds are "binary", "categorical", "real", "count" and "spiked"; "real:log" and
        "real:rank" are real columns that are transformed first (logarithms, normal scores of
        ranks). A "spiked" column is a number that is often one and the same value, which then has
        a probability of its own: the most common one of the first table; "spiked:log" and
        "spiked:rank" transform the others. Columns
        that are correlated within groups may be modelled jointly, as a "gaussian" block:
        ``{("x1", "x2"): "gaussian"}``; columns named "gaussian" without a tuple are one block
        together. With
        "auto", booleans and columns of only 0 and 1 are binary; strings, objects and
        categoricals are categorical, and so are numbers with at most 10 distinct values and at
        least 25 cells for each of them; other numbers are real.
        Columns of dates and times, also as strings in ISO and common forms, become several columns:
        year, month, weekday, hour and elapsed days, those of them that vary; "date:dmy" and
        "date:mdy" decide where day and month could change places.
        A count, a whole number from 0 on, is never found by "auto": its variance is taken to
        follow its mean, and whole numbers may be years or codes as well. Real columns with
        a long tail become "real:log" with "auto", from 30 observed cells on; "real" leaves
        them as they are. Columns that a mapping does not name are "auto". Decided at the first
        call, transforms and all, and shown in `columns_`. Densities, samples and prototypes
        are always in natural units.
    alpha : "learn" or float
        Concentration: the mass of a new group against the rows in the old ones. "learn" draws it
        given the groups (Escobar and West), one for all classes of an island.
    prior : "auto", "learn", "spread", "empirical", "reference" or a mapping
        The base measure: what the columns of a group are like before its rows. "empirical"
        centres it on the whole table; "learn" does too, and finds for each column from the
        evidence how firmly and how far from there, with shrinkage to a common strength; under
        "spread" the strength differs from island to island instead. "auto" is "learn" in `fit`
        and "spread" in a stream. "reference" is Beta(.5, .5), Dirichlet(.5) and a wide
        Normal-inverse-chi-squared. A mapping gives, by column or by kind, one of these words
        or numbers: (a, b) for binary, a pseudo-count for categorical, (mean, kappa, nu, scale)
        for real, (a, b, mean, kappa, nu, scale) for spiked (a and b for the common value and for
        the others), (kappa, nu, scale) for a gaussian block (named by a tuple of its columns, or
        as the kind; scale in units of the pooled standard deviations), as in
        ``{"real": (0.0, 0.1, 2.0, 1.0), "colour": 0.5}``; columns that it
        does not name are "empirical". Numbers are in the units of the transform if one is
        asked for; "auto" gives none to a column that has numbers here.
    effort : "default", "fast" or "thorough"
        How hard to try: decides the number of particles, islands and sweeps where these are None.
    n_particles : int or None
        Particles of each island; after sweeps, at most as many states of the chain are kept.
    n_islands : int or None
        Independent filters whose densities are averaged with equal weight; in `fit` each
        takes the rows in an order of its own.
    resampling : "optimal", "lookahead", "systematic" or "multinomial"
        How particles are kept: the best of all their children (Fearnhead and Clifford), or
        copies drawn when the effective size falls to half. "lookahead" is "optimal", but in
        `fit` a child's chance to be kept also counts how well it foresees the next row. That
        takes two to four times the time for little: "optimal" with more particles is better.
    sweeps : int or None
        Gibbs sweeps, with split and merge moves, that each island makes in `fit` after its
        filter; up to `n_particles` of the states in the second half of them become its
        particles. `partial_fit` makes none.
    window : int
        While streaming, Gibbs sweeps over so many latest rows (of each class) whenever half as
        many have come; 0 for none. These rows are kept by each island.
    max_groups : int or None
        A bound on the number of groups of each particle.
    n_jobs : int or None
        Threads for the islands; the result does not depend on it.
    random_state : int, Generator or None
        Seed of all draws.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    labels_ : array of shape (n_rows,)
        Group of each row of the last `fit`, in the heaviest particle of the island with the
        highest evidence; groups are numbered from the largest on.
    n_groups_ : int
        Number of groups of that particle.
    weights_ : array of shape (n_groups_,)
        Share of each group in the rows.
    means_, spreads_ : DataFrame, a row for each group
        Mean of each real column and count, most probable value of each binary and categorical
        one, for a new row of the group; and their standard deviation, or the probability that
        the value is another. `prototypes` shows typical values instead.
    n_groups_posterior_ : array
        Entry k is the probability of k groups.
    log_evidence_ : float
        Log of an unbiased estimate of the probability of all rows, given the hyper-parameters;
        where these are learned, given the latest of each island.
    columns_ : dict
        Kind of each column, with its transform.
    blocks_ : tuple of tuples
        Names of the columns of each gaussian block.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `as_published()` is the filter of the AClass paper: 40 particles, alpha = 1, reference priors.
    Learn the rows with `partial_fit` to have them in their own order, as the paper does.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import CRPMixture
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([[-4, 0]] * 50 + [[4, 0]] * 50)
    >>> X[3, 1] = np.nan
    >>> model = CRPMixture(random_state=0).fit(X)
    >>> model.n_groups_
    2
    >>> model.predict([[-4, 0], [4, None]]).tolist() in ([0, 1], [1, 0])
    True
    """

    _state: CRPMixtureState | None = None
    _published = PUBLISHED_FILTER
    State = CRPMixtureState

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

    # --- Learning -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CRPMixture:
        """Learn a whole table; what was learned before is forgotten.

        Parameters
        ----------
        X : table
            The rows; also in partitions (`read_partitions`).
        y : object
            Ignored.
        sample_weight : sequence of n_rows whole numbers, optional
            Counts: a row of weight 3 is three equal rows, one of weight 0 is left out, and is -1
            in `labels_`. Other weights are refused: a group has a whole number of rows.
        """
        if sample_weight is None and is_read_by_workers(X):
            found = learn_one_class(self, X, record=True)
            groups = recorded_assignments(found.bank, 0)
            self._state = CRPMixtureState(found.schema, found.bank, found.log_slopes, groups)
            return self
        learned = self._learn_whole(X, sample_weight, record=True)
        table = learned.table
        assignments = recorded_assignments(learned.bank, 0)
        if sample_weight is not None:
            assignments = first_copies(assignments, sample_weight)
        slopes = add_log_slopes(0.0, table)
        self._state = CRPMixtureState(table.schema, learned.bank, slopes, assignments)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CRPMixture:
        """Learn more rows, in their order; any cutting into calls gives the same model.

        Parameters
        ----------
        X : table
            The rows.
        y : object
            Ignored.
        sample_weight : sequence of n_rows whole numbers, optional
            Counts: a row of weight 3 comes three times, one after the other.
        """
        state = self._learn_rows(X, sample_weight)
        self._state = CRPMixtureState(state.schema, state.bank, state.log_slopes)
        return self

    # --- Answers (more in `Questions`) ----------------------------------------------------------

    @over_partitions
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log predictive density of each row, over all islands and particles.

        Parameters
        ----------
        X : table
            The rows.
        """
        return self._log_densities(X)

    @over_partitions
    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable group of each row; numbered as in `labels_`.

        Parameters
        ----------
        X : table
            The rows.
        """
        return assign_rows(self._bank, 0, self._rows(X).blocks)

    @over_partitions
    def group_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each group for each row, numbered as in `labels_`.

        It is given that the row is of one of these groups, those of the particle that `predict`
        speaks of; `explain` says how probable a group of its own is.

        Parameters
        ----------
        X : table
            The rows.
        """
        return group_probabilities(self._bank, 0, self._rows(X).blocks)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return `group_proba`, by the name that `GaussianMixture` of scikit-learn has for it.

        Parameters
        ----------
        X : table
            The rows. Sparse matrices are refused, as there: scikit-learn takes a model that has
            this method and sparse rows for a classifier.
        """
        if is_sparse(X):
            raise TypeError("predict_proba takes no sparse matrix; group_proba takes it.")
        return self.group_proba(X)

    def sample(
        self,
        n_samples: int = 1,
        given: Mapping[Any, Any] | None = None,
        random_state: Seed = None,
        *,
        n: int | None = None,
    ) -> pd.DataFrame | np.ndarray:
        """Draw rows from the predictive density, all with the cells that `given` fixes.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        given : mapping from column to value, optional
            Cells that every row shall have.
        random_state : int, Generator or None
            Seed of these draws; None draws from the model's own stream, so that each call gives
            other rows.
        n : int, optional
            Another name of `n_samples`.

        Returns
        -------
        DataFrame or array
            A pandas DataFrame if the columns have names, otherwise an array.
        """
        number = n_samples if n is None else n
        return draw_rows(self._bank, self._schema, number, given, [0.0], random_state)[0]

    def prototypes(self) -> pd.DataFrame:
        """Return a DataFrame of the groups: weight, rows, and a typical value of each column.

        The typical value of a binary column is the probability of a one, of a categorical
        column the most probable category, of a real column the mean (of a transformed one its
        mean there, taken back: a median), of a count the rate, of a spiked column the common value
        if it is more probable than not, else the mean of the others. All are those of the
        posterior: where a group has few rows they lean towards the base measure.
        """
        return describe_groups(self._bank, self._schema, 0)

    def to_arviz(self) -> Any:
        """Return the states that the Gibbs sweeps of `fit` kept, in the form of ArviZ.

        Islands are chains, each of which keeps up to `n_particles` states: for diagnosis set both
        `sweeps` and `n_particles`, for example to 200 and 100. The posterior has `n_groups` and
        `largest_group`, the share of the largest group in the rows. Needs `infinimix[arviz]`.
        `island_gap` says without sweeps, too, how far the islands are apart.
        """
        bank = self._bank
        swept = self._state is not None and self._state.assignments is not None
        if not bank.settings.sweeps or not swept:
            raise ValueError(
                "to_arviz needs states of Gibbs sweeps: call fit, not partial_fit, of a model "
                "with sweeps and n_particles, for example sweeps=200, n_particles=100."
            )
        return to_inference_data(kept_states(bank, 0))

    @overload
    def impute(self, X: Any, return_std: Literal[False] = False) -> Any: ...
    @overload
    def impute(self, X: Any, return_std: Literal[True]) -> tuple[Any, Any]: ...
    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Return the table with its missing cells filled, given the other cells of each row.

        Real cells and counts get their mean, binary and categorical ones their most probable
        value; the table keeps its form, and its observed cells. `CRPImputer` does the same in a
        pipeline, and draws.

        Parameters
        ----------
        X : table
            The rows.
        return_std : bool
            Return a second table as well, of how far each filled cell may be off: the
            standard deviation of a number, the probability that another value is wrong; 0
            where the cell is observed.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> rows = [[0, 1.0], [0, 1.2], [0, 0.8], [1, 5.0], [1, 5.2], [1, 4.8]] * 5
        >>> table, std = CRPMixture(random_state=0).fit(rows).impute([[1, None]], return_std=True)
        >>> table.round(0).tolist()
        [[1.0, 5.0]]
        """
        filled, spread = impute_values(self._mixture(), ask(X, self._rows(X)))
        return (filled, spread) if return_std else filled

    def explain(self, x: Any) -> Explanation:
        """Return why a row is in its group: which groups it may be in, and what columns say.

        The evidence of a column is log p(its cell | the group) - log p(its cell | all groups),
        in nats, for the most probable group of the particle that `predict` speaks of: positive
        if the cell is more common in the group than elsewhere. A missing cell has none.

        Parameters
        ----------
        x : one row
            A dict, a list of cells, a pandas Series, or a table of one row.

        Returns
        -------
        Explanation
            Prints itself; has `groups`, `columns`, `new_group` and `to_frame()`.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> rows = [{"legs": 6, "size": s} for s in (1.0, 1.1, 1.2)]
        >>> rows += [{"legs": 8, "size": s} for s in (7.0, 7.1, 7.2)]
        >>> why = CRPMixture(random_state=0).fit(rows * 5).explain({"legs": 8, "size": 7.3})
        >>> bool(why.probability > 0.9)
        True
        >>> bool((why.to_frame()["evidence"] > 0).all())
        True
        """
        X, row = self._row_to_explain(x)
        groups, new = place_row(self._bank, 0, row)
        group, p = int(groups.index[0]), float(groups["probability"].iloc[0])
        evidence = evidence_for_group(self._bank, group, row)
        summary = (
            f"Group {group} with probability {show_probability(p)}, of "
            f"{groups['rows'].iloc[0]} rows; a group of its own with probability {new:.3g}."
        )
        return self._explanation(group, p, summary, X, (evidence, groups, new))

    # --- Fitted attributes ----------------------------------------------------------------------

    @property
    def labels_(self) -> np.ndarray:
        """The group of each row of the last `fit`."""
        state = self._state
        if state is None or state.assignments is None:
            raise AttributeError("'labels_' is there after fit, and speaks of its rows.")
        return state.assignments

    @property
    def n_groups_(self) -> int:
        """Number of groups of the best particle."""
        return len(best_particle(self._bank, 0)[1])

    @property
    def weights_(self) -> np.ndarray:
        """The share of each group in the rows, the largest first."""
        f, held = best_particle(self._bank, 0)
        rows = f.mass[MASS, held]
        return np.asarray(rows / max(rows.sum(), 1.0))

    @property
    def means_(self) -> pd.DataFrame:
        """The mean of each number, and the most probable value of other columns, by group."""
        return group_moments(self._bank, self._schema, 0)[0]

    @property
    def spreads_(self) -> pd.DataFrame:
        """The standard deviation of each number by group; of others the share of other values."""
        return group_moments(self._bank, self._schema, 0)[1]

    @property
    def n_groups_posterior_(self) -> np.ndarray:
        """Entry k is the probability of k groups."""
        return n_groups_posterior(self._bank, 0)
