"""Reliability of a board's ranking: its datasets, its groups, and the text below it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.base.words import counted, several
from compute.evaluate import rank_intervals
from compute.views.leaderboard.board import Board
from compute.views.page import Note

ALL = "Average"
"""Name of the ranking by the board's average."""
_NAMED = 6
"""Most systems that a verdict names."""
_PLAIN = ", ".join(f"{share:.0%} with {n}" for n, share in rank_intervals.COVERAGE.items())


class Ground(NamedTuple):
    """The datasets and systems of a ranking."""

    datasets: list[str]
    systems: list[str]


@remembered
def grounds(board: Board) -> dict[str, Ground]:
    """Return the rankings on offer by name: ALL, if the board ranks by an average of several
    datasets, then every dataset with at least two systems. If the average covers a single dataset,
    this dataset comes first. A system trained on a dataset is not ranked on it."""
    found: dict[str, Ground] = {}
    ranked = board.systems.loc[board.systems["rank"].notna(), "system"].tolist()
    if len(ranked) > 1 and len(board.averaged) > 1:
        found[ALL] = Ground(list(board.averaged), ranked)
    usable = board.cells[board.cells["usable"]]
    only = board.averaged if len(board.averaged) == 1 else ()
    for dataset in dict.fromkeys([*only, *map(str, board.datasets["dataset"])]):
        own = set(usable.loc[usable["dataset"] == dataset, "system"])
        systems = [name for name in board.systems["system"] if name in own]
        if len(systems) > 1:
            found[dataset] = Ground([dataset], systems)
    return found


def members(groups: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of the systems of each letter, in the order of letters."""
    found: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        for name in group.split():
            found.setdefault(name, []).append(place)
    return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))


_ROW = 3
"""Most consecutive letters that are written one by one."""


def compact(group: str) -> str:
    """Join the letters of a group, without spaces if each is one character; four or more
    consecutive letters become "a–d"."""
    rows: list[list[str]] = []
    for name in group.split():
        if rows and rank_intervals.after(rows[-1][-1]) == name:
            rows[-1].append(name)
        else:
            rows.append([name])
    parts = [[f"{row[0]}–{row[-1]}"] if len(row) > _ROW else row for row in rows]
    names = [name for part in parts for name in part]
    return ("" if all(len(name) == 1 for name in names) else " ").join(names)


def verdict(ranking: DataFrame, titles: Mapping[str, str], *, short: bool = False) -> str:
    """Say whether the leader is significantly better than the others, in one sentence if `short`;
    empty if unknown. `ranking`: from `leaderboard.select_order`; systems that share a letter are
    not significantly different."""
    if len(ranking) < 2 or not ranking["drawn"].iloc[0]:
        return ""
    systems, alike = ranking["system"].tolist(), like_first(ranking)
    first, *others = systems
    family = f"(family-wise error rate 5% over these {len(systems)} systems)"
    below = [system for system in others if system not in alike]

    def named(some: Sequence[str]) -> str:
        return several([titles.get(system, system) for system in some], _NAMED)

    lead = f"{named([first])} is significantly better than all others"
    if alike:
        lead = (
            f"{named([first])} ranks first, but is not significantly different from {named(alike)}"
        )
    if short or not alike:
        return f"{lead} {family}."
    worse = named(below) if len(below) <= _NAMED else f"the other {len(below)}"
    rest = f" It is significantly better than {worse}." if below else ""
    pair = map(named, _out_of_order(others, alike))
    return f"{lead} {family}.{rest}{_why(*pair)}{_often_first(named([first]), ranking)}"


def _out_of_order(others: Sequence[str], alike: Sequence[str]) -> list[list[str]]:
    """Return the first system that differs significantly from the leader, and the last that does
    not, if it ranks lower; else nothing."""
    between = [system for system in others[: others.index(alike[-1])] if system not in alike]
    return [between[:1], [alike[-1]]] if between else []


def _why(apart: str = "", lower: str = "") -> str:
    """Explain why a larger difference can be insignificant: its standard error is larger."""
    if not lower:
        return ""
    return (
        f" The difference from {apart} is significant, but that from {lower} is not, although"
        f" {lower} ranks lower: the second difference varies more."
    )


def _often_first(first: str, ranking: DataFrame) -> str:
    """If the leader's share of first ranks is large, warn that it is not a test."""
    often, drawn = float(ranking["first"].iloc[0]), ranking["drawn"].iloc[0]
    if often < OFTEN:
        return ""
    return (
        f" {first} ranks first in {often:.0%} of bootstrap samples of {drawn}; unlike the test,"
        " this share is not corrected for the number of systems."
    )


def like_first(ranking: DataFrame) -> list[str]:
    """Return the systems that are not significantly different from the leader."""
    own = set(ranking["group"].iloc[0].split())
    others = zip(ranking["system"].iloc[1:], ranking["group"].iloc[1:], strict=True)
    return [system for system, group in others if own & set(group.split())]


def how_to_read(ranking: DataFrame) -> Note:
    """Return a note on how to read a ranking as a figure or as a list."""
    return Note([_HOW], of_lists=[_HOW_LISTED]) if ranking["drawn"].iloc[0] else Note()


def facts(ranking: DataFrame, board: Board, ground: Ground) -> list[str]:
    """Say which data are behind the intervals of a ranking, and what is omitted."""
    drawn, left_out = str(ranking["drawn"].iloc[0]), int(ranking["n_left_out"].iloc[0])
    left = f"Left out: {left_out:,} queries on which some system has no value."
    over, *without = _size(ranking, board, ground)
    n = int(ranking["n_families"].iloc[0])
    families = f"Intervals and tests resample the {counted(n, 'family')} of queries." * bool(n)
    left = [left] if left_out else []
    return [f"Mean over {over}", *without, *_GROUNDS[drawn], families, *left]


def about(ranking: DataFrame, board: Board, ground: Ground) -> list[str]:
    """Say which datasets the tested columns of the table cover, and which systems are left out."""
    over, *without = _size(ranking, board, ground)
    return [f"Columns Mean to Significance group: {over}", *without]


def _size(ranking: DataFrame, board: Board, ground: Ground) -> list[str]:
    """Say what a ranking covers, and which systems it lacks, with the reasons."""
    titles = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    n = int(ranking["n_queries"].iloc[0])
    queries = f", {counted(n, 'judged query')}" if n else ""
    if len(ground.datasets) == 1:
        return [f"{titles[ground.datasets[0]]}{queries}."]
    over = f"the {counted(len(ground.datasets), 'dataset')} that all systems cover{queries}."
    rows = board.systems[~board.systems["system"].isin(ground.systems)]
    own = board.cells[board.cells["in_domain"] & board.cells["dataset"].isin(ground.datasets)]
    trained = own["dataset"].map(titles).groupby(own["system"]).agg(", ".join)
    said = [
        f"{title} (trained on {trained[name]})" if name in trained else f"{title} (lacks a score)"
        for name, title in zip(rows["system"], rows["title"], strict=True)
    ]
    return [over, f"Not ranked: {several(said, _NAMED, 'system')}."] if said else [over]


_HOW = (
    "Dot: mean; line: 95% CI. Systems whose dots share a bar, or that share a letter in the Table"
    " view, are not significantly different. Overlapping lines do not imply this."
)
_HOW_LISTED = (
    "Mean, group, 95% CI, possible ranks. Systems that share a group's letter are not significantly"
    " different. Overlapping intervals do not imply this."
)
OFTEN = 0.95
"""From this share of samples on, first place without significance looks contradictory."""
FIRST = "This share is not a significance test."
_GROUNDS = {
    rank_intervals.QUERIES: ("The intervals generalise to new queries on the same datasets.",),
    rank_intervals.DATASETS: (
        "The intervals generalise to new datasets like these. They are widened, because in"
        f" simulations plain 95% intervals covered the true value only {_PLAIN} datasets.",
    ),
    rank_intervals.BOTH: (
        "The intervals generalise to new datasets like these and to new queries.",
    ),
    rank_intervals.NOTHING: (
        "No intervals: per-query scores are not published, and"
        f" {rank_intervals.FEWEST_DATASETS} datasets are needed: in simulations 95% intervals"
        f" covered {_PLAIN} datasets.",
    ),
}
