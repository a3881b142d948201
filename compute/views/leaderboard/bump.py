"""Two leaderboards of the same systems side by side, with a line between each system's ranks."""

from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared import traces
from compute.views.shared.drawing import drawing
from compute.views.shared.theme import Palette, escape, palette, plain

ROW, TIGHT = 24, 14
"""Pixels per system, and pixels if there are many systems."""
MOST_NAMED = 30
"""Up to this many systems are all named; if there are more, only those that move furthest are."""


@drawing
def bump(rows: DataFrame, names: tuple[str, str], theme: str) -> go.Figure:
    """Draw systems by rank on the left and the right leaderboard, with rising lines in blue and
    falling ones in orange. `rows`: system, title, left, right (values), left_rank, right_rank (1 is
    best; ties share a rank). `names`: those of the leaderboards. If there are many systems, only
    those that move furthest are named."""
    look, rows = palette(theme), rows.sort_values(["left_rank", "right_rank"], ignore_index=True)
    rows = rows.assign(left_place=_places(rows, "left"), right_place=_places(rows, "right"))
    figure = go.Figure(layout=_layout(len(rows)))
    for row in rows.to_dict("records"):
        figure.add_scatter(**_line(row, look))
    figure.update_layout(annotations=_names(rows, look, names))
    return figure


def _places(rows: DataFrame, side: str) -> list[int]:
    """Return a separate place for every system, even if ranks are tied."""
    order = rows.sort_values([f"{side}_rank", "title"], kind="stable").index
    return [list(order).index(row) for row in rows.index]


def _line(row: dict, look: Palette) -> dict:
    rise = row["left_rank"] - row["right_rank"]
    shade = look.muted if not rise else look.win if rise > 0 else look.loss
    hover = (
        f"<b>{escape(row['title'])}</b><br>rank {int(row['left_rank'])} ({plain(row['left'])})"
        f" to {int(row['right_rank'])} ({plain(row['right'])})"
    )
    return {
        "x": [0, 1],
        "y": [row["left_place"], row["right_place"]],
        "mode": "lines+markers",
        "line": {"color": shade, "width": 3 if rise else 1.5},
        "marker": {"color": shade, "size": 7, "opacity": 1},
        **traces.hover([hover, hover]),
    }


def _names(rows: DataFrame, look: Palette, names: tuple[str, str]) -> list[dict]:
    many = len(rows) > MOST_NAMED
    moved = (rows["left_rank"] - rows["right_rank"]).abs().rank(method="first", ascending=False)
    notes = []
    for place, side, anchor, shift in ((0, "left", "right", -10), (1, "right", "left", 10)):
        base: dict[str, Any] = {"x": place, "xanchor": anchor, "xshift": shift}
        # One line with the table and its measure would be too long for a phone.
        head = escape(names[place], 44).replace(": ", ":<br>")
        notes.append(base | {"y": -1.2, "text": f"<b>{head}</b>"})
        for row, nth in zip(rows.to_dict("records"), moved, strict=True):
            if many and nth > MOST_NAMED:
                continue
            title, value = escape(row["title"], 24), plain(row[side])
            words = f"{title}  {value}" if side == "left" else f"{value}  {title}"
            font = {"color": look.text, "size": 10 if many else 12}
            notes.append(base | {"y": row[f"{side}_place"], "text": words, "font": font})
    return notes


def _layout(n: int) -> dict:
    return {
        "xaxis": {"range": [-1, 2], "visible": False},
        "yaxis": {"range": [n - 0.4, -2], "visible": False},
        "height": (TIGHT if n > MOST_NAMED else ROW) * (n + 2) + 20,
        "hoverdistance": 12,
    }
