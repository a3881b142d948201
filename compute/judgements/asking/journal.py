"""The journal of requests to LLMs, and consents to send texts, as tables of the state. A request
gets a row before it is sent, and the row gets its outcome before the pair is asked about again. So
every request is counted and none is repeated, however a process ends: a row without an outcome was
in progress at the end, and its job does not repeat it."""

import hashlib
import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pandas as pd
from pandas import DataFrame
from sqlalchemy import BigInteger, Column, Table, Text, delete, func, insert, select, update

from compute.base.errors import Conflict, Unavailable
from compute.base.locks import sole
from compute.store import state
from compute.store.store import Store

GRADE, UNREADABLE, REFUSED, FAILED = "grade", "unreadable", "refused", "failed"
"""Outcomes of requests. A failed request is repeated, and an unreadable answer up to ATTEMPTS
times; the others are final for the pair."""
ATTEMPTS = 2
"""Maximum number of attempts per pair while the answers are unreadable."""
INTERRUPTED = "its answer was pending when the process ended"

consents = Table(
    "text_consents",
    state.metadata,
    Column("dataset", Text, primary_key=True),
    Column("address", Text, primary_key=True),
    *state.texts("person", "created"),
)
requests = Table(
    "machine_requests",
    state.metadata,
    Column("id", Text, primary_key=True),
    *state.texts("dataset", "machine", "query_id", "doc_id", "job"),
    *state.texts("prompt"),  # version, and a hash of what all requests share
    Column("tokens", BigInteger, nullable=False),  # the maximum, then the actual number
    Column("outcome", Text),  # absent while it is pending
    Column("relevance", BigInteger),
    Column("reason", Text, nullable=False, default=""),
    Column("asked", Text, nullable=False),
)


def allow(store: Store, dataset: str, address: str, person: str) -> None:
    """Allow the texts of a dataset to be sent to an address until `forbid` revokes it."""
    row = {"dataset": dataset, "address": address, "person": person, "created": state.now()}
    with state.writing(store.engine) as connection:
        if not connection.execute(_consent(dataset, address)).first():
            connection.execute(insert(consents), row)


def forbid(store: Store, *datasets: str, to: str = "") -> int:
    """Revoke consents for texts of datasets, for one address or all; returns their number."""
    own = consents.c.dataset.in_(datasets)
    if to:
        own &= consents.c.address == to
    with state.writing(store.engine) as connection:
        return connection.execute(delete(consents).where(own)).rowcount


def allowed(store: Store, dataset: str, address: str) -> bool:
    """Return whether the texts of a dataset may be sent to an address."""
    with store.engine.connect() as connection:
        return connection.execute(_consent(dataset, address)).first() is not None


def require_consent(store: Store, dataset: str, address: str) -> None:
    """Raise Conflict, with the command for consent, if the texts may not be sent there."""
    if not allowed(store, dataset, address):
        raise Conflict(_forbidden(dataset, address))


def _forbidden(dataset: str, address: str) -> str:
    """Return the message that consent is missing, and how to give it."""
    return (
        f"no text of {dataset} may be sent to {address}: an operator can allow it on the"
        " page Jobs, or with"
        f" python -m compute judge {dataset} --allow-texts-to {address}"
    )


def _consent(dataset: str, address: str):
    """Return the query for a consent."""
    own = (consents.c.dataset == dataset) & (consents.c.address == address)
    return select(consents.c.dataset).where(own)


@dataclass(frozen=True)
class Spent:
    """Requests and tokens of a job, or limits on them; a pending request counts as its maximum."""

    requests: int
    tokens: int


class Journal:
    """The requests of one job to one LLM about one dataset."""

    def __init__(
        self, store: Store, dataset: str, machine: str, job: str, prompt: str, address: str
    ) -> None:
        self._store, self._address = store, address
        self._about = {"dataset": dataset, "machine": machine, "job": job, "prompt": prompt}
        # This lock is only for threads, since another process finds the LLM locked (`alone`).
        self._lock = threading.Lock()

    def begin(self, pair: tuple[str, str], tokens: int, limits: Spent) -> str:
        """Record a request that may take this many tokens, before it is sent; returns its id.
        Raises Conflict without consent to send the texts there, and Unavailable if the request
        would exceed a limit."""
        job, dataset = self._about["job"], self._about["dataset"]
        row = {"id": secrets.token_hex(8), "query_id": pair[0], "doc_id": pair[1]}
        row |= self._about | {"tokens": tokens, "asked": state.now()}
        with self._lock, state.writing(self._store.engine) as connection:
            if not connection.execute(_consent(dataset, self._address)).first():
                raise Conflict(_forbidden(dataset, self._address))
            spent = Spent(*map(int, connection.execute(_spent(job)).one()))
            if spent.requests >= limits.requests:
                raise Unavailable(f"stopped at the limit of {limits.requests:,} requests")
            if spent.tokens + tokens > limits.tokens:
                raise Unavailable(
                    f"stopped before the limit of {limits.tokens:,} tokens: {spent.tokens:,} are"
                    f" spent or pending, and the next document may take {tokens:,}"
                )
            connection.execute(insert(requests), row)
        return str(row["id"])

    def end(
        self,
        request: str,
        outcome: str,
        *,
        relevance: int | None = None,
        reason: str = "",
        tokens: int | None = None,
    ) -> None:
        """Record the outcome of a request; without `tokens`, it counts as its maximum."""
        values = {"outcome": outcome, "relevance": relevance, "reason": reason}
        values |= {} if tokens is None else {"tokens": tokens}
        with self._lock, state.writing(self._store.engine) as connection:
            own = requests.c.id == request
            connection.execute(update(requests).where(own).values(**values))


def _spent(job: str):
    """Return the query for the requests and tokens of a job."""
    tokens = func.coalesce(func.sum(requests.c.tokens), 0)
    return select(func.count(), tokens).where(requests.c.job == job)


def spent(store: Store, job: str) -> Spent:
    """Return the numbers of requests and tokens of a job so far."""
    with store.engine.connect() as connection:
        return Spent(*map(int, connection.execute(_spent(job)).one()))


def asked(store: Store, dataset: str, machine: str) -> DataFrame:
    """Return every request to an LLM about a dataset, oldest first: query_id, doc_id, job, prompt,
    outcome, relevance, reason."""
    table = requests.c
    columns = [table.query_id, table.doc_id, table.job, table.prompt, table.outcome]
    query = select(*columns, table.relevance, table.reason)
    query = query.where(table.dataset == dataset, table.machine == machine)
    with store.engine.connect() as connection:
        found = pd.read_sql(query.order_by(table.asked, table.id), connection)
    return found.astype({"relevance": "Int64"})


def reasons(store: Store, dataset: str, query_id: str, doc_id: str) -> dict[str, str]:
    """Return the reasons that LLMs gave for their grades of a document, by LLM."""
    of = requests.c
    query = select(of.machine, of.reason).where(of.dataset == dataset, of.outcome == GRADE)
    query = query.where(of.query_id == query_id, of.doc_id == doc_id)
    with store.engine.connect() as connection:
        return {machine: reason or "" for machine, reason in connection.execute(query)}


def grades(rows: DataFrame) -> DataFrame:
    """Return query_id, doc_id and relevance of the graded pairs among requests."""
    found = rows.loc[rows["outcome"] == GRADE, ["query_id", "doc_id", "relevance"]]
    found = found.drop_duplicates(["query_id", "doc_id"], ignore_index=True)
    return found.astype({"relevance": "int32"})


def attempts(rows: DataFrame, job: str, *, again: bool) -> dict[tuple[str, str], int]:
    """Count the attempts that each pair has used; ATTEMPTS is the maximum. A grade uses up all
    attempts, as do a refusal and a request that was pending when a process ended. With `again`,
    only grades and attempts of the current job count."""
    if again:
        rows = rows[(rows["job"] == job) | (rows["outcome"] == GRADE)]
    used = Counter[tuple[str, str]]()
    columns = (rows[name] for name in ("query_id", "doc_id", "outcome"))
    for query_id, doc_id, outcome in zip(*columns, strict=True):
        each = {UNREADABLE: 1, FAILED: 0}
        used[query_id, doc_id] += each.get(outcome, ATTEMPTS)
    return used


def ungraded(rows: DataFrame) -> dict[str, int]:
    """Count the pairs without a grade by the reason of their last request."""
    graded = set(_pairs(rows[rows["outcome"] == GRADE]))
    reasons = rows["reason"].mask(rows["outcome"].isna(), INTERRUPTED)
    last = dict(zip(_pairs(rows), reasons, strict=True))
    return dict(Counter(reason for pair, reason in last.items() if pair not in graded))


def _pairs(rows: DataFrame) -> Iterable[tuple[str, str]]:
    return zip(rows["query_id"], rows["doc_id"], strict=True)


def state_of(store: Store, dataset: str, machine: str) -> tuple[int, int]:
    """Return the numbers of requests and of ended ones, which change with the journal."""
    counts = select(func.count(), func.count(requests.c.outcome))
    with store.engine.connect() as connection:
        own = (requests.c.dataset == dataset) & (requests.c.machine == machine)
        n_asked, n_ended = connection.execute(counts.where(own)).one()
    return int(n_asked), int(n_ended)


def machines(store: Store, dataset: str) -> set[str]:
    """Return the LLMs that were asked about a dataset."""
    with store.engine.connect() as connection:
        own = requests.c.dataset == dataset
        found = connection.execute(select(requests.c.machine).where(own).distinct())
        return {str(name) for (name,) in found}


@contextmanager
def alone(store: Store, dataset: str, machine: str, wait: float = 0.0) -> Iterator[None]:
    """Keep other processes from asking an LLM about a dataset during the with-block. Raises
    Conflict if one of them is still asking after `wait` seconds."""
    name = "judge-" + hashlib.sha256(f"{dataset}\0{machine}".encode()).hexdigest()[:16]
    file = store.home / "locks" / f"{name}.lock"
    with sole(file, wait) as held, state.alone(store.engine, name, wait if held else 0) as ours:
        if held is None or not ours:
            raise Conflict(f"{machine} is judging {dataset}: wait until it ends")
        yield


def forget(store: Store, dataset: str, machine: str = "") -> None:
    """Delete the requests about a dataset, of one LLM or of all."""
    own = requests.c.dataset == dataset
    if machine:
        own &= requests.c.machine == machine
    with state.writing(store.engine) as connection:
        connection.execute(delete(requests).where(own))
