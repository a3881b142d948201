"""Writes figures as files for a paper: SVG, PNG and PDF in print, and self-contained HTML. A
picture is drawn once, as SVG; a browser renders PNG and PDF from it."""

import html
import math
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from compute.exports import fonts, heading
from compute.exports.browser import PAINTER
from compute.exports.formats import AS_SHOWN, ONE, TWO, Paper, check
from compute.views.page import Table
from compute.views.shared import labels
from compute.views.shared import theme as looks
from compute.views.shared.drawing import COLUMN, redrawn
from compute.views.shared.theme import Entry, Legend

PER_MM = 96 / 25.4
"""Pixels (1/96 inch) per millimetre."""
DRAWN = 800
"""Width in pixels of a figure across both columns; print reduces it, like COLUMN, by a fifth."""
LEAST_FONT = {ONE: 11.5, TWO: 13}
"""Minimum font sizes in pixels; in print they are 9.5 and 10.7 pixels, or 7 and 8 points."""
SHOWN = 1104
"""Width in pixels of a figure that is as wide as a page of the dashboard."""
FOOT = 50
"""Height in pixels of the ticks and title below an axis; DejaVu is taller than the pages' font."""
LINE = 18
BESIDE = 70
"""Width in pixels, beside an axis, into which its title must not extend."""
STANDOFF = 6
"""Distance in pixels of an axis title from the ticks; without it, the title would be cut off."""
DOTS = 300
"""Dots per inch of a PNG."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data:"
)
"""Content security policy of an exported page: it may run its own scripts and fetch nothing."""


class Figure(NamedTuple):
    """A figure as shown on a page, with its texts."""

    key: str
    title: str
    figure: go.Figure
    name: str = ""
    """File name, without the extension."""
    of: Sequence[str] = ()
    """Its subject, such as dataset and measure."""
    legend: Legend | None = None
    narrow: bool = False
    """True if it fits into one column of a paper."""
    finding: str = ""
    """A sentence that states what the figure shows."""
    source: str = ""
    table: Callable[[], Table] | None = None
    """Its data as a table for a paper, if the figure has one."""

    @property
    def more(self) -> str:
        """Return the subject, unless the title names it, and the source."""
        words = dict.fromkeys(one for one in (*self.of, self.source) if one)
        in_title = (re.search(rf"(?<!\w){re.escape(one)}(?!\w)", self.title) for one in words)
        return " · ".join(word for word, there in zip(words, in_title, strict=True) if not there)

    @property
    def about(self) -> str:
        """Return the title, subject and source."""
        return " · ".join(one for one in (self.title, self.more) if one)

    @property
    def heading(self) -> str:
        """Return the finding, title, subject and source."""
        return f"{self.finding} {self.about}".strip()

    def entries(self, theme: str) -> Sequence[Entry]:
        """Return the legend of its colours in a theme."""
        return self.legend(theme) if self.legend else ()


def for_print(figure: go.Figure, paper: Paper) -> go.Figure:
    """Redraw a figure for print, before it is scaled down. A figure that is narrower than the
    paper, such as one panel of several, keeps its width and is centred."""
    spec: Any = redrawn(figure, "print", narrow=paper.width == ONE).to_plotly_json()
    least = LEAST_FONT.get(paper.width, 0)
    for font in _fonts(spec):
        sizes = font["size"]
        if isinstance(sizes, int | float):
            font["size"] = max(sizes, least)
        else:
            font["size"] = [max(size, least) for size in sizes]
    layout = spec["layout"]
    layout["font"] = (layout.get("font") or {}) | {"family": fonts.css(paper.font)}
    layout["height"] = layout.get("height") or 450
    _widen(layout, paper)
    _foot(layout)
    return go.Figure(spec)


def _widen(layout: dict[str, Any], paper: Paper) -> None:
    """Make a figure as wide as the paper; a narrower one with its own width is centred."""
    own = layout.get("width")
    if paper.width == AS_SHOWN:
        layout["width"] = own or SHOWN
        return
    layout["width"] = COLUMN if paper.width == ONE else DRAWN
    if own and own < layout["width"]:
        margin = layout.setdefault("margin", {})
        spare = (layout["width"] - own) / 2
        margin |= {side: margin.get(side, 8) + spare for side in "lr"}


def _foot(layout: dict[str, Any]) -> None:
    """Make room for text below the axes."""
    titled = list(_titled_below(layout))
    for axis in titled:
        axis["title"].setdefault("standoff", STANDOFF)
        axis["title"]["text"] = _wrapped(axis["title"]["text"], layout["width"] - BESIDE)
    if titled:
        margin = layout.setdefault("margin", {})
        names = [str(name) for axis in titled for name in axis.get("ticktext") or ()]
        foot = FOOT + LINE * any("<br>" in name for name in names)
        foot += LINE * max(axis["title"]["text"].count("<br>") for axis in titled)
        more = max(foot - margin.get("b", 8), 0)
        margin["b"] = margin.get("b", 8) + more
        layout["height"] += more


def _wrapped(text: str, room: float) -> str:
    """Break the title of an axis, which is HTML, into lines that fit into `room` pixels."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if labels.width(html.unescape(longer), LEAST_FONT[TWO], "print") <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "<br>".join(filter(None, lines))


def _titled_below(layout: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the horizontal axes with a title below."""
    for name, axis in layout.items():
        titled = name.startswith("xaxis") and axis.get("title", {}).get("text")
        if titled and axis.get("side") != "top":
            yield axis


def _fonts(spec: Any) -> Iterator[dict[str, Any]]:
    """Yield all fonts of a figure that have a size."""
    if isinstance(spec, dict):
        for key, held in spec.items():
            if isinstance(key, str) and key.endswith("font") and "size" in held:
                yield held
            yield from _fonts(held)
    elif isinstance(spec, list | tuple):
        for held in spec:
            yield from _fonts(held)


class Picture(NamedTuple):
    """A figure for paper."""

    svg: str
    title: str
    width: float
    """Width in millimetres."""
    height: float


def picture(one: Figure, paper: Paper) -> Picture:
    """Draw the figure under its heading, as wide as the paper; without a title, only the legend is
    above it. Raises Unavailable without a Chromium."""
    drawn: Any = for_print(one.figure, paper)
    across, down = drawn.layout.width, drawn.layout.height
    titles = [one.finding, one.about] if paper.titled else []
    words = heading.lines(titles, one.entries("print"), across)
    above = heading.height(len(words))
    width = across / PER_MM if paper.width == AS_SHOWN else int(paper.width)
    height = (down + above) * width / across
    text = "".join(
        f'<text x="{heading.EDGE}" y="{place * heading.LINE}">{line}</text>'
        for place, line in enumerate(words, start=1)
    )
    family, ink = fonts.css(paper.font), looks.palette("print").text
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.3f}mm" height="{height:.3f}mm"'
        f' viewBox="0 0 {across} {down + above}"><title>{html.escape(one.heading)}</title>'
        '<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<g font-family="{family}" font-size="{heading.FONT}" fill="{ink}">{text}</g>'
        f'<g transform="translate(0 {above})">{PAINTER.svg(drawn)}</g></svg>'
    )
    return Picture(svg, one.heading, width, height)


def _sheet(drawn: Picture) -> str:
    """Return an HTML page with only the picture, for a browser."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{html.escape(drawn.title)}</title>\n<style>"
        # Chromium accepts only whole pixels; `_pdf` sets the exact size.
        f"@page{{size:{math.ceil(drawn.width * PER_MM)}px {math.ceil(drawn.height * PER_MM)}px;"
        "margin:0}"
        "body{margin:0}svg{display:block}</style>\n</head>\n"
        f"<body>{drawn.svg}</body>\n</html>\n"
    )


def _pdf(drawn: Picture) -> bytes:
    """Return a PDF with one page as large as the picture, as exactly as a PDF can state it."""
    content = PAINTER.pdf(_sheet(drawn))
    points = drawn.width / 25.4 * 72, drawn.height / 25.4 * 72

    def sized(found: re.Match[bytes]) -> bytes:
        return b"/MediaBox [" + box(points, found[1]) + b"]"

    return re.sub(rb"/MediaBox \[([^\]]*)\]", sized, content, count=1)


def box(points: tuple[float, float], before: bytes) -> bytes:
    """Return the box of a page with this width and height. It has as many bytes as the box that it
    replaces, since later offsets must not move, and up to two decimals, which the height loses
    first."""
    for decimals in ((2, 2), (2, 1), (2, 0), (1, 0), (0, 0)):
        said = " ".join(
            f"{round(side, places):.{places}f}"
            for side, places in zip(points, decimals, strict=True)
        )
        if len(said) + 4 <= len(before):
            return f"0 0 {said}".encode().ljust(len(before))
    return before


def _png(drawn: Picture) -> bytes:
    """Return a PNG with 300 dots per inch, which the file states."""
    size = drawn.width * PER_MM, drawn.height * PER_MM
    content = PAINTER.png(_sheet(drawn), size, DOTS / 96)
    dots = round(DOTS / 0.0254)
    held = b"pHYs" + struct.pack(">IIB", dots, dots, 1)
    chunk = struct.pack(">I", len(held) - 4) + held + struct.pack(">I", zlib.crc32(held))
    head = 8 + 25  # signature and IHDR, after which pHYs is allowed
    return content[:head] + chunk + content[head:]


def page(one: Figure) -> str:
    """Return a self-contained HTML file with the figure and its hover texts."""
    drawn = redrawn(one.figure, "light").to_html(
        full_html=False,
        include_plotlyjs=True,
        include_mathjax=False,
        config={"displaylogo": False, "responsive": True},
    )
    name = html.escape(one.heading)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{name}</title>\n"
        "<style>body{font-family:sans-serif;margin:1rem;color:#0f141a}"
        "h1{font-size:1.2rem}</style>\n</head>\n"
        f"<body>\n<h1>{name}</h1>\n{looks.legend(one.entries('light'))}\n{drawn}\n</body>\n</html>\n"
    )


def write(one: Figure, form: str, paper: Paper) -> bytes:
    """Return the figure as a file of this format. Raises WrongInput for an unknown format, and
    Unavailable without a Chromium."""
    if check("figure", form) == "html":
        return page(one).encode()
    drawn = picture(one, paper)
    if form == "png":
        return _png(drawn)
    return _pdf(drawn) if form == "pdf" else drawn.svg.encode()
