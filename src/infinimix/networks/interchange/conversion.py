"""Networks for other libraries; each is imported when it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.answers.state import BayesNetState, NetworkState
from infinimix.networks.interchange.network import BayesNet

EXTRAS = {"networkx": "'infinimix[networks]'"}  # which know the versions; others have none


def need(module: str) -> Any:
    """Import a library that somebody has asked for; ImportError if it is not installed."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"This needs {package}, which is not installed: pip install "
            f"{EXTRAS.get(package, package)}"
        ) from error


def best_network(state: BayesNetState) -> BayesNet:
    """Return the best state's network with the means of its tables."""
    A, columns = state.graph(None), state.columns
    tables = tuple(table for _, table in state.best_mixture.factors(0))
    parents = tuple(tuple(int(i) for i in np.flatnonzero(A[:, j])) for j in range(len(A)))
    states = tuple(tuple(map(str, columns.states(j))) for j in range(len(A)))
    return BayesNet(state.names, states, parents, tables)


def tables_to_networkx(net: BayesNet) -> Any:
    """Return a graph whose nodes have the states of a network with known tables."""
    graph = need("networkx").DiGraph()
    for name, states in zip(net.names, net.states, strict=True):
        graph.add_node(name, states=list(states))
    for i, j in np.argwhere(net.adjacency):
        graph.add_edge(net.names[i], net.names[j])
    return graph


def tables_to_dot(net: BayesNet) -> str:
    """Return Graphviz text of a network with known tables."""
    return graph_to_dot(net.names, net.adjacency)


def graph_to_dot(variables: tuple[str, ...], A: np.ndarray) -> str:
    """Return Graphviz text of a graph."""
    names = [_quoted(name) for name in variables]
    lines = [f"  {name};" for name in names]
    lines += [f"  {names[i]} -> {names[j]};" for i, j in np.argwhere(A)]
    return "\n".join(["digraph infinimix {", *lines, "}"]) + "\n"


_SIGNED_LOOK = (', color="#1f5fa8"', ', color="#b2312d", arrowhead=tee')  # positive, negative


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def to_networkx(state: NetworkState, A: np.ndarray, directed: bool = True) -> Any:
    """Return a graph whose nodes have a role, and whose edges a probability, and of signs too."""
    library = need("networkx")
    graph = library.DiGraph() if directed else library.Graph()
    names = state.names
    for name, role in zip(names, state.roles, strict=True):
        graph.add_node(name, role=int(role))
    for i, j in np.argwhere(A):
        graph.add_edge(names[i], names[j], probability=float(state.edge_marginals[i, j]))
        if state.signed:
            graph.edges[names[i], names[j]]["positive"] = state.positive_share(i, j)
    return graph


def to_dot(state: NetworkState, A: np.ndarray, directed: bool = True) -> str:
    """Return Graphviz text with a cluster for each role."""
    names = [_quoted(name) for name in state.names]
    lines = [f"{'digraph' if directed else 'graph'} infinimix {{"]
    for role in range(int(state.roles.max()) + 1):
        members = " ".join(f"{names[j]};" for j in np.flatnonzero(state.roles == role))
        lines.append(f'  subgraph cluster_{role} {{ label="role {role}"; {members} }}')
    link = "->" if directed else "--"
    for i, j in np.argwhere(A if directed else np.triu(A)):
        p = state.edge_marginals[i, j]
        look = _SIGNED_LOOK[state.positive_share(i, j) < 0.5] if state.signed else ""
        style = f'[label="{p:.2f}", penwidth={0.5 + 2 * p:.2f}{look}]'
        lines.append(f"  {names[i]} {link} {names[j]} {style};")
    return "\n".join([*lines, "}"]) + "\n"


def to_pgmpy(net: BayesNet) -> Any:
    """Return a pgmpy DiscreteBayesianNetwork."""
    models, factors = need("pgmpy.models"), need("pgmpy.factors.discrete")
    cls = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    made = cls()
    made.add_nodes_from(net.names)
    made.add_edges_from((net.names[i], net.names[j]) for i, j in np.argwhere(net.adjacency))
    for j, parents in enumerate(net.parents):
        table = net.tables[j].reshape(-1, net.cards[j]).T
        held = [net.names[p] for p in parents]
        states = {net.names[v]: list(net.states[v]) for v in (j, *parents)}
        made.add_cpds(
            factors.TabularCPD(
                net.names[j], int(net.cards[j]), table, held, [int(net.cards[p]) for p in parents],
                state_names=states,
            )
        )  # fmt: skip
    return made


def to_pyagrum(net: BayesNet) -> Any:
    """Return a pyAgrum BayesNet."""
    gum = need("pyagrum")
    made = gum.BayesNet()
    for name, states in zip(net.names, net.states, strict=True):
        made.add(gum.LabelizedVariable(name, name, list(states)))
    for i, j in np.argwhere(net.adjacency):
        made.addArc(net.names[i], net.names[j])
    for j, parents in enumerate(net.parents):
        for at in np.ndindex(*net.tables[j].shape[:-1]):
            where = {net.names[p]: int(k) for p, k in zip(parents, at, strict=True)}
            made.cpt(net.names[j])[where] = net.tables[j][at].tolist()
    return made
