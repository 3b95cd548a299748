"""`infinimix inspect`: what a saved model holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infinimix.cli import options

MOST_LABELS = 6  # whose groups are shown


def inspect(model: options.Model, as_json: options.Json = False) -> None:
    """Show what a model holds: columns, classes, groups and parameters."""
    from infinimix.cli.model_files import load_trained
    from infinimix.cli.out import print_json, show

    trained = load_trained(model)
    found = describe_model(trained, model)
    if as_json:
        print_json(found)
    else:
        show(*_show(found, str(model)))


def describe_model(trained: Any, path: Path) -> dict[str, Any]:
    """Return all that is known of a model, for JSON."""
    from infinimix.artifacts import read
    from infinimix.cli.describing import describe_classes, describe_groups
    from infinimix.cli.network_output import describe_network
    from infinimix.evaluation.abilities import Classified, Networking, Prototyping, able

    model, notes = trained.model, trained.notes
    found: dict[str, Any] = {
        "kind": type(model).__name__,
        "version": read(path)[2]["library_version"],
        "bytes": path.stat().st_size,
        "target": notes.get("target"),
        "columns": _columns(trained),
        "parameters": {k: v for k, v in model.get_params(deep=False).items() if k != "columns"},
    }
    if able(model, Classified):
        found["classes"] = describe_classes(model)
    if able(model, Prototyping):
        labels = model.classes_.tolist() if able(model, Classified) else [None]
        found["groups"] = [{"class": c, "groups": describe_groups(model, c)} for c in labels]
    if able(model, Networking):
        found |= describe_network(model)
    return found


def _columns(trained: Any) -> dict[str, str]:
    try:
        columns = dict(trained.model.columns_)
    except (AttributeError, TypeError, ValueError):  # models of words or matrices
        kind = "text" if trained.notes.get("text") is not None else "real"
        columns = dict.fromkeys(trained.needed, kind)
    return {", ".join(k) if isinstance(k, tuple) else str(k): str(v) for k, v in columns.items()}


def _show(found: dict[str, Any], name: str) -> list[Any]:
    from infinimix.cli.describing import show_classes, show_groups
    from infinimix.cli.network_output import show_network
    from infinimix.cli.out import count, grid

    size = f"{found['bytes'] / 1024:,.0f} kB"
    shown: list[Any] = [
        f"{name}: {found['kind']} of infinimix {found['version']}, {size}, "
        + count(len(found["columns"]), "column"),
        grid("Columns", ("column", "kind"), list(found["columns"].items())[:60]),
    ]
    if "classes" in found:
        target = f" of {found['target']!r}" if found["target"] else ""
        shown.append(show_classes(found["classes"], f"Classes{target}"))
    for entry in found.get("groups", [])[:MOST_LABELS]:
        title = "Groups" if entry["class"] is None else f"Groups of {entry['class']!r}"
        if entry["groups"]:
            shown.append(show_groups(entry["groups"], title))
    if "edges" in found:
        shown += show_network(found, name)
    parameters = [(k, v) for k, v in found["parameters"].items() if v is not None]
    return [*shown, grid("Parameters", ("parameter", "value"), parameters)]
