"""Costs of wrong predictions: how `--cost` is written, and what is shown of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infinimix.cli.errors import CommandError, listed

if TYPE_CHECKING:
    from infinimix.evaluation.predictions import Predictions


def read_costs(text: str) -> dict[str, float]:
    """Return the costs by name of an option such as "fn=5,fp=1" or "sick=5,healthy=1"."""
    costs = {}
    for part in text.split(","):
        name, equals, cost = part.rpartition("=")
        try:
            value = float(cost)
        except ValueError:
            value = -1.0
        if not equals or not name.strip() or not 0.0 < value < float("inf"):
            raise CommandError(
                f'--cost: {part.strip()!r} is no name with a positive cost; write "fn=5,fp=1", or '
                'a cost for each class, such as "sick=5,healthy=1".'
            )
        costs[name.strip()] = value
    return costs


def find_costs(labels: Sequence[Any], given: dict[str, float], positive: Any) -> Any:
    """Return the cost of missing each class; names that are none are refused."""
    from infinimix.evaluation.costs import costs_by_class  # NumPy: slow to load

    try:
        return costs_by_class(labels, given, positive)
    except ValueError as error:
        raise CommandError(f"--cost: {error}") from error


def check_costs(y: Sequence[Any], text: str, positive: str | None) -> None:
    """Refuse costs that do not fit the labels, before the work."""
    counts = Counter(label for label in y if label is not None)
    find_costs(list(counts), read_costs(text), find_positive(counts, positive))


def find_positive(counts: Mapping[Any, int], name: str | None) -> Any:
    """Return the positive class: the named one, else the smallest one."""
    if name is None:
        return min(counts, key=lambda label: (counts[label], str(label)))
    known = {str(label): label for label in counts}
    if name not in known:
        raise CommandError(f"--positive: {name!r} is not a class; there are {listed(known)}.")
    return known[name]


def weigh(found: Predictions, text: str, positive: str | None) -> dict[str, Any]:
    """Return what decisions by cost save on held-out rows."""
    from infinimix.evaluation.costs import compare_costs, threshold

    rows = found.confusion.sum(axis=1).tolist()
    which = find_positive(dict(zip(found.labels, rows, strict=True)), positive)
    costs = find_costs(found.labels, read_costs(text), which)
    told = compare_costs(found, costs)
    if len(found.labels) == 2:
        at = found.labels.index(which)
        told |= {"positive": which, "threshold": threshold(costs, at)}
    return told


def show_costs(told: dict[str, Any]) -> list[Any]:
    """Return the table of costs, and how to use them."""
    from infinimix.cli.out import grid, number, percent

    def interval(name: str) -> str:
        low, high = told[f"{name}_interval"]
        return f"95% interval {number(low)} to {number(high)}"

    rows = [
        ("most probable class", number(told["before"]), interval("before")),
        ("least expected cost", number(told["after"]), interval("after")),
        ("saved", number(told["saved"]), interval("saved")),
        (f"always {told['best_constant']!r}", number(told["best_constant_cost"]), ""),
    ]
    lines: list[Any] = [grid("Mean cost of a held-out row", ("predicted", "cost", ""), rows)]
    if "threshold" in told:
        lines.append(
            f"Threshold: predict {told['positive']!r} where its probability is at least "
            f"{told['threshold']:.3f}. ({told['positive']!r} is the positive class; --positive "
            "names another.)"
        )
    low, high = told["saved_interval"]
    if not low > 0.0:
        what = "costs more here" if high < 0.0 else "is not shown to save: the interval contains 0"
        lines.append(f"Deciding by cost {what}.")
    if told["best_constant_cost"] <= told["after"]:
        lines.append(f"Always predicting {told['best_constant']!r} costs no more than the model.")
    classes = [
        (c["label"], f"{c['rows']:,}", percent(c["precision"]), percent(c["recall"]))
        for c in told["classes"]
    ]
    lines.append(grid("Each class, by cost", ("class", "rows", "precision", "recall"), classes))
    costs = ",".join(f"{one['label']}={one['cost']:g}" for one in told["costs"])
    return [*lines, f'To predict so: infinimix predict MODEL FILE --cost "{costs}"']
