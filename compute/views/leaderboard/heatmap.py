"""Heatmap of the leaderboard: datasets by systems. Plotly's heatmaps report no clicks, so an
invisible scatter over the cells provides tooltips and selection. Each row is a trace, since gaps
between task groups would stretch a single heatmap."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import several
from compute.evaluate.power import LARGEST
from compute.evaluate.tolerance import equal
from compute.views.compare.power import rounded_up
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard.board import Board
from compute.views.leaderboard.cells import DIFFERENCE, run_of
from compute.views.shared import axes, traces
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.labels import width
from compute.views.shared.narrow_lists import Lists, ranked
from compute.views.shared.theme import (
    FAMILIES,
    Entry,
    Palette,
    colorscale,
    colour,
    escape,
    families,
    ink,
    mark,
    palette,
    plain,
    precise,
    signed,
)

BELOW_BEST = "Below the best"
AGAINST = "Against the baseline"
VALUE = "Value"
COLOURS = (BELOW_BEST, AGAINST, VALUE)
_NOTES = {
    BELOW_BEST: "Colour: score relative to the row's best. Bold: best.",
    AGAINST: "Colour: difference from the baseline on the same dataset.",
    VALUE: "Colour: score. Bold: best of the row.",
    DIFFERENCE: "Colour: computed − published.",
}
_ITALIC = " Italic: not compared (in-domain or suspect, or a mean of fewer datasets)."
_ENDS = {BELOW_BEST: ("½ or less", "¾", "best"), VALUE: ("0", ".5", "1")}
"""Labels of the colour bar, unless colours show differences."""
TITLES = {BELOW_BEST: "Relative to best", AGAINST: "vs. baseline", VALUE: "Score"}
"""Titles of COLOURS in the picker."""
MARKS = {1: "▲", -1: "▼"}
"""Suffixes of values significantly above (1) or below (-1) the baseline's."""
_MOST_NAMED = 4
"""Most datasets that a sentence names."""
AVERAGE = ""
"""The dataset's name for the row of averages."""

ROW = 28
GAP = 0.3
CLIP = 0.2
"""Differences of at least this size have the strongest colours."""
MOST_WITH_NUMBERS = 24
MOST_IN_PRINT = 17
LETTERS = 28
"""Characters shown of a system's name."""
FEWEST_COLUMNS = 6
"""Fewest columns that fill the width; with fewer, cells would become bars."""


@dataclass(frozen=True)
class _Cell:
    dataset: str
    system: str
    x: int
    y: float
    text: str
    hover: str
    share: float = math.nan
    """Position on the colour scale, 0 to 1; nan for an unfilled cell."""
    mark: str = ""
    best: bool = False
    faint: bool = False


@dataclass(frozen=True)
class _View:
    """A board with its display options."""

    board: Board
    colour: str
    baseline: str | None
    titles: Mapping[str, str]
    rows: Mapping[str, str]
    systems: Sequence[str]
    """Systems shown as columns; the best values and the baseline are those of the whole board."""
    tested: Mapping[tuple[str, str], tuple[float, int, float]]
    """p, direction and detectable difference against the baseline, by dataset and system."""

    @property
    def signed(self) -> bool:
        return self.colour in (AGAINST, DIFFERENCE)


def _lists(
    board: Board,
    *,
    colour_by: str,
    baseline: str | None,
    shown: Collection[str] | None = None,
    marks: DataFrame | None = None,
    **_: object,
) -> Lists:
    """Return the ranked systems of each dataset; unranked systems come last."""
    view, by_row = _view(board, colour_by, baseline, shown, marks), {}
    for cell in _cells(view):
        by_row.setdefault(cell.dataset, []).append(cell)
    known = _known(view)

    def entry(cell: _Cell) -> tuple[str, float, str]:
        row = known.get((cell.dataset, cell.system))
        ranks = row is not None and row["usable"] and not row["suspect"]
        said = f"{cell.text} in-domain" if row and row["in_domain"] else cell.text
        said = f"{said} {cell.mark}".strip()
        return view.titles[cell.system], row["value"] if row and ranks else math.nan, said

    return Lists(
        "Dataset",
        "System",
        [
            ranked(view.rows[name], map(entry, cells), descending=board.sign > 0)
            for name, cells in by_row.items()
        ],
    )


@in_lists(_lists)
@drawing
def heatmap(
    board: Board,
    *,
    colour_by: str,
    baseline: str | None,
    theme: str,
    chosen: tuple[str, str] | None = None,
    shown: Collection[str] | None = None,
    marks: DataFrame | None = None,
) -> go.Figure:
    """Draw datasets as rows (the average first, then task groups) and systems as columns.

    Only `shown` systems have a column; the best values and the baseline are those of the board.
    `marks`, a frame of `select_marks`, has the cells significantly above or below the baseline.
    `colour_by` is one of COLOURS, or DIFFERENCE for a board whose values are differences. `chosen`
    is the dataset and system of the cell with an outline. Points of the overlay carry [dataset,
    system] as customdata; the average's row carries AVERAGE as its dataset.
    """
    look = palette(theme)
    view = _view(board, colour_by, baseline, shown, marks)
    cells = list(_cells(view))
    numbered = len(view.systems) <= (MOST_IN_PRINT if theme == "print" else MOST_WITH_NUMBERS)
    stops = look.diverging if view.signed else look.sequential
    ends = _ENDS.get(view.colour, (f"≤ {signed(-CLIP, 1)}", "0", f"≥ {signed(CLIP, 1)}"))
    scale = {"cmin": 0, "cmax": 1, "colorscale": colorscale(stops), "colorbar": _bar(ends)}
    return go.Figure(
        data=[*_fills(cells), *(_texts(cells, stops, look) if numbered else ()), _overlay(cells)],
        layout={
            "coloraxis": scale,
            "shapes": [
                traces.around(cell.x, cell.y, look)
                for cell in cells
                if chosen and run_of(cell.dataset, cell.system) == run_of(*chosen)
            ],
            **_axes(view, theme),
        },
    )


def _bar(ends: Sequence[str]) -> dict[str, Any]:
    """Return the colour bar, at the right below the cells."""
    place: dict[str, Any] = {
        "x": 1,
        "xanchor": "right",
        "y": 0,
        "yanchor": "top",
        "orientation": "h",
    }
    size = {"len": 220, "lenmode": "pixels", "thickness": 8, "ypad": 6, "outlinewidth": 0}
    return place | size | {"tickvals": [0, 0.5, 1], "ticktext": ends, "tickfont": {"size": 11}}


def legend(
    board: Board,
    colour_by: str,
    baseline: str | None,
    shown: Collection[str] | None,
    marks: DataFrame | None,
    theme: str,
) -> list[Entry]:
    """Return entries for the families, and for the meaning of colours, italics and marks."""
    of = (
        board.systems if shown is None else board.systems[board.systems["system"].isin(list(shown))]
    )
    said, sound = _NOTES[colour_by], ~board.cells["suspect"]
    if colour_by == AGAINST and leaderboard.against(board, baseline or "")[sound].isna().any():
        said += " –: no score, here or for the baseline (see the tooltip)."
    if (~board.cells["usable"] & board.cells["value"].notna()).any():
        said += _ITALIC
    if marks is not None and marks["side"].any():
        said += f" {''.join(MARKS.values())}: significant in a test against the baseline only."
    return [*families(of["family"], theme), ("", "", said)]


def marks_note(marks: DataFrame, title: str) -> list[str]:
    """Return the caption of the marks, if any cell has one; `title` is the baseline's."""
    if not marks["side"].any():
        return []
    return [
        f"{' '.join(MARKS.values())}: significantly above or below {title} (randomisation test over"
        " queries, Holm over the systems of a dataset, p < .05).",
    ]


def unmarked(board: Board, baseline: str) -> str:
    """Name the datasets without marks because the baseline has no run there; empty if none."""
    filled = board.cells[board.cells["value"].notna()]
    tested = set(filled.loc[filled["system"] == baseline, "dataset"])
    others = set(filled.loc[filled["system"] != baseline, "dataset"])
    rows = board.datasets[board.datasets["dataset"].isin(others - tested)]
    if rows.empty:
        return ""
    titles = dict(zip(board.systems["system"], board.systems["title"], strict=True))
    named = several(rows["title"].tolist(), _MOST_NAMED)
    signs = " or ".join(MARKS.values())
    return (
        f"No {signs} on {named}: the baseline, {titles.get(baseline, baseline)}, has no run there."
    )


def _view(
    board: Board,
    colour_by: str,
    baseline: str | None,
    shown: Collection[str] | None,
    marks: DataFrame | None,
) -> _View:
    """Return the board with display options; `marks`: from `select_marks`."""
    zero_shot = set(board.datasets.loc[board.datasets["zero_shot"], "dataset"])
    average = "Zero-shot average" if zero_shot.issuperset(board.averaged) else "Average"
    average = "Mean difference" if colour_by == DIFFERENCE else average
    rows = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    titles = dict(zip(board.systems["system"], board.systems["title"], strict=True))
    systems = [name for name in titles if shown is None or name in shown]
    tested = {} if marks is None else _by_cell(marks)
    return _View(board, colour_by, baseline, titles, {AVERAGE: average} | rows, systems, tested)


def _by_cell(marks: DataFrame) -> dict[tuple[str, str], tuple[float, int, float]]:
    """Return p, side and detectable of `marks` by dataset and system."""
    cells = zip(marks["dataset"], marks["system"], strict=True)
    found = zip(marks["p"], marks["side"], marks["detectable"], strict=True)
    return dict(zip(cells, found, strict=True))


def _places(board: Board) -> dict[str, float]:
    """Return the vertical position of each row: 0 for the average, then the datasets, with gaps
    between task groups. A single dataset has no average, which would repeat its row."""
    averaged = board.systems["average"].notna().any() and len(board.datasets) > 1
    places, y, before = ({AVERAGE: 0.0}, 1 + GAP + 0.1, None) if averaged else ({}, 0.0, None)
    for row in board.datasets.itertuples():
        block = (row.zero_shot, row.task)
        y += GAP if before is not None and block != before else 0
        places[str(row.dataset)] = y
        y, before = y + 1, block
    return places


def _cells(view: _View) -> Iterator[_Cell]:
    """Yield every cell of the figure, including absent values and the row of averages."""
    places, known = _places(view.board), _known(view)
    for x, system in enumerate(view.systems):
        for dataset, y in places.items():
            row = known.get((dataset, system))
            yield _absent(view, dataset, system, x, y) if row is None else _cell(view, row, x, y)


def _known(view: _View) -> Mapping[tuple[str, str], Mapping]:
    """Return the cells of the board and of averages, with share and gap, by dataset and system."""
    frame = view.board.cells.assign(
        share=leaderboard.below_best(view.board),
        gap=leaderboard.against(view.board, view.baseline or ""),
    )
    # A row without a best value, such as MS MARCO's, has no reference for its colours.
    frame["share"] = frame["share"].where(frame.groupby("dataset")["best"].transform("any"))
    known = {(row["dataset"], row["system"]): row for row in frame.to_dict("records")}
    return known | {(AVERAGE, row["system"]): row for row in _averages(view)}


def _averages(view: _View) -> Iterator[dict]:
    """Yield the cells of the row of averages, in the form of a board's cells."""
    systems = view.board.systems
    ranked = systems["rank"].notna()
    base = systems.loc[ranked & (systems["system"] == view.baseline), "average"]
    best = (view.board.sign * systems["average"][ranked]).max() * view.board.sign
    for row in systems.dropna(subset="average").to_dict("records"):
        value, whole = row["average"], row["rank"] == row["rank"]
        high, low = (value, best) if view.board.sign > 0 else (best, value)
        yield {
            "dataset": AVERAGE,
            "system": row["system"],
            "value": value,
            "usable": whole,
            "best": row["best"],
            "rank": row["rank"],
            "n_ranked": ranked.sum(),
            "suspect": False,
            "in_domain": False,
            "remark": _over(view.board, row["n_averaged"]),
            "share": 1.0 if equal(value, best) else high / low if low else 0.0,
            "gap": value - base.iloc[0] if whole and len(base) else math.nan,
        }


def _over(board: Board, n: int) -> str:
    """Say over how many datasets an average is."""
    of = len(board.averaged)
    if n == of:
        return leaderboard.averaged_note(board).lower()
    return f"average over only {n} of the {of} datasets: not ranked"


def _absent(view: _View, dataset: str, system: str, x: int, y: float) -> _Cell:
    missing = "no average" if dataset == AVERAGE else "no score"
    hover = f"{_where(view, dataset, system)}<br>{missing}"
    return _Cell(dataset, system, x, y, "–", hover, faint=True)


def _cell(view: _View, row: Mapping, x: int, y: float) -> _Cell:
    """Return a cell with text, tooltip, colour (`share`) and mark."""
    relative = view.colour == AGAINST and row["system"] != view.baseline
    shown = row["gap"] if relative else row["value"]
    text = signed(shown) if relative or view.colour == DIFFERENCE else plain(shown)
    cell = _Cell(row["dataset"], row["system"], x, y, text, _hover(view, row))
    if row["suspect"]:
        return replace(cell, text="?" if relative else f"{text}?", faint=True)
    share = _share(view, row, shown)
    if not row["usable"] or math.isnan(shown) or (view.colour == BELOW_BEST and math.isnan(share)):
        return replace(cell, faint=True)
    best = bool(row["best"]) and view.colour != DIFFERENCE
    _, side, _ = view.tested.get((row["dataset"], row["system"]), (1, 0, math.nan))
    return replace(cell, best=best, share=share, mark=MARKS.get(side, ""))


def _share(view: _View, row: Mapping, shown: float) -> float:
    """Return a cell's position on the colour scale, 0 to 1; nan if it has no colour."""
    if not row["usable"]:
        return math.nan
    if view.colour == VALUE:
        return min(max(row["value"], 0.0), 1.0)
    if view.colour == BELOW_BEST:
        return max(2 * row["share"] - 1, 0.0) if row["share"] == row["share"] else math.nan
    if view.colour == AGAINST and row["system"] == view.baseline:
        return math.nan
    sign = 1 if view.colour == DIFFERENCE else view.board.sign
    return min(max((sign * shown / CLIP + 1) / 2, 0.0), 1.0)


def _where(view: _View, dataset: str, system: str) -> str:
    on = "" if dataset == AVERAGE else " on"
    title, row = escape(view.titles[system]), escape(view.rows[dataset])
    return f"<b>{title}</b>{on}{',' if dataset == AVERAGE else ''} <b>{row}</b>"


def _hover(view: _View, row: Mapping) -> str:
    value = precise(row["value"], with_sign=view.colour == DIFFERENCE)
    lines = [_where(view, row["dataset"], row["system"]), f"{view.board.measure} {value}"]
    if row["rank"] == row["rank"] and view.colour != DIFFERENCE:
        lines[-1] += f", rank {int(row['rank'])} of {int(row['n_ranked'])}"
    compared = view.baseline not in (None, row["system"]) and view.colour != DIFFERENCE
    if compared:
        base = escape(view.titles.get(str(view.baseline), str(view.baseline)))
        gap = row["gap"]
        if gap == gap:
            said = _significance(view, row)
            lines.append(f"{precise(gap, with_sign=True)} against {base}{said}")
        elif view.colour == AGAINST and not row["suspect"]:
            lines.append(f"no score of {base} to compare with")
    if math.isnan(row["share"]) and row["usable"] and view.colour == BELOW_BEST:
        lines.append("no best value: nearly every system was trained on this dataset")
    if row["in_domain"]:
        lines.append("in-domain: trained on this dataset; not in the average")
    if row["suspect"]:
        lines.append("suspect as published; not ranked or averaged")
    if row["remark"] and row["remark"] != "in-domain":
        lines.append(escape(row["remark"], longest=120))
    return "<br>".join(lines)


def _significance(view: _View, row: Mapping) -> str:
    """Return the tooltip's clause on the test of a cell against the baseline."""
    found = view.tested.get((row["dataset"], row["system"]))
    if found is None or not row["usable"]:
        return ""
    p, side, detectable = found
    said = "p &lt; .001" if p < 0.001 else f"p = {plain(p)}"
    if side:
        return f", significant ({said}, corrected)"
    chance = (
        "" if not detectable <= LARGEST else f"<br>80% power to detect {rounded_up(detectable)}"
    )
    return f", not significant ({said}, corrected){chance}"


def _fills(cells: list[_Cell]) -> Iterator[dict]:
    width = 1 + max(cell.x for cell in cells)
    rows: dict[float, list[float | None]] = {cell.y: [None] * width for cell in cells}
    for cell in cells:
        row = rows[cell.y]
        row[cell.x] = None if math.isnan(cell.share) else cell.share
    for y, row in rows.items():
        yield traces.cells([row], x0=0, dx=1, y0=y, dy=1)


def _texts(cells: list[_Cell], stops: tuple[str, ...], look: Palette) -> list[dict]:
    places, words = [(cell.x, cell.y) for cell in cells], [_styled(cell) for cell in cells]
    inks = [_ink_of(cell, stops, look) for cell in cells]
    return traces.texts(places, words, inks, traces.text_size(1 + max(cell.x for cell in cells)))


def _ink_of(cell: _Cell, stops: tuple[str, ...], look: Palette) -> str:
    if cell.share == cell.share:
        return ink(colour(cell.share, stops))
    return look.muted if cell.faint else look.text


def _styled(cell: _Cell) -> str:
    mark = f"<sup>{cell.mark}</sup>" if cell.mark else ""
    if cell.best:
        return f"<b>{cell.text}</b>{mark}"
    return f"<i>{cell.text}</i>" if cell.faint and cell.text != "–" else f"{cell.text}{mark}"


def _overlay(cells: list[_Cell]) -> dict:
    return traces.targets(
        [cell.x for cell in cells],
        [cell.y for cell in cells],
        [cell.hover for cell in cells],
        [[cell.dataset, cell.system] for cell in cells],
    )


def _tasks(view: _View, theme: str) -> list[dict]:
    """Return the name of each task group, to the right of its middle; none for a single group."""
    places, blocks = _places(view.board), {}
    for row in view.board.datasets.itertuples():
        blocks.setdefault((row.zero_shot, row.task), []).append(places[str(row.dataset)])
    if len(blocks) < 2:
        return []
    look = {"x": 1, "xref": "paper", "xanchor": "left", "align": "left", "xshift": 6}
    look |= {"font": {"size": 11, "color": palette(theme).muted}, "showarrow": False}
    return [
        look | {"y": (rows[0] + rows[-1]) / 2, "text": task.removesuffix(" (QA)")}
        for (_, task), rows in blocks.items()
    ]


def _axes(view: _View, theme: str) -> dict:
    last = max(_places(view.board).values())
    titles = leaderboard.short_titles(view.board.systems)
    shown = [titles[name] for name in view.systems]
    crowded = len(shown) > MOST_WITH_NUMBERS
    across = {"fewest": FEWEST_COLUMNS, "longest": LETTERS, "crowded": crowded}
    tasks = _tasks(view, theme)
    right = max((width(one["text"], 13, theme) for one in tasks), default=0)
    names = axes.height_of_names(shown, **across)
    # The rotated names of the last columns need room at the right.
    lean = min(max((6 * (len(title) - 7) for title in shown[-3:]), default=0), 110)
    return {
        "xaxis": _columns(view, axes.names_across(shown, **across), theme),
        "yaxis": axes.CELLS | _rows(view),
        "annotations": tasks,
        "height": round(ROW * (last + 1)) + 50 + names,
        # Otherwise Plotly cuts off long rotated names at the top of a figure with few rows.
        "minreducedheight": ROW,
        "margin": {"l": 8, "r": 8 + max(lean, round(right)), "t": 30, "b": 42},
        **axes.CLICKED,
    }


def _columns(view: _View, columns: dict, theme: str) -> dict:
    """Put a square in the colour of the system's family in front of each column name."""
    family = dict(zip(view.board.systems["system"], view.board.systems["family"], strict=True))
    colours = [mark(family[name], FAMILIES, theme)[0] for name in view.systems]
    names = [
        f'<span style="color:{colour}">■</span>{name}'
        for colour, name in zip(colours, columns["ticktext"], strict=True)
    ]
    return columns | {"ticktext": names}


def _rows(view: _View) -> dict:
    """Return the axis of datasets, with the average in bold."""
    places = _places(view.board)
    rows = {name: escape(view.rows[name], 32) for name in places}
    return {
        "range": [max(places.values()) + 0.5, -0.5],
        "tickvals": list(places.values()),
        "ticktext": [f"<b>{row}</b>" if name == AVERAGE else row for name, row in rows.items()],
        "ticklabelstandoff": 6,
    }
