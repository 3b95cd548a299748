"""`BlockmodelBayesNet`: networks whose variables have roles (Mansinghka, chapter 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix import execution
from infinimix.estimators.parameters import is_whole, seed_sequence
from infinimix.networks.answers.queries import Answers
from infinimix.networks.engine.candidates import ALL
from infinimix.networks.engine.chain import Record
from infinimix.networks.learning.chains import Chain
from infinimix.networks.learning.columns import check_codes, read_columns, read_interventions
from infinimix.networks.learning.knowledge import Knowledge, read_knowledge
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.parameters import NETWORK_RULES, check_parameters, read_seconds
from infinimix.networks.learning.problem import make_problem
from infinimix.networks.learning.progress import run_chains
from infinimix.networks.learning.summary import find_template, number_by_rank, sum_up, warn_if_apart
from infinimix.scikit import (
    BaseEstimator,
    _check_feature_names,
    _get_feature_names,
    check_is_fitted,
)
from infinimix.tables import Encoded, encode


class BlockmodelBayesNet(Answers, BaseEstimator):
    """A Bayesian network learned from a table, with a prior that gives variables roles.

    Variables are in classes, and the probability of an edge depends on the classes of its ends
    only; both the classes and these probabilities are learned together with the network. The
    posterior over networks, classes and, for `prior="ordered"`, the order of the classes is
    explored by Markov chains.

    Parameters
    ----------
    prior : "blockmodel", "ordered", "sparse" or "uniform"
        "blockmodel": any edges between any classes, without circles; "ordered": edges from earlier
        classes to later ones only; "sparse": one class, so that density is learned; "uniform":
        all networks alike.
    normalise : "partition" or "global"
        With "blockmodel", whether the prior of networks is made to sum to one for each partition
        into classes, or for all together, which taxes partitions that often lead to circles.
    alpha : float or "learn"
        Concentration of the Chinese restaurant process of the classes.
    beta : tuple of two floats, or "learn"
        Beta prior of the edge probability between two classes; a larger first number is denser.
    gamma : float or "learn"
        Pseudo-count in each cell of the tables; with `bdeu`, the equivalent sample size.
    n_chains, n_iter : int
        Chains, and sweeps of each after the burn-in; a sweep visits every pair of variables.
    burn_in : int, optional
        Sweeps before counting begins, annealed at first; by default half of `n_iter`.
    averaging : "mcmc" or "best"
        Whether states weigh as often as they were visited, or the best by their posterior.
    n_best : int
        How many states "best" takes.
    columns : as in `CRPMixture`
        Kinds of the columns; "spiked" ones count as real.
    likelihood : "auto", "discrete" or "gaussian"
        Tables of categories, or linear Gaussian families (BGe). A table with both kinds is
        discretised, as `discretised_` says.
    bdeu : bool
        Share `gamma` out over all cells of a table, which makes equivalent networks score alike.
    n_bins : int
        Bins of a discretised column.
    required, forbidden : list of (from, to), optional
        Edges that must, or must not, be there.
    edge_log_odds : mapping (from, to) -> float, or array (N, N), optional
        Log odds to add to edges.
    known_roles : mapping from column to role, optional
        Columns of one role share a class, and those of different roles do not.
    role_order : list of roles, optional
        With "ordered", the order of known roles.
    role_template : mapping (role, role) -> (edges, gaps), optional
        With "blockmodel", pseudo-counts between known roles.
    shared_roles : dict, optional
        With "blockmodel", what `share_roles()` of a model of other variables returned: its classes
        and the edges between them are there from the start, and `shared_role_marginals_` says
        which variable takes which.
    max_parents : int, optional
        Most parents of a variable; by default no bound up to 13 variables, else 8.
    n_temperatures : int, optional
        With more than one, each chain is tempered: this many copies, the likelihood raised to
        powers from 1 down. By default 3 with "blockmodel" and up to 13 variables, if alpha, beta
        and gamma are fixed and no cell is missing; else 1.
    n_jobs : int, optional
        Threads for chains.
    verbose : bool
        Show sweeps, log joint and the largest gap between chains.
    random_state : int, Generator or None
        Where draws come from.

    Attributes
    ----------
    edge_marginals_ : array (N, N)
        P(i -> j).
    co_class_marginals_ : array (N, N)
        Probability that i and j have one role.
    roles_ : array (N,)
        Consensus classes; with "ordered", numbered by their order.
    template_ : dict
        Probability of edges from role to role: "mean", "low" and "high" (a 90% interval).
    states_ : list of dict
        Distinct states by weight: "weight", "adjacency", "classes", "log_joint".
    best_state_ : dict
        The state with the highest log joint.
    rhat_, ess_, edge_gap_ : arrays (N, N)
        Diagnostics of each edge; the gap is the largest difference between two chains.
    outside_mass_ : array (N,)
        With more than 13 variables: the weight, under a uniform prior and beside the parents in
        the last state, of one more parent that is not among the strong candidates, over whose
        sets the larger moves run. With "ordered" such parents are left out; with other priors
        single edges still reach them.
    discretised_ : dict
        Column -> inner edges of its bins, where a table was discretised.

    Examples
    --------
    >>> from infinimix import BlockmodelBayesNet
    >>> from infinimix.networks import sample_network
    >>> net = sample_network((2, 2), random_state=1)
    >>> model = BlockmodelBayesNet(n_iter=200, n_chains=2, random_state=0)
    >>> model = model.fit(net.sample(300, random_state=0))
    >>> model.edge_marginals_.shape
    (4, 4)
    >>> model.score_samples([[0, 0, 1, 1]]).shape
    (1,)
    """

    _rules = NETWORK_RULES

    def __init__(
        self,
        prior: str = "blockmodel",
        normalise: str = "partition",
        alpha: Any = 0.5,
        beta: Any = (1.0, 1.0),
        gamma: Any = 0.5,
        n_chains: int = 4,
        n_iter: int = 2000,
        burn_in: int | None = None,
        averaging: str = "mcmc",
        n_best: int = 100,
        columns: Any = "auto",
        likelihood: str = "auto",
        bdeu: bool = False,
        n_bins: int = 3,
        required: Any = None,
        forbidden: Any = None,
        edge_log_odds: Any = None,
        known_roles: Any = None,
        role_order: Any = None,
        role_template: Any = None,
        shared_roles: Any = None,
        max_parents: int | None = None,
        n_temperatures: int | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.prior = prior
        self.normalise = normalise
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_chains = n_chains
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.averaging = averaging
        self.n_best = n_best
        self.columns = columns
        self.likelihood = likelihood
        self.bdeu = bdeu
        self.n_bins = n_bins
        self.required = required
        self.forbidden = forbidden
        self.edge_log_odds = edge_log_odds
        self.known_roles = known_roles
        self.role_order = role_order
        self.role_template = role_template
        self.shared_roles = shared_roles
        self.max_parents = max_parents
        self.n_temperatures = n_temperatures
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_chains", "_mixture")}

    def fit(self, X: Any, y: Any = None, *, interventions: Any = None) -> BlockmodelBayesNet:
        """Learn the network of a table.

        Parameters
        ----------
        X : table
            Rows and columns of any kind that `CRPMixture` takes; cells may be missing.
        y : ignored
            For pipelines.
        interventions : array of bool, shape of X, optional
            True where a cell was set from outside: it then says nothing about the parents of its
            column.
        """
        return self._fit(X, interventions, None)

    def fit_for(self, X: Any, seconds: float, *, interventions: Any = None) -> BlockmodelBayesNet:
        """Learn for about so many seconds (each chain), or `n_iter` sweeps if these end first."""
        return self._fit(X, interventions, read_seconds(seconds))

    def run(self, seconds: float | None = None, n_iter: int | None = None) -> BlockmodelBayesNet:
        """Let the chains of the last `fit` go on, for some seconds or sweeps, and count those too.

        Chains are not part of a saved, copied or pickled model.
        """
        check_is_fitted(self)
        if not hasattr(self, "_chains"):
            raise ValueError("This model has no chains: it was loaded or copied; fit it first.")
        seconds = None if seconds is None else read_seconds(seconds)
        if n_iter is not None and not is_whole(n_iter, 1):
            raise ValueError(f"n_iter must be a whole number from 1 on; got {n_iter!r}")
        for chain in self._chains:
            chain.problem.burn_in = 0
            chain.problem.n_iter = n_iter or (self.n_iter if seconds is None else 10**9)
            chain.problem.seconds = seconds
        records = execution.map(Chain.run, self._chains, n_jobs=self.n_jobs)
        self._sum_up(records, caller=4)
        return self

    def _fit(self, X: Any, interventions: Any, seconds: float | None) -> BlockmodelBayesNet:
        check_parameters(self)
        columns, encoded = read_columns(
            X, self.columns, self.likelihood, int(self.n_bins), type(self).__name__
        )
        codes, missing = columns.codes(encoded)
        check_codes(columns, missing, bool(self.bdeu), type(self).__name__)
        known = self._knowledge(columns.schema.names)
        skip = read_interventions(interventions, codes.shape)
        if (self.n_temperatures or 1) > 1 and missing.any():
            raise ValueError("n_temperatures above 1 needs a table without missing cells.")
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains) + 1)
        problem = make_problem(self, columns, codes, missing, known, seeds[-1], skip, seconds)
        chains = [make_chain(problem, seed, apart=k > 0) for k, seed in enumerate(seeds[:-1])]
        records = run_chains(self, chains)
        self._columns, self._skip, self._chains, self._known = columns, skip, chains, known
        self._name_features(columns)
        self._sum_up(records)
        return self

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        return read_knowledge(
            names, self.required, self.forbidden, self.edge_log_odds, self.known_roles,
            self.role_order, self.role_template, self.shared_roles,
        )  # fmt: skip

    def _sum_up(self, records: list[Record], caller: int = 5) -> None:
        """Set the fitted attributes from what the chains have seen; warnings blame the caller."""
        sum_up(self, records, self.averaging, int(self.n_best))
        self._completed = [chain.X for chain in self._chains]
        if not self._chains[0].problem.missing.any():
            self._completed = self._completed[:1]
        self.outside_mass_ = np.zeros(self.n_features_in_)
        if self.n_features_in_ > ALL:
            self.outside_mass_ = self._chains[0].outside_mass()
        if self.prior == "ordered":
            self.roles_ = number_by_rank(self.roles_, self._draws)
        beta = np.maximum(self._draws.hyper[:, 1:3], 1e-3)
        self.template_ = find_template([self._draws], self.roles_, beta)
        advice = "Let n_iter be larger, call run(), or set n_temperatures."
        warn_if_apart(self, "->", advice, stacklevel=caller)

    def _encode(self, X: Any) -> Encoded:
        readable = not hasattr(X, "columns") or _get_feature_names(X) is not None
        if not isinstance(X, list) and (readable or not self._columns.schema.named):
            _check_feature_names(self, X, reset=False)
        return encode(self._columns.schema, X, learn=False, who=type(self).__name__)
