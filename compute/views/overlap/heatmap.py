"""The heatmap of corpus similarity: the lower triangle, with names on its diagonal. Plotly's
heatmaps report no clicks, so an invisible scatter provides tooltips and selection."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame

from compute.datasets import DATASETS, published
from compute.views.shared import axes, labels, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, Ranked, ranked

WIDTH = 768
"""Width in pixels, which fits a screen 800 pixels wide."""
SPANS = {"unigrams": (0.15, 0.8), "bigrams": (0.02, 0.4), "word pieces": (0.15, 0.8)}
"""Similarities at which the palest and the darkest colour are reached, by unit; in the graph, the
thinnest and the thickest line."""
_TICKS = {0.8: (0.2, 0.4, 0.6, 0.8), 0.4: (0.1, 0.2, 0.3, 0.4)}
ROW = 26
WIDEST = 64
"""Most pixels of a cell's width, for few corpora."""
NARROWEST_WITH_NUMBER = 19
LETTERS = 24
HOW_TO_READ = "1: the same words with the same frequencies; 0: no word in common."
OPENS = "Click a cell, or a row of the table, to open the pair below."
NOT_PRINTED = "The words of a pair are known only for computed similarities: choose Computed."
PUBLISHED, COMPUTED = NUMBERS = ("Published", "Computed")
LIKENESS, DOMAIN = ORDERS = ("By likeness", "By domain")
_BAR = 190


@dataclass(frozen=True)
class _Grid:
    """Position of the triangle in the figure, in pixels."""

    names: Sequence[str]
    left: float
    cell: float
    digits: int

    @property
    def across(self) -> float:
        """Width of the plot in cells; the triangle leaves room for names and the colour bar."""
        return (WIDTH - self.left) / self.cell


def _lists(square: DataFrame, titles: Mapping[str, str], **_: object) -> Lists:
    """Return each corpus's neighbours, the most similar first."""
    names = [str(name) for name in square.index]
    shown = [titles.get(name, name) for name in names]
    values = square.to_numpy(dtype=float)
    others = [
        [(shown[other], values[row, other]) for other in range(len(names)) if other != row]
        for row in range(len(names))
    ]

    def told(title: str, entries: Sequence[tuple[str, float]]) -> Ranked:
        known = [(name, value, looks.plain(value, 2)) for name, value in entries if value == value]
        return ranked(title, known)

    return Lists("Corpus", "Other corpus", list(map(told, shown, others)))


@in_lists(_lists)
@drawing
def heatmap(
    square: DataFrame,
    titles: Mapping[str, str],
    *,
    theme: str,
    unit: str = "unigrams",
    chosen: tuple[str, str] | None = None,
) -> go.Figure:
    """Draw each pair of corpora once, with rows and columns in the order of `square`. `square`:
    similarities 0 to 1, index and columns the same names; nan is left blank. Points of the overlay
    carry [dataset, other] as customdata. `unit` sets the colours; the pair `chosen` is outlined."""
    look = looks.palette(theme)
    names = [str(name) for name in square.index]
    shown = [looks.escape(titles.get(name, name), LETTERS) for name in names]
    grid = _grid(names, [titles.get(name, name)[:LETTERS] for name in names], theme)
    rows, columns = np.tril_indices(len(names), k=-1)
    values = square.to_numpy(dtype=float)[rows, columns]
    known = ~np.isnan(values)
    cells = list(zip(rows[known], columns[known], values[known], strict=True))
    return go.Figure(
        data=[
            *_fill(square),
            *_numbers(cells, grid, SPANS[unit], look),
            _overlay(cells, names, shown),
        ],
        layout={
            "coloraxis": _scale(look, grid, SPANS[unit]),
            "shapes": _outline(names, chosen, look),
            "annotations": _names(shown, look),
            **_frame(grid, shown),
        },
    )


def _grid(names: Sequence[str], shown: Sequence[str], theme: str) -> _Grid:
    longest = max((labels.width(name, 13, theme) for name in shown), default=0) + 12
    last = labels.width(shown[-1], 13, theme) + 12 if shown else 0
    cell = min((WIDTH - longest - last) / max(len(names) - 1, 1), WIDEST)
    return _Grid(names, longest, cell, 12 if cell >= 28 else 9)


def _fill(square: DataFrame) -> list[dict[str, Any]]:
    if len(square) < 2:
        return []
    values = square.to_numpy(dtype=float, copy=True)
    values[np.triu_indices(len(values))] = np.nan
    return [traces.cells(values[1:, :-1], y0=1, dy=1, x0=0, dx=1) | {"xgap": 1, "ygap": 1}]


def _numbers(
    cells: Sequence[Any], grid: _Grid, span: tuple[float, float], look: looks.Palette
) -> list[dict[str, Any]]:
    if grid.cell < NARROWEST_WITH_NUMBER:
        return []
    low, high = span
    shares = [(value - low) / (high - low) for _, _, value in cells]
    inks = [looks.ink(looks.colour(share, look.sequential)) for share in shares]
    places = [(column, row) for row, column, _ in cells]
    return traces.texts(places, [looks.plain(value, 2) for *_, value in cells], inks, grid.digits)


def _overlay(cells: Sequence[Any], names: Sequence[str], shown: Sequence[str]) -> dict[str, Any]:
    hover = [
        f"<b>{shown[row]}</b> and <b>{shown[column]}</b><br>similarity {looks.plain(value, 4)}"
        for row, column, value in cells
    ]
    pairs = [[names[row], names[column]] for row, column, _ in cells]
    return traces.targets([cell[1] for cell in cells], [cell[0] for cell in cells], hover, pairs)


def _scale(look: looks.Palette, grid: _Grid, span: tuple[float, float]) -> dict[str, Any]:
    """Return the colours, with their bar in the corner that the triangle leaves empty."""
    low, high = span
    ticks = _TICKS[high]
    bar = {
        "orientation": "h",
        "x": (WIDTH - grid.left - _BAR - 12) / (WIDTH - grid.left),
        "xanchor": "left",
        "y": 1,
        "yanchor": "top",
        "len": _BAR,
        "lenmode": "pixels",
        "thickness": 10,
        "xpad": 0,
        "ypad": 0,
        "tickvals": ticks,
        "ticktext": [looks.plain(tick, 1) for tick in ticks[:-1]] + [f"≥{looks.plain(high, 1)}"],
        "title": {"text": "weighted Jaccard", "side": "top", "font": {"size": 13}},
    }
    scale = looks.colorscale(look.sequential)
    return {"cmin": low, "cmax": high, "colorscale": scale, "colorbar": bar}


def _names(shown: Sequence[str], look: looks.Palette) -> list[dict[str, Any]]:
    """Repeat each name at the end of its row, above its column."""
    common = {"xanchor": "left", "font": {"size": 13, "color": look.text}}
    return [
        {"x": place - 0.5, "y": place, "text": name, "xshift": 4, **common}
        for place, name in enumerate(shown)
    ]


def _outline(
    names: Sequence[str], chosen: tuple[str, str] | None, look: looks.Palette
) -> list[dict[str, Any]]:
    if chosen is None or not set(chosen) <= set(names):
        return []
    column, row = sorted(names.index(name) for name in chosen)
    return [traces.around(column, row, look)]


def height(count: int) -> int:
    """Return the height in pixels of the heatmap for this number of corpora."""
    return max(count, 3) * ROW + 26


def _frame(grid: _Grid, shown: Sequence[str]) -> dict[str, Any]:
    """Return axes and sizes, by which cells have the grid's width whatever the page's width."""
    count = len(grid.names)
    rows = max(count, 3)
    still = {**axes.BARE, "automargin": False}
    return {
        "width": WIDTH,
        "height": height(count),
        "margin": {"l": grid.left, "r": 0, "t": 8, "b": 8, "autoexpand": False},
        "hoverdistance": -1,
        "xaxis": still | {"range": [-0.5, grid.across - 0.5], "visible": False},
        "yaxis": still
        | {
            "range": [rows - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": list(shown),
            **axes.TICKS_AWAY,
        },
    }


def caption(vocabularies: DataFrame, unit: str, floor: float) -> list[str]:
    """Count the corpora and their words, and state the comparison and omissions. `vocabularies`:
    dataset, n_tokens, for one unit."""
    number = vocabularies["dataset"].nunique()
    return [
        "Similarity: weighted Jaccard of the words' relative frequencies.",
        f"{number} corpora, {vocabularies['n_tokens'].sum():,} {_WRITTEN.get(unit, unit)}.",
        f"Words of at most {floor * 1e6:g} per million are left out." if floor else "",
    ]


PRINTED = [
    "Source: Pyserini documentation. Weighted Jaccard over word pieces with relative frequency"
    " > 1e-4.",
    "Probably computed with the cased tokenizer (.582 vs .607 uncased here for SciFact–NFCorpus).",
]


def collections_in_print() -> DataFrame:
    """Return the corpora of `published.overlap`: dataset, title, domain, n_documents, n_terms."""
    pairs = published.overlap()
    names = sorted({*pairs["dataset"], *pairs["other"]})
    rows = [
        (name, DATASETS[name].title, DATASETS[name].domain, DATASETS[name].n_documents)
        for name in names
    ]
    frame = DataFrame(rows, columns=["dataset", "title", "domain", "n_documents"])
    return frame.assign(n_terms=np.nan)


_WRITTEN = {
    "unigrams": "lower-cased words of title and text",
    "bigrams": "lower-cased word pairs of title and text",
    "word pieces": "BERT uncased word pieces of title and text",
}


class Lacking(NamedTuple):
    """Stored corpora that are not compared."""

    said: str
    """Their names and the reasons; empty if there are none."""
    datasets: list[str]
    """A dataset of each corpus whose documents should be counted again in full."""


def lacking(stored: DataFrame, counted: DataFrame, compared: Collection[str]) -> Lacking:
    """Return the corpora of `stored` (collection, dataset) that are missing from `compared`.
    `counted` has the counts of one unit; truncated counts are only compared with those that were
    shipped with them."""
    here = dict(zip(stored["collection"], stored["dataset"], strict=True))
    missing = [name for name in here if name not in compared]
    known = set(counted["dataset"])
    words = [
        ("Not counted yet", [name for name in missing if name not in known]),
        (
            "Not compared because the other corpora were shipped without rare words",
            [name for name in missing if name in known],
        ),
    ]
    said = " ".join(f"{why}: {', '.join(names)}." for why, names in words if names)
    cut = set(counted.loc[counted["cut"] > 0, "dataset"])
    short = [on for name, on in here.items() if name not in known or name in cut]
    return Lacking(said, short if missing else [])


def cut(vocabularies: DataFrame) -> str:
    """Warn that rare words of these corpora are missing; empty if no counts are truncated.
    `vocabularies`: title, cut (relative frequency; 0 for complete counts)."""
    rows = vocabularies[vocabularies["cut"] > 0].sort_values("title")
    if rows.empty:
        return ""
    bounds = [
        f"{title} below {share * 1e6:.1f}"
        for title, share in zip(rows["title"], rows["cut"], strict=True)
    ]
    return (
        f"Shipped counts omit words of {' and of '.join(bounds)} per million, shown as 0 here."
        " The similarities are from complete counts."
    )
