"""Figures and tables on a page, each with the menu that saves it."""

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.exports import browser
from compute.exports.figures import Figure
from compute.exports.tables import Table
from compute.views import page as records
from compute.views.shared import catalogue, narrow_lists
from compute.views.shared import theme as looks
from compute.views.shared.drawing import lists, redrawn
from compute.views.shared.theme import Legend
from pages._shared import colours, export, page_run
from pages._shared.escaping import text
from pages._shared.reading import read

ROW, HEAD = 35, 38
"""Heights of a row of a table and of its head, in pixels."""
MOST_WORDS = 14
"""Of a caption: what is longer than this and a first sentence stands behind its mark."""
_HOW = "How to read this:"
_SENTENCE = re.compile(r"(?<=[^A-Z][^A-Z.][.!?]) (?=[A-Z0-9“])")
"""Not after an initial or an abbreviation of two letters, such as Dr."""
_WITHIN = "\x00"
"""Stands for the blanks of a title while its sentence is looked for."""
MOST_ROWS = 20
"""Rows of a table in sight at once; the others scroll."""


def height(rows: int, most: int = MOST_ROWS) -> dict[str, Any]:
    """The options of a table that is as high as its rows, until there are many."""
    return {"height": HEAD + ROW * min(rows, most), "row_height": ROW}


def legend(entries: Legend) -> None:
    """What the colours of the figures below mean."""
    st.html(looks.legend(entries(colours.theme())))


def plot(part: records.Figure, **options: Any) -> None:
    """Draw a figure in its own colours; under it its numbers, and a menu that saves it as files.

    A matrix that a narrow screen has no room for stands there as ranked lists. Where the server
    has no Chromium, the figure keeps one button of Plotly's own: the picture as SVG, drawn in the
    browser.
    """
    one = export.exported(part)
    assert isinstance(one, Figure)
    figure, key = one.figure, one.key
    if told := lists(figure, narrow=True) if colours.narrow() else None:
        _ranked(told, key)
        export.figure(one)
        return
    shown = redrawn(figure, colours.theme(), narrow=True) if colours.narrow() else figure
    if "on_select" in options and shown.layout.clickmode is None:  # pyrefly: ignore
        # Streamlit says so itself, but only after the figure is drawn: a click before is lost.
        shown.update_layout(clickmode="event+select")
    config: dict[str, Any] = {"displayModeBar": False}
    if browser.find() is None:
        image = {"format": "svg", "filename": key}
        config = {"displaylogo": False, "modeBarButtons": [["toImage"]]}
        config |= {"toImageButtonOptions": image}
    if shown.layout.dragmode == "pan":  # pyrefly: ignore
        config |= {"scrollZoom": True}
    look: dict[str, Any] = {"config": config, "alt": one.title, "width": part.width}
    st.plotly_chart(shown, theme=None, key=key, **look, **options)
    export.figure(one)


@st.fragment
def _ranked(told: narrow_lists.Lists, key: str) -> None:
    """One of a matrix's lists, and above it a picker where there are several."""
    chosen, titles = 0, [one.title for one in told.lists]
    if len(titles) > 1:
        places = range(len(titles))
        chosen = st.selectbox(told.of, places, format_func=titles.__getitem__, key=f"_list_{key}")
    else:
        st.markdown(f"**{text(titles[0])}**")
    st.html(narrow_lists.as_html(told.lists[chosen]))


def table(part: records.Table, frame: DataFrame | Styler, widget: str = "", **options: Any) -> None:
    """Draw a table as a frame; under it a menu that saves it, as CSV, Parquet, LaTeX and Markdown.

    `options` are those of `st.dataframe`. `widget` is the key of the shown table, where that is
    another one.
    """
    # A key keeps what was sorted and selected, which is of use where a click does something.
    kept: dict[str, Any] = {"hide_index": True, "alt": part.title}
    kept |= {"key": widget or part.key} if "on_select" in options else {}
    st.dataframe(frame, **(kept | options))
    one = export.exported(part)
    assert isinstance(one, Table)
    export.table(one)


def of_matrix(sentence: str) -> str:
    """What is true of a matrix alone: how it is read, what a click on it does; nothing where
    lists stand in its place."""
    return "" if colours.narrow() else sentence


def caption(*sentences: str) -> None:
    """A line under a figure, and behind its mark the rest; both may hold words from outside.

    How to read a figure is behind the mark, and whatever follows the first MOST_WORDS.
    """
    if not any(sentences):
        return
    shown, behind = folded(sentences, _dotted())
    st.caption(text(shown), help=text(behind) or None)


def _split(part: str, titles: Sequence[str]) -> list[str]:
    for title in titles:
        part = part.replace(title, title.replace(" ", _WITHIN))
    return [one.replace(_WITHIN, " ") for one in _SENTENCE.split(part)]


def _dotted() -> list[str]:
    """The titles of systems and datasets in which a sentence seems to end, the longest first."""
    version = page_run.current().version
    known, found = st.session_state.get("_dotted", ("", []))
    # Once for all captions of a page.
    if known != version:
        tables = [read(catalogue.systems), read(catalogue.datasets)]
        titles = {title for table in tables for title in table["title"] if _SENTENCE.search(title)}
        # Where there is little room a title goes without what stands in brackets.
        titles |= {title.partition(" (")[0] for title in titles}
        found = sorted(filter(_SENTENCE.search, titles), key=len, reverse=True)
        st.session_state["_dotted"] = version, found
    return found


def folded(sentences: Sequence[str], titles: Sequence[str] = ()) -> tuple[str, str]:
    """What of sentences is shown, and what stands behind the mark; none ends within a title."""
    told = [_split(part.strip(), titles) for part in sentences if part.strip()]
    facts = [one for part in told if not part[0].startswith(_HOW) for one in part]
    shown: list[str] = []
    for one in facts:
        if shown and len(" ".join([*shown, one]).split()) > MOST_WORDS:
            break
        shown.append(one)
    how = [one for part in told if part[0].startswith(_HOW) for one in part]
    behind = " ".join([*how, *facts[len(shown) :]])
    if shown:
        return " ".join(shown), behind
    return _HOW.removesuffix(":"), behind.removeprefix(_HOW).strip()
