"""Sections of the Judge page: the list of tasks, and the form for judging a task. Neither names a
system, an order or other people's judgements, because assessors judge blind."""

import hashlib
import secrets
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from compute.base.errors import BeirscopeError, Conflict, Unavailable
from compute.judgements import orders, sampling
from compute.judgements.tasks import answers, deciding, guideline, queue, tasks
from compute.judgements.tasks import grades as grading
from compute.judgements.tasks.answers import Answer
from compute.judgements.tasks.queue import Annotator, Hand
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import adaptive_order, judging_form
from compute.views.annotate import select as annotate_select
from compute.views.annotate import tables as figures
from compute.views.annotate.sample import Sample
from compute.views.query import select as query_select
from compute.views.shared import catalogue
from pages import _judge
from pages._annotate import late_answers
from pages._shared import (
    address,
    annotators,
    drawing,
    escaping,
    failures,
    navigation,
    reading,
    sign_in,
)
from pages._shared.reading import read
from pages._shared.served import Served

MOST = 50
"""Most tasks listed, the newest first."""


def named(key: str) -> Task | None:
    """Return the task that the address names under `key`, if any; report an unknown task."""
    task_id = st.query_params.get(key, "")
    found = tasks.tasks(reading.store(), [task_id]) if task_id else []
    if task_id and not found:
        st.warning(escaping.text(f"There is no task with the id {task_id}."))
    return found[0] if found else None


def go(**names: str) -> None:
    """Change the view to these values of the address; for the `on_click` of a button."""
    st.query_params.from_dict(names)
    navigation.at_top()


def listed() -> None:
    """Draw all tasks with their progress, and two buttons each."""
    late_answers.save()
    store = reading.store()
    found = tasks.tasks(store)
    operator = sign_in.may(sign_in.OPERATOR)
    if operator:
        st.button(
            "New task", icon=":material/add:", type="primary", on_click=go, kwargs={"view": "new"}
        )
    drawing.caption(
        "A task is a set of unjudged query–document pairs; assessors see no systems, ranks or other"
        " judgements."
    )
    if not found:
        st.info(
            "There are no tasks yet. If you were asked to judge, ask for the link to the task"
            + (", or create one." if operator else ".")
        )
        if operator:
            _texts_first()
        return
    progress = queue.overview(store).set_index("task").to_dict("index")
    titles = read(annotate_select.judgeable).set_index("dataset")["title"].to_dict()
    for task in found[:MOST]:
        _row(task, titles.get(task.dataset, task.dataset), progress[task.id])


def _texts_first() -> None:
    """If no dataset with runs has texts, say that assessors would see ids; link to the import."""
    runs = read(annotate_select.judgeable)
    if len(runs) and not runs["with_texts"].any():
        drawing.caption(
            "No stored dataset has texts yet: assessors would see ids. PyDocs datasets make their"
            " texts on first use."
        )
        address.link("Add texts", "pages/data.py", show="Import", to=figures.without_texts(runs)[0])


def _row(task: Task, dataset: str, progress: Mapping[Hashable, int]) -> None:
    """Draw a task of the list."""
    with st.container(border=True):
        words, judge, about = st.columns([0.7, 0.15, 0.15], vertical_alignment="center")
        words.markdown(f"**{escaping.text(task.title)}**")
        words.caption(escaping.text(figures.progress(task, dataset, progress)))
        words.progress(min(1.0, progress["given"] / max(1, progress["wanted"])))
        key: dict[str, Any] = {"on_click": go, "width": "stretch"}
        judge.button("Judge", key=f"judge_{task.id}", kwargs={"task": task.id}, **key)
        told = "Shows systems and order: not for assessors"
        named = {"about": task.id}
        about.button("Details", key=f"about_{task.id}", help=told, kwargs=named, **key)


def judging(task: Task) -> None:
    """Draw the form, once the assessor is known."""
    address.remember("dataset", task.dataset)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All tasks", icon=":material/arrow_back:", type="tertiary", on_click=_leave)
        st.markdown(f"**{escaping.text(task.title)}**", width="content")
        person = annotators.shown(_let_go)
    late_answers.save(_scope(task.id, person.name) if person else "")
    if person is None:
        annotators.ask()
        return
    if task.admits(person.name):
        _form(task.id, person)
        _stay()
    else:
        st.info(escaping.text(f"{person.name} is not an assessor of this task."))


@st.fragment
@failures.guarded
def _form(task_id: str, person: Annotator) -> None:
    """Save the form's answers and send the next documents; as a fragment this is fast."""
    reading.read_newest_parts()
    store = reading.store()
    task = tasks.task(store, task_id)
    # The fragment reruns with the assessor of its first run, who may have changed since.
    person = annotators.known_as(person.name)
    scope = _scope(task_id, person.name)
    st.session_state["_at_form"] = task_id, person
    hand, told = _exchanged(task, person, scope)
    again = failures.guarded(partial(queue.offer_skipped, store, task, person.name))
    above = st.container()
    with above:
        # It stays in place while the form is redrawn; only after a look must it be computed.
        is_ready = _tell_decision(task, hand)
    _judge.form(_sent(task, hand, person) | told, f"judge-{scope}", again)
    reading.AHEAD.tell_judged()
    if not is_ready:
        _decide(task, hand)
        with above:
            _tell_decision(task, hand)
    _rearrange(task, hand.judged, scope)
    if not hand.left:
        _what_next(task)


def _exchanged(task: Task, person: Annotator, scope: str) -> tuple[Hand, dict[str, Any]]:
    """Save the answers in an assessor's log; return the next documents and data for the form."""
    store, log, trouble = reading.store(), _log(scope), ""
    saved = st.session_state.setdefault(f"_saved-{scope}", set())
    now = queue.texts_now(store, task.dataset)
    others = {one.entry for one in log if now and one.texts not in ("", now)} - saved
    new = [one for one in log if one.entry not in saved | others]
    try:
        hand = queue.exchange(store, task, person, new)
        saved.update(one.entry for one in new)
    except (Conflict, Unavailable) as error:
        # The form stays open, keeps the answers, and resends them by itself.
        hand, trouble = queue.before(store, task, person), str(error)
    if not queue.is_here(store, task.dataset):
        hand, trouble = replace(hand, held=(), last=None), queue.gone(task.dataset)
    kept = [one.entry for one in log if one.entry in saved]
    shown = queue.texts(reading.parts(), task.dataset) if now else ""
    told = {"saved": kept, "replaced": sorted(others), "trouble": trouble, "texts": shown}
    return hand, told


def _tell_decision(task: Task, hand: Hand) -> bool:
    """State at which numbers of judgements a decision is possible, and whether one was made. No
    system is named, because assessors judge blind. Return false if this is not known yet."""
    if not deciding.tells_apart(task) or task.measure != deciding.MEASURE:
        return True
    n = task.n_pairs - hand.left
    passed, coming = deciding.around(n, task.n_pairs)
    known = _known_decisions(task, n)
    if passed and passed not in known:
        return False
    decided = known.get(passed)
    if decided:
        rest = ": you may stop, or judge the rest" * bool(hand.left)
        st.markdown(f"**Decided at {decided:,} judgements{rest}.**")
        if hand.left:
            _what_next(task)
        return True
    more = " and ".join(f"{n:,}" for n in coming)
    drawing.caption(
        f"No decision at {passed:,} judgements." * (decided == 0),
        f"A decision is possible at {more} judgements (all assessors together)." * bool(coming),
    )
    return True


def _known_decisions(task: Task, n: int) -> dict[int, int | None]:
    """Return the session's results of `_decided_at` by look, without looks after `n` judgements,
    since an undone judgement may be given another grade."""
    known = st.session_state.setdefault(f"_decided-{task.id}-{task.n_pairs}", {})
    for look in [look for look in known if look > n]:
        del known[look]
    return known


def _decide(task: Task, hand: Hand) -> None:
    """Compute whether the task is decided at the last look."""
    n = task.n_pairs - hand.left
    passed, _ = deciding.around(n, task.n_pairs)
    _known_decisions(task, n)[passed] = _decided_at(task)


def _decided_at(task: Task) -> int | None:
    """Return the number of judgements at which a task was decided; 0 if it was not, and None if
    there is no estimate."""
    try:
        with reading.newest_judgements():
            sample = Sample.of(Served(), task, task.measure)
            decision = deciding.decision(reading.store(), task, sample.frame, sample.judged())
    except BeirscopeError:  # The page of the verdict states it; the form stays usable.
        return None
    return decision.n if decision else 0


def _what_next(task: Task) -> None:
    """Draw links to what the judgements show; the linked pages name systems."""
    with st.container(horizontal=True):
        for n, (label, page, names) in enumerate(outcomes(task)):
            kind: Any = "secondary" if n else "primary"
            if st.button(label, icon=":material/arrow_forward:", type=kind):
                navigation.to(page, dataset=task.dataset, **names)
                st.rerun()
        if st.button("Task and qrels", icon=":material/arrow_forward:"):
            go(about=task.id)
            st.rerun()


def outcomes(task: Task) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield label, page and address of each view that shows the effect of the judgements."""
    bare = task.dataset in set(reading.read(catalogue.unjudged, added=False)["dataset"])
    if deciding.tells_apart(task) and bare:
        yield "Verdict on the two systems", "compare", dict(zip("ab", task.systems, strict=True))
        return
    if task.order == orders.SAMPLED:
        is_audit = task.goal == sampling.AUDIT
        key, part = ("audit", "audit-labels") if is_audit else ("sample", "estimates")
        yield "Estimate", "holes", {key: task.id, "open": part, "judgements": "added"}
    yield "Effect on scores", "holes", {"judgements": "added", "open": "before-after"}


def _scope(task_id: str, person: str) -> str:
    """Return the key of a person's answers to a task."""
    return hashlib.sha256(f"{task_id}\0{person}".encode()).hexdigest()[:16]


def _log(scope: str) -> list[Answer]:
    """Return the answers that the browser sent last."""
    sent = st.session_state.get(f"judge-{scope}") or {}
    return answers.parsed((sent.get("log") or {}).get("entries", []))


def _leave() -> None:
    _let_go()
    go()


@failures.guarded
def _let_go() -> None:
    """Save the answers sent last, if the form will not be redrawn, and release its pairs."""
    if "_at_form" in st.session_state:
        task_id, person = st.session_state.pop("_at_form")
        person = annotators.known_as(person.name)
        store = reading.store()
        task = tasks.task(store, task_id)
        queue.exchange(store, task, person, _log(_scope(task_id, person.name)), ahead=0)
        queue.give_back(store, task, person.name)


def _rearrange(task: Task, judged: int, scope: str) -> None:
    """Recompute an order that learns in the background, once enough judgements were added."""
    last = st.session_state.setdefault(f"_arranged-{scope}", 0)
    if abs(judged - last) >= adaptive_order.EVERY:
        st.session_state[f"_arranged-{scope}"] = judged
        adaptive_order.soon(reading.store(), task)


@st.fragment(run_every="120s")
def _stay() -> None:
    """Run an empty fragment from time to time, so that a browser that finds a new server reruns the
    page. Otherwise it would ask that server only for the form, which it has never drawn."""


def _sent(task: Task, hand: Hand, person: Annotator) -> dict[str, Any]:
    """Return all data for the form, except which of its answers are saved."""
    scope = _scope(task.id, person.name)
    last = [hand.last] if hand.last else []
    found = _sheets(task, [*hand.held, *last], scope)
    keys = grading.keys(task.grades)
    return {
        "scope": scope,
        "task": task.id,
        "person": person.name,
        **_turn(),
        "documents": [found[pair.id] for pair in hand.held],
        "last": found[hand.last.id] if hand.last else None,
        "grades": [
            {"key": key, "relevance": relevance, "name": name}
            for key, (relevance, name) in zip(keys, task.grades, strict=True)
        ],
        "guideline": guideline.tree(task.guideline),
        "version": task.guideline_version,
        "judged": hand.judged,
        "skipped": hand.skipped,
        "left": hand.left,
        "seconds": hand.seconds,
    }


def _turn() -> dict[str, Any]:
    """Return the number of this session's message, by which the form ignores old messages."""
    session = st.session_state.setdefault("_form_session", secrets.token_hex(8))
    st.session_state["_form_turn"] = turn = st.session_state.get("_form_turn", 0) + 1
    return {"session": session, "turn": turn}


def _sheets(task: Task, pairs: list[queue.Pair], scope: str) -> dict[str, judging_form.Sheet]:
    """Return the sheets of pairs by id; cached ones make a key press read little."""
    judged = queue.texts(reading.parts(), task.dataset)
    of, known = st.session_state.get(f"_sheets-{scope}", (judged, {}))
    known = known if of == judged else {}
    absent = [pair for pair in pairs if pair.id not in known]
    if absent:
        collection = read(annotate_select.collection, dataset=task.dataset)["collection"].iloc[0]
        doc_ids = sorted({pair.doc_id for pair in absent})
        query_ids = sorted({pair.query_id for pair in absent})
        texts = read(query_select.documents, collection=collection, doc_ids=doc_ids)
        of = {"dataset": task.dataset, "query_ids": query_ids}
        asked = [read(query, **of) for query in (catalogue.asked, catalogue.narratives)]
        new = judging_form.sheets(absent, texts, *asked)
        known = known | {sheet["key"]: sheet for sheet in new}
    known = {pair.id: known[pair.id] for pair in pairs}
    st.session_state[f"_sheets-{scope}"] = judged, known
    return known
