"""Menus under figures and tables that save them; files are made only on request."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from compute.exports import (
    browser,
    figures,
    file_names,
    fonts,
    formats,
    page_archive,
    tables,
)
from compute.exports import exported as exporting
from compute.exports.figures import Figure
from compute.exports.formats import Paper
from compute.exports.page_archive import Shown
from compute.views import page as records
from compute.views.page import Found, Table
from compute.views.shared.drawing import behind, numbers
from pages._shared import colours, page_run, sign_in

Picked = TypeVar("Picked", bool, str, list[str], float | None)
NAMES = {"tex": "LaTeX", "md": "Markdown", "parquet": "Parquet"}
"""Names of formats whose name is not their extension in capitals."""


def picked(key: str, value: Picked) -> Picked:
    """Note a picker's value for the address, and return it."""
    page_run.current().picked[key] = value
    return value


def address(title: str) -> str:
    """Return the address of the page with this title, with the value of every picker."""
    given = {key: st.query_params.get_all(key) for key in st.query_params}
    page = (st.context.url or "").partition("?")[0] or f"/{title.lower()}"
    return page_archive.address(page, page_run.current().picked, given)


def footer(title: str, provenance: Callable[[], dict[str, Any]]) -> None:
    """Draw a button under a page that saves the whole page; a click calls `provenance`."""
    run = page_run.current()
    drawn, where = run.drawn, address(title)
    if not drawn:
        return

    def made(*, escaped: bool = True) -> bytes:
        # A fragment may have rerun since, and replaced some of these parts.
        shown = [one for key, one in drawn.items() if not key.startswith("_")]
        return page_archive.archive(page_archive.View(title, where, shown, provenance(), escaped))

    run.save = made
    words = file_names.said(run.page.lower(), "", file_names.OF_VIEW, run.picked)
    sign_in.download_button(
        "Download this page (ZIP)",
        made,
        file_name=f"beirscope-{file_names.name(words)}.zip",
        mime="application/zip",
        icon=":material/folder_zip:",
        type="tertiary",
        key="_save_view",
        help="Figures, tables, data, link and provenance",
    )


def exported(part: records.Figure | records.Table) -> Shown:
    """Record the part, and return it as files have it, with the controls' values; a figure in the
    theme."""
    run = page_run.current()
    found = Found(part, run.picked, run.titles)
    run.drawn[part.key] = shown = exporting.exported(run.page.lower(), found, colours.theme())
    return shown


def figure(shown: Figure) -> None:
    """Draw the menu of a figure."""
    _menu(shown.key, partial(_figure_buttons, shown), partial(_numbers, shown))


def table(shown: Table) -> None:
    """Draw the menu of a table."""
    _menu(shown.key, partial(_table_buttons, shown))


@st.fragment
def _menu(key: str, buttons: Callable[[], None], table: Callable[[], None] | None = None) -> None:
    """Draw a small button on the right, and an expander for a `table` on the left; each is filled
    when opened. The table is on the page itself, not in a popover, so that the Tab key reaches it
    after its expander."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        if table:
            opened = st.expander(
                "Data table",
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
    """Draw a figure's data as a table that the keyboard reaches; rows load while scrolling."""
    for name, frame in numbers(shown.figure).items():
        heads = {column: str(column).replace("_", " ").capitalize() for column in frame.columns}
        st.dataframe(
            frame.rename(columns=heads), hide_index=True, lazy=True, alt=f"{shown.title}: {name}"
        )


def _button(
    key: str, name: str, form: str, make: Callable[[], bytes], label: str = "", width: str = ""
) -> None:
    """Draw a button that saves a file of the format `form`, made by `make` on click."""
    sign_in.download_button(
        label or NAMES.get(form, form.upper()),
        make,
        file_name=name + file_names.ending(form, width or formats.AS_SHOWN),
        mime=formats.MIME[form],
        key=f"_save_{key}_{form}",
        type="tertiary",
    )


def _figure_buttons(shown: Figure) -> None:
    pictures = browser.find() is not None
    # The formats come first, since a menu near the window's end shows only its first row.
    row = st.container(horizontal=True)
    paper = _paper(shown) if pictures else Paper()
    if not paper.titled:
        st.caption("Suggested caption:")
        st.code(shown.heading, language=None, wrap_lines=True)
    with row:
        for form in formats.OF["figure"] if pictures else ("html",):
            make = partial(figures.write, shown, form, paper)
            _button(shown.key, shown.name, form, make, width=paper.width)
        _data_buttons(shown)
    if not pictures:
        st.caption(f"{browser.MISSING}. The figure's own button saves it as SVG.")


def _data_buttons(shown: Figure) -> None:
    """Draw buttons for a figure's data."""
    readable, frames = numbers(shown.figure), behind(shown.figure)
    for frame in list(readable.values()) * (len(readable) == 1):
        data = shown.table() if shown.table else Table(shown.key, shown.title, frame)
        make = partial(tables.write, replace(data, source=shown.source), "tex")
        _button(shown.key, shown.name, "tex", make)
    if len(frames) == 1:
        data = Table(shown.key, shown.title, next(iter(frames.values())))
        make = partial(tables.csv, data, escaped=True)
        _button(shown.key, shown.name, "csv", make)
    elif frames:
        make = partial(page_archive.data, shown)
        _button(shown.key, shown.name, "zip", make, "CSV")


def _paper(shown: Figure) -> Paper:
    """Draw options of pictures for papers, and return them; the next menu starts with them."""
    last, key = st.session_state.get("_paper", Paper()), shown.key
    widths = [width for width in formats.WIDTHS if shown.narrow or width != formats.ONE]
    usual = last.width if last.width in widths else formats.TWO
    with st.container(horizontal=True):
        width = st.selectbox(
            "Width",
            widths,
            index=widths.index(usual),
            format_func=formats.WIDTHS.__getitem__,
            key=f"_width_{key}",
            width=190,
        )
        font = st.selectbox(
            "Font",
            list(fonts.FAMILIES),
            index=list(fonts.FAMILIES).index(last.font),
            format_func=fonts.said,
            key=f"_font_{key}",
            width=270,
        )
    if formats.ONE not in widths:
        st.caption("This figure does not fit into one column of a paper.")
    titled = st.checkbox("Include title", last.titled, key=f"_titled_{key}")
    st.session_state["_paper"] = paper = Paper(width, font, titled)
    return paper


def _table_buttons(shown: Table) -> None:
    with st.container(horizontal=True):
        for form in formats.OF["table"]:
            make = partial(tables.write, shown, form, escaped=True)
            _button(shown.key, shown.name, form, make)
