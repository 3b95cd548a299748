"""`infinimix serve`: a model that learns from requests, durably, and answers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.errors import CommandError

MODELS = {
    "online-crp": "OnlineCRPClassifier",
    "aclass": "AClassClassifier",
    "mixture": "CRPMixture",
}

NO_COLUMNS = (
    "{} must know its columns before the first row comes: --columns "
    '\'{{"size": "real", "colour": "categorical"}}\'.'
)


def serve(
    folder: Annotated[Path, typer.Argument(help="Folder that keeps the model, through crashes.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help=f"{', '.join(MODELS)}.", metavar="NAME")
    ] = "online-crp",
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="KINDS",
            help='text, a kind for all columns, JSON such as {"size": "real"}, or a TOML file.',
        ),
    ] = None,
    open_world: Annotated[
        bool, typer.Option("--open-world", help="Look for classes that have no name (online-crp).")
    ] = False,
    set: options.Set = None,
    seed: options.Seed = 0,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port; 0 takes a free one.", min=0, max=65535)
    ] = 8080,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="File with the token for learning and reading."),
    ] = None,
    read_token_file: Annotated[
        Path | None, typer.Option("--read-token-file", help="File with a token for reading only.")
    ] = None,
    snapshot_every: Annotated[
        int, typer.Option("--snapshot-every", help="Rows between snapshots.", min=1)
    ] = 10_000,
    max_body: Annotated[
        int, typer.Option("--max-body", help="Bytes that a request may have.", min=1)
    ] = 8 << 20,
    max_rows: Annotated[
        int, typer.Option("--max-rows", help="Rows that a request may have.", min=1)
    ] = 10_000,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Learn JSON lines from standard input, too.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Standard input starts from its first line: skip old ones."),
    ] = False,
    redis: Annotated[
        str | None, typer.Option("--redis", help="Learn from Redis Streams, too.", metavar="URL")
    ] = None,
    stream: Annotated[
        str | None, typer.Option("--stream", help="Name of the stream in Redis.")
    ] = None,
    group: Annotated[str, typer.Option("--group", help="Consumer group in Redis.")] = "infinimix",
    log_rows: Annotated[
        bool, typer.Option("--log-rows", help="Write the rows of requests to the log.")
    ] = False,
) -> None:
    """Serve a model over HTTP: predict, learn durably, watch it live."""
    if model not in MODELS:
        raise CommandError(f"--model: {model!r} is none of {', '.join(MODELS)}.")
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{str(folder)!r} is a file; name a folder.")
    if redis is not None and (stream is None or stdin):
        raise CommandError("--redis needs --stream NAME, and goes without --stdin.")
    kinds = _read_columns(columns, model, folder)
    _need_extra()
    import logging

    from infinimix.service.access import read_access
    from infinimix.service.limits import Limits
    from infinimix.service.running import ServiceSettings
    from infinimix.service.running import serve as run

    access = read_access(host, token_file, read_token_file)
    logging.basicConfig(level=logging.INFO if log_rows else logging.WARNING)
    chosen: dict[str, Any] = {"random_state": seed} | ({"open_world": True} if open_world else {})

    def make(known: Any = None) -> Any:
        return _make(model, folder, kinds, known, chosen, set)

    run(
        ServiceSettings(
            folder, lambda: make if columns is None and folder.exists() else make(),
            host, port, access, Limits(body=max_body, rows=max_rows), snapshot_every, log_rows,
            _source(stdin, resume, redis, stream, group),
            lambda url: typer.echo(f"infinimix serves {folder} at {url}", err=True),
        )
    )  # fmt: skip


def _read_columns(given: str | None, model: str, folder: Path) -> Any:
    """Return `columns` of the model: one kind, or those that JSON or a TOML file name."""
    if given is None and model != "online-crp" and not folder.exists():
        raise CommandError(NO_COLUMNS.format(model))
    if given is None:
        return "text" if model == "online-crp" else None
    from infinimix.cli.kinds import KINDS, SHORT, load_toml

    if given.lstrip().startswith("{"):
        return _sort_columns(_load_json(given), "JSON")
    kind = SHORT.get(given, given)
    if kind in KINDS or kind == "text" or kind.startswith("date:"):
        return kind
    path = Path(given)
    if not path.exists():
        raise CommandError(
            f"--columns: {given!r} is neither a kind of columns (text, {', '.join(KINDS)}) nor a "
            "file with them."
        )
    return _sort_columns(load_toml(path), given)


def _load_json(given: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(given)
    except ValueError as error:
        raise CommandError(f"--columns: {given!r} is no JSON: {error}") from None
    return found


def _sort_columns(data: dict[str, Any], source: str) -> dict[Any, str]:
    from infinimix.cli.kinds import sort_kinds
    from infinimix.cli.tables_in import split_names

    columns, drop = sort_kinds(data, source, lambda key: split_names([key]))
    if drop:
        raise CommandError(
            f"--columns: {drop[0]!r} is to be left out; a row that is sent has only the columns "
            "of the model, so leave it out there."
        )
    return columns


def _need_extra() -> None:
    from importlib.util import find_spec

    missing = [
        name for name in ("starlette", "uvicorn", "httptools", "orjson") if not find_spec(name)
    ]
    if missing:
        raise CommandError(f"{missing[0]} is not installed: pip install 'infinimix[serve]'.")


def _make(
    name: str, folder: Path, columns: Any, known: Any, chosen: dict[str, Any], set: Any
) -> Any:
    """Return the model to start with; one that the folder holds keeps its columns."""
    import infinimix
    from infinimix.cli.learning import make, read_assignments
    from infinimix.streaming.folder import name_kind

    cls = getattr(infinimix, MODELS[name])
    if known is not None:
        if type(known) is not cls:
            raise CommandError(f"{folder} holds {name_kind(known)}; name it with --model.")
        columns = known.columns
    if columns is None:
        raise CommandError(NO_COLUMNS.format(name))
    model = make(cls, columns=columns, **chosen)
    more = read_assignments(set)
    unknown = [key for key in more if key not in model.get_params()]
    if unknown:
        raise CommandError(f"--set: {name} has no parameter {unknown[0]!r}.")
    return model.set_params(**more)


def _source(stdin: bool, resume: bool, redis: str | None, stream: str | None, group: str) -> Any:
    if redis is not None and stream is not None:
        from infinimix.service.redis_streams import RedisSource

        return RedisSource(redis, stream, group)
    if not stdin:
        return None
    import sys

    from infinimix.service.sources import LineSource

    return LineSource(sys.stdin.buffer, resume)
