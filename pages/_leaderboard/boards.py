"""The Leaderboard beside another one: the same systems in another order; ours against print."""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import chain
from typing import NamedTuple

import streamlit as st
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.datasets import DATASETS, published
from compute.evaluate.measures import better
from compute.judgements import SOURCES
from compute.views.annotate import select_added
from compute.views.leaderboard import cells, rank_correlation, reproduction
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.board import Board, short_titles
from compute.views.leaderboard.bump import MOST_NAMED, bump
from compute.views.leaderboard.cells import COMPUTED, PUBLISHED
from compute.views.leaderboard.order_confidence import Ground
from pages._leaderboard.order import Numbers
from pages._shared import address, colours, drawing, reading
from pages._shared.pickers import pick
from pages._shared.reading import read

OFFICIAL, ADDED = "Official judgements", "Official + added judgements"
HERE = "Computed here"
ALL_QUERIES = "All queries"
JUDGED_TOO = "official + added"
MOST_ROWS = 12


class Other(NamedTuple):
    """Another board: where its numbers come from."""

    kind: str
    source: str
    measure: str
    added: bool | None = None
    whole: bool = False
    """Of all queries, where this board is of one kind of them."""


def section(of: Numbers, board: Board, ground: Ground | None, picked: Sequence[str]) -> None:
    """This board's order beside that of another, over all systems, `picked` or not."""
    if ground is None or len(ground.systems) < rank_correlation.FEWEST_SYSTEMS:
        return
    others = _others(of, ground)
    if not others:
        return
    st.header("Leaderboards compared", anchor=False)
    address.known("beside", others, "leaderboard to compare with")
    beside = pick("Beside", list(others), "beside", width=300)
    other = others[beside]
    own = board.cells[board.cells["dataset"].isin(ground.datasets)]
    own = own[own["system"].isin(ground.systems)]
    sign = board.sign, better(other.measure)
    rows = rank_correlation.side_by_side(own, _cells(other, returned=of.returned), sign)
    left, right = (
        dict(zip(rows["system"], sign[0] * rows["left"], strict=True)),
        dict(zip(rows["system"], sign[1] * rows["right"], strict=True)),
    )
    found = rank_correlation.agreement(left, right)
    if found is None:
        drawing.caption("Fewer than three systems have sound figures on the same datasets of both.")
        return
    shared = _where(board, ground, int(rows["n_datasets"].iloc[0]))
    said = [*_agreement(found, shared, beside), _ALL * (len(picked) < len(board.systems))]
    moving = int((rows["left_rank"] != rows["right_rank"]).sum())
    # Of one dataset, or of ranks that stay, a figure says no more than a line.
    if len(board.datasets) == 1 or not moving:
        drawing.caption(_moving(moving), *said)
        return
    this = of.measure if of.kind == PUBLISHED else f"{of.measure}, {_judged()}"
    _figure(rows.assign(title=rows["system"].map(short_titles(board.systems))), this, beside, said)


def _figure(rows: DataFrame, this: str, beside: str, said: list[str]) -> None:
    figure = bump(rows, (this, beside), colours.theme())
    drawing.plot(figure, "bump", f"Ranks by {this} and by {beside}", _COLOURS)
    moved = f"Named are the {MOST_NAMED} that move furthest." * (len(rows) > MOST_NAMED)
    drawing.caption(*said, _LINES, moved)


def _moving(number: int) -> str:
    if not number:
        return "All systems have the same rank on both boards."
    return f"{counted(number, 'system')} {'has' if number == 1 else 'have'} another rank there."


def _where(board: Board, ground: Ground, n_datasets: int) -> str:
    """What the compared figures are of: the dataset by its name where the order is of one."""
    if len(ground.datasets) > 1:
        return f"averages over {counted(n_datasets, 'dataset')} that both boards have"
    titles = dict(zip(board.datasets["dataset"], board.datasets["title"], strict=True))
    return f"on {titles[ground.datasets[0]]}"


def _agreement(found: rank_correlation.Agreement, where: str, beside: str) -> list[str]:
    return [
        f"{found.n} systems, {where}.",
        f"Kendall's τ = {_plain(found.tau)}.",
        f"τ-AP, in which the top counts more: {_plain(found.tau_ap)} with this board as the"
        f" reference, {_plain(found.tau_ap_back)} with {beside}; mean {_plain(found.tau_ap_mean)}.",
        "τ is 1 for the same order, −1 for the reverse; 0 is chance.",
    ]


_COLOURS = "Blue: ranked higher at the right; orange: lower."
_LINES = (
    "How to read this: a line joins a system's rank on both boards, blue where it rises, orange"
    " where it falls."
)


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if value == value else "–"


def _judged() -> str:
    return JUDGED_TOO if st.session_state.get("_choice") else "computed"


_ALL = "All are compared, those too that are not shown above."


def _has_added(ground: Ground) -> bool:
    """Whether judgements were added of what is compared: else both boards are the same."""
    if len(read(select_added.counted, sources=list(SOURCES), added=False)) <= 1:
        return False
    parts = [DATASETS[name].parts for name in ground.datasets if name in DATASETS]
    return any(
        read(select_added.number, dataset=name, added=False)["n_rows"].iloc[0]
        for name in (*ground.datasets, *chain(*parts))
    )


def _others(of: Numbers, ground: Ground) -> dict[str, Other]:
    """What the board can stand beside, by the words in the picker."""
    tables = read(leaderboard_select.published_tables)
    stored = list(read(leaderboard_select.measures)["measure"])
    found: dict[str, Other] = {}
    if of.kind == COMPUTED:
        names = [name for name in cells.in_order(stored) if name != of.measure]
        found |= {name: Other(COMPUTED, "", name) for name in names}
        if _has_added(ground):
            switched = st.session_state.get("_choice") is not None
            word = OFFICIAL if switched else ADDED
            found = {word: Other(COMPUTED, "", of.measure, not switched)} | found
    if reading.kind():
        # In print all queries count.
        return {ALL_QUERIES: Other(COMPUTED, "", of.measure, whole=True)} | found
    paper = of.source.partition(",")[0]
    order = cells.in_order(set(tables["measure"]) - {of.measure})
    for measure in (*order, of.measure):
        for source in tables.loc[tables["measure"] == measure, "source"]:
            own = of.kind == PUBLISHED and source.startswith(paper)
            same = of.kind == PUBLISHED and (source, measure) == (of.source, of.measure)
            if (own or measure == of.measure) and not same:
                found[f"{source}: {measure}"] = Other(PUBLISHED, source, measure)
    if of.kind == PUBLISHED and of.measure in stored:
        found[HERE] = Other(COMPUTED, "", of.measure)
    return found


def _cells(other: Other, *, returned: bool) -> DataFrame:
    """Its cells; means computed here are over the same queries as this board's."""
    if other.kind == PUBLISHED:
        figures = read(leaderboard_select.published, source=other.source, measure=other.measure)
        return cells.by_language(cells.printed(figures))
    with reading.whole() if other.whole else nullcontext():
        means = read(leaderboard_select.means, measure=other.measure, added=other.added)
    trained, holes = read(leaderboard_select.trained_pairs), read(leaderboard_select.holes)
    return cells.computed(means, holes, trained, "value_returned" if returned else "value")


def _width(sentences: Series) -> int:
    """Pixels for the longest: a cell cuts what has no room, a wide table scrolls."""
    return 24 + 7 * int(sentences.str.len().max())


def against_print(ours: DataFrame, of: Numbers, named: tuple[DataFrame, DataFrame]) -> None:
    """Every score here that a paper prints, too; `named`: titles of datasets and of systems.

    In print all queries count: nothing where the page is of one kind of them.
    """
    if reading.kind():
        return
    printed = read(leaderboard_select.printed_of, measure=of.measure)
    if of.kind != COMPUTED:
        printed = printed[printed["source"] == of.source]
    found = reproduction.table(ours, printed, published.reasons())
    if found.empty:
        return
    st.header("Computed against published", anchor=False)
    shown = reproduction.styled(found, named, colours.theme())
    drawing.table(
        shown,
        "ours-published",
        f"Computed against published: {of.measure}",
        column_config={"Likely reason": st.column_config.Column(width=_width(found["reason"]))},
        **drawing.height(len(found), MOST_ROWS),
    )
    drawing.caption(
        f"{of.measure}: {reproduction.verdict_counts(found)}.",
        "Computed with added judgements, which no paper had." * (_judged() == JUDGED_TOO),
        "How to read this: trust what is blue, it rounds to the printed digits; doubt what is"
        " orange until its reason convinces you. The difference is computed minus published"
        + (", here over the returned queries only." if of.returned else "."),
    )
