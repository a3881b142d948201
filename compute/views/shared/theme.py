"""Palettes and templates for light, dark and print, and settings common to figures. Plotly reads
text as a subset of HTML, so outside names and notes must go through `escape`."""

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import plotly.graph_objects as go

from compute.base.errors import WrongInput


def _hex(colours: str) -> tuple[str, ...]:
    return tuple(f"#{colour}" for colour in colours.split())


@dataclass(frozen=True)
class Palette:
    """The colours of one theme."""

    background: str
    second: str
    text: str
    muted: str
    line: str
    primary: str
    outline: str
    """Outline of a chosen cell, distinct from both ends of the scales."""
    sequential: tuple[str, ...]
    """Stops of a scale from low to high."""
    diverging: tuple[str, ...]
    """Stops of a scale from loss to win; the middle colour means no difference."""
    win: str
    loss: str
    categories: tuple[str, ...]
    """Distinct under three kinds of colour blindness; marks still need names."""
    font: str = "Source Sans, Source Sans Pro, sans-serif"


_LIGHT = Palette(
    background="#ffffff",
    second="#f3f5f7",
    text="#0f141a",
    muted="#5a6470",
    line="#d5dae0",
    primary="#0b63a5",
    outline="#b8600f",
    sequential=_hex("f4f7fa e0eaf3 c8dbec abcae3 8ab6d8 679fcb 4686b9 2a6ca2 155387 0a3a66"),
    diverging=_hex("8f3f00 b8600f d88a3f edb67f f8e0c6 f5f5f4 d3e4f2 a5c9e4 68a3cf 2f79b1 0a4f88"),
    win="#2f79b1",
    loss="#b8600f",
    categories=_hex("3a71ac 9c771f 5c0065 343c16 91425e b5b100 d67e89 8a70fc 65b4e9"),
)
_DARK = Palette(
    background="#12161b",
    second="#1c222a",
    text="#e4e8ec",
    muted="#98a2ad",
    line="#343c46",
    primary="#5ab0f0",
    outline="#ec9a45",
    sequential=_hex("1a2129 1d2f41 1f3e59 225073 2a648d 3979a6 5190bb 70a9cf 94c3e2 bfe0f5"),
    diverging=_hex("ffc078 ec9a45 c47526 8c541f 52381f 20262d 1f3f58 2a5c85 3f84b8 6caee0 a9d5f7"),
    win="#6caee0",
    loss="#ec9a45",
    categories=_hex("78c7fd f2ad73 e470b0 cef034 b3329d af8935 90f6d0 9b8bfb 3266e4"),
)
# Servers draw with DejaVu, which is wider, so labels are placed for that font.
PALETTES = {
    "light": _LIGHT,
    "dark": _DARK,
    "print": replace(_LIGHT, font="DejaVu Sans, sans-serif"),
}

DOMAINS = (
    "Wikipedia",
    "Bio-Medical",
    "Scientific",
    "News",
    "Misc.",
    "Finance",
    "StackEx.",
    "Quora",
    "Twitter",
)
FAMILIES = (
    "lexical",
    "learned-lexical",
    "sparse",
    "dense",
    "late-interaction",
    "rerank",
    "fusion",
    "imported",
)
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "circle",
    "hexagon",
    "star",
    "triangle-down",
    "cross",
)


_GLYPHS: dict[str, str] = dict(zip(SYMBOLS, "●■◆▲●⬢★▼✚", strict=True))
"""Plotly's symbols as characters."""


def palette(theme: str) -> Palette:
    """Return the palette of a theme. Raises WrongInput for an unknown theme."""
    if theme not in PALETTES:
        raise WrongInput(f"no theme {theme!r}; known: {', '.join(PALETTES)}")
    return PALETTES[theme]


def mark(name: str, known: Sequence[str], theme: str) -> tuple[str, str]:
    """Return colour and symbol of a domain or family; unknown names are muted circles."""
    if name not in known:
        return palette(theme).muted, "circle"
    place = list(known).index(name)
    return palette(theme).categories[place], SYMBOLS[place]


Entry = tuple[str, str, str]
"""Colour, sign and name of a legend entry; without a colour, the sign has the text's colour."""
Legend = Callable[[str], Sequence[Entry]]
"""Function that returns a legend's entries in the colours of a theme."""


def legend(entries: Iterable[Entry]) -> str:
    """Return a legend as one line of HTML; names are escaped here."""
    signs = [
        (f'<span style="color:{colour}">{sign}</span>' if colour else sign, html.escape(name))
        for colour, sign, name in ((one, html.escape(two), three) for one, two, three in entries)
    ]
    parts = [
        f'<span style="white-space:nowrap;margin-right:1.1rem">{sign} {name}</span> '
        for sign, name in signs
    ]
    return f'<div style="font-size:0.87rem">{"".join(parts)}</div>'


def headline(said: str, about: str, entries: Iterable[Entry], theme: str) -> str:
    """Return the head of a figure as HTML: title, legend, and subject (`about`) in small type."""
    look = palette(theme)
    small = f'<div style="font-size:0.87rem;color:{look.muted}">{html.escape(about)}</div>'
    return f"<b>{html.escape(said)}</b>{legend(entries) if entries else ''}{small if about else ''}"


def legend_entry(name: str, known: Sequence[str], theme: str) -> Entry:
    """Return a domain or family as an entry of `legend`."""
    colour, symbol = mark(name, known, theme)
    return colour, _GLYPHS[symbol], name


def families(found: Iterable[str], theme: str) -> list[Entry]:
    """Return the legend entries of these families of systems."""
    there = set(found)
    return [(mark(name, FAMILIES, theme)[0], "■", name) for name in FAMILIES if name in there]


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def colour(share: float, stops: Sequence[str]) -> str:
    """Return the colour at `share` of a scale: 0 or less is the first stop, 1 or more the last."""
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    pairs = zip(_channels(stops[low]), _channels(stops[low + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - low)):02x}" for a, b in pairs)


def colorscale(stops: Sequence[str]) -> list[list[float | str]]:
    """Return the stops as Plotly's evenly spaced colour scale."""
    return [[place / (len(stops) - 1), stop] for place, stop in enumerate(stops)]


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour as WCAG 2.1 defines it."""
    parts = [channel / 255 for channel in _channels(colour)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


INKS = ("#111418", "#ffffff")


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio (1 to 21) of two colours as WCAG 2.1 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink(background: str) -> str:
    """Return near-black or white, whichever is more legible on this background."""
    return max(INKS, key=lambda candidate: contrast(candidate, background))


def escape(text: str, longest: int = 60) -> str:
    """Return outside text as Plotly must draw it: literally, on one line, truncated."""
    return html.escape(cut(str(text), longest), quote=False).replace("$", "&#36;")


def cut(text: str, longest: int) -> str:
    """Truncate a text to one line of at most `longest` characters. A name that ends in parameters
    is cut in the middle, since systems of a family differ in the last ones; others at the end."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2 if line.endswith((")", "]")) else 0
    return f"{line[: longest - 1 - end]}…{line[len(line) - end :]}"


def plain(value: float, digits: int = 3) -> str:
    """Format a value for a cell: no leading zero, a true minus sign, and a dash if absent."""
    if value is None or math.isnan(value):
        return "–"
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) else ""
    return sign + (text[1:] if text.startswith("0.") else text)


def signed(value: float, digits: int = 3) -> str:
    """Format a difference for a cell: `+.053`, `−.175`; without a sign if it rounds to 0."""
    text = plain(value, digits)
    return f"+{text}" if value > 0 and float(text) else text


def between(low: float, high: float, digits: int = 3) -> str:
    """Format an interval as text: `.21 to .35`."""
    known = not (math.isnan(low) or math.isnan(high))
    return f"{plain(low, digits)} to {plain(high, digits)}" if known else "–"


def precise(value: float, *, with_sign: bool = False) -> str:
    """Format a value for a tooltip: `0.757`, with a fourth digit unless it is 0."""
    text = f"{abs(value):.4f}"
    sign = "−" if value < 0 and float(text) else "+" if with_sign else ""
    return sign + text.removesuffix("0")


def _axis(look: Palette) -> dict[str, Any]:
    # With a colour of their own, Plotly would draw lines that no figure asks for.
    return {
        "showgrid": True,
        "showline": False,
        "zeroline": True,
        "gridcolor": look.line,
        "linecolor": look.line,
        "zerolinecolor": look.muted,
        "automargin": True,
        "fixedrange": True,
        "title": {"font": {"color": look.muted, "size": 13}},
    }


@cache
def template(theme: str) -> go.layout.Template:
    """Return the layout of all figures of a theme: font, colours, grid, tooltips, narrow margins.
    Axes are fixed, there is no legend by default, and annotations have no arrows."""
    look = palette(theme)
    font = {"family": look.font, "size": 13, "color": look.text}
    layout = go.Layout(
        font=font,
        paper_bgcolor=look.background,
        plot_bgcolor=look.background,
        colorway=list(look.categories),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis=_axis(look),
        yaxis=_axis(look),
        hoverlabel={
            "bgcolor": look.second,
            "bordercolor": look.line,
            "font": font,
            "align": "left",
        },
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "title": {"text": ""}},
        annotationdefaults={"showarrow": False},
        showlegend=False,
        dragmode=False,
        hovermode="closest",
    )
    return go.layout.Template(layout=layout)
