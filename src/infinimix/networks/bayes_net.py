"""`BlockmodelBayesNet`: networks whose variables have roles (Mansinghka, chapter 2)."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np

from infinimix.estimators.common.fitted import accept_tables, check_names
from infinimix.estimators.common.parameters import Columns, Seed, is_whole, seed_sequence
from infinimix.estimators.common.shared_methods import DensityScore, PublishedForm
from infinimix.networks.answers.asking import Asking
from infinimix.networks.answers.map_search import find_map
from infinimix.networks.answers.queries import refuse_mixed
from infinimix.networks.answers.signed import role_signs
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.engine.blocks import ACYCLIC
from infinimix.networks.engine.graphs import ancestors, topological_order
from infinimix.networks.graph_net import GraphNet
from infinimix.networks.interchange.bif import to_bif
from infinimix.networks.interchange.conversion import best_network, to_pgmpy, to_pyagrum
from infinimix.networks.interchange.gaussian import LinearGaussianNet, best_gaussian_network
from infinimix.networks.interchange.network import BayesNet
from infinimix.networks.learning.agreement import run_as_asked
from infinimix.networks.learning.columns import (
    check_codes,
    check_signed_columns,
    read_columns,
    read_interventions,
    warn_of_constants,
)
from infinimix.networks.learning.knowledge import Knowledge, bar_numbers, read_knowledge
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.parameters import (
    BAYES_NET_RULES,
    check_parameters,
    read_count,
    read_seconds,
)
from infinimix.networks.learning.pooling import burn_in_together
from infinimix.networks.learning.posterior import average
from infinimix.networks.learning.problem import make_problem
from infinimix.networks.learning.summary import describe_roles
from infinimix.networks.learning.timing import Budget
from infinimix.tables import EncodedTable, encode

INSTEAD = "to_networkx and edge_table show its edges"


class BlockmodelBayesNet(PublishedForm, DensityScore, Asking, GraphNet):
    """A Bayesian network learned from a table, with a prior that gives variables roles.

    Variables are in classes, and the probability of an edge depends on the classes of its ends
    only; both the classes and these probabilities are learned together with the network. The
    posterior over networks, classes and, for `prior="ordered"`, the order of the classes is
    explored by Markov chains.

    `infinimix.save` and `load` keep a fitted model, without its chains.

    Parameters
    ----------
    prior : "blockmodel", "ordered", "sparse" or "uniform"
        "blockmodel": any edges between any classes, without cycles; "ordered": edges from earlier
        classes to later ones only; "sparse": one class, so that density is learned; "uniform":
        all networks alike.
    normalise : "partition" or "global"
        With "blockmodel", whether the prior of networks is made to sum to one for each partition
        into classes, or for all together, which penalises partitions that often lead to cycles.
    alpha : float or "learn"
        Concentration of the Chinese restaurant process of the classes.
    beta : tuple of two floats, or "learn"
        Beta prior of the edge probability between two classes; a larger first number is denser.
    gamma : "auto", "learn" or float
        Pseudo-count in each cell of the tables; with `bdeu`, the equivalent sample size. "auto":
        1 / r in each cell of a variable of r categories (.5 if it is binary), with `bdeu` 10.
    n_chains : int
        Chains, which start apart from each other; two or more with `n_iter="auto"`.
    n_iter : int or "auto"
        Sweeps of each chain after the burn-in; a sweep visits every pair of variables. "auto": 500
        at first, then twice as many again and again, counted anew each time, until no edge differs
        by more than .1 between chains; ten minutes at most, or as long as `fit_for` is given.
    burn_in : int, optional
        Sweeps before counting begins, annealed at first; by default half of `n_iter`.
    averaging : "mcmc" or "best"
        Whether states weigh as often as they were visited, or the best by their posterior.
    n_best : int
        How many states "best" takes.
    columns : as in `CRPMixture`
        Kinds of the columns; "spiked" ones count as real.
    likelihood : "auto", "discrete", "gaussian" or "mixed"
        Tables of categories, or linear Gaussian families (BGe). A table with both kinds is
        discretised, as `discretised_` says. "mixed": its numbers stay numbers, and each has a
        regression on its real parents for every configuration of its discrete parents (conditional
        Gaussian families); a number is then no parent of a category.
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
    moves : "all" or "published"
        "published": single edges and single nodes only, as the thesis has them. They mix badly.
    effects : "any" or "signed"
        "signed": each effect of a variable on another is positive or negative, and roles differ in
        the share of positive effects. For columns with a low and a high value (0 and 1, or
        numbers with `likelihood="discrete"` and `n_bins=2`), with at most 3 parents by default
        and 4 at most. The probability of 1 rises with each parent whose effect is positive,
        whatever the others are, and falls with each whose effect is negative.

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
        Distinct states by weight: "weight", "adjacency", "classes", and "log_joint" (unnormalised).
    best_state_ : dict
        The state with the highest log joint.
    map_network_ : dict
        The same after a search over orders of the variables, given its classes: its log joint is
        never lower. The search is made when it is first asked for. With `effects="signed"` there
        is no search, and it is the best state.
    rhat_, ess_, edge_gap_ : arrays (N, N)
        Diagnostics of each edge; the gap is the largest difference between two chains.
    outside_mass_ : array (N,)
        With more than 13 variables: the weight, under a uniform prior and beside the parents in
        the last state, of one more parent that is not among the strong candidates, over whose
        sets the larger moves run. With "ordered" such parents are left out; with other priors
        single edges still reach them.
    positive_marginals_, negative_marginals_ : arrays (N, N)
        With `effects="signed"`: P(i -> j with a positive, or a negative, effect).
    role_signs_ : dict
        With `effects="signed"`: the share of positive effects of each role, "mean", "low" and
        "high" (a 90% interval), and the mean numbers of "positive" and "negative" effects.
    discretised_ : dict
        Column -> inner edges of its bins, where a table was discretised.

    Notes
    -----
    `as_published()` is the thesis's own form: its moves, its prior, and the 100 best states
    visited. Ten chains of 2,000 sweeps, each edge and each class drawn by itself, one normalising
    constant for all partitions.

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

    State = BayesNetState
    _rules = BAYES_NET_RULES
    _published: ClassVar[dict[str, Any]] = {
        "normalise": "global", "moves": "published", "averaging": "best", "n_best": 100,
        "gamma": 0.5, "n_chains": 10, "n_iter": 2000, "burn_in": 0, "n_temperatures": 1,
    }  # fmt: skip
    _shape = ACYCLIC
    _state: Any = None  # a BayesNetState, once it is fitted

    def __init__(
        self,
        prior: str = "blockmodel",
        normalise: str = "partition",
        alpha: float | str = 0.5,
        beta: tuple[float, float] | str = (1.0, 1.0),
        gamma: float | str = "auto",
        n_chains: int = 4,
        n_iter: int | str = 2000,
        burn_in: int | None = None,
        averaging: str = "mcmc",
        n_best: int = 100,
        columns: Columns = "auto",
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
        random_state: Seed = None,
        moves: str = "all",
        effects: str = "any",
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
        self.moves = moves
        self.effects = effects

    def __sklearn_tags__(self) -> Any:
        return accept_tables(super().__sklearn_tags__(), missing=True)

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
        """Learn for about so many seconds, or `n_iter` sweeps if these end first.

        Parameters
        ----------
        X : table
            As in `fit`.
        seconds : float
            The time for everything: reading the table, and all chains together, which share it
            out if there are more of them than `n_jobs`. Code that must be compiled first takes
            its time besides.
        interventions : array of bool, shape of X, optional
            As in `fit`.
        """
        return self._fit(X, interventions, read_seconds(seconds))

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _fit(self, X: Any, interventions: Any, seconds: float | None) -> BlockmodelBayesNet:
        start = time.monotonic()
        self._check_parameters()
        columns, encoded = read_columns(
            X, self.columns, self.likelihood, int(self.n_bins), type(self).__name__
        )
        codes, missing = columns.codes(encoded)
        check_codes(columns, missing, bool(self.bdeu), type(self).__name__)
        if self.effects == "signed":
            check_signed_columns(columns)
        known = self._knowledge(columns.schema.names)
        skip = read_interventions(interventions, codes.shape)
        warn_of_constants(columns, codes, missing, skip, stacklevel=4)
        if (self.n_temperatures or 1) > 1 and missing.any():
            raise ValueError("n_temperatures above 1 needs a table without missing cells.")
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains) + 1)
        problem = make_problem(self, columns, codes, missing, known, seeds[-1], skip)
        if seconds is not None:
            problem.budget = Budget(start + seconds, int(self.n_chains), self.n_jobs)
        chains = [make_chain(problem, seed, apart=k > 0) for k, seed in enumerate(seeds[:-1])]
        ran = self._run(chains, start, seconds)
        self._state = self._found(columns, *ran, skip, stacklevel=5)
        return self

    def _run(
        self, chains: list[Any], start: float, seconds: float | None
    ) -> tuple[list[Any], list[Any]]:
        """Run chains as long as `n_iter` says; return them and their records."""
        return run_as_asked(self, burn_in_together(self, chains), start, seconds)

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        return read_knowledge(
            names, self.required, self.forbidden, self.edge_log_odds, self.known_roles,
            self.role_order, self.role_template, self.shared_roles,
        )  # fmt: skip

    # --- roles and graphs -------------------------------------------------------------------

    @property
    def outside_mass_(self) -> np.ndarray:
        """The weight of one more parent that is no strong candidate, for each variable."""
        return np.asarray(self._fitted.outside_mass)

    @property
    def map_network_(self) -> dict[str, Any]:
        """The most probable network that a search over orders finds, from the best state on."""
        state = self._fitted
        if state.signed:
            return self.best_state_  # scores of sets depend on signs: there is no search
        if "map_network" not in state.__dict__:
            limit = None if self.max_parents is None else int(self.max_parents)
            known = bar_numbers(self._knowledge(state.names), state.names, state.columns.cards)
            found = find_map(state, known, self.prior, limit)
            state.__dict__["map_network"] = found
        return dict(state.__dict__["map_network"])

    @property
    def positive_marginals_(self) -> np.ndarray:
        """The probability of an edge with a positive effect."""
        return np.maximum(self._signed_state.edge_marginals - self.negative_marginals_, 0.0)

    @property
    def negative_marginals_(self) -> np.ndarray:
        """The probability of an edge with a negative effect."""
        return np.asarray(self._signed_state.negative_marginals)

    @property
    def role_signs_(self) -> dict[str, np.ndarray]:
        """The share of positive effects of each role."""
        return role_signs(self._signed_state)

    @property
    def _signed_state(self) -> BayesNetState:
        state: BayesNetState = self._fitted
        if not state.signed:
            raise AttributeError("only a model fitted with effects='signed' has signs")
        return state

    @property
    def shared_role_marginals_(self) -> np.ndarray:
        """The probability that each variable takes each of the shared roles, (N, roles)."""
        state = self._fitted
        if not state.n_shared:
            raise AttributeError("only a model fitted with shared_roles has shared_role_marginals_")
        taken = state.draws.classes[:, :, None] == np.arange(state.n_shared)
        return np.asarray(taken.mean(axis=0))

    def share_roles(self) -> dict[str, Any]:
        """Return the classes of the best state, for `shared_roles` of another model."""
        state = self._fitted
        return describe_roles([state.draws], state.draws.classes[state.best], state.best)

    def path_probabilities(self) -> np.ndarray:
        """Return P[i, j]: the probability that a directed path leads from i to j."""
        state = self._fitted
        return average(state.weights, ancestors(state.adjacencies(state.places)))

    def topological_order(self) -> list[str]:
        """Return the columns, parents before children, in the best state."""
        state = self._fitted
        return [state.names[j] for j in topological_order(state.graph(None))]

    # --- rows -------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log predictive density of each row, averaged over networks.

        Missing cells are summed or integrated out. Of a discretised table it is the probability
        of the bins; of a mixed one that of the categories, times the density of the numbers.

        Parameters
        ----------
        X : table
            The rows.
        """
        state = self._fitted
        encoded = self._encode(X)
        codes, missing = state.columns.codes(encoded)
        log_p = state.mixture.log_density(codes, missing)
        return np.asarray(log_p + state.columns.log_slopes(encoded, missing))

    def sample(
        self, n_samples: int = 1, random_state: Seed = None, *, n: int | None = None
    ) -> dict[str, np.ndarray]:
        """Draw rows from the predictive distribution, as columns by name.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        random_state : int, Generator or None
            Where draws come from.
        n : int, optional
            Another name of `n_samples`.
        """
        state, rng = self._fitted, np.random.default_rng(random_state)
        number = read_count(n_samples) if n is None else read_count(n, "n")
        return dict(state.columns.decode(state.mixture.draw(number, rng), rng))

    def kl_from(self, truth: BayesNet, n: int = 10_000, random_state: Seed = 0) -> float:
        """Return an estimate of KL(truth, predictive) in nats a row, from n rows of the truth.

        The columns must be codes 0, 1, ... in the order of the states of the truth.

        Parameters
        ----------
        truth : BayesNet
            The network that rows are drawn from.
        n : int
            Rows to draw.
        random_state : int, Generator or None
            Where draws come from.
        """
        if not isinstance(truth, BayesNet):
            raise ValueError(
                "kl_from: truth must be a BayesNet, as read_network, sample_network and network() "
                f"return; got {type(truth).__name__}"
            )
        if not is_whole(n, 1):
            raise ValueError(f"kl_from: n must be a whole number from 1 on; got {n!r}")
        X = truth.sample(n, random_state)
        return float(np.mean(truth.log_probability(X) - self.score_samples(X)))

    def _encode(self, X: Any) -> EncodedTable:
        schema = self._fitted.columns.schema
        check_names(self, X, schema)
        return encode(schema, X, learn=False, who=type(self).__name__)

    # --- other forms ------------------------------------------------------------------------

    def network(self) -> BayesNet:
        """Return the best state's network with the means of its tables; for discrete columns."""
        state = self._fitted
        refuse_mixed(state.columns, "tables alone", INSTEAD)
        if state.columns.gaussian:
            raise ValueError(
                "only a discrete network has tables; this one is Gaussian: gaussian_network() "
                "returns its regressions"
            )
        return best_network(state)

    def gaussian_network(self) -> LinearGaussianNet:
        """Return the best state's network with the means of its regressions; for real columns.

        Parameters are in the units of the columns, or of their transforms (`columns_`).
        """
        state = self._fitted
        refuse_mixed(state.columns, "regressions alone", INSTEAD)
        if not state.columns.gaussian:
            raise ValueError("this network is discrete: network() returns its tables")
        return best_gaussian_network(state)

    def to_bif(self) -> str:
        """Return `network()` as BIF text."""
        return to_bif(self.network())

    def to_pgmpy(self) -> Any:
        """Return `network()`, or `gaussian_network()` of real columns, as a pgmpy model."""
        if self._fitted.columns.gaussian:
            return self.gaussian_network().to_pgmpy()
        return to_pgmpy(self.network())

    def to_pyagrum(self) -> Any:
        """Return `network()` as a pyAgrum BayesNet."""
        return to_pyagrum(self.network())
