"""`NetworkFranchise`: several networks learned together, with roles that they share."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.estimators.common.parameters import Columns, Seed, seed_sequence
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.bayes_net import BlockmodelBayesNet
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.interchange.draws import several_to_arviz
from infinimix.networks.interchange.plots import plot_several
from infinimix.networks.learning.agreement import run_as_asked
from infinimix.networks.learning.parameters import FRANCHISE_RULES, check_each, read_seconds
from infinimix.networks.learning.posterior import consensus
from infinimix.networks.learning.problem import ladder
from infinimix.networks.learning.progress import run_chains
from infinimix.networks.learning.summary import APART, advise, describe_roles, find_template
from infinimix.networks.learning.timing import Budget, prepare_run
from infinimix.networks.shared.joint import JointChain, Sharing
from infinimix.networks.shared.several import name_tables, read_each, read_members, read_tables
from infinimix.networks.shared.state import FranchiseState
from infinimix.scikit import BaseEstimator, ConvergenceWarning, check_is_fitted, clone

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class NetworkFranchise(BaseEstimator):
    """Bayesian networks of several tables, whose variables share roles.

    Each table has variables, rows and a network of its own. Roles are common: the probability of an
    edge depends on the roles of its ends only, and is the same in all networks. What one table says
    about roles thereby helps to learn the networks of the others, also if no variable is in both.

    `infinimix.save` and `load` keep a fitted model, without its chains.

    Parameters
    ----------
    sharing : "franchise" or "common"
        "franchise": each network has proportions of roles of its own, around common ones (Chinese
        restaurant franchise); "common": one Chinese restaurant process over all variables.
    normalise : "network" or "global"
        "global": one constant for all networks, roles and edge probabilities, as in
        `BlockmodelBayesNet`. It penalises roles that often lead to cycles. "network" takes most
        of this penalty away: the prior is divided, for each network, by the probability that its
        graph is acyclic given its classes, as if it were alone ("partition" of
        `BlockmodelBayesNet`). As edge probabilities are shared, the product is not the probability
        that all graphs are acyclic given all roles; it is a prior of its own.
    alpha : float
        Concentration of the common roles; larger means more roles.
    alpha_network : float
        With "franchise", how near the proportions of a network are to the common ones; with very
        large values it becomes "common".
    beta : tuple of two floats
        Beta prior of the edge probability between two roles; a larger first number is denser.
    gamma : "auto" or float
        Pseudo-count in each cell of the tables; with `bdeu`, the equivalent sample size. "auto":
        1 / r in each cell of a variable of r categories (.5 if it is binary), with `bdeu` 10.
    n_chains : int
        Chains, which start apart from each other; two or more with `n_iter="auto"`.
    n_iter : int or "auto"
        Sweeps of each chain after the burn-in; a sweep visits every network once. "auto": 500
        at first, then twice as many again and again, counted anew each time, until no edge differs
        by more than .1 between chains; ten minutes at most, or as long as `fit_for` is given.
    burn_in : int, optional
        Sweeps before counting begins, annealed at first; by default half of `n_iter`.
    columns : word as in `CRPMixture`, or mapping from table to what `CRPMixture` takes
        Kinds of the columns, for all tables or for each.
    likelihood : "auto", "discrete", "gaussian" or "mixed"
        As in `BlockmodelBayesNet`, for each table by itself.
    bdeu : bool
        Share `gamma` out over all cells of a table.
    n_bins : int
        Bins of a discretised column.
    required, forbidden : mapping from table to a list of (from, to), optional
        Edges that must, or must not, be in the network of a table.
    edge_log_odds : mapping from table to a mapping (from, to) -> float, or array (N, N), optional
        Log odds to add to edges of the network of a table.
    known_roles : mapping from table to a mapping from column to role, optional
        Columns of one role share a class, in all tables, and those of different roles do not.
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

    State = FranchiseState
    _rules = FRANCHISE_RULES
    _state: FranchiseState | None = None

    def __init__(
        self,
        sharing: str = "franchise",
        normalise: str = "network",
        alpha: float = 0.5,
        alpha_network: float = 3.0,
        beta: tuple[float, float] | str = (1.0, 1.0),
        gamma: float | str = "auto",
        n_chains: int = 4,
        n_iter: int | str = 2000,
        burn_in: int | None = None,
        columns: Columns = "auto",
        likelihood: str = "auto",
        bdeu: bool = False,
        n_bins: int = 3,
        required: Any = None,
        forbidden: Any = None,
        max_parents: int | None = None,
        n_temperatures: int = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Seed = None,
        edge_log_odds: Any = None,
        known_roles: Any = None,
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
        self.required = required
        self.forbidden = forbidden
        self.max_parents = max_parents
        self.n_temperatures = n_temperatures
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.edge_log_odds = edge_log_odds
        self.known_roles = known_roles

    def fit(self, tables: Any, y: Any = None, *, interventions: Any = None) -> NetworkFranchise:
        """Learn the networks of two tables or more.

        Parameters
        ----------
        tables : mapping from name to table, or list of tables
            Each as in `BlockmodelBayesNet.fit`; the tables of a list are named 0, 1, ... Cells may
            be missing.
        y : ignored
            For pipelines.
        interventions : mapping from table to array of bool, optional
            True where a cell of the table was set from outside.
        """
        return self._fit(tables, interventions, None)

    def fit_for(
        self, tables: Any, seconds: float, *, interventions: Any = None
    ) -> NetworkFranchise:
        """Learn for about so many seconds, or `n_iter` sweeps if these end first.

        Parameters
        ----------
        tables : mapping from name to table, or list of tables
            As in `fit`.
        seconds : float
            The time of all chains together. Code that must be compiled first takes its time
            besides.
        interventions : mapping from table to array of bool, optional
            As in `fit`.
        """
        return self._fit(tables, interventions, read_seconds(seconds))

    def run(self, seconds: float | None = None, n_iter: int | None = None) -> NetworkFranchise:
        """Let the chains of the last `fit` go on, for some seconds or sweeps, and count those too.

        Chains are not part of a saved, copied or pickled model.

        Parameters
        ----------
        seconds : float, optional
            The time of all chains together.
        n_iter : int, optional
            Sweeps of each chain; by default `n_iter` of the model, or of its last round.
        """
        state = self._fitted
        prepare_run(self, state.chains, seconds, n_iter)
        members = {name: clone(member) for name, member in state.networks.items()}
        known = [(m._fitted.columns, m._fitted.skip) for m in state.networks.values()]
        ran = run_chains(self, state.chains, bool(self.verbose))[1]
        self._finish(members, known, ran, stacklevel=3)
        return self

    def _fit(self, tables: Any, interventions: Any, seconds: float | None) -> NetworkFranchise:
        start = time.monotonic()
        self._check_parameters()
        named = read_tables(tables)
        members, masks = self._new_members(named), read_each(interventions, named, "interventions")
        *seeds, own = seed_sequence(self.random_state).spawn(int(self.n_chains) + 1)
        columns, problems = read_members(members, named, masks, own, type(self).__name__)
        if self.n_temperatures > 1 and any(p.missing.any() for p in problems):
            raise ValueError("n_temperatures above 1 needs tables without missing cells.")
        if seconds is not None:
            problems[0].budget = Budget(start + seconds, int(self.n_chains), self.n_jobs)
        c = float(self.alpha_network) if self.sharing == "franchise" else None
        sharing, powers = Sharing(float(self.alpha), c), ladder(self.n_temperatures)
        chains = [
            JointChain(problems, sharing, powers, seed, apart=k > 0) for k, seed in enumerate(seeds)
        ]
        known = list(zip(columns, (p.skip for p in problems), strict=True))
        ran = run_as_asked(self, chains, start, seconds)[1]
        self._finish(members, known, ran, stacklevel=4)
        return self

    def _finish(
        self, members: dict[Any, BlockmodelBayesNet], known: list[Any], chains: list[JointChain],
        stacklevel: int,
    ) -> None:  # fmt: skip
        """Set the fitted state, and warn if the chains that have run disagree."""
        state = self._summarise(members, known, chains)
        name, gap = state.gap
        if self.n_chains > 1 and gap > APART:
            warnings.warn(
                f"chains differ by {gap:.2f} on an edge of the network of {name!r}: see edge_gap_. "
                f"{advise(self.n_iter)}",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        self._state = state

    def _check_parameters(self) -> None:
        check_each(self)

    def _new_members(self, tables: Any) -> dict[Any, BlockmodelBayesNet]:
        """Return models of the tables, not fitted yet."""
        each = {
            name: read_each(getattr(self, name), tables, name)
            for name in ("required", "forbidden", "edge_log_odds", "known_roles")
        }
        return {
            name: BlockmodelBayesNet(
                normalise="partition" if self.normalise == "network" else "global",
                alpha=self.alpha, beta=self.beta, gamma=self.gamma, n_chains=self.n_chains,
                n_iter=self.n_iter, burn_in=self.burn_in, columns=kinds,
                likelihood=self.likelihood, bdeu=self.bdeu, n_bins=self.n_bins,
                max_parents=self.max_parents, n_temperatures=1, random_state=self.random_state,
                **{what: own[name] for what, own in each.items()},
            )
            for name, kinds in read_each(self.columns, tables, "columns", "auto").items()
        }  # fmt: skip

    def _summarise(
        self, members: dict[Any, BlockmodelBayesNet], known: list[Any], chains: list[JointChain]
    ) -> FranchiseState:
        """Return the fitted state from what the chains have seen."""
        for g, member in enumerate(members.values()):
            own = [chain.states[0].chains[g] for chain in chains]
            records = [chain.records[g] for chain in chains]
            state = BayesNetState.found(member, known[g][0], own, records, known[g][1])
            member._state = replace(state, chains=None)  # it does not go on without the others
        done = sum(chain.records[0].counters[SWEEPS] for chain in chains)
        together = sum(chain.together for chain in chains) / done
        kept = [state for chain in chains for state in chain.kept]
        classes, log_joint = (np.array(x) for x in zip(*kept, strict=True))
        roles = consensus(together, classes)
        draws = [member._fitted.draws for member in members.values()]
        beta = np.tile(np.array(self.beta, float), (len(draws[0].graphs), 1))
        template = find_template(draws, roles, beta)
        return FranchiseState(members, classes, log_joint, together, roles, template, chains)

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    @property
    def _fitted(self) -> Any:
        """The state; NotFittedError if there is none."""
        check_is_fitted(self)
        return self._state

    @property
    def networks_(self) -> dict[Any, BlockmodelBayesNet]:
        """Table -> a fitted model with its answers."""
        return dict(self._fitted.networks)

    @property
    def variables_(self) -> list[tuple[Any, str]]:
        """All variables, as pairs of table and column."""
        return [(name, column) for name, m in self.networks_.items() for column in m._fitted.names]

    @property
    def edge_marginals_(self) -> dict[Any, np.ndarray]:
        """Table -> the probability of each edge."""
        return {name: model.edge_marginals_ for name, model in self.networks_.items()}

    @property
    def edge_gap_(self) -> dict[Any, np.ndarray]:
        """Table -> the largest difference between two chains, for each edge."""
        return {name: model.edge_gap_ for name, model in self.networks_.items()}

    @property
    def rhat_(self) -> dict[Any, np.ndarray]:
        """Table -> split R-hat of each edge."""
        return {name: model.rhat_ for name, model in self.networks_.items()}

    @property
    def ess_(self) -> dict[Any, np.ndarray]:
        """Table -> the effective sample size of each edge."""
        return {name: model.ess_ for name, model in self.networks_.items()}

    @property
    def co_class_marginals_(self) -> np.ndarray:
        """The probability that two variables have one role."""
        return np.asarray(self._fitted.co_class_marginals)

    @property
    def roles_(self) -> np.ndarray:
        """Consensus roles of all variables."""
        return np.asarray(self._fitted.roles)

    @property
    def template_(self) -> dict[str, np.ndarray]:
        """The probability of edges from role to role."""
        return dict(self._fitted.template)

    def edge_table(self, threshold: float = 0.0) -> pd.DataFrame:
        """Return the edges of all networks by name as a pandas DataFrame.

        Parameters
        ----------
        threshold : float
            Leave out edges that are less probable.

        Returns
        -------
        DataFrame
            table, and what `BlockmodelBayesNet.edge_table` has.
        """
        import pandas as pd

        parts = {name: model.edge_table(threshold) for name, model in self.networks_.items()}
        found = pd.concat(parts, names=["table", None]).reset_index("table")
        return found.reset_index(drop=True)

    def score_samples(self, tables: Any) -> dict[Any, np.ndarray]:
        """Return, for each table, the log predictive density of its rows in its network.

        Parameters
        ----------
        tables : mapping from name to table, or list of tables
            Rows of all tables of `fit`, or of some.
        """
        return self._ask_each("score_samples", tables)

    def impute(self, tables: Any) -> dict[Any, Any]:
        """Return each table with its missing cells filled, as `BlockmodelBayesNet.impute` does.

        Parameters
        ----------
        tables : mapping from name to table, or list of tables
            Rows of all tables of `fit`, or of some.
        """
        return self._ask_each("impute", tables)

    def _ask_each(self, question: str, tables: Any) -> dict[Any, Any]:
        """Return what the networks answer about the rows of their tables."""
        networks = self.networks_
        named = name_tables(tables)
        for name in named:
            if name not in networks:
                raise ValueError(f"{question}: there is no network of a table {name!r}")
        return {name: getattr(networks[name], question)(X) for name, X in named.items()}

    def to_arviz(self) -> Any:
        """Return the kept states of the chains in the form of ArviZ (`infinimix[arviz]`).

        The posterior has `edge_NAME` and `n_edges_NAME` of each table, and `role` and `n_roles`
        of all variables together; `sample_stats` the unnormalised log joint `lp`.
        """
        return several_to_arviz(self._fitted)

    def plot(self, threshold: float = 0.5, ax: Sequence[Axes] | None = None) -> Figure:
        """Draw the graph of each network by shared role, and the co-class probabilities of all.

        Parameters
        ----------
        threshold : float
            Draw edges of at least this probability.
        ax : sequence of matplotlib Axes, optional
            One for each table: draw the graphs alone, there.

        Returns
        -------
        Figure
            A notebook shows it.
        """
        return plot_several(self._fitted, threshold, ax)

    def share_roles(self) -> dict[str, Any]:
        """Return the roles of the best state, for `shared_roles` of `BlockmodelBayesNet`."""
        state = self._fitted
        best = int(state.log_joint.argmax())
        return describe_roles(state.draws, state.classes[best], best)
