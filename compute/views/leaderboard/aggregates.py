"""Dependence of the ranking on how datasets are averaged: ranks by several averages."""

from collections.abc import Mapping

import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.evaluate import aggregates
from compute.evaluate.aggregates import MEAN
from compute.evaluate.tolerance import ranks
from compute.views.leaderboard.board import Board
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import escape, plain

FEWEST = 3
"""Fewest datasets, and fewest systems, for which ranks by averages make sense."""
ROW, MOST = 28, 24
"""Pixels per system, and most systems drawn."""
COLUMNS = ["system", "way", "rank", "low", "high", "number", "unbounded"]
HOW_TO_READ = (
    "In brackets: the range of ranks in 95% of 1,000 bootstrap samples of datasets (not a test).",
    "Relative to best: scores divided by the dataset's best.",
    "Mean rank is the Borda count, which orders systems as Bradley–Terry strengths do.",
    "Both, like wins, depend on which systems are included.",
)
_SIGNED = ("ranks and wins",)
WAYS = {
    MEAN: "mean",
    "median": "median",
    "geometric mean": "geometric<br>mean",
    "share of the best": "relative<br>to best",
    "ranks and wins": "mean<br>rank",
    aggregates.BY_TASK: "macro-mean<br>over tasks",
}


@remembered
def orders(board: Board) -> DataFrame:
    """Rank the systems that have all `averaged` datasets by each average: system, way (the
    average), rank, low and high (95% range of ranks over bootstrap samples of datasets), number
    (the average), unbounded (from `aggregates.unbounded`). Empty if fewer than FEWEST."""
    systems = board.systems.loc[board.systems["rank"].notna(), "system"].tolist()
    if min(len(systems), len(board.averaged)) < FEWEST:
        return DataFrame(columns=COLUMNS)
    cells = board.cells[board.cells["usable"] & board.cells["dataset"].isin(board.averaged)]
    square = cells.pivot(index="dataset", columns="system", values="value")
    values = square.loc[list(board.averaged), systems].to_numpy(float)
    tasks = board.datasets.set_index("dataset").loc[list(board.averaged), "task"].tolist()
    ends = aggregates.rank_intervals(values, tasks, board.sign)
    free = aggregates.unbounded(*aggregates.counts(board.sign * values))
    found = []
    for way, numbers in aggregates.aggregated(values, tasks, board.sign).items():
        sign = -1 if way in _SIGNED else board.sign
        low, high = ends[way]
        rank = ranks(numbers).astype(int)
        rows = zip(systems, rank, low, high, sign * numbers, free, strict=True)
        found += [(name, way, *rest) for name, *rest in rows]
    return DataFrame(found, columns=COLUMNS)


def verdict(rows: DataFrame, titles: Mapping[str, str]) -> str:
    """Say whether the first rank is the same under all averages."""
    by_way: dict[str, list[str]] = {}
    for row in rows[rows["rank"] == 1].to_dict("records"):
        by_way.setdefault(row["way"], []).append(titles.get(row["system"], row["system"]))
    ways: dict[str, list[str]] = {}
    for way, names in by_way.items():
        ways.setdefault(", ".join(names), []).append(way)
    if len(ways) == 1:
        return f"{next(iter(ways))} ranks first under all {len(by_way)} averages."
    named = {name: ", ".join(map(WAYS.__getitem__, of)) for name, of in ways.items()}
    told = "; ".join(f"{name} by {of}" for name, of in named.items()).replace("<br>", " ")
    return f"The first rank depends on the average: {told}."


def notes(rows: DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Say which geometric means are 0 and which systems are unbeaten, if any."""
    zero = rows[(rows["way"] == "geometric mean") & (rows["number"] == 0)]["system"]
    free = rows[rows["unbounded"]]["system"].unique()
    told = []
    if len(zero):
        names = ", ".join(titles.get(name, name) for name in zero)
        told.append(f"A value of 0 makes the geometric mean of {names} 0.")
    if len(free):
        names = ", ".join(titles.get(name, name) for name in free)
        told.append(
            f"The Bradley–Terry strength of {names} is unbounded: no other system beats or ties it"
            " on any dataset."
        )
    return told


def _said(row: Mapping) -> str:
    """Return a rank with its 95% range, such as `2 (1–3)`."""
    ends = "" if row["low"] == row["high"] else f" ({row['low']}–{row['high']})"
    return f"{row['rank']}{ends}"


def _lists(rows: DataFrame, titles: Mapping[str, str], **_: object) -> Lists:
    lists = []
    for way, of in rows.groupby("way", sort=False):
        told = [
            (titles.get(row["system"], row["system"]), row["rank"], _with_number(row))
            for row in of.to_dict("records")
        ]
        lists.append(ranked(str(way), told, descending=False))
    return Lists("By", "System", lists)


def _with_number(row: Mapping) -> str:
    ends = "" if row["low"] == row["high"] else f", ranks {row['low']} to {row['high']}"
    return f"{plain(row['number'])}{ends}"


@in_lists(_lists)
@drawing
def matrix(rows: DataFrame, titles: Mapping[str, str], *, theme: str) -> go.Figure:
    """Draw each system's rank by each average, with its 95% range, the best mean first. `rows` are
    from `orders`; only the first MOST systems are drawn."""
    ways = [*dict.fromkeys(rows["way"])]
    first = rows[rows["way"] == MEAN].sort_values(["rank", "system"])["system"].head(MOST)
    told = rows.assign(told=[_said(row) for row in rows.to_dict("records")])
    square, words = (
        told.pivot(index="system", columns="way", values=name).loc[first, ways]
        for name in ("rank", "told")
    )
    names = [titles.get(name, name) for name in first]
    across = {"tickvals": list(range(len(ways))), "ticktext": [WAYS[way] for way in ways]}
    return go.Figure([_cells(square, words, names, theme)]).update_layout(
        height=ROW * len(first) + 84,
        xaxis=axes.BARE | across | {"side": "top", "ticks": ""},
        yaxis=axes.names_down(names, ticks=""),
        margin={"t": 48},
    )


def _cells(square: DataFrame, words: DataFrame, names: list[str], theme: str) -> dict:
    look = looks.palette(theme)
    hovers = [
        [f"<b>{escape(name)}</b><br>{way}: rank {told}" for way, told in of.items()]
        for name, (_, of) in zip(names, words.iterrows(), strict=True)
    ]
    text = {"text": words.to_numpy(), "texttemplate": "%{text}", "textfont": {"color": look.text}}
    # The text's colour is legible on this half of the scale.
    stops = [*reversed(look.sequential[:5])]
    return traces.cells(square.to_numpy(float), stops, max(len(names), 2), hovers, zmin=1, **text)
