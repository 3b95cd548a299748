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
from infinimix.networks.answers.averaging import best_mixture, make_mixture, make_rows
from infinimix.networks.answers.markov_joint import NormalMixture, joint_table
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.signed import signed_graphs
from infinimix.networks.answers.state_files import FOUND, check_parts, read_parts
from infinimix.networks.answers.tree_checks import columns_to_tree
from infinimix.networks.engine.blocks import ACYCLIC, UNDIRECTED
from infinimix.networks.engine.candidates import ALL
from infinimix.networks.engine.chain import Record
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import RECORDED_BETA
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.completed_tables import Completions, gather_completions
from infinimix.networks.learning.posterior import Draws
from infinimix.networks.learning.signed_chains import gather_signs, negative_marginals
from infinimix.networks.learning.summary import find_template, number_by_rank, summarise

MOST_SHARED = 4096  # roles of another model that a file may speak of, if no parameter does
COMPUTED = ("mixture", "joint", "normals", "map_network")  # when they are asked for


@dataclass(frozen=True, kw_only=True)
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
    shape: int = ACYCLIC
    completed: list[np.ndarray] = field(default_factory=list)  # the rows; if cells were missing,
    # as each chain has completed them last; of a dynamic network rows now and before
    skip: np.ndarray | None = None  # cells that were set from outside
    shared_by: int = 0
    completions: Completions | None = None  # if cells were missing
    negative_marginals: np.ndarray | None = None  # of negative effects, if effects have signs
    chains: list[Any] | None = field(default=None, repr=False)  # in this process alone

    @classmethod
    def found(
        cls, model: Any, columns: NetworkColumns, chains: list[GraphChain],
        records: list[Record], skip: np.ndarray | None,
    ) -> NetworkState:  # fmt: skip
        """Return what a model has found by its chains, from what they have seen."""
        return cls(**_found(model, columns, chains, records, skip))

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v for k, v in self.__dict__.items() if k not in COMPUTED}
        return kept | {"chains": None}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns.schema.names)

    @property
    def signed(self) -> bool:
        """Do effects have signs?"""
        return self.draws.negative is not None

    def positive_share(self, i: int, j: int) -> float:
        """Return the probability that the effect of i on j is positive, if there is one."""
        p = float(self.edge_marginals[i, j])
        if p == 0.0:
            return 0.5
        return max(1.0 - float(self.negative_marginals[i, j]) / p, 0.0)  # type: ignore[index]

    @property
    def best(self) -> int:
        """Where the kept state with the highest log joint is."""
        return int(self.draws.log_joint.argmax())

    def adjacencies(self, places: Any) -> np.ndarray:
        """Return the graphs of kept states, (states, N, N)."""
        return to_adjacency(self.draws.graphs[places])

    def describe(self, place: int) -> dict[str, Any]:
        """Return a kept state as users see it."""
        signs = {"signs": signed_graphs(self, [place])[0]} if self.signed else {}
        return {
            "adjacency": self.adjacencies([place])[0],
            **signs,
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

    def data(self, k: int) -> Any:
        """Return completed rows as scores read them, with the mean of gamma."""
        return make_rows(self, self._rows()[k])

    @cached_property
    def mixture(self) -> Mixture:
        """The networks that predictions are averaged over."""
        self._rows()
        return make_mixture(self)

    @cached_property
    def joint(self) -> np.ndarray:
        """Of an undirected graph of few categories: the probabilities of all possible rows."""
        return joint_table(self.mixture)

    @cached_property
    def normals(self) -> NormalMixture:
        """Of an undirected graph of numbers: the normal distributions of all graphs."""
        return NormalMixture(self.mixture)

    @property
    def best_mixture(self) -> Mixture:
        """The best network alone."""
        self._rows()
        return best_mixture(self)

    def _rows(self) -> list[np.ndarray]:
        if not self.completed:
            raise ValueError(
                "this model comes from a file of an older version, which has no rows: fit it again."
            )
        return self.completed

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        pairs = self.completions
        return {
            **columns_to_tree(self.columns),
            "draws": _given(self.draws),
            "places": self.places,
            "weights": self.weights,
            "template": dict(self.template),
            "found": {f"{name}_": getattr(self, name) for name in (*FOUND, *self._more_found)},
            "shared_by": self.shared_by,
            "completed": list(self.completed),
            "skip": self.skip,
            "completions": None if pairs is None else _given(pairs),
        }

    @property
    def _more_found(self) -> tuple[str, ...]:
        return ("negative_marginals",) if self.signed else ()

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> NetworkState:
        """Return the state that `to_tree` wrote; ValueError if its parts do not fit together."""
        state = cls(**read_parts(tree, model))
        check_parts(state)
        return state


def _given(parts: Any) -> dict[str, Any]:
    """Return the fields of a named tuple that are there."""
    return {name: part for name, part in parts._asdict().items() if part is not None}


def _found(
    model: Any, columns: NetworkColumns, chains: list[GraphChain], records: list[Record],
    skip: np.ndarray | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of a `NetworkState`."""
    averaging = getattr(model, "averaging", "mcmc")
    negative = gather_signs(chains)
    found = summarise(records, averaging, int(getattr(model, "n_best", 0)), negative)
    draws, shape = found["draws"], model._shape
    if negative is not None:
        found["negative_marginals"] = negative_marginals(found, chains, averaging == "mcmc")
    if model.prior == "ordered":
        found["roles"] = number_by_rank(found["roles"], draws)
    beta = np.maximum(draws.hyper[:, RECORDED_BETA], 1e-3)
    missing = bool(chains[0].problem.missing.any())
    return found | {
        "columns": columns,
        "template": find_template([draws], found["roles"], beta, shape == UNDIRECTED),
        "shape": shape,
        "completed": [chain.X.copy() for chain in (chains if missing else chains[:1])],
        "skip": skip,
        "shared_by": chains[0].problem.shared_by,
        "completions": gather_completions(chains) if averaging == "mcmc" else None,
        "chains": chains,
    }


@dataclass(frozen=True, kw_only=True)
class BayesNetState(NetworkState):
    """What is known of a Bayesian network, which can be asked about rows too."""

    outside_mass: np.ndarray
    n_shared: int  # roles that came from another model

    @classmethod
    def found(
        cls, model: Any, columns: NetworkColumns, chains: list[GraphChain],
        records: list[Record], skip: np.ndarray | None,
    ) -> BayesNetState:  # fmt: skip
        """Return what a model has found by its chains, from what they have seen."""
        N = columns.schema.width
        return cls(
            outside_mass=chains[0].outside_mass() if N > ALL else np.zeros(N),
            n_shared=_n_shared(model),
            **_found(model, columns, chains, records, skip),
        )

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        tree = super().to_tree()
        tree["found"]["outside_mass_"] = self.outside_mass
        return {**tree, "n_shared": self.n_shared}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: Any) -> BayesNetState:
        """Return the state that `to_tree` wrote; ValueError if its parts do not fit together."""
        state = cls(
            **read_parts(tree, model),
            outside_mass=np.asarray(tree["found"]["outside_mass_"]),
            n_shared=tree.get("n_shared", _n_shared(model)),
        )
        Expected("N", low=0.0).check("outside_mass_", state.outside_mass, {"N": len(state.names)})
        Expected("", "i8", low=0, high=max(MOST_SHARED, _n_shared(model))).check(
            "n_shared", state.n_shared, {}
        )
        check_parts(state)
        return state


def _n_shared(model: Any) -> int:
    """Return how many roles a model takes from another."""
    return 0 if model.shared_roles is None else len(model.shared_roles["sizes"])
