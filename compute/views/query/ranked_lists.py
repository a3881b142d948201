"""Ranked lists of several systems side by side, with curves between positions of a document."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.query.words import judgement, name_of, said
from compute.views.shared import axes, labels, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, Ranked, Row

ROW = 36
"""Pixels per rank; its box takes 30 of them."""
_BOX = 15 / ROW
_HEADS = {1: 34}
# Share of the plot's width for boxes, by number of lists; curves between them need the rest.
_WIDTH = {1: 1.0, 2: 0.86, 3: 0.84, 4: 0.82}
# Pixels for the text of a box, without the sign, on a 1280-pixel screen; narrower ones clip it.
_ROOM = {1: 1045, 2: 425, 3: 262, 4: 180}
# The pages' 12-pixel font is narrower than `labels` assumes.
_SIZE = 10.5
_LETTERS = 200
_PADDING = 0.008
# Width of the tab whose colour links a document's boxes.
_TAB = 0.005


class Hit(NamedTuple):
    """A box: the index of its list from the left (`place`), and its content."""

    place: int
    rank: int
    doc_id: str
    score: float
    name: str
    """The title; if there is none, the text; without texts, the id."""
    kind: str
    grade: int
    said: str

    def label(self, room: float, theme: str) -> str:
        sign = {"relevant": "✓", "judged": "·", "hole": "<b>?</b>"}[self.kind]
        grade = str(self.grade) if self.grade > 1 else ""
        return f"{sign}{grade} {looks.escape(_fitting(self.name, room, theme), _LETTERS)}"

    def hover(self, system: str, elsewhere: Sequence[str]) -> str:
        lines = [
            f"<b>{looks.escape(system)}</b> at rank {self.rank}, score {self.score:z.4f}",
            looks.escape(self.name, 90),
            f"{looks.escape(self.doc_id)} · {self.said}",
            *(f"also {place}" for place in elsewhere),
        ]
        return "<br>".join(lines)


def _fitting(name: str, room: float, theme: str) -> str:
    """Return the name, or as much of it as fits into `room` pixels."""
    shown = looks.cut(name, _LETTERS)
    while (wide := labels.width(shown, _SIZE, theme)) > room and len(shown) > 1:
        shown = looks.cut(name, min(len(shown) - 1, int(len(shown) * room / wide)))
    return shown


def _said(
    lists: DataFrame, systems: Sequence[tuple[str, str]], *, depth: int = 10, **_: object
) -> Lists:
    """Return the documents of each system by rank, with their judgements, as lists."""
    shown = lists[lists["rank"] <= depth].sort_values("rank")
    return Lists(
        "System",
        "Document",
        [
            Ranked(
                title,
                [
                    Row(int(row["rank"]), looks.cut(name_of(row), 90), _verdict(row["relevance"]))
                    for row in shown[shown["system"] == name].to_dict("records")
                ],
            )
            for name, title in systems
        ],
    )


def _verdict(relevance: float) -> str:
    return "unjudged" if judgement(relevance) == "hole" else said(relevance)


@in_lists(_said)
@drawing
def ranked_lists(
    lists: DataFrame,
    systems: Sequence[tuple[str, str]],
    *,
    depth: int = 10,
    chosen: str = "",
    notes: Sequence[str] = (),
    theme: str,
) -> go.Figure:
    """Draw boxes at the ranks of up to four systems, with curves that join a document in
    neighbouring lists. A document in several lists has its own colour for curves and for a tab at
    its boxes.

    `lists`: system, rank, doc_id, score, relevance (absent if unjudged), title and text (absent if
    not loaded), one row per hit. `systems`: name and title, from left to right. `notes`: a remark
    per head. A box's customdata is its doc_id; the box of `chosen` is outlined. Titles and ids are
    drawn literally, without markup.
    """
    places = [name for name, _ in systems]
    hits = [
        _hit(row, places.index(row["system"]))
        for row in lists.to_dict("records")
        if row["rank"] <= depth and row["system"] in places
    ]
    figure = go.Figure()
    _axes(figure, len(systems), depth, theme)
    links = linked(hits, theme)
    _curves(figure, hits, len(systems), chosen, links, theme)
    _boxes(figure, hits, len(systems), chosen, links, theme)
    _labels(figure, hits, len(systems), theme)
    _targets(figure, hits, [title for _, title in systems])
    _heads(figure, hits, [title for _, title in systems], notes, theme)
    return figure


def _hit(row: Mapping[Hashable, Any], place: int) -> Hit:
    """Make a box from a hit of the list at `place`."""
    relevance = row["relevance"]
    return Hit(
        place=place,
        rank=int(row["rank"]),
        doc_id=row["doc_id"],
        score=float(row["score"]),
        name=name_of(row),
        kind=judgement(relevance),
        grade=0 if pd.isna(relevance) else int(relevance),
        said=said(relevance),
    )


def _span(place: int, n_lists: int) -> tuple[float, float]:
    """Return the left and right edge of a list's boxes, as fractions of the plot."""
    width = _WIDTH.get(n_lists, 0.8) / n_lists
    gap = (1 - width * n_lists) / max(n_lists - 1, 1)
    left = place * (width + gap)
    return left, left + width


def _axes(figure: go.Figure, n_lists: int, depth: int, theme: str) -> None:
    """Add axes for the whole plot, and axes for each list, whose edges clip long labels."""
    head = 50 if theme == "print" else _HEADS.get(n_lists, 50)
    hidden = {"visible": False, "range": [-0.002, 1.002]}
    figure.update_layout(
        plot_bgcolor=axes.CLEAR,  # the lists' own axes lie above the boxes
        height=head + ROW * depth + 8,
        margin={"l": 30, "r": 4, "t": head, "b": 8},
        **axes.CLICKED,
        xaxis=hidden,
        yaxis={
            "range": [depth + 0.5, 0.5],
            "tickvals": list(range(1, depth + 1)),
            **axes.BARE,
            **axes.TICKS_AWAY,
            "automargin": False,
        },
    )
    # Plotly does not lay out axes without a trace, and there may be no curve.
    figure.add_scatter(x=[None], y=[None], hoverinfo="skip")
    for place in range(n_lists):
        left, right = _span(place, n_lists)
        inside = hidden | {"domain": [left + _PADDING, right - _PADDING], "anchor": "y"}
        figure.update_layout({f"xaxis{place + 2}": inside})


def linked(hits: Sequence[Hit], theme: str) -> dict[str, str]:
    """Return a colour for each document in several lists, by id; colours repeat if they run out."""
    order = dict.fromkeys(hit.doc_id for hit in sorted(hits, key=lambda h: (h.rank, h.place)))
    lists = Counter(hit.doc_id for hit in hits)
    colours = looks.palette(theme).categories
    shared = [doc_id for doc_id in order if lists[doc_id] > 1]
    return {doc_id: colours[n % len(colours)] for n, doc_id in enumerate(shared)}


def _curves(
    figure: go.Figure,
    hits: Sequence[Hit],
    n_lists: int,
    chosen: str,
    links: Mapping[str, str],
    theme: str,
) -> None:
    """Add a curve for each document in two neighbouring lists."""
    across = np.linspace(0, 1, 24)
    ease = across**2 * (3 - 2 * across)
    for left, right in pairwise(range(n_lists)):
        start, end = _span(left, n_lists)[1], _span(right, n_lists)[0]
        there = {hit.doc_id: hit.rank for hit in hits if hit.place == right}
        for hit in hits:
            if hit.place != left or hit.doc_id not in there:
                continue
            picked = hit.doc_id == chosen
            colour = looks.palette(theme).primary if picked else links[hit.doc_id]
            figure.add_scatter(
                x=start + across * (end - start),
                y=hit.rank + ease * (there[hit.doc_id] - hit.rank),
                mode="lines",
                line={"width": 3 if picked else 1.5, "color": colour},
                hoverinfo="skip",
                zorder=int(picked),
            )


def _box(kind: str, theme: str, grade: int = 1) -> dict[str, Any]:
    """Return the look of a box; grades above 1, also shown as numbers, are a stronger blue."""
    look = looks.palette(theme)
    blue = look.sequential[(4 if theme == "dark" else 5) + 2 * (grade > 1)]
    return {
        "relevant": {"fillcolor": blue, "line": {"width": 1, "color": blue}},
        "judged": {"fillcolor": look.second, "line": {"width": 1, "color": look.line}},
        "hole": {
            "fillcolor": look.background,
            "line": {"width": 1.25, "color": look.muted, "dash": "dot"},
        },
    }[kind]


def _boxes(
    figure: go.Figure,
    hits: Sequence[Hit],
    n_lists: int,
    chosen: str,
    links: Mapping[str, str],
    theme: str,
) -> None:
    outline = {"line": {"width": 3, "color": looks.palette(theme).primary}}
    shapes = []
    for hit in hits:
        left, right = _span(hit.place, n_lists)
        tall: dict[str, Any] = {"type": "rect", "layer": "between"}
        tall |= {"y0": hit.rank - _BOX, "y1": hit.rank + _BOX}
        drawn = _box(hit.kind, theme, hit.grade) | (outline if hit.doc_id == chosen else {})
        shapes.append(tall | drawn | {"x0": left, "x1": right})
        if hit.doc_id in links:
            tab = {"fillcolor": links[hit.doc_id], "line": {"width": 0}}
            shapes.append(tall | tab | {"x0": left, "x1": left + _TAB})
    # Adding shapes one by one would copy all existing shapes each time.
    figure.update_layout(shapes=shapes)


def _labels(figure: go.Figure, hits: Sequence[Hit], n_lists: int, theme: str) -> None:
    """Add each list's labels on its own axes, in a trace per ink, since selecting fades text."""
    room = _ROOM.get(n_lists, 180)

    def inked(hit: Hit) -> tuple[int, str]:
        on_blue = looks.ink(_box("relevant", theme, hit.grade)["fillcolor"])
        return hit.place, on_blue if hit.kind == "relevant" else looks.palette(theme).text

    for (place, ink), group in groupby(sorted(hits, key=inked), key=inked):
        alike = list(group)
        figure.add_scatter(
            x=[0.0] * len(alike),
            y=[hit.rank for hit in alike],
            xaxis=f"x{place + 2}",
            mode="text",
            text=[hit.label(room, theme) for hit in alike],
            textposition="middle right",
            textfont={"color": ink, "size": 12},
            unselected={"textfont": {"color": ink}},
            cliponaxis=True,
            hoverinfo="skip",
            zorder=2,
        )


def _targets(figure: go.Figure, hits: Sequence[Hit], titles: Sequence[str]) -> None:
    """Add five invisible points along every box, with its document, as targets of the mouse. They
    are on the axes of their list, since the mouse only reaches the topmost plot."""
    ranks: dict[str, dict[int, str]] = {}
    for hit in hits:
        said = f"at rank {hit.rank} of {looks.escape(titles[hit.place], 30)}"
        ranks.setdefault(hit.doc_id, {})[hit.place] = said
    for place, title in enumerate(titles):
        also = {
            doc_id: [words for other, words in found.items() if other != place]
            for doc_id, found in ranks.items()
        }
        points = [(x, hit) for hit in hits if hit.place == place for x in (0.1, 0.3, 0.5, 0.7, 0.9)]
        unseen = traces.targets(
            [x for x, _ in points],
            [hit.rank for _, hit in points],
            [hit.hover(title, also[hit.doc_id]) for _, hit in points],
            [hit.doc_id for _, hit in points],
            size=24,
        )
        on = {"xaxis": f"x{place + 2}", "zorder": 3, "unselected": {"marker": {"opacity": 0}}}
        figure.add_trace(unseen | on)


def _heads(
    figure: go.Figure,
    hits: Sequence[Hit],
    titles: Sequence[str],
    notes: Sequence[str],
    theme: str,
) -> None:
    """Add title, unjudged share and remark above each list, on two lines if there are several."""
    muted = looks.palette(theme).muted
    many = len(titles) > 2 or theme == "print"
    apart = "<br>" if many or len(titles) > 1 else "  "
    for place, title in enumerate(titles):
        kinds = [hit.kind for hit in hits if hit.place == place]
        holes = f"{kinds.count('hole')}/{len(kinds)} unjudged" if kinds else "no hits"
        said = "  ".join((holes, *notes[place : place + 1]))
        size = 12 if many else 14
        remark = f'<span style="color:{muted};font-size:{size}px">{said}</span>'
        figure.add_annotation(
            x=_span(place, len(titles))[0],
            y=1,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            yshift=6,
            align="left",
            text=f"<b>{looks.escape(title, 20 if many else 30)}</b>{apart}{remark}",
            font={"size": 14},
        )
