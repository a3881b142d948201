"""The leaderboard's arithmetic: order, averages, the best, and who beats whom on how many.

A cell is a system's value on a dataset. A cell is *in-domain* where the system was trained on
the dataset: shown, but in no average and never the best; wins count it, as the papers do.
A *suspect* cell contradicts its neighbours in print: shown, never used. Nothing is filled in.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from pandas import DataFrame, Series

from compute.datasets.catalogue import DATASETS
from compute.tolerance import above, equal, order, ranks

# Nearly every neural system was trained on it: a best would compare memory with search.
TRAINED_ON = ("msmarco", "msmarco-pl")


@dataclass(frozen=True)
class Board:
    """Datasets down, systems across, both in the order to show them."""

    measure: str
    cells: DataFrame
    """dataset, system, value, in_domain, suspect, remark; usable (in averages and ranks), best,
    rank (1 is best, equal values share it), n_ranked. Only the cells that there are."""
    datasets: DataFrame
    """dataset, title, task, domain, group, zero_shot: the counted ones first, then by task."""
    systems: DataFrame
    """system, title, family, average (absent where nothing can be averaged), best."""
    counted: tuple[str, ...]
    """The datasets that averages and wins are about: the zero-shot ones, else all shown."""
    averaged: tuple[str, ...]
    """Those of `counted` on which every system has a value that has one on any of them."""

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return better(self.measure)

    def value(self, dataset: str, system: str) -> float:
        """The value of a cell, absent (nan) where there is none."""
        row = self.cells[(self.cells["dataset"] == dataset) & (self.cells["system"] == system)]
        return float(row["value"].iloc[0]) if len(row) else float("nan")


def better(measure: str) -> int:
    """1 for measures where more is better; -1 for holes, where less is."""
    return -1 if measure.startswith("Hole") else 1


def board(cells: DataFrame, datasets: DataFrame, systems: DataFrame, measure: str) -> Board:
    """Order and average the cells.

    `cells`: dataset, system, value, in_domain, suspect, remark. `datasets`: dataset, title, task,
    domain, group, collection, zero_shot, in the catalogue's order. `systems`: system, title,
    family. Both may name more than the cells do; what they do not name is shown by its bare name.
    A forum of CQADupStack is left out where the whole stands.
    """
    shown = _without_parts(cells)
    rows = _rows(shown, datasets)
    zero_shot = tuple(rows.loc[rows["zero_shot"], "dataset"])
    counted = zero_shot or tuple(rows["dataset"])
    ranked = _ranked(shown, rows, better(measure))
    averaged = _shared_by_all(ranked, counted)
    columns = _columns(ranked, systems, averaged, better(measure))
    return Board(measure, ranked, rows, columns, counted, averaged)


def _without_parts(cells: DataFrame) -> DataFrame:
    shown = set(cells["dataset"])
    wholes = [dataset for dataset in DATASETS.values() if dataset.name in shown]
    parts = {part for whole in wholes for part in whole.parts}
    return cells[~cells["dataset"].isin(parts)].reset_index(drop=True)


def _rows(cells: DataFrame, datasets: DataFrame) -> DataFrame:
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


def _shared_by_all(cells: DataFrame, counted: Collection[str]) -> tuple[str, ...]:
    # A run imported for one collection of one's own must not empty the average of all others.
    taking_part = cells[cells["dataset"].isin(counted)]
    n_systems = taking_part["system"].nunique()
    sound = taking_part[~taking_part["suspect"] & taking_part["value"].notna()]
    n_values = sound.groupby("dataset")["system"].nunique()
    return tuple(dataset for dataset in counted if n_values.get(dataset, 0) == n_systems)


def _columns(
    cells: DataFrame, systems: DataFrame, averaged: Collection[str], sign: int
) -> DataFrame:
    names = DataFrame({"system": cells["system"].unique()})
    columns = names.merge(systems, on="system", how="left")
    columns["title"] = columns["title"].fillna(columns["system"])
    columns["family"] = columns["family"].fillna("imported")
    counts = cells[cells["usable"] & cells["dataset"].isin(averaged)]
    columns["average"] = columns["system"].map(counts.groupby("system")["value"].mean())
    rank = ranks(sign * columns["average"])
    columns["best"] = rank == 1
    # Systems without an average follow: those with most datasets, then by the mean of these.
    values = cells[cells["usable"]].groupby("system")["value"]
    many = columns["system"].map(values.count()).fillna(0)
    own = ranks(sign * columns["system"].map(values.mean()))
    places = np.lexsort((columns["system"], own, -many, rank))
    return columns.iloc[places].reset_index(drop=True)


def below_best(board: Board) -> Series:
    """Per cell, its value over the best of its row (the inverse where less is better), 0 to 1.

    In a row of zeros every cell is the best. Absent for cells that are not usable.
    """
    value = board.cells["value"].where(board.cells["usable"])
    by_dataset = value.groupby(board.cells["dataset"])
    if board.sign > 0:
        best = by_dataset.transform("max")
        return (value / best).mask(equal(value, best), 1.0)
    best = by_dataset.transform("min")
    return (best / value).mask(equal(value, best), 1.0)


def against(board: Board, baseline: str) -> Series:
    """Per cell, its value minus the baseline's on the same dataset; absent where there is none."""
    base = board.cells[(board.cells["system"] == baseline) & ~board.cells["suspect"]]
    base_value = board.cells["dataset"].map(base.set_index("dataset")["value"])
    return board.cells["value"].where(~board.cells["suspect"]) - base_value


def differences(board: Board, baseline: str) -> DataFrame:
    """What wins are counted over: dataset, system, difference to the baseline, in_domain.

    All counted datasets where both have a value that is not suspect, in-domain cells included,
    as the papers count. A run that is missing is neither won nor lost.
    """
    cells = board.cells.assign(difference=against(board, baseline))
    kept = cells["dataset"].isin(board.counted) & cells["difference"].notna()
    chosen = cells[kept & (cells["system"] != baseline)]
    return chosen[["dataset", "system", "difference", "in_domain"]].reset_index(drop=True)


def tally(gaps: DataFrame, sign: int = 1) -> DataFrame:
    """Per system of `differences`: won, lost, equal (counts) and the median difference.

    Sorted by wins, then by the median, then by name.
    """
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
    """Titles for columns: without what stands in brackets where that stays unambiguous."""
    bare = systems["title"].str.replace(r" \(.*\)$", "", regex=True)
    clear = ~bare.duplicated(keep=False)
    return dict(zip(systems["system"], bare.where(clear, systems["title"]), strict=True))


def caption(board: Board, origin: str) -> list[str]:
    """What stands under the figure: source and counts, the average's ground, what is left out."""
    sizes = f"{_count(len(board.datasets), 'dataset')}, {_count(len(board.systems), 'system')}"
    sentences = [f"{origin}: {board.measure}, {sizes}.", _average_note(board)]
    if board.cells["in_domain"].any():
        sentences.append("Italic: the system was trained on the dataset; in no average, no best.")
    if board.cells["suspect"].any():
        sentences.append("?: contradicts its neighbours in print; shown, never used.")
    if len(board.cells) < len(board.datasets) * len(board.systems):
        sentences.append("–: no figure; nothing is filled in.")
    return [sentence for sentence in sentences if sentence]


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


def _which(board: Board) -> str:
    return "with an average" if board.systems["average"].isna().any() else "shown"


def _average_note(board: Board) -> str:
    titles = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    if not board.averaged:
        return "No average: no dataset has a sound figure of every system shown."
    partly = [titles[name] for name in board.counted if name not in board.averaged]
    number = _count(len(board.averaged), "dataset")
    note = f"Average over {number} that all systems {_which(board)} have"
    if partly:
        note += f", without {', '.join(partly)}"
    return f"{note}.{_fewer_note(board)}"


def _fewer_note(board: Board) -> str:
    """Whose average has fewer datasets, for what a system was trained on is left out of its own."""
    counted = board.cells[board.cells["usable"] & board.cells["dataset"].isin(board.averaged)]
    sizes = counted["system"].value_counts()
    titles = short_titles(board.systems)
    fewer = [
        f"{titles[system]} over {sizes[system]}"
        for system in board.systems["system"]
        if 0 < sizes.get(system, 0) < len(board.averaged)
    ]
    return f" Without its in-domain ones: {', '.join(fewer)}." if fewer else ""
