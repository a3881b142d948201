"""The Leaderboard's order: how sure it is, as a figure, and the board as a table with it."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate.rank_intervals import QUERIES
from compute.views.compare import power
from compute.views.leaderboard import intervals as figures
from compute.views.leaderboard import order_confidence, select, select_marks, select_order
from compute.views.leaderboard.board import Board
from compute.views.leaderboard.cells import COMPUTED, PUBLISHED
from compute.views.leaderboard.controls import OF, View
from compute.views.leaderboard.order_confidence import FIRST, Ground
from compute.views.page import (
    Choice,
    Column,
    Figure,
    Heading,
    Link,
    Message,
    Note,
    Section,
    Step,
    Steps,
    Table,
    Text,
)
from compute.views.shared import standings
from compute.views.shared.print_styles import Scores
from compute.views.shared.theme import between

MOST_ROWS = 25
"""Of the table, without scrolling in it."""
_TOLD = (
    "Group is the test: systems that share a letter cannot be told apart; below it is said how this"
    " is found out.",
    "First in is no test, but the share of draws that a system leads.",
    "A click on a value opens its dataset.",
)


def section(view: View) -> Steps:
    """How sure the order is, on all datasets or on one; returns which it is about, if any.

    All systems of the board are compared with each other, of which the picked ones are shown.
    """
    found, datasets = order_confidence.grounds(view.board), view.board.datasets
    if not found:
        return None
    yield Heading("How sure is this order?")
    titles = dict(zip(datasets["dataset"], datasets["title"], strict=True))
    look: dict[str, Any] = {"titles": titles, "noun": "dataset with two systems", "width": 240}
    over = yield Choice("over", "Order by", list(found), **look)
    yield Section(partial(_order, view, found[over]), holds=["order"])
    return found[over]


def _order(view: View, ground: Ground) -> Iterator[Step]:
    of, titles = view.of, view.titles
    if of.kind == PUBLISHED and len(ground.datasets) == 1:
        yield Note(["In print there are no scores by query: of one dataset nothing is known."])
        return
    try:
        order = ranking(view, ground)
    except WrongInput as error:
        yield Message(str(error))
        return
    if said := order_confidence.verdict(order, titles):
        yield Text(f"{said} {_leads(view, ground, order)}".strip())
    shown = order[order["system"].isin(view.picked)].reset_index(drop=True)
    if shown.empty:
        yield Note(["None of the picked systems takes part in this order."])
        return
    n = len(ground.datasets)
    title = f"Means of {of.measure} with intervals and groups{f', over {n} datasets' * (n > 1)}"
    drawn = partial(figures.intervals, shown, titles, of.measure)
    yield Figure("order", title, drawn, of=("over", *OF), narrow=True)
    more = len(shown) - figures.MOST_ROWS
    facts = [
        f"{len(shown)} of {len(order)} systems shown; ranks are among all."
        * (len(shown) < len(order)),
        f"{more} more systems stand in the view Table." * (more > 0),
        *order_confidence.facts(order, view.board, ground),
        _without_bars(shown),
        _over_all(view),
    ]
    yield Note(facts, how=order_confidence.how_to_read(order))


def ranking(view: View, ground: Ground) -> DataFrame:
    """The order on this ground: a frame of `leaderboard.select_order`. Raises WrongInput."""
    of = view.of
    about: dict[str, Any] = {"measure": of.measure, "sign": view.board.sign} | ground._asdict()
    if of.kind == PUBLISHED:
        return view.ask(select_order.of_print, source=of.source, **about)
    return view.ask(select_order.of_runs, **about)


def _leads(view: View, ground: Ground, order: DataFrame) -> str:
    """Which lead of the first would have been found; said of one dataset, over its queries."""
    alike = order_confidence.like_first(order)
    if not alike or len(ground.datasets) > 1 or order["drawn"].iloc[0] != QUERIES:
        return ""
    pairs = view.ask(standings.among_all, measure=view.of.measure, **ground._asdict())
    first = order["system"].iloc[0]
    return power.leads([power.of_pair(standings.pair(pairs, first, one)) for one in alike])


def _over_all(view: View) -> str:
    """What an order's means are over, where the board's own are over fewer queries."""
    over_fewer = view.of.filter.returned and view.of.kind != PUBLISHED
    return "These means are over all judged queries." if over_fewer else ""


def _without_bars(order: DataFrame) -> str:
    """What there is instead where groups are too many for bars."""
    groups = order_confidence.members(order["group"].tolist()).values()
    if figures.groups_drawn(order) or not any(len(places) > 1 for places in groups):
        return ""
    return "The groups are too many for bars: their letters stand in the view Table."


def table(view: View) -> Iterator[Step]:
    """The picked systems as a table, ordered among all; a click on a value opens its dataset."""
    board, of = view.board, view.of
    ground = next(iter(order_confidence.grounds(board).values()), None)
    try:
        order = ranking(view, ground) if ground else None
    except WrongInput:
        # Too few queries for an order: `section`, below, says so.
        order = None
    rows = figures.table(order, board, _holes(view, ground) if ground else None)
    rows = rows[rows["system"].isin(view.picked)].reset_index(drop=True)
    heads = figures.headings(board)
    yield Table(
        "board",
        f"{of.measure} of systems on datasets",
        rows,
        _columns(board, rows, order),
        scores(view, rows),
        opens=partial(_opened, view, {head: dataset for dataset, head in heads.items()}),
        carried=[[system] for system in rows["system"]],
        by_cell=True,
        height=38 + 35 * min(len(rows), MOST_ROWS),
        absent="–",
        of=("baseline", *OF),
    )
    about = [] if order is None or ground is None else order_confidence.about(order, board, ground)
    yield Note([f"{view.origin}: {of.measure}.", *about, _over_all(view), *_TOLD])


def _holes(view: View, ground: Ground) -> dict[str, float] | None:
    """The mean Hole@10 of systems over the datasets of an order, where runs have one."""
    if view.of.kind != COMPUTED or view.of.measure == figures.HOLES:
        return None
    rows = view.ask(select.holes)
    own = rows[rows["dataset"].isin(ground.datasets) & rows["system"].isin(ground.systems)]
    found = own.groupby("system")["hole"].mean()
    return dict(zip(found.index, found, strict=True))


def _opened(view: View, datasets: Mapping[str, str], system: str, head: str) -> Link | None:
    """Address of a value's run; `datasets` by the heads of their columns, others have none."""
    return view.run(datasets.get(head, ""), system)


def scores(view: View, rows: DataFrame) -> Scores:
    """What of the table is compared in print; marked is what is better than the baseline,
    significantly.

    Scores of systems that were trained on a dataset take no part, as on the page.
    """
    board, systems = view.board, rows["system"]
    heads = figures.headings(board)
    usable = board.cells.pivot(index="system", columns="dataset", values="usable")
    # On MS MARCO, which nearly every system was trained on, nothing is best.
    compared = board.cells.groupby("dataset")["best"].any()
    ranked = {
        head: usable[name].reindex(systems).eq(True) & compared[name]
        for name, head in heads.items()
    }
    ranked["Mean"] = rows["mean"].notna().set_axis(systems)
    tested = view.ask.later(select_marks.against, **view.tests)

    def marked() -> DataFrame | None:
        sides = tested().pivot(index="system", columns="dataset", values="side")
        table = sides.reindex(index=systems, columns=list(heads)).eq(board.sign)
        return table.rename(columns=heads).assign(Mean=False)

    note = (
        f"† significantly better than {view.titles.get(view.baseline, view.baseline)}"
        " (randomisation test or its normal approximation, Holm over systems, p < .05)."
    )
    fields = {"Mean": "mean"} | {head: figures.OF_DATASET + name for name, head in heads.items()}
    columns = [head for head, field in fields.items() if rows[field].notna().any()]
    frame = DataFrame(ranked, index=systems).reset_index(drop=True)
    return Scores(columns, board.sign, frame, marked if view.of.tested else None, note)


def _columns(board: Board, rows: DataFrame, order: DataFrame | None) -> list[Column]:
    """The table's columns, and what those of the order say of themselves."""
    holes = "mean share of the top 10 that nobody judged"
    alike = "by the test of all pairs: systems that share a letter cannot be told apart"
    picture = "95% interval, the dot is the mean"
    first = f"share of resamples in which the system is first. {FIRST}"
    longest, ranks = max(map(len, rows["title"]), default=0), ("rank", "rank_low", "rank_high")
    drawn = None if order is None else partial(figures.pictures, order, rows["system"].tolist())
    pictures = Column(figures.PICTURE, drawn=drawn, width=figures.WIDTH, told=picture)
    hole = Column(figures.HOLES, "hole", "%.3f", told=holes)
    values = figures.headings(board).items()
    return [
        # A pinned column that is wider would leave nothing of the others on a phone.
        Column("System", "title", pinned=True, width=min(24 + 7 * longest, 180)),
        Column("Mean", "mean", "%.3f"),
        *[pictures] * (drawn is not None),
        Column("95% interval", ("low", "high"), between),
        Column("Rank", ranks, figures.rank_range),
        Column("First in", ["first"], figures.share, told=first),
        Column("Group", ["group"], _group, told=alike),
        *[hole] * ("hole" in rows),
        *[Column("Datasets", "n_datasets")] * (len(board.datasets) > 1),
        *(Column(head, figures.OF_DATASET + name, "%.3f") for name, head in values),
    ]


def _group(letters: object) -> str:
    return order_confidence.compact(letters) if isinstance(letters, str) else ""
