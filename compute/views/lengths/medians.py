"""Median lengths by dataset and system, and published against computed averages."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas import DataFrame

from compute.base.words import counted
from compute.datasets.published import MEDIAN_LENGTH
from compute.views.leaderboard.board import short_titles
from compute.views.lengths.violins import RELEVANT, words
from compute.views.page import Column
from compute.views.shared import axes, traces
from compute.views.shared import theme as looks
from compute.views.shared.drawing import drawing, in_lists
from compute.views.shared.narrow_lists import Lists, ranked

ROW = 28
"""Pixels per dataset."""
FAR = 2.0
"""Binary logarithm of the ratio of medians at which colours saturate: a quarter and 4 times."""
MOST_WITH_NUMBERS, FEWEST_COLUMNS = 24, 8
LETTERS = 22
"""Most characters of a name above a column."""
CORPUS, JUDGED = " corpus", " relevant"
"""Columns that are not systems; no system's name contains a space."""

Columns = Mapping[str, str]
"""Heading of each column by name."""


def _lists(medians: DataFrame, named: DataFrame, **_: object) -> Lists:
    """Return each dataset's systems by median, then its corpus and relevant documents."""
    cells = _placed(medians)
    columns = _columns(cells, named)
    lists = []
    for title, own in cells.groupby("title", sort=False):
        places = own["median"].mask(own["column"].isin([CORPUS, JUDGED]))
        entries = zip(own["column"].map(columns), places, own["median"], strict=True)
        told = [(name, value, f"{words(said)} words") for name, value, said in entries]
        lists.append(ranked(str(title), told, descending=False))
    return Lists("Dataset", "Of", lists)


@in_lists(_lists)
@drawing
def heatmap(medians: DataFrame, named: DataFrame, *, chosen: str, theme: str) -> go.Figure:
    """Draw the median words of each system's top documents, coloured by their ratio to the
    corpus's. `medians`: dataset, title, of, system, n, median. `named`: system, title, family.
    Datasets keep their order; systems are sorted by `preference`, those that prefer short documents
    first. The dataset `chosen` is outlined. Points of the overlay carry the dataset's name."""
    cells = _placed(medians)
    columns = _columns(cells, named)
    rows = cells.drop_duplicates("dataset")[["dataset", "title"]].reset_index(drop=True)
    places = {name: place for place, name in enumerate(rows["dataset"])}
    across = {name: place for place, name in enumerate(columns)}
    cells = cells.assign(x=cells["column"].map(across), y=cells["dataset"].map(places))
    look = looks.palette(theme)
    figure = go.Figure(
        data=[
            _fill(cells, len(rows), len(columns)),
            *_texts(cells, len(rows), len(columns), look),
            _overlay(cells, columns),
        ]
    )
    figure.update_layout(
        **axes.CLICKED,
        coloraxis=_colours(look),
        shapes=[
            traces.outline(look, (-0.5, len(columns) - 0.5), (place - 0.5, place + 0.5), 2)
            for name, place in places.items()
            if name == chosen
        ],
        **_axes(list(rows["title"]), columns),
    )
    return figure


def beside(medians: DataFrame, dataset: str) -> DataFrame:
    """Return the medians of a dataset's systems on the datasets where one of them has a run; all
    medians if it has no systems."""
    tops = medians[medians["of"] == "top"]
    own = tops[tops["system"].isin(tops.loc[tops["dataset"] == dataset, "system"])]
    kept = medians["of"].ne("top") | medians["system"].isin(own["system"])
    return medians[kept & medians["dataset"].isin(own["dataset"])] if len(own) else medians


def shortest(medians: DataFrame, titles: Mapping[str, str]) -> str:
    """Name the system with the shortest documents on most datasets; empty for fewer than two."""
    tops = medians[medians["of"] == "top"]
    if tops["system"].nunique() < 2:
        return ""
    first = tops.loc[tops.groupby("dataset")["median"].idxmin(), "system"]
    name, n = first.value_counts().index[0], int(first.value_counts().iloc[0])
    title, of = titles.get(str(name), str(name)), int(tops["system"].eq(name).sum())
    on = f"all {of} datasets" if n == of > 1 else f"{n} of {counted(of, 'dataset')}"
    return f"{title} retrieves the shortest documents on {on} it was run on."


def preference(medians: DataFrame) -> pd.Series:
    """Return the mean over datasets of log2 of the ratio of each system's median to the corpus's,
    ascending; −1 means half as long as the corpus on average. Each median is at least half a
    word."""
    cells = _placed(medians)
    of_systems = cells[~cells["column"].isin([CORPUS, JUDGED])]
    mean = of_systems.groupby("column")["ratio"].mean()
    return mean.rename_axis("system").sort_values(kind="stable")


def _placed(medians: DataFrame) -> DataFrame:
    """Add to the medians: column, corpus (the dataset's own median), ratio (a binary logarithm)."""
    corpus = medians[medians["of"] == "corpus"].set_index("dataset")["median"]
    special = {"corpus": CORPUS, "relevant": JUDGED}
    column = medians["of"].map(special).fillna(medians["system"])
    own = medians["dataset"].map(corpus)
    ratio = np.log2(medians["median"].clip(lower=0.5) / own.clip(lower=0.5))
    return medians.assign(column=column, corpus=own, ratio=ratio)


def _columns(cells: DataFrame, named: DataFrame) -> Columns:
    """Return the columns that exist, in order, with headings."""
    short = short_titles(named)
    first = {CORPUS: "Corpus", JUDGED: "Relevant"}
    held = {name: title for name, title in first.items() if name in set(cells["column"])}
    return held | {str(name): short.get(str(name), str(name)) for name in preference(cells).index}


def _fill(cells: DataFrame, n_rows: int, n_columns: int) -> dict[str, Any]:
    shares = np.full((n_rows, n_columns), np.nan)
    coloured = cells[cells["column"] != CORPUS]
    shares[coloured["y"], coloured["x"]] = coloured["ratio"].clip(-FAR, FAR)
    return traces.cells(shares)


def _texts(
    cells: DataFrame, n_rows: int, n_columns: int, look: looks.Palette
) -> list[dict[str, Any]]:
    """Return the medians as texts; a dash if there is no run."""
    if n_columns > MOST_WITH_NUMBERS:
        return []
    shares = (cells["ratio"].clip(-FAR, FAR) + FAR) / (2 * FAR)
    inks = [
        look.text if column == CORPUS else looks.ink(looks.colour(share, look.diverging))
        for column, share in zip(cells["column"], shares, strict=True)
    ]
    places = list(zip(cells["x"], cells["y"], strict=True))
    # Halves are shown only in the tooltip, since narrow cells have no room.
    words = [f"{math.floor(median + 0.5):,}" for median in cells["median"]]
    filled = set(places)
    empty = [(x, y) for y in range(n_rows) for x in range(n_columns) if (x, y) not in filled]
    dashes = traces.texts(empty, ["–"] * len(empty), [look.muted] * len(empty))
    return traces.texts(places, words, inks, traces.text_size(n_columns)) + dashes


def _overlay(cells: DataFrame, columns: Columns) -> dict[str, Any]:
    hover = [_hover(row, columns) for row in cells.to_dict("records")]
    datasets = [[name] for name in cells["dataset"]]
    return traces.targets(cells["x"].tolist(), cells["y"].tolist(), hover, datasets)


def _hover(row: Mapping[Hashable, Any], columns: Columns) -> str:
    name, title = looks.escape(columns[row["column"]]), looks.escape(row["title"])
    if row["column"] == CORPUS:
        return f"<b>{title}</b><br>median {words(row['median'])} words<br>{row['n']:,} documents"
    name = RELEVANT if row["column"] == JUDGED else name
    times = 2.0 ** row["ratio"]
    return (
        f"<b>{name}</b> on <b>{title}</b><br>median {words(row['median'])} words"
        f"<br>{times:.2f} times the collection's {words(row['corpus'])}"
        f"<br>{row['n']:,} {'judgements' if row['column'] == JUDGED else 'retrieved documents'}"
    )


def _colours(look: looks.Palette) -> dict[str, Any]:
    scale = looks.colorscale(look.diverging)
    return {"colorscale": scale, "cmin": -FAR, "cmax": FAR, "showscale": False}


def _axes(titles: list[str], columns: Columns) -> dict[str, Any]:
    """Return axes with datasets as rows and systems as columns, with room for their names."""
    shown, width = list(columns.values()), len(columns)
    size = {"fewest": FEWEST_COLUMNS, "longest": LETTERS}
    crowded = width > MOST_WITH_NUMBERS
    leaning = axes.touching(shown, **size) and width >= FEWEST_COLUMNS
    rise = axes.height_of_names(shown, **size, crowded=crowded)
    return {
        "xaxis": axes.names_across(shown, **size, crowded=crowded),
        "yaxis": axes.names_down(titles, longest=32, ticklabelstandoff=6, ticks=""),
        "height": ROW * len(titles) + 14 + rise,
        "margin": {"l": 8, "r": 70 if leaning else 8, "t": 30, "b": 6},
    }


def _empty(n: float, total: float) -> str:
    """Format a number of empty documents, with its share of all documents."""
    return "–" if pd.isna(n) else f"{n / total:.1%} ({int(n):,})" if n else "0"


def _two(number: float) -> str:
    return "–" if pd.isna(number) else f"{number:,.2f}"


AVERAGES = (
    Column("Dataset", "title"),
    Column("Documents", "n_documents", "{:,}".format),
    Column("Words per document", "document_words", _two),
    Column("Published ", "printed_document_words", _two),
    Column("Words per query", "query_words", _two),
    Column("of all splits", "all_query_words", _two),
    Column("Published", "printed_query_words", _two),
    Column("Empty documents", ("empty_texts", "n_documents"), _empty),
)
"""Columns of mean words per document and query, computed and published, and empty documents."""


def published_rows(
    printed: DataFrame, medians: DataFrame, averages: DataFrame, titles: Mapping[str, str]
) -> DataFrame:
    """Return published lengths next to computed ones: dataset, what (the statistic), system, value,
    here. `printed`: source, dataset, system, measure, value. `medians`: of the top 10. `averages`:
    from `select.averages`. `titles`: of datasets and systems by name."""
    top = medians[medians["of"] == "top"].set_index(["dataset", "system"])["median"].to_dict()
    empty = averages.set_index("dataset")["empty_texts"].to_dict()
    here = [
        top.get((name, system)) if measure == MEDIAN_LENGTH else empty.get(name)
        for name, system, measure in printed[["dataset", "system", "measure"]].to_numpy()
    ]
    return printed.assign(
        dataset=[titles.get(name, name) for name in printed["dataset"]],
        what=printed["measure"].str.capitalize(),
        system=[titles.get(name, name) or "–" for name in printed["system"]],
        here=pd.to_numeric(pd.Series(here, printed.index), errors="coerce"),
    )


def published_columns(printed: DataFrame) -> list[Column]:
    """Return the columns for `published_rows`; `printed` comes from one published table."""
    return [
        Column("Dataset", "dataset"),
        Column("Statistic", "what"),
        Column("System", "system"),
        Column(f"Published ({printed['source'].iloc[0]})", "value", words),
        Column("Here", "here", lambda value: "–" if pd.isna(value) else words(value)),
    ]
