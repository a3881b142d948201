"""What pages share: `read`, cached by version; the pickers; text from outside, shown as text."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import plotly.graph_objects as go
import streamlit as st
import streamlit.components.v2 as components
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.base import bug_reports, disk_refusals, settings
from compute.base.bounded_cache import Kept, key
from compute.base.errors import BeirscopeError
from compute.base.settings import Settings
from compute.evaluate import scored_measures
from compute.exports import browser
from compute.exports.tables import Printed, Scores
from compute.judgements import Choice
from compute.reading.database import open_version
from compute.reading.dependencies import Holding
from compute.reading.overlay import Overlays
from compute.store import damage
from compute.store.store import Part, Store
from compute.views.about import view_inputs
from compute.views.about.view_inputs import Shown
from pages._shared import export, page_files, sign_in

Query = Callable[..., DataFrame]
Version = tuple[int, int]
"""The manifest's version and the id of the last added judgement."""
KEPT_BYTES = 400_000_000
"""What answers to the pages' questions take up at most, together; one alone a quarter of it."""


# A change of the browser's colours reruns nothing by itself, and figures are drawn for one theme.
_SCHEME = components.component(
    "colour_scheme",
    js="""
    export default function ({ data, parentElement, setStateValue }) {
      const media = window.matchMedia("(prefers-color-scheme: dark)");
      const tell = () => {
        const style = getComputedStyle(parentElement.host ?? parentElement);
        const colour = style.getPropertyValue("--st-background-color").trim();
        const shade = parseInt(colour.slice(1, 3), 16);
        const shown = shade < 128 ? "dark" : "light";
        if (!Number.isNaN(shade) && shown !== data.theme) setStateValue("theme", shown);
      };
      const later = () => setTimeout(tell, 300);
      tell();
      media.addEventListener("change", later);
      return () => media.removeEventListener("change", later);
    }
    """,
)


@st.cache_resource(hash_funcs={Settings: repr}, show_spinner=False)
def _store(now: Settings) -> Store:
    opened = Store(now)
    # Damaged files that can be seen at once are seen now: nothing is opened twice for them.
    opened.parts()
    return opened


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _verified(now: Settings, manifest: int) -> Thread:
    return damage.verify_beside(_store(now))


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _overlays(now: Settings, manifest: int, noticed: int) -> Overlays:
    stored = _store(now)
    return Overlays(stored, open_version(stored, manifest))


@st.cache_resource(hash_funcs={Settings: repr}, max_entries=3, show_spinner=False)
def _holding(now: Settings, manifest: int, noticed: int) -> Holding:
    return Holding.of(_store(now).parts(version=manifest))


def _read(
    now: Settings,
    version: Version,
    choice: Choice | None,
    query: Query,
    params: Mapping[str, Any],
) -> tuple[DataFrame, Shown]:
    manifest, judgement = version
    # A part that is found damaged meanwhile is left out of what is read from then on.
    noticed = _store(now).noticed
    own = _holding(now, manifest, noticed).under(query, params)
    rests = (version, noticed) if own is None else (own, judgement if choice else 0)
    return _found(now, rests, choice, query, params, (*version, noticed))


@st.cache_resource(show_spinner=False)
def _kept() -> Kept[tuple[DataFrame, Shown]]:
    # Streamlit's own cache bounds the number of answers, which may be of a gigabyte each.
    return Kept(KEPT_BYTES, _size, KEPT_BYTES // 4)


def _size(answer: tuple[DataFrame, Shown]) -> int:
    return int(answer[0].memory_usage(deep=True).sum())


def _found(
    now: Settings,
    rests: Hashable,
    choice: Choice | None,
    query: Query,
    params: Mapping[str, Any],
    version: tuple[int, int, int],
) -> tuple[DataFrame, Shown]:
    """What a query finds in a version, or found in another whose parts it rests on are the same."""
    manifest, judgement, noticed = version

    def ask() -> tuple[DataFrame, Shown]:
        with _overlays(now, manifest, noticed).cursor(judgement, choice) as cursor:
            frame = query(cursor, **params)
        return frame, view_inputs.of(frame, params)

    name = f"{query.__module__}.{query.__qualname__}"
    frame, found = _kept().of((repr(now), rests, repr(choice), name, key(params)), ask)
    return frame.copy(), found


def _current() -> Version:
    stored = _store(settings.load())
    return stored.version(), stored.judgement_version()


def prepare() -> None:
    """Open what is stored before anybody asks for a page."""
    now = settings.load()
    stored = _store(now)
    manifest, noticed = stored.version(), stored.noticed
    _overlays(now, manifest, noticed)
    _holding(now, manifest, noticed)


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
    _SCHEME(data={"theme": theme()}, key="_scheme", on_theme_change=lambda: None)


def follow() -> None:
    """Read what is published now: for a fragment that stays while the run's version may go."""
    _, judgement = st.session_state["_version"]
    st.session_state["_version"] = store().version(), judgement


def is_outdated() -> bool:
    """Whether something was published, or found damaged, since this run of the page began."""
    if st.session_state.get("_version") != _current():
        return True
    noticed = _store(settings.load()).noticed
    return st.session_state.get("_noticed", noticed) != noticed


def read(query: Query, *, added: bool | None = None, **params: Any) -> DataFrame:
    """`query(cursor, **params)` on the version of this run; the frame is the caller's own copy.

    Scores, means and judgements are those that the switch above the page says; with `added` they
    are official + added, or official, whatever it says.
    """
    _through_app()
    version = st.session_state.get("_version") or _current()
    choice = st.session_state.get("_choice")
    if added is not None:
        choice = (st.session_state.get("_added") or Choice()) if added else None
    frame, found = _read(settings.load(), version, choice, query, params)
    st.session_state["_rests_on"] = rests_on() | found
    return frame


@contextmanager
def cursor() -> Iterator[Any]:
    """A cursor on the version of this run, for answers that are too large to be kept."""
    _through_app()
    manifest, judgement = st.session_state.get("_version") or _current()
    choice, now = st.session_state.get("_choice"), settings.load()
    with _overlays(now, manifest, _store(now).noticed).cursor(judgement, choice) as opened:
        yield opened


def parts() -> Sequence[Part]:
    """The live parts of this run's version; reading them anew takes a tenth of a second."""
    manifest, _ = st.session_state.get("_version") or _current()
    now = settings.load()
    return _holding(now, manifest, _store(now).noticed).parts


def measures() -> list[str]:
    """Every measure that a picker offers: the usual ones, the settings' and what was scored."""
    return scored_measures.offered(settings.load(), parts())


def rests_on() -> Shown:
    """What the numbers that this run of the page has read come from."""
    return st.session_state.get("_rests_on", Shown())


def later(query: Query, **params: Any) -> Callable[[], DataFrame]:
    """`read`, for what is made after this run of the page, such as a file; on the same version."""
    version, choice = st.session_state["_version"], st.session_state.get("_choice")
    now = settings.load()
    return lambda: _read(now, version, choice, query, params)[0]


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


def show_error(error: BeirscopeError) -> None:
    """An error a person can act on, as plain text."""
    st.error(text(str(error)), icon=":material/error:")


def show_failure(error: Exception) -> None:
    """What a disk refused, in a sentence, or a bug: logged under the id that is shown.

    Where a file of the store proves damaged it is neither: it is named, and left out from now.
    """
    if damaged := _damaged_meanwhile():
        st.error(text("; ".join(damage.told(damaged))), icon=":material/error:")
        return
    now = settings.load()
    if refused := disk_refusals.refusal(error, now.home):
        show_error(refused)
        return
    shown = st.session_state.setdefault("_bugs", {})
    # A fragment that draws itself every other second would fill the disk with one bug.
    if repr(error) not in shown:
        shown[repr(error)] = bug_reports.said(now, "dashboard", error)
    st.error(text(shown[repr(error)]))


def _damaged_meanwhile() -> list[Part]:
    """The damaged parts, if any was found only since this run of the page began."""
    # What reports a bug must not raise itself.
    with suppress(Exception):
        stored = _store(settings.load())
        noticed = st.session_state.get("_noticed", stored.noticed)
        found = damage.verify(stored)
        return [part for part in found if part.damage] if stored.noticed != noticed else []
    return []


def guarded(draw: Callable[..., None]) -> Callable[..., None]:
    """For a fragment, which draws itself again past app.py: errors as app.py shows them."""

    @wraps(draw)
    def drawn(*args: Any) -> None:
        try:
            draw(*args)
        except BeirscopeError as error:
            show_error(error)
        except Exception as error:
            show_failure(error)

    return drawn


def theme() -> str:
    """The colours that the browser shows the page in: "light" or "dark"."""
    told = st.session_state.get("_scheme") or {}
    return told.get("theme") or st.context.theme.type or "light"


def plot(figure: go.Figure, key: str, alt: str, **options: Any) -> Any:
    """Draw a figure in its own colours; under it a menu that saves it as files.

    Where the server has no Chromium, the figure keeps one button of Plotly's own: the picture as
    SVG, drawn in the browser.
    """
    config: dict[str, Any] = {"displayModeBar": False}
    if browser.find() is None:
        image = {"format": "svg", "filename": key}
        config = {"displaylogo": False, "modeBarButtons": [["toImage"]]}
        config |= {"toImageButtonOptions": image}
    drawn = st.plotly_chart(figure, theme=None, key=key, config=config, alt=alt, **options)
    export.figure(figure, key, alt)
    return drawn


def table(
    frame: DataFrame | Styler,
    key: str,
    title: str,
    *,
    scores: Scores | None = None,
    file: DataFrame | None = None,
    printed: Printed | None = None,
    **options: Any,
) -> Any:
    """Draw a table; under it a menu that saves it, as CSV, Parquet, LaTeX and Markdown.

    `options` are those of `st.dataframe`; `scores` says which columns compare systems; `file` is
    what is saved where that is another frame than what is shown, such as bare numbers, and
    `printed` says which of its columns Markdown and LaTeX write in a way of their own.
    """
    # A key keeps what was sorted and selected, which is of use where a click does something.
    kept: dict[str, Any] = {"hide_index": True}
    kept |= {"key": key} if "on_select" in options else {}
    drawn = st.dataframe(frame, **(kept | options))
    saved = frame if file is None else file
    export.table(saved, key, title, scores or Scores(()), printed)
    return drawn


def _keep_click(key: str) -> None:
    points = st.session_state[key]["selection"]["points"]
    dataset, system = points[0]["customdata"] if points else ("", "")
    if dataset:
        st.query_params.update(dataset=dataset, system=system)
        st.session_state["_open"] = {"dataset": dataset, "system": system}


def plot_cells(figure: go.Figure, alt: str, measure: str) -> None:
    """Draw a heatmap; a click on a cell opens its dataset with the same measure.

    The click stays in the address, so that the cell has its outline on the way back.
    """
    click = partial(_keep_click, "cells")
    plot(figure, "cells", alt, on_select=click, selection_mode="points")
    open_dataset(measure)


def open_dataset(measure: str) -> None:
    """Go to the dataset that a click chose, if any; what is in print alone is no measure there."""
    if cell := st.session_state.pop("_open", None):
        known = {"measure": measure} if measure in measures() else {}
        st.session_state["_way"] = f"dataset?{urlencode(cell | known)}"
        st.rerun()


def chosen_cell() -> tuple[str, str]:
    """The dataset and system of the cell in the address; empty where there is none."""
    return st.query_params.get("dataset", ""), st.query_params.get("system", "")


def caption(*sentences: str) -> None:
    """Sentences under a figure; they may hold words from outside."""
    st.caption(text(" ".join(sentences)))


def pickers() -> Any:
    """The row of pickers under the title; it wraps on a narrow screen."""
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def pick(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: str | None = None,
    width: int = 190,
    disabled: bool = False,
) -> str:
    """One of `options`, bound to the address under `key`.

    Options are the canonical names: the address holds what the picker shows.
    """
    choices = list(options)
    picked = st.selectbox(
        label,
        choices,
        index=choices.index(default) if default in choices else 0,
        key=key,
        bind="query-params",
        width=width,
        disabled=disabled,
    )
    return export.picked(key, picked)


def switch(label: str, key: str) -> bool:
    """On or off, bound to the address under `key`."""
    return export.picked(key, st.toggle(label, key=key, bind="query-params"))


def pick_many(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: Sequence[str] = (),
    width: int = 230,
    empty: str = "all",
) -> list[str]:
    """Some of `options`, bound to the address under `key`; `empty` says what none of them means."""
    chosen = st.multiselect(
        label,
        list(options),
        default=list(default),
        key=key,
        placeholder=empty,
        bind="query-params",
        width=width,
    )
    return export.picked(key, chosen)


_MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]()<>#+-.!|~$:&\"'"})


_LINKED = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[-\w]+\.[-\w])", re.IGNORECASE)
"""Where what Markdown makes a link of by itself is parted, though its letters are escaped."""


def text(words: str) -> str:
    """Words from outside for a place that reads Markdown, such as a caption: letter by letter.

    Addresses get an invisible word joiner (U+2060), without which they would become links.
    """
    return _LINKED.sub("\u2060", " ".join(str(words).split())).translate(_MARKDOWN)
