"""`infinimix watch`: the figures of a service, in the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli.errors import CommandError
from infinimix.cli.out import grid, number, percent, show

MOST = 12  # classes that are shown
NONE = float("nan")


def watch(
    url: Annotated[str, typer.Argument(help="Address of the service.")] = "http://127.0.0.1:8080",
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with the token for reading.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Show the figures once, and stop.")] = False,
) -> None:
    """Watch a service: error, log-loss, throughput and classes, once a second."""
    events = read_events(url, _token(token_file))
    if once:
        show(draw(next(events), url))
        return
    from rich.live import Live

    with Live(auto_refresh=False, screen=False) as live:
        try:
            for told in events:
                live.update(draw(told, url), refresh=True)
        except KeyboardInterrupt:
            return


def read_events(url: str, token: str | None) -> Iterator[dict[str, Any]]:
    """Yield what the service tells; raise CommandError if it does not answer."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    if not url.startswith(("http://", "https://")):
        raise CommandError(f"{url!r} is no address such as http://127.0.0.1:8080.")
    request = Request(url.rstrip("/") + "/events")
    if token:
        request.add_header("authorization", f"Bearer {token}")
    try:
        with urlopen(request, timeout=30.0) as answer:
            for line in answer:
                told = json.loads(line[6:]) if line.startswith(b"data: ") else {}
                if "point" in told:
                    yield told
    except HTTPError as error:
        if error.code in (401, 403):
            raise CommandError(
                "a token is needed: --token-file, or INFINIMIX_READ_TOKEN."
            ) from None
        raise CommandError(f"{url} answers with status {error.code}.") from None
    except (URLError, OSError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise CommandError(f"{url} does not answer ({reason}); is the service running?") from None


def draw(told: dict[str, Any], url: str) -> Any:
    """Return the figures as tables."""
    from rich.console import Group

    point = told["point"]
    rows = [
        ("rows learned", f"{told.get('rows', 0):,}"),
        ("rows learned a second", f"{point['learned_per_second']:,.0f}"),
        ("rows predicted a second", f"{point['predicted_per_second']:,.0f}"),
        ("error", percent(_given(point["error"]))),
        ("log-loss", number(_given(point["log_loss"]))),
        ("calibration error", percent(_given(told["calibration"]["error"]))),
        ("record, and on the disk", f"{told.get('sequence', 0):,}, {told.get('durable', 0):,}"),
        ("requests that wait", f"{told['waiting']:,}"),
        ("learning", told["refusal"] or "goes on"),
    ]
    parts = [grid(f"{told.get('model', 'A model')} at {url}", ("", ""), rows)]
    classes = [(one["name"], _count(one["rows"])) for one in told.get("classes", [])[:MOST]]
    if classes:
        title = f"Classes, the largest of {told['n_classes']:,}"
        parts.append(grid(title, ("class", "rows"), classes))
    waiting = [
        (one["id"], _count(one["rows"]), ", ".join(list(one["typical"])[:6]))
        for one in told.get("provisional", [])[:MOST]
    ]
    if waiting:
        parts.append(grid("Classes without a name", ("number", "rows", "typical"), waiting))
    return Group(*parts)


def _given(value: float | None) -> float:
    return NONE if value is None else value


def _count(rows: float | None) -> str:
    return "" if rows is None else f"{rows:,.0f}"


def _token(path: Path | None) -> str | None:
    if path is not None:
        return path.read_text(encoding="utf-8").strip()
    return os.environ.get("INFINIMIX_READ_TOKEN") or os.environ.get("INFINIMIX_TOKEN")
