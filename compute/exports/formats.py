"""File formats by kind of content, and the paper for which a figure is drawn."""

from typing import NamedTuple

from compute.base.errors import WrongInput

PICTURES = ("pdf", "svg", "png")
"""Picture formats, which need a Chromium."""
OF = {
    "figure": ("svg", "png", "pdf", "html"),
    "table": ("csv", "parquet", "tex", "md"),
    "view": ("zip",),
}
MIME = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "html": "text/html",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "tex": "application/x-tex",
    "md": "text/markdown",
    "zip": "application/zip",
}
ONE, TWO, AS_SHOWN = "84", "174", "page"
WIDTHS = {ONE: "One column, 84 mm", TWO: "Two columns, 174 mm", AS_SHOWN: "As on the page"}
"""Widths of figures; numbers are millimetres."""


class Paper(NamedTuple):
    """Width, font and title of a figure."""

    width: str = TWO
    """One of WIDTHS."""
    font: str = "page"
    """An option of `fonts.FAMILIES`."""
    titled: bool = True
    """True to put the title above the figure; otherwise it belongs in the paper's caption."""


def check(kind: str, form: str) -> str:
    """Return the format if this kind of content has it. Raises WrongInput if not."""
    if form not in OF[kind]:
        named = f"as {form!r}" if form else "without a format in the file's name"
        raise WrongInput(f"no {kind} can be written {named}; formats: {', '.join(OF[kind])}")
    return form
