"""One query: the ranked lists of several systems side by side, and what it scores."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame

from compute.figures import theme as looks

ROW = 36
"""Height of a rank in pixels; a box fills 30 of them."""
_BOX = 15 / ROW
_HEAD = 34
# Share of the plot that the boxes take together; the rest is for the curves between them.
_WIDTH = {1: 1.0, 2: 0.86, 3: 0.84, 4: 0.82}
# What a box holds at 1440 pixels; on a narrower screen its own plot area cuts the text off.
_LETTERS = {1: 200, 2: 98, 3: 60, 4: 42}
_PADDING = 0.006
_CLEAR = "rgba(0,0,0,0)"


BY_DIFFERENCE, BY_ID = "by difference", "by id"
ORDERS = (BY_DIFFERENCE, BY_ID)
"""How a page orders the queries of a dataset."""

LEGEND = "✓ relevant (a number: its grade above 1), · judged not relevant, ? not judged: a hole."
"""What the signs in the boxes mean."""


class Hit(NamedTuple):
    """A box: the list it stands in, from the left, and what it shows."""

    place: int
    rank: int
    doc_id: str
    score: float
    name: str
    """The title; where there is none the start of the text; where no text is loaded the id."""
    kind: str
    grade: int
    said: str

    def label(self, letters: int) -> str:
        sign = {"relevant": "✓", "judged": "·", "hole": "<b>?</b>"}[self.kind]
        grade = str(self.grade) if self.grade > 1 else ""
        return f"{sign}{grade} {looks.escape(self.name, letters)}"

    def hover(self, system: str) -> str:
        return (
            f"<b>{looks.escape(system)}</b> at rank {self.rank}, score {self.score:.4f}<br>"
            f"{looks.escape(self.name, 90)}<br>{looks.escape(self.doc_id)} · {self.said}"
        )


def judgement(relevance: float) -> str:
    """`relevant`, `judged` (not relevant) or `hole` (no judgement) for a grade or its absence."""
    if pd.isna(relevance):
        return "hole"
    return "relevant" if relevance > 0 else "judged"


def said(relevance: float) -> str:
    """The judgement in words."""
    return {
        "relevant": f"relevant, grade {relevance}",
        "judged": f"judged not relevant, grade {relevance}".replace("-", "−"),
        "hole": "not judged for this query: a hole",
    }[judgement(relevance)]


def names(hits: DataFrame) -> dict[str, str]:
    """The documents of `hits` (doc_id, title, text) by id, each with a line for a picker."""
    lines = {}
    for row in hits.to_dict("records"):
        name = _name(row)
        doc_id = row["doc_id"]
        lines[doc_id] = doc_id if name == doc_id else f"{doc_id} · {_line(name)}"
    return lines


def option(query: Mapping[Hashable, Any]) -> str:
    """A line for a picker of queries: id, text where loaded, what systems a and b score."""
    text = f" · {_line(query['text'])}" if isinstance(query["text"], str) else ""
    scores = f"{looks.plain(query['value_a'])} and {looks.plain(query['value_b'])}"
    return f"{query['query_id']}{text} · {scores}"


def found(query: Mapping[Hashable, Any], find: str, n_listed: int) -> str:
    """How many queries are found, from n_found and n_queries of any of them."""
    number, every = f"{query['n_found']:,}", f"{query['n_queries']:,}"
    verb = "contains" if query["n_found"] == 1 else "contain"
    said = f"{number} of {every} queries {verb} {find!r}" if find else f"{every} queries"
    return said + (f", {n_listed:,} of them listed." if n_listed < query["n_found"] else ".")


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 110 else line[:109] + "…"


def first_pair(systems: Sequence[str]) -> tuple[str, str]:
    """Which two of a dataset's systems to show unless told: BM25, if it is there, and the last."""
    a = "bm25" if "bm25" in systems else systems[0]
    others = [system for system in systems if system != a]
    return a, others[-1] if others else a


def pair(a: str, b: str, systems: DataFrame) -> list[tuple[str, str]]:
    """Name and title of two systems, or of one where both are the same."""
    titles = dict(zip(systems["system"], systems["title"], strict=True))
    return [(name, titles.get(name, name)) for name in dict.fromkeys((a, b))]


def ranked_lists(
    lists: DataFrame,
    systems: Sequence[tuple[str, str]],
    *,
    depth: int = 10,
    chosen: str = "",
    notes: Sequence[str] = (),
    theme: str,
) -> go.Figure:
    """Boxes at the ranks of up to four systems; curves join a document in neighbouring lists.

    `lists`: system, rank, doc_id, score, relevance (absent for a hole), title and text (absent
    where not loaded), one row per hit. `systems`: name and title from left to right. `notes`: one
    remark per head. A click on a box gives its doc_id as customdata; that of `chosen` is outlined.
    Titles and ids are drawn letter by letter, whatever stands in them.
    """
    places = [name for name, _ in systems]
    hits = [
        _hit(row, places.index(row["system"]))
        for row in lists.to_dict("records")
        if row["rank"] <= depth and row["system"] in places
    ]
    figure = go.Figure()
    _axes(figure, len(systems), depth, theme)
    _curves(figure, hits, len(systems), chosen, theme)
    _boxes(figure, hits, len(systems), chosen, theme)
    _labels(figure, hits, len(systems), theme)
    _targets(figure, hits, [title for _, title in systems])
    _heads(figure, hits, [title for _, title in systems], notes, theme)
    return figure


def _hit(row: Mapping[Hashable, Any], place: int) -> Hit:
    relevance = row["relevance"]
    return Hit(
        place=place,
        rank=int(row["rank"]),
        doc_id=row["doc_id"],
        score=float(row["score"]),
        name=_name(row),
        kind=judgement(relevance),
        grade=0 if pd.isna(relevance) else int(relevance),
        said=said(relevance),
    )


def _name(row: Mapping[Hashable, Any]) -> str:
    texts = [text for text in (row["title"], row["text"]) if isinstance(text, str)]
    return next((text for text in texts if text.strip()), row["doc_id"])[:400]


def _span(place: int, n_lists: int) -> tuple[float, float]:
    """Left and right edge of a list's boxes, in shares of the plot."""
    width = _WIDTH.get(n_lists, 0.8) / n_lists
    gap = (1 - width * n_lists) / max(n_lists - 1, 1)
    left = place * (width + gap)
    return left, left + width


def _axes(figure: go.Figure, n_lists: int, depth: int, theme: str) -> None:
    """One axis pair over the whole plot, and one per list, whose edges cut long labels off."""
    hidden = {"visible": False, "fixedrange": True, "range": [-0.002, 1.002]}
    figure.update_layout(
        template=looks.template(theme),
        plot_bgcolor=_CLEAR,  # the lists' own axes lie over the boxes
        height=_HEAD + ROW * depth + 8,
        margin={"l": 30, "r": 4, "t": _HEAD, "b": 8},
        showlegend=False,
        hoverdistance=-1,
        dragmode=False,
        clickmode="event+select",
        xaxis=hidden,
        yaxis={
            "range": [depth + 0.5, 0.5],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "tickvals": list(range(1, depth + 1)),
            "ticks": "outside",
            "ticklen": 5,
            "tickcolor": _CLEAR,
            "automargin": False,
        },
    )
    # Axes without a trace are not laid out, and there may be no curve.
    figure.add_scatter(x=[None], y=[None], hoverinfo="skip")
    for place in range(n_lists):
        left, right = _span(place, n_lists)
        inside = hidden | {"domain": [left + _PADDING, right - _PADDING], "anchor": "y"}
        figure.update_layout({f"xaxis{place + 2}": inside})


def _curves(figure: go.Figure, hits: Sequence[Hit], n_lists: int, chosen: str, theme: str) -> None:
    look = looks.palette(theme)
    across = np.linspace(0, 1, 24)
    ease = across**2 * (3 - 2 * across)
    thin = {"width": 1.25, "color": looks.colour(0.35, (look.line, look.muted))}
    for left, right in pairwise(range(n_lists)):
        start, end = _span(left, n_lists)[1], _span(right, n_lists)[0]
        there = {hit.doc_id: hit.rank for hit in hits if hit.place == right}
        for hit in hits:
            if hit.place != left or hit.doc_id not in there:
                continue
            picked = hit.doc_id == chosen
            figure.add_scatter(
                x=start + across * (end - start),
                y=hit.rank + ease * (there[hit.doc_id] - hit.rank),
                mode="lines",
                line={"width": 3, "color": look.primary} if picked else thin,
                hoverinfo="skip",
                zorder=int(picked),
            )


def _box(kind: str, theme: str) -> dict[str, Any]:
    look = looks.palette(theme)
    blue = look.sequential[4 if theme == "dark" else 5]
    return {
        "relevant": {"fillcolor": blue, "line": {"width": 1, "color": blue}},
        "judged": {"fillcolor": look.second, "line": {"width": 1, "color": look.line}},
        "hole": {
            "fillcolor": look.background,
            "line": {"width": 1.25, "color": look.muted, "dash": "dot"},
        },
    }[kind]


def _boxes(figure: go.Figure, hits: Sequence[Hit], n_lists: int, chosen: str, theme: str) -> None:
    outline = {"line": {"width": 3, "color": looks.palette(theme).primary}}
    for hit in hits:
        left, right = _span(hit.place, n_lists)
        figure.add_shape(
            type="rect",
            x0=left,
            x1=right,
            y0=hit.rank - _BOX,
            y1=hit.rank + _BOX,
            layer="between",
            **_box(hit.kind, theme) | (outline if hit.doc_id == chosen else {}),
        )


def _labels(figure: go.Figure, hits: Sequence[Hit], n_lists: int, theme: str) -> None:
    """A list's labels stand on its own axes; one trace per ink, since selecting fades text."""
    letters = _LETTERS.get(n_lists, 30)

    def inked(hit: Hit) -> tuple[int, str]:
        on_blue = looks.ink(_box("relevant", theme)["fillcolor"])
        return hit.place, on_blue if hit.kind == "relevant" else looks.palette(theme).text

    for (place, ink), group in groupby(sorted(hits, key=inked), key=inked):
        alike = list(group)
        figure.add_scatter(
            x=[0.0] * len(alike),
            y=[hit.rank for hit in alike],
            xaxis=f"x{place + 2}",
            mode="text",
            text=[hit.label(letters) for hit in alike],
            textposition="middle right",
            textfont={"color": ink, "size": 12},
            unselected={"textfont": {"color": ink}},
            cliponaxis=True,
            hoverinfo="skip",
            zorder=2,
        )


def _targets(figure: go.Figure, hits: Sequence[Hit], titles: Sequence[str]) -> None:
    """What the mouse hits: five unseen points along every box, each knowing its document.

    They stand on the axes of their list: the mouse meets the topmost plot alone.
    """
    for place, title in enumerate(titles):
        points = [(x, hit) for hit in hits if hit.place == place for x in (0.1, 0.3, 0.5, 0.7, 0.9)]
        figure.add_scatter(
            x=[x for x, _ in points],
            y=[hit.rank for _, hit in points],
            xaxis=f"x{place + 2}",
            mode="markers",
            marker={"opacity": 0, "size": 24},
            customdata=[hit.doc_id for _, hit in points],
            hovertext=[hit.hover(title) for _, hit in points],
            hovertemplate="%{hovertext}<extra></extra>",
            unselected={"marker": {"opacity": 0}},
            zorder=3,
        )


def _heads(
    figure: go.Figure,
    hits: Sequence[Hit],
    titles: Sequence[str],
    notes: Sequence[str],
    theme: str,
) -> None:
    muted = looks.palette(theme).muted
    for place, title in enumerate(titles):
        kinds = [hit.kind for hit in hits if hit.place == place]
        holes = f"{kinds.count('hole')} of {len(kinds)} holes" if kinds else "no hits"
        said = "  ".join((holes, *notes[place : place + 1]))
        figure.add_annotation(
            x=_span(place, len(titles))[0],
            y=1,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            yshift=6,
            showarrow=False,
            text=f'<b>{looks.escape(title, 30)}</b>  <span style="color:{muted}">{said}</span>',
            font={"size": 14},
        )


def notes(values: DataFrame, systems: Sequence[tuple[str, str]], measure: str) -> list[str]:
    """What each head says of the measure, from system, measure, value of one query."""
    chosen = values[values["measure"] == measure]
    known = dict(zip(chosen["system"], chosen["value"], strict=True))
    return [f"{measure} {looks.plain(known.get(name, np.nan))}" for name, _ in systems]


def value_table(
    values: DataFrame, systems: Sequence[tuple[str, str]], measures: Sequence[str]
) -> DataFrame:
    """What a query scores: System and a column per measure that there is, as text, `–` if absent.

    `values`: system, measure, value of one query.
    """
    known = {
        (row["system"], row["measure"]): float(row["value"]) for row in values.to_dict("records")
    }
    shown = [measure for measure in measures if measure in set(values["measure"])]
    rows = [
        [title, *(looks.plain(known.get((name, measure), np.nan)) for measure in shown)]
        for name, title in systems
    ]
    return DataFrame(rows, columns=["System", *shown])
