"""`BlockmodelDynamicNet`: how variables before bear on variables now, with one role for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.engine.blocks import DYNAMIC
from infinimix.networks.graph_net import UnconstrainedNet
from infinimix.networks.learning.slices import pair_rows


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
    gamma : float or "learn"
        Pseudo-count in each cell of the tables.
    n_chains, n_iter : int
        Chains, and sweeps of each after the burn-in; a sweep visits every ordered pair.
    burn_in : int, optional
        Sweeps before counting begins, annealed at first; by default half of `n_iter`.
    columns : as in `CRPMixture`
        Kinds of the columns; "spiked" ones count as real. No cell may be missing.
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

    def fit(self, X: Any, y: Any = None, *, sequences: Any = None) -> BlockmodelDynamicNet:
        """Learn the network of sequences.

        Parameters
        ----------
        X : table
            Rows in the order of time, of any kind that `CRPMixture` takes, without missing cells.
        y : ignored
            For pipelines.
        sequences : array (rows,), optional
            Which sequence a row belongs to; rows are paired within sequences only, as in
            `pair_slices`. By default all are one sequence.
        """
        columns, codes = self._read(X)
        before, now = pair_rows(len(codes), sequences)
        cards = None if columns.cards is None else np.tile(columns.cards, 2)
        self._learn(columns, np.hstack([codes[now], codes[before]]), cards)
        return self
