"""A view: the figures and tables that a page shows, as one archive with what they rest on."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import plotly.graph_objects as go

from compute.exports import browser, figures, tables
from compute.exports.tables import Table
from compute.figures.drawing import behind


class Figure(NamedTuple):
    """A figure as it is on a page: its name, what it is."""

    key: str
    title: str
    figure: go.Figure


Shown = Figure | Table
PICTURES = ("svg", "png", "pdf")


class View(NamedTuple):
    """A page as somebody sees it."""

    title: str
    address: str
    """With the value of every picker: it opens the same view."""
    shown: Sequence[Shown]
    provenance: Mapping[str, Any]
    """What its numbers were made from, and how."""


def archive(view: View) -> bytes:
    """The view as a zip; README.txt in it says what each file is."""
    told: list[str] = []
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content, what in _files(view.shown):
            packed.writestr(name, content)
            told.append(f"{name}\n    {what}")
        packed.writestr("address.txt", f"{view.address}\n")
        packed.writestr("provenance.json", _json(view.provenance))
        packed.writestr("README.txt", _readme(view, told))
    return file.getvalue()


def data(shown: Figure) -> bytes:
    """A zip of the frames behind a figure, as CSV."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content, _ in _frames(shown, ("csv",)):
            packed.writestr(name.rpartition("/")[2], content)
    return file.getvalue()


def _files(shown: Sequence[Shown]) -> Iterator[tuple[str, bytes, str]]:
    """Path in the archive, content, what it is."""
    forms = (*PICTURES, "html") if browser.find() else ("html",)
    for one in shown:
        if isinstance(one, Figure):
            for form in forms:
                content = figures.write(one.figure, form, one.title)
                yield f"figures/{slug(one.key)}.{form}", content, one.title
            yield from _frames(one, ("csv", "parquet"))
        else:
            for form in tables.FORMATS:
                yield f"tables/{slug(one.key)}.{form}", tables.write(one, form), one.title


def _frames(shown: Figure, forms: Sequence[str]) -> Iterator[tuple[str, bytes, str]]:
    frames = behind(shown.figure)
    for name, frame in frames.items():
        key = slug(shown.key) + (f"-{slug(name)}" if len(frames) > 1 else "")
        for form in forms:
            content = tables.write(Table(key, shown.title, frame), form)
            yield f"data/{key}.{form}", content, f"data behind the figure: {shown.title}"


def slug(key: str) -> str:
    """A name that is a file's everywhere: letters, digits, -, _ and . inside."""
    return "-".join(re.findall(r"[A-Za-z0-9_]+", key))[:80] or "unnamed"


def _json(held: Mapping[str, Any]) -> str:
    return json.dumps(held, indent=2, ensure_ascii=False, default=str) + "\n"


def _readme(view: View, told: Sequence[str]) -> str:
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    pictures = (
        "Pictures are 174 mm wide (658 px) or as wide as they are, for print: ink on white."
        if browser.find()
        else f"No pictures are here: {browser.MISSING}."
    )
    return "\n".join(
        (
            f"{view.title}, as Beirscope showed it on {made}",
            "",
            f"Address: {view.address}",
            "",
            *told,
            "address.txt\n    opens this view again, on the same store",
            "provenance.json\n    what the numbers were made from: commands, settings,"
            " fingerprints, versions, hardware, dates",
            "",
            pictures,
            "HTML files hold all they need and fetch nothing.",
            "LaTeX files (.tex) are tables for \\input; their first lines name the packages.",
            "CSV files are UTF-8 and hold the values unchanged. A spreadsheet takes a cell that"
            " begins with = + - or @ for a formula: import such columns as text, or use Parquet.",
            "",
        )
    )
