"""Figures as files for a paper: SVG, PNG, PDF as they print, HTML that needs nothing else."""

import html
import math
from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from compute.exports.browser import PAINTER
from compute.exports.formats import WIDTHS, check
from compute.views.shared.drawing import redrawn

DRAWN = 800
"""Pixels across that figures are drawn for at least; what is printed is that, made smaller."""
SMALLER = WIDTHS["wide"] / DRAWN
LEAST_FONT = 13
"""Pixels as drawn; printed 10.7 of 1/96 inch: 8 points, the least that journals take."""
FOOT = 50
"""Pixels for an axis' ticks and title below: DejaVu is taller than what the pages have."""
LINE = 18
STANDOFF = 6
"""Pixels between the ticks and such a title: without it, a title falls out of the picture."""
SHARPER = 3
"""A PNG has 3 x 3 pixels for each of 1/96 inch: 288 to the inch."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data:"
)
"""An exported page may run what is in it and fetch nothing."""


def for_print(figure: go.Figure, width: int) -> go.Figure:
    """The figure in ink on white as it is drawn, before it is made smaller by SMALLER.

    `width` is that in print. A figure whose own width is less, as one panel of several, keeps it.
    """
    narrow = width <= WIDTHS["narrow"]
    spec: Any = redrawn(figure, "print", narrow=narrow).to_plotly_json()
    for font in _fonts(spec):
        sizes = font["size"]
        if isinstance(sizes, int | float):
            font["size"] = max(sizes, LEAST_FONT)
        else:
            font["size"] = [max(size, LEAST_FONT) for size in sizes]
    layout = spec["layout"]
    layout["width"] = min(layout.get("width") or math.inf, round(width / SMALLER))
    titled = list(_titled_below(layout))
    for axis in titled:
        axis["title"].setdefault("standoff", STANDOFF)
    if titled:
        margin = layout.setdefault("margin", {})
        names = [str(name) for axis in titled for name in axis.get("ticktext") or ()]
        more = max(FOOT + LINE * any("<br>" in name for name in names) - margin.get("b", 8), 0)
        margin["b"] = margin.get("b", 8) + more
        layout["height"] = (layout.get("height") or 450) + more
    return go.Figure(spec)


def _titled_below(layout: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The axes across that have a title below."""
    for name, axis in layout.items():
        titled = name.startswith("xaxis") and axis.get("title", {}).get("text")
        if titled and axis.get("side") != "top":
            yield axis


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
    scale = SMALLER * (SHARPER if form == "png" else 1)
    return PAINTER.draw(for_print(figure, width), {"format": form, "scale": scale})


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
        "<style>body{font-family:sans-serif;margin:1rem;color:#0f141a}"
        "h1{font-size:1.2rem}</style>\n</head>\n"
        f"<body>\n<h1>{name}</h1>\n{drawn}\n</body>\n</html>\n"
    )


def write(figure: go.Figure, form: str, title: str, *, width: int = WIDTHS["wide"]) -> bytes:
    """The figure as a file of this format. Raises WrongInput, Unavailable."""
    if check("figure", form) == "html":
        return page(figure, title).encode()
    return picture(figure, form, width=width)
