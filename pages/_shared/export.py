"""Menus under figures and tables that save them; nothing is made before it is asked for."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import plotly.graph_objects as go
import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.exports import browser, figures, formats, named, tables, views
from compute.exports.tables import Printed, Scores, Table
from compute.exports.views import Figure, Shown
from compute.views.leaderboard.order_confidence import ALL
from compute.views.shared.drawing import behind, numbers
from pages._shared import sign_in

Picked = TypeVar("Picked", bool, str, list[str])
NAMES = {"tex": "LaTeX", "md": "Markdown", "parquet": "Parquet"}
"""Of formats that are not called by their extension in capitals."""
IN_A_COLUMN = {named.FIGURES[name].key for name in named.NARROW}
OF_ORDER = {"order", "order-column", "bump"}
"""What of the Leaderboard may be about one dataset: that of its order."""


def begin() -> None:
    """Forget what the run before drew and picked."""
    st.session_state["_drawn"] = {}
    st.session_state["_picked"] = {}


def picked(key: str, value: Picked) -> Picked:
    """Note what a picker shows, for the address, which leaves out what it starts with."""
    st.session_state.setdefault("_picked", {})[key] = value
    return value


def address(title: str) -> str:
    """The address of the page of this title with the value of every picker."""
    noted: dict[str, Any] = st.session_state.get("_picked", {})
    words = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in noted.items()
    }
    given = {key: st.query_params.get_all(key) for key in st.query_params}
    query = urlencode({key: value for key, value in (words | given).items() if value}, doseq=True)
    page = (st.context.url or "").partition("?")[0] or f"/{title.lower()}"
    return f"{page}?{query}"


def footer(title: str, provenance: Callable[[], dict[str, Any]]) -> None:
    """The button under a page that saves all of it; `provenance` is asked for by the click."""
    drawn: dict[str, Shown] = st.session_state.get("_drawn", {})
    if not drawn:
        return
    where = address(title)

    def made() -> bytes:
        # Not those of the run alone: a part of the page may have drawn itself again since.
        shown = [one for key, one in drawn.items() if not key.startswith("_")]
        return views.archive(views.View(title, where, shown, provenance()))

    st.session_state["_save"] = made
    sign_in.download_button(
        "Save this view",
        made,
        file_name=f"beirscope-{file_stem(views.slug(title.lower()))}.zip",
        mime="application/zip",
        icon=":material/folder_zip:",
        type="tertiary",
        key="_save_view",
        help="A zip of its figures, tables and data, with its address and provenance",
    )


def _note(shown: Shown) -> None:
    st.session_state.setdefault("_drawn", {})[shown.key] = shown


def figure(shown: go.Figure, key: str, title: str) -> None:
    """Note a figure, and draw the menu under it."""
    _note(Figure(key, title, shown))
    noted = Figure(key, title, shown)
    _menu(key, partial(_figure_buttons, noted), partial(_numbers, noted))


def table(
    frame: DataFrame | Styler, key: str, title: str, scores: Scores, printed: Printed | None
) -> None:
    """Note a table, and draw the menu under it."""
    values = frame.data if isinstance(frame, Styler) else frame  # pyright: ignore[reportAttributeAccessIssue]
    noted = Table(key, title, values, scores, printed)
    _note(noted)
    _menu(key, partial(_table_buttons, noted))


@st.fragment
def _menu(key: str, buttons: Callable[[], None], table: Callable[[], None] | None = None) -> None:
    """At the right a small button, at the left what opens a `table`; each is filled once open.

    The table stands on the page itself: keys come to it from what opens it, which they would not in
    a popover, which the browser has at the end of the page.
    """
    with st.container(horizontal=True, horizontal_alignment="right"):
        if table:
            opened = st.expander(
                "Numbers",
                icon=":material/table:",
                type="compact",
                key=f"_numbers_{key}",
                on_change="rerun",
            )
            if opened.open:
                with opened:
                    table()
        menu = st.popover(
            "Export",
            icon=":material/download:",
            type="tertiary",
            key=f"_export_{key}",
            on_change="rerun",
        )
    if menu.open:
        with menu:
            buttons()


def _numbers(shown: Figure) -> None:
    """A figure's numbers as a table, which keys reach; rows come as they are scrolled to."""
    for name, frame in numbers(shown.figure).items():
        heads = {column: str(column).replace("_", " ").capitalize() for column in frame.columns}
        st.dataframe(
            frame.rename(columns=heads), hide_index=True, lazy=True, alt=f"{shown.title}: {name}"
        )


def file_stem(key: str) -> str:
    """The name of a file: what it is, after the dataset that the page is about, if it is of one."""
    shown = st.session_state.get("_picked", {})
    over = shown.get("over", ALL) if key in OF_ORDER else ALL
    dataset = shown.get("dataset", "") if over == ALL else over
    return f"{views.slug(dataset)}-{key}" if dataset else key


def _button(
    key: str, form: str, mime: str, make: Callable[[], bytes], label: str | None = None
) -> None:
    sign_in.download_button(
        label or NAMES.get(form, form.upper()),
        make,
        file_name=f"{file_stem(key)}.{form}",
        mime=mime,
        key=f"_save_{key}_{form}",
        type="tertiary",
    )


def _figure_buttons(shown: Figure) -> None:
    pictures = browser.find() is not None
    with st.container(horizontal=True):
        for form in formats.OF["figure"] if pictures else ("html",):
            make = partial(figures.write, shown.figure, form, shown.title)
            _button(shown.key, form, formats.MIME[form], make)
    if pictures and shown.key in IN_A_COLUMN:
        make = partial(
            figures.write, shown.figure, "pdf", shown.title, width=formats.WIDTHS["narrow"]
        )
        _button(f"{shown.key}-column", "pdf", formats.MIME["pdf"], make, "PDF for one column")
    if not pictures:
        st.caption(f"{browser.MISSING}. The figure's own button saves it as SVG.")
    frames = behind(shown.figure)
    if len(frames) == 1:
        data = Table(shown.key, shown.title, next(iter(frames.values())))
        _button(shown.key, "csv", "text/csv", partial(tables.csv, data), "Its data as CSV")
    elif frames:
        make = partial(views.data, shown)
        _button(shown.key, "zip", "application/zip", make, "Its data as CSV files")


def _table_buttons(shown: Table) -> None:
    with st.container(horizontal=True):
        for form in formats.OF["table"]:
            _button(shown.key, form, formats.MIME[form], partial(tables.write, shown, form))
