"""What fitted models of any kind of graph show, and how their chains go on.

`GraphNet` is the base of all models of one graph; `unconstrained_net` has what those share whose
graphs may have cycles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from infinimix.estimators.common.fitted import feature_names
from infinimix.networks.answers.asking import edge_frame
from infinimix.networks.answers.comparison import compare_graphs
from infinimix.networks.answers.given_graphs import read_graph
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.engine.blocks import UNDIRECTED
from infinimix.networks.engine.chain import Record
from infinimix.networks.interchange.conversion import to_dot, to_networkx
from infinimix.networks.interchange.draws import to_arviz
from infinimix.networks.interchange.plots import plot
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.knowledge import Knowledge
from infinimix.networks.learning.progress import run_chains
from infinimix.networks.learning.summary import advise, warn_if_apart
from infinimix.networks.learning.timing import prepare_run
from infinimix.scikit import BaseEstimator, check_is_fitted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Net = TypeVar("Net", bound="GraphNet")


class GraphNet(BaseEstimator):
    """A model with a `NetworkState`, where its fitted attributes are read."""

    State: ClassVar[type[NetworkState]] = NetworkState
    _shape: int
    n_iter: int | str
    verbose: bool
    _state: Any = None  # a NetworkState, once it is fitted

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def _repr_html_inner(self) -> str:
        """Return what a notebook shows: the parameters and, once it is fitted, the network."""
        return str(super()._repr_html_inner()) + self._network_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += self._network_html()
        return shown

    def _network_html(self) -> str:
        if self._state is None:
            return ""
        from infinimix.networks.interchange.displays import network_html  # matplotlib: slow

        return network_html(self._state, self._link)

    @property
    def _link(self) -> str:
        return "--" if self._shape == UNDIRECTED else "->"

    def _knowledge(self, names: tuple[str, ...]) -> Knowledge:
        """Return what the parameters say of columns; ValueError if that cannot be."""
        raise NotImplementedError

    @property
    def _fitted(self) -> Any:
        """The state; NotFittedError if there is none."""
        check_is_fitted(self)
        return self._state

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._fitted.columns.schema.inputs)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        schema = self._fitted.columns.schema
        return feature_names(schema.inputs if schema.named else None)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column, and its transform, as decided in `fit`."""
        return dict(self._fitted.columns.schema.requests())

    @property
    def discretised_(self) -> dict[str, np.ndarray]:
        """Where the columns that were discretised are cut."""
        columns = self._fitted.columns
        return {columns.schema.names[j]: edges for j, edges in columns.edges.items()}

    @property
    def edge_marginals_(self) -> np.ndarray:
        """The probability of each edge."""
        return np.asarray(self._fitted.edge_marginals)

    @property
    def co_class_marginals_(self) -> np.ndarray:
        """The probability that two variables have one role."""
        return np.asarray(self._fitted.co_class_marginals)

    @property
    def roles_(self) -> np.ndarray:
        """Consensus classes."""
        return np.asarray(self._fitted.roles)

    @property
    def template_(self) -> dict[str, np.ndarray]:
        """The probability of edges from role to role."""
        return dict(self._fitted.template)

    @property
    def edge_gap_(self) -> np.ndarray:
        """The largest difference between two chains, for each edge."""
        return np.asarray(self._fitted.edge_gap)

    @property
    def rhat_(self) -> np.ndarray:
        """Split R-hat of each edge."""
        return np.asarray(self._fitted.rhat)

    @property
    def ess_(self) -> np.ndarray:
        """The effective sample size of each edge."""
        return np.asarray(self._fitted.ess)

    @property
    def states_(self) -> list[dict[str, Any]]:
        """Distinct states, the heaviest first."""
        return list(self._fitted.distinct())

    def edge_table(self, threshold: float = 0.0) -> pd.DataFrame:
        """Return the edges by name as a pandas DataFrame, the most probable first.

        Parameters
        ----------
        threshold : float
            Leave out edges that are less probable.

        Returns
        -------
        DataFrame
            from, to, probability, reverse (the probability of the other direction), and the
            diagnostics gap, rhat and ess. If effects have signs, also positive: the probability
            that the effect is positive, if the edge is there.
        """
        return edge_frame(self._fitted, threshold, self._shape == UNDIRECTED)

    def to_arviz(self) -> Any:
        """Return the kept states of the chains in the form of ArviZ (`infinimix[arviz]`).

        An `InferenceData`, from ArviZ 1.0 on a `DataTree`: its posterior has `edge` (source,
        target), `role` (variable), `n_edges`, `n_roles` and the hyper-parameters that are learned;
        `sample_stats` the unnormalised log joint `lp`. Chains of different lengths give the last
        states of each. The numbers of roles differ from state to state.
        """
        return to_arviz(self._fitted)

    @property
    def best_state_(self) -> dict[str, Any]:
        """The state with the highest log joint among those that were kept."""
        return dict(self._fitted.describe(self._fitted.best))

    def compare(self, other: Any) -> dict[str, Any]:
        """Return how far this network is from another one, which may be the truth.

        Parameters
        ----------
        other : fitted model, array or frame (N, N), pairs of columns, networkx graph or BayesNet
            A model of the same columns, or a graph; entry (i, j) of an array, which is 0 or 1, is
            the edge i -> j, and a frame has the names of the columns.

        Returns
        -------
        dict
            shd: structural Hamming distance of the best state to the graph, or to the best state of
            the model; extra, missing and reversed: the edges that it counts (a reversed edge once);
            aupr: area under the precision-recall curve of `edge_marginals_` for the edges of
            that graph; for a model also largest_difference, of the probabilities of an edge.
        """
        state = self._fitted
        if isinstance(other, GraphNet):
            theirs = other._fitted
            if theirs.names != state.names or theirs.shape != state.shape:
                raise ValueError("compare needs a model of the same class and columns")
            return compare_graphs(state, theirs.graph(None), theirs.edge_marginals)
        return compare_graphs(state, read_graph(other, state.names), None)

    # --- chains -----------------------------------------------------------------------------

    def run(self: Net, seconds: float | None = None, n_iter: int | None = None) -> Net:
        """Let the chains of the last `fit` go on, for some seconds or sweeps, and count those too.

        Chains are not part of a saved, copied or pickled model.

        Parameters
        ----------
        seconds : float, optional
            The time of all chains together.
        n_iter : int, optional
            Sweeps of each chain; by default `n_iter` of the model, or of its last round.
        """
        state = self._fitted
        prepare_run(self, state.chains, seconds, n_iter)
        ran = run_chains(self, state.chains, bool(self.verbose))
        self._state = self._found(state.columns, *ran, state.skip, stacklevel=4)
        return self

    def _found(
        self, columns: NetworkColumns, chains: list[Any], records: list[Record],
        skip: np.ndarray | None, stacklevel: int,
    ) -> NetworkState:  # fmt: skip
        """Return what chains have found; a warning names the edge on which they differ."""
        found = self.State.found(self, columns, chains, records, skip)
        advice = advise(self.n_iter)
        warn_if_apart(found.edge_gap, found.names, self._link, advice, stacklevel=stacklevel)
        return found

    # --- other forms ------------------------------------------------------------------------

    def to_networkx(self, threshold: float | None = None) -> Any:
        """Return a graph of networkx: the best state, or all edges at least as probable.

        Nodes have a role and edges a probability.

        Parameters
        ----------
        threshold : float, optional
            All edges that are at least as probable; by default those of the best state.
        """
        state = self._fitted
        return to_networkx(state, state.graph(threshold), self._shape != UNDIRECTED)

    def to_dot(self, threshold: float | None = None) -> str:
        """Return Graphviz text, variables grouped by role: the best state, or probable edges.

        Parameters
        ----------
        threshold : float, optional
            All edges that are at least as probable; by default those of the best state.
        """
        state = self._fitted
        return to_dot(state, state.graph(threshold), self._shape != UNDIRECTED)

    def plot(self, threshold: float = 0.5, ax: Axes | None = None) -> Figure:
        """Draw the graph by role, edge probabilities sorted by role, and co-class probabilities.

        Parameters
        ----------
        threshold : float
            Draw edges of at least this probability.
        ax : matplotlib Axes, optional
            Draw the graph alone, there.

        Returns
        -------
        Figure
            A notebook shows it.
        """
        return plot(self._fitted, threshold, ax)
