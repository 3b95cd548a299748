"""What chains have seen, summarised, and a warning where they disagree."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from infinimix.networks.engine.chain import Record
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.learning.posterior import (
    Draws,
    average,
    consensus,
    distinct_states,
    edge_gap,
    gather,
    pool_counts,
    rhat_and_ess,
    template,
)
from infinimix.scikit import ConvergenceWarning

APART = 0.2  # chains that differ by more on some edge are warned of


def summarise(
    records: list[Record], averaging: str = "mcmc", n_best: int = 0,
    negative: np.ndarray | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return kept and distinct states, marginals, diagnostics and roles, by their names."""
    draws = gather(records)._replace(negative=negative)
    rhat, ess = rhat_and_ess(draws)
    places, weights = distinct_states(draws, averaging, n_best)
    visited = averaging == "mcmc"
    edges, together = _visited(records) if visited else _weighted(draws, places, weights)
    return {
        "draws": draws, "places": places, "weights": weights,
        "edge_marginals": edges, "co_class_marginals": together,
        "roles": consensus(together, draws.classes),
        "edge_gap": edge_gap(records), "rhat": rhat, "ess": ess,
    }  # fmt: skip


def _visited(records: list[Record]) -> tuple[np.ndarray, np.ndarray]:
    """Return how often edges, and common classes, were seen in all sweeps."""
    done = sum(r.counters[SWEEPS] for r in records)
    return sum(r.edges for r in records) / done, sum(r.together for r in records) / done


def _weighted(
    draws: Draws, places: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of distinct states by their weights."""
    z, A = draws.classes[places], to_adjacency(draws.graphs[places])
    return average(weights, A), average(weights, z[:, :, None] == z[:, None, :])


def number_by_rank(roles: np.ndarray, draws: Draws) -> np.ndarray:
    """Return roles numbered by their mean place in the order."""
    mean = [draws.ranks[:, roles == k].mean() for k in range(roles.max() + 1)]
    return np.argsort(np.argsort(mean))[roles]


def find_template(
    draws: list[Draws], roles: np.ndarray, beta: np.ndarray, undirected: bool = False
) -> dict[str, np.ndarray]:
    """Return `template_` of one network, or of several that share roles."""
    edges, full = pool_counts(draws, roles)
    return template(edges, full, beta, np.random.default_rng(0), undirected)


def describe_roles(draws: list[Draws], classes: np.ndarray, place: int) -> dict[str, Any]:
    """Return the classes of all variables in one kept state, as `shared_roles` takes them."""
    z = np.unique(classes, return_inverse=True)[1]
    edges, pairs = pool_counts([d._replace(graphs=d.graphs[[place]]) for d in draws], z)
    return {
        "sizes": np.bincount(z).tolist(),
        "edges": edges[0].astype(int).tolist(),
        "pairs": pairs.astype(int).tolist(),
    }


def advise(n_iter: Any) -> str:
    """Return what to do where chains disagree."""
    if n_iter == "auto":
        return "Call run() with more seconds, or set n_temperatures=3."
    return (
        'Set n_iter="auto", which goes on until they agree, let n_iter be larger, call run(), or '
        "set n_temperatures=3."
    )


def warn_if_apart(
    gaps: np.ndarray, names: tuple[str, ...], link: str, advice: str, stacklevel: int
) -> None:
    """Warn of the edge on which chains differ most, if it is too much."""
    gap = float(gaps.max(initial=0.0))
    if gap > APART:
        i, j = np.unravel_index(int(gaps.argmax()), gaps.shape)
        warnings.warn(
            f"Chains disagree: the edge {names[i]} {link} {names[j]} differs by {gap:.2f}. "
            f"{advice}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
