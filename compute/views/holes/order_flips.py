"""Order flips that unjudged documents could cause: a matrix of all pairs of systems."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import counted
from compute.evaluate import holes
from compute.evaluate.holes.order_flips import EQUAL, OPEN
from compute.views.holes.intervals import RANGES, ranges
from compute.views.page import Note
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import Entry, Palette

MOST_WITH_NUMBERS = 16
"""Most systems with numbers in the cells; in larger matrices only tooltips have numbers."""

FEWEST_COLUMNS = 8
SHORT = 18
"""Most characters of a name above narrow columns."""

Row = Mapping[Hashable, Any]
MOST_PAIRED = 20
"""Most systems in a matrix; with more there would be too many pairs to read."""
MOST_BOUNDED = 50_000
"""Most queries times pairs for measures whose ranges are slow: they take about a second."""
_SHADES = {"": 0.4, "pool_": 0.62, "collection_": 0.88}
"""Shades of leads that cannot flip, by the widest range in which they hold."""


_SAID = {OPEN: "could flip", EQUAL: "tied"}
_SAID |= {column: f"holds: {name}" for column, name in RANGES.items()}
_MEANT = {
    OPEN: "could flip",
    EQUAL: "tied",
    "": "the top k cannot flip it",
    "pool_": "the pool cannot flip it",
    "collection_": "no document of the corpus can flip it",
}


def legend(pairs: DataFrame, theme: str) -> list[Entry]:
    """Return the legend of the matrix, with only the colours that occur."""
    there = {_kind(pair) for pair in pairs.to_dict("records")}
    fills = _fills(looks.palette(theme)).items()
    return [(colour, "■", _MEANT[kind]) for kind, colour in fills if kind in there]


def _fills(look: Palette) -> dict[str, str]:
    fills = {OPEN: look.line, EQUAL: looks.colour(0.4, (look.line, look.muted))}
    return fills | {name: looks.colour(shade, look.sequential) for name, shade in _SHADES.items()}


def _lists(rows: DataFrame, pairs: DataFrame, measure: str, **_: object) -> Lists:
    """Return every pair of systems, the closest first."""
    titles = rows["title"].tolist()
    told = [
        (
            f"{titles[cell['x']]} over {titles[cell['y']]}",
            cell["lead"],
            f"{looks.signed(cell['lead'])}, {_SAID[cell['kind']]}",
        )
        for cell in _cells(rows, pairs, measure)
    ]
    return Lists("Pairs", "Pair", [ranked("All pairs, closest first", told, descending=False)])


@in_lists(_lists)
@drawing
def order_matrix(rows: DataFrame, pairs: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw each pair of systems once, with the better system as the column. The darker the cell,
    the wider the range in which its lead holds. `rows`: system, title, in the order of scores.
    `pairs`: first, second, difference, and low, high, verdict of each range. Numbers are leads of
    the column's system over the row's."""
    look = looks.palette(theme)
    cells = list(_cells(rows, pairs, measure))
    n = len(rows)
    fills = _fills(look)
    z = {kind: place for place, kind in enumerate(fills)}
    grid: list[list[float | None]] = [[None] * (n - 1) for _ in range(n)]
    hover = [[""] * (n - 1) for _ in range(n)]
    for cell in cells:
        grid[cell["y"]][cell["x"]] = z[cell["kind"]]
        hover[cell["y"]][cell["x"]] = cell["hover"]
    heat = traces.cells(grid[1:], list(fills.values()), len(fills) - 1, hover[1:], y0=1)
    return go.Figure([heat, *_numbers(cells, fills, n)], _matrix_layout(rows, theme))


def _cells(rows: DataFrame, pairs: DataFrame, measure: str) -> Iterator[Row]:
    """Yield per pair: x and y (places of the better and worse system), lead, kind, hover."""
    places = {system: place for place, system in enumerate(rows["system"])}
    titles = [looks.escape(title) for title in rows["title"]]
    for pair in pairs.to_dict("records"):
        one, other = places[pair["first"]], places[pair["second"]]
        sign = 1 if one < other else -1
        lead = sign * pair["difference"]
        x, y = min(one, other), max(one, other)
        hover = (
            f"<b>{titles[x]}</b> over <b>{titles[y]}</b><br>{measure}"
            f" {looks.precise(lead, with_sign=True)}; possible range"
        )
        hover += "".join(_range_said(pair, column, name, sign) for column, name in ranges(pairs))
        yield {"x": x, "y": y, "lead": lead, "kind": _kind(pair), "hover": hover}


def _range_said(pair: Row, column: str, name: str, sign: int) -> str:
    low, high = sorted((sign * pair[f"{column}low"], sign * pair[f"{column}high"]))
    says = {OPEN: "could flip", EQUAL: "tied"}.get(pair[f"{column}verdict"], "holds")
    return (
        f"<br>{name}: {looks.precise(low, with_sign=True)} to"
        f" {looks.precise(high, with_sign=True)}, {says}"
    )


def _kind(pair: Row) -> str:
    """Return OPEN or EQUAL by the own lists, else the prefix of the widest range that agrees."""
    if pair["verdict"] in (OPEN, EQUAL):
        return pair["verdict"]
    holds = [column for column in RANGES if pair.get(f"{column}verdict") == pair["verdict"]]
    return holds[-1]


def _numbers(cells: Sequence[Row], fills: Mapping[str, str], n: int) -> list[dict[str, Any]]:
    if n > MOST_WITH_NUMBERS:
        return []
    inks = {kind: looks.ink(fill) for kind, fill in fills.items()}
    words = [looks.plain(cell["lead"]) for cell in cells]
    places = [(cell["x"], cell["y"]) for cell in cells]
    return traces.texts(places, words, [inks[cell["kind"]] for cell in cells], 12)


def _matrix_layout(rows: DataFrame, theme: str) -> dict[str, Any]:
    titles, n = rows["title"].tolist(), len(rows)
    row = 26 if n <= MOST_WITH_NUMBERS else 18
    size = 12 if n <= MOST_WITH_NUMBERS else 10
    down = axes.names_down(titles, below=0.55, tickfont={"size": size}, ticks="")
    down |= {key: down[key][1:] for key in ("tickvals", "ticktext")}
    return {
        "height": row * n + 24,
        # The margin is for the names of the last columns, which begin where the cells end.
        "margin": {"r": 60},
        "annotations": list(_across(titles, size)),
        # With few systems, cells that fill the width would be too wide.
        "xaxis": {
            "range": [-0.5, max(n, FEWEST_COLUMNS) - 0.5],
            "visible": False,
        },
        "yaxis": down,
    }


def _across(titles: Sequence[str], size: int) -> Iterator[dict[str, Any]]:
    """Yield the column names of the systems, which start above their first cells; only cells below
    the diagonal are drawn, so the last system has no column."""
    for place, title in enumerate(titles[:-1]):
        yield {
            "x": place - 0.45,
            "y": place,
            "text": looks.escape(title, 28 if size > 10 else SHORT),
            "xanchor": "left",
            "font": {"size": size},
        }


def most_paired(measure: str, n_queries: int) -> int:
    """Return the number of systems that fit in a matrix and can be computed in time, at least 2."""
    if holes.formula(measure)[0].exact_pairs:
        return MOST_PAIRED
    return min(max(math.isqrt(2 * MOST_BOUNDED // max(n_queries, 1)), 2), MOST_PAIRED)


def none_holds(pairs: DataFrame) -> str:
    """Say that every order could flip; empty if any order is certain."""
    if not pairs["verdict"].eq(OPEN).all():
        return ""
    n = len(pairs)
    which = f"All {n:,} pairwise orders" if n > 1 else "The order of the two systems"
    return f"{which} could flip once the unjudged documents of their top k are judged."


def turned(pairs: DataFrame) -> str:
    """State the number of orders that could flip in each range."""
    found = {name: int((pairs[f"{of}verdict"] == OPEN).sum()) for of, name in ranges(pairs)}
    if len(set(found.values())) == 1:
        return f"{found['top k']:,} of {counted(len(pairs), 'pair')} could flip."
    counts = [f"{number:,} ({name})" for name, number in found.items()]
    return f"Pairs whose order could flip, of {len(pairs):,}: {', '.join(counts)}."


def orders_note(pairs: DataFrame, measure: str, *, n_left_out: int) -> Note:
    """Say how to read the matrix, and how many systems are left out for lack of space."""
    systems = {*pairs["first"], *pairs["second"]} if len(pairs) else set()
    shown = "hover" if len(systems) > MOST_WITH_NUMBERS else "number"
    left_out = f"Left out: the {counted(n_left_out, 'system')} with the lowest scores."
    return Note(
        [
            f"The system in the column leads the one in the row ({shown}: by this much).",
            left_out * bool(n_left_out),
            "" if holes.formula(measure)[0].exact_pairs else _WIDE,
            "A document that both systems retrieved has the same grade for both, so"
            " overlapping score ranges say little about their order.",
        ]
    )


_WIDE = "The true ranges may be narrower, so an order shown as open may be certain."
