"""Reliability of the Leaderboard's ranking as a figure, and the board as a table."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.evaluate import rank_intervals
from compute.evaluate.rank_intervals import QUERIES
from compute.views.compare import power
from compute.views.leaderboard import intervals as figures
from compute.views.leaderboard import order_confidence, select, select_marks, select_order
from compute.views.leaderboard.board import Board
from compute.views.leaderboard.cells import COMPUTED, DIFFERENCE, PUBLISHED
from compute.views.leaderboard.controls import OF, View
from compute.views.leaderboard.order_confidence import FIRST, Ground
from compute.views.page import (
    Asked,
    Choice,
    Column,
    Figure,
    Link,
    Message,
    Note,
    Offered,
    Step,
    Steps,
    Table,
    Text,
    folded,
)
from compute.views.shared import standings
from compute.views.shared.print_styles import Scores
from compute.views.shared.theme import between, plain

_TESTED = ("95% CI", "Rank", "P(rank 1)", "Significance group")
MOST_ROWS = 25
"""Rows of the table that are visible without scrolling."""
_APART = (
    "Italic: not compared (in-domain or suspect, a mean of fewer datasets, or on a dataset that"
    " most systems were trained on)."
)
_TOLD = (
    "Systems that share a letter are not significantly different.",
    "Click a value to open its dataset.",
)


def section(view: View) -> Steps:
    """Yield the section on the ranking's reliability, on all datasets or on one, and return the
    datasets and systems ranked, or None. All systems of the board are compared; only the picked
    ones are shown."""
    found, datasets = order_confidence.grounds(view.board), view.board.datasets
    if not found:
        return None
    noun = "dataset with two systems"
    yield Offered("over", options=list(found), noun=noun)
    over = yield Asked("over")
    ground = found[over if over in found else next(iter(found))]
    yield Text(_verdict(view, ground))
    titles = dict(zip(datasets["dataset"], datasets["title"], strict=True))
    look: dict[str, Any] = {"titles": titles, "noun": noun, "width": 240}
    control = Choice("over", "Ranking on", list(found), **look)
    inside = partial(_chosen, view, found, control)
    yield folded(inside, ["order"], "How reliable is this ranking?", ["over"])
    return ground


def _chosen(view: View, found: Mapping[str, Ground], control: Choice) -> Steps:
    over = yield control
    yield from _order(view, found[over])


def _verdict(view: View, ground: Ground) -> str:
    """Say whether the first rank is significant; empty if unknown."""
    if view.of.kind == PUBLISHED and len(ground.datasets) == 1:
        return ""
    try:
        order = ranking(view, ground)
    except WrongInput:  # The section shows the error.
        return ""
    if not order["drawn"].iloc[0]:
        n, fewest = len(ground.datasets), rank_intervals.FEWEST_DATASETS
        return f"No tie groups: a test over datasets needs {fewest} datasets, and there are {n}."
    said = order_confidence.verdict(order, view.titles)
    return f"{said} {_leads(view, ground, order)}".strip() if said else ""


def _order(view: View, ground: Ground) -> Iterator[Step]:
    """Yield the figure of the ranking, and facts about it."""
    of, titles = view.of, view.titles
    if of.kind == PUBLISHED and len(ground.datasets) == 1:
        yield Note(["Per-query scores are not published, so a single dataset has no interval."])
        return
    try:
        order = ranking(view, ground)
    except WrongInput as error:
        yield Message(str(error))
        return
    shown = order[order["system"].isin(view.picked)].reset_index(drop=True)
    if shown.empty:
        yield Note([_verdict(view, ground), "None of the picked systems is in this ranking."])
        return
    n, known = len(ground.datasets), " with 95% CI and groups" * bool(order["drawn"].iloc[0])
    title = f"Mean {of.measure}{known}{f', over {n} datasets' * (n > 1)}"
    drawn = partial(figures.intervals, shown, titles, of.measure)
    said = order_confidence.verdict(order, titles, short=True)
    look: dict[str, Any] = {"narrow": True, "table": partial(_printed, view, title, shown)}
    yield Figure("order", title, drawn, of=("over", *OF), finding=said, **look)
    yield order_confidence.how_to_read(order)
    more = len(shown) - figures.MOST_ROWS
    facts = [
        f"{len(shown)} of {len(order)} systems are shown; ranks are among all."
        * (len(shown) < len(order)),
        f"{more} more systems are in the Table view." * (more > 0),
        *order_confidence.facts(order, view.board, ground),
        _without_bars(shown),
        _over_all(view),
    ]
    yield Note(facts)


def _printed(view: View, title: str, order: DataFrame) -> Table:
    """Return the ranking as a table for a paper, with a column for each number."""
    rows = figures.table(order, view.board).head(len(order))
    heads = {"System", "Mean", *_TESTED} if order["drawn"].iloc[0] else {"System", "Mean", "Rank"}
    columns = [column for column in _columns(view.board, rows, None) if column.head in heads]
    return Table("order", title, rows, columns)


def ranking(view: View, ground: Ground) -> DataFrame:
    """Return the ranking, a frame of `leaderboard.select_order`. Raises WrongInput."""
    of = view.of
    about: dict[str, Any] = {"measure": of.measure, "sign": view.board.sign} | ground._asdict()
    if of.kind == PUBLISHED:
        return view.ask(select_order.of_print, source=of.source, **about)
    return view.ask(select_order.of_runs, **about, weighted=bool(of.filter.weights))


def _leads(view: View, ground: Ground, order: DataFrame) -> str:
    """Say the smallest lead that the test can detect on one dataset; empty if all others differ."""
    alike = [] if view.of.filter.weights else order_confidence.like_first(order)
    if not alike or len(ground.datasets) > 1 or order["drawn"].iloc[0] != QUERIES:
        return ""
    pairs = view.ask(standings.among_all, measure=view.of.measure, **ground._asdict())
    first = order["system"].iloc[0]
    return power.leads(first, alike, pairs, view.titles)


def _over_all(view: View) -> str:
    """Return a note if the board's own means cover fewer queries than the ranking's."""
    over_fewer = view.of.filter.returned and view.of.kind != PUBLISHED
    return "These means cover all judged queries." if over_fewer else ""


def _without_bars(order: DataFrame) -> str:
    """Refer to the Table view if there are too many groups for bars."""
    groups = order_confidence.members(order["group"].tolist()).values()
    if figures.groups_drawn(order) or not any(len(places) > 1 for places in groups):
        return ""
    return "The Table view shows the groups as letters."


def table(view: View) -> Iterator[Step]:
    """Yield a table of the picked systems, ranked among all; a clicked value opens its dataset."""
    board, of = view.board, view.of
    ground = next(iter(order_confidence.grounds(board).values()), None)
    try:
        order = ranking(view, ground) if ground else None
    except WrongInput:
        # With too few queries there is no ranking, and `section` says so.
        order = None
    rows = figures.table(order, board, _holes(view, ground) if ground else None)
    rows = rows[rows["system"].isin(view.picked)].reset_index(drop=True)
    heads = figures.headings(board)
    yield Table(
        "board",
        f"{of.measure} by system and dataset",
        rows,
        _columns(board, rows, order),
        scores(view, rows),
        opens=partial(_opened, view, {head: dataset for dataset, head in heads.items()}),
        carried=[[system] for system in rows["system"]],
        by_cell=True,
        height=38 + 35 * min(len(rows), MOST_ROWS),
        of=("baseline", *OF),
    )
    about = [] if order is None or ground is None else order_confidence.about(order, board, ground)
    yield Note([f"{view.origin}: {of.measure}.", *about, _over_all(view), *_TOLD])


def paper(view: View) -> Table:
    """Return the picked systems by average and dataset, as a paper prints a leaderboard."""
    board, title = view.board, f"{view.of.measure} by system and dataset"
    rows, own = figures.table(None, board), board.systems.set_index("system")
    found = rows["system"].map(own["average"]), rows["system"].map(own["rank"]).notna()
    rows = rows.assign(mean=found[0], ranked=found[1])[rows["system"].isin(view.picked)]
    heads = {"System", "Mean", *figures.headings(board).values()}
    columns = [column for column in _columns(board, rows, None) if column.head in heads]
    if view.of.kind == DIFFERENCE:
        return Table("cells", title, rows, columns)
    return Table("cells", title, rows, columns, scores(view, rows))


def _holes(view: View, ground: Ground) -> dict[str, float] | None:
    """Return each system's mean Hole@10 over a ranking's datasets; None for published scores."""
    if view.of.kind != COMPUTED or view.of.measure == figures.HOLES:
        return None
    rows = view.ask(select.holes)
    own = rows[rows["dataset"].isin(ground.datasets) & rows["system"].isin(ground.systems)]
    found = own.groupby("system")["hole"].mean()
    return dict(zip(found.index, found, strict=True))


def _opened(view: View, datasets: Mapping[str, str], system: str, head: str) -> Link | None:
    """Return the address of the run in a clicked column of `datasets`; None for other columns."""
    return view.run(datasets.get(head, ""), system)


def scores(view: View, rows: DataFrame) -> Scores:
    """Return the compared columns of the exported table, marking the cells significantly better
    than the baseline. As on the page, in-domain scores are not compared."""
    board, systems = view.board, rows["system"]
    heads = figures.headings(board)
    usable = board.cells.pivot(index="system", columns="dataset", values="usable")
    # On MS MARCO, on which nearly every system was trained, no value is marked as best.
    compared = board.cells.groupby("dataset")["best"].any()
    ranked = {
        head: usable[name].reindex(systems).eq(True) & compared[name]
        for name, head in heads.items()
    }
    ranked["Mean"] = rows.get("ranked", rows["mean"].notna()).set_axis(systems)
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
    return Scores(columns, board.sign, frame, marked if view.of.tested else None, note, _APART)


def _columns(board: Board, rows: DataFrame, order: DataFrame | None) -> list[Column]:
    """Return the columns of the table; those of the ranking have explanations."""
    alike = "test of all pairs: systems that share a letter are not significantly different"
    picture = "line: 95% CI; dot: mean"
    first = f"share of bootstrap samples in which the system ranks first. {FIRST}"
    longest, ranks = max(map(len, rows["title"]), default=0), ("rank", "rank_low", "rank_high")
    drawn = None if order is None else partial(figures.pictures, order, rows["system"].tolist())
    pictures = Column(figures.PICTURE, drawn=drawn, width=figures.WIDTH, told=picture)
    hole = Column(figures.HOLES, "hole", plain, told="mean unjudged share of the top 10")
    scored = "number of datasets with a score, averaged or not"
    number = Column("# datasets", "n_datasets", told=scored)
    values = figures.headings(board).items()
    return [
        # On a phone, a wider pinned column would leave no room for the others.
        Column("System", "title", pinned=True, width=min(24 + 7 * longest, 180)),
        Column("Mean", "mean", plain),
        *[pictures] * (drawn is not None),
        Column("95% CI", ("low", "high"), between, told="confidence interval of the mean"),
        Column("Rank", ranks, figures.rank_range, told="possible ranks given the tests"),
        Column("P(rank 1)", ["first"], figures.share, told=first),
        Column("Significance group", ["group"], _group, told=alike),
        *[hole] * ("hole" in rows),
        *[number] * (len(board.datasets) > 1),
        *(Column(head, figures.OF_DATASET + name, plain) for name, head in values),
    ]


def _group(letters: object) -> str:
    return order_confidence.compact(letters) if isinstance(letters, str) else ""
