"""`NetworkFranchise`: several networks learned together, with roles that they share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from infinimix.estimators.parameters import check_parameters, seed_sequence
from infinimix.networks.bayes_net import BlockmodelBayesNet
from infinimix.networks.learning.parameters import FRANCHISE_RULES
from infinimix.networks.learning.posterior import consensus
from infinimix.networks.learning.problem import ladder
from infinimix.networks.learning.progress import run_chains
from infinimix.networks.learning.summary import APART, describe_roles, find_template
from infinimix.networks.shared.joint import JointChain, Sharing
from infinimix.networks.shared.several import read_kinds, read_members, read_tables
from infinimix.scikit import BaseEstimator, ConvergenceWarning, check_is_fitted


class NetworkFranchise(BaseEstimator):
    """Bayesian networks of several tables, whose variables share roles.

    Each table has variables, rows and a network of its own. Roles are common: the probability of an
    edge depends on the roles of its ends only, and is the same in all networks. What one table says
    about roles thereby helps to learn the networks of the others, also if no variable is in both.

    Parameters
    ----------
    sharing : "franchise" or "common"
        "franchise": each network has proportions of roles of its own, around common ones (Chinese
        restaurant franchise); "common": one Chinese restaurant process over all variables.
    normalise : "network" or "global"
        "global": one constant for all networks, roles and edge probabilities, as in
        `BlockmodelBayesNet`. It taxes roles that often lead to circles. "network" takes most of
        this tax away: the prior is divided, for each network, by the probability that its graph is
        acyclic given its classes, as if it were alone ("partition" of `BlockmodelBayesNet`). As
        edge probabilities are shared, the product is not the probability that all graphs are
        acyclic given all roles; it is a prior of its own.
    alpha : float
        Concentration of the common roles; larger means more roles.
    alpha_network : float
        With "franchise", how near the proportions of a network are to the common ones; with very
        large values it becomes "common".
    beta : tuple of two floats
        Beta prior of the edge probability between two roles; a larger first number is denser.
    gamma : float
        Pseudo-count in each cell of the tables; with `bdeu`, the equivalent sample size.
    n_chains, n_iter : int
        Chains, and sweeps of each after the burn-in; a sweep visits every network once.
    burn_in : int, optional
        Sweeps before counting begins, annealed at first; by default half of `n_iter`.
    columns : word as in `CRPMixture`, or mapping from table to what `CRPMixture` takes
        Kinds of the columns, for all tables or for each.
    likelihood : "auto", "discrete" or "gaussian"
        As in `BlockmodelBayesNet`, for each table by itself.
    bdeu : bool
        Share `gamma` out over all cells of a table.
    n_bins : int
        Bins of a discretised column.
    max_parents : int, optional
        Most parents of a variable; by default no bound up to 13 variables in a table, else 8.
    n_temperatures : int
        With more than one, each chain is tempered: this many copies of all networks, the likelihood
        raised to powers from 1 down. It needs tables without missing cells.
    n_jobs : int, optional
        Threads for chains.
    verbose : bool
        Show sweeps, log joint and the largest gap between chains.
    random_state : int, Generator or None
        Where draws come from.

    Attributes
    ----------
    networks_ : dict
        Table -> a fitted `BlockmodelBayesNet` with its answers, averaged over the joint posterior;
        it cannot be run on by itself.
    edge_marginals_ : dict
        Table -> P(i -> j), an array.
    variables_ : list of (table, column)
        All variables; the order of the arrays that follow.
    co_class_marginals_ : array (V, V)
        Probability that two variables, of one network or of two, have one role.
    roles_ : array (V,)
        Consensus roles of all variables.
    template_ : dict
        Probability of edges from role to role: "mean", "low" and "high" (a 90% interval).
    rhat_, ess_, edge_gap_ : dict
        Table -> diagnostics of each edge, as in `BlockmodelBayesNet`.

    Examples
    --------
    >>> from infinimix.networks import NetworkFranchise, sample_network
    >>> lungs = sample_network((2, 2), random_state=1).sample(80, random_state=0)
    >>> liver = sample_network((2, 3), random_state=2).sample(60, random_state=0)
    >>> model = NetworkFranchise(n_iter=60, n_chains=1, random_state=0)
    >>> model = model.fit({"lungs": lungs, "liver": liver})
    >>> model.edge_marginals_["liver"].shape
    (5, 5)
    >>> model.co_class_marginals_.shape
    (9, 9)
    """

    _rules = FRANCHISE_RULES
    edge_gap_: dict[Any, np.ndarray]

    def __init__(
        self,
        sharing: str = "franchise",
        normalise: str = "network",
        alpha: float = 0.5,
        alpha_network: float = 3.0,
        beta: Any = (1.0, 1.0),
        gamma: float = 0.5,
        n_chains: int = 4,
        n_iter: int = 2000,
        burn_in: int | None = None,
        columns: Any = "auto",
        likelihood: str = "auto",
        bdeu: bool = False,
        n_bins: int = 3,
        max_parents: int | None = None,
        n_temperatures: int = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.sharing = sharing
        self.normalise = normalise
        self.alpha = alpha
        self.alpha_network = alpha_network
        self.beta = beta
        self.gamma = gamma
        self.n_chains = n_chains
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.columns = columns
        self.likelihood = likelihood
        self.bdeu = bdeu
        self.n_bins = n_bins
        self.max_parents = max_parents
        self.n_temperatures = n_temperatures
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, tables: Any, y: Any = None) -> NetworkFranchise:
        """Learn the networks of two tables or more.

        Parameters
        ----------
        tables : mapping from name to table, or list of tables
            Each as in `BlockmodelBayesNet.fit`; the tables of a list are named 0, 1, ...
        y : ignored
            For pipelines.
        """
        check_parameters(self)
        named = read_tables(tables)
        kinds = read_kinds(self.columns, named)
        *seeds, own = seed_sequence(self.random_state).spawn(int(self.n_chains) + 1)
        models, problems = read_members(self, named, kinds, own)
        c = float(self.alpha_network) if self.sharing == "franchise" else None
        sharing, powers = Sharing(float(self.alpha), c), ladder(self.n_temperatures)
        chains = [
            JointChain(problems, sharing, powers, seed, apart=k > 0) for k, seed in enumerate(seeds)
        ]
        self._sum_up(models, run_chains(self, chains))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "networks_")

    def _sum_up(self, models: dict[Any, BlockmodelBayesNet], chains: list[JointChain]) -> None:
        """Set the fitted attributes from what the chains have seen."""
        for g, model in enumerate(models.values()):
            model._chains = [chain.states[0].chains[g] for chain in chains]
            with warnings.catch_warnings():  # one warning for all networks follows
                warnings.simplefilter("ignore", ConvergenceWarning)
                model._sum_up([chain.records[g] for chain in chains])
            del model._chains  # a network does not go on without the others
        self.networks_ = models
        self.variables_ = [
            (name, column) for name, m in models.items() for column in m._columns.schema.names
        ]
        for attribute in ("edge_marginals_", "edge_gap_", "rhat_", "ess_"):
            setattr(self, attribute, {name: getattr(m, attribute) for name, m in models.items()})
        done = sum(chain.records[0].tally[0] for chain in chains)
        self.co_class_marginals_ = sum(chain.together for chain in chains) / done
        kept = [state for chain in chains for state in chain.kept]
        self._classes, self._log_joint = (np.array(x) for x in zip(*kept, strict=True))
        self.roles_ = consensus(self.co_class_marginals_, self._classes)
        draws = [m._draws for m in models.values()]
        beta = np.tile(np.array(self.beta, float), (len(draws[0].graphs), 1))
        self.template_ = find_template(draws, self.roles_, beta)
        self._warn()

    def _warn(self) -> None:
        name = max(self.edge_gap_, key=lambda k: self.edge_gap_[k].max())
        gap = float(self.edge_gap_[name].max())
        if self.n_chains > 1 and gap > APART:
            warnings.warn(
                f"chains differ by {gap:.2f} on an edge of the network of {name!r}: see edge_gap_, "
                "and take more sweeps (n_iter) or n_temperatures=3.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def share_roles(self) -> dict[str, Any]:
        """Return the roles of the best state, for `shared_roles` of `BlockmodelBayesNet`."""
        check_is_fitted(self)
        best = int(self._log_joint.argmax())
        draws = [m._draws for m in self.networks_.values()]
        return describe_roles(draws, self._classes[best], best)
