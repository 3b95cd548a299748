"""Clusters that have a mean: those of DP-means, and of SVMs in clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import HasExperts, KnowsNames, KnowsPurity, KnowsSizes, able
from infinimix.reports import page, pieces
from infinimix.reports.prototypes import Group, show_groups


def show_clusters(model: Any) -> Iterator[str]:
    """Yield the clusters as cards: their means, where they are farthest from the others."""
    names = list(map(str, model.feature_names_in_)) if able(model, KnowsNames) else []
    means = np.asarray(model.cluster_means_, dtype=float)
    names = names or [f"x{j}" for j in range(means.shape[1])]
    rows = _sizes(model, len(means))
    yield page.paragraph(
        "Clusters of rows, the largest first, with the columns in which their mean is farthest "
        "from the mean of all, in units of the spread of the means."
        + (" Each cluster has an expert of its own." if able(model, HasExperts) else "")
    )
    if able(model, KnowsPurity):
        yield page.paragraph(
            f"{model.label_purity_:.0%} of the rows have the most frequent label of their "
            "cluster. Near 100% the experts have nothing to do."
        )
    groups = list(_groups(means, rows, names))
    yield show_groups(groups, {}, None, "the table")
    if len(groups) == 1:
        yield page.paragraph("There is one cluster, so no column sets it apart.", "note")
    yield page.paragraph(f"{pieces.plural(len(groups), 'cluster')} in all.", "note")


def _sizes(model: Any, n: int) -> np.ndarray:
    if able(model, KnowsSizes):
        return np.asarray(model.cluster_sizes_, dtype=float)
    return np.bincount(np.asarray(model.labels_), minlength=n).astype(float)


def _groups(means: np.ndarray, rows: np.ndarray, names: list[str]) -> Iterator[Group]:
    share = rows / max(rows.sum(), 1.0)
    middle = share @ means
    spread = np.sqrt(share @ (means - middle) ** 2)
    distance = np.abs(means - middle) / np.where(spread > 0, spread, np.inf)
    for k in np.argsort(-rows, kind="stable"):
        values = dict(zip(names, means[k].tolist(), strict=True))
        evidence = dict(zip(names, distance[k].tolist(), strict=True))
        yield Group(float(share[k]), int(rows[k]), values, evidence)
