"""What `BlockmodelMarkovNet` and `BlockmodelDynamicNet` share: from a table to marginals."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from infinimix import execution
from infinimix.estimators.parameters import Rule, seed_sequence
from infinimix.networks.answers.states import States
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.engine.chain import Record
from infinimix.networks.engine.unconstrained import bound_parents, free_layout
from infinimix.networks.learning.columns import Columns, read_columns
from infinimix.networks.learning.knowledge import check_room, read_free_knowledge
from infinimix.networks.learning.parameters import FREE_RULES, check_free_parameters
from infinimix.networks.learning.problem import ladder, read_settings
from infinimix.networks.learning.summary import find_template, sum_up, warn_if_apart
from infinimix.networks.learning.unconstrained_chains import FreeChain, FreeProblem
from infinimix.scikit import BaseEstimator


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
        required = np.where(known.bonus == np.inf, np.inf, 0.0)
        if self._shape == UNDIRECTED:
            required = np.maximum(required, required.T)
        check_room(names, required, int(most), None if cards is None else cards[: len(names)])
        problem = FreeProblem(
            rows, np.zeros(rows.shape, bool), cards, free_layout(allowed, self._shape, int(most)),
            powers=ladder(self.n_temperatures), shape=self._shape,
            **read_settings(self, columns, known),
        )  # fmt: skip
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains))
        chains = [FreeChain(problem, seed, apart=k > 0) for k, seed in enumerate(seeds)]
        records = execution.map(FreeChain.run, chains, n_jobs=self.n_jobs)
        self._columns = columns
        self._name_features(columns)
        self._sum_up(records)

    def _sum_up(self, records: list[Record]) -> None:
        """Set the fitted attributes from what the chains have seen."""
        sum_up(self, records)
        undirected = self._shape == UNDIRECTED
        beta = self._draws.hyper[:, 1:3]
        self.template_ = find_template([self._draws], self.roles_, beta, undirected)
        advice = "Let n_iter be larger, or set n_temperatures."
        warn_if_apart(self, "--" if undirected else "->", advice, stacklevel=5)

    def to_networkx(self, threshold: float | None = None) -> Any:
        """Return a graph of networkx: the best state, or all edges at least as probable.

        Nodes have a role and edges a probability.
        """
        from infinimix.networks.interchange.conversion import to_networkx

        return to_networkx(self, self._answer_graph(threshold), self._shape != UNDIRECTED)
