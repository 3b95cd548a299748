"""What fitted models of any kind of graph show, and what those without acyclicity share.

`GraphNet` is the base of all models of one graph. `UnconstrainedNet` goes from a table to a fitted
state for `BlockmodelMarkovNet` and `BlockmodelDynamicNet`, which have the same parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from infinimix.estimators.common.fitted import accept_tables, feature_names
from infinimix.estimators.common.parameters import Columns, Rule, Seed, seed_sequence
from infinimix.networks.answers.asking import edge_frame
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.engine.hyper import RECORDED_BETA
from infinimix.networks.engine.unconstrained import bound_parents, unconstrained_layout
from infinimix.networks.interchange.conversion import to_networkx
from infinimix.networks.interchange.draws import to_arviz
from infinimix.networks.learning.columns import NetworkColumns, read_columns
from infinimix.networks.learning.knowledge import (
    Knowledge,
    check_room,
    read_unconstrained_knowledge,
)
from infinimix.networks.learning.parameters import (
    UNCONSTRAINED_RULES,
    check_unconstrained_parameters,
)
from infinimix.networks.learning.problem import ladder, read_settings
from infinimix.networks.learning.progress import run_chains
from infinimix.networks.learning.summary import find_template, summarise, warn_if_apart
from infinimix.networks.learning.unconstrained_chains import (
    UnconstrainedChain,
    UnconstrainedProblem,
)
from infinimix.scikit import BaseEstimator, check_is_fitted

if TYPE_CHECKING:
    import pandas as pd


class GraphNet(BaseEstimator):
    """A model with a `NetworkState`, where its fitted attributes are read."""

    _state: Any = None  # a NetworkState, once it is fitted

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows: the parameters and, once it is fitted, the network."""
        return str(super()._repr_html_inner()) + self._network_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += self._network_html()
        return shown

    def _network_html(self) -> str:
        if self._state is None:
            return ""
        from infinimix.networks.interchange.displays import network_html  # matplotlib: slow

        P = self.edge_marginals_
        return network_html(self._state, "--" if np.array_equal(P, P.T) else "->")

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        """Return what the parameters say of columns; ValueError if that cannot be."""
        raise NotImplementedError

    @property
    def _fitted(self) -> Any:
        """The state; NotFittedError if there is none."""
        check_is_fitted(self)
        return self._state

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._fitted.columns.schema.inputs)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        schema = self._fitted.columns.schema
        return feature_names(schema.inputs if schema.named else None)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column, and its transform, as decided in `fit`."""
        return dict(self._fitted.columns.schema.requests())

    @property
    def discretised_(self) -> dict[str, np.ndarray]:
        """Where the columns that were discretised are cut."""
        columns = self._fitted.columns
        return {columns.schema.names[j]: edges for j, edges in columns.edges.items()}

    @property
    def edge_marginals_(self) -> np.ndarray:
        """The probability of each edge."""
        return np.asarray(self._fitted.edge_marginals)

    @property
    def co_class_marginals_(self) -> np.ndarray:
        """The probability that two variables have one role."""
        return np.asarray(self._fitted.co_class_marginals)

    @property
    def roles_(self) -> np.ndarray:
        """Consensus classes."""
        return np.asarray(self._fitted.roles)

    @property
    def template_(self) -> dict[str, np.ndarray]:
        """The probability of edges from role to role."""
        return dict(self._fitted.template)

    @property
    def edge_gap_(self) -> np.ndarray:
        """The largest difference between two chains, for each edge."""
        return np.asarray(self._fitted.edge_gap)

    @property
    def rhat_(self) -> np.ndarray:
        """Split R-hat of each edge."""
        return np.asarray(self._fitted.rhat)

    @property
    def ess_(self) -> np.ndarray:
        """The effective sample size of each edge."""
        return np.asarray(self._fitted.ess)

    @property
    def states_(self) -> list[dict[str, Any]]:
        """Distinct states, the heaviest first."""
        return list(self._fitted.distinct())

    def edge_table(self, threshold: float = 0.0) -> pd.DataFrame:
        """Return the edges by name as a pandas DataFrame, the most probable first.

        Parameters
        ----------
        threshold : float
            Leave out edges that are less probable.

        Returns
        -------
        DataFrame
            from, to, probability, reverse (the probability of the other direction), and the
            diagnostics gap, rhat and ess.
        """
        P = self.edge_marginals_
        return edge_frame(self._fitted, threshold, bool(np.array_equal(P, P.T)))

    def to_arviz(self) -> Any:
        """Return the kept states of the chains in the form of ArviZ (`infinimix[arviz]`).

        An `InferenceData`, from ArviZ 1.0 on a `DataTree`: its posterior has `edge` (source,
        target), `role` (variable), `n_edges`, `n_roles` and the hyper-parameters that are learned;
        `sample_stats` the unnormalised log joint `lp`. Chains of different lengths give the last
        states of each. The numbers of roles differ from state to state.
        """
        return to_arviz(self._fitted)

    @property
    def best_state_(self) -> dict[str, Any]:
        """The state with the highest log joint among those that were kept."""
        return dict(self._fitted.describe(self._fitted.best))


class UnconstrainedNet(GraphNet):
    """A graph that may have cycles, with roles, learned from rows."""

    State = NetworkState
    _rules: ClassVar[dict[str, Rule]] = UNCONSTRAINED_RULES
    _shape: int
    _state: NetworkState | None = None

    def __init__(
        self,
        prior: str = "blockmodel",
        alpha: float | str = 0.5,
        beta: tuple[float, float] | str = (1.0, 1.0),
        gamma: float | str = 0.5,
        n_chains: int = 4,
        n_iter: int = 2000,
        burn_in: int | None = None,
        columns: Columns = "auto",
        likelihood: str = "auto",
        n_bins: int = 3,
        required: Any = None,
        forbidden: Any = None,
        edge_log_odds: Any = None,
        known_roles: Any = None,
        max_parents: int | None = None,
        n_temperatures: int = 1,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_chains = n_chains
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.columns = columns
        self.likelihood = likelihood
        self.n_bins = n_bins
        self.required = required
        self.forbidden = forbidden
        self.edge_log_odds = edge_log_odds
        self.known_roles = known_roles
        self.max_parents = max_parents
        self.n_temperatures = n_temperatures
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        return accept_tables(super().__sklearn_tags__(), missing=False)

    def _check_parameters(self) -> None:
        check_unconstrained_parameters(self)

    def _read(self, X: Any) -> tuple[NetworkColumns, np.ndarray]:
        """Check the parameters, and return what the columns are and their codes."""
        self._check_parameters()
        who = type(self).__name__
        columns, encoded = read_columns(X, self.columns, self.likelihood, int(self.n_bins), who)
        codes, missing = columns.codes(encoded)
        if missing.any():
            row, j = np.argwhere(missing)[0]
            raise ValueError(
                f"{who} takes no missing cells (NaN, None): column {columns.schema.names[j]!r} has "
                f"one in row {row}. CRPImputer fills them."
            )
        return columns, codes

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        return read_unconstrained_knowledge(
            names, self.required, self.forbidden, self.edge_log_odds, self.known_roles,
            self._shape == UNDIRECTED,
        )  # fmt: skip

    def _learn(self, columns: NetworkColumns, rows: np.ndarray, cards: np.ndarray | None) -> None:
        """Run the chains on rows, and set the fitted state."""
        problem = self._make_problem(columns, rows, cards)
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains))
        chains = [UnconstrainedChain(problem, seed, apart=k > 0) for k, seed in enumerate(seeds)]
        found = summarise(run_chains(self, chains, shown=False)[1])
        undirected = self._shape == UNDIRECTED
        beta = found["draws"].hyper[:, RECORDED_BETA]
        template = find_template([found["draws"]], found["roles"], beta, undirected)
        state = NetworkState(columns=columns, template=template, **found)
        link, advice = "--" if undirected else "->", "Let n_iter be larger, or set n_temperatures."
        warn_if_apart(state.edge_gap, state.names, link, advice, stacklevel=4)
        self._state = state

    def _make_problem(
        self, columns: NetworkColumns, rows: np.ndarray, cards: np.ndarray | None
    ) -> UnconstrainedProblem:
        """Return what parameters, rows and knowledge come to."""
        names, undirected = columns.schema.names, self._shape == UNDIRECTED
        known = self._knowledge(names)
        allowed = known.bonus > -np.inf
        required = np.where(known.bonus == np.inf, np.inf, 0.0)
        if undirected:
            allowed, required = allowed & allowed.T, np.maximum(required, required.T)
        most = self.max_parents or bound_parents(len(names), len(rows), cards)
        check_room(names, required, int(most), None if cards is None else cards[: len(names)])
        layout = unconstrained_layout(allowed, self._shape, int(most))
        return UnconstrainedProblem(
            rows, np.zeros(rows.shape, bool), cards, layout,
            powers=ladder(self.n_temperatures), shape=self._shape,
            **read_settings(self, columns, known),
        )  # fmt: skip

    def to_networkx(self, threshold: float | None = None) -> Any:
        """Return a graph of networkx: the best state, or all edges at least as probable.

        Nodes have a role and edges a probability.

        Parameters
        ----------
        threshold : float, optional
            All edges that are at least as probable; by default those of the best state.
        """
        state = self._fitted
        return to_networkx(state, state.graph(threshold), self._shape != UNDIRECTED)
