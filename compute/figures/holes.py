"""Holes: scores with what they can be, and the ranks where holes are."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute import holes
from compute.figures import theme as looks
from compute.figures.theme import Palette

ROW = 30
"""Height of a system in pixels."""
LETTERS = 24

Row = Mapping[Hashable, Any]
_ESTIMATES = {
    "expected": ("expected", "diamond-open", 9),
    "condensed": ("holes left out", "line-ns-open", 13),
}


def score_intervals(rows: DataFrame, measure: str, *, theme: str) -> go.Figure:
    """A system per row, in given order: its score as a dot, and a bar over all it can be.

    `rows`: system, title, n_queries, n_holes, value, low, high, hole, hole_beir; expected and
    condensed are marked where the columns are there. At the right Hole@k both ways.
    """
    look = looks.palette(theme)
    figure = go.Figure([_bars(rows, look), *_guesses(rows, look), _dots(rows, measure, look)])
    highest = float(rows["high"].max())
    # A little more than the highest end, so that its bar is seen to end.
    end = min(1.02, max(0.1, highest * 1.04))
    step = 0.1 if end > 0.3 else 0.02
    ticks = [round(place * step, 2) for place in range(int(end / step + 1e-9) + 1)]
    cut = measure.partition("@")[2]
    across = {"range": [-end / 100, end], "tickvals": ticks, "title": {"text": measure}}
    across["ticktext"] = ["0", *(looks.plain(t, 1 if step == 0.1 else 2) for t in ticks[1:])]
    figure.update_layout(
        template=looks.template(theme),
        height=ROW * len(rows) + 110,
        hovermode="closest",
        dragmode=False,
        margin={"r": 132, "t": 30},
        xaxis=across | {"fixedrange": True, "zeroline": False},
        yaxis=names(rows["title"].tolist()) | {"range": [len(rows) - 0.4, -0.6]},
        annotations=list(_shares(rows, cut, look)),
    )
    return figure


def _bars(rows: DataFrame, look: Palette) -> go.Scatter:
    x = [end for low, high in zip(rows["low"], rows["high"], strict=True) for end in (low, high)]
    # Nothing between two rows: one trace draws all bars, and the legend has one entry.
    lines = [
        value for place in range(len(rows)) for value in (x[2 * place], x[2 * place + 1], None)
    ]
    y = [place if part < 2 else None for place in range(len(rows)) for part in range(3)]
    return go.Scatter(
        x=lines,
        y=y,
        mode="lines",
        line={"width": 9, "color": _pale(look)},
        name="all it can be",
        hoverinfo="skip",
    )


def _pale(look: Palette) -> str:
    return looks.colour(0.28, look.sequential)


def _guesses(rows: DataFrame, look: Palette) -> Iterator[go.Scatter]:
    for column, (name, symbol, size) in _ESTIMATES.items():
        if column in rows:
            line = {"width": 2, "color": look.outline}
            marker = {"symbol": symbol, "size": size, "opacity": 1, "line": line}
            yield go.Scatter(
                x=rows[column].tolist(),
                y=list(range(len(rows))),
                mode="markers",
                marker=marker | {"color": look.outline},
                name=name,
                hoverinfo="skip",
            )


def _dots(rows: DataFrame, measure: str, look: Palette) -> go.Scatter:
    marker = {"size": 11, "opacity": 1, "color": look.primary}
    return go.Scatter(
        x=rows["value"].tolist(),
        y=list(range(len(rows))),
        mode="markers",
        marker=marker | {"line": {"width": 1, "color": look.background}},
        name="score (holes count as not relevant)",
        hovertext=[_said(row, measure) for row in rows.to_dict("records")],
        # Not the text itself: a template would read a title's `%{x}`.
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _said(row: Row, measure: str) -> str:
    lines = [
        f"<b>{looks.escape(row['title'])}</b>",
        f"{measure} {looks.precise(row['value'])}, can be {looks.precise(row['low'])}"
        f" to {looks.precise(row['high'])}",
        f"{row['n_holes']:,} holes in {row['n_queries']:,} queries",
    ]
    for column, (name, _, _) in _ESTIMATES.items():
        if column in row:
            lines.append(f"{name}: {looks.precise(row[column])}")
    return "<br>".join(lines)


def _shares(rows: DataFrame, cut: str, look: Palette) -> Iterator[dict]:
    muted = {"color": look.muted}
    place = {"x": 1, "xref": "paper", "xanchor": "right", "showarrow": False}
    for y, row in enumerate(rows.to_dict("records")):
        yield place | {"y": y, "xshift": 58, "text": f"<b>{percent(row['hole'])}</b>"}
        said = {"text": percent(row["hole_beir"]), "font": muted}
        yield place | {"y": y, "xshift": 124} | said
    head = place | {"y": 1, "yref": "paper", "yanchor": "bottom", "font": muted}
    yield head | {"xshift": 58, "text": f"Hole@{cut}"}
    yield head | {"xshift": 128, "text": "as BEIR"}


def percent(share: float) -> str:
    """A share in whole percent; nothing for what is absent."""
    return "–" if pd.isna(share) else f"{share:.0%}"


def rank_heatmap(rows: DataFrame, ranks: DataFrame, *, theme: str) -> go.Figure:
    """The share of queries whose document at a rank is a hole, systems down, ranks across.

    `rows`: system, title, in order; `ranks`: system, rank, n_filled, n_holes, n_relevant.
    """
    look = looks.palette(theme)
    stops = (look.background, looks.colour(0.5, (look.background, look.muted)), look.muted)
    shares = (ranks["n_holes"] / ranks["n_filled"].where(ranks["n_filled"] > 0)).rename("share")
    wide = ranks.assign(share=shares).pivot(index="system", columns="rank", values="share")
    wide = wide.reindex(rows["system"])
    hover = _rank_hovers(rows, ranks)
    heat = go.Heatmap(
        z=wide.to_numpy().tolist(),
        x=wide.columns.tolist(),
        zmin=0,
        zmax=1,
        colorscale=looks.colorscale(stops),
        showscale=False,
        xgap=2,
        ygap=2,
        hovertext=hover.reindex(rows["system"]).to_numpy().tolist(),
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
    )
    figure = go.Figure([heat, *_rank_texts(wide, stops)])
    ranks_down = [str(rank) for rank in wide.columns]
    across = {"tickvals": wide.columns.tolist(), "ticktext": ranks_down, "side": "top", "ticks": ""}
    figure.update_layout(
        template=looks.template(theme),
        height=26 * len(rows) + 70,
        dragmode=False,
        xaxis=across | {"title": {"text": "rank"}, "fixedrange": True, "showgrid": False},
        yaxis=names(rows["title"].tolist()) | {"range": [len(rows) - 0.5, -0.5]},
    )
    return figure


def _rank_hovers(rows: DataFrame, ranks: DataFrame) -> DataFrame:
    titles = dict(zip(rows["system"], rows["title"], strict=True))
    said = [
        f"<b>{looks.escape(titles[row['system']])}</b> at rank {row['rank']}<br>"
        f"{row['n_holes']:,} of {row['n_filled']:,} unjudged, {row['n_relevant']:,} relevant"
        for row in ranks.to_dict("records")
    ]
    return ranks.assign(said=said).pivot(index="system", columns="rank", values="said")


def _rank_texts(wide: DataFrame, stops: Sequence[str]) -> Iterator[go.Scatter]:
    cells = [
        (rank, y, share, looks.ink(looks.colour(share, stops)))
        for y, (_, shares) in enumerate(wide.iterrows())
        for rank, share in shares.items()
        if pd.notna(share)
    ]
    for ink in looks.INKS:
        chosen = [cell for cell in cells if cell[3] == ink]
        if chosen:
            yield go.Scatter(
                x=[cell[0] for cell in chosen],
                y=[cell[1] for cell in chosen],
                text=[f"{100 * cell[2]:.0f}" for cell in chosen],
                mode="text",
                textfont={"size": 12, "color": ink},
                hoverinfo="skip",
                showlegend=False,
            )


def names(titles: Sequence[str]) -> dict[str, Any]:
    """The axis that names a system per row."""
    return {
        "tickvals": list(range(len(titles))),
        "ticktext": [looks.escape(title, LETTERS) for title in titles],
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
    }


def interval_table(rows: DataFrame, measure: str) -> Styler:
    """The numbers behind the figures, a row per system."""
    cut = measure.partition("@")[2]
    heads = {
        "title": "System",
        "value": measure,
        "low": "Low",
        "high": "High",
        "expected": "Expected",
        "condensed": "Holes left out",
        "hole": f"Hole@{cut}",
        "hole_beir": "As BEIR's code",
        "n_holes": "Holes",
    }
    table = rows[[column for column in heads if column in rows]].rename(columns=heads)
    shares = [heads["hole"], heads["hole_beir"]]
    numbers = [name for name in list(heads.values())[1:6] if name in table]
    formats: dict[Any, Any] = dict.fromkeys(shares, percent) | dict.fromkeys(numbers, _shown)
    return table.style.format(formats)


def _shown(value: object) -> str:
    return looks.plain(float(str(value)))


def intervals_note(rows: DataFrame, measure: str, recorded: Row, *, told: bool) -> list[str]:
    """How to read the intervals, and what this collection's judgements cannot tell.

    `recorded`: n_judgements, n_not_relevant, highest, n_added, n_added_not_relevant.
    """
    cut, grade = measure.partition("@")[2], int(recorded["highest"])
    grades = "0 or 1" if grade <= 1 else f"0 to {grade}"
    notes = [
        f"How to read this: the dot is the score today, when a hole (a document that nobody judged"
        f" for the query) counts as not relevant. The bar is every score that is possible if each"
        f" hole in the system's own top {cut} had any grade, {grades}; both ends are exact."
    ]
    if not measure.startswith("P@"):
        notes.append(
            "A hole found relevant also raises what the best list would reach, so the ends are not"
            " simply “no hole is relevant” and “all are”."
        )
    notes.append(
        f"{int(rows['n_queries'].max()):,} queries with judgements; others have no score to move."
        f" At the right Hole@{cut}: share of the filled ranks without a judgement for that query;"
        f" as BEIR: share of {cut} judged for no query at all."
    )
    return [*notes, *(_guess_notes() if told else _silence_notes(recorded))]


def _guess_notes() -> list[str]:
    return [
        "Expected: each hole counts as much as judged documents at its rank do on average, which is"
        " optimistic, for what was judged was chosen by systems that did well. Holes left out: the"
        " list closed up over its holes, usually too high as well."
    ]


def _silence_notes(recorded: Row) -> list[str]:
    missing = holes.FEWEST_ADDED - int(recorded["n_added"])
    wanted = f"{missing} more added judgements, " if missing > 0 else "added judgements "
    return [
        "Only relevant documents are recorded here: what is judged is what is relevant, so a hole"
        " share is close to 1 minus precision, and scores with holes expected or left out would"
        f" mean nothing. They appear after {wanted}some of them “not relevant”."
    ]
