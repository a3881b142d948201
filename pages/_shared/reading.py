"""What is stored, read for pages: one version for each run, answers kept by what they rest on."""

import atexit
import math
import sys
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Any, NamedTuple

import streamlit as st
from pandas import DataFrame

from compute.base import settings
from compute.base.bounded_cache import Kept, key
from compute.base.settings import Settings
from compute.evaluate import scored_measures
from compute.judgements import Choice
from compute.reading import inputs, length_counts, score_arrays, top_ranks
from compute.reading.database import open_version
from compute.reading.inputs import Shown
from compute.reading.overlay import Official, Overlays
from compute.reading.questions import Holding, declared
from compute.store import damage, run_versions
from compute.store.state import Outgrown
from compute.store.store import Part, Store
from compute.views.shared import query_slices
from compute.views.shared.query_slices import Kind
from pages._shared import colours, following, metrics, page_files, sign_in

Query = Callable[..., DataFrame]
Version = tuple[int, int]
"""The manifest's version and the id of the last added judgement."""
Picked = tuple[str, ...]
"""The versions of systems (`run_versions`) that are systems like all others."""


class Scope(NamedTuple):
    """What of a version a page reads."""

    picked: Picked = ()
    kind: Kind | None = None
    """The kind of queries that alone is read, if it is one."""


PAUSE, PATIENCE = 0.25, 5.0
"""Seconds between two looks for a new version, and after which nobody waits for its opening."""
FIRST, LAST = 3.0, 20.0
"""Seconds for the first page of a process, which is drawn alone, and for the opening of a version
when the process ends."""
BREATH, PART_PACE = 1.0, 0.25
"""Seconds between two times that every page is told to look whether it is out of date, for each
page that is open but one; and between two that the parts which follow judgements are drawn, for
each of them. So what nobody asked for takes a part of one processor alone."""
CALM, LONGEST = 5.0, 120.0
"""A page of which a part follows judgements is drawn anew when none has come for so many seconds,
or when it has not been drawn for so many."""
OUTGROWN = (
    "a newer Beirscope has opened what is stored here: stop this server, update it and start it"
    " again; answers that a browser keeps are saved then"
)
KEPT_BYTES = 200_000_000
"""What answers to the pages' questions take up at most, together; one alone half of it."""
FRAME_BYTES = 20_000
"""What a frame takes up besides its values."""


@st.cache_resource(hash_funcs={Settings: repr}, show_spinner=False)
def _store(now: Settings) -> Store:
    opened = Store(now)
    # Damaged files that can be seen at once are seen now: nothing is opened twice for them.
    opened.parts()
    return opened


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _verified(now: Settings, manifest: int) -> Thread:
    return damage.verify_beside(_store(now))


@st.cache_resource(hash_funcs={Settings: repr}, show_spinner=False)
def _official(now: Settings) -> dict[str, Official]:
    """What the versions share, by dataset."""
    return {}


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _usual(now: Settings, manifest: int, noticed: int) -> Overlays:
    stored = _store(now)
    return Overlays(stored, open_version(stored, manifest), _official(now))


# Beside those that everybody reads, which are not to make way for them.
@st.cache_resource(hash_funcs={Settings: repr}, max_entries=4, show_spinner=False)
def _with_picked(now: Settings, manifest: int, noticed: int, picked: Picked) -> Overlays:
    stored = _store(now)
    return Overlays(stored, open_version(stored, manifest, picked=picked))


def _overlays(now: Settings, manifest: int, noticed: int, picked: Picked = ()) -> Overlays:
    """A version of what is stored, with the earlier runs of systems that are picked."""
    if picked:
        return _with_picked(now, manifest, noticed, picked)
    return _usual(now, manifest, noticed)


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=7, show_spinner=False)
def _holding(now: Settings, manifest: int, noticed: int, picked: Picked) -> Holding:
    return Holding.of(_store(now).parts(version=manifest, picked=picked))


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _kept_versions(now: Settings, manifest: int, noticed: int) -> list[Part]:
    return run_versions.stored(_store(now), at=manifest)


def _read(
    now: Settings,
    version: Version,
    choice: Choice | None,
    query: Query,
    params: Mapping[str, Any],
    scope: Scope,
) -> tuple[DataFrame, Shown]:
    manifest, judgement = version
    kind = scope.kind if declared(query).by_kind else None
    # A part that is found damaged meanwhile is left out of what is read from then on.
    noticed = _store(now).noticed
    holding = _holding(now, manifest, noticed, scope.picked)
    own = holding.under(query, params)
    beside = holding.under(query_slices.of_kind, kind._asdict()) if kind else ()
    rests: Hashable = version, noticed, scope.picked
    if own is not None:
        rests = own, beside, judgement if choice else 0

    def queries() -> DataFrame | None:
        if kind is None:
            return None
        asked = kind._asdict()
        return _read(now, version, None, query_slices.of_kind, asked, Scope(scope.picked))[0]

    name = f"{query.__module__}.{query.__qualname__}"
    asked = repr(now), scope.picked, repr(choice), kind, name, key(params)
    newest = *version, noticed, scope.picked
    return _found(now, (asked, rests), choice, queries, query, params, newest)


@st.cache_resource(show_spinner=False)
def _kept() -> Kept[tuple[DataFrame, Shown]]:
    # Streamlit's own cache bounds the number of answers, which may be of a gigabyte each.
    return Kept(KEPT_BYTES, _size, KEPT_BYTES // 2)


def _size(answer: tuple[DataFrame, Shown]) -> int:
    return FRAME_BYTES + int(answer[0].memory_usage(deep=True).sum())


def _found(
    now: Settings,
    told: tuple[Hashable, Hashable],
    choice: Choice | None,
    queries: Callable[[], DataFrame | None],
    query: Query,
    params: Mapping[str, Any],
    version: tuple[int, int, int, Picked],
) -> tuple[DataFrame, Shown]:
    """What a query finds in a version, or found in another whose parts it rests on are the same."""
    manifest, judgement, noticed, picked = version

    def ask() -> tuple[DataFrame, Shown]:
        overlays = _overlays(now, manifest, noticed, picked)
        kept = queries()
        with metrics.computing(query), overlays.cursor(judgement, choice, kept) as cursor:
            frame = query(cursor, **params)
        return frame, inputs.of(frame, declared(query), params)

    question, rests = told
    # Whoever asks again asks for what is there by then: each judgement would leave a copy of all.
    frame, found = _kept().of(question, ask, rests)
    metrics.answered(query)
    return frame.copy(), found


def _current() -> Version:
    stored = _store(settings.load())
    # What was published a moment ago is shown once it is open: no reader waits for that.
    opened = _AHEAD.version if time.monotonic() - _AHEAD.beat < PATIENCE else stored.version()
    return opened, stored.judgement_version()


@dataclass
class _Ahead:
    """The newest version that was opened before anybody asked for it, when that was looked, and
    the newest whose added judgements were counted in; the newest judgement, and when it was seen;
    the newest for which the parts that follow were drawn, and when; what pages were told of, and
    when; whether all of that is a newer Beirscope's now."""

    version: int = 0
    beat: float = -math.inf
    counted: int = 0
    judgement: int = 0
    judged: float = -math.inf
    woken: int = 0
    waking: float = -math.inf
    told: Version = (0, 0)
    telling: float = -math.inf
    outgrown: bool = False


_AHEAD = _Ahead()


def prepare() -> None:
    """Open what is stored before anybody asks for a page."""
    now = settings.load()
    stored = _store(now)
    manifest, noticed = stored.version(), stored.noticed
    _overlays(now, manifest, noticed)
    _holding(now, manifest, noticed, ())


def stay_ahead() -> Thread:
    """From now on open every version before somebody asks for it; the thread that does."""
    ending = Event()
    thread = Thread(target=_stay_ahead, args=[ending], daemon=True)
    thread.start()

    def end() -> None:
        # A process that ends while a thread is in a library of C++ may be aborted.
        ending.set()
        thread.join(LAST)

    atexit.register(end)
    return thread


def _stay_ahead(ending: Event) -> None:
    begun = math.inf
    while True:
        # Who asks for a page hears what is wrong.
        with suppress(Exception):
            _look_for_newer()
            _open_newest()
            tell_judged()
            _tell_pages()
            _AHEAD.beat = time.monotonic()
            begun = min(begun, _AHEAD.beat)
            if _AHEAD.beat - begun > FIRST:
                _count_in()
        if ending.wait(PAUSE):
            return


def _look_for_newer() -> None:
    if _AHEAD.outgrown:
        return
    try:
        _AHEAD.outgrown = _store(settings.load()).outgrown()
    except Outgrown:
        _AHEAD.outgrown = True
    if _AHEAD.outgrown:
        sys.stderr.write(f"{OUTGROWN}\n")


def _open_newest() -> None:
    """The newest version with what most of its readers need, if it is not open yet."""
    now = settings.load()
    stored = _store(now)
    manifest = stored.version()
    if manifest == _AHEAD.version:
        return
    prepare()
    overlays = _overlays(now, manifest, stored.noticed)
    with overlays.cursor(stored.judgement_version()) as opened:
        for kept in (score_arrays, top_ranks, length_counts):
            kept.prepare(opened)
    if _AHEAD.version:
        _count_in(manifest)
    _AHEAD.version = manifest


def _count_in(manifest: int | None = None) -> None:
    """Count the added judgements into a version, for who comes."""
    manifest = manifest or _AHEAD.version
    if manifest == _AHEAD.counted:
        return
    now = settings.load()
    stored = _store(now)
    with _overlays(now, manifest, stored.noticed).cursor(stored.judgement_version(), Choice()):
        _AHEAD.counted = manifest


def tell_judged() -> None:
    """Wake what follows judgements, if there is one that it was not told of."""
    newest, now = _store(settings.load()).judgement_version(), time.monotonic()
    if newest != _AHEAD.judgement:
        _AHEAD.judgement, _AHEAD.judged = newest, now
    pause = PART_PACE * following.number(following.PART)
    if newest != _AHEAD.woken and now > _AHEAD.waking + pause:
        _AHEAD.woken, _AHEAD.waking = newest, now
        following.wake()


def _tell_pages() -> None:
    """Have every page look whether it is out of date, if something is new."""
    new, now = (_AHEAD.version, _AHEAD.judgement), time.monotonic()
    if new != _AHEAD.told and now > _AHEAD.telling + _breath():
        _AHEAD.told, _AHEAD.telling = new, now
        following.wake(following.PAGE)


def _breath() -> float:
    return BREATH * max(1, following.number(following.PAGE) - 1)


def opened() -> Store:
    """The store, for who watches the server and sees nothing of what is in it."""
    return _store(settings.load())


def kept_bytes() -> int:
    """What the answers that are kept take up."""
    return _kept().held


def outgrown() -> bool:
    """Whether a newer Beirscope, of another server, has moved on what is stored."""
    return _AHEAD.outgrown


def verify() -> Thread:
    """Have files read that this machine has not read yet, beside what is shown; the thread."""
    now = settings.load()
    return _verified(now, _store(now).version())


def store() -> Store:
    """The store of this server's home folder."""
    _through_app()
    return _store(settings.load())


def begin() -> None:
    """Fix the version that this run of the page reads, and the colours it is shown in."""
    st.session_state["_version"] = _current()
    st.session_state["_noticed"] = _store(settings.load()).noticed
    st.session_state["_rests_on"] = Shown()
    st.session_state["_kind"] = None
    st.session_state["_begun"] = time.monotonic()
    following.begin()
    colours.follow_browser()


def _picked() -> Picked:
    """The versions that the address names, whatever for, alone or between commas, or `picking`."""
    picking = st.session_state.get("_picking", ())
    values = [value for key in st.query_params for value in st.query_params.get_all(key)]
    if not any("@" in value for value in values):
        return picking
    return tuple(dict.fromkeys([*run_versions.named(versions(), values), *picking]))


def versions(datasets: Collection[str] | None = None) -> list[Part]:
    """The hits of the earlier runs of systems, on all or on some datasets, the oldest first."""
    manifest, _ = st.session_state.get("_version") or _current()
    now = settings.load()
    found = _kept_versions(now, manifest, _store(now).noticed)
    return [part for part in found if datasets is None or part.dataset in datasets]


def only(kind: Kind) -> None:
    """Have the rest of this run of the page read one kind of queries alone, which official
    judgements tell: added ones move no query to another kind."""
    # The panel names what the kind rests on, such as a file of labels.
    read(query_slices.of_kind, added=False, **kind._asdict())
    st.session_state["_kind"] = kind


@contextmanager
def whole() -> Iterator[None]:
    """Read all queries in the with-block, whichever kind the page is of."""
    before = kind()
    st.session_state["_kind"] = None
    try:
        yield
    finally:
        st.session_state["_kind"] = before


def kind() -> Kind | None:
    """The kind of queries that this run of the page reads alone, if it does."""
    return st.session_state.get("_kind")


def kind_title() -> str:
    """What people read for that kind; empty for all queries."""
    return found.title if (found := kind()) else ""


def follow() -> None:
    """Read what is published now: for a fragment that stays while the run's version may go."""
    _, judgement = st.session_state["_version"]
    st.session_state["_version"] = store().version(), judgement


def await_published() -> None:
    """Wait until what this process itself has published is shown: the next page may be about it."""
    while _current()[0] < store().version():
        time.sleep(PAUSE / 5)


def is_outdated() -> bool:
    """Whether something was published, or found damaged, since this run of the page began.

    Judgements alone wait a while where many pages are open, or where a part of this one follows
    them (`newest_judgements`).
    """
    shown, now = st.session_state.get("_version"), _current()
    if shown != now and not (shown and shown[0] == now[0] and _may_wait(now[1])):
        return True
    noticed = _store(settings.load()).noticed
    return st.session_state.get("_noticed", noticed) != noticed


def _may_wait(judgement: int) -> bool:
    """Whether the page was drawn a moment ago; with a part that follows judgements it waits for a
    calm."""
    now, begun = time.monotonic(), st.session_state["_begun"]
    calm = judgement == _AHEAD.judgement and now > _AHEAD.judged + CALM
    return now < begun + _breath() or (following.follows() and not calm and now < begun + LONGEST)


@contextmanager
def newest_judgements() -> Iterator[None]:
    """Read all that is judged by now, for a fragment that is drawn anew at every judgement.

    The rest of the page keeps what it was drawn with until it is drawn anew, too.
    """
    begun = st.session_state["_version"]
    following.follow()
    st.session_state["_version"] = begun[0], store().judgement_version()
    try:
        yield
    finally:
        st.session_state["_version"] = begun


def damaged_meanwhile() -> list[Part]:
    """The damaged parts, if any was found only since this run of the page began."""
    # What reports a bug must not raise itself.
    with suppress(Exception):
        stored = _store(settings.load())
        noticed = st.session_state.get("_noticed", stored.noticed)
        found = damage.verify(stored)
        return [part for part in found if part.damage] if stored.noticed != noticed else []
    return []


def read(query: Query, *, added: bool | None = None, **params: Any) -> DataFrame:
    """`query(cursor, **params)` on the version of this run; the frame is the caller's own copy.

    Scores, means and judgements are those that the switch above the page says; with `added` they
    are official + added, or official, whatever it says. They are of the page's kind of queries
    alone, if it has one (`only`), but within `whole`, and for questions that are declared so.
    """
    _through_app()
    version = st.session_state.get("_version") or _current()
    choice = st.session_state.get("_choice")
    if added is not None:
        choice = (st.session_state.get("_added") or Choice()) if added else None
    frame, found = _read(settings.load(), version, choice, query, params, _scope())
    st.session_state["_rests_on"] = rests_on() | found
    return frame


@contextmanager
def picking(named: Iterable[str]) -> Iterator[None]:
    """Read these versions of systems, too, as if the address named them."""
    st.session_state["_picking"] = tuple(named)
    try:
        yield
    finally:
        del st.session_state["_picking"]


def _scope() -> Scope:
    return Scope(_picked(), kind())


@contextmanager
def cursor() -> Iterator[Any]:
    """A cursor on the version of this run, for answers that are too large to be kept."""
    _through_app()
    manifest, judgement = st.session_state.get("_version") or _current()
    choice, now = st.session_state.get("_choice"), settings.load()
    overlays = _overlays(now, manifest, _store(now).noticed, _picked())
    with overlays.cursor(judgement, choice) as opened:
        yield opened


def parts() -> Sequence[Part]:
    """The live parts of this run's version; reading them anew takes a tenth of a second."""
    manifest, _ = st.session_state.get("_version") or _current()
    now = settings.load()
    return _holding(now, manifest, _store(now).noticed, _picked()).parts


def measures() -> list[str]:
    """Every measure that a picker offers: the usual ones, the settings' and what was scored."""
    return scored_measures.offered(settings.load(), parts())


def rests_on() -> Shown:
    """What the numbers that this run of the page has read come from."""
    return st.session_state.get("_rests_on", Shown())


def add_sample(about: Mapping[str, str | int], measure: str) -> None:
    """Name a sample that numbers of this run of the page were estimated from, by a measure; as it
    is now, where the page showed less of the same task before."""
    before = rests_on()
    others = frozenset(one for one in before.samples if dict(one)["task"] != about["task"])
    others_only = replace(before, samples=others)
    st.session_state["_rests_on"] = others_only | view_inputs.of_sample(about, measure)


def later(query: Query, **params: Any) -> Callable[[], DataFrame]:
    """`read`, for what is made after this run of the page, such as a file; on the same version."""
    version, choice = st.session_state["_version"], st.session_state.get("_choice")
    now, scope = settings.load(), _scope()
    return lambda: _read(now, version, choice, query, params, scope)[0]


def _through_app() -> None:
    """Leave Streamlit's own list of the files in pages/, if it is in it, for app.py's table.

    The first address that a fresh server is asked for, other than its root, it opens by that
    list, past app.py and its checks, unless some run has called `st.navigation`.
    """
    if "_version" in st.session_state or "_alone" in st.session_state:
        # Fragments and callbacks run past app.py too, long after somebody was let in.
        sign_in.require(sign_in.VIEWER)
        return
    st.session_state["_alone"] = True
    st.navigation([st.Page(file) for file in page_files.PAGES], position="hidden")
    st.rerun()
