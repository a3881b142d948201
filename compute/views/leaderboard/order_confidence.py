"""How sure a board's order is: what it is about, its groups, and the words under it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pandas import DataFrame

from compute.base.bounded_cache import remembered
from compute.base.words import counted, several
from compute.evaluate import rank_intervals
from compute.views.leaderboard.board import Board

ALL = "Average"
"""The order by the board's average."""
_NAMED = 6
"""Systems that a verdict names."""
_PLAIN = ", ".join(f"{share:.0%} with {n}" for n, share in rank_intervals.COVERAGE.items())


class Ground(NamedTuple):
    """What an order is about."""

    datasets: list[str]
    systems: list[str]


@remembered
def grounds(board: Board) -> dict[str, Ground]:
    """ALL, where systems are ranked by an average of several datasets, then every dataset with two.

    ALL has the datasets and the systems of the board's own average and rank. Where that average is
    of one dataset, this one is the first, so that both have one order. A system that was trained on
    a dataset takes no part in the order on it.
    """
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
    """Letter -> the places of its systems, in the order of letters."""
    found: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        for name in group.split():
            found.setdefault(name, []).append(place)
    return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))


_ROW = 3
"""Letters in a row that are still written one by one."""


def compact(group: str) -> str:
    """Letters without blanks between where each is one; four and more in a row as "a–d"."""
    rows: list[list[str]] = []
    for name in group.split():
        if rows and rank_intervals.after(rows[-1][-1]) == name:
            rows[-1].append(name)
        else:
            rows.append([name])
    parts = [[f"{row[0]}–{row[-1]}"] if len(row) > _ROW else row for row in rows]
    names = [name for part in parts for name in part]
    return ("" if all(len(name) == 1 for name in names) else " ").join(names)


def verdict(ranking: DataFrame, titles: Mapping[str, str]) -> str:
    """Whether the first of an order is significantly better than the others, in one sentence; empty
    where nothing is known of that.

    `ranking` is a frame of `leaderboard.select_order`; systems with a letter in common
    cannot be told apart.
    """
    if len(ranking) < 2 or not ranking["drawn"].iloc[0]:
        return ""
    systems, alike = ranking["system"].tolist(), like_first(ranking)
    first, *others = systems
    below = [system for system in others if system not in alike]

    def named(some: Sequence[str]) -> str:
        return several([titles.get(system, system) for system in some], _NAMED)

    if not alike:
        return f"{named([first])} is significantly better than all others (family-wise 5%)."
    worse = named(below) if len(below) <= _NAMED else f"the other {len(below)}"
    rest = f"; it is significantly better than {worse} (family-wise 5%)" if below else ""
    pair = map(named, _out_of_order(others, alike))
    return (
        f"{named([first])} is ahead, but cannot be told apart from {named(alike)}{rest}."
        f"{_why(*pair)}{_often_first(ranking)}"
    )


def _out_of_order(others: Sequence[str], alike: Sequence[str]) -> list[list[str]]:
    """The first that is told apart from the leader, and one that ranks lower and is not."""
    between = [system for system in others[: others.index(alike[-1])] if system not in alike]
    return [between[:1], [alike[-1]]] if between else []


def _why(apart: str = "", lower: str = "") -> str:
    """At a larger difference, only a larger standard error leaves 0 in the interval."""
    if not lower:
        return ""
    why = f"the differences to {lower} vary more"
    return f" {lower} ranks below {apart}, which is told apart: {why}."


def _often_first(ranking: DataFrame) -> str:
    often, drawn = float(ranking["first"].iloc[0]), ranking["drawn"].iloc[0]
    if often < OFTEN:
        return ""
    return f" It comes first in {often:.0%} of draws of new {drawn}, which is no test."


def like_first(ranking: DataFrame) -> list[str]:
    """The systems that cannot be told apart from the first of an order."""
    own = set(ranking["group"].iloc[0].split())
    others = zip(ranking["system"].iloc[1:], ranking["group"].iloc[1:], strict=True)
    return [system for system, group in others if own & set(group.split())]


def how_to_read(ranking: DataFrame, table: str = "in the view Table") -> str:
    """How to read an order; `table` says where the letters of the groups stand."""
    return f"{_HOW.format(table)} {FIRST}" if ranking["drawn"].iloc[0] else ""


def facts(ranking: DataFrame, board: Board, ground: Ground) -> list[str]:
    """What the intervals of an order rest on, and what is left out."""
    drawn, left_out = str(ranking["drawn"].iloc[0]), int(ranking["n_left_out"].iloc[0])
    left = f"Left out: {left_out:,} of the queries, on which a system has no value."
    over, *without = _size(ranking, board, ground)
    return [f"Over {over}", *without, *_GROUNDS[drawn], *([left] if left_out else [])]


def about(ranking: DataFrame, board: Board, ground: Ground) -> list[str]:
    """What the columns Mean to Group of the table are over, and who is left out."""
    over, *without = _size(ranking, board, ground)
    return [f"Mean to Group are over {over}", *without]


def _size(ranking: DataFrame, board: Board, ground: Ground) -> list[str]:
    titles = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    n = int(ranking["n_queries"].iloc[0])
    queries = f", {counted(n, 'judged query')}" if n else ""
    if len(ground.datasets) == 1:
        return [f"{titles[ground.datasets[0]]}{queries}."]
    left_out = len(board.systems) - len(ground.systems)
    lacks = "lacks" if left_out == 1 else "lack"
    over = f"the {counted(len(ground.datasets), 'dataset')} that all of these have{queries}."
    without = f"Left out: {counted(left_out, 'system')} that {lacks} one of them."
    return [over, without] if left_out else [over]


_HOW = (
    "the dot is the mean, the line its 95% interval. Systems with dots on one bar"
    " at the right, or a letter in common {}, cannot be told apart. Lines of others"
    " may overlap, for all are compared on the same queries and datasets. 2–4: the true rank is"
    " second to fourth. The percentage: how often a system comes first when queries, datasets or"
    " both are drawn again, with replacement."
)
OFTEN = 0.95
"""From such a share of draws on, to be first and not separable reads like a contradiction."""
FIRST = (
    "A percentage is no test: a system can be first in nearly all draws and still not be separable"
    " from the second, for the test compares all pairs at once and errs in 5% of boards."
)
_AT_ONCE = (
    "All pairs are compared at once: the chance that any two equal systems are told apart is 5%."
)
_GROUNDS = {
    rank_intervals.QUERIES: (
        "The intervals ask what other queries would have given on the same datasets; about other"
        " datasets they say nothing.",
        _AT_ONCE,
    ),
    rank_intervals.DATASETS: (
        "In print there are no scores by query: the intervals ask what other datasets like these"
        " would have given.",
        "Few datasets promise too much: in simulations a plain 95% interval held the true mean in"
        f" {_PLAIN} datasets.",
        "Those shown are widened for that.",
        _AT_ONCE,
    ),
    rank_intervals.BOTH: (
        "The intervals ask what other datasets like these, with other queries, would have given.",
        _AT_ONCE,
    ),
    rank_intervals.NOTHING: (
        "No intervals: in print there are no scores by query, and fewer than"
        f" {rank_intervals.FEWEST_DATASETS} datasets promise too much: in simulations a 95%"
        f" interval held the true mean in {_PLAIN} datasets.",
    ),
}
