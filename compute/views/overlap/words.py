"""Words of two corpora: those they share, and those most specific to each."""

import math
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared import axes, labels, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing

WIDTH = 376
ROW = 22
LETTERS = 22
_LEFT, _RIGHT, _HEAD, _FOOT = 116, 112, 18, 44
_COLUMN = 54

_GLYPHS = "●◆"
BOTH, FIRST, SECOND = "both", "dataset", "other"
"""Sides in `overlap.select.words_of_pair`."""
SIDES = (BOTH, FIRST, SECOND)


def heads(names: tuple[str, str]) -> dict[str, str]:
    """Return the heading of each side for corpora of these titles."""
    return {
        BOTH: "Shared most",
        FIRST: f"More frequent in {names[0]}",
        SECOND: f"More frequent in {names[1]}",
    }


@drawing
def words(rows: DataFrame, titles: tuple[str, str], *, theme: str) -> go.Figure:
    """Draw a line per word from its share in one corpus to that in the other, on a log scale.
    `rows`: term, share, other_share (of all words, 0 to 1), in display order. `titles` names the
    two corpora. The numbers at the right are per million words. A share of 0, which a log scale
    cannot show, is at the left end, labelled 0."""
    look = looks.palette(theme)
    colours = (look.win, look.loss)
    y = list(range(len(rows)))
    terms = [looks.escape(_fitting(term, theme), LETTERS) for term in rows["term"]]
    shares = [(rows[column] * 1e6).tolist() for column in ("share", "other_share")]
    hover = [
        f"<b>{term}</b><br>"
        + "<br>".join(f"{_million(n)} per million in {name}" for n, name in said)
        for term, *numbers in zip(terms, *shares, strict=True)
        for said in [list(zip(numbers, map(looks.escape, titles), strict=True))]
    ]
    return go.Figure(
        data=[_line(shares, y, look), *_dots(shares, y, colours, hover)],
        layout={
            "annotations": [*_heads(colours), *_numbers(shares, colours)],
            **_frame(terms, shares),
        },
    )


def legend(titles: tuple[str, str], theme: str) -> list[looks.Entry]:
    """Return the legend of the two corpora's marks."""
    look = looks.palette(theme)
    return list(zip((look.win, look.loss), _GLYPHS, titles, strict=True))


def _fitting(term: str, theme: str) -> str:
    """Return the term, truncated at the end of its column."""
    count = len(term)
    while count > 1 and labels.width(looks.cut(term, count), 13, theme) > _LEFT - 8:
        count -= 1
    return looks.cut(term, count)


def _million(share: float) -> str:
    return f"{share:,.0f}" if share >= 10 or not share else f"{share:.1f}"


def _placed(values: list[float], shares: list[list[float]]) -> list[float]:
    """Move values of 0 to the left end of the log scale."""
    low, _ = _ends(shares)
    return [max(value, low) for value in values]


def _line(shares: list[list[float]], y: list[int], look: looks.Palette) -> dict[str, Any]:
    one, other = (_placed(values, shares) for values in shares)
    return traces.lines(one, other, y, {"color": look.line, "width": 3})


def _dots(
    shares: list[list[float]], y: list[int], colours: tuple[str, str], hover: list[str]
) -> list[dict[str, Any]]:
    looked = zip(shares, colours, ("circle", "diamond"), strict=True)
    return [
        traces.marks(
            _placed(values, shares),
            y,
            {"size": 9, "color": colour, "symbol": symbol},
            hover,
            cliponaxis=False,
        )
        for values, colour, symbol in looked
    ]


def _heads(colours: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the marks above the two columns of numbers."""
    return [
        _beside(side, colours[side], _GLYPHS[side]) | {"y": 1, "yref": "paper", "yanchor": "bottom"}
        for side in (0, 1)
    ]


def _numbers(shares: list[list[float]], colours: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        _beside(side, colours[side], _million(value)) | {"y": place}
        for side in (0, 1)
        for place, value in enumerate(shares[side])
    ]


def _beside(side: int, colour: str, text: str) -> dict[str, Any]:
    place = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": _COLUMN * (side + 1)}
    return place | {"text": text, "font": {"color": colour, "size": 12}}


def _ends(shares: list[list[float]]) -> tuple[float, float]:
    """Return the range of the axis, per million, with a margin."""
    found = [value for values in shares for value in values if value > 0] or [1.0]
    return min(found) / 2, max(found) * 1.5


def _ticks(low: float, high: float) -> list[float]:
    """Return round values from low to high that leave room for their labels."""
    decade = (WIDTH - _LEFT - _RIGHT) / math.log10(high / low)
    room = 44
    for steps, gap in (((1, 2, 5), math.log10(2)), ((1, 3), math.log10(3)), ((1,), 1)):
        if decade * gap >= room:
            found = [step * 10.0**power for power in range(-4, 7) for step in steps]
            return [value for value in found if low <= value <= high]
    return [10.0**power for power in range(-4, 7, math.ceil(room / decade))]


def _frame(terms: list[str], shares: list[list[float]]) -> dict[str, Any]:
    still = {"zeroline": False, "automargin": False}
    low, high = _ends(shares)
    ticks, has_zero = _ticks(low, high), any(0 in values for values in shares)
    if has_zero:
        ticks = [low, *(value for value in ticks if value > 2 * low)]
    said = ["0" if has_zero and value == low else f"{value:,g}" for value in ticks]
    names = axes.names_down(terms) | axes.TICKS_AWAY | {"ticktext": terms, "ticklen": 6}
    return {
        "width": WIDTH,
        "height": ROW * len(terms) + _HEAD + _FOOT,
        "margin": {"l": _LEFT, "r": _RIGHT, "t": _HEAD, "b": _FOOT, "autoexpand": False},
        "xaxis": still
        | {"type": "log", "range": [math.log10(low * 0.9), math.log10(high)]}
        | {"tickvals": ticks, "ticktext": said, "title": {"text": "per million (log scale)"}},
        "yaxis": still | names,
    }
