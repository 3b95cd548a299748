"""Start everything: the owner of the model, a source beside HTTP, and uvicorn."""

from __future__ import annotations

import errno
import gc
import os
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from infinimix.service.access import Access
from infinimix.service.app import Service
from infinimix.service.limits import Limits
from infinimix.service.owner import Owner
from infinimix.service.quick import quick_protocol
from infinimix.streaming.durable import DurableLearner
from infinimix.streaming.folder import check_free

SWITCH = 5e-4  # seconds that a thread keeps the interpreter while others wait


@dataclass
class ServiceSettings:
    """How to serve a model; `make_model` returns what `DurableLearner` takes."""

    folder: Path
    make_model: Callable[[], Any]
    host: str = "127.0.0.1"
    port: int = 8080
    access: Access = field(default_factory=Access)
    limits: Limits = field(default_factory=Limits)
    snapshot_every: int = 10_000
    log_rows: bool = False
    source: Any = None  # has run(owner, stopped)
    told: Callable[[str], None] = print  # where the service is, once it listens


def serve(settings: ServiceSettings) -> None:
    """Serve until the process is told to stop; what was answered is then on the disk.

    A folder or a port that is in use is refused before anything starts.
    """
    check_free(settings.folder)
    _check_port(settings.host, settings.port)
    owner = make_owner(settings)
    server = Announcing(_configure(settings, owner), settings)
    _share_python()
    owner.start()
    stopped = threading.Event()
    threading.Thread(target=_watch_opening, args=(owner, server), daemon=True).start()
    source = None
    if settings.source is not None:
        source = threading.Thread(target=settings.source.run, args=(owner, stopped), daemon=True)
        source.start()
    try:
        server.run()
    finally:
        stopped.set()
        if source is not None:
            source.join(timeout=5.0)
        owner.stop()
    if owner.failure is not None:
        raise owner.failure


def _check_port(host: str, port: int) -> None:
    """Raise ValueError if another has a port, or if no address of the host can be listened at."""
    where = f"port {port} of {host}"
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ValueError(f"nothing can listen at {where}: {error.strerror or error}.") from error
    failures = [error for error in (_try_port(*place) for place in places) if error is not None]
    if any(error.errno == errno.EADDRINUSE for error in failures):
        raise ValueError(f"{where} is in use; take another with --port, or 0 for a free one.")
    if len(failures) == len(places):
        raise ValueError(f"nothing can listen at {where}: {failures[0].strerror}.")


def _try_port(family: int, kind: int, protocol: int, _: str, address: Any) -> OSError | None:
    """Return why nothing can listen at an address; None if it is free."""
    try:
        with socket.socket(family, kind, protocol) as one:
            if os.name == "posix":  # as servers do: elsewhere it would share the port
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(address)
    except OSError as error:
        return error
    return None


def make_owner(settings: ServiceSettings) -> Owner:
    """Return the owner of the model of a folder, not started yet."""

    def restore() -> Any:
        model, every = settings.make_model(), settings.snapshot_every
        return DurableLearner(model, settings.folder, every, fsync="group")

    return Owner(restore, settings.limits)


def make_app(settings: ServiceSettings, owner: Owner) -> Any:
    """Return the ASGI application."""
    return _make_service(settings, owner).router()


def _make_service(settings: ServiceSettings, owner: Owner) -> Service:
    return Service(owner, settings.access, settings.limits, settings.log_rows)


def _configure(settings: ServiceSettings, owner: Owner) -> uvicorn.Config:
    limits, service = settings.limits, _make_service(settings, owner)
    return uvicorn.Config(
        service.router(), host=settings.host, port=settings.port,
        http=quick_protocol(service), ws="none", lifespan="on", access_log=False,
        server_header=False, proxy_headers=False, log_level="warning",
        timeout_keep_alive=limits.keep_alive,  # type: ignore[arg-type]  # fractions, too
        limit_concurrency=4 * limits.concurrent,
        timeout_graceful_shutdown=5,
    )  # fmt: skip


class Announcing(uvicorn.Server):
    """A server that says where it listens."""

    def __init__(self, config: uvicorn.Config, settings: ServiceSettings) -> None:
        super().__init__(config)
        self._settings = settings

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = self._settings.host
            host = f"[{host}]" if ":" in host else host
            self._settings.told(f"http://{host}:{port}/")


def _watch_opening(owner: Owner, server: uvicorn.Server) -> None:
    """Stop the server if the folder cannot be opened."""
    owner.ready.wait()
    if owner.failure is not None:
        server.should_exit = True
    gc.freeze()  # what is loaded by now stays: no collection has to look through it


def _share_python() -> None:
    """Let threads take turns sooner than after 5 ms, which each call of compiled code may cost."""
    sys.setswitchinterval(min(SWITCH, sys.getswitchinterval()))
