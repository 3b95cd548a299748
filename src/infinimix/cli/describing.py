"""What a model holds, as plain values for JSON and as tables to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from infinimix.cli.out import grid, percent, plain
from infinimix.evaluation.abilities import Counting, Grouping, able

MOST_GROUPS = 12
MOST_COLUMNS = 6
MOST_CLASSES = 40


def describe_classes(model: Any, y: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return label, rows and groups of each class, as far as the model or the labels y say."""
    labels = list(model.classes_)
    counts = _each(model.class_count_ if able(model, Counting) else [], len(labels))
    if y and not any(counts):
        own = Counter(y)
        counts = [own[plain(label)] for label in labels]
    groups = _each(model.n_groups_ if able(model, Grouping) else [], len(labels))
    found = zip(labels, counts, groups, strict=True)
    return [plain({"label": c, "rows": n, "groups": k}) for c, n, k in found]


def _each(values: Any, n: int) -> list[Any]:
    """Return one value for each class, None where they are not known by class."""
    values = np.atleast_1d(values)
    return values.tolist() if len(values) == n else [None] * n


def show_classes(classes: list[dict[str, Any]], title: str) -> Any:
    """Return a table of the classes."""
    total = sum(c["rows"] or 0 for c in classes)
    names = [key for key in ("rows", "groups") if any(c[key] is not None for c in classes)]
    rows = []
    for one in classes[:MOST_CLASSES]:
        cells = [f"{one[key]:,.6g}" for key in names]
        share = [percent(one["rows"] / total)] if "rows" in names and total else []
        rows.append([one["label"], *cells[:1], *share, *cells[1:]])
    heads = ["class", *names[:1], *(["share"] if "rows" in names and total else []), *names[1:]]
    hidden = len(classes) - MOST_CLASSES
    return grid(title, heads, rows, caption=f".. {hidden} more" if hidden > 0 else None)


def describe_groups(model: Any, label: Any = None) -> list[dict[str, Any]]:
    """Return weight, rows and typical values of the groups, the largest first."""
    frame = model.prototypes() if label is None else model.prototypes(label)
    frame = frame.sort_values("weight", ascending=False)
    return [plain(row) for row in frame.to_dict("records")]


def show_groups(groups: list[dict[str, Any]], title: str) -> Any:
    """Return a table of groups: weight, rows, and the columns in which they differ most."""
    columns = _telling(groups)
    rows = []
    for k, group in enumerate(groups[:MOST_GROUPS]):
        typical = ", ".join(f"{name} {_short(group[name])}" for name in columns)
        rows.append([k, typical, f"{group['rows']:,}", percent(group["weight"])])
    hidden = len(groups) - MOST_GROUPS
    return grid(
        title, ("group", "typical values", "rows", "share"), rows,
        caption=f".. {hidden} smaller ones" if hidden > 0 else None,
    )  # fmt: skip


def _telling(groups: list[dict[str, Any]]) -> list[str]:
    """Return the columns that tell the groups apart best: the most spread, or categories."""
    names = [name for name in groups[0] if name not in ("weight", "rows")]
    if len(names) <= MOST_COLUMNS:
        return names
    weight = np.array([group["weight"] for group in groups])
    spread = {}
    for name in names:
        values = [group[name] for group in groups]
        if all(isinstance(value, int | float) for value in values):
            x = np.array(values, float)
            mean = np.average(x, weights=weight)
            scale = np.abs(x).max() or 1.0
            spread[name] = float(np.sqrt(np.average((x - mean) ** 2, weights=weight)) / scale)
        else:
            shares: dict[Any, float] = {}
            for value, w in zip(values, weight, strict=True):
                shares[value] = shares.get(value, 0.0) + float(w)
            spread[name] = 1.0 - sum(share**2 for share in shares.values()) / weight.sum() ** 2
    best = set(sorted(names, key=lambda name: -spread[name])[:MOST_COLUMNS])
    return [name for name in names if name in best]


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
