"""Prepares a figure or table of a page for a file, with its name and heading."""

from dataclasses import replace

from compute.exports import file_names
from compute.exports.figures import Figure
from compute.exports.page_archive import Shown
from compute.views import page as records
from compute.views.page import Found

HERE = "computed with Beirscope"
"""Name of the source of values from stored runs."""


def exported(page: str, found: Found, theme: str = "light") -> Shown:
    """Return a part of a page with its file name and source; a figure is drawn in this theme."""
    part, name = found.part, file_names.name(words(page, found))
    source = part.source or file_names.printed(found.values) or HERE
    if isinstance(part, records.Table):
        return replace(part, name=name, source=source)
    of, said = file_names.heading(part.of, found.values, found.titles), part.legend
    # A sentence about colours is a legend with one entry.
    legend = (lambda theme: [("", "", said)]) if isinstance(said, str) else said
    drawn = part.drawn(theme=theme)
    look = {"narrow": part.narrow, "finding": part.finding, "source": source, "table": part.table}
    return Figure(part.key, part.title, drawn, name, of, legend, **look)


def words(page: str, found: Found) -> list[str]:
    """Return the words of a part's file name."""
    part = found.part
    key = "" if isinstance(part, records.Figure) and part.main else part.key
    return file_names.said(page, key, part.of, found.values)
