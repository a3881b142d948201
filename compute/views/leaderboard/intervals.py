"""Figures and tables of a ranking with its uncertainty: intervals, possible ranks, and groups."""

import math
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.views.leaderboard import order_confidence
from compute.views.leaderboard.board import Board, short_titles
from compute.views.leaderboard.select_order import COLUMNS
from compute.views.shared import axes, traces
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, Ranked, Row
from compute.views.shared.theme import Palette, between, escape, palette, plain, precise

MOST_ROWS = 40
"""Most systems in the figure; the table has all."""
MOST_BARS = 10
"""Most groups drawn as bars."""
ROW = 26
TIGHT = 18
"""Pixels per system, and pixels if there are many systems."""
_MANY = 16
PICTURE, HOLES = "Interval", "Hole@10"
"""Columns of the table with a picture of the interval, and with the mean unjudged share."""
_HEADS = ("System", "Mean", PICTURE, "95% CI", "Rank", "P(rank 1)", "Significance group", HOLES)
_WIDE, _HIGH, _DOT = 150, 24, 4
"""Pixels of the picture of an interval: its width, its height, and the radius of its dot."""
WIDTH = 172
"""Width of the column of pictures."""
_SHORT = 18
"""Most characters of a name in a one-column figure."""
_LETTERS = {"xshift": 66, "xanchor": "left"}


def _lists(ranking: DataFrame, titles: Mapping[str, str], measure: str, **_: object) -> Lists:
    """Return the systems by mean, with group, interval and possible ranks."""
    rows = [
        Row(
            None if row["rank"] != row["rank"] else int(row["rank"]),
            titles[row["system"]],
            _said(row),
        )
        for row in ranking.to_dict("records")
    ]
    return Lists("Measure", "System", [Ranked(measure, rows)])


def _said(row: Mapping) -> str:
    mean = plain(row["mean"])
    if row["low"] != row["low"]:
        return mean
    group = order_confidence.compact(row["group"])
    return f"{mean} {group} ({between(row['low'], row['high'])}); rank {ranks_of(row)}"


@in_lists(_lists)
@drawing
def intervals(
    ranking: DataFrame,
    titles: Mapping[str, str],
    measure: str,
    theme: str,
    *,
    narrow: bool = False,
) -> go.Figure:
    """Draw systems as rows, the best first; at the right their possible ranks, share of first
    ranks, and groups as bars. `ranking` is a frame of `leaderboard.select_order`. Every mark's
    customdata is its system. A `narrow` figure shows groups as letters, and no share."""
    look, rows = palette(theme), ranking.head(MOST_ROWS)
    bars = {} if narrow else groups_drawn(ranking)
    figure = go.Figure(layout=_layout(rows, titles, measure, bars))
    figure.add_trace(_means(rows, titles, measure, look))
    for place, (letter, places) in enumerate(bars.items()):
        figure.add_traces(list(_bar(place, letter, places, look)))
    figure.update_layout(annotations=list(_notes(rows, bars, look, narrow=narrow)))
    if narrow:
        figure.update_layout(_column(rows, titles))
    return figure


def _column(rows: DataFrame, titles: Mapping[str, str]) -> dict:
    """Return the layout for one column of a page, half of which names and numbers need."""
    names = [escape(titles[name], _SHORT) for name in rows["system"]]
    across = {"domain": [0, 0.55]}
    return {"xaxis": across, "yaxis": {"ticktext": names}, "margin": {"r": 20}}


def groups_drawn(ranking: DataFrame) -> dict[str, list[int]]:
    """Return the positions of the systems of each group to draw as a bar, by letter: groups of
    several systems, but none if there are too many."""
    rows = ranking.head(MOST_ROWS)
    groups = order_confidence.members(rows["group"].tolist())
    several = {letter: places for letter, places in groups.items() if len(places) > 1}
    return several if len(several) <= MOST_BARS else {}


def _means(rows: DataFrame, titles: Mapping[str, str], measure: str, look: Palette) -> dict:
    sure = rows["low"].notna().all()
    marker = {"size": 9, "color": look.primary}
    hover = [_hover(row, titles, measure) for row in rows.to_dict("records")]
    bars = traces.error_bars((rows["high"] - rows["mean"]).tolist(), look.primary, 2)
    bars |= {"symmetric": False, "arrayminus": (rows["mean"] - rows["low"]).tolist()}
    about = {"error_x": bars | {"visible": bool(sure)}, "customdata": rows["system"].tolist()}
    return traces.marks(rows["mean"].tolist(), None, marker, hover, **about)


def _hover(row: dict, titles: Mapping[str, str], measure: str) -> str:
    lines = [f"<b>{escape(titles[row['system']])}</b>", f"{measure} {precise(row['mean'])}"]
    if row["low"] == row["low"]:
        lines[1] += f", 95% interval {precise(row['low'])} to {precise(row['high'])}"
        lines.append(f"rank {ranks_of(row)}; first in {share(row['first'])} of resamples")
        lines.append(f"group {order_confidence.compact(row['group'])}")
    return "<br>".join(lines)


def _bar(place: int, letter: str, places: list[int], look: Palette) -> Iterator[dict]:
    """Yield a vertical bar with a dot at each system of the group, dotted past other systems."""
    joined: list[int | None] = []
    for before, y in zip([places[0] - 1, *places], places, strict=False):
        joined += [y] if before == y - 1 else [None, y]
    bar = {
        "x": [place] * len(joined),
        "y": joined,
        "xaxis": "x2",
        "mode": "lines+markers",
        "line": {"width": 2, "color": look.muted},
        "marker": {"size": 9, "color": look.muted, "opacity": 1},
        "hovertemplate": f"group {letter}: no significant difference<extra></extra>",
    }
    if None in joined:
        thin = {"width": 1, "color": look.muted, "dash": "dot"}
        yield bar | {"x": [place] * 2, "y": [places[0], places[-1]], "mode": "lines", "line": thin}
    yield bar


def _notes(rows: DataFrame, bars: Mapping, look: Palette, *, narrow: bool) -> Iterator[dict]:
    # To the right of the means are the possible ranks, then the share of resamples, or the groups.
    place = {"xref": "x domain", "x": 1, "xanchor": "right"}
    sure = rows["low"].notna().all()
    for y, row in enumerate(rows.to_dict("records")):
        yield place | {"y": y, "xshift": 58, "text": ranks_of(row)}
        if sure and narrow:
            yield place | {"y": y, "text": order_confidence.compact(row["group"])} | _LETTERS
        elif sure:
            yield place | {"y": y, "xshift": 114, "text": share(row["first"])}
    head = place | {"y": -0.5, "yanchor": "bottom", "font": {"color": look.muted}}
    yield head | {"xshift": 54, "text": "rank"}
    if sure:
        # The distance from "rank" also suffices for the wider fonts of papers.
        often = {"xshift": 126, "text": "P(rank 1)"}
        yield head | ({"text": "group"} | _LETTERS if narrow else often)
    if bars:
        words = "no significant<br>difference"
        yield head | {"xref": "x2 domain", "x": 0, "xanchor": "left", "text": words}


def _layout(rows: DataFrame, titles: Mapping[str, str], measure: str, bars: Mapping) -> dict:
    many = len(rows) > _MANY
    right = 0.97 - 0.02 * max(len(bars), 2)
    names, font = [titles[name] for name in rows["system"]], {"size": 11 if many else 13}
    ends = rows[["low", "high", "mean"]]
    return {
        "xaxis": {"domain": [0, right - 0.19], "title": {"text": measure}, "zeroline": False}
        | axes.spanning(float(ends.min().min()), float(ends.max().max()), 8),
        "xaxis2": {
            "domain": [right, 1],
            "range": [-0.5, max(len(bars), 4) - 0.5],
            "visible": False,
        },
        "yaxis": axes.names_down(names, above=2.5 if many else 1.8, below=0.6, tickfont=font),
        "height": (TIGHT if many else ROW) * (len(rows) + 2) + 60,
        # On a narrow screen the heading is wider than the bars.
        "margin": {"r": 30} if bars else {},
        "hoverdistance": 12,
    }


@remembered
def table(
    ranking: DataFrame | None, board: Board, holes: Mapping[str, float] | None = None
) -> DataFrame:
    """Return a row per system of the board: title, the fields of `ranking`, hole (if `holes` are
    given by system), n_datasets, and the value on each dataset (fields named by OF_DATASET).
    Systems missing from `ranking` come last and have no rank."""
    titles = short_titles(board.systems)
    if ranking is None:
        ranking = DataFrame(columns=["system", *COLUMNS]).astype({"system": str})
    rows = board.systems[["system"]].merge(ranking, on="system", how="left", sort=False)
    rows = rows.iloc[rows["rank"].fillna(len(rows) + 1).argsort(kind="stable")]
    systems = rows["system"].tolist()
    covered = board.cells[board.cells["value"].notna()].groupby("system")["dataset"].nunique()
    rows = rows.assign(
        title=[titles[name] for name in systems],
        n_datasets=covered.reindex(systems).to_numpy(),
        **({} if holes is None else {"hole": [holes.get(name, math.nan) for name in systems]}),
    )
    values = board.cells.pivot(index="system", columns="dataset", values="value")
    values = values.reindex(systems)[list(board.datasets["dataset"])].add_prefix(OF_DATASET)
    return rows.merge(values, left_on="system", right_index=True)


OF_DATASET = "on "
"""Prefix of a dataset's name in the name of the field with its values."""


def pictures(ranking: DataFrame, systems: Sequence[str], theme: str) -> list[str | None]:
    """Return a picture (data URL) of each system's interval and mean, on a common scale; None for a
    system without an interval."""
    low, shade = ranking["low"].min(), palette(theme).primary
    span = ranking["high"].max() - low or 1.0
    rows = ranking.set_index("system")[["low", "mean", "high"]].dropna()
    # The dot stays inside the picture at both ends.
    places = _DOT + (rows - low) / span * (_WIDE - 2 * _DOT)
    drawn = {system: _picture(shade, *ends) for system, *ends in places.itertuples()}
    return [drawn.get(system) for system in systems]


def _picture(shade: str, start: float, middle: float, end: float) -> str:
    y = _HIGH // 2
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{_HIGH}" fill="{shade}">'
        f'<path stroke="{shade}" stroke-width="2" d="M{start:.1f} {y}H{end:.1f}"/>'
        f'<circle cx="{middle:.1f}" cy="{y}" r="{_DOT}"/></svg>'
    )
    return f"data:image/svg+xml,{quote(drawn)}"


def headings(board: Board) -> dict[str, str]:
    """Return each dataset's column heading: its title, with the name if that is ambiguous."""
    rows = board.datasets[["dataset", "title"]]
    unclear = rows["title"].duplicated(keep=False) | rows["title"].isin(
        [*_HEADS, "# datasets", "system"]
    )
    heads = rows["title"].where(~unclear, rows["title"] + " (" + rows["dataset"] + ")")
    return dict(zip(rows["dataset"], heads, strict=True))


def ranks_of(row: Mapping) -> str:
    """Return the possible ranks of a system, such as `2–4`; only its rank if they are unknown."""
    return rank_range(row["rank"], row["rank_low"], row["rank_high"])


def rank_range(rank: float, low: float, high: float) -> str:
    """Return possible ranks as text, from a rank and its bounds."""
    if rank != rank:
        return "–"
    low, high = (int(one or rank) for one in (low, high))
    return str(low) if low == high else f"{low}–{high}"


def share(first: float) -> str:
    """Format the share of bootstrap samples in which a system ranks first."""
    return "–" if first != first else f"{first:.0%}" if first >= 0.005 or first == 0 else "<1%"
