"""`/healthz` and `/metrics`, for monitoring the server, which are answered before its gate. Neither
checks the Host, since monitoring may use any address; the first returns no secrets, and the second
needs a token. Both query the state in a thread and give up if it does not answer."""

import asyncio
import hmac
import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Generic, TypeVar

from prometheus_client import ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from compute.base import settings
from compute.base.errors import BeirscopeError, Unavailable
from compute.jobs import records
from compute.jobs.totals import Totals, totals
from compute.reading import answers
from compute.reading.ahead import OUTGROWN
from compute.store import health
from pages._shared import metrics, reading, streamlit_internals

log = logging.getLogger(__name__)
PATIENCE = 1.5
"""Seconds within which the state must answer."""
HEALTH_AGE, TOTALS_AGE = 1.0, 10.0
"""Seconds for which each result is reused."""
SILENT = "the database of the state, or the folder of parts, does not answer"
NOT_STARTED = "the store cannot be opened: open a page of the dashboard, which shows the reason"
Found = TypeVar("Found")


class Watching:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._health = Look(_trouble, HEALTH_AGE)
        self._totals = Look(_totals, TOTALS_AGE)
        self._stored = _Stored()
        metrics.REGISTRY.register(self._stored)
        ProcessCollector(registry=metrics.REGISTRY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer these two paths; pass on other requests."""
        path = scope["path"] if scope["type"] == "http" else ""
        if path not in ("/healthz", "/metrics"):
            await self._app(scope, receive, send)
            return
        answer = await (self._healthy() if path == "/healthz" else self._numbers(scope))
        answer.headers["Cache-Control"] = "no-store"
        await answer(scope, receive, send)

    async def _healthy(self) -> Response:
        try:
            trouble = await self._health.found(PATIENCE)
        except TimeoutError:
            trouble = SILENT
        if trouble:
            return JSONResponse({"status": "unavailable", "because": trouble}, 503)
        return JSONResponse({"status": "ok"})

    async def _numbers(self, scope: Scope) -> Response:
        try:
            token = settings.load().metrics_token
        except BeirscopeError:
            token = ""
        if not token:
            return PlainTextResponse("set metrics_token to enable metrics\n", 404)
        given = HTTPConnection(scope).headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            told = {"WWW-Authenticate": "Bearer"}
            return PlainTextResponse("Authorization: Bearer TOKEN is required\n", 401, told)
        try:
            self._stored.totals = await self._totals.found(PATIENCE)
        except TimeoutError:
            self._stored.totals = None
        return Response(generate_latest(metrics.REGISTRY), media_type=CONTENT_TYPE_LATEST)


class Look(Generic[Found]):
    """The result of a function that must not raise. One thread at a time calls it, and its result
    is cached for `age` seconds; for one event loop."""

    def __init__(self, find: Callable[[], Found], age: float) -> None:
        self._find, self._age = find, age
        self._answer: Future[Found] | None = None
        self._asked = 0.0

    async def found(self, patience: float) -> Found:
        """Return the result. Raises TimeoutError if it takes longer than `patience` seconds."""
        now = time.monotonic()
        answer = self._answer
        if answer is None or (answer.done() and now - self._asked >= self._age):
            answer, self._asked = Future(), now
            self._answer = answer
            # Hanging threads of an executor would keep the server from ending; this one does not.
            Thread(target=lambda: answer.set_result(self._find()), daemon=True).start()
        return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(answer)), patience)


def _trouble() -> str:
    """Say why pages cannot be drawn; empty if they can."""
    if reading.AHEAD.outgrown:
        return OUTGROWN
    try:
        health.check(reading.opened())
    except Unavailable as error:
        # If the store cannot be opened, the error may name a file, which must not be shown.
        return str(error) if str(error) in health.SENTENCES else NOT_STARTED
    except Exception:
        return NOT_STARTED
    return ""


def _totals() -> Totals | None:
    """Return counts from the state; None if they cannot be read."""
    try:
        return totals(reading.opened())
    except Exception as error:
        # The error's message would name the location of the state.
        log.warning("the counts in the state could not be read (%s)", type(error).__name__)
        return None


@dataclass(eq=False)
class _Stored(Collector):
    """Counts that are read from the state and from Streamlit on request."""

    totals: Totals | None = None

    def describe(self) -> Iterable[Metric]:
        """Return nothing, since reading counts in advance would query the state."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Yield a metric for each count; counts of the state are left out if it cannot be read."""
        readable = self.totals is not None
        yield _gauge("state_readable", "1 if the state answered, else 0.", readable)
        number = streamlit_internals.sessions()
        yield _gauge("sessions", "Open browser windows.", number)
        yield _gauge("answers_kept_bytes", "Bytes of cached answers.", answers.kept_bytes())
        if self.totals is not None:
            yield from _of_state(self.totals)


def _of_state(now: Totals) -> Iterable[Metric]:
    """Yield a metric for each count of the state."""
    jobs = GaugeMetricFamily(
        "beirscope_jobs",
        "Jobs, their tasks and the tasks' shards; a job is done when all of its tasks have"
        " ended, failed or not.",
        labels=["level", "kind", "state"],
    )
    for labels, number in now.jobs.items():
        jobs.add_metric(labels, number)
    yield jobs
    queued = sum(number for (_, _, how), number in now.jobs.items() if how == records.QUEUED)
    yield _gauge("queue_depth", "Jobs, tasks and shards that wait for a worker.", queued)
    yield _gauge(
        "queue_wait_seconds", ("Seconds that the oldest in the queue has waited."), now.longest_wait
    )
    yield _gauge("workers", "Live workers.", now.workers)
    for name, text, label, numbers in (
        ("judgements", "Added judgements, including withdrawals.", "source", now.judgements),
        ("parts", "Live parts.", "kind", now.parts),
        ("parts_bytes", "Bytes of live parts.", "kind", now.part_bytes),
        ("parts_damaged", "Parts that are lost or damaged.", "kind", now.damaged_parts),
    ):
        family = GaugeMetricFamily(f"beirscope_{name}", text, labels=[label])
        for value, number in numbers.items():
            family.add_metric([value], number)
        yield family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"beirscope_{name}", text, value=value)
