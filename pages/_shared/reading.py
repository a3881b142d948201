"""Stored data, read for pages: one version for each run of a page."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Thread
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute.base import settings
from compute.base.settings import Settings
from compute.evaluate import scored_measures
from compute.judgements import Choice
from compute.reading.ahead import Ahead
from compute.reading.answers import Answers, Picked, Query, Scope, Version
from compute.reading.inputs import Inputs, of_sample
from compute.store import damage, run_versions
from compute.store.store import Part, Store
from compute.views.shared import query_slices
from compute.views.shared.query_slices import Kind
from pages._shared import colours, following, metrics, page_files, page_run, sign_in
from pages._shared.page_run import PageRun


@st.cache_resource(hash_funcs={Settings: repr}, show_spinner=False)
def _answers(now: Settings) -> Answers:
    store = Store(now)
    # Damaged files that can be seen at once are seen now: nothing is opened twice for them.
    store.parts()
    return Answers(store, query_slices.of_kind, metrics.computing)


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _verified(now: Settings, manifest: int) -> Thread:
    return damage.verify_beside(_answers(now).store)


def _here() -> Answers:
    return _answers(settings.load())


AHEAD = Ahead(_here, following)


def opened() -> Store:
    """The store, for who watches the server and sees nothing of what is in it."""
    return _here().store


def verify() -> Thread:
    """Have files read that this machine has not read yet, beside what is shown; the thread."""
    now = settings.load()
    return _verified(now, _answers(now).store.version())


def store() -> Store:
    """The store of this server's home folder."""
    _through_app()
    return _here().store


def begin(title: str) -> None:
    """Fix the version that this run of a page reads, and the colours it is shown in."""
    page_run.begin(
        PageRun(
            version=AHEAD.current(),
            noticed=_here().store.noticed,
            begun=time.monotonic(),
            page=title,
        )
    )
    following.begin()
    colours.follow_browser()


def version() -> Version:
    """The version that this run of a page reads."""
    return page_run.current().version or AHEAD.current()


def _picked() -> Picked:
    """The versions that the address names, whatever for, alone or between commas, or `picking`."""
    picking = page_run.current().picking
    values = [value for key in st.query_params for value in st.query_params.get_all(key)]
    if not any("@" in value for value in values):
        return picking
    return tuple(dict.fromkeys([*run_versions.named(versions(), values), *picking]))


def versions(datasets: Collection[str] | None = None) -> list[Part]:
    """The hits of the earlier runs of systems, on all or on some datasets, the oldest first."""
    manifest, _ = version()
    found = _here().versions(manifest)
    return [part for part in found if datasets is None or part.dataset in datasets]


def only(kind: Kind) -> None:
    """Have the rest of this run of the page read one kind of queries alone, which official
    judgements tell: added ones move no query to another kind."""
    # The panel names what the kind rests on, such as a file of labels.
    read(query_slices.of_kind, added=False, **kind._asdict())
    page_run.current().kind = kind


@contextmanager
def whole() -> Iterator[None]:
    """Read all queries in the with-block, whichever kind the page is of."""
    before = kind()
    page_run.current().kind = None
    try:
        yield
    finally:
        page_run.current().kind = before


def kind() -> Kind | None:
    """The kind of queries that this run of the page reads alone, if it does."""
    return page_run.current().kind


def kind_title() -> str:
    """Title of that group; empty for all queries."""
    return found.title if (found := kind()) else ""


def follow() -> None:
    """Read what is published now: for a fragment that stays while the run's version may go."""
    run = page_run.current()
    _, judgement = version()
    run.version = store().version(), judgement


def is_outdated() -> bool:
    """True if something was published, or found damaged, since this run of the page began."""
    run = page_run.current()
    if AHEAD.is_outdated(run.version, run.begun, follows=following.follows()):
        return True
    return run.noticed not in (None, _here().store.noticed)


@contextmanager
def newest_judgements() -> Iterator[None]:
    """Read all that is judged by now, for a fragment that is drawn anew at every judgement.

    The rest of the page keeps what it was drawn with until it is drawn anew, too.
    """
    run = page_run.current()
    begun = version()
    following.follow()
    run.version = begun[0], store().judgement_version()
    try:
        yield
    finally:
        run.version = begun


def damaged_meanwhile() -> list[Part]:
    """The damaged parts, if any was found only since this run of the page began."""
    # What reports a bug must not raise itself.
    with suppress(Exception):
        stored = _here().store
        found = damage.verify(stored)
        if page_run.current().noticed not in (None, stored.noticed):
            return [part for part in found if part.damage]
    return []


def read(query: Query, *, added: bool | None = None, **params: Any) -> DataFrame:
    """`query(cursor, **params)` on the version of this run; the frame is the caller's own copy.

    Scores, means and judgements are those that the switch above the page says; with `added` they
    are official + added, or official, whatever it says. They are of the page's kind of queries
    alone, if it has one (`only`), but within `whole`, and for questions that are declared so.
    """
    _through_app()
    run, read_version = page_run.current(), version()
    choice = run.choice
    if added is not None:
        choice = (run.added or Choice()) if added else None
    frame, found = _here().read(read_version, choice, query, params, _scope())
    metrics.answered(query)
    run.rests_on |= found
    return frame


@contextmanager
def picking(named: Iterable[str]) -> Iterator[None]:
    """Read these versions of systems, too, as if the address named them."""
    run = page_run.current()
    run.picking = tuple(named)
    try:
        yield
    finally:
        run.picking = ()


def _scope() -> Scope:
    return Scope(_picked(), kind())


@contextmanager
def cursor() -> Iterator[Any]:
    """A cursor on the version of this run, for answers that are too large to be kept."""
    _through_app()
    manifest, judgement = version()
    choice = page_run.current().choice
    with _here().overlays(manifest, _picked()).cursor(judgement, choice) as opened:
        yield opened


def parts() -> Sequence[Part]:
    """The live parts of this run's version; reading them anew takes a tenth of a second."""
    manifest, _ = version()
    return _here().holding(manifest, _picked()).parts


def measures() -> list[str]:
    """Every measure that a picker offers: the usual ones, the settings' and what was scored."""
    return scored_measures.offered(settings.load(), parts())


def rests_on() -> Inputs:
    """Inputs of the numbers that this run of the page has read."""
    return page_run.current().rests_on


def add_sample(about: Mapping[str, str | int], measure: str) -> None:
    """Name a sample that numbers of this run of the page were estimated from, by a measure; as it
    is now, where the page showed less of the same task before."""
    before = rests_on()
    others = frozenset(one for one in before.samples if dict(one)["task"] != about["task"])
    others_only = replace(before, samples=others)
    page_run.current().rests_on = others_only | of_sample(about, measure)


def later(query: Query, **params: Any) -> Callable[[], DataFrame]:
    """`read`, for what is made after this run of the page, such as a file; on the same version."""
    begun, choice = version(), page_run.current().choice
    here, scope = _here(), _scope()
    return lambda: here.read(begun, choice, query, params, scope)[0]


def _through_app() -> None:
    """Leave Streamlit's own list of the files in pages/, if it is in it, for app.py's table.

    The first address that a fresh server is asked for, other than its root, it opens by that
    list, past app.py and its checks, unless some run has called `st.navigation`.
    """
    if page_run.current().version or "_alone" in st.session_state:
        # Fragments and callbacks run past app.py too, long after somebody was let in.
        sign_in.require(sign_in.VIEWER)
        return
    st.session_state["_alone"] = True
    st.navigation([st.Page(file) for file in page_files.PAGES], position="hidden")
    st.rerun()
