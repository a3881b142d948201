"""The Leaderboard's order: how sure it is, as a figure, and the board as a table with it."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from pandas import DataFrame
from streamlit.delta_generator import DeltaGenerator

from compute.base.errors import WrongInput
from compute.evaluate.rank_intervals import QUERIES
from compute.views.compare import power
from compute.views.leaderboard import cells, order_confidence, select_marks, select_order
from compute.views.leaderboard import intervals as figures
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.board import Board, short_titles
from compute.views.leaderboard.cells import COMPUTED, PUBLISHED
from compute.views.leaderboard.heatmap import MOST_WITH_NUMBERS
from compute.views.leaderboard.order_confidence import ALL, FIRST, Ground
from compute.views.shared import standings
from compute.views.shared.print_styles import Scores
from pages._shared import address, colours, drawing, escaping, reading
from pages._shared.pickers import pick
from pages._shared.reading import later, read

HEATMAP, TABLE = "Heatmap", "Table"
VIEWS = (HEATMAP, TABLE)
MOST_ROWS = 25
"""Of the table, without scrolling in it."""

_COLUMNS = (
    "Group is the test: systems that share a letter cannot be told apart; below it is said how this"
    " is found out. First in is no test, but the share of draws that a system leads. A click on a"
    " value opens its dataset."
)


class Numbers(NamedTuple):
    """Which numbers a board shows: the pickers above it."""

    kind: str
    source: str
    measure: str
    returned: bool = False


def choose_view(place: DeltaGenerator, n_systems: int) -> str:
    """Heatmap or table: the table first where a heatmap would have no room for numbers."""
    usual = TABLE if n_systems > MOST_WITH_NUMBERS else HEATMAP
    with place:
        return pick("View", VIEWS, "view", default=usual, width=120)


def ranking(of: Numbers, board: Board, ground: Ground) -> DataFrame:
    """The order on this ground: a frame of `leaderboard.select_order`. Raises WrongInput."""
    about: dict[str, Any] = {"measure": of.measure, "sign": board.sign} | ground._asdict()
    if of.kind == PUBLISHED:
        return read(select_order.of_print, source=of.source, **about)
    return read(select_order.of_runs, **about)


def table(of: Numbers, board: Board, baseline: str, picked: Sequence[str]) -> None:
    """The picked systems as a table, ordered among all; a click on a value opens its dataset."""
    found = next(iter(order_confidence.grounds(board).values()), None)
    try:
        order = ranking(of, board, found) if found else None
    except WrongInput:
        # Too few queries for an order: `section`, below, says so.
        order = None
    shown = figures.table(order, board, _holes(of, found) if found else None)
    shown = shown[shown["system"].isin(picked)].reset_index(drop=True)
    heads = figures.headings(board)
    by_title = {head: dataset for dataset, head in heads.items()}
    file = shown.drop(columns="system")
    drawing.table(
        file if order is None else _drawn(file, order, shown["system"].tolist()),
        "board",
        f"{of.measure} of systems on datasets",
        scores=scores(of, board, shown, baseline),
        file=file,
        column_config=_columns(
            ["Mean", *heads.values()], max(map(len, shown["System"]), default=0)
        ),
        on_select=partial(_open, by_title, shown["system"].tolist()),
        selection_mode="single-cell",
        **drawing.height(len(shown), MOST_ROWS),
        placeholder="–",
    )
    drawing.open_dataset(of.measure)
    origin = cells.origin(of.kind, of.source, returned=of.returned, kind=reading.kind_title())
    about = "" if order is None or found is None else order_confidence.about(order, board, found)
    drawing.caption(f"{origin}: {of.measure}. {about}{_over_all(of)} {_COLUMNS}")


def _holes(of: Numbers, ground: Ground) -> dict[str, float] | None:
    """The mean Hole@10 of systems over the datasets of an order, where runs have one."""
    if of.kind != COMPUTED or of.measure == figures.HOLES:
        return None
    rows = read(leaderboard_select.holes)
    own = rows[rows["dataset"].isin(ground.datasets) & rows["system"].isin(ground.systems)]
    found = own.groupby("system")["hole"].mean()
    return dict(zip(found.index, found, strict=True))


def _drawn(file: DataFrame, order: DataFrame, systems: Sequence[str]) -> DataFrame:
    """The table with a column of intervals that are drawn, if there are some."""
    pictures = figures.pictures(order, systems, colours.theme())
    if not any(pictures):
        return file
    shown = file.copy()
    shown.insert(list(file.columns).index("Mean") + 1, figures.PICTURE, pictures)
    return shown


def scores(of: Numbers, board: Board, shown: DataFrame, baseline: str) -> Scores:
    """What of the table is compared in print; marked is what is better than the baseline,
    significantly.

    Scores of systems that were trained on a dataset take no part, as on the page.
    """
    heads = figures.headings(board)
    systems = shown["system"]
    usable = board.cells.pivot(index="system", columns="dataset", values="usable")
    # On MS MARCO, which nearly every system was trained on, nothing is best.
    compared = board.cells.groupby("dataset")["best"].any()
    ranked = {
        head: usable[name].reindex(systems).eq(True) & compared[name]
        for name, head in heads.items()
    }
    ranked["Mean"] = shown["Mean"].notna().set_axis(systems)
    tested = later(select_marks.against, **tested_by(board, baseline))

    def marked() -> DataFrame | None:
        sides = tested().pivot(index="system", columns="dataset", values="side")
        table = sides.reindex(index=systems, columns=list(heads)).eq(board.sign)
        return table.rename(columns=heads).assign(Mean=False)

    title = short_titles(board.systems).get(baseline, baseline)
    note = (
        f"† significantly better than {title} (randomisation test or its normal approximation,"
        " Holm over systems, p < .05)."
    )
    columns = [name for name in ("Mean", *heads.values()) if shown[name].notna().any()]
    frame = DataFrame(ranked, index=systems).reset_index(drop=True)
    return Scores(columns, board.sign, frame, marked if is_tested(of) else None, note)


def is_tested(of: Numbers) -> bool:
    """Whether there are scores by query of these numbers, over the same queries as the means."""
    return of.kind == COMPUTED and not of.returned


def tested_by(board: Board, baseline: str) -> dict[str, Any]:
    """What `select_marks.against` is asked: all systems, for what a correction is for does not
    depend on what is picked."""
    names, datasets = board.systems["system"].tolist(), board.datasets["dataset"].tolist()
    return {"measure": board.measure, "datasets": datasets, "systems": names, "baseline": baseline}


def _columns(numbers: Sequence[str], longest: int) -> dict[str, Any]:
    """How the table's columns look, and what those of the order say of themselves.

    `longest`: letters of the longest name of a system.
    """
    told = {"First in": f"share of resamples in which the system is first. {FIRST}"}
    told |= {"Group": "by the test of all pairs: systems that share a letter cannot be told apart"}
    styles = {name: st.column_config.NumberColumn(format="%.3f") for name in numbers}
    styles |= {name: st.column_config.TextColumn(help=words) for name, words in told.items()}
    words = "mean share of the top 10 that nobody judged"
    styles[figures.HOLES] = st.column_config.NumberColumn(format="%.3f", help=words)
    words = "95% interval, the dot is the mean"
    styles[figures.PICTURE] = st.column_config.ImageColumn(width=figures.WIDTH, help=words)
    # A pinned column that is wider would leave nothing of the others on a phone.
    width = min(24 + 7 * longest, 180)
    return styles | {"System": st.column_config.TextColumn(pinned=True, width=width)}


def _open(by_title: Mapping[str, str], systems: Sequence[str]) -> None:
    picked = st.session_state["board"]["selection"]["cells"]
    if picked and (dataset := by_title.get(picked[0][1])):
        cell = {"dataset": dataset, "system": systems[picked[0][0]]}
        st.query_params.update(cell)
        st.session_state["_open"] = cell


def section(of: Numbers, board: Board, picked: Sequence[str]) -> Ground | None:
    """How sure the order is, on all datasets or on one; which it is about, if any.

    All systems of the board are compared with each other, of which the picked ones are shown.
    """
    found = order_confidence.grounds(board)
    if not found:
        return None
    st.header("How sure is this order?", anchor=False)
    address.known("over", found, "dataset with two systems")
    titles = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    over = pick("Order by", list(found), "over", width=240, titles=titles)
    ground = found[over]
    if of.kind == PUBLISHED and over != ALL:
        drawing.caption("In print there are no scores by query: of one dataset nothing is known.")
        return ground
    try:
        order = ranking(of, board, ground)
    except WrongInput as error:
        st.info(escaping.text(str(error)))
        return ground
    _figure(of, board, ground, order, picked)
    return ground


def _figure(
    of: Numbers, board: Board, ground: Ground, order: DataFrame, picked: Sequence[str]
) -> None:
    titles = short_titles(board.systems)
    if said := order_confidence.verdict(order, titles):
        st.markdown(escaping.text(f"{said} {_found(of, ground, order)}".strip()))
    shown = order[order["system"].isin(picked)].reset_index(drop=True)
    if shown.empty:
        drawing.caption("None of the picked systems takes part in this order.")
        return
    figure = figures.intervals(shown, titles, of.measure, colours.theme())
    n = len(ground.datasets)
    over = f", over {n} datasets" if n > 1 else ""
    drawing.plot(figure, "order", f"Means of {of.measure} with intervals and groups{over}")
    more = len(shown) - figures.MOST_ROWS
    drawing.caption(
        f"{len(shown)} of {len(order)} systems shown; ranks are among all."
        * (len(shown) < len(order)),
        f"{more} more systems stand in the view Table." * (more > 0),
        *order_confidence.caption(order, board, ground),
        _without_bars(shown),
        _over_all(of),
    )


def _found(of: Numbers, ground: Ground, order: DataFrame) -> str:
    """Which lead of the first would have been found; said of one dataset, over its queries."""
    alike = order_confidence.like_first(order)
    if not alike or len(ground.datasets) > 1 or order["drawn"].iloc[0] != QUERIES:
        return ""
    asked: dict[str, Any] = {"datasets": ground.datasets, "systems": ground.systems}
    pairs = read(standings.among_all, measure=of.measure, **asked)
    first = order["system"].iloc[0]
    return power.leads([power.of_pair(standings.pair(pairs, first, one)) for one in alike])


def _over_all(of: Numbers) -> str:
    """What an order's means are over, where the board's own are over fewer queries."""
    over_fewer = of.returned and of.kind != PUBLISHED
    return " These means are over all judged queries." if over_fewer else ""


def _without_bars(order: DataFrame) -> str:
    """What there is instead where groups are too many for bars."""
    several = any(
        len(places) > 1 for places in order_confidence.members(order["group"].tolist()).values()
    )
    if not several or figures.groups_drawn(order):
        return ""
    return "The groups are too many for bars: their letters stand in the view Table."
