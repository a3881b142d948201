"""Comparison with another leaderboard, and of computed with published scores."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.base.words import counted
from compute.datasets import DATASETS, published
from compute.evaluate.measures import better
from compute.judgements import SOURCES
from compute.views.annotate import select_added
from compute.views.leaderboard import cells, rank_correlation, reproduction, select
from compute.views.leaderboard.bump import MOST_NAMED, bump
from compute.views.leaderboard.cells import COMPUTED, PUBLISHED
from compute.views.leaderboard.controls import OF, Filter, View, computed
from compute.views.leaderboard.order_confidence import Ground
from compute.views.page import (
    Ask,
    Choice,
    Figure,
    Message,
    Note,
    Step,
    Steps,
    Table,
    Text,
    folded,
)

OFFICIAL, ADDED = "Official judgements", "Official + added judgements"
HERE = "Computed here"
ALL_QUERIES = "All queries"
MOST_ROWS = 12
_COLOURS = "Blue: ranked higher on the right; orange: lower."
_ALL = "Systems that are not shown above are included."


class Other(NamedTuple):
    """Another leaderboard, by the source of its scores."""

    kind: str
    source: str
    measure: str
    added: bool | None = None
    whole: bool = False
    """True to cover all queries although this leaderboard covers only one query group."""


def section(view: View, ground: Ground | None) -> Steps:
    """Yield a section that compares this ranking with another leaderboard, over all systems, picked
    or not; nothing if there are too few systems or no other leaderboard."""
    if ground is None or len(ground.systems) < rank_correlation.FEWEST_SYSTEMS:
        return
    others = _others(view, ground)
    if not others:
        return
    inside, head = partial(_chosen, view, ground, others), "Rank agreement with another leaderboard"
    yield folded(inside, ["bump"], head, ["beside"])


def _chosen(view: View, ground: Ground, others: Mapping[str, Other]) -> Steps:
    noun = "leaderboard to compare with"
    beside = yield Choice("beside", "Compare with", list(others), noun=noun, width=300)
    yield from _compared(view, ground, others[beside], beside)


def _compared(view: View, ground: Ground, other: Other, beside: str) -> Iterator[Step]:
    board, of = view.board, view.of
    own = board.cells[board.cells["dataset"].isin(ground.datasets)]
    own = own[own["system"].isin(ground.systems)]
    sign = board.sign, better(other.measure)
    theirs = _cells(view.ask, other, of.filter)
    rows = rank_correlation.side_by_side(own, theirs, sign)
    left, right = (
        dict(zip(rows["system"], one * rows[side], strict=True))
        for side, one in zip(("left", "right"), sign, strict=True)
    )
    found = rank_correlation.agreement(left, right)
    if found is None:
        yield Note(
            ["Fewer than three systems have scores on datasets that both leaderboards share."]
        )
        return
    shared = _where(view, ground, int(rows["n_datasets"].iloc[0]))
    facts = [*_agreement(found, shared, beside), _ALL * (len(view.picked) < len(board.systems))]
    moving = int((rows["left_rank"] != rows["right_rank"]).sum())
    # For one dataset, or if no rank differs, a sentence says as much as a figure.
    if len(board.datasets) == 1 or not moving:
        yield Note([_moving(moving), *facts])
        return
    judged = "official + added" if view.ask.choice else "computed"
    names = of.measure if of.kind == PUBLISHED else f"{of.measure}, {judged}", beside
    drawn = partial(bump, rows.assign(title=rows["system"].map(view.titles)), names)
    look: dict[str, Any] = {"of": ("over", "beside", *OF), "finding": facts[0]}
    yield Figure("bump", f"Ranks by {names[0]} and by {beside}", drawn, _COLOURS, **look)
    moved = (f"The {MOST_NAMED} systems that move furthest are named.") * (len(rows) > MOST_NAMED)
    yield Note([*facts[1:], moved])


def _moving(number: int) -> str:
    if not number:
        return "All systems have the same rank on both leaderboards."
    return f"{counted(number, 'system')} {'has' if number == 1 else 'have'} a different rank there."


def _where(view: View, ground: Ground, n_datasets: int) -> str:
    """Say which datasets the compared scores cover; a single dataset is named."""
    if len(ground.datasets) > 1:
        return f"means over the {counted(n_datasets, 'shared dataset')}"
    datasets = view.board.datasets
    return f"on {datasets.set_index('dataset')['title'][ground.datasets[0]]}"


def _agreement(found: rank_correlation.Agreement, where: str, beside: str) -> list[str]:
    return [
        f"Kendall's τ = {_plain(found.tau)} over {found.n} systems, {where}.",
        "1: same order; −1: reversed; 0: no association.",
        f"τ-AP (top-weighted): {_plain(found.tau_ap)} with this leaderboard as the reference,"
        f" {_plain(found.tau_ap_back)} with {beside}; mean {_plain(found.tau_ap_mean)}.",
    ]


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if value == value else "–"


def _has_added(ask: Ask, datasets: Sequence[str]) -> bool:
    """Return true if these datasets have added judgements; if not, both leaderboards are equal."""
    if len(ask(select_added.counted, sources=list(SOURCES), added=False)) <= 1:
        return False
    parts = [DATASETS[name].parts for name in datasets if name in DATASETS]
    return any(
        ask(select_added.number, dataset=name, added=False)["n_rows"].iloc[0]
        for name in (*datasets, *chain(*parts))
    )


def _others(view: View, ground: Ground) -> dict[str, Other]:
    """Return the leaderboards to compare with, by their label in the picker."""
    ask, of, found = view.ask, view.of, {}
    tables, stored = ask(select.published_tables), list(ask(select.measures)["measure"])
    if of.kind == COMPUTED:
        names = [name for name in cells.in_order(stored) if name != of.measure]
        found |= {name: Other(COMPUTED, "", name) for name in names}
        if _has_added(ask, ground.datasets):
            word = OFFICIAL if ask.choice else ADDED
            found = {word: Other(COMPUTED, "", of.measure, not ask.choice)} | found
    if ask.kind:
        # Published scores cover all queries, not a query group.
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


def _cells(ask: Ask, other: Other, of: Filter) -> DataFrame:
    """Return the cells of the other leaderboard; computed means cover the same queries as this
    one's, unless it is of all queries."""
    if other.kind == PUBLISHED:
        figures = ask(select.published, source=other.source, measure=other.measure)
        return cells.by_language(cells.printed(figures))
    asked = ask.whole() if other.whole else ask
    return computed(asked, other.measure, of, other.added)


def against_print(view: View) -> Iterator[Step]:
    """Yield a table of every score here that a paper also reports."""
    ask, of = view.ask, view.of
    printed = ask(select.printed_of, measure=of.measure)
    if of.kind != COMPUTED:
        printed = printed[printed["source"] == of.source]
    found = reproduction.table(view.ours, printed, published.reasons())
    if found.empty:
        yield Message("None of the scores computed here has been published.")
        return
    yield Text(f"{of.measure}: {reproduction.verdict_counts(found)}.")
    # Narrow cells would truncate long texts; a wide table scrolls.
    width = 24 + 7 * int(found["reason"].str.len().max())
    yield Table(
        "ours-published",
        f"Computed and published {of.measure}",
        reproduction.titled(found, view.named),
        reproduction.columns(found, width),
        height=38 + 35 * min(len(found), MOST_ROWS),
        of=OF,
        source="stored runs and the named tables",
    )
    yield Note(
        [
            "Blue: rounds to the published value. Orange: differs; see the likely reason.",
            "Difference: computed − published.",
            "Computed over returned queries only." * of.filter.returned,
            "Computed with added judgements, which the papers did not have." * bool(ask.choice),
        ]
    )
