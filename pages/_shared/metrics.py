"""Counts of this server's work while it draws pages: the part of `/metrics` kept in memory."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

# Nobody needs the creation times of series.
disable_created_metrics()
REGISTRY = CollectorRegistry()
_QUESTIONS = Histogram(
    "beirscope_question_seconds",
    "Seconds to compute the answer to a page's question, by question.",
    ["question"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
    registry=REGISTRY,
)
_ANSWERS = Counter(
    "beirscope_answers",
    "Answers to questions, computed or cached. Subtract beirscope_question_seconds_count to"
    " get cached answers.",
    ["question"],
    registry=REGISTRY,
)
_PAGES = Histogram(
    "beirscope_page_seconds",
    "Seconds until a page was fully drawn, by page.",
    ["page"],
    buckets=(0.03, 0.1, 0.3, 1, 3, 10, 30),
    registry=REGISTRY,
)
BUGS = Counter("beirscope_bugs", "Bugs that pages showed and logged.", registry=REGISTRY)


@contextmanager
def drawing(page: str) -> Iterator[None]:
    """Time the drawing of a page; abandoned and failed pages do not count."""
    start = time.perf_counter()
    yield
    _PAGES.labels(page).observe(time.perf_counter() - start)


@contextmanager
def computing(query: Callable[..., Any]) -> Iterator[None]:
    """Time a question while it is computed."""
    start = time.perf_counter()
    yield
    _QUESTIONS.labels(_named(query)).observe(time.perf_counter() - start)


def answered(query: Callable[..., Any]) -> None:
    """Count an answer, computed or cached."""
    _ANSWERS.labels(_named(query)).inc()


def _named(query: Callable[..., Any]) -> str:
    """Return a name such as `leaderboard.select.means`, one per question in the code."""
    name = f"{query.__module__}.{query.__qualname__}"
    return name.removeprefix("compute.").removeprefix("views.")
