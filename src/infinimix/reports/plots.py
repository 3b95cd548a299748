"""Plots on matplotlib axes: prototypes, groups, importance, calibration and roles.

Each function draws on `ax`, or on new axes, and returns them. What is measured on held-out rows
takes a model with its table, which is then cross-validated, or `Predictions`, as
`infinimix.evaluation.predictions.cross_validate` returns them, so that several plots cost one
cross-validation.

>>> import pandas as pd
>>> from infinimix import AClassClassifier
>>> from infinimix.reports.plots import plot_prototypes
>>> rows = pd.DataFrame({"legs": [6, 8] * 10, "size": [1.0, 2.0, 1.1, None] * 5})
>>> model = AClassClassifier(effort="fast", random_state=0).fit(rows, ["ant", "spider"] * 10)
>>> plot_prototypes(model, "ant").get_title()
"Groups of 'ant'"
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.evaluation.abilities import Classified, Networking, Prototyping, able
from infinimix.evaluation.calibration import equal_bins, mean_distance
from infinimix.evaluation.importance import measure_importance
from infinimix.evaluation.predictions import Predictions, cross_validate, judge_held_out
from infinimix.networks.interchange.plots import draw_graph, graph_height
from infinimix.reports.defining import evidence_of_groups
from infinimix.reports.pieces import as_name, plural, short
from infinimix.reports.prototypes import show_cell
from infinimix.scikit import check_is_fitted
from infinimix.tables.missing import is_missing

__all__ = ["plot_calibration", "plot_groups", "plot_importance", "plot_prototypes", "plot_roles"]

MOST_GROUPS = 10
MOST_COLUMNS = 12
MOST_LISTED = 20
BLUE, GREY = "#0072b2", "#888888"


def plot_prototypes(model: Any, label: Any = None, *, ax: Any = None) -> Any:
    """Draw the groups of a class (or of a mixture): their sizes and typical values.

    A cell is shaded by how its typical value compares with those of the other groups: blue is
    higher, red lower; categories are not shaded. Of many columns, those that distinguish the
    groups best are shown.

    Parameters
    ----------
    model : AClassClassifier or CRPMixture
        A fitted model with `prototypes`.
    label : label, optional
        The class, for classifiers.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    _need(model, Prototyping, "plot_prototypes")
    classes = np.asarray(model.classes_).tolist() if able(model, Classified) else None
    if classes is not None and label is None:
        raise ValueError(f"plot_prototypes needs the label of a class: one of {classes[:5]!r}.")
    table = model.prototypes() if label is None else model.prototypes(label)
    table = table.sort_values("weight", ascending=False, kind="stable").iloc[:MOST_GROUPS]
    names = _telling(model, label, list(table.columns[2:]))
    ax = _axes(ax, (1.1 * len(names) + 2.5, 0.45 * len(table) + 1.6))
    kinds = {name: str(kind) for name, kind in model.columns_.items()}
    shade = np.column_stack([_compared(table[name]) for name in names])
    ax.imshow(shade, cmap="RdBu", vmin=-4.0, vmax=4.0, aspect="auto")
    for i in range(len(table)):
        for j, name in enumerate(names):
            ax.text(
                j,
                i,
                show_cell(table[name].iloc[i], kinds[name], 10),
                ha="center",
                va="center",
                fontsize=8,
            )
    ax.set_xticks(range(len(names)), [short(name, 14) for name in names], rotation=40, ha="right")
    shares = zip(table["weight"], table["rows"], strict=True)
    ax.set_yticks(
        range(len(table)), [f"{weight:.0%} ({plural(rows, 'row')})" for weight, rows in shares]
    )
    ax.set_title("Groups" if label is None else f"Groups of {label!r}")
    return ax


def plot_groups(model: Any, *, ax: Any = None) -> Any:
    """Draw how the rows of each class (or of a mixture) are shared out among its groups.

    Parameters
    ----------
    model : AClassClassifier or CRPMixture
        A fitted model with `prototypes`.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    _need(model, Prototyping, "plot_groups")
    labels = np.asarray(model.classes_).tolist() if able(model, Classified) else [None]
    ax = _axes(ax, (6.5, 0.45 * len(labels) + 1.2))
    for y, label in enumerate(labels):
        table = model.prototypes() if label is None else model.prototypes(label)
        rows, start = np.sort(table["rows"].to_numpy())[::-1], 0.0
        for k, n in enumerate(rows.tolist()):
            ax.barh(y, n, left=start, color=BLUE, alpha=0.9 if k % 2 == 0 else 0.5, height=0.7)
            start += n
        ax.text(start, y, f" {len(rows)}", va="center", fontsize=9)
    ax.set_yticks(range(len(labels)), ["" if one is None else as_name(one) for one in labels])
    ax.margins(x=0.08)
    ax.invert_yaxis()
    ax.set_xlabel("rows; one bar is one group")
    ax.set_title("Groups, and how many there are")
    return ax


def plot_importance(
    model: Any, X: Any = None, y: Any = None, *, held_out: bool = False, seed: int = 0,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the permutation importance of columns on held-out rows, with 95% intervals.

    Parameters
    ----------
    model : classifier or Predictions
        A fitted classifier, or predictions of held-out rows.
    X, y : table and labels
        For a classifier: the rows it is cross-validated on.
    held_out : bool
        The rows are new to the model, which is evaluated as it is.
    seed : int
        Of the cross-validation.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    found = measure_importance(_predictions(model, X, y, held_out, seed), hide=False)
    if not found:
        raise ValueError("plot_importance needs rows in a frame, whose columns have names.")
    found = found[:MOST_LISTED]
    ax = _axes(ax, (6.0, 0.32 * len(found) + 1.2))
    values = np.array([one.shuffled for one in found])
    ends = np.abs(values[:, 1:] - values[:, :1]).T
    ax.barh(range(len(found)), values[:, 0], xerr=ends, color=BLUE, ecolor=GREY, height=0.7)
    ax.set_yticks(range(len(found)), [short(one.name) for one in found])
    ax.invert_yaxis()
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel("rise of the log-loss when shuffled (nats)")
    ax.set_title("Importance of columns")
    return ax


def plot_calibration(
    model: Any, X: Any = None, y: Any = None, *, held_out: bool = False, seed: int = 0,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the accuracy of held-out rows by the confidence of the prediction, with intervals.

    The parameters are those of `plot_importance`.
    """
    found = _predictions(model, X, y, held_out, seed)
    bins = equal_bins(found.proba.max(axis=1), found.right)
    ax = _axes(ax, (4.5, 4.2))
    confidence = np.array([one.confidence for one in bins])
    right = np.array([one.right for one in bins])
    low = float(confidence.min()) - 0.03
    ax.plot([low, 1], [low, 1], color=GREY, linestyle="--", linewidth=1, label="calibrated")
    ends = np.abs(right[:, 1:] - right[:, :1]).T
    ax.errorbar(confidence, right[:, 0], yerr=ends, fmt="o", color=BLUE, label="held-out rows")
    ax.set_xlabel("confidence")
    ax.set_ylabel("accuracy")
    ax.legend(loc="upper left", frameon=False)
    ax.set_title(f"Calibration: mean distance {mean_distance(bins):.1%}")
    return ax


def plot_roles(model: Any, *, threshold: float = 0.5, ax: Any = None) -> Any:
    """Draw a fitted network: a row of variables for each role, and the probable edges.

    Parameters
    ----------
    model : BlockmodelBayesNet, BlockmodelMarkovNet or BlockmodelDynamicNet
        A fitted network.
    threshold : float
        Draw edges of at least this probability.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    _need(model, Networking, "plot_roles")
    ax = _axes(ax, (8.0, graph_height(model._fitted, threshold)))
    draw_graph(ax, model._fitted, threshold)
    return ax


def _need(model: Any, ability: type, who: str) -> None:
    check_is_fitted(model)
    if not able(model, ability):
        what = "roles" if ability is Networking else "groups with prototypes"
        raise TypeError(f"{who} needs a model that has {what}; got {type(model).__name__}.")


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # slow to load

    return plt.subplots(figsize=size, layout="constrained")[1]


def _predictions(model: Any, X: Any, y: Any, held_out: bool, seed: int) -> Predictions:
    if isinstance(model, Predictions):
        return model
    if X is None or y is None:
        raise ValueError("Give the rows X and their labels y, or Predictions instead of a model.")
    check_is_fitted(model)
    found = judge_held_out(model, X, y) if held_out else cross_validate(model, X, y, seed)
    if found is None:
        raise ValueError("There are too few labelled rows: give 10 or more, of two classes.")
    return found


def _telling(model: Any, label: Any, names: list[str]) -> list[str]:
    """Return the columns that distinguish the groups best, in the order of the table."""
    if len(names) <= MOST_COLUMNS:
        return names
    c = 0 if label is None else model._state.labels.values.index(label)
    evidence = np.asarray(evidence_of_groups(model, c, MOST_GROUPS)).max(axis=0)
    best = np.sort(np.argsort(-evidence, kind="stable")[:MOST_COLUMNS])
    return [names[j] for j in best]


def _compared(column: Any) -> np.ndarray:
    """Return by how many standard deviations numbers differ from their mean; 0 for categories."""
    values = column.tolist()
    if not all(isinstance(v, int | float) and not is_missing(v) for v in values):
        return np.zeros(len(values))
    x = np.array(values, dtype=float)
    return np.asarray((x - x.mean()) / (x.std() or 1.0))
