"""Wins and losses against a baseline: a strip of dots per system, with one dot per dataset."""

import math
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.evaluate.tolerance import above, equal
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard.board import Board
from compute.views.shared import axes, traces
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import Palette, escape, palette, precise, signed

LANE, LOW_LANE = 45, 26
"""Pixels per system, and pixels if no two dots of a system overlap."""
MOST_LINES = 40
"""Most systems that get a strip; those with the most wins do."""
BEYOND = 0.3
"""Differences beyond this value are drawn at the edge, as triangles."""
_OFFSETS = (0.0, -0.12, 0.12, -0.24, 0.24, -0.36, 0.36)


def _lists(board: Board, baseline: str, shown: Collection[str] | None = None, **_: object) -> Lists:
    """Return the systems by wins, with losses and the median difference."""
    gaps, titles = leaderboard.differences(board, baseline), _titles(board)
    gaps = gaps if shown is None else gaps[gaps["system"].isin(shown)]
    told = [
        (titles[row["system"]], row["won"], f"{_said(row)}; median {signed(row['median'])}")
        for row in leaderboard.tally(gaps, board.sign).to_dict("records")
    ]
    return Lists("Baseline", "System", [ranked(f"Won and lost against {titles[baseline]}", told)])


def _titles(board: Board) -> dict[str, str]:
    return dict(zip(board.systems["system"], board.systems["title"], strict=True))


def _said(row: Mapping[Hashable, Any]) -> str:
    """Return `won : lost`, and the number of ties if there are any."""
    return f"{row['won']} : {row['lost']}" + (f", {row['equal']} equal" if row["equal"] else "")


@in_lists(_lists)
@drawing
def strip(
    board: Board, baseline: str, theme: str, shown: Collection[str] | None = None
) -> go.Figure:
    """Draw a strip per system, sorted by wins, with a dot for its difference from the baseline on
    each counted dataset. Only `shown` systems get one, by default all. Open dots are in-domain, the
    tick is the median, and the numbers won and lost are at the right. Raises ValueError for a board
    without anything to compare."""
    look = palette(theme)
    gaps = leaderboard.differences(board, baseline)
    gaps = gaps if shown is None else gaps[gaps["system"].isin(shown)]
    counts = leaderboard.tally(gaps, board.sign).head(MOST_LINES)
    gaps = gaps[gaps["system"].isin(counts["system"])].reset_index(drop=True)
    lines = {system: place for place, system in enumerate(counts["system"])}
    dots = _dots(board, gaps, lines)
    return go.Figure(
        data=[
            *(_dot_trace(dots, look, win) for win in (True, False, None)),
            _medians(counts, look),
        ],
        layout=_layout(board, baseline, counts, dots, look),
    )


def nothing_to_compare(board: Board, baseline: str, shown: Collection[str] | None = None) -> str:
    """Say why there is no strip, and the next step; empty if a shown system has a difference."""
    gaps = leaderboard.differences(board, baseline)
    if len(gaps) and (shown is None or gaps["system"].isin(shown).any()):
        return ""
    if len(gaps):
        return "Wins and losses: no picked system can be compared with the baseline."
    titles = _titles(board)
    title = titles.get(baseline, baseline)
    own = board.cells[(board.cells["system"] == baseline) & ~board.cells["suspect"]]
    if own["dataset"].isin(board.counted).any():
        return f"Wins and losses: no other system has a score on the datasets of {title}."
    # If a dataset group is chosen, only its zero-shot datasets count, if it has any.
    counted = set(board.datasets.loc[board.datasets["zero_shot"], "group"])
    groups = set(board.datasets.loc[board.datasets["dataset"].isin(own["dataset"]), "group"])
    shown = " or ".join(sorted(groups - counted))
    hint = f" Choose Filter: Group {shown}." if shown else " Choose another baseline."
    return f"Wins and losses: {title} has no score on the datasets counted here.{hint}"


def _dots(board: Board, gaps: DataFrame, lines: Mapping[str, int]) -> DataFrame:
    """Return the dots with x, y, hover and worth (the difference; larger is better)."""
    names = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    titles = _titles(board)
    x = gaps["difference"].clip(-BEYOND, BEYOND)
    dots = gaps.assign(x=x, line=gaps["system"].map(lines)).sort_values(["line", "x"])
    span = max(float(dots["x"].max() - dots["x"].min()), 0.1)
    dots["y"] = dots["line"] + _lanes(dots, span / 55)
    dots["hover"] = [
        f"<b>{escape(titles[system])}</b> on <b>{escape(names[dataset])}</b><br>"
        f"{precise(gap, with_sign=True)}{', in-domain' if in_domain else ''}"
        for system, dataset, gap, in_domain in zip(
            dots["system"], dots["dataset"], dots["difference"], dots["in_domain"], strict=True
        )
    ]
    dots["worth"] = board.sign * dots["difference"]
    return dots


def _lanes(dots: DataFrame, width: float) -> list[float]:
    """Return offsets that keep the dots of a line from overlapping, as far as lanes allow."""
    offsets, ends, line = [], {}, None
    for row_line, x in zip(dots["line"], dots["x"], strict=True):
        if row_line != line:
            ends, line = {}, row_line
        free = [offset for offset in _OFFSETS if x - ends.get(offset, -math.inf) >= width]
        offset = free[0] if free else min(ends, key=lambda lane: ends[lane])
        ends[offset] = x
        offsets.append(offset)
    return offsets


def _dot_trace(dots: DataFrame, look: Palette, win: bool | None) -> dict:
    if win is None:
        chosen, shade = dots[equal(dots["worth"], 0)], look.muted
    else:
        chosen = dots[above(dots["worth"], 0) if win else above(0, dots["worth"])]
        shade = look.win if win else look.loss
    looked = [(shade, _symbol(gap)) for gap in chosen["difference"]]
    x, y, hollow, hover = (chosen[name].tolist() for name in ("x", "y", "in_domain", "hover"))
    return traces.marks(x, y, traces.marker(looked, hollow, look, 10, (1, 2)), hover)


def _symbol(gap: float) -> str:
    if gap < -BEYOND:
        return "triangle-left"
    return "triangle-right" if gap > BEYOND else "circle"


def _medians(counts: DataFrame, look: Palette) -> dict:
    tick = {"symbol": "line-ns", "size": 14, "line": {"width": 2, "color": look.text}}
    return traces.marks(counts["median"].clip(-BEYOND, BEYOND).tolist(), None, tick)


def _layout(board: Board, baseline: str, counts: DataFrame, dots: DataFrame, look: Palette) -> dict:
    titles = _titles(board)
    short = leaderboard.short_titles(board.systems)
    note = f"{board.measure} minus {escape(titles[baseline])}, one dot per dataset; tick = median"
    if dots["in_domain"].any():
        note += "; open = in-domain"
    if (more := len(board.systems) - 1 - len(counts)) > 0 and len(counts) == MOST_LINES:
        note += f"; {more} systems with fewer wins are not shown"
    if dots["difference"].abs().max() > BEYOND:
        note += f"; ◂ ▸ beyond {BEYOND}"
    names = [short[name] for name in counts["system"]]
    across = {"zeroline": True, "zerolinewidth": 1, "title": {"text": note}}
    return {
        "xaxis": across | _ticks(dots["x"].tolist()),
        "yaxis": axes.names_down(names, above=1.1, below=0.6),
        "annotations": list(_notes(counts, look)),
        "height": (LANE if dots["line"].duplicated().any() else LOW_LANE) * (len(counts) + 1) + 60,
        "margin": {"l": 8, "r": 110, "t": 8, "b": 50},
        "hoverdistance": 12,
    }


def _notes(counts: DataFrame, look: Palette) -> Iterator[dict]:
    place = {"x": 1, "xref": "paper", "xshift": 12, "xanchor": "left"}
    for y, row in enumerate(counts.to_dict("records")):
        won, rest = _said(row).split(" ", 1)
        yield place | {"y": y, "text": f"<b>{won}</b> {rest}"}
    yield place | {"y": -0.75, "text": "won : lost", "font": {"color": look.muted}}


def _ticks(x: list[float]) -> dict:
    # With a minimum range, small differences look small.
    low, high = min([*x, -0.05]), max([*x, 0.05])
    step = next(step for step in (0.02, 0.05, 0.1) if (high - low) / step <= 8)
    first, last = math.floor(low / step - 0.2), math.ceil(high / step + 0.2)
    values = [round(step * place, 2) for place in range(first, last + 1)]
    ticks = axes.differences(values, 1 if step == 0.1 else 2)
    return ticks | {"range": [low - step / 4, high + step / 4]}
