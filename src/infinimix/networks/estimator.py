"""`BlockmodelBayesNet`: networks whose variables have roles (Mansinghka, chapter 2)."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_feature_names, _get_feature_names, check_is_fitted

from infinimix import execution
from infinimix.estimators.parameters import seed_sequence
from infinimix.networks.answers import Answers
from infinimix.networks.chains import Chain, Problem, make_layout
from infinimix.networks.columns import Columns, read_columns
from infinimix.networks.completion import first_fill
from infinimix.networks.engine.candidates import ALL
from infinimix.networks.engine.chain import Record
from infinimix.networks.knowledge import Knowledge, read_knowledge
from infinimix.networks.parameters import NETWORK_RULES, check_parameters
from infinimix.networks.posterior import (
    consensus,
    distinct_states,
    edge_gap,
    gather,
    rhat_and_ess,
    role_counts,
    template,
)
from infinimix.networks.progress import Progress
from infinimix.tables import Encoded, encode

APART = 0.2  # chains that differ by more on some edge are warned of
ORDERED_CANDIDATES = 12


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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_draws")

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
        return self._fit(X, interventions, float(seconds))

    def run(self, seconds: float | None = None, n_iter: int | None = None) -> BlockmodelBayesNet:
        """Let the chains of the last `fit` go on, for some seconds or sweeps, and count those too.

        Chains are not part of a saved, copied or pickled model.
        """
        check_is_fitted(self)
        if not hasattr(self, "_chains"):
            raise ValueError("This model has no chains: it was loaded or copied; fit it first.")
        for chain in self._chains:
            chain.problem.burn_in = 0
            chain.problem.n_iter = n_iter or (self.n_iter if seconds is None else 10**9)
            chain.problem.seconds = None if seconds is None else seconds
        records = self._execute(Chain.run, self._chains)
        self._sum_up(records)
        return self

    def _fit(self, X: Any, interventions: Any, seconds: float | None) -> BlockmodelBayesNet:
        check_parameters(self)
        columns, encoded = read_columns(
            X, self.columns, self.likelihood, int(self.n_bins), type(self).__name__
        )
        codes, missing = columns.codes(encoded)
        known = self._knowledge(columns.schema.names)
        skip = _read_interventions(interventions, codes.shape)
        if (self.n_temperatures or 1) > 1 and missing.any():
            raise ValueError("n_temperatures above 1 needs a table without missing cells.")
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains) + 1)
        problem = self._problem(columns, codes, missing, known, skip, seconds, seeds[-1])
        progress = Progress(self.n_chains, self.n_iter) if self.verbose else None
        chains = []
        for k in range(self.n_chains):
            chain = Chain(problem, seeds[k], apart=k > 0)
            if progress is not None:
                chain.tell = progress.teller(k)
            chains.append(chain)
        with progress or nullcontext():
            records = self._execute(Chain.run, chains)
        self._columns, self._skip, self._chains, self._known = columns, skip, chains, known
        self._name_features(columns)
        self._sum_up(records)
        return self

    def _execute(self, task: Any, payloads: Any) -> list[Any]:
        return execution.map(task, payloads, n_jobs=self.n_jobs)

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        return read_knowledge(
            names, self.required, self.forbidden, self.edge_log_odds, self.known_roles,
            self.role_order, self.role_template, self.shared_roles,
        )  # fmt: skip

    def _problem(
        self, columns: Columns, codes: np.ndarray, missing: np.ndarray, known: Knowledge,
        skip: np.ndarray | None, seconds: float | None, seed: np.random.SeedSequence,
    ) -> Problem:  # fmt: skip
        N = codes.shape[1]
        learn = [isinstance(v, str) for v in (self.alpha, self.beta, self.gamma)]
        allowed = known.bonus > -np.inf
        problem = Problem(
            codes, missing, columns.cards, None,
            prior=self.prior, per_partition=self.normalise == "partition",
            alpha=0.5 if learn[0] else float(self.alpha),
            beta=(1.0, 1.0) if learn[1] else (float(self.beta[0]), float(self.beta[1])),
            gamma=0.5 if learn[2] else float(self.gamma),
            learn=(learn[0], learn[1], learn[2] and not columns.gaussian),
            bdeu=bool(self.bdeu), skip=skip, bonus=known.bonus, anchor=known.anchor,
            roles=known.held, order_known=self.role_order is not None,
            powers=self._powers(N, any(learn) or bool(missing.any())), n_iter=int(self.n_iter),
            burn_in=int(self.n_iter) // 2 if self.burn_in is None else int(self.burn_in),
            seconds=seconds,
        )  # fmt: skip
        filled = first_fill(codes, missing, np.random.default_rng(seed))
        most = ORDERED_CANDIDATES if self.prior == "ordered" and N > 13 else None
        limit = None if self.max_parents is None else max(int(self.max_parents), 0)
        if limit == 0:
            allowed = allowed & (known.bonus == np.inf)
        bounds = {"max_parents": limit or None, "most": most}
        if most:
            bounds["strong"] = ORDERED_CANDIDATES
        required = known.bonus == np.inf
        problem.layout = make_layout(problem, filled, allowed, required, **bounds)
        return problem

    def _powers(self, N: int, changing: bool) -> tuple[float, ...]:
        """Return the powers of the likelihood; one if the likelihood changes on the way."""
        T = self.n_temperatures
        if T is None:
            T = 3 if self.prior == "blockmodel" and N <= ALL and not changing else 1
        return tuple(0.6 ** np.arange(T))

    def _name_features(self, columns: Columns) -> None:
        self.n_features_in_ = columns.schema.width
        self.__dict__.pop("feature_names_in_", None)
        if columns.schema.named:
            self.feature_names_in_ = np.array(columns.schema.names, dtype=object)

    def _sum_up(self, records: list[Record]) -> None:
        """Set the fitted attributes from what the chains have seen."""
        self._draws = draws = gather(records)
        self._completed = [chain.X for chain in self._chains]
        if not self._chains[0].problem.missing.any():
            self._completed = self._completed[:1]
        self.edge_gap_ = edge_gap(records)
        self.outside_mass_ = np.zeros(self.n_features_in_)
        if self.n_features_in_ > ALL:
            self.outside_mass_ = self._chains[0].outside_mass()
        self.rhat_, self.ess_ = rhat_and_ess(draws)
        first, weight = distinct_states(draws, self.averaging, int(self.n_best))
        self._places, self._weights = first, weight
        if self.averaging == "mcmc":
            done = sum(r.tally[0] for r in records)
            self.edge_marginals_ = sum(r.edges for r in records) / done
            self.co_class_marginals_ = sum(r.together for r in records) / done
        else:
            self.edge_marginals_, self.co_class_marginals_ = self._weighted(first, weight)
        self._name_roles()
        self._warn()

    def _weighted(self, first: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = self._draws.classes[first]
        together = np.einsum("s,sij->ij", weight, (z[:, :, None] == z[:, None, :]).astype(float))
        return np.einsum("s,sij->ij", weight, self._adjacencies(first).astype(float)), together

    def _name_roles(self) -> None:
        draws = self._draws
        roles = consensus(self.co_class_marginals_, draws.classes)
        if self.prior == "ordered":  # numbered by their mean place in the order
            mean = [draws.ranks[:, roles == k].mean() for k in range(roles.max() + 1)]
            roles = np.argsort(np.argsort(mean))[roles]
        self.roles_ = roles
        edges, full = role_counts(draws, roles, int(roles.max()) + 1)
        beta = np.maximum(draws.hyper[:, 1:3], 1e-3)
        self.template_ = template(edges, full, beta, np.random.default_rng(0))

    def _warn(self) -> None:
        gap = float(self.edge_gap_.max(initial=0.0))
        if self.n_chains > 1 and gap > APART:
            i, j = np.unravel_index(int(self.edge_gap_.argmax()), self.edge_gap_.shape)
            names = self._columns.schema.names
            warnings.warn(
                f"Chains disagree: the edge {names[i]} -> {names[j]} differs by {gap:.2f}. Let "
                "n_iter be larger, call run(), or set n_temperatures.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _encode(self, X: Any) -> Encoded:
        readable = not hasattr(X, "columns") or _get_feature_names(X) is not None
        if not isinstance(X, list) and (readable or not self._columns.schema.named):
            _check_feature_names(self, X, reset=False)
        return encode(self._columns.schema, X, learn=False, who=type(self).__name__)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column, and its transform, as decided in `fit`."""
        check_is_fitted(self)
        return self._columns.schema.requests()

    @property
    def discretised_(self) -> dict[str, np.ndarray]:
        """Where the columns that were discretised are cut."""
        check_is_fitted(self)
        names = self._columns.schema.names
        return {names[j]: edges for j, edges in self._columns.edges.items()}


def _read_interventions(mask: Any, shape: tuple[int, int]) -> np.ndarray | None:
    if mask is None:
        return None
    mask = np.asarray(mask)
    if mask.shape != shape or mask.dtype != bool:
        raise ValueError(f"interventions must be an array of bool of shape {shape}")
    return mask if mask.any() else None
