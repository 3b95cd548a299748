"""What `BlockmodelBayesNet` answers about columns and rows beside densities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.estimators.answers.writing import write_cells
from infinimix.networks.answers.blankets import markov_blankets
from infinimix.networks.answers.elimination import eliminate
from infinimix.networks.answers.given_graphs import check_kinds, read_graph
from infinimix.networks.answers.queries import (
    answer_query,
    condition_joint,
    impossible,
    read_cells,
    refuse_mixed,
)
from infinimix.networks.answers.rows import (
    category_probabilities,
    fill_cells,
    graph_log_likelihood,
    most_probable_codes,
    number_moments,
)
from infinimix.networks.answers.separation import d_separated
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.names import as_list, find_targets
from infinimix.networks.learning.posterior import average

if TYPE_CHECKING:
    import pandas as pd

Cells = Mapping[str, Any]


class Middle:
    """Stands for a generator where a bin shall be its middle."""

    def random(self, n: int) -> np.ndarray:
        """Return halves."""
        return np.full(n, 0.5)


class Asking:
    """Questions to a fitted network."""

    _fitted: Any
    _encode: Any

    def query(
        self,
        target: str,
        given: Cells | None = None,
        do: Cells | None = None,
    ) -> dict[Any, float]:
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
        return answer_query(self._fitted, target, given, do)

    def joint(
        self, targets: Sequence[str], given: Cells | None = None, do: Cells | None = None
    ) -> dict[Any, Any]:
        """Return the joint distribution of columns given cells of a row, averaged over networks.

        Parameters
        ----------
        targets : sequence of str
            Columns, one or more; each once.
        given, do : mapping from column to value, optional
            What was observed, and what was set from outside.

        Returns
        -------
        dict
            Tuple of categories -> probability; of real columns "mean" and "cov", arrays in the
            units of the model.
        """
        return condition_joint(self._fitted, targets, given, do)

    def most_probable(
        self,
        targets: Sequence[str] | None = None,
        given: Cells | None = None,
        do: Cells | None = None,
    ) -> tuple[dict[str, Any], float]:
        """Return the most probable values of columns together, in the best network.

        Parameters
        ----------
        targets : sequence of str, optional
            Columns; by default all that are not given or set. The others are summed out.
        given, do : mapping from column to value, optional
            What was observed, and what was set from outside.

        Returns
        -------
        tuple of dict and float
            Column -> value, and the probability of all these given the rest; it is NaN for real
            columns, whose most probable values are the conditional means in the units of the model.
        """
        state: BayesNetState = self._fitted
        columns, names = state.columns, state.names
        refuse_mixed(columns, "most_probable", "ask query of one column after the other")
        seen, fixed = read_cells(columns, given), read_cells(columns, do)
        if targets is None:
            at = [j for j in range(len(names)) if j not in seen and j not in fixed]
        else:
            at = find_targets(names, targets, given)
        found, p = most_probable_codes(state, at, seen, fixed)
        if columns.gaussian:
            centre, scale = columns.centre, columns.scale
            return {names[t]: float(v * scale[t] + centre[t]) for t, v in found.items()}, p
        factors = state.best_mixture.factors(0, {j: int(v) for j, v in fixed.items()})
        total = float(eliminate(factors, {j: int(v) for j, v in seen.items()}, []))
        if not total > 0.0:
            raise impossible(given)
        return {names[t]: columns.states(t)[int(v)] for t, v in found.items()}, min(p / total, 1.0)

    def predict_column_proba(self, X: Any, target: str) -> np.ndarray:
        """Return the probability of each category of a column, given the other cells of each row.

        Parameters
        ----------
        X : table
            The rows; cells of `target` are not looked at, and may be missing.
        target : str
            A column with categories, or a discretised one; `query(target)` shows their order.
        """
        state, t, codes, missing = self._rows_for(X, target)
        if state.columns.numbers[t]:
            raise ValueError(f"{target!r} is a number: predict_column returns its mean")
        return category_probabilities(state.mixture, t, codes, missing)

    def predict_column(self, X: Any, target: str) -> np.ndarray:
        """Return the most probable category of a column, or its mean, given the rest of each row.

        Parameters
        ----------
        X : table
            The rows; cells of `target` are not looked at, and may be missing.
        target : str
            A column. The mean of a number is in the units of the model.
        """
        state, t, codes, missing = self._rows_for(X, target)
        if state.columns.numbers[t]:
            mean, _ = number_moments(state.mixture, t, codes, missing)
            return np.asarray(mean * state.columns.scale[t] + state.columns.centre[t])
        best = category_probabilities(state.mixture, t, codes, missing).argmax(axis=1)
        return np.array(state.columns.states(t))[best]

    def impute(self, X: Any) -> Any:
        """Return the table with each missing cell filled, given the observed cells of its row.

        A category is the most probable one, a number the mean, a discretised number the middle of
        the most probable bin. Observed cells stay as they are; dates are not filled.

        Parameters
        ----------
        X : table
            The rows, in the form that comes back.
        """
        state: BayesNetState = self._fitted
        columns = state.columns
        codes, missing = columns.codes(self._encode(X))
        return put_back(columns, X, missing, fill_cells(state, codes, missing))

    def markov_blanket(self, name: str) -> dict[str, float]:
        """Return the probability of each column to be in the Markov blanket of one.

        Parents, children and other parents of children: beside these, other columns say nothing
        more of it. The most probable come first; those that never are there are left out.

        Parameters
        ----------
        name : str
            A column.
        """
        state: BayesNetState = self._fitted
        (j,) = find_targets(state.names, [name], None)
        blankets = markov_blankets(state.adjacencies(state.places))[:, j]
        p = average(state.weights, blankets)
        order = [int(i) for i in np.argsort(-p, kind="stable") if p[i] > 0.0]
        return {state.names[i]: float(p[i]) for i in order}

    def d_separated(self, one: str, other: str, given: Sequence[str] = ()) -> float:
        """Return the probability that two columns are d-separated given some others.

        It is that of networks in which all paths between the two are blocked: what is known of one
        of them then says nothing of the other, beside the given ones.

        Parameters
        ----------
        one, other : str
            Columns.
        given : sequence of str
            Columns that are observed.
        """
        state: BayesNetState = self._fitted
        i, j, *held = find_targets(state.names, [one, other, *as_list(given)], None)
        if i == j or i in held or j in held:
            raise ValueError("d_separated needs two different columns that are not given")
        graphs = state.adjacencies(state.places)
        apart = [d_separated(A, i, j, held) for A in graphs]
        return float(average(state.weights, np.array(apart)))

    def graph_score(self, graph: Any) -> float:
        """Return the log marginal likelihood of the rows of `fit`, given a graph.

        The difference of two is the log of their Bayes factor. If cells were missing, it is that of
        the rows as the first chain has completed them last.

        Parameters
        ----------
        graph : array or frame (N, N), (from, to) pairs of columns, networkx.DiGraph or BayesNet
            A graph without cycles; entry (i, j) of an array, which is 0 or 1, is the edge from i to
            j, and a frame has the names of the columns.
        """
        state: BayesNetState = self._fitted
        if state.signed:
            raise ValueError("graph_score knows no signs; fit with effects='any'")
        A = read_graph(graph, state.names)
        topological_order(A)
        if state.columns.mixed:
            check_kinds(A, state.columns.numbers, state.names)
        return graph_log_likelihood(state, A)

    def _rows_for(self, X: Any, target: str) -> tuple[BayesNetState, int, np.ndarray, np.ndarray]:
        state: BayesNetState = self._fitted
        (t,) = find_targets(state.names, [target], None)
        codes, missing = state.columns.codes(self._encode(X))
        return state, t, codes, missing


def put_back(columns: NetworkColumns, X: Any, missing: np.ndarray, filled: np.ndarray) -> Any:
    """Return the table with its missing cells as in rows of codes or standardised numbers."""
    cells: Any = columns.decode(filled, Middle())  # type: ignore[arg-type]
    return write_cells(columns.schema, X, missing, cells)


def edge_frame(state: Any, threshold: float, undirected: bool) -> pd.DataFrame:
    """Return the edges that are probable enough, the most probable first."""
    import pandas as pd

    P, names = np.asarray(state.edge_marginals), state.names
    found = [(i, j) for i, j in np.argwhere(threshold <= P) if not undirected or i < j]
    found = sorted((e for e in found if P[tuple(e)] > 0.0), key=lambda e: -P[tuple(e)])
    i, j = (np.array([e[k] for e in found], int) for k in range(2))
    table = {
        "from": [names[k] for k in i], "to": [names[k] for k in j], "probability": P[i, j],
        "reverse": P[j, i], "gap": np.asarray(state.edge_gap)[i, j],
        "rhat": np.asarray(state.rhat)[i, j], "ess": np.asarray(state.ess)[i, j],
    }  # fmt: skip
    if state.signed:
        table["positive"] = [state.positive_share(*e) for e in zip(i, j, strict=True)]
    return pd.DataFrame(table)
