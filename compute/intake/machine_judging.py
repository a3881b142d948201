"""LLM judging: the estimate, the requests, and the grades. The grades are a part, like those of a
file (`machine_grade_import`); every request is a row of the journal
(`compute.judgements.asking.journal`), from which a killed judging resumes."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq
from pandas import DataFrame

from compute.base import redaction
from compute.base.errors import BeirscopeError, Conflict, Missing, Unavailable, WrongInput
from compute.base.scratch_database import scratch
from compute.base.settings import Settings
from compute.base.words import counted
from compute.datasets import DATASETS, dataset
from compute.datasets.reading import narratives_of
from compute.intake import machine_grade_import as taking
from compute.intake.machine_grade_import import Taken
from compute.judgements import orders
from compute.judgements.asking import endpoint, journal
from compute.judgements.asking.endpoint import Busy, Endpoint, Forbidden, Refused, Strange
from compute.judgements.asking.journal import (
    ATTEMPTS,
    FAILED,
    GRADE,
    REFUSED,
    UNREADABLE,
    Journal,
    Spent,
)
from compute.judgements.asking.prompt import (
    LONGEST,
    LONGEST_ANSWER,
    Prompt,
    most_tokens,
    usual_tokens,
)
from compute.judgements.machine_grades import KIND
from compute.judgements.tasks import grades as grading
from compute.judgements.tasks import tasks
from compute.recompute import run as recompute
from compute.store import damage, provenance
from compute.store.loading import Bench, Loaded
from compute.store.own_datasets import dataset_of, of_parts, own_datasets
from compute.store.store import Part, Store

FORM = "judge"
"""The source of such grades in their provenance."""
WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each retry of a failed request, unless the server asks for another delay."""
LOCKED = 10.0
"""Seconds to wait until another judging by the same LLM on the same dataset ends."""
PATIENCE = 10
"""If none of this many first pairs gets a grade, the LLM is not asked further."""
AT_FAULT = 3
"""After this many consecutive failed pairs, the server counts as the cause."""
_TEXTS = """
select query_id, doc_id, coalesce(queries.text, '') as query,
       left(coalesce(trim(concat_ws(chr(10), nullif(title, ''), documents.text)), ''), $most)
           as document,
       coalesce(narratives.text, '') as narrative
from given
left join read_parquet($queries) as queries using (query_id)
left join narratives using (query_id)
left join read_parquet($documents) as documents using (doc_id)
order by place
"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An operator's request: a task's pairs, or unjudged documents in the top k of some systems."""

    dataset: str
    machine: str
    task: str = ""
    systems: tuple[str, ...] = ()
    depth: int = 10
    guideline: str = ""
    """The guideline for unjudged documents of runs; a task has its own."""
    address: str = ""
    model: str = ""
    requests: int = 0
    """Limit on the number of requests."""
    tokens: int = 0
    """Limit on the number of tokens."""
    answer: int = LONGEST_ANSWER
    """Maximum tokens of an answer."""

    def record(self) -> dict[str, Any]:
        """Return the plan as JSON values, which `of_record` reads back."""
        return asdict(self) | {"systems": list(self.systems)}

    @property
    def limits(self) -> Spent:
        """The limits on requests and tokens."""
        return Spent(self.requests, self.tokens)


def of_record(record: Mapping[str, Any]) -> Plan:
    """Return the plan of a record."""
    given: dict[str, Any] = {**record, "systems": tuple(record["systems"])}
    return Plan(**given)


@dataclass(frozen=True)
class Prepared:
    """A plan, and the data that it needs from the store."""

    plan: Plan
    prompt: Prompt
    identity: str
    """Fingerprint of prompt, model, address and texts; all grades under one name share it."""
    texts: DataFrame
    """query_id, doc_id, query and document (their texts) of all pairs, in the order of asking."""
    asked: DataFrame
    """The LLM's earlier requests with this identity, in the form of `journal.asked`."""

    def open(self, job: str = "", *, again: bool = False) -> DataFrame:
        """Return the rows of `texts` to ask about, with n_used, their number of attempts so far.
        With `again`, pairs that got no grade in earlier jobs are asked again."""
        used = journal.attempts(self.asked, job, again=again)
        pairs = zip(self.texts["query_id"], self.texts["doc_id"], strict=True)
        rows = self.texts.assign(n_used=[used.get(pair, 0) for pair in pairs])
        with_texts = (rows["query"] != "") & (rows["document"] != "")
        return rows[with_texts & (rows["n_used"] < ATTEMPTS)]


class Estimate(NamedTuple):
    """The estimated cost of judging, before anything is sent."""

    pairs: int
    to_ask: int
    without_text: int
    usual_tokens: int
    """Tokens if every answer is a grade and a token has four bytes."""
    most_tokens: int
    """Tokens if every pair is asked twice and every byte is a token."""

    @property
    def sentence(self) -> str:
        """The estimate as a sentence."""
        most = ATTEMPTS * self.to_ask
        told = [f"{counted(self.pairs, 'pair')}: {counted(self.to_ask, 'request')}"]
        told[0] += f", {most:,} if no answer is a grade" * (most > 0)
        told += [f"about {self.usual_tokens:,} tokens, at most {self.most_tokens:,}"]
        told += ["failed requests are extra"]
        done = self.pairs - self.to_ask - self.without_text
        told += [f"{done:,} asked before"] * (done > 0)
        told += [f"{self.without_text:,} without text here"] * (self.without_text > 0)
        return "; ".join(told)


def planned(settings: Settings, plan: Plan) -> Plan:
    """Return the plan with address and model from the settings. Raises Missing without them."""
    if not settings.judge_address or not settings.judge_model:
        raise Missing(
            "no LLM is configured: set judge_address and judge_model, such as"
            " http://localhost:8000/v1 and the model's name, and judge_key if it needs one, in"
            " settings.toml of the home folder or as BEIRSCOPE_JUDGE_ADDRESS and so on"
        )
    about: dict[str, Any] = {"address": endpoint.address(settings), "model": settings.judge_model}
    return replace(plan, **about, answer=settings.judge_tokens)


def judgeable(parts: Sequence[Part]) -> list[str]:
    """Return the datasets that have runs and texts among a store's parts."""
    known = dict(DATASETS) | of_parts(parts)
    texts = {part.dataset for part in parts if part.kind == "documents"}
    names = sorted({part.dataset for part in parts if part.kind == "hits"})
    return [name for name in names if name in known and known[name].collection in texts]


def allow(store: Store, name: str, address: str, person: str = "") -> None:
    """Let the texts of a dataset be sent to an address. Raises WrongInput for a dataset with
    parts."""
    dataset_of(store, name).refuse_parts()
    journal.allow(store, name, address, person)


def forbid(store: Store, name: str, address: str = "") -> None:
    """Revoke the consent for a dataset's texts, and for datasets that share them: for one address,
    or for all if `address` is empty."""
    own = own_datasets(store)
    rows = [*DATASETS.values(), *own.values()]
    given = dataset(name, own)
    named = {given.name, *given.parts}
    shared = {row.collection for row in rows if row.name in named}
    journal.forbid(
        store, *named, *(row.name for row in rows if row.collection in shared), to=address
    )


def check(store: Store, plan: Plan) -> None:
    """Raise an error if the first request is not allowed: no limits, or no consent."""
    if plan.requests < 1 or plan.tokens < 1:
        raise WrongInput("limit the number of requests and of tokens, at least one of each")
    journal.require_consent(store, plan.dataset, plan.address)


def prepared(store: Store, plan: Plan) -> Prepared:
    """Look up the pairs and their texts. Raises Missing or WrongInput if there are none, and
    Conflict if the LLM has grades of another identity."""
    taking.check_name(plan.machine)
    row = dataset_of(store, plan.dataset)
    row.refuse_parts()
    loaded = recompute.stored_dataset(store, row)
    if loaded.documents is None:
        raise Missing(f"no text of {row.name} is stored: python -m compute add-texts {row.name}")
    pairs, prompt = _of_task(store, plan) if plan.task else _of_pool(store, plan, loaded)
    if pairs.empty:
        raise WrongInput(
            f"nothing is unjudged in the top {plan.depth} of these runs: choose a larger depth"
        )
    sent = (loaded.documents, loaded.queries, loaded.narratives)
    prints = [part.fingerprint for part in sent if part]
    identity = prompt.identity(plan.model, plan.address, *prints)
    asked = journal.asked(store, plan.dataset, plan.machine)
    part = store.part(KIND, plan.dataset, plan.machine)
    other = part is not None and part.provenance.get("form") != FORM
    if other or set(asked.loc[asked["outcome"] == GRADE, "prompt"]) - {identity}:
        raise Conflict(
            f"{plan.machine} already has grades of {row.name} from a file or a run, or by"
            " another model,"
            " server, guideline, prompt or text: give these another name (--machine NAME), or"
            " remove those first (python -m compute"
            f" remove {row.name} --machine {plan.machine} --yes)"
        )
    # Pairs without a grade from another prompt or model are asked again.
    asked = asked[asked["prompt"] == identity]
    return Prepared(plan, prompt, identity, _texts(pairs, loaded), asked)


def _of_task(store: Store, plan: Plan) -> tuple[DataFrame, Prompt]:
    """Return the pairs of a judging task, and its prompt."""
    task = tasks.task(store, plan.task)
    if task.dataset != plan.dataset:
        raise WrongInput(f"the task {plan.task} is about {task.dataset}, not {plan.dataset}")
    return tasks.pairs(store, plan.task), Prompt(task.grades, task.guideline)


def _of_pool(store: Store, plan: Plan, loaded: Loaded) -> tuple[DataFrame, Prompt]:
    """Return the officially unjudged pairs in the top k, best rank first, and the prompt. Pairs
    with added human judgements stay, since the LLM is also compared with these."""
    if not plan.systems or not 1 <= plan.depth <= tasks.DEEPEST:
        raise WrongInput(
            "choose the pairs: a judging task (--task ID), or stored runs (--systems) and how much"
            f" of their top (--depth 1 to {tasks.DEEPEST:,})"
        )
    official = recompute.read(loaded.judgements)
    tops = pd.concat([_top(store, plan, name) for name in dict.fromkeys(plan.systems)])
    blocks = orders.Framed(tops).blocks(official, plan.systems, plan.depth)
    levels = grading.of_levels(official["relevance"].tolist())
    return orders.first("depth", blocks, plan.depth, 0), Prompt(levels, plan.guideline)


def _top(store: Store, plan: Plan, name: str) -> DataFrame:
    columns, first = ["query_id", "doc_id", "rank"], [("rank", "<=", plan.depth)]
    run = damage.run(store, plan.dataset, name).path
    table = pq.read_table(run, columns=columns, filters=first)
    return table.to_pandas().assign(system=name)


def _texts(pairs: DataFrame, loaded: Loaded) -> DataFrame:
    """Return query_id, doc_id, query, document and narrative (texts, the document truncated) of
    these pairs."""
    assert loaded.documents is not None
    files = {"queries": str(loaded.queries.path), "documents": str(loaded.documents.path)}
    with scratch() as database:
        database.register("given", pairs[["query_id", "doc_id", "place"]])
        told = recompute.read(loaded.narratives) if loaded.narratives else narratives_of([])
        database.register("narratives", told)
        return database.execute(_TEXTS, files | {"most": LONGEST}).df()


def estimate(ready: Prepared, *, again: bool = False) -> Estimate:
    """Return the estimated cost of asking about all pairs that `Prepared.open` returns."""
    rows = ready.open(again=again)
    usual = most = 0
    for texts in rows[["query", "document", "narrative"]].itertuples(index=False):
        messages = ready.prompt.messages(*texts, reminded=True)
        bound = most_tokens(messages, ready.plan.answer)
        usual, most = usual + usual_tokens(bound), most + ATTEMPTS * bound
    empty = (ready.texts["query"] == "") | (ready.texts["document"] == "")
    return Estimate(len(ready.texts), len(rows), int(empty.sum()), usual, most)


def judge(bench: Bench, plan: Plan, *, again: bool = False) -> Taken:
    """Ask about every open pair; then publish the LLM's grades, even if an error ends the judging.
    Pairs that got no grade are asked again only with `again`. Raises Unavailable if a limit or the
    server ends it; and Conflict without consent, or while another process asks the LLM about the
    dataset."""
    check(bench.store, plan)
    now = planned(bench.settings, plan)
    if replace(now, answer=plan.answer) != plan:
        raise Conflict(
            f"this process is configured for {now.model} at {now.address}, but the judging was"
            " started for"
            f" {plan.model} at {plan.address}: start the worker again with the same settings"
        )
    # A judging that was cancelled needs a moment to end.
    with journal.alone(bench.store, plan.dataset, plan.machine, LOCKED):
        ready = prepared(bench.store, plan)
        start = time.perf_counter()
        try:
            _ask_all(bench, ready, ready.open(bench.job, again=again))
        except BeirscopeError as error:
            stay = "the grades so far are kept, and the next start continues with the rest"
            raise type(error)(f"{error}; {stay}") from error
        finally:
            taken = _publish(bench, ready, start)
    if taken is None:
        raise Unavailable(f"no pair has a grade; {said(bench.store, plan, bench.job)}")
    return taken


def _ask_all(bench: Bench, ready: Prepared, rows: DataFrame) -> None:
    """Ask about these rows, several at once. The first error stops all rows that have not begun."""
    asker, total = _Asker(bench, ready), len(ready.texts)
    threads = ThreadPoolExecutor(bench.settings.judge_at_once)
    columns = (rows[name] for name in _Pair._fields)
    try:
        pairs = [_Pair(*values) for values in zip(*columns, strict=True)]
        under_way = [threads.submit(asker, pair) for pair in pairs]
        for number, done in enumerate(as_completed(under_way), total - len(rows) + 1):
            done.result()
            bench.progress(number, total, "documents")
        asker.finish()
    except BaseException as error:
        asker.stop.set()
        # A process that must end cannot wait for answers: the grades so far are published first.
        threads.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
        raise


class _Pair(NamedTuple):
    query_id: str
    doc_id: str
    query: str
    document: str
    narrative: str
    n_used: int


class _Asker:
    """Asks about one pair after another, from several threads."""

    def __init__(self, bench: Bench, ready: Prepared) -> None:
        plan = ready.plan
        self.stop = threading.Event()
        self._prompt, self._limits = ready.prompt, plan.limits
        self._answer = plan.answer
        self._endpoint = Endpoint(bench.settings, plan.answer)
        about = plan.dataset, plan.machine, bench.job, ready.identity, plan.address
        self._journal = Journal(bench.store, *about)
        self._lock, self._closed = threading.Lock(), 0
        self._graded = bool((ready.asked["outcome"] == GRADE).any())
        self._answered = 0
        self._aside: list[tuple[str, BeirscopeError]] = []

    def __call__(self, pair: _Pair) -> None:
        """Ask about a pair until there is a grade, at most ATTEMPTS times. An error stops all."""
        try:
            outcome = UNREADABLE
            for attempt in range(pair.n_used, ATTEMPTS):
                if outcome == UNREADABLE and not self.stop.is_set():
                    outcome = self._asked(pair, reminded=attempt > 0)
            self._count(outcome)
        except BaseException:
            self.stop.set()
            raise

    def _count(self, outcome: str) -> None:
        """Count a finished pair. Raises Unavailable if the first PATIENCE got no grade."""
        with self._lock:
            self._closed += not self.stop.is_set()
            self._graded |= outcome == GRADE
            if self._closed >= PATIENCE and not self._graded:
                raise Unavailable(f"stopped: none of the first {PATIENCE} answers was a grade")

    def finish(self) -> None:
        """Raise the server's last failure if it may not be a pair's fault."""
        if self._aside:
            raise self._aside[0][1]

    def _asked(self, pair: _Pair, *, reminded: bool) -> str:
        """Return the outcome of a request, which is sent again while the server fails. If
        `reminded`, the prompt asks once more for only a grade."""
        texts = pair.query, pair.document, pair.narrative
        messages = self._prompt.messages(*texts, reminded=reminded)
        reason = request = ""
        answered = self._answered
        for wait in (*WAITS, None):
            if self.stop.is_set():
                return FAILED
            name = pair.query_id, pair.doc_id
            request = self._journal.begin(name, most_tokens(messages, self._answer), self._limits)
            try:
                with self._noting_failure(request):
                    return self._kept(request, messages)
            except Busy as error:
                reason = str(error)
                if wait is not None:
                    self.stop.wait(wait if error.wait is None else error.wait)
            except (Forbidden, Strange) as error:
                at_fault = PATIENCE if isinstance(error, Forbidden) else AT_FAULT
                return self._put_aside(request, error, answered, at_fault)
        told = f"{self._endpoint.address} failed {len(WAITS) + 1} times in a row ({reason})"
        return self._put_aside(request, Unavailable(told), answered, AT_FAULT)

    @contextmanager
    def _noting_failure(self, request: str) -> Iterator[None]:
        """Record any failure within the block; an unknown cost counts as the maximum."""
        try:
            yield
        except Exception as error:
            known = isinstance(error, Busy | BeirscopeError)
            unspent = error.unspent if isinstance(error, Busy) else not isinstance(error, Strange)
            reason = str(error) if known else "asking for it failed"
            tokens = 0 if known and unspent else None
            self._journal.end(request, FAILED, reason=reason, tokens=tokens)
            raise

    def _put_aside(self, request: str, error: BeirscopeError, answered: int, at_fault: int) -> str:
        """Go on without a pair, whose failure is its own if others got answers meanwhile
        (`answered` is their number before). Raises the error if no pair has got an answer yet, or
        if this many consecutive pairs have failed."""
        with self._lock:
            self._aside.append((request, error))
            if not self._answered or len(self._aside) >= at_fault:
                raise error
            going_on = self._answered > answered
        if going_on:
            self._blame()
        return FAILED

    def _blame(self) -> None:
        """Record pairs put aside as refused: another got an answer, so the server works."""
        with self._lock:
            aside, self._aside = self._aside, []
        for request, error in aside:
            self._journal.end(request, REFUSED, reason=str(error))

    def _kept(self, request: str, messages: Sequence[Mapping[str, str]]) -> str:
        """Store the answer to a request and return its outcome."""
        outcome = self._stored(request, messages)
        with self._lock:
            self._answered += 1
        self._blame()
        return outcome

    def _stored(self, request: str, messages: Sequence[Mapping[str, str]]) -> str:
        """Send a request and record its answer in the journal; return the outcome."""
        try:
            reply = self._endpoint.ask([dict(one) for one in messages])
        except Refused as error:
            self._journal.end(request, REFUSED, reason=str(error), tokens=0)
            return REFUSED
        relevance = None if reply.cut else self._prompt.grade(reply.text)
        outcome = UNREADABLE if relevance is None else GRADE
        kept = redaction.masked(self._prompt.reason(reply.text))
        reason = kept if relevance is not None else "its answer was not a grade"
        if reply.cut:
            reason = (
                "its answer was longer than a grade and cut off; raise judge_tokens if it reasons"
            )
        self._journal.end(request, outcome, relevance=relevance, reason=reason, tokens=reply.tokens)
        return outcome


def _publish(bench: Bench, ready: Prepared, start: float) -> Taken | None:
    """Publish the journal's grades as a part; return None if there are none."""
    plan = ready.plan
    asked = journal.asked(bench.store, plan.dataset, plan.machine)
    rows = journal.grades(asked)
    if rows.empty:
        return None
    _require_own(bench.store, plan, ready.identity)
    what = ["--task", plan.task] if plan.task else ["--systems", *plan.systems]
    what += [] if plan.task else ["--depth", str(plan.depth)]
    words = ["judge", plan.dataset, "--machine", plan.machine, *what]
    without = journal.ungraded(asked)
    about: dict[str, Any] = {"model": plan.model, "address": plan.address}
    about |= {"prompt": ready.identity}
    about |= {"guideline": ready.prompt.guideline, "grades": grading.lines(ready.prompt.grades)}
    about |= {"requests": len(asked), "without_answer": sum(without.values())}
    made = provenance.record(words, time.perf_counter() - start, form=FORM, **about)
    row = dataset_of(bench.store, plan.dataset)
    part, new = taking.publish(bench, row, plan.machine, rows, made, replace=True)
    return Taken(part, new, 0, sum(without.values()))


def _require_own(store: Store, plan: Plan, identity: str) -> None:
    """Raise Conflict if other grades got the LLM's name during the judging."""
    part = store.part(KIND, plan.dataset, plan.machine)
    about = part.provenance if part else {"form": FORM, "prompt": identity}
    if (about.get("form"), about.get("prompt")) != (FORM, identity):
        raise Conflict(
            f"{plan.machine} got other grades of {plan.dataset} during the judging, which are"
            " not replaced: remove them, which also drops the requests (python -m compute"
            f" remove {plan.dataset} --machine {plan.machine} --yes), and start again"
        )


def said(store: Store, plan: Plan, job: str, *, active: bool = False) -> str:
    """Return a sentence on one job, such as `5 requests, 2,310 tokens; 2 without a grade: …`. While
    the job is `active`, open requests are not reported."""
    spent = journal.spent(store, job)
    asked = journal.asked(store, plan.dataset, plan.machine)
    asked = asked[asked["job"] == job]
    without = journal.ungraded(asked[asked["outcome"].notna()] if active else asked)
    told = [f"{counted(spent.requests, 'request')}, {counted(spent.tokens, 'token')}"]
    told += [f"{number:,} without a grade: {reason}" for reason, number in without.items()]
    return "; ".join(told)
