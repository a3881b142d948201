"""The formats that files are written in, by what is written."""

from compute.base.errors import WrongInput

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
WIDTHS = {"wide": 658, "narrow": 318}
"""Of figures, in pixels of 1/96 inch: 174 mm, both columns of a page, and 84 mm, one of them."""


def check(kind: str, form: str) -> str:
    """The format of this name. Raises WrongInput."""
    if form not in OF[kind]:
        named = f"as {form!r}" if form else "without a format in the file's name"
        raise WrongInput(f"no {kind} can be written {named}; formats: {', '.join(OF[kind])}")
    return form
