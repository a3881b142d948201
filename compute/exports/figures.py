"""Figures as files for a paper: SVG, PNG, PDF as they print, HTML that needs nothing else."""

import html
from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from compute.exports.browser import PAINTER
from compute.exports.formats import WIDTHS, check
from compute.figures.drawing import redrawn

LEAST_FONT = 11
"""Pixels: 8 points, the least that journals print."""
SHARPER = 3
"""A PNG has 3 x 3 pixels for each of the figure's: 288 to the inch."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data:"
)
"""An exported page may run what is in it and fetch nothing."""


def for_print(figure: go.Figure, width: int) -> go.Figure:
    """The figure in ink on white, this many pixels wide, no letter smaller than 8 points.

    A figure whose own width is less, as one panel of several, keeps it.
    """
    spec: Any = redrawn(figure, "print").to_plotly_json()
    for font in _fonts(spec):
        sizes = font["size"]
        if isinstance(sizes, int | float):
            font["size"] = max(sizes, LEAST_FONT)
        else:
            font["size"] = [max(size, LEAST_FONT) for size in sizes]
    printed = go.Figure(spec)
    own = printed.layout.width  # pyright: ignore[reportAttributeAccessIssue]
    printed.update_layout(width=min(own or width, width))
    return printed


def _fonts(spec: Any) -> Iterator[dict[str, Any]]:
    """Every font in a figure that has a size."""
    if isinstance(spec, dict):
        for key, held in spec.items():
            if isinstance(key, str) and key.endswith("font") and "size" in held:
                yield held
            yield from _fonts(held)
    elif isinstance(spec, list | tuple):
        for held in spec:
            yield from _fonts(held)


def picture(figure: go.Figure, form: str, *, width: int = WIDTHS["wide"]) -> bytes:
    """The figure as it prints: SVG, PNG or PDF. Raises Unavailable without a Chromium."""
    return PAINTER.draw(
        for_print(figure, width), {"format": form, "scale": SHARPER if form == "png" else 1}
    )


def page(figure: go.Figure, title: str) -> str:
    """One HTML file with the figure in it, to hover over; it opens without a network."""
    drawn = redrawn(figure, "light").to_html(
        full_html=False,
        include_plotlyjs=True,
        include_mathjax=False,
        config={"displaylogo": False, "responsive": True},
    )
    name = html.escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{name}</title>\n"
        "<style>body{font-family:sans-serif;margin:1rem;color:#1c2127}"
        "h1{font-size:1.2rem}</style>\n</head>\n"
        f"<body>\n<h1>{name}</h1>\n{drawn}\n</body>\n</html>\n"
    )


def write(figure: go.Figure, form: str, title: str, *, width: int = WIDTHS["wide"]) -> bytes:
    """The figure as a file of this format. Raises WrongInput, Unavailable."""
    if check("figure", form) == "html":
        return page(figure, title).encode()
    return picture(figure, form, width=width)
