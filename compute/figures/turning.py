"""Whether the holes could turn the order of two systems, every pair in one matrix."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.figures import theme as looks
from compute.figures.drawing import drawing
from compute.figures.holes import LETTERS, names
from compute.figures.theme import Palette
from compute.holes.turning import EQUAL, OPEN
from compute.wording import counted

MOST_WITH_NUMBERS = 16
"""With more systems the cells are too small for numbers; the hover has them."""

FEWEST_COLUMNS = 8
SHORT = 18
"""Letters of a name across, where columns are narrow."""

Row = Mapping[Hashable, Any]


@drawing
def order_matrix(rows: DataFrame, pairs: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Every pair of systems once, the better one across: dark where its lead holds.

    `rows`: system, title, in the order of scores; `pairs`: first, second, difference, low, high,
    verdict. The number is the lead of the system across over the one on the left.
    """
    look = looks.palette(theme)
    cells = list(_cells(rows, pairs, measure))
    n = len(rows)
    fills = {OPEN: look.second, EQUAL: look.line, "": looks.colour(0.72, look.sequential)}
    scale = [[place / 2, colour] for place, colour in enumerate(fills.values())]
    z = {kind: place for place, kind in enumerate(fills)}
    grid: list[list[float | None]] = [[None] * (n - 1) for _ in range(n)]
    hover = [[""] * (n - 1) for _ in range(n)]
    for cell in cells:
        grid[cell["y"]][cell["x"]] = z[cell["kind"]]
        hover[cell["y"]][cell["x"]] = cell["hover"]
    heat = {
        "type": "heatmap",
        "z": grid[1:],
        "y0": 1,
        "zmin": 0,
        "zmax": 2,
        "colorscale": scale,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hovertext": hover[1:],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
    }
    return go.Figure([heat, *_numbers(cells, fills, look, n)], _matrix_layout(rows, theme))


def _cells(rows: DataFrame, pairs: DataFrame, measure: str) -> Iterator[Row]:
    places = {system: place for place, system in enumerate(rows["system"])}
    titles = [looks.escape(title) for title in rows["title"]]
    for pair in pairs.to_dict("records"):
        one, other = places[pair["first"]], places[pair["second"]]
        sign = 1 if one < other else -1
        low, high = sorted((sign * pair["low"], sign * pair["high"]))
        lead = sign * pair["difference"]
        kind = pair["verdict"] if pair["verdict"] in (OPEN, EQUAL) else ""
        x, y = min(one, other), max(one, other)
        says = {OPEN: "the holes could turn it", EQUAL: "level whatever the holes are"}
        hover = (
            f"<b>{titles[x]}</b> over <b>{titles[y]}</b><br>{measure}"
            f" {looks.precise(lead, with_sign=True)}, can be"
            f" {looks.precise(low, with_sign=True)} to {looks.precise(high, with_sign=True)}<br>"
            + says.get(kind, "holds whatever the holes are")
        )
        yield {"x": x, "y": y, "lead": lead, "kind": kind, "hover": hover}


def _numbers(
    cells: Sequence[Row], fills: Mapping[str, str], look: Palette, n: int
) -> Iterator[dict[str, Any]]:
    inks = {OPEN: look.muted, EQUAL: look.text, "": looks.ink(fills[""])}
    for kind, ink in inks.items():
        chosen = [cell for cell in cells if cell["kind"] == kind and n <= MOST_WITH_NUMBERS]
        if chosen:
            yield {
                "type": "scatter",
                "x": [cell["x"] for cell in chosen],
                "y": [cell["y"] for cell in chosen],
                "text": [looks.plain(cell["lead"]) for cell in chosen],
                "mode": "text",
                "textfont": {"size": 12, "color": ink},
                "hoverinfo": "skip",
                "showlegend": False,
            }


def _matrix_layout(rows: DataFrame, theme: str) -> dict[str, Any]:
    titles, n = rows["title"].tolist(), len(rows)
    row = 26 if n <= MOST_WITH_NUMBERS else 18
    size = 12 if n <= MOST_WITH_NUMBERS else 10
    down = names(titles) | {"range": [n - 0.45, -0.5]}
    down |= {"tickvals": list(range(1, n)), "tickfont": {"size": size}}
    down["ticktext"] = down["ticktext"][1:]
    return {
        "template": looks.template(theme),
        "height": row * n + 24,
        "dragmode": False,
        # The last names across begin where the cells end.
        "margin": {"r": 60},
        "annotations": list(_across(titles, size)),
        # Few systems would make wide cells.
        "xaxis": {
            "range": [-0.5, max(n, FEWEST_COLUMNS) - 0.5],
            "visible": False,
            "fixedrange": True,
        },
        "yaxis": down,
    }


def _across(titles: Sequence[str], size: int) -> Iterator[dict[str, Any]]:
    """The names of the systems across, each where its column begins: above its first cell."""
    for place, title in enumerate(titles[:-1]):
        yield {
            "x": place - 0.45,
            "y": place,
            "text": looks.escape(title, LETTERS if size > 10 else SHORT),
            "xanchor": "left",
            "showarrow": False,
            "font": {"size": size},
        }


def orders_note(pairs: DataFrame, *, n_left_out: int) -> list[str]:
    """What the matrix of orders comes to, and how to read it."""
    n_open, n = int((pairs["verdict"] == OPEN).sum()), len(pairs)
    turned = {0: "none", n: "all"}.get(n_open, f"{n_open:,}") + f" of the {n:,} orders"
    if n == 1:
        turned = "the order" if n_open else "nothing about the order"
    systems = {*pairs["first"], *pairs["second"]} if n else set()
    shown = "what the hover says" if len(systems) > MOST_WITH_NUMBERS else "the number in the cell"
    left_out = f"Left out: the {counted(n_left_out, 'system')} with the lowest scores."
    return [
        f"The holes could turn {turned}.",
        "How to read this: every system named above a column has the better score than the one on"
        f" the left, by {shown}."
        " Blue: it stays ahead however the holes of both are judged. Grey: some way of judging them"
        " puts the other ahead, or level. A hole that both retrieved is judged once, for both, and"
        " holes of one raise the best list for the other too: whether two bars above overlap says"
        " little about their order.",
        left_out if n_left_out else "",
    ]
