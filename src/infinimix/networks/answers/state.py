"""What a fit has found: the kept states of the chains, and what these come to together.

A fitted model has one such object, which `fit` makes and assigns at its end. `to_tree` writes it as
arrays and plain values, and `from_tree` checks all that it reads: what loads can be asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from infinimix.artifacts.expectations import Expected
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.tree_checks import (
    check_acyclic,
    check_completed,
    check_draws,
    check_found,
    check_undirected,
    columns_from_tree,
    columns_to_tree,
)
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.engine.candidates import ALL
from infinimix.networks.engine.chain import Record
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import RECORDED_BETA, RECORDED_GAMMA
from infinimix.networks.engine.scores import GAMMA, set_logs
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.posterior import Draws
from infinimix.networks.learning.problem import Problem, make_data
from infinimix.networks.learning.summary import find_template, number_by_rank, summarise

MOST_NETWORKS = 300  # that predictions are averaged over
MOST_SHARED = 4096  # roles of another model that a file may speak of, if no parameter does
FOUND = ("edge_marginals", "co_class_marginals", "roles", "edge_gap", "rhat", "ess")


@dataclass(frozen=True)
class NetworkState:
    """What is known of one graph, of any shape."""

    columns: NetworkColumns
    draws: Draws
    places: np.ndarray  # where each distinct state is first among the draws, the heaviest first
    weights: np.ndarray  # of the distinct states
    edge_marginals: np.ndarray
    co_class_marginals: np.ndarray
    roles: np.ndarray
    edge_gap: np.ndarray
    rhat: np.ndarray
    ess: np.ndarray
    template: dict[str, np.ndarray]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns.schema.names)

    @property
    def best(self) -> int:
        """Where the kept state with the highest log joint is."""
        return int(self.draws.log_joint.argmax())

    def adjacencies(self, places: Any) -> np.ndarray:
        """Return the graphs of kept states, (states, N, N)."""
        return to_adjacency(self.draws.graphs[places])

    def describe(self, place: int) -> dict[str, Any]:
        """Return a kept state as users see it."""
        return {
            "adjacency": self.adjacencies([place])[0],
            "classes": self.draws.classes[place].astype(np.int64),
            "log_joint": float(self.draws.log_joint[place]),
        }

    def distinct(self) -> Iterator[dict[str, Any]]:
        """Yield the distinct states with their weights."""
        for place, weight in zip(self.places, self.weights, strict=True):
            yield {"weight": float(weight), **self.describe(int(place))}

    def graph(self, threshold: float | None) -> np.ndarray:
        """Return the best graph, or that of all edges at least as probable."""
        if threshold is None:
            return np.asarray(self.adjacencies([self.best])[0])
        return (self.edge_marginals >= threshold).astype(np.uint8)

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        return {
            **columns_to_tree(self.columns),
            "draws": dict(self.draws._asdict()),
            "places": self.places,
            "weights": self.weights,
            "template": dict(self.template),
            "found": {f"{name}_": getattr(self, name) for name in FOUND},
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> NetworkState:
        """Return the state that `to_tree` wrote; ValueError if its parts do not fit together."""
        state = cls(**_parts(tree))
        if model._shape == UNDIRECTED:
            check_undirected(state.draws)
        return state


def _parts(tree: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `NetworkState`, checked."""
    columns, draws = columns_from_tree(tree), Draws(**tree["draws"])
    found = {name: np.asarray(tree["found"][f"{name}_"]) for name in FOUND}
    places, weights, N = tree["places"], tree["weights"], columns.schema.width
    check_draws(draws, places, weights, N)
    check_found(found, tree["template"], N)
    return {
        "columns": columns, "draws": draws, "places": places, "weights": weights,
        "template": tree["template"], **found,
    }  # fmt: skip


@dataclass(frozen=True)
class BayesNetState(NetworkState):
    """What is known of a Bayesian network, which can be asked about rows too."""

    completed: list[np.ndarray]  # the rows; completed by each chain, if cells were missing
    skip: np.ndarray | None  # cells that were set from outside
    outside_mass: np.ndarray
    bdeu: bool
    n_shared: int  # roles that came from another model
    chains: list[Any] | None = field(default=None, repr=False)  # in this process alone

    @classmethod
    def found(
        cls, model: Any, columns: NetworkColumns, chains: list[GraphChain],
        records: list[Record], skip: np.ndarray | None,
    ) -> BayesNetState:  # fmt: skip
        """Return what a model has found by its chains, from what they have seen."""
        found = summarise(records, model.averaging, int(model.n_best))
        draws, N = found["draws"], columns.schema.width
        if model.prior == "ordered":
            found["roles"] = number_by_rank(found["roles"], draws)
        beta = np.maximum(draws.hyper[:, RECORDED_BETA], 1e-3)
        missing = bool(chains[0].problem.missing.any())
        return cls(
            columns=columns,
            template=find_template([draws], found["roles"], beta),
            completed=[chain.X.copy() for chain in (chains if missing else chains[:1])],
            skip=skip,
            outside_mass=chains[0].outside_mass() if N > ALL else np.zeros(N),
            bdeu=bool(model.bdeu),
            n_shared=_n_shared(model),
            chains=chains,
            **found,
        )

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v for k, v in self.__dict__.items() if k != "mixture"}
        return kept | {"chains": None}

    def data(self, k: int) -> Any:
        """Return completed rows as scores read them, with the mean of gamma."""
        X = self.completed[k]
        problem = Problem(
            X, np.zeros(X.shape, bool), self.columns.cards, None, bdeu=self.bdeu, skip=self.skip
        )
        data = make_data(problem, X)
        data.settings[GAMMA] = float(np.mean(self.draws.hyper[:, RECORDED_GAMMA]))
        set_logs(data)
        return data

    @cached_property
    def mixture(self) -> Mixture:
        """The networks that predictions are averaged over."""
        places, weights = self.places, self.weights
        if len(places) > MOST_NETWORKS:
            step = np.linspace(0, len(places) - 1, MOST_NETWORKS).astype(int)
            equal = weights.max() < 2.5 * weights.min()
            pick = step if equal else np.argsort(-weights)[:MOST_NETWORKS]
            places, weights = places[pick], weights[pick]
        chain = self.draws.chain[places] if len(self.completed) > 1 else 0 * places
        data = [self.data(k) for k in range(len(self.completed))]
        return Mixture(self.adjacencies(places), weights, chain, data, self.completed)

    @property
    def best_mixture(self) -> Mixture:
        """The best network alone."""
        k = int(self.draws.chain[self.best]) if len(self.completed) > 1 else 0
        graph = self.adjacencies([self.best])
        return Mixture(graph, np.ones(1), np.zeros(1, int), [self.data(k)], [self.completed[k]])

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        tree = super().to_tree()
        tree["found"]["outside_mass_"] = self.outside_mass
        own = {"bdeu": self.bdeu, "n_shared": self.n_shared}
        return {**tree, **own, "completed": list(self.completed), "skip": self.skip}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> BayesNetState:
        """Return the state that `to_tree` wrote; ValueError if its parts do not fit together."""
        state = cls(
            **_parts(tree), completed=tree["completed"], skip=tree["skip"],
            outside_mass=np.asarray(tree["found"]["outside_mass_"]),
            bdeu=bool(tree.get("bdeu", model.bdeu)),  # older files have the parameters only
            n_shared=tree.get("n_shared", _n_shared(model)),
        )  # fmt: skip
        Expected("N", low=0.0).check("outside_mass_", state.outside_mass, {"N": len(state.names)})
        Expected("", "i8", low=0, high=max(MOST_SHARED, _n_shared(model))).check(
            "n_shared", state.n_shared, {}
        )
        check_completed(state.columns, state.completed, state.skip, state.draws.chain)
        check_acyclic(state.draws, state.columns.cards)
        return state


def _n_shared(model: Any) -> int:
    """Return how many roles a model takes from another."""
    return 0 if model.shared_roles is None else len(model.shared_roles["sizes"])
