"""Stored data for pages, with one version per run of a page."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from compute.reading.inputs import of_sample
from compute.store import damage, run_versions
from compute.store.store import Part, Store
from compute.views.shared import query_slices
from pages._shared import (
    colours,
    following,
    metrics,
    page_files,
    page_run,
    sign_in,
    streamlit_internals,
)
from pages._shared.page_run import PageRun


@st.cache_resource(hash_funcs={Settings: repr}, show_spinner=False)
def _answers(now: Settings) -> Answers:
    """Return the cached answers of the store of these settings."""
    store = Store(now)
    # Damage that shows without reading is found now, so that no file is opened twice.
    store.parts()
    return Answers(store, query_slices.of_kind, metrics.computing)


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _verified(now: Settings, manifest: int) -> Thread:
    return damage.verify_beside(_answers(now).store)


def _now() -> Answers:
    return _answers(settings.load())


AHEAD = Ahead(_now, following)


def _here() -> Answers:
    """Return the answers of the store that this run of the page reads; settings are read once."""
    return page_run.current().answers or _now()


def opened() -> Store:
    """Return the store for monitoring, which does not read its content."""
    return _now().store


def verify() -> Thread:
    """Verify files that this machine has not read yet, in the returned thread."""
    now = settings.load()
    return _verified(now, _answers(now).store.version())


def store() -> Store:
    """Return the store in this server's home folder."""
    _through_app()
    return _here().store


def begin(title: str) -> None:
    """Set the version and the theme of this run of a page."""
    here = _now()
    page_run.begin(
        PageRun(
            version=AHEAD.current(),
            answers=here,
            noticed=here.store.noticed,
            begun=time.monotonic(),
            page=title,
        )
    )
    following.begin()
    colours.follow_browser()


def version() -> Version:
    """Return the version that this run of a page reads."""
    return page_run.current().version or AHEAD.current()


def _picked() -> Picked:
    """Return the superseded versions that the address, under any key, or `picking` names."""
    picking = page_run.current().picking
    values = [value for key in st.query_params for value in st.query_params.get_all(key)]
    if not any("@" in value for value in values):
        return picking
    return tuple(dict.fromkeys([*run_versions.named(versions(), values), *picking]))


def versions(datasets: Collection[str] | None = None) -> list[Part]:
    """Return the hits of superseded runs, on all or some datasets, oldest first."""
    manifest, _ = version()
    found = _here().versions(manifest)
    return [part for part in found if datasets is None or part.dataset in datasets]


def read_newest_parts() -> None:
    """Let this run read the newest parts, for a fragment that outlives the run's version; the
    judgements stay those of the run."""
    run = page_run.current()
    _, judgement = version()
    run.version = store().version(), judgement


def is_outdated() -> bool:
    """Return true if a part was published or found damaged, or judgements were added, since this
    run started; new judgements may wait for a while."""
    run = page_run.current()
    if AHEAD.is_outdated(run.version, run.begun, follows=following.follows()):
        return True
    return run.noticed not in (None, _here().store.noticed)


@contextmanager
def newest_judgements() -> Iterator[None]:
    """Read all judgements so far; for a fragment that is redrawn at every judgement. The rest of
    the page keeps its data until it is redrawn."""
    following.follow()
    with page_run.having(version=(version()[0], store().judgement_version())):
        yield


def damaged_meanwhile() -> list[Part]:
    """Return the damaged parts, if damage was found since this run of the page started."""
    # This runs while a bug is reported, and must not raise an error itself.
    with suppress(Exception):
        stored = _here().store
        found = damage.verify(stored)
        if page_run.current().noticed not in (None, stored.noticed):
            return [part for part in found if part.damage]
    return []


def read(query: Query, *, added: bool | None = None, **params: Any) -> DataFrame:
    """Return `query(cursor, **params)` on the version of this run; the frame is the caller's own
    copy. Scores, means and judgements follow the judgement picker above the page; `added` overrides
    it. They cover only the run's query group, if there is one, except for questions declared
    otherwise."""
    _through_app()
    run, read_version = page_run.current(), version()
    choice = run.choice
    if added is not None:
        choice = (run.added or Choice()) if added else None
    frame, found = _here().read(read_version, choice, query, params, _scope())
    metrics.answered(query)
    run.rests_on |= found
    return frame


def _scope() -> Scope:
    return Scope(_picked(), page_run.current().kind)


@contextmanager
def cursor() -> Iterator[Any]:
    """Yield a cursor on the version of this run, for answers too large to cache."""
    _through_app()
    manifest, judgement = version()
    choice = page_run.current().choice
    with _here().overlays(manifest, _picked()).cursor(judgement, choice) as opened:
        yield opened


def parts() -> Sequence[Part]:
    """Return the live parts of this run's version; rereading them takes a tenth of a second."""
    manifest, _ = version()
    return _here().holding(manifest, _picked()).parts


def measures() -> list[str]:
    """Return all measures that a picker offers: defaults, those of the settings, scored ones."""
    return scored_measures.offered(settings.load(), parts())


def add_sample(about: Mapping[str, str | int], measure: str) -> None:
    """Note a sample from which this run estimated a measure; per task the newest state counts."""
    run = page_run.current()
    others = frozenset(one for one in run.rests_on.samples if dict(one)["task"] != about["task"])
    run.rests_on = replace(run.rests_on, samples=others) | of_sample(about, measure)


def later(query: Query, **params: Any) -> Callable[[], DataFrame]:
    """Return a function that reads this run's version later, for files made after the run."""
    begun, choice = version(), page_run.current().choice
    here, scope = _here(), _scope()
    return lambda: here.read(begun, choice, query, params, scope)[0]


def _through_app() -> None:
    """Replace Streamlit's own list of the files in pages/, if active, by app.py's table. Until a
    run calls `st.navigation`, a new server opens addresses other than its root from that list,
    bypassing app.py and its checks."""
    if page_run.current().version or "_alone" in st.session_state:
        # Fragments and callbacks also bypass app.py, long after it checked the sign-in.
        if not streamlit_internals.is_in_app():
            sign_in.require(sign_in.VIEWER)
        return
    st.session_state["_alone"] = True
    st.navigation([st.Page(file) for file in page_files.PAGES], position="hidden")
    st.rerun()
