"""A Bayesian network of real columns with known parameters: each is linear in its parents.

    x_j = intercept_j + sum_i coefficient_ji x_i + noise_j,  noise_j ~ N(0, variance_j)

`to_json` writes it as text that any language reads; `to_pgmpy` makes pgmpy's own class.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import Seed
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.interchange.conversion import graph_to_dot, need
from infinimix.networks.interchange.network import adjacency_of
from infinimix.networks.learning.parameters import read_count

FORMAT = "infinimix linear Gaussian network 1"


@dataclass(frozen=True)
class LinearGaussianNet:
    """A network of real variables, each with a mean that is linear in its parents.

    Attributes
    ----------
    names : tuple of str
        The variables.
    parents : tuple of tuple of int
        The parents of each, as positions in `names`.
    intercepts : array (N,)
        The mean of each where its parents are 0.
    coefficients : tuple of arrays
        For each variable the coefficients of its parents, in their order.
    variances : array (N,)
        The variance of each, given its parents.

    Examples
    --------
    >>> net = LinearGaussianNet(
    ...     ("rain", "river"), ((), (0,)), np.array([3.0, 1.0]),
    ...     (np.zeros(0), np.array([0.5])), np.array([1.0, 0.25]),
    ... )
    >>> mean, covariance = net.moments()
    >>> mean.tolist(), covariance.tolist()
    ([3.0, 2.5], [[1.0, 0.5], [0.5, 0.5]])
    >>> LinearGaussianNet.from_json(net.to_json()).names
    ('rain', 'river')
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    intercepts: np.ndarray
    coefficients: tuple[np.ndarray, ...]
    variances: np.ndarray

    @property
    def adjacency(self) -> np.ndarray:
        """A[i, j] = 1 where i is a parent of j."""
        return adjacency_of(self.parents)

    def check(self) -> LinearGaussianNet:
        """Return the network; ValueError if its parts do not fit together."""
        N = len(self.names)
        if any(len(part) != N for part in (self.parents, self.coefficients)) or any(
            part.shape != (N,) for part in (self.intercepts, self.variances)
        ):
            raise ValueError(f"every one of the {N} variables needs parents and parameters")
        if len(set(self.names)) < N:
            raise ValueError("two variables have one name")
        for name, parents, b in zip(self.names, self.parents, self.coefficients, strict=True):
            if len(set(parents)) < len(parents) or any(not 0 <= p < N for p in parents):
                raise ValueError(f"{name!r} has parents that there are not, or one twice")
            if b.shape != (len(parents),):
                raise ValueError(f"{name!r} has {len(parents)} parents and {b.size} coefficients")
        numbers = np.concatenate([self.intercepts, self.variances, *self.coefficients])
        if not np.isfinite(numbers).all() or (self.variances <= 0.0).any():
            raise ValueError("parameters must be finite, and variances above 0")
        topological_order(self.adjacency)
        return self

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of the variables and their covariance matrix."""
        N = len(self.names)
        mean, cov = np.zeros(N), np.zeros((N, N))
        for j in topological_order(self.adjacency):
            parents, b = list(self.parents[j]), self.coefficients[j]
            mean[j] = self.intercepts[j] + mean[parents] @ b
            cov[j] = cov[:, j] = cov[:, parents] @ b
            cov[j, j] = self.variances[j] + b @ cov[np.ix_(parents, parents)] @ b
        return mean, cov

    def sample(self, n: int, random_state: Seed = None) -> np.ndarray:
        """Return n rows, (n, N).

        Parameters
        ----------
        n : int
            Rows.
        random_state : int, Generator or None
            Where draws come from.
        """
        n, rng = read_count(n, "n"), np.random.default_rng(random_state)
        X = rng.standard_normal((n, len(self.names))) * np.sqrt(self.variances) + self.intercepts
        for j in topological_order(self.adjacency):
            X[:, j] += X[:, list(self.parents[j])] @ self.coefficients[j]
        return X

    def log_density(self, X: Any) -> np.ndarray:
        """Return the log density of each row.

        Parameters
        ----------
        X : array (n, N)
            Rows, the columns in the order of `names`.
        """
        X = np.asarray(X, float)
        total = np.zeros(len(X))
        for j, parents in enumerate(self.parents):
            rest = X[:, j] - self.intercepts[j] - X[:, list(parents)] @ self.coefficients[j]
            total -= 0.5 * (rest**2 / self.variances[j] + np.log(2 * np.pi * self.variances[j]))
        return total

    # --- other forms ----------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return JSON text: a list of nodes, each with its parents and coefficients by name.

        A node has "name", "intercept", "variance" and "coefficients", an object from the names of
        its parents to numbers. `from_json` reads it.
        """
        nodes = [
            {
                "name": name, "intercept": float(self.intercepts[j]),
                "coefficients": {self.names[p]: float(x) for p, x in self._terms(j)},
                "variance": float(self.variances[j]),
            }
            for j, name in enumerate(self.names)
        ]  # fmt: skip
        return json.dumps({"format": FORMAT, "nodes": nodes}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> LinearGaussianNet:
        """Return the network that `to_json` wrote; ValueError if the text is none.

        Parameters
        ----------
        text : str
            The text.
        """
        try:
            tree = json.loads(text)
            if not isinstance(tree, Mapping) or tree.get("format") != FORMAT:
                raise ValueError(f'it must be an object with "format": "{FORMAT}"')
            return _from_nodes(tree["nodes"]).check()
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"This is no linear Gaussian network: {error}.") from error

    def to_networkx(self) -> Any:
        """Return a networkx.DiGraph; nodes have intercept and variance, edges a coefficient."""
        graph = need("networkx").DiGraph()
        for j, name in enumerate(self.names):
            graph.add_node(
                name, intercept=float(self.intercepts[j]), variance=float(self.variances[j])
            )
        for j, name in enumerate(self.names):
            for p, x in self._terms(j):
                graph.add_edge(self.names[p], name, coefficient=float(x))
        return graph

    def to_dot(self) -> str:
        """Return Graphviz text."""
        return graph_to_dot(self.names, self.adjacency)

    def to_pgmpy(self) -> Any:
        """Return a pgmpy LinearGaussianBayesianNetwork; it takes standard deviations."""
        models, factors = need("pgmpy.models"), need("pgmpy.factors.continuous")
        made = models.LinearGaussianBayesianNetwork()
        made.add_nodes_from(self.names)
        made.add_edges_from((self.names[i], self.names[j]) for i, j in np.argwhere(self.adjacency))
        for j, name in enumerate(self.names):
            beta = [float(self.intercepts[j]), *map(float, self.coefficients[j])]
            held = [self.names[p] for p in self.parents[j]]
            spread = float(np.sqrt(self.variances[j]))
            made.add_cpds(factors.LinearGaussianCPD(name, beta, spread, held))
        return made

    def _terms(self, j: int) -> zip[tuple[int, float]]:
        """Return the parents of a variable with their coefficients."""
        return zip(self.parents[j], self.coefficients[j].tolist(), strict=True)


def _from_nodes(nodes: Any) -> LinearGaussianNet:
    """Return the network of the nodes of a file, not yet checked."""
    names = tuple(str(node["name"]) for node in nodes)
    at = {name: j for j, name in enumerate(names)}
    held = [dict(node["coefficients"]) for node in nodes]
    for name, own in zip(names, held, strict=True):
        for parent in own:
            if parent not in at:
                raise ValueError(f"{name!r} has a parent {parent!r} that there is not")
    return LinearGaussianNet(
        names,
        tuple(tuple(at[parent] for parent in own) for own in held),
        np.array([node["intercept"] for node in nodes], float),
        tuple(np.array(list(own.values()), float) for own in held),
        np.array([node["variance"] for node in nodes], float),
    )


def best_gaussian_network(state: BayesNetState) -> LinearGaussianNet:
    """Return the best state's network with the posterior means of its parameters.

    Scores see standardised columns; the network is in the units of the columns, or of their
    transforms where these have any.
    """
    A, mixture, columns = state.graph(None), state.best_mixture, state.columns
    centre, scale, N = columns.centre, columns.scale, len(A)
    parents = [np.flatnonzero(A[:, j]) for j in range(N)]
    intercepts, variances, coefficients = np.empty(N), np.empty(N), []
    for j, held in enumerate(parents):
        a, b, variance = mixture.regression(0, j)
        b = b * scale[j] / scale[held]
        intercepts[j] = centre[j] + scale[j] * a - centre[held] @ b
        variances[j] = scale[j] ** 2 * variance
        coefficients.append(b)
    held_by = tuple(tuple(map(int, own)) for own in parents)
    return LinearGaussianNet(state.names, held_by, intercepts, tuple(coefficients), variances)
