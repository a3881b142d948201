"""Figures of similarity to a source against the gain over a baseline, with a panel per system. A
panel has a fixed size, so that names can be placed; on a narrow screen panels are stacked."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import counted
from compute.corpora.similarity_matrix import FEWEST_FOR_RANKS
from compute.datasets.published import LEFT_OUT
from compute.views.leaderboard.domain_shift import Correlation, correlation
from compute.views.page import Column
from compute.views.shared import axes as shared_axes
from compute.views.shared import labels, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import COLUMN, drawing

WIDTH, HEIGHT = 630, 440
LEFT, RIGHT, HEAD, FOOT = 52, 8, 50, 44
MORE_HEAD = 36
"""Additional height of the header of a narrow panel, in pixels."""
SIZE = 10
FONT = 12
LETTERS = 24

Span = tuple[float, float]
Row = Mapping[Hashable, Any]


@drawing
def panel(
    points: DataFrame,
    *,
    title: str,
    axes: tuple[str, str],
    spans: tuple[Span, Span],
    theme: str,
    sign: int = 1,
    narrow: bool = False,
    kinds: Sequence[str] = looks.DOMAINS,
) -> go.Figure:
    """Draw one system's marks: dataset, title, domain (one of `kinds`), similarity, gain, left_out.
    Marks left out of the correlation are open. `axes` are the titles of x and y, and `spans` their
    ranges, shared by the panels of a group. The side on which the system beats the baseline is
    tinted: above 0, or below 0 if `sign` is -1. A `narrow` panel has more header lines."""
    marks = points.sort_values("dataset").reset_index(drop=True)
    wide = COLUMN if narrow else WIDTH
    return go.Figure(
        data=[_trace(marks, axes, theme, kinds)],
        layout={
            "annotations": [
                _head(marks, title, narrow=narrow),
                *_names(marks, spans, theme, wide),
            ],
            "shapes": _band(spans[1][1 if sign > 0 else 0], looks.palette(theme)),
            **_frame(axes, spans, wide),
        },
    )


def _trace(
    marks: DataFrame, axes: tuple[str, str], theme: str, kinds: Sequence[str]
) -> dict[str, Any]:
    looked = [looks.mark(domain, kinds, theme) for domain in marks["domain"]]
    open_ = marks["left_out"].tolist()
    look = traces.marker(looked, open_, looks.palette(theme), SIZE, (0.5, 1.5))
    hover = [_hover(row, axes) for row in marks.to_dict("records")]
    x, y = (marks[column].tolist() for column in ("similarity", "gain"))
    return traces.marks(x, y, look, hover, cliponaxis=False)


def _hover(row: Row, axes: tuple[str, str]) -> str:
    gain = looks.precise(row["gain"], with_sign=True)
    out = "<br>left out of the correlation" if row["left_out"] else ""
    return (
        f"<b>{looks.escape(row['title'])}</b><br>{looks.escape(row['domain'])}"
        f"<br>{looks.escape(axes[0])} {looks.plain(row['similarity'], 4)}"
        f"<br>{looks.escape(axes[1])} {gain}{out}"
    )


def _head(marks: DataFrame, title: str, *, narrow: bool) -> dict[str, Any]:
    name = f"<b>{looks.escape(title, 40)}</b>"
    told = [said(marks), *intervals(marks)]
    lines = [one.replace("; ", ";<br>") for one in told] if narrow else told
    text = f"{name}{'<br>' if narrow else '  '}{'<br>'.join(lines)}"
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper"}
    return place | {"yanchor": "bottom", "align": "left", "text": text}


def said(marks: DataFrame) -> str:
    """State the correlation in words, with and without the marks that are left out."""
    kept = correlation(marks[~marks["left_out"]])
    number = int((~marks["left_out"]).sum())
    if kept is None:
        few = number < FEWEST_FOR_RANKS
        why = "too few points" if few else "all values of one axis are equal"
        first = f"no rank correlation (n = {number}: {why})"
    else:
        first = f"Spearman ρ = {looks.plain(kept.rho, 2)} (n = {number})"
    every = correlation(marks) if marks["left_out"].any() else None
    return first + (f"; with the open marks {looks.plain(every.rho, 2)}" if every else "")


def finding(marks: DataFrame, source: str) -> str:
    """Say in which direction similarity and gain correlate, if the 95% CI excludes 0, and give the
    CI including the left-out marks; empty if there is no interval."""
    out = marks.loc[marks["left_out"], "dataset"]
    found, every = correlation(marks[~marks["left_out"]]), correlation(marks)
    if found is None or np.isnan(found.low):
        return ""
    more = "larger" if found.rho > 0 else "smaller"
    told = f"Gains are {more} on corpora more similar to {source}"
    if found.low <= 0 <= found.high:
        told = f"No significant correlation with similarity to {source}"
    if not len(out) or every is None:
        return f"{told}."
    after = ", excluded by the paper after seeing the results" * {*out}.issubset(LEFT_OUT)
    whole = f"ρ = {looks.plain(every.rho, 2)}, 95% CI {interval(every) or 'unknown'}"
    return f"{told}, without {counted(len(out), 'dataset')}{after}. With them, {whole}."


def intervals(marks: DataFrame) -> list[str]:
    """Return a line with the 95% intervals of these correlations; empty if there are none."""
    found = [correlation(marks[~marks["left_out"]])]
    found += [correlation(marks)] if marks["left_out"].any() else []
    ranges = [interval(one) for one in found if one is not None]
    return [f"95% CI {'; with the open marks '.join(ranges)}"] if any(ranges) else []


def interval(found: Correlation, digits: int = 2) -> str:
    """Return an interval as text; empty for a correlation of 1 or −1, which has none."""
    if np.isnan(found.low):
        return ""
    return f"{looks.plain(found.low, digits)} to {looks.plain(found.high, digits)}"


def table(groups: Mapping[tuple[str, str], DataFrame]) -> DataFrame:
    """Return every correlation with its interval; `groups`: marks by system and unit of words."""
    rows = []
    for (system, words), marks in groups.items():
        kept = marks[~marks["left_out"]]
        both = [kept, marks] if len(kept) < len(marks) else [marks]
        for own in both:
            found = correlation(own) or Correlation(np.nan, np.nan, np.nan, len(own))
            rows.append((system, words, len(marks) - len(own), *astuple(found)))
    return DataFrame(rows, columns=["System", "Words", "Left out", "rho", "low", "high", "n"])


def _interval(found: Correlation) -> str:
    return "too few points" if np.isnan(found.rho) else interval(found)


COLUMNS = (
    Column("System"),
    Column("Words"),
    Column("Left out"),
    Column("Spearman ρ", "rho", looks.plain),
    Column(
        "95% interval",
        ("rho", "low", "high"),
        lambda rho, low, high: _interval(Correlation(rho, low, high, 0)),
    ),
    Column("n"),
)


def legend(
    domains: Iterable[str], theme: str, kinds: Sequence[str] = looks.DOMAINS
) -> list[looks.Entry]:
    """Return legend entries for the domains, or other `kinds`, that occur."""
    found = set(domains)
    names = [name for name in kinds if name in found] + sorted(found - set(kinds))
    return [looks.legend_entry(name, kinds, theme) for name in names]


def _names(
    marks: DataFrame, spans: tuple[Span, Span], theme: str, width: int
) -> Iterator[dict[str, Any]]:
    (x0, x1), (y0, y1) = spans
    wide, high, look = width - LEFT - RIGHT, HEIGHT - HEAD - FOOT, looks.palette(theme)
    placed = zip(boxes(marks, spans, theme, width), marks.to_dict("records"), strict=True)
    for label, row in placed:
        font = {"size": FONT, "color": look.muted if row["left_out"] else look.text}
        note = label.annotation(looks.escape(row["title"], LETTERS), font)
        yield note | {
            "x": x0 + note["x"] / wide * (x1 - x0),
            "y": y1 - note["y"] / high * (y1 - y0),
        }


def boxes(
    marks: DataFrame, spans: tuple[Span, Span], theme: str, wide: int = WIDTH
) -> list[labels.Label]:
    """Return the label of each mark's name, in pixels from the plot's upper left corner."""
    (x0, x1), (y0, y1) = spans
    wide, high = wide - LEFT - RIGHT, HEIGHT - HEAD - FOOT
    pixels = [
        labels.mark(
            (row["similarity"] - x0) / (x1 - x0) * wide,
            (y1 - row["gain"]) / (y1 - y0) * high,
            SIZE / 2,
            looks.cut(row["title"], LETTERS),
            FONT,
            theme,
        )
        for row in marks.to_dict("records")
    ]
    return labels.place(pixels, labels.Box(0, 0, wide, high))


def _band(end: float, look: looks.Palette) -> list[dict[str, Any]]:
    """Return a tint of the side where the system wins, and the line of no difference."""
    common = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    band = {"type": "rect", "y0": 0, "y1": end, "fillcolor": look.second}
    line = {"type": "line", "y0": 0, "y1": 0, "line": {"color": look.muted, "width": 1}}
    return [band | common | {"line": {"width": 0}}, line | common]


def _frame(axes: tuple[str, str], spans: tuple[Span, Span], wide: int) -> dict[str, Any]:
    still = {"zeroline": False, "automargin": False}
    across, up = _ticks(spans[0]), _ticks(spans[1])
    titles = [{"text": looks.escape(text, 80), "standoff": 6} for text in axes]
    more = 0 if wide == WIDTH else MORE_HEAD
    return {
        "width": wide,
        "height": HEIGHT + more,
        "margin": {"l": LEFT, "r": RIGHT, "t": HEAD + more, "b": FOOT, "autoexpand": False},
        "xaxis": still
        | {"range": list(spans[0]), "title": titles[0]}
        | {"tickvals": across, "ticktext": [looks.plain(value, 2) for value in across]},
        "yaxis": still
        | {"range": list(spans[1]), "title": titles[1]}
        | shared_axes.differences(up, 2),
    }


def _ticks(span: Span) -> list[float]:
    """Return round values within a range, at most seven."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
        first, last = np.ceil(span[0] / step), np.floor(span[1] / step)
        if last - first < 7:
            return [round(float(place) * step, 2) for place in np.arange(first, last + 1)]
    return [0.0]
