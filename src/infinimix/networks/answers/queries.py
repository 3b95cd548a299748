"""What a fitted network answers, averaged over networks, and the forms it can be handed over in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from infinimix.networks.answers.elimination import eliminate
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.states import States
from infinimix.networks.engine.graphs import ancestors, topological_order
from infinimix.networks.engine.scores import GAMMA, set_logs
from infinimix.networks.interchange.network import BayesNet
from infinimix.networks.learning.problem import Problem, make_data
from infinimix.networks.learning.summary import describe_roles
from infinimix.scikit import check_is_fitted

MOST_NETWORKS = 300  # that predictions are averaged over


class Answers(States):
    """Answers of `BlockmodelBayesNet`."""

    _completed: list[np.ndarray]
    _skip: np.ndarray | None

    def _networks(self) -> Mixture:
        """Return the networks that predictions are averaged over."""
        if not hasattr(self, "_mixture"):
            places, weights = self._places, self._weights
            if len(places) > MOST_NETWORKS:
                step = np.linspace(0, len(places) - 1, MOST_NETWORKS).astype(int)
                equal = self._weights.max() < 2.5 * self._weights.min()
                pick = step if equal else np.argsort(-weights)[:MOST_NETWORKS]
                places, weights = places[pick], weights[pick]
            chain = self._draws.chain[places] if len(self._completed) > 1 else 0 * places
            data = [self._data(k, X) for k, X in enumerate(self._completed)]
            self._mixture = Mixture(
                self._adjacencies(places), weights, chain, data, self._completed
            )
        return self._mixture

    def _data(self, k: int, X: np.ndarray) -> Any:
        problem = Problem(
            X, np.zeros(X.shape, bool), self._columns.cards, None,
            bdeu=bool(self.bdeu), skip=self._skip,  # type: ignore[attr-defined]
        )  # fmt: skip
        data = make_data(problem, X)
        data.dials[GAMMA] = float(np.mean(self._draws.hyper[:, 3]))
        set_logs(data)
        return data

    def share_roles(self) -> dict[str, Any]:
        """Return the classes of the best state, for `shared_roles` of another model."""
        check_is_fitted(self)
        best = int(self._draws.log_joint.argmax())
        return describe_roles([self._draws], self._draws.classes[best], best)

    @property
    def shared_role_marginals_(self) -> np.ndarray:
        """The probability that each variable takes each of the shared roles, (N, roles)."""
        check_is_fitted(self)
        shared = self.shared_roles  # type: ignore[attr-defined]
        if shared is None:
            raise AttributeError("shared_role_marginals_ is there with shared_roles only")
        roles = np.arange(len(shared["sizes"]))
        return (self._draws.classes[:, :, None] == roles).mean(axis=0)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log predictive density of each row, averaged over networks.

        Missing cells are summed or integrated out. Of a discretised table it is the probability
        of the bins.
        """
        check_is_fitted(self)
        encoded = self._encode(X)  # type: ignore[attr-defined]
        codes, missing = self._columns.codes(encoded)
        log_p = self._networks().log_density(codes, missing)
        return log_p + self._columns.log_slopes(encoded, missing)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_samples`."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n: int = 1, random_state: Any = None) -> dict[str, np.ndarray]:
        """Draw rows from the predictive distribution, as columns by name."""
        check_is_fitted(self)
        rng = np.random.default_rng(random_state)
        return self._columns.decode(self._networks().draw(int(n), rng), rng)

    def path_probabilities(self) -> np.ndarray:
        """Return P[i, j]: the probability that a directed path leads from i to j."""
        check_is_fitted(self)
        A = self._adjacencies(self._places)
        return np.einsum("s,sij->ij", self._weights, ancestors(A).astype(float))

    def query(
        self,
        target: str,
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return what is known of a column, given cells of a row, averaged over networks.

        Parameters
        ----------
        target : str
            A column.
        given : mapping from column to value
            What was observed.
        do : mapping from column to value
            What was set from outside: its parents lose their influence.

        Returns
        -------
        dict
            Category -> probability; of a real column, "mean" and "std" in the units of the model
            (after the transform that `columns_` shows).
        """
        check_is_fitted(self)
        mixture = self._networks()
        names = list(self._columns.schema.names)
        if target not in names:
            raise ValueError(f"there is no column {target!r}")
        if target in (given or {}):
            raise ValueError(f"{target!r} is both asked for and given")
        seen, fixed = self._cells(given), self._cells(do)
        t = names.index(target)
        if mixture.gaussian:
            return self._query_normal(mixture, t, seen, fixed)
        total = np.zeros(int(mixture.cards[t]))
        for s, w in enumerate(mixture.weights):
            factors = mixture.factors(s, {j: int(v) for j, v in fixed.items()})
            total += w * eliminate(factors, {j: int(v) for j, v in seen.items()}, [t])
        if total.sum() <= 0:
            raise ValueError("what is given has probability 0")
        return dict(zip(self._columns.states(t), (total / total.sum()).tolist(), strict=True))

    def _query_normal(
        self, mixture: Mixture, t: int, seen: dict[int, float], fixed: dict[int, float]
    ) -> dict[str, float]:
        at = np.array(sorted(seen), dtype=int)
        x = np.array([seen[j] for j in at])
        logs, means, variances = [], [], []
        for s in range(len(mixture.graphs)):
            mean, cov = mixture.moments(s, fixed)
            inner = cov[np.ix_(at, at)] + 1e-12 * np.eye(len(at))
            gain = np.linalg.solve(inner, cov[at, t])
            means.append(mean[t] + gain @ (x - mean[at]))
            variances.append(cov[t, t] - gain @ cov[at, t])
            gap = x - mean[at]
            logs.append(-0.5 * (gap @ np.linalg.solve(inner, gap) + np.linalg.slogdet(inner)[1]))
        w = mixture.weights * np.exp(np.array(logs) - max(logs))
        w /= w.sum()
        middle = float(w @ means)
        spread = float(w @ (np.array(variances) + (np.array(means) - middle) ** 2))
        scale, centre = self._columns.scale[t], self._columns.centre[t]
        return {"mean": float(middle * scale + centre), "std": float(np.sqrt(spread) * scale)}

    def _cells(self, values: Mapping[str, Any] | None) -> dict[int, float]:
        """Return cells by name as codes or standardised numbers by column."""
        names = self._columns.schema.names
        for name in values or {}:
            if name not in names:
                raise ValueError(f"there is no column {name!r}")
        if not values:
            return {}
        from infinimix.tables import encode

        row = [{name: values.get(name) for name in names}]
        codes, missing = self._columns.codes(encode(self._columns.schema, row, learn=False))
        out = {}
        for j, name in enumerate(names):
            if name in values:
                if missing[0, j]:
                    raise ValueError(f"{name!r} has no value {values[name]!r}")
                out[j] = codes[0, j]
        return out

    def kl_from(self, truth: BayesNet, n: int = 10_000, random_state: Any = 0) -> float:
        """Return an estimate of KL(truth, predictive) in nats a row, from n rows of the truth.

        The columns must be codes 0, 1, ... in the order of the states of the truth.
        """
        check_is_fitted(self)
        X = truth.sample(n, random_state)
        return float(np.mean(truth.log_probability(X) - self.score_samples(X)))

    def network(self) -> BayesNet:
        """Return the best state's network with the means of its tables; for discrete columns."""
        check_is_fitted(self)
        if self._columns.gaussian:
            raise ValueError("only a discrete network has tables; this one is Gaussian")
        best = int(self._draws.log_joint.argmax())
        A = self._adjacencies(np.array([best]))
        k = int(self._draws.chain[best]) if len(self._completed) > 1 else 0
        X = self._completed[k]
        mixture = Mixture(A, np.ones(1), np.zeros(1, int), [self._data(k, X)], [X])
        tables = tuple(t for _, t in mixture.factors(0))
        parents = tuple(tuple(int(i) for i in np.flatnonzero(A[0][:, j])) for j in range(len(A[0])))
        states = tuple(tuple(map(str, self._columns.states(j))) for j in range(len(A[0])))
        return BayesNet(tuple(self._columns.schema.names), states, parents, tables)

    def to_bif(self) -> str:
        """Return `network()` as BIF text."""
        from infinimix.networks.interchange.bif import to_bif

        return to_bif(self.network())

    def to_networkx(self, threshold: float | None = None) -> Any:
        """Return a networkx.DiGraph: the best state, or all edges at least as probable."""
        from infinimix.networks.interchange.conversion import to_networkx

        return to_networkx(self, self._answer_graph(threshold))

    def to_dot(self, threshold: float | None = None) -> str:
        """Return Graphviz text, variables grouped by role: the best state, or probable edges."""
        from infinimix.networks.interchange.conversion import to_dot

        return to_dot(self, self._answer_graph(threshold))

    def to_pgmpy(self) -> Any:
        """Return `network()` as a pgmpy model."""
        from infinimix.networks.interchange.conversion import to_pgmpy

        return to_pgmpy(self.network())

    def to_pyagrum(self) -> Any:
        """Return `network()` as a pyAgrum BayesNet."""
        from infinimix.networks.interchange.conversion import to_pyagrum

        return to_pyagrum(self.network())

    def plot(self, threshold: float = 0.5) -> Any:
        """Draw the graph by role, edge probabilities sorted by role, and co-class probabilities."""
        from infinimix.networks.interchange.plots import plot

        check_is_fitted(self)
        return plot(self, threshold)

    def topological_order(self) -> list[str]:
        """Return the columns, parents before children, in the best state."""
        check_is_fitted(self)
        names = self._columns.schema.names
        return [names[j] for j in topological_order(self.best_state_["adjacency"])]
