"""What networks share whose graphs may have cycles: from a table to a fitted state.

`BlockmodelMarkovNet` and `BlockmodelDynamicNet` have the same parameters. Missing cells are drawn
with the graph, as in other networks (`learning.completion`).
"""

from __future__ import annotations

import time
from functools import update_wrapper
from inspect import unwrap
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from infinimix.estimators.common.fitted import accept_tables, check_names
from infinimix.estimators.common.parameters import Columns, Rule, Seed, seed_sequence
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.engine.unconstrained import bound_parents, unconstrained_layout
from infinimix.networks.graph_net import GraphNet
from infinimix.networks.learning.agreement import run_as_asked
from infinimix.networks.learning.columns import NetworkColumns, check_codes, read_columns
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
from infinimix.networks.learning.timing import Budget
from infinimix.networks.learning.unconstrained_chains import (
    UnconstrainedChain,
    UnconstrainedProblem,
)
from infinimix.tables import EncodedTable, encode


class UnconstrainedNet(GraphNet):
    """A graph that may have cycles, with roles, learned from rows."""

    _rules: ClassVar[dict[str, Rule]] = UNCONSTRAINED_RULES
    _state: NetworkState | None = None

    def __init__(
        self,
        prior: str = "blockmodel",
        alpha: float | str = 0.5,
        beta: tuple[float, float] | str = (1.0, 1.0),
        gamma: float | str = "auto",
        n_chains: int = 4,
        n_iter: int | str = 2000,
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
        verbose: bool = False,
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
        self.verbose = verbose
        self.random_state = random_state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give each class an `__init__` of its own, so that a wrong parameter names that class."""
        super().__init_subclass__(**kwargs)
        made: Any = UnconstrainedNet.__init__
        if unwrap(cls.__init__) is not made:
            return  # it has parameters of its own, or inherits them
        own: Any = FunctionType(made.__code__, made.__globals__, "__init__", made.__defaults__)
        update_wrapper(own, made)
        own.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = own  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        return accept_tables(super().__sklearn_tags__(), missing=True)

    def _check_parameters(self) -> None:
        check_unconstrained_parameters(self)

    def _read(self, X: Any) -> tuple[NetworkColumns, np.ndarray, np.ndarray]:
        """Check the parameters, and return what the columns are, their codes, and the holes."""
        self._check_parameters()
        who = type(self).__name__
        columns, encoded = read_columns(X, self.columns, self.likelihood, int(self.n_bins), who)
        codes, missing = columns.codes(encoded)
        check_codes(columns, missing, True, who)
        if self.n_temperatures > 1 and missing.any():
            raise ValueError("n_temperatures above 1 needs a table without missing cells.")
        return columns, codes, missing

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        return read_unconstrained_knowledge(
            names, self.required, self.forbidden, self.edge_log_odds, self.known_roles,
            self._shape == UNDIRECTED,
        )  # fmt: skip

    def _learn(
        self, columns: NetworkColumns, X: np.ndarray, cards: np.ndarray | None,
        seconds: float | None = None, **given: Any,
    ) -> None:  # fmt: skip
        """Run the chains on rows X, and set the fitted state; `given` goes to the problem."""
        start = time.monotonic()
        problem = self._make_problem(columns, X, cards, given)
        if seconds is not None:
            problem.budget = Budget(start + seconds, int(self.n_chains), self.n_jobs)
        seeds = seed_sequence(self.random_state).spawn(int(self.n_chains))
        chains = [UnconstrainedChain(problem, seed, apart=k > 0) for k, seed in enumerate(seeds)]
        ran = run_as_asked(self, chains, start, seconds)
        self._state = self._found(columns, *ran, problem.skip, stacklevel=6)

    def _make_problem(
        self, columns: NetworkColumns, X: np.ndarray, cards: np.ndarray | None,
        given: dict[str, Any],
    ) -> UnconstrainedProblem:  # fmt: skip
        """Return what parameters, rows, knowledge and what else is given come to."""
        names, undirected = columns.schema.names, self._shape == UNDIRECTED
        known = self._knowledge(names)
        allowed = known.bonus > -np.inf
        required = np.where(known.bonus == np.inf, np.inf, 0.0)
        if undirected:
            allowed, required = allowed & allowed.T, np.maximum(required, required.T)
        most = self.max_parents or bound_parents(len(names), len(X), cards)
        check_room(names, required, int(most), None if cards is None else cards[: len(names)])
        layout = unconstrained_layout(allowed, self._shape, int(most))
        given = {"missing": np.zeros(X.shape, bool)} | given
        return UnconstrainedProblem(
            X=X, cards=cards, layout=layout, powers=ladder(self.n_temperatures),
            shape=self._shape, **read_settings(self, columns, known), **given,
        )  # fmt: skip

    def _encode(self, X: Any) -> EncodedTable:
        schema = self._fitted.columns.schema
        check_names(self, X, schema)
        return encode(schema, X, learn=False, who=type(self).__name__)
