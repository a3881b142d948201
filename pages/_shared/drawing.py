"""Figures and tables on a page, each with a menu that saves it."""

from dataclasses import replace
from typing import Any

import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.exports import browser
from compute.exports.figures import Figure
from compute.views import page as records
from compute.views.shared import narrow_lists
from compute.views.shared import theme as looks
from compute.views.shared.drawing import lists, redrawn, written
from compute.views.shared.theme import Legend
from pages._shared import colours, export, page_run, pickers
from pages._shared.escaping import text
from pages._shared.streamlit_internals import Written

ROW, HEAD = 35, 38
"""Pixels of a table's row, and of its header."""
MOST_ROWS = 20
"""Most visible rows of a table; further rows scroll."""


def height(rows: int, most: int = MOST_ROWS) -> dict[str, Any]:
    """Return options for a table that is as high as its rows, up to a limit."""
    return {"height": HEAD + ROW * min(rows, most), "row_height": ROW}


def legend(entries: Legend) -> None:
    """Draw the legend of the figures below."""
    st.html(looks.legend(entries(colours.theme())))


def plot(part: records.Figure, **options: Any) -> None:
    """Draw a figure in the browser's theme, with its data table and an Export menu below. On a
    narrow screen ranked lists may replace a matrix. If the server has no Chromium, the figure keeps
    Plotly's button for an SVG drawn in the browser."""
    one = export.exported(part)
    assert isinstance(one, Figure)
    figure, key = one.figure, one.key
    told = lists(figure, narrow=True) if colours.narrow() else None
    if told:
        _ranked(told, part, one)
        export.figure(one)
        return
    _head(part, one, part.legend)
    shown = redrawn(figure, colours.theme(), narrow=True) if colours.narrow() else figure
    layout: Any = shown.layout
    config: dict[str, Any] = {"displayModeBar": False}
    if browser.find() is None:
        image = {"format": "svg", "filename": key}
        config = {"displaylogo": False, "modeBarButtons": [["toImage"]]}
        config |= {"toImageButtonOptions": image}
    if layout.dragmode == "pan":
        config |= {"scrollZoom": True}
    look: dict[str, Any] = {"config": config, "alt": one.title, "width": part.width}
    content = written(shown, clicked="on_select" in options)
    sent = Written(content, {"width": layout.width, "height": layout.height})
    st.plotly_chart(sent, theme=None, key=key, **look, **options)
    export.figure(one)


def _head(part: records.Figure, one: Figure, of_colours: Legend | str | None) -> None:
    """Draw the finding or the title, the figure's subject and its legend, as in exported files."""
    theme, told = colours.theme(), one.about if part.finding else one.more
    entries = () if of_colours in page_run.current().legends else one.entries(theme)
    if isinstance(of_colours, str | None):
        told, entries = " · ".join(one for one in (told, of_colours) if one), ()
    st.html(looks.headline(part.finding or part.title, told, entries, theme))


@st.fragment
def _ranked(told: narrow_lists.Lists, part: records.Figure, one: Figure) -> None:
    """Draw one of a matrix's lists under its finding, with a picker if there are several."""
    lists = {one.title: one for one in told.lists}
    place, first = st.container(), next(iter(lists))
    name = first
    if len(lists) > 1:
        name = pickers.pick(told.of, list(lists), f"list_{part.key}", width=330)
    else:
        st.markdown(f"**{text(first)}**")
    with place:
        found = part.finding if name == first else narrow_lists.finding(lists[name])
        _head(replace(part, finding=found), one, "")
    st.html(narrow_lists.as_html(lists[name]))


def table(part: records.Table, frame: DataFrame | Styler, widget: str = "", **options: Any) -> None:
    """Draw a table as a frame, with a menu below that saves it as CSV, Parquet, LaTeX and Markdown.
    `options` are those of `st.dataframe`. `widget` is the key of the shown table, if it differs."""
    # A key preserves sorting and selection, which matters only if clicks do something.
    kept: dict[str, Any] = {"hide_index": True, "alt": part.title}
    kept |= {"key": widget or part.key} if "on_select" in options else {}
    st.dataframe(frame, **(kept | options))
    one = export.exported(part)
    assert isinstance(one, records.Table)
    export.table(one)


def of_matrix(sentence: str) -> str:
    """Return a sentence on how to read a matrix; empty if lists replace the matrix."""
    return "" if colours.narrow() else sentence


def caption(*facts: str) -> None:
    """Draw a line under a figure, with further facts in its tooltip; facts may be outside text."""
    note(records.Note(facts))


def note(one: records.Note) -> None:
    """Draw a caption from a record."""
    one = one.narrow() if colours.narrow() else one
    if one.shown:
        st.caption(text(one.shown), help=text(one.behind()) or None)
