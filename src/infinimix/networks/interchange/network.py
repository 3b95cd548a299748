"""A discrete Bayesian network with known tables: the truth to learn from, or an answer to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import Seed
from infinimix.networks.answers.blankets import markov_blankets
from infinimix.networks.answers.elimination import Factor, eliminate, maximise
from infinimix.networks.answers.queries import impossible
from infinimix.networks.answers.separation import d_separated
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.learning.names import as_list, by_place, check_different, find_targets
from infinimix.networks.learning.parameters import read_count

TRIES = 100_000  # graphs drawn from a template before it is said to lead to cycles


@dataclass(frozen=True)
class BayesNet:
    """A network of categorical variables.

    Attributes
    ----------
    names : tuple of str
        The variables.
    states : tuple of tuple of str
        The categories of each.
    parents : tuple of tuple of int
        The parents of each, as positions in `names`.
    tables : tuple of arrays
        P(variable | parents), one axis for each parent in order, the last for the variable.

    Examples
    --------
    >>> net = BayesNet(
    ...     ("rain", "wet"), (("no", "yes"),) * 2, ((), (0,)),
    ...     (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]])),
    ... )
    >>> net.query("rain", {"wet": "yes"}).round(2).tolist()
    [0.33, 0.67]
    >>> net.sample(2, random_state=0).shape
    (2, 2)
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[np.ndarray, ...]

    @property
    def cards(self) -> np.ndarray:
        """The number of categories of each variable."""
        return np.array([len(s) for s in self.states], dtype=np.int64)

    @property
    def adjacency(self) -> np.ndarray:
        """A[i, j] = 1 where i is a parent of j."""
        return adjacency_of(self.parents)

    def check(self) -> BayesNet:
        """Return the network; ValueError if its parts do not fit together."""
        topological_order(self.adjacency)
        for name, s, parents, table in zip(
            self.names, self.states, self.parents, self.tables, strict=True
        ):
            shape = (*(len(self.states[p]) for p in parents), len(s))
            if table.shape != shape:
                raise ValueError(f"the table of {name!r} has shape {table.shape}, not {shape}")
            if (table < 0).any() or not np.allclose(table.sum(axis=-1), 1.0, atol=1e-2):
                raise ValueError(f"the table of {name!r} has rows that are not probabilities")
        return self

    def sample(
        self, n: int, random_state: Seed = None, do: Mapping[str, Any] | None = None
    ) -> np.ndarray:
        """Return n rows of codes, (n, N); `do` sets variables from outside.

        Parameters
        ----------
        n : int
            Rows.
        random_state : int, Generator or None
            Where draws come from.
        do : mapping from variable to state, optional
            What is set from outside.
        """
        n, rng = read_count(n, "n"), np.random.default_rng(random_state)
        X = np.zeros((n, len(self.names)), np.int64)
        fixed = self._codes(do)
        for j in topological_order(self.adjacency):
            if j in fixed:
                X[:, j] = fixed[j]
                continue
            p = self.tables[j][tuple(X[:, p] for p in self.parents[j])]
            p = np.broadcast_to(p, (n, p.shape[-1])).cumsum(axis=1)
            X[:, j] = (rng.random((n, 1)) * p[:, -1:] > p).sum(axis=1)
        return X

    def log_probability(self, X: np.ndarray) -> np.ndarray:
        """Return the log probability of each row of codes.

        Parameters
        ----------
        X : array of int, (n, N)
            Rows of codes.
        """
        total = np.zeros(len(X))
        with np.errstate(divide="ignore"):
            for j, parents in enumerate(self.parents):
                table = self.tables[j] / self.tables[j].sum(axis=-1, keepdims=True)
                cells = (*(X[:, p] for p in parents), X[:, j])
                total += np.log(table[cells])
        return total

    def query(
        self,
        target: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
    ) -> np.ndarray:
        """Return P(target | given, do); of several targets their joint distribution.

        Parameters
        ----------
        target : str, or a sequence of them
            A variable; or several, each of which has an axis of the answer.
        given : mapping from variable to state, optional
            What was observed. ValueError if it is impossible.
        do : mapping from variable to state, optional
            What was set from outside: its parents lose their influence.
        """
        at = self._targets(target, given)
        check_different(self.names, at, "query")
        p = eliminate(self._factors(do), self._codes(given), at)
        if not p.sum() > 0.0:
            raise impossible(given)
        return p / p.sum()

    def most_probable(
        self,
        targets: Sequence[str] | None = None,
        given: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, str], float]:
        """Return the most probable states of variables together, and their probability.

        Parameters
        ----------
        targets : sequence of str, optional
            The variables; by default all that are not given or set.
        given, do : mapping from variable to state, optional
            As in `query`.

        Examples
        --------
        >>> net = BayesNet(
        ...     ("rain", "wet"), (("no", "yes"),) * 2, ((), (0,)),
        ...     (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]])),
        ... )
        >>> net.most_probable(given={"wet": "yes"})[0]
        {'rain': 'yes'}
        """
        seen, factors = self._codes(given), self._factors(do)
        known = {*seen, *self._codes(do)}
        rest = [j for j in range(len(self.names)) if j not in known]
        at = rest if targets is None else self._targets(targets, given)
        total = float(eliminate(factors, seen, []))
        if not total > 0.0:
            raise impossible(given)
        found, p = maximise(factors, seen, at)
        return {self.names[j]: self.states[j][k] for j, k in found.items()}, min(p / total, 1.0)

    def predict(self, X: Any) -> Any:
        """Return the most probable states, together, of all variables that a table does not have.

        Parameters
        ----------
        X : data frame
            Rows of states; its columns are variables. What is missing in a cell is summed over.

        Returns
        -------
        data frame of the same kind
            A column for each other variable, a row for each row.

        Examples
        --------
        >>> import pandas as pd
        >>> net = BayesNet(
        ...     ("rain", "wet"), (("no", "yes"),) * 2, ((), (0,)),
        ...     (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]])),
        ... )
        >>> net.predict(pd.DataFrame({"wet": ["yes", "no"]}))["rain"].tolist()
        ['yes', 'no']
        """
        from infinimix.networks.interchange.rows import predict_rows  # loads narwhals

        return predict_rows(self, X)

    def markov_blanket(self, name: str) -> list[str]:
        """Return the parents, the children and the other parents of the children of a variable.

        Parameters
        ----------
        name : str
            The variable.
        """
        (j,) = self._targets([name], None)
        return [self.names[i] for i in np.flatnonzero(markov_blankets(self.adjacency)[j])]

    def d_separated(self, one: str, other: str, given: Sequence[str] = ()) -> bool:
        """Return whether two variables are d-separated given some others.

        Parameters
        ----------
        one, other : str
            Variables.
        given : sequence of str
            Those that are observed.
        """
        i, j, *held = self._targets([one, other, *as_list(given)], None)
        return d_separated(self.adjacency, i, j, held)

    def _targets(self, names: Any, given: Mapping[str, Any] | None) -> list[int]:
        return find_targets(self.names, names, given, "variable")

    def _factors(self, do: Mapping[str, Any] | None) -> list[Factor]:
        """Return the tables; those of variables that are set are replaced."""
        fixed = self._codes(do)
        factors: list[Factor] = []
        for j, parents in enumerate(self.parents):
            if j in fixed:
                factors.append(((j,), np.eye(len(self.states[j]))[fixed[j]]))
            else:
                factors.append(((*parents, j), self.tables[j]))
        return factors

    def to_bif(self) -> str:
        """Return the network as BIF text."""
        from infinimix.networks.interchange.bif import to_bif  # which reads networks as well

        return to_bif(self)

    def to_networkx(self) -> Any:
        """Return a networkx.DiGraph whose nodes have their states, in their order."""
        from infinimix.networks.interchange.conversion import tables_to_networkx

        return tables_to_networkx(self)

    def to_dot(self) -> str:
        """Return Graphviz text."""
        from infinimix.networks.interchange.conversion import tables_to_dot

        return tables_to_dot(self)

    def to_pgmpy(self) -> Any:
        """Return a pgmpy model."""
        from infinimix.networks.interchange.conversion import to_pgmpy

        return to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """Return a pyAgrum BayesNet."""
        from infinimix.networks.interchange.conversion import to_pyagrum

        return to_pyagrum(self)

    def subset(self, names: Sequence[str]) -> np.ndarray:
        """Return the adjacency among some variables, with edges between these only.

        Parameters
        ----------
        names : sequence of str
            Variables.
        """
        at = [self.names.index(name) for name in names]
        return self.adjacency[np.ix_(at, at)]

    def _codes(self, values: Mapping[str, Any] | None) -> dict[int, int]:
        out = {}
        for j, value in by_place(self.names, values, "variable").items():
            if str(value) not in self.states[j]:
                name, own = self.names[j], self.states[j]
                raise ValueError(f"{name!r} has no state {value!r}; it has {own}")
            out[j] = self.states[j].index(str(value))
        return out


def sample_network(
    classes: Sequence[int] = (4, 4, 4),
    template: Any = None,
    gamma: float = 0.5,
    cards: int = 2,
    tables: str = "dirichlet",
    random_state: Seed = None,
) -> BayesNet:
    """Draw a network whose variables have roles.

    Parameters
    ----------
    classes : sequence of int
        How many variables each role has.
    template : array (K, K), optional
        Probability of an edge from role to role; by default 1 from each role to the next. Edges
        are drawn again until there is no cycle, in blocks that could have one.
    gamma : float
        Tables are drawn from a symmetric Dirichlet distribution with this in each cell.
    cards : int
        Categories of each variable.
    tables : "dirichlet" or "noisy-or"
        How tables are made; a noisy-or has binary variables, a leak of .01 to .1 and weights of .5
        to .95, roots have .05 to .3.
    random_state : int, Generator or None
        Where draws come from.

    Examples
    --------
    >>> net = sample_network((4, 4, 4), random_state=0)
    >>> int(net.adjacency.sum())
    32
    """
    rng = np.random.default_rng(random_state)
    z = np.repeat(np.arange(len(classes)), classes)
    eta = np.eye(len(classes), k=1) if template is None else np.asarray(template, float)
    N = len(z)
    if eta.shape != (len(classes),) * 2 or not ((eta >= 0) & (eta <= 1)).all():
        raise ValueError(
            f"template must hold probabilities, of shape ({len(classes)}, {len(classes)}): one for "
            "each pair of classes"
        )
    for _ in range(TRIES):
        A = (rng.random((N, N)) < eta[np.ix_(z, z)]) & ~np.eye(N, dtype=bool)
        try:
            topological_order(A)
            break
        except ValueError:
            continue
    else:
        raise ValueError("the template leads to cycles nearly always; let it be sparser")
    parents = tuple(tuple(int(i) for i in np.flatnonzero(A[:, j])) for j in range(N))
    size = 2 if tables == "noisy-or" else cards
    made = tuple(_table(len(p), size, gamma, tables, rng) for p in parents)
    names = tuple(f"x{j}" for j in range(N))
    return BayesNet(names, (tuple(map(str, range(size))),) * N, parents, made)


def _table(n: int, cards: int, gamma: float, tables: str, rng: np.random.Generator) -> np.ndarray:
    shape = (cards,) * n
    if tables == "noisy-or":
        if n == 0:
            on = np.array(rng.uniform(0.05, 0.3))
        else:
            silent = np.indices(shape).reshape(n, -1).T @ np.log1p(-rng.uniform(0.5, 0.95, n))
            on = (1.0 - (1.0 - rng.uniform(0.01, 0.1)) * np.exp(silent)).reshape(shape)
        return np.stack([1.0 - on, on], axis=-1)
    if tables != "dirichlet":
        raise ValueError(f"tables must be 'dirichlet' or 'noisy-or'; got {tables!r}")
    return rng.dirichlet(np.full(cards, gamma), size=shape)


def adjacency_of(parents: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Return A with A[i, j] = 1 where i is a parent of j."""
    A = np.zeros((len(parents),) * 2, np.uint8)
    for j, some in enumerate(parents):
        A[list(some), j] = 1
    return A
