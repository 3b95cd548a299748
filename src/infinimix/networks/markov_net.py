"""`BlockmodelMarkovNet`: undirected graphs whose variables have roles."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import Seed
from infinimix.estimators.common.shared_methods import DensityScore
from infinimix.networks.answers.asking import put_back
from infinimix.networks.answers.markov_joint import MOST_ROWS, NormalMixture, table_log_density
from infinimix.networks.answers.neighbours import (
    cell_means,
    cell_probabilities,
    few_rows,
    fill_undirected,
)
from infinimix.networks.answers.queries import condition_normal, read_cells
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.learning.columns import warn_of_constants
from infinimix.networks.learning.names import find_targets
from infinimix.networks.learning.parameters import read_count, read_seconds
from infinimix.networks.unconstrained_net import UnconstrainedNet


class BlockmodelMarkovNet(DensityScore, UnconstrainedNet):
    """An undirected graph learned from a table, with a prior that gives variables roles.

    Variables are in classes, and the probability of an edge depends on the unordered pair of
    classes of its ends; both are learned together with the graph. The likelihood of a graph is
    the marginal pseudo-likelihood: the product over variables of the score of the variable given
    its neighbours, a Dirichlet table or a linear Gaussian family (BGe). It finds neighbours without
    a normalising constant, but uses every row once for each variable, and so is surer of
    edges than a likelihood would be.

    `infinimix.save` and `load` keep a fitted model, without its chains.

    Parameters
    ----------
    prior : "blockmodel", "sparse" or "uniform"
        Classes; one class, so that density is learned; or all graphs alike.
    alpha : float or "learn"
        Concentration of the Chinese restaurant process of the classes.
    beta : tuple of two floats, or "learn"
        Beta prior of the edge probability between two classes; a larger first number is denser.
    gamma : "auto", "learn" or float
        Pseudo-count in each cell of the tables. "auto": 1 / r in each cell of a variable of r
        categories (.5 if it is binary).
    n_chains : int
        Chains, which start apart from each other; two or more with `n_iter="auto"`.
    n_iter : int or "auto"
        Sweeps of each chain after the burn-in; a sweep visits every pair of variables. "auto": 500
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
    required, forbidden : list of pairs, optional
        Edges that must, or must not, be there; the order in a pair does not matter.
    edge_log_odds : mapping from pairs to float, or array (N, N), optional
        Log odds to add to edges; of an array, what is above the diagonal or the same below it.
    known_roles : mapping from column to role, optional
        Columns of one role share a class, and those of different roles do not.
    max_parents : int, optional
        Most neighbours of a variable. By default as many as leave a usual table no more cells than
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
        P(i -- j), symmetric.
    co_class_marginals_ : array (N, N)
        Probability that i and j have one role.
    roles_ : array (N,)
        Consensus classes.
    template_ : dict
        Probability of edges between roles: "mean", "low" and "high" (a 90% interval), symmetric.
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
    >>> from infinimix.networks import BlockmodelMarkovNet
    >>> rng = np.random.default_rng(0)
    >>> hub = rng.normal(size=200)
    >>> X = np.column_stack([hub, *(hub + rng.normal(size=200) for _ in range(3))])
    >>> model = BlockmodelMarkovNet(n_iter=200, n_chains=2, random_state=0).fit(X)
    >>> bool((model.edge_marginals_[0, 1:] > 0.9).all())
    True
    """

    _shape = UNDIRECTED

    def fit(self, X: Any, y: Any = None) -> BlockmodelMarkovNet:
        """Learn the graph of a table.

        Parameters
        ----------
        X : table
            Rows and columns of any kind that `CRPMixture` takes; cells may be missing.
        y : ignored
            For pipelines.
        """
        return self._fit(X, None)

    def fit_for(self, X: Any, seconds: float) -> BlockmodelMarkovNet:
        """Learn for about so many seconds, or `n_iter` sweeps if these end first.

        Parameters
        ----------
        X : table
            As in `fit`.
        seconds : float
            The time of all chains together. Code that must be compiled first takes its time
            besides.
        """
        return self._fit(X, read_seconds(seconds))

    def _fit(self, X: Any, seconds: float | None) -> BlockmodelMarkovNet:
        columns, codes, missing = self._read(X)
        warn_of_constants(columns, codes, missing, None, stacklevel=4)
        self._learn(columns, codes, columns.cards, seconds, missing=missing)
        return self

    # --- rows -------------------------------------------------------------------------------

    def pseudo_log_likelihood(self, X: Any) -> np.ndarray:
        """Return the log pseudo-likelihood of each row, averaged over graphs.

        It is the product over columns of the probability of a cell given its neighbours: not a
        density, as it does not sum to one. It compares rows and graphs of many variables.

        Parameters
        ----------
        X : table
            Complete rows.
        """
        state, encoded = self._fitted, self._encode(X)
        codes, missing = state.columns.codes(encoded)
        for row, j in np.argwhere(missing):
            raise ValueError(
                f"the pseudo-likelihood needs complete rows; column {state.names[j]!r} has a "
                f"missing cell in row {row}. score_samples sums over missing cells."
            )
        log_p = state.mixture.log_density(codes, missing)
        return np.asarray(log_p + state.columns.log_slopes(encoded, missing))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row, averaged over graphs; missing cells are summed out.

        Given a graph, it is that of the Markov network with the margins that the training rows
        have in each clique. Of categories all possible rows are enumerated: there may be 16,384.

        Parameters
        ----------
        X : table
            The rows.
        """
        state, encoded = self._fitted, self._encode(X)
        codes, missing = state.columns.codes(encoded)
        joint = self._joint()
        if isinstance(joint, NormalMixture):
            log_p = joint.log_density(codes, missing)
        else:
            log_p = table_log_density(joint, codes, missing)
        return np.asarray(log_p + state.columns.log_slopes(encoded, missing))

    def query(self, target: str, given: Any = None) -> dict[Any, float]:
        """Return what is known of a column, given cells of a row, averaged over graphs.

        Parameters
        ----------
        target : str
            A column.
        given : mapping from column to value, optional
            What was observed.

        Returns
        -------
        dict
            Category -> probability; of a real column "mean" and "std" in the units of the model.
        """
        state = self._fitted
        (t,) = find_targets(state.names, [target], given)
        seen, joint = read_cells(state.columns, given), self._joint()
        if isinstance(joint, NormalMixture):
            mean, std = condition_normal(joint, t, seen, {})
            scale, centre = state.columns.scale[t], state.columns.centre[t]
            return {"mean": float(mean * scale + centre), "std": float(std * scale)}
        at = tuple(int(seen[j]) if j in seen else slice(None) for j in range(joint.ndim))
        rest = [j for j in range(joint.ndim) if j not in seen]
        p = joint[at].sum(axis=tuple(k for k, j in enumerate(rest) if j != t))
        return dict(zip(state.columns.states(t), (p / p.sum()).tolist(), strict=True))

    def most_probable(self, given: Any = None) -> tuple[dict[str, Any], float]:
        """Return the most probable values of all other columns together, averaged over graphs.

        Parameters
        ----------
        given : mapping from column to value, optional
            What was observed.

        Returns
        -------
        tuple of dict and float
            Column -> value, and the probability of all these given the rest. It is for categories.
        """
        state, joint = self._fitted, self._joint()
        if isinstance(joint, NormalMixture):
            raise ValueError("most_probable is for categories; query returns the mean of a number")
        seen = read_cells(state.columns, given)
        at = tuple(int(seen[j]) if j in seen else slice(None) for j in range(joint.ndim))
        p, rest = joint[at], [j for j in range(joint.ndim) if j not in seen]
        best = np.unravel_index(int(p.argmax()), p.shape)
        found = {
            state.names[j]: state.columns.states(j)[k] for j, k in zip(rest, best, strict=True)
        }
        return found, float(p.max() / p.sum())

    def markov_blanket(self, name: str) -> dict[str, float]:
        """Return the probability of each column to be in the Markov blanket of one: a neighbour.

        The most probable come first; those that never are there are left out.

        Parameters
        ----------
        name : str
            A column.
        """
        state = self._fitted
        (j,) = find_targets(state.names, [name], None)
        p = state.edge_marginals[j]
        order = [int(i) for i in np.argsort(-p, kind="stable") if p[i] > 0.0]
        return {state.names[i]: float(p[i]) for i in order}

    def predict_column_proba(self, X: Any, target: str, random_state: Seed = 0) -> np.ndarray:
        """Return the probability of each category of a column, given the other cells of each row.

        Parameters
        ----------
        X : table
            The rows; cells of `target` are not looked at, and may be missing.
        target : str
            A column with categories, or a discretised one; `query(target)` shows their order.
        random_state : int, Generator or None
            As in `impute`.
        """
        state, t, codes, missing = self._rows_for(X, target)
        if state.columns.gaussian:
            raise ValueError(f"{target!r} is a number: predict_column returns its mean")
        return cell_probabilities(state, codes, missing, np.random.default_rng(random_state))[t]

    def predict_column(self, X: Any, target: str, random_state: Seed = 0) -> np.ndarray:
        """Return the most probable category of a column, or its mean, given the rest of each row.

        Parameters
        ----------
        X : table
            The rows; cells of `target` are not looked at, and may be missing.
        target : str
            A column. The mean of a number is in the units of the model.
        random_state : int, Generator or None
            As in `impute`.
        """
        state, t, codes, missing = self._rows_for(X, target)
        if state.columns.gaussian:
            means = cell_means(state, t, codes, missing)
            return np.asarray(means * state.columns.scale[t] + state.columns.centre[t])
        rng = np.random.default_rng(random_state)
        best = cell_probabilities(state, codes, missing, rng)[t].argmax(axis=1)
        return np.array(state.columns.states(t))[best]

    def impute(self, X: Any, random_state: Seed = 0) -> Any:
        """Return the table with each missing cell filled, given the observed cells of its row.

        A category is the most probable one, a number the mean, a discretised number the middle of
        the most probable bin. They are those of the distribution of `score_samples`. Where there
        is none, as too many rows are possible, a cell is known given its neighbours alone:
        several missing cells of a row are then drawn in turn, 200 times, each given the
        others, and the distributions that they are drawn from are averaged. Observed cells stay as
        they are; dates are not filled.

        Parameters
        ----------
        X : table
            The rows, in the form that comes back.
        random_state : int, Generator or None
            Where draws come from, if there are any.
        """
        state = self._fitted
        codes, missing = state.columns.codes(self._encode(X))
        filled = fill_undirected(state, codes, missing, np.random.default_rng(random_state))
        return put_back(state.columns, X, missing, filled)

    def _rows_for(self, X: Any, target: str) -> tuple[NetworkState, int, np.ndarray, np.ndarray]:
        """Return rows in which all cells of a column are missing."""
        state = self._fitted
        (t,) = find_targets(state.names, [target], None)
        codes, missing = state.columns.codes(self._encode(X))
        missing[:, t] = True
        return state, t, codes, missing

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> dict[str, np.ndarray]:
        """Draw rows from the distribution of `score_samples`, as columns by name.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, Generator or None
            Where draws come from.
        """
        number, rng = read_count(n_samples), np.random.default_rng(random_state)
        state, joint = self._fitted, self._joint()
        if isinstance(joint, NormalMixture):
            rows = joint.draw(number, rng)
        else:
            places = rng.choice(joint.size, number, p=joint.ravel())
            rows = np.stack(np.unravel_index(places, joint.shape), axis=1)
        return dict(state.columns.decode(rows, rng))

    def _joint(self) -> Any:
        """Return the distribution of rows: a table of all possible ones, or of numbers normals."""
        state = self._fitted
        if state.columns.gaussian:
            return state.normals
        if not few_rows(state):
            raise ValueError(
                f"densities of an undirected network need all possible rows, and {len(state.names)}"
                f" columns have more than {MOST_ROWS:,}: pseudo_log_likelihood is there instead."
            )
        return state.joint
