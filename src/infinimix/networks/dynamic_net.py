"""`BlockmodelDynamicNet`: how variables before bear on variables now, with one role for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import Seed
from infinimix.networks.answers.asking import put_back
from infinimix.networks.answers.sequence_cells import fill_sequences
from infinimix.networks.answers.sequences import (
    answer_next,
    draw_sequence,
    score_rows,
    score_whole,
)
from infinimix.networks.engine.blocks import DYNAMIC
from infinimix.networks.learning.columns import read_interventions, warn_of_constants
from infinimix.networks.learning.parameters import read_count, read_seconds
from infinimix.networks.learning.problem import read_gamma
from infinimix.networks.learning.slices import first_log_probabilities, pair_rows, tie_slices
from infinimix.networks.unconstrained_net import UnconstrainedNet


class BlockmodelDynamicNet(UnconstrainedNet):
    """A dynamic network learned from sequences, with a prior that gives variables roles.

    An edge i -> j says that variable j depends on what variable i was one row before. A variable
    has one role, before and now: the probability of i -> j depends on the ordered pair of their
    classes. There may be cycles, as time breaks them. Edges i -> i say that a variable
    persists, which is another thing than influence: they have a probability of their own, one for
    all variables, and say nothing about classes.

    `infinimix.save` and `load` keep a fitted model, without its chains.

    Parameters
    ----------
    prior : "blockmodel", "sparse" or "uniform"
        Classes; one class, so that density is learned; or all graphs alike.
    alpha : float or "learn"
        Concentration of the Chinese restaurant process of the classes.
    beta : tuple of two floats, or "learn"
        Beta prior of the edge probability from class to class, and of that of persistence.
    gamma : "auto", "learn" or float
        Pseudo-count in each cell of the tables. "auto": 1 / r in each cell of a variable of r
        categories (.5 if it is binary).
    n_chains : int
        Chains, which start apart from each other; two or more with `n_iter="auto"`.
    n_iter : int or "auto"
        Sweeps of each chain after the burn-in; a sweep visits every ordered pair. "auto": 500
        at first, then twice as many again and again, counted anew each time, until no edge differs
        by more than .1 between chains; ten minutes at most, or as long as `fit_for` is given.
    burn_in : int, optional
        Sweeps before counting begins, annealed at first; by default half of `n_iter`.
    columns : as in `CRPMixture`
        Kinds of the columns; "spiked" ones count as real.
    likelihood : "auto", "discrete" or "gaussian"
        Tables of categories, or linear Gaussian families. A table with both kinds is discretised,
        as `discretised_` says.
    n_bins : int
        Bins of a discretised column.
    required, forbidden : list of (from, to), optional
        Edges that must, or must not, be there; `("a", "a")` speaks of persistence.
    edge_log_odds : mapping (from, to) -> float, or array (N, N), optional
        Log odds to add to edges.
    known_roles : mapping from column to role, optional
        Columns of one role share a class, and those of different roles do not.
    max_parents : int, optional
        Most parents of a variable. By default as many as leave a usual table no more cells than
        there are rows; of numbers no bound up to 13 variables, else 8. There may be 64 variables.
    n_temperatures : int
        With more than one, each chain is tempered.
    n_jobs : int, optional
        Threads for chains.
    verbose : bool
        Show sweeps, log joint and the largest gap between chains.
    random_state : int, Generator or None
        Where draws come from.

    Attributes
    ----------
    edge_marginals_ : array (N, N)
        P(i before -> j now); the diagonal is persistence.
    co_class_marginals_ : array (N, N)
        Probability that i and j have one role.
    roles_ : array (N,)
        Consensus classes.
    template_ : dict
        Probability of edges from role to role: "mean", "low" and "high" (a 90% interval), without
        those of persistence.
    states_ : list of dict
        Distinct states by weight: "weight", "adjacency", "classes", and "log_joint" (unnormalised).
    best_state_ : dict
        The state with the highest log joint.
    rhat_, ess_, edge_gap_ : arrays (N, N)
        Diagnostics of each edge; the gap is the largest difference between two chains.
    discretised_ : dict
        Column -> inner edges of its bins, where a table was discretised.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix.networks import BlockmodelDynamicNet
    >>> X = np.random.default_rng(0).integers(2, size=(120, 3))
    >>> X[1:, 2] = X[:-1, 0]  # what x0 was, x2 becomes
    >>> model = BlockmodelDynamicNet(n_iter=200, n_chains=2, random_state=0).fit(X)
    >>> bool(model.edge_marginals_[0, 2] > 0.99)
    True
    """

    _shape = DYNAMIC

    def fit(
        self, X: Any, y: Any = None, *, sequences: Any = None, interventions: Any = None
    ) -> BlockmodelDynamicNet:
        """Learn the network of sequences.

        Parameters
        ----------
        X : table
            Rows in the order of time, of any kind that `CRPMixture` takes; cells may be missing.
        y : ignored
            For pipelines.
        sequences : array (rows,), optional
            Which sequence a row belongs to; rows are paired within sequences only, as in
            `pair_slices`. By default all are one sequence.
        interventions : array of bool, shape of X, optional
            True where a cell was set from outside: it then says nothing about the parents of its
            column.
        """
        return self._fit(X, sequences, interventions, None)

    def fit_for(
        self, X: Any, seconds: float, *, sequences: Any = None, interventions: Any = None
    ) -> BlockmodelDynamicNet:
        """Learn for about so many seconds, or `n_iter` sweeps if these end first.

        Parameters
        ----------
        X : table
            As in `fit`.
        seconds : float
            The time of all chains together. Code that must be compiled first takes its time
            besides.
        sequences, interventions : optional
            As in `fit`.
        """
        return self._fit(X, sequences, interventions, read_seconds(seconds))

    def _fit(
        self, X: Any, sequences: Any, interventions: Any, seconds: float | None
    ) -> BlockmodelDynamicNet:
        columns, codes, missing = self._read(X)
        before, now = pair_rows(len(codes), sequences)
        cards = None if columns.cards is None else np.tile(columns.cards, 2)
        mask = read_interventions(interventions, codes.shape)
        warn_of_constants(columns, codes, missing, mask, stacklevel=4)
        ties = tie_slices(before, now, len(codes))
        given: dict[str, Any] = {}
        if mask is not None:
            ties = ties._replace(used=~mask)
            given["skip"] = np.hstack([mask[now], np.zeros((len(now), codes.shape[1]), bool)])
        if missing.any():
            if cards is not None:
                prior = tuple(read_gamma(self.gamma).values())
                start = first_log_probabilities(codes, missing, columns.cards, prior)
                ties = ties._replace(start=start)
            given |= {"rows": codes, "holes": missing, "missing": ties.table(missing)}
        self._learn(columns, ties.table(codes), cards, seconds, ties=ties, **given)
        return self

    # --- rows -------------------------------------------------------------------------------

    def score_steps(self, X: Any, sequences: Any = None) -> np.ndarray:
        """Return the log density of each row given the row before, averaged over networks.

        It is NaN for the first row of a sequence, of which the model says nothing. Missing cells
        are summed out; those of the row before are averaged over by how often values of their
        column occur.

        Parameters
        ----------
        X : table
            Rows in the order of time.
        sequences : array (rows,), optional
            As in `fit`.
        """
        return score_rows(self._fitted, self._encode(X), sequences)

    def score_sequences(self, X: Any, sequences: Any = None) -> dict[Any, float]:
        """Return the log density of each sequence given its first row, averaged over networks.

        One network holds for all rows of a sequence, so this is not the sum of `score_steps`.

        Parameters
        ----------
        X : table
            Rows in the order of time.
        sequences : array (rows,), optional
            As in `fit`; by default there is one sequence, 0.
        """
        return score_whole(self._fitted, self._encode(X), sequences)

    def score(self, X: Any, y: Any = None, sequences: Any = None) -> float:
        """Return the mean of `score_steps` over the rows that have a row before.

        Parameters
        ----------
        X : table
            Rows in the order of time.
        y : ignored
            For pipelines.
        sequences : array (rows,), optional
            As in `fit`.
        """
        return float(np.nanmean(self.score_steps(X, sequences)))

    def query(self, target: str, given: Any = None) -> dict[Any, float]:
        """Return what is known of a column, given cells of the row before.

        Parameters
        ----------
        target : str
            A column.
        given : mapping from column to value, optional
            What was observed one row before. As nothing leads into that row, to observe
            and to set a value there come to the same.

        Returns
        -------
        dict
            Category -> probability; of a real column "mean" and "std" in the units of the model.
        """
        return answer_next(self._fitted, target, given)

    def impute(self, X: Any, sequences: Any = None, random_state: Seed = 0) -> Any:
        """Return the table with each missing cell filled, given the rest of its sequence.

        A category is the most probable one, a number the mean, a discretised number the middle of
        the most probable bin. Rows with missing cells that follow each other are filled together,
        given the rows before and after them: exactly if the completions of two such rows come
        to 4,096 pairs at most, else by 200 draws of their cells. Observed cells stay as they are;
        dates are not filled.

        Parameters
        ----------
        X : table
            Rows in the order of time, in the form that comes back.
        sequences : array (rows,), optional
            As in `fit`.
        random_state : int, Generator or None
            Where draws come from, if there are any.
        """
        state, rng = self._fitted, np.random.default_rng(random_state)
        codes, missing = state.columns.codes(self._encode(X))
        filled = fill_sequences(state, codes, missing, sequences, rng)
        return put_back(state.columns, X, missing, filled)

    def sample(
        self, n_samples: int = 1, given: Any = None, random_state: Seed = None
    ) -> dict[str, np.ndarray]:
        """Draw rows that follow each other, as columns by name; one network holds for all.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        given : mapping from column to value, optional
            Cells of the row before the first one; others are drawn by how often they occur.
        random_state : int, Generator or None
            Where draws come from.
        """
        state, rng = self._fitted, np.random.default_rng(random_state)
        rows = draw_sequence(state, read_count(n_samples), given, rng)
        return dict(state.columns.decode(rows, rng))
