"""`BlockmodelMarkovNet`: undirected graphs whose variables have roles."""

from __future__ import annotations

from typing import Any

from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.learning.parameters import read_seconds
from infinimix.networks.unconstrained_net import UnconstrainedNet


class BlockmodelMarkovNet(UnconstrainedNet):
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
    gamma : float or "learn"
        Pseudo-count in each cell of the tables.
    n_chains, n_iter : int
        Chains, and sweeps of each after the burn-in; a sweep visits every pair of variables.
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
        self._learn(columns, codes, columns.cards, seconds, missing=missing)
        return self
