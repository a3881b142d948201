"""The force-directed graph of the corpora, in which closer means more similar. Positions are in
pixels of a figure of fixed size, so that names do not overlap."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.corpora import similarity_matrix
from compute.views.overlap import line_values
from compute.views.overlap.heatmap import SPANS
from compute.views.shared import labels, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import COLUMN, drawing

WIDTH = 768


class Room(NamedTuple):
    """Sizes in pixels."""

    width: int = WIDTH
    tallest: int = 700
    beside: int = 100
    """Room for names to the left and right of the marks."""
    font: int = 13
    letters: int = 24
    """Font size, and most letters, of a name."""
    marks: float = 1.0
    """Diameter of the marks, relative to that on a page."""
    edge: int = 2
    """Margin without names, wider for figures whose font may be wider."""


PAGE = Room()
IN_COLUMN = Room(COLUMN, 520, 78, 12, 18, 0.7, 10)
MARGIN = 36
"""Pixels left free above and below the marks."""
THINNEST, THICKEST = 1.0, 6.5
LEVELS = 12
"""Number of widths of lines; each needs a trace, and many traces would be slow."""
SMALLEST, LARGEST = 9.0, 30.0
_FEW, _MANY = 1e3, 1.5e7
"""Numbers of documents at which marks are smallest and largest."""
_LEGEND_ROW = 26

DASHES = "5px,4px"
"""Style of lines to a corpus's two nearest neighbours if these are below the threshold."""

Row = Mapping[Hashable, Any]


@drawing
def graph(
    square: DataFrame,
    points: DataFrame,
    vocabularies: DataFrame,
    *,
    least: float,
    theme: str,
    unit: str = "unigrams",
    narrow: bool = False,
) -> go.Figure:
    """Draw a mark per corpus at its point, and lines between similar corpora. `square`:
    similarities 0 to 1, index and columns the same names. `points`: x, y by name, in one unit.
    `vocabularies`: dataset, title, domain, n_documents, n_terms. Solid lines join pairs with a
    similarity of at least `least`; dashed lines join each corpus to its two nearest below that. A
    mark's customdata is its corpus."""
    room = IN_COLUMN if narrow else PAGE
    marks, lines, height = laid_out(square, points, vocabularies, least, room)
    domains = _domains(marks["domain"].tolist())
    font = {"size": room.font, "color": looks.palette(theme).text}
    named = names(marks, lines, height, theme, room)
    led = leaders(marks, named, theme, room)
    told = values(marks, lines, named, height, theme, room)
    beside = zip(named, marks["title"], strict=True)
    return go.Figure(
        data=[
            *_lines(lines, marks, least, SPANS[unit], theme),
            *(_marks(marks[marks["domain"] == name], square, marks, theme) for name in domains),
        ],
        layout={
            "annotations": [
                *(value.annotation(theme) for value in told),
                *(
                    label.annotation(looks.escape(title, room.letters), font)
                    for label, title in beside
                ),
            ],
            "shapes": [_leader(ends, theme) for ends in led],
            **_frame(domains, height, theme, room),
        },
    )


def laid_out(
    square: DataFrame,
    points: DataFrame,
    vocabularies: DataFrame,
    least: float,
    room: Room = PAGE,
) -> tuple[DataFrame, DataFrame, float]:
    """Return the data of `graph`: the marks (dataset, title, domain, n_documents, n_terms; x, y and
    size in pixels), the lines (dataset, other, similarity) and the height in pixels."""
    named = vocabularies.drop_duplicates("dataset").set_index("dataset")
    marks = named.reindex(square.index).reset_index(names="dataset")
    height, marks[["x", "y"]] = _pixels(points.loc[square.index], room)
    marks["size"] = [room.marks * _size(count) for count in marks["n_documents"]]
    marks["title"] = marks["title"].fillna(marks["dataset"])
    marks["domain"] = marks["domain"].fillna("Other")
    return marks, similarity_matrix.edges(square, least), height


def names(
    nodes: DataFrame, lines: DataFrame, height: float, theme: str, room: Room = PAGE
) -> list[labels.Label]:
    """Place each node's name. `nodes`: dataset, title; x, y and size in pixels."""
    places = nodes.set_index("dataset")[["x", "y"]]
    ends = zip(lines["dataset"], lines["other"], strict=True)
    drawn = [labels.along(*places.loc[one], *places.loc[other]) for one, other in ends]
    within = labels.Box(room.edge, 2, room.width - room.edge, height - 2)
    return labels.place(
        _named(nodes, theme, room), within, np.concatenate([labels.NOWHERE, *drawn])
    )


def _named(nodes: DataFrame, theme: str, room: Room) -> list[labels.Mark]:
    """Return the nodes as marks whose names must be placed."""
    return [
        labels.mark(
            row["x"],
            row["y"],
            row["size"] / 2 + 1,
            looks.cut(row["title"], room.letters),
            room.font,
            theme,
        )
        for row in nodes.to_dict("records")
    ]


def leaders(
    nodes: DataFrame, named: Sequence[labels.Label], theme: str, room: Room = PAGE
) -> list[tuple[float, float, float, float]]:
    """Return lines (x, y of both ends) to names that are not next to their own mark."""
    return labels.leaders(_named(nodes, theme, room), named)


def _leader(ends: tuple[float, float, float, float], theme: str) -> dict[str, Any]:
    look = {"color": looks.palette(theme).muted, "width": 1}
    return {"type": "line", "layer": "below", "line": look} | dict(
        zip(("x0", "y0", "x1", "y1"), ends, strict=True)
    )


def _size(count: float) -> float:
    """Return the diameter of a mark, which grows with the logarithm of the number of documents."""
    if math.isnan(count) or count < 1:
        return SMALLEST
    share = math.log(count / _FEW) / math.log(_MANY / _FEW)
    return SMALLEST + (LARGEST - SMALLEST) * min(max(share, 0), 1)


def _pixels(points: DataFrame, room: Room) -> tuple[float, np.ndarray]:
    """Return the height needed, and the points, scaled equally both ways to fill the width."""
    spread = points[["x", "y"]].to_numpy(dtype=float)
    if not len(spread):
        return 2 * MARGIN, spread
    low, high = spread.min(axis=0), spread.max(axis=0)
    # A few marks would look lost if they were far apart.
    free = [room.width - 2 * room.beside, room.tallest - 2 * MARGIN]
    scale = float((np.minimum(free, 140 * len(spread)) / np.maximum(high - low, 1e-9)).min())
    height = float((high - low)[1] * scale + 2 * MARGIN)
    return height, (spread - (low + high) / 2) * scale + [room.width / 2, height / 2]


def _domains(found: Sequence[str]) -> list[str]:
    """Return the domains that occur, the known ones first."""
    known = [name for name in looks.DOMAINS if name in found]
    return known + sorted(set(found) - set(known))


def _lines(
    lines: DataFrame, nodes: DataFrame, least: float, span: tuple[float, float], theme: str
) -> list[Any]:
    """Return lines by width, and an invisible point in the middle of each for its tooltip."""
    if lines.empty:
        return []
    places = nodes.set_index("dataset")[["x", "y"]]
    values = lines["similarity"].to_numpy(dtype=float)
    share = np.clip((values - span[0]) / (span[1] - span[0]), 0, 1)
    levels = np.round(share * (LEVELS - 1)).astype(int)
    ends = [places.loc[lines[side]].to_numpy(dtype=float) for side in ("dataset", "other")]
    gap = np.full((len(lines), 2), np.nan)
    path = np.stack([*ends, gap], axis=1)
    looked = list(zip(levels.tolist(), (values < least).tolist(), strict=True))
    drawn = []
    for level, below in sorted(set(looked)):
        along = path[[one == (level, below) for one in looked]].reshape(-1, 2)
        wide = THINNEST + (THICKEST - THINNEST) * level / (LEVELS - 1)
        line = {"width": wide, "color": looks.palette(theme).line}
        line |= {"dash": DASHES} if below else {}
        look: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
        drawn.append(go.Scatter(x=along[:, 0], y=along[:, 1], line=line, **look))
    return [*drawn, _middles(lines, (ends[0] + ends[1]) / 2, nodes)]


def _middles(lines: DataFrame, middle: np.ndarray, nodes: DataFrame) -> dict[str, Any]:
    titles = dict(zip(nodes["dataset"], nodes["title"].map(looks.escape), strict=True))
    triples = zip(lines["dataset"], lines["other"], lines["similarity"], strict=True)
    hover = [
        f"<b>{titles[one]}</b> and <b>{titles[other]}</b><br>similarity {looks.plain(value, 4)}"
        for one, other, value in triples
    ]
    return traces.targets(middle[:, 0], middle[:, 1], hover, size=14) | {"showlegend": False}


def values(
    nodes: DataFrame,
    lines: DataFrame,
    named: Sequence[labels.Label],
    height: float,
    theme: str,
    room: Room = PAGE,
) -> list[line_values.Value]:
    """Place the similarities of the strongest lines; `nodes`: dataset, x, y, size."""
    led = leaders(nodes, named, theme, room)
    boxes = labels.edges([label.box for label in named])
    covered = np.concatenate([boxes, *(labels.along(*ends, wide=1) for ends in led)])
    within = labels.Box(room.edge, 2, room.width - room.edge, height - 2)
    # In print, no text may be smaller than the names.
    return line_values.place(nodes, lines, covered, within, room.font, theme)


def _marks(own: DataFrame, square: DataFrame, nodes: DataFrame, theme: str) -> dict[str, Any]:
    colour, symbol = looks.mark(str(own["domain"].iloc[0]), looks.DOMAINS, theme)
    titles = dict(zip(nodes["dataset"], nodes["title"].map(looks.escape), strict=True))
    ring = {"width": 1.5, "color": looks.palette(theme).background}
    look = {"size": own["size"].tolist(), "color": colour, "symbol": symbol, "line": ring}
    hover = [_hover(row, square, titles) for row in own.to_dict("records")]
    about = {"name": looks.escape(own["domain"].iloc[0]), **traces.UNFADED}
    about |= {"customdata": [[name] for name in own["dataset"]]}
    return traces.marks(own["x"], own["y"], look, hover, **about)


def _hover(row: Row, square: DataFrame, titles: Mapping[str, str]) -> str:
    near = similarity_matrix.nearest(square, str(row["dataset"]))
    said = [f"{titles[str(name)]} {looks.plain(value)}" for name, value in near.items()]
    sizes = [("documents", row["n_documents"]), ("terms", row["n_terms"])]
    counts = ", ".join(f"{int(n):,} {what}" for what, n in sizes if not math.isnan(n))
    head = f"<b>{looks.escape(row['title'])}</b><br>{looks.escape(row['domain'])}"
    return "<br>".join(filter(None, [head, counts, "most like " + "; ".join(said) if said else ""]))


def _frame(domains: Sequence[str], height: float, theme: str, room: Room) -> dict[str, Any]:
    still = {"visible": False, "automargin": False, "fixedrange": False}
    rows = _legend_rows(domains, theme, room)
    return {
        "width": room.width,
        "height": height + rows * _LEGEND_ROW,
        "margin": {"l": 0, "r": 0, "t": rows * _LEGEND_ROW, "b": 0, "autoexpand": False},
        "xaxis": still | {"range": [0, room.width]},
        "yaxis": still | {"range": [height, 0]},
        "legend": {"itemsizing": "constant", "font": {"size": room.font}, "itemclick": False},
        "showlegend": True,
        "dragmode": "pan",
        "clickmode": "event+select",
    }


def _legend_rows(domains: Sequence[str], theme: str, room: Room) -> int:
    # Plotly makes every legend entry as wide as the widest one, with 45 pixels for its mark.
    widest = max((labels.width(name, room.font, theme) for name in domains), default=0) + 45
    return math.ceil(len(domains) / max(int(room.width // widest), 1))


@remembered
def neighbours(square: DataFrame, titles: Mapping[str, str]) -> DataFrame:
    """Return the two corpora most similar to each corpus, by title, the most similar pairs first:
    dataset, other, similarity, second, second_similarity."""
    rows = []
    for name in square.index:
        near = [
            (titles.get(str(other), str(other)), round(float(value), 4))
            for other, value in similarity_matrix.nearest(square, str(name), 2).items()
        ]
        first, second = [*near, ("–", math.nan), ("–", math.nan)][:2]
        rows.append((titles.get(str(name), str(name)), *first, *second))
    heads = ["dataset", "other", "similarity", "second", "second_similarity"]
    table = DataFrame(rows, columns=heads)
    return table.sort_values("similarity", ascending=False, kind="stable", ignore_index=True)


def all_neighbours(square: DataFrame, titles: Mapping[str, str], name: str) -> DataFrame:
    """Return other and similarity for every other corpus, the most similar to `name` first."""
    near = similarity_matrix.nearest(square, name, len(square))
    rows = [(titles.get(str(n), str(n)), round(float(value), 4)) for n, value in near.items()]
    return DataFrame(rows, columns=["other", "similarity"])


def rule(square: DataFrame, least: float) -> str:
    """Say which lines `graph` draws: solid ones, and dashed ones if there are any."""
    lines = similarity_matrix.edges(square, least)
    below = " Dashed lines: each corpus's two nearest, if less similar."
    solid = f"Solid lines: similarity of at least {looks.plain(least, 2)}."
    return solid + below * bool((lines["similarity"] < least).any())


def legend(square: DataFrame, least: float) -> str:
    """Explain lines, sizes and places."""
    return (
        f"{rule(square, least)} Closer marks and wider lines: more similar. Larger marks:"
        " more documents."
    )


HOW_TO_READ = (
    "Axes have no meaning. Click a mark to list its neighbours; drag to move, scroll to zoom."
)


def note(faithfulness: float) -> list[str]:
    """Say how accurate distances in the plane are."""
    if math.isnan(faithfulness):
        return []
    exact = f"rank correlation of distance with 1 − similarity: {looks.plain(faithfulness, 2)}"
    return [f"Distances are approximate ({exact})."]
