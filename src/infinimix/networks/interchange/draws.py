"""The kept states of the chains of a network, for ArviZ."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.common.inference_data import even_chains, to_inference_data
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import ALPHA, B1, B2, RECORDED_GAMMA
from infinimix.networks.learning.posterior import relabel

HYPER = {"alpha": ALPHA, "beta_edge": B1, "beta_gap": B2, "gamma": RECORDED_GAMMA}


def to_arviz(state: NetworkState) -> Any:
    """Return edges, roles and learned hyper-parameters of each kept state, and its log joint."""
    draws = state.draws
    A, z = to_adjacency(draws.graphs), relabel(draws.classes)
    found = {
        "edge": A.astype(np.int8), "n_edges": A.sum(axis=(1, 2), dtype=np.int64),
        "role": z, "n_roles": z.max(axis=1) + 1,
    }  # fmt: skip
    if np.array_equal(A, A.swapaxes(1, 2)):  # undirected edges are there twice
        found["n_edges"] //= 2
    for name, column in HYPER.items():
        values = draws.hyper[:, column]
        if (values != values[0]).any():  # it is learned
            found[name] = values
    names = state.names
    return to_inference_data(
        {name: even_chains(values, draws.chain) for name, values in found.items()},
        {"lp": even_chains(draws.log_joint, draws.chain)},
        {"edge": ("source", "target"), "role": ("variable",)},
        dict.fromkeys(("source", "target", "variable"), names),
    )


def several_to_arviz(state: Any) -> Any:
    """Return the edges of each network and the roles of all variables, in each kept state."""
    found: dict[str, Any] = {}
    axes: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    z, chain, variables = relabel(state.classes), state.draws[0].chain, []
    for table, model in state.networks.items():
        own = model._fitted
        A, ends = to_adjacency(own.draws.graphs), (f"source_{table}", f"target_{table}")
        found |= {f"edge_{table}": A.astype(np.int8), f"n_edges_{table}": A.sum(axis=(1, 2))}
        axes[f"edge_{table}"], coords = ends, coords | dict.fromkeys(ends, own.names)
        variables += [f"{table}: {name}" for name in own.names]
    found |= {"role": z, "n_roles": z.max(axis=1) + 1}
    return to_inference_data(
        {name: even_chains(values, chain) for name, values in found.items()},
        {"lp": even_chains(state.log_joint, chain)},
        {**axes, "role": ("variable",)},
        {**coords, "variable": variables},
    )
