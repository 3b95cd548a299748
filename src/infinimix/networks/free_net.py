"""What `BlockmodelMarkovNet` and `BlockmodelDynamicNet` share: from a table to marginals."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from infinimix import execution
from infinimix.estimators.parameters import Rule, seed_sequence
from infinimix.networks.columns import Columns, read_columns
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.engine.free_graphs import bound_parents, free_layout
from infinimix.networks.free_chains import FreeChain, FreeProblem
from infinimix.networks.knowledge import read_free_knowledge
from infinimix.networks.parameters import FREE_RULES, check_free_parameters
from infinimix.networks.posterior import (
    consensus,
    distinct_states,
    edge_gap,
    gather,
    pool_counts,
    rhat_and_ess,
    template,
)
from infinimix.networks.states import States

APART = 0.2  # chains that differ by more on some edge are warned of


class FreeNet(States, BaseEstimator):
    """A graph that may have circles, with roles, learned from rows."""

    _rules: ClassVar[dict[str, Rule]] = FREE_RULES
    _shape: int

    def __init__(
        self,
        prior: str = "blockmodel",
        alpha: Any = 0.5,
        beta: Any = (1.0, 1.0),
        gamma: Any = 0.5,
        n_chains: int = 4,
        n_iter: int = 2000,
        burn_in: int | None = None,
        columns: Any = "auto",
        likelihood: str = "auto",
        n_bins: int = 3,
        required: Any = None,
        forbidden: Any = None,
        edge_log_odds: Any = None,
        known_roles: Any = None,
        max_parents: int | None = None,
        n_temperatures: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_draws")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any) -> tuple[Columns, np.ndarray]:
        """Check the parameters, and return what the columns are and their codes."""
        check_free_parameters(self)
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

    def _learn(self, columns: Columns, rows: np.ndarray, cards: np.ndarray | None) -> None:
        """Run the chains on rows, and set the fitted attributes."""
        names = columns.schema.names
        known = read_free_knowledge(
            names, self.required, self.forbidden, self.edge_log_odds, self.known_roles,
            self._shape == UNDIRECTED,
        )  # fmt: skip
        allowed = known.bonus > -np.inf
        if self._shape == UNDIRECTED:
            allowed = allowed & allowed.T
        most = self.max_parents or bound_parents(len(names), len(rows), cards)
        learn = [isinstance(v, str) for v in (self.alpha, self.beta, self.gamma)]
        problem = FreeProblem(
            rows, np.zeros(rows.shape, bool), cards,
            free_layout(allowed, self._shape, int(most)), prior=self.prior,
            alpha=0.5 if learn[0] else float(self.alpha),
            beta=(1.0, 1.0) if learn[1] else (float(self.beta[0]), float(self.beta[1])),
            gamma=0.5 if learn[2] else float(self.gamma),
            learn=(learn[0], learn[1], learn[2] and not columns.gaussian),
            bonus=known.bonus, anchor=known.anchor, roles=known.held,
            powers=tuple(0.6 ** np.arange(self.n_temperatures)), n_iter=int(self.n_iter),
            burn_in=int(self.n_iter) // 2 if self.burn_in is None else int(self.burn_in),
            shape=self._shape,
        )  # fmt: skip
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains))
        chains = [FreeChain(problem, seed, apart=k > 0) for k, seed in enumerate(seeds)]
        records = execution.map(FreeChain.run, chains, n_jobs=self.n_jobs)
        self._columns = columns
        self.n_features_in_ = columns.schema.width
        self.__dict__.pop("feature_names_in_", None)
        if columns.schema.named:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._sum_up(records)

    def _sum_up(self, records: list[Any]) -> None:
        self._draws = draws = gather(records)
        done = sum(r.tally[0] for r in records)
        self.edge_marginals_ = sum(r.edges for r in records) / done
        self.co_class_marginals_ = sum(r.together for r in records) / done
        self.edge_gap_ = edge_gap(records)
        self.rhat_, self.ess_ = rhat_and_ess(draws)
        self._places, self._weights = distinct_states(draws, "mcmc", 0)
        self.roles_ = consensus(self.co_class_marginals_, draws.classes)
        rng = np.random.default_rng(0)
        undirected = self._shape == UNDIRECTED
        counts = pool_counts([draws], self.roles_)
        self.template_ = template(*counts, draws.hyper[:, 1:3], rng, undirected)
        self._warn("--" if undirected else "->")

    def _warn(self, link: str) -> None:
        gap = float(self.edge_gap_.max(initial=0.0))
        if gap > APART:
            i, j = np.unravel_index(int(self.edge_gap_.argmax()), self.edge_gap_.shape)
            names = self._columns.schema.names
            warnings.warn(
                f"Chains disagree: the edge {names[i]} {link} {names[j]} differs by {gap:.2f}. Let "
                "n_iter be larger, or set n_temperatures.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def to_networkx(self, threshold: float | None = None) -> Any:
        """Return a graph of networkx: the best state, or all edges at least as probable.

        Nodes have a role and edges a probability.
        """
        from infinimix.networks.conversion import to_networkx

        return to_networkx(self, self._answer_graph(threshold), self._shape != UNDIRECTED)

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
