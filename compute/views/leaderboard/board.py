"""The leaderboard's arithmetic: ranking, averages, best values, and wins against a baseline.
Systems are ranked only by averages over the same datasets. A cell is a system's value on a dataset.
A cell is *in-domain* if the system was trained on the dataset: it is shown, but is in no average
and never the best; wins count it, as in the papers. A *suspect* cell contradicts other published
figures and is shown but never used. Missing cells are never imputed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from compute.base.bounded_cache import remembered
from compute.base.words import counted, several
from compute.datasets.catalogue import DATASETS
from compute.evaluate.measures import better
from compute.evaluate.tolerance import above, equal, order, ranks
from compute.views.shared.theme import plain

# Nearly all neural systems were trained on these, so a best value would reward memory, not search.
TRAINED_ON = ("msmarco", "msmarco-pl")
MOST_NAMED = 6
"""Most datasets, or systems, that a caption names."""


@dataclass(frozen=True)
class Board:
    """Datasets as rows, systems as columns, both in display order."""

    measure: str
    cells: DataFrame
    """dataset, system, value, in_domain, suspect, remark; usable (in averages and ranks), best,
    rank (1 is best; ties share a rank), n_ranked. Missing cells have no row."""
    datasets: DataFrame
    """dataset, title, task, domain, group, zero_shot: zero-shot datasets first, then by task."""
    systems: DataFrame
    """system, title, family, average, n_averaged (number of `averaged` datasets with a usable
    value), rank (by the average; absent unless the system has all of these), best (true for the
    first of several ranked systems)."""
    counted: tuple[str, ...]
    """Datasets in averages and wins: zero-shot ones if half of the systems have one, else all."""
    averaged: tuple[str, ...]
    """The datasets of `counted` that averages cover, chosen by `in_common`."""

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better."""
        return better(self.measure)


@remembered
def board(cells: DataFrame, datasets: DataFrame, systems: DataFrame, measure: str) -> Board:
    """Rank the cells and average them. `cells`: dataset, system, value, in_domain, suspect, remark.
    `datasets`: dataset, title, task, domain, group, collection, zero_shot, in the catalogue's
    order. `systems`: system, title, family. Datasets and systems missing from these frames are
    shown by name. A forum of CQADupStack is left out if the whole dataset is shown."""
    shown = _without_parts(cells)
    rows = _rows(shown, datasets)
    zero_shot = tuple(rows.loc[rows["zero_shot"], "dataset"])
    on_these = shown[shown["dataset"].isin(zero_shot) & shown["value"].notna()]
    many = 2 * on_these["system"].nunique() >= shown["system"].nunique()
    counted = zero_shot if zero_shot and many else tuple(rows["dataset"])
    ranked = _ranked(shown, rows, better(measure))
    taking_part = ranked[ranked["usable"] & ranked["dataset"].isin(counted)]
    common = in_common(taking_part)
    averaged = tuple(name for name in counted if name in common)
    columns = _columns(ranked, systems, averaged, better(measure))
    return Board(measure, ranked, rows, columns, counted, averaged)


def _without_parts(cells: DataFrame) -> DataFrame:
    """Drop the cells on parts of datasets that are shown as a whole."""
    shown = set(cells["dataset"])
    wholes = [dataset for dataset in DATASETS.values() if dataset.name in shown]
    parts = {part for whole in wholes for part in whole.parts}
    return cells[~cells["dataset"].isin(parts)].reset_index(drop=True)


def _rows(cells: DataFrame, datasets: DataFrame) -> DataFrame:
    """Return the datasets of the cells as in `Board.datasets`; missing fields get defaults."""
    names = DataFrame({"dataset": cells["dataset"].unique()})
    rows = names.merge(datasets.assign(place=range(len(datasets))), on="dataset", how="left")
    rows["title"] = rows["title"].fillna(rows["dataset"])
    rows["collection"] = rows["collection"].fillna(rows["dataset"])
    rows = rows.fillna({"task": "Other", "domain": "Other", "group": "own"})
    rows["zero_shot"] = rows["zero_shot"].eq(True)
    rows["place"] = rows["place"].fillna(len(datasets))
    rows["block"] = rows.groupby(["zero_shot", "task"])["place"].transform("min")
    order = rows.sort_values(["zero_shot", "block", "place"], ascending=[False, True, True])
    return order.drop(columns=["place", "block"]).reset_index(drop=True)


def _ranked(cells: DataFrame, rows: DataFrame, sign: int) -> DataFrame:
    """Add usable, rank, n_ranked and best to the cells."""
    usable = ~cells["in_domain"] & ~cells["suspect"] & cells["value"].notna()
    worth = (sign * cells["value"]).where(usable)
    by_dataset = worth.groupby(cells["dataset"])
    rank = by_dataset.transform(ranks)
    trained_on = set(rows.loc[rows["collection"].isin(TRAINED_ON), "dataset"])
    return cells.assign(
        usable=usable,
        rank=rank,
        n_ranked=by_dataset.transform("count"),
        best=(rank == 1) & ~cells["dataset"].isin(trained_on),
    )


def in_common(pairs: DataFrame) -> list[str]:
    """Choose the datasets over which averages are compared. `pairs`: usable dataset, system.

    Only systems that have all of them can be ranked by an average. A system with few datasets
    removes none, and a single system with many adds none: 1. A system has a say if it has at least
    half as many datasets as the system with the second most. 2. The datasets are those that at
    least half of these systems have. A system with fewer than half of these datasets loses its say.
    3. While fewer than half of the systems with a say, or only one of several, have all datasets,
    the dataset that the fewest have is dropped (among ties, the last by name). 4. If a system with
    a say then has fewer than half of the datasets, none are compared.
    """
    table = pd.crosstab(pairs["system"], pairs["dataset"]) > 0
    counts = table.sum(axis=1)
    table = table[counts >= counts.nlargest(2).min() / 2]
    chosen = [name for name in table if table[name].mean() >= 0.5]
    table = table.loc[table[chosen].mean(axis=1) >= 0.5, chosen]
    enough = max(min(2, len(table)), len(table) / 2)
    while len(table.columns) and table.all(axis=1).sum() < enough:
        fewest = table.iloc[:, ::-1].sum().idxmin()
        table = table.drop(columns=fewest)
    return [] if (table.mean(axis=1) < 0.5).any() else list(table.columns)


def _columns(
    cells: DataFrame, systems: DataFrame, averaged: Collection[str], sign: int
) -> DataFrame:
    """Return the systems as in `Board.systems`, in display order."""
    names = DataFrame({"system": cells["system"].unique()})
    columns = names.merge(systems, on="system", how="left")
    columns["title"] = columns["title"].fillna(columns["system"])
    columns["family"] = columns["family"].fillna("imported")
    usable = cells[cells["usable"]].groupby("system")["value"]
    values = cells[cells["usable"] & cells["dataset"].isin(averaged)].groupby("system")["value"]
    columns["n_averaged"] = columns["system"].map(values.count()).fillna(0).astype(int)
    # Otherwise a value on one easy dataset would exceed the leader's mean over all datasets.
    most = 2 * columns["n_averaged"] >= len(averaged)
    columns["average"] = columns["system"].map(values.mean()).where(most)
    whole = columns["n_averaged"].eq(len(averaged)) & columns["average"].notna()
    columns["rank"] = ranks((sign * columns["average"]).where(whole))
    columns["best"] = columns["rank"].eq(1) & (whole.sum() > 1)
    # Unranked systems, which lack datasets, follow by number of datasets and name.
    many = columns["system"].map(usable.count()).fillna(0)
    keys = (columns["system"], -many, -columns["n_averaged"], columns["rank"])
    return columns.iloc[np.lexsort(keys)].reset_index(drop=True)


def below_best(board: Board) -> Series:
    """Divide each cell's value by the best of its row (inverted if lower is better), giving 0 to 1.
    In a row of zeros every cell is the best. Absent for cells that are not usable."""
    value = board.cells["value"].where(board.cells["usable"])
    by_dataset = value.groupby(board.cells["dataset"])
    if board.sign > 0:
        best = by_dataset.transform("max")
        return (value / best).mask(equal(value, best), 1.0)
    best = by_dataset.transform("min")
    return (best / value).mask(equal(value, best), 1.0)


def against(board: Board, baseline: str) -> Series:
    """Return each cell's value minus the baseline's on the dataset; absent if either has none."""
    base = board.cells[(board.cells["system"] == baseline) & ~board.cells["suspect"]]
    base_value = board.cells["dataset"].map(base.set_index("dataset")["value"])
    return board.cells["value"].where(~board.cells["suspect"]) - base_value


def differences(board: Board, baseline: str) -> DataFrame:
    """Return the differences that wins count: dataset, system, difference (from the baseline),
    in_domain. They cover all counted datasets on which the system and the baseline have a value
    that is not suspect, including in-domain cells, as in the papers. A missing run counts as
    neither."""
    cells = board.cells.assign(difference=against(board, baseline))
    kept = cells["dataset"].isin(board.counted) & cells["difference"].notna()
    chosen = cells[kept & (cells["system"] != baseline)]
    return chosen[["dataset", "system", "difference", "in_domain"]].reset_index(drop=True)


def tally(gaps: DataFrame, sign: int = 1) -> DataFrame:
    """Count each system's differences: system, won, lost, equal, and the median difference, sorted
    by wins, then median, then name."""
    worth = sign * gaps["difference"]
    by_system = DataFrame(
        {
            "system": gaps["system"],
            "won": above(worth, 0),
            "lost": above(0, worth),
            "equal": equal(worth, 0),
            "median": gaps["difference"],
        }
    ).groupby("system", sort=False)
    table = by_system.agg(
        {"won": "sum", "lost": "sum", "equal": "sum", "median": "median"}
    ).reset_index()
    by_median = table.iloc[order(sign * table["median"], table["system"])]
    return by_median.sort_values("won", ascending=False, kind="stable").reset_index(drop=True)


def short_titles(systems: DataFrame) -> dict[str, str]:
    """Return column headings: titles without the part in parentheses if that is unambiguous."""
    bare = systems["title"].str.replace(r" \(.*\)$", "", regex=True)
    clear = ~bare.duplicated(keep=False)
    return dict(zip(systems["system"], bare.where(clear, systems["title"]), strict=True))


def caption(board: Board, origin: str, shown: Collection[str] | None = None) -> list[str]:
    """Return the figure's caption: source and counts, datasets of the average, omissions. It names
    only `shown` systems, by default all."""
    named, n = board.systems, len(board.systems)
    if shown is not None:
        named = named[named["system"].isin(list(shown))]
    sizes = f"{counted(len(board.datasets), 'dataset')}, {counted(n, 'system')}"
    sentences = [f"{origin}: {board.measure}, {sizes}.", *_average_notes(board, named)]
    if board.cells["suspect"].any():
        sentences.append("?: contradicts other published figures; not ranked or averaged.")
    if len(board.cells) < len(board.datasets) * len(board.systems):
        sentences.append("–: no score.")
    return sentences


def finding(board: Board) -> str:
    """Say which system has the best average, and on how many datasets it is best."""
    titles, best = short_titles(board.systems), board.cells[board.cells["best"]]
    first = board.systems[board.systems["best"]]
    wins = best["system"].value_counts()
    if len(first) != 1 or len(board.datasets) == 1:
        return ""
    name, average = first["system"].iloc[0], first["average"].iloc[0]
    n, of = int(wins.get(name, 0)), best["dataset"].nunique()
    average = f"has the best average ({plain(average)})"
    return f"{titles[name]} {average} and is best on {n} of {of} datasets."


def hidden(board: Board, shown: Collection[str]) -> str:
    """Say how many systems are shown: a row whose best system is hidden seems to have none."""
    n, left = len(board.systems), int(board.systems["system"].isin(list(shown)).sum())
    if left == n:
        return ""
    return f"{left} of {counted(n, 'system')} shown; bold, colours and ranks compare all {n}."


def _average_notes(board: Board, systems: DataFrame) -> list[str]:
    if not board.averaged:
        return ["No average: too few systems share datasets."]
    titles = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    partly = [titles[name] for name in board.counted if name not in board.averaged]
    without = f", without {several(partly, MOST_NAMED, 'dataset')}" if partly else ""
    fewer = _fewer_note(systems, short_titles(board.systems))
    return [f"{averaged_note(board)}{without}.", *([fewer] if fewer else [])]


def averaged_note(board: Board) -> str:
    """Return a label such as `Average over 18 datasets (9 of 10 systems are ranked)`."""
    number, ranked = counted(len(board.averaged), "dataset"), board.systems["rank"].notna()
    some = f"({ranked.sum()} of {len(ranked)} systems are ranked)"
    return f"Average over {number} {'that all systems have' if ranked.all() else some}"


def _fewer_note(systems: DataFrame, titles: Mapping[str, str]) -> str:
    """Say which systems' averages cover fewer datasets (a score is missing or in-domain)."""
    fewer = systems[systems["average"].notna() & systems["rank"].isna()]
    if fewer.empty:
        return ""
    said = [
        f"{titles[system]} over {n}"
        for system, n in zip(fewer["system"], fewer["n_averaged"], strict=True)
    ]
    return (
        "Averages in italics cover fewer datasets (a score is missing or in-domain) and are not"
        f" ranked: {several(said, MOST_NAMED, 'system')}."
    )
