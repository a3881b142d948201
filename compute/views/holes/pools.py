"""The pool: scores of systems left out of it, and gains from added judgements."""

from collections.abc import Hashable, Mapping
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.evaluate.tolerance import SHOWN, above
from compute.views.holes.view import OF
from compute.views.page import Column, Note, Table
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import Palette

ROW = 30
"""Pixels per system."""

Row = Mapping[Hashable, Any]


def _lists(rows: DataFrame, measure: str, **_: object) -> Lists:
    """Return the systems by score, with the score if the system were left out of the pool."""
    told = [
        (
            row["title"],
            row["value"],
            f"{looks.plain(row['value'])}; left out {looks.plain(row['value_without'])}",
        )
        for row in rows.to_dict("records")
    ]
    return Lists("Measure", "System", [ranked(measure, told)])


@in_lists(_lists)
@drawing
def left_out(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """Draw a row per system, in the given order: its score, and a ring at its score when left out.
    `rows`: system, title and the columns of `pools.leave_one_out`. At the right are the change, the
    ranks before and after, and unique relevant documents."""
    look = looks.palette(theme)
    hover = [_said(row, measure) for row in rows.to_dict("records")]
    figure = go.Figure(
        [
            _lines(rows, look),
            _marks(rows["value_without"].tolist(), "left out of the pool", False, hover, look),
            _marks(rows["value"].tolist(), "as judged", True, hover, look),
        ]
    )
    figure.update_layout(
        height=ROW * len(rows) + 110,
        showlegend=True,
        margin={"r": 222, "t": 30},
        xaxis=_scale(rows) | {"title": {"text": measure}, "zeroline": False},
        yaxis=axes.names_down(rows["title"].tolist(), above=0.6, below=0.6, ticks=""),
        annotations=_columns(rows, look),
    )
    return figure


def _scale(rows: DataFrame) -> dict[str, Any]:
    """Return an axis from 0 to the next tenth, so that a change is seen relative to the score."""
    last = max(int(10 * float(rows["value"].max()) + 0.999), 1)
    ticks = [place / 10 for place in range(last + 1)]
    shown = [looks.plain(tick, 1) if tick else "0" for tick in ticks]
    spare = last / 600
    return {"range": [-spare * 6, last / 10 + spare * 6], "tickvals": ticks, "ticktext": shown}


def _lines(rows: DataFrame, look: Palette) -> dict[str, Any]:
    line = {"width": 3, "color": looks.colour(0.4, look.sequential)}
    ends = rows["value_without"], rows["value"]
    return traces.lines(*ends, range(len(rows)), line, showlegend=False)


def _marks(
    values: list[float], name: str, filled: bool, hover: list[str], look: Palette
) -> dict[str, Any]:
    shade = look.primary if filled else look.background
    line = {"width": 1 if filled else 2, "color": look.background if filled else look.primary}
    # The ring is larger than the dot, so it stays visible around an unchanged score.
    marker = {"size": 9 if filled else 14, "color": shade, "line": line}
    return traces.marks(values, None, marker, hover, name=name)


def _said(row: Row, measure: str) -> str:
    return "<br>".join(
        (
            f"<b>{looks.escape(row['title'])}</b>",
            f"{measure} {looks.precise(row['value'])}, rank {row['place']}",
            f"left out {looks.precise(row['value_without'])}, rank {row['place_without']}",
            f"{row['n_relevant']:,} relevant retrieved, {row['n_relevant_alone']:,} unique",
        )
    )


def _columns(rows: DataFrame, look: Palette) -> list[dict[str, Any]]:
    place = {"x": 1, "xref": "paper", "xanchor": "right"}
    muted = {"color": look.muted}
    head = place | {"y": 1, "yref": "paper", "yanchor": "bottom", "font": muted}
    notes = [
        head | {"xshift": shift, "text": text}
        for shift, text in ((62, "change"), (128, f"rank of {len(rows)}"), (216, "unique relevant"))
    ]
    for y, row in enumerate(rows.to_dict("records")):
        change = looks.signed(row["value_without"] - row["value"])
        moved = row["place"] != row["place_without"]
        rank = f"{row['place']} → {row['place_without']}" if moved else f"{row['place']}"
        share = row["n_relevant_alone"] / max(row["n_relevant"], 1)
        notes += [
            place | {"y": y, "xshift": 62, "text": change},
            place | {"y": y, "xshift": 128, "text": f"<b>{rank}</b>" if moved else rank},
            place | {"y": y, "xshift": 216, "text": f"{row['n_relevant_alone']:,} ({share:.0%})"},
        ]
    return notes


GAINS = Note(
    [
        "Added judgements of documents that a system retrieved; unique: by no other system.",
        "A system's score can fall if other systems' documents turn out to be relevant.",
    ]
)
"""How to read `gains_table`."""


def verdict(rows: DataFrame) -> str:
    """State how many systems would change rank."""
    lost = above((rows["value"] - rows["value_without"]).abs(), SHOWN)
    moved = int(((rows["place"] != rows["place_without"]) & lost).sum())
    if not moved:
        return "No system would change rank if it were left out of the pool."
    return f"{moved} of {len(rows)} systems would change rank if each were left out of the pool."


def left_out_note(rows: DataFrame, measure: str) -> Note:
    """Describe the pool, and how to read the figure."""
    cut = measure.partition("@")[2]
    return Note(
        [
            f"The pool here is only the top {cut} of the {len(rows)} systems shown; with few"
            " runs this overstates the loss.",
            "Ring: without judgements of documents that only this system retrieved.",
            "Unique relevant: relevant documents retrieved only by this system, and their share.",
            "The official judgements may come from a different pool.",
        ]
    )


def left_out_table(rows: DataFrame, measure: str) -> Table:
    """Return the values of the figure."""
    rows = rows.assign(change=rows["value_without"] - rows["value"])
    columns = [
        Column("System", "title"),
        Column(measure, "value", looks.plain),
        Column("Left out", "value_without", looks.plain),
        Column("Change", "change", looks.signed),
        Column("Rank", "place"),
        Column("Left out", "place_without"),
        Column("Judged", "n_judged"),
        Column("Unique", "n_alone"),
        Column("Relevant", "n_relevant"),
        Column("Unique relevant", "n_relevant_alone"),
    ]
    return Table("left-out-table", "Systems left out of the pool", rows, columns, of=OF)


def gains_table(rows: DataFrame, measure: str) -> Table:
    """Return each system's gain from added judgements; `rows`: from `pools.gains`, with titles."""
    rows = rows.assign(gain=rows["value_added"] - rows["value"])
    columns = [
        Column("System", "title"),
        Column("Added in its list", "n_added"),
        Column("Relevant", "n_added_relevant"),
        Column("Unique relevant", "n_added_alone"),
        Column(f"{measure} before", "value", looks.plain),
        Column("after", "value_added", looks.plain),
        Column("gain", format=looks.signed),
    ]
    return Table("pool-gains", "Pool contributions of systems", rows, columns, of=OF)
