"""The routes of the service, as an ASGI application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from starlette.responses import Response
from starlette.routing import Route, Router

from infinimix.service import answers
from infinimix.service.access import Access
from infinimix.service.events import Events
from infinimix.service.exchange import Exchange, Gone
from infinimix.service.jobs import Job
from infinimix.service.limits import Limits
from infinimix.service.metrics import MEDIA, Requests, write_metrics
from infinimix.service.openapi import write_openapi
from infinimix.service.owner import Owner
from infinimix.service.page import live_page, security_policy
from infinimix.service.problems import HttpProblem, bad_field
from infinimix.service.reading import check_label, parse, read_batch, read_id
from infinimix.service.ticks import Ticks
from infinimix.service.work import LOG

Handler = Callable[[Exchange], Awaitable[None]]


class Service:
    """What the routes share.

    Parameters
    ----------
    owner : Owner
        The thread that owns the model; it must have been started.
    access : Access
        Who may ask.
    limits : Limits
        How much.
    log_rows : bool
        Whether to write rows into the log.
    """

    def __init__(
        self, owner: Owner, access: Access, limits: Limits, log_rows: bool = False
    ) -> None:
        self.owner, self.access, self.limits, self.log_rows = owner, access, limits, log_rows
        self.requests, self.ticks = Requests(), Ticks(owner)
        self.events = Events(owner, self.ask)

    def router(self) -> Router:
        """Return the application."""
        routes = [
            self._route("/learn", POST=(self.learn, True)),
            self._route("/predict", POST=(self.predict, False)),
            self._route("/predict-then-learn", POST=(self.predict_then_learn, True)),
            self._route("/", GET=(self.page, None)),
            self._route("/healthz", GET=(self.healthz, None)),
            self._route("/readyz", GET=(self.readyz, None)),
            self._route("/model", GET=(self.model, False)),
            self._route("/classes/{name:path}", GET=(self.one_class, False)),
            self._route("/provisional", GET=(self.provisional, False)),
            self._route("/provisional/{id}/name", POST=(self.name, True)),
            self._route("/metrics", GET=(self.metrics, False)),
            self._route("/events", GET=(self.stream_events, False)),
            self._route("/openapi.json", GET=(self.openapi, False)),
        ]
        nowhere = self._endpoint("other", {})
        return PlainRouter(routes, default=nowhere, redirect_slashes=False, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        task = asyncio.create_task(self.events.run())
        yield
        task.cancel()

    def _route(self, path: str, **methods: tuple[Handler, bool | None]) -> Route:
        return Route(path, endpoint=_Endpoint(self._endpoint(path, methods)))

    def _endpoint(self, route: str, methods: dict[str, tuple[Handler, bool | None]]) -> Any:
        """Return an application that lets a handler answer; `learns` is None if all may ask."""

        async def run(scope: Any, receive: Any, send: Any) -> None:
            start = time.perf_counter()
            exchange = Exchange(scope, receive, send, self.limits)
            self.requests.active += 1
            try:
                await self._answer(exchange, methods)
            except HttpProblem as problem:
                await exchange.respond(problem.response())
            except Gone:
                exchange.status = 499
            finally:
                self.requests.active -= 1
                self.requests.add(route, exchange.status or 500, time.perf_counter() - start)

        return run

    async def _answer(
        self, exchange: Exchange, methods: dict[str, tuple[Handler, bool | None]]
    ) -> None:
        if not methods:
            raise HttpProblem(
                404, "there is no such address; /openapi.json lists those that there are"
            )
        method = exchange.scope["method"]
        if method not in methods:
            allowed = ", ".join(methods)
            raise HttpProblem(405, f"this address takes {allowed}", allow=allowed)
        handler, learns = methods[method]
        if learns is not None:
            self.admit(exchange.headers, learns)
        await handler(exchange)

    def admit(self, headers: Mapping[str, str], learns: bool) -> None:
        """Raise HttpProblem if a request may not be answered, or too many are."""
        if self.requests.active > self.limits.concurrent:
            raise HttpProblem(429, "too many requests at once; try again", retry=1)
        self.access.check(headers, learns)

    # --- The model ------------------------------------------------------------------------------

    async def ask(self, work: Callable[[Any], Any], kind: str = "ask") -> Any:
        """Return what a function of the learner returns, called by the owner of the model."""
        loop = asyncio.get_running_loop()
        job = Job(kind, loop.create_future(), loop)
        job.work = work
        self.owner.submit(job)
        return await job.future

    async def _rows(self, exchange: Exchange, kind: str) -> Any:
        loop = asyncio.get_running_loop()
        job = Job(kind, loop.create_future(), loop)
        self.submit_rows(job, exchange.headers, await exchange.body())
        return await job.future

    def submit_rows(self, job: Job, headers: Mapping[str, str], body: bytes) -> None:
        """Let the rows of a body wait for the model; raise HttpProblem if they cannot be used."""
        job.batch = read_batch(body, headers.get("content-type", ""), self.limits)
        key = headers.get("idempotency-key")
        if key is not None:
            job.batch.request_id = read_id(key, self.limits, "Idempotency-Key")
        if self.log_rows:
            LOG.info("%s %s", job.kind, body.decode("utf-8", "replace"))
        self.ticks.submit(job)

    async def predict(self, exchange: Exchange) -> None:
        """POST /predict"""
        await exchange.answer(await self._rows(exchange, "predict"))

    async def learn(self, exchange: Exchange) -> None:
        """POST /learn"""
        await exchange.answer(await self._rows(exchange, "learn"))

    async def predict_then_learn(self, exchange: Exchange) -> None:
        """POST /predict-then-learn"""
        await exchange.answer(await self._rows(exchange, "both"))

    async def model(self, exchange: Exchange) -> None:
        """GET /model"""
        found = await self.ask(
            lambda learner: {
                "sequence": learner.sequence,
                "durable": learner.durable,
                "rows": learner.n_rows,
                **answers.describe_model(learner.model),
            }
        )
        found["learning"] = self.owner.refusal is None
        await exchange.answer(found)

    async def one_class(self, exchange: Exchange) -> None:
        """GET /classes/{name}"""
        name = unquote(exchange.path["name"])
        found = await self.ask(
            lambda learner: {
                "sequence": learner.sequence, **answers.describe_one(learner.model, name)
            }
        )  # fmt: skip
        await exchange.answer(found)

    async def provisional(self, exchange: Exchange) -> None:
        """GET /provisional"""
        found = await self.ask(
            lambda learner: {
                "sequence": learner.sequence, "provisional": answers.list_waiting(learner.model)
            }
        )  # fmt: skip
        await exchange.answer(found)

    async def name(self, exchange: Exchange) -> None:
        """POST /provisional/{id}/name"""
        media = exchange.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise HttpProblem(415, "send application/json")
        given = parse(await exchange.body(), self.limits)
        label = given.get("name") if isinstance(given, dict) else None
        if label is None or label == "" or len(given) != 1:
            raise bad_field("name", 'the body is {"name": label}')
        check_label(label, self.limits, "name")
        number = str(exchange.path["id"])
        found = await self.ask(lambda learner: answers.name_waiting(learner, number, label), "name")
        await exchange.answer(found)

    # --- The service itself ---------------------------------------------------------------------

    async def healthz(self, exchange: Exchange) -> None:
        """GET /healthz: the process answers, and the owner of the model lives."""
        alive = self.owner.is_alive()
        await exchange.answer({"alive": alive}, 200 if alive else 503)

    async def readyz(self, exchange: Exchange) -> None:
        """GET /readyz: the model has been restored."""
        ready = self.owner.learner is not None and self.owner.is_alive()
        content = {"ready": ready, "learning": ready and self.owner.refusal is None}
        await exchange.answer(content, 200 if ready else 503)

    async def metrics(self, exchange: Exchange) -> None:
        """GET /metrics"""
        await exchange.respond(Response(write_metrics(self.owner, self.requests), media_type=MEDIA))

    async def openapi(self, exchange: Exchange) -> None:
        """GET /openapi.json"""
        await exchange.answer(write_openapi(self.limits, closed=not self.access.is_open))

    async def page(self, exchange: Exchange) -> None:
        """GET /: the live page, which holds no data of its own."""
        html = {"content-security-policy": security_policy()}
        await exchange.respond(Response(live_page(), headers=html, media_type="text/html"))

    async def stream_events(self, exchange: Exchange) -> None:
        """GET /events"""
        await self.events.send(exchange)


class PlainRouter(Router):
    """A router that looks up addresses without parameters, which most requests have."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            found = self._plain.get(scope["path"])
            if found is not None:
                await found(scope, receive, send)
                return
        await super().__call__(scope, receive, send)

    @cached_property
    def _plain(self) -> dict[str, Any]:
        routes = [route for route in self.routes if isinstance(route, Route)]
        return {route.path: route.endpoint for route in routes if "{" not in route.path}


class _Endpoint:
    """An application that Starlette calls as it is, not as a function of a request."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)
