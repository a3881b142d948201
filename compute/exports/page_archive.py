"""Writes a view as one archive: the figures and tables of a page, with provenance."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from compute.exports import browser, figures, tables
from compute.exports.figures import Figure
from compute.exports.file_names import slug
from compute.exports.formats import OF, PICTURES, Paper
from compute.views.page import Table
from compute.views.shared.drawing import behind

Shown = Figure | Table


class View(NamedTuple):
    """A page as it is shown."""

    title: str
    address: str
    """Address with the value of every control, which opens the same view."""
    shown: Sequence[Shown]
    provenance: Mapping[str, Any]
    """Provenance of its numbers."""
    escaped: bool = False
    """True if texts in CSV files are escaped, as in files saved from the browser (`tables.csv`)."""


def archive(view: View) -> bytes:
    """Return the view as a zip, in which README.txt explains each file."""
    told: list[str] = []
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for group in _groups(view.shown, escaped=view.escaped):
            for form in group.forms:
                packed.writestr(f"{group.name}.{form}", group.make(form))
            told.append(f"{group.name} ({', '.join(group.forms)})\n    {group.title}")
        packed.writestr("address.txt", f"{view.address}\n")
        record = json.dumps(view.provenance, indent=2, ensure_ascii=False, default=str)
        packed.writestr("provenance.json", f"{record}\n")
        packed.writestr("README.txt", _readme(view, told))
    return file.getvalue()


def address(page: str, values: Mapping[str, Any], given: Mapping[str, Sequence[str]]) -> str:
    """Return the address of a view of `page`, with the value of every control and the `given` keys,
    without empty ones."""
    words = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in values.items()
    }
    found = {key: value for key, value in (words | dict(given)).items() if value}
    return f"{page}?{urlencode(found, doseq=True)}"


def data(shown: Figure) -> bytes:
    """Return a zip of the frames behind a figure, as CSV files for saving from a browser."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for group in _frames(shown, set(), escaped=True):
            packed.writestr(f"{group.name.rpartition('/')[2]}.csv", group.make("csv"))
    return file.getvalue()


class _Group(NamedTuple):
    """One item of the archive, in several formats."""

    name: str
    """Its path in the archive, without the extension."""
    title: str
    forms: Sequence[str]
    make: Callable[[str], bytes]


def _groups(shown: Sequence[Shown], *, escaped: bool) -> Iterator[_Group]:
    # An HTML page contains all of plotly.js (5 MB), so it is used only without a browser here.
    """Yield the items of the archive: figures with the frames behind them, and tables."""
    forms, width = (PICTURES, f"-{Paper().width}mm") if browser.find() else (("html",), "")
    seen: set[int] = set()
    for one in shown:
        if isinstance(one, Figure):
            make = partial(figures.write, one, paper=Paper())
            yield _Group(f"figures/{slug(one.key)}{width}", one.title, forms, make)
            yield from _frames(one, seen, escaped=escaped)
        else:
            make = partial(tables.write, one, escaped=escaped)
            yield _Group(f"tables/{slug(one.key)}", one.title, OF["table"], make)


def _frames(shown: Figure, seen: set[int], *, escaped: bool) -> Iterator[_Group]:
    """Yield the frames behind a figure that are not in `seen`, since figures may share one."""
    frames = behind(shown.figure)
    for name, frame in frames.items():
        if id(frame) not in seen:
            seen.add(id(frame))
            key = slug(shown.key) + (f"-{slug(name)}" if len(frames) > 1 else "")
            make = partial(tables.write, Table(key, shown.title, frame), escaped=escaped)
            title = f"data behind the figure: {shown.title}"
            yield _Group(f"data/{key}", title, ("csv", "parquet"), make)


_ESCAPED = (
    "An apostrophe precedes words that begin with = + - or @, which a spreadsheet would evaluate."
    " Numbers and ids, and everything in Parquet, are unchanged."
)
_UNCHANGED = (
    "Their values are unchanged. A spreadsheet treats a cell that begins with = + - or @ as a"
    " formula: import such columns as text, or use Parquet."
)


def _readme(view: View, told: Sequence[str]) -> str:
    """Return README.txt; `told` describes the figures, tables and frames."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    pictures = (
        "Pictures are 174 mm wide, for print on white paper."
        if browser.find()
        else f"There are no pictures: {browser.MISSING}."
    )
    return "\n".join(
        (
            f"{view.title}, as Beirscope showed it on {made}",
            "",
            f"Address: {view.address}",
            "",
            *told,
            "address.txt\n    opens this view again, on the same store",
            "provenance.json\n    inputs of the numbers: commands, settings,"
            " fingerprints, versions, hardware, dates",
            "",
            pictures,
            "HTML files are self-contained and fetch nothing.",
            "LaTeX files (.tex) are tables for \\input; their first lines name the packages.",
            f"CSV files are UTF-8. {_ESCAPED if view.escaped else _UNCHANGED}",
            "",
        )
    )
