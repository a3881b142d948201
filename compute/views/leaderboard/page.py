"""The page Leaderboard: which system is best, on what?"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from compute.views.leaderboard import (
    aggregates,
    beside_page,
    beside_papers,
    order_page,
    select_marks,
)
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard.cells import DIFFERENCE, PUBLISHED
from compute.views.leaderboard.controls import OF, TABLE, View, controls, has_own, in_common
from compute.views.leaderboard.heatmap import MOST_WITH_NUMBERS, heatmap, marks_note, note, unmarked
from compute.views.leaderboard.wins import nothing_to_compare, strip
from compute.views.page import (
    Ask,
    Asked,
    Button,
    Figure,
    Heading,
    Link,
    Note,
    Section,
    Step,
    Steps,
    Text,
)

UNTESTED = "The papers print no scores by query, so single datasets cannot be tested."


def page(ask: Ask) -> Steps:
    """Controls and parts, in the order of the screen."""
    view: View | None = yield from controls(ask)
    if view is None:
        return
    gaps = view.of.kind == DIFFERENCE
    if view.shape == TABLE and not gaps:
        yield Section(partial(order_page.table, view), holds=["board"])
    else:
        yield Section(partial(_heat, view), holds=["cells"])
    if not gaps:
        ground = yield from order_page.section(view)
        yield Section(partial(_aggregates, view), holds=["aggregates"])
        yield Section(partial(_wins, view), holds=["wins"])
        yield from beside_page.section(view, ground)
    yield Section(partial(beside_page.against_print, view), holds=["ours-published"])
    if not gaps:
        yield from beside_papers.sections(view)


def _heat(view: View) -> Steps:
    """The heatmap of datasets and picked systems, and what stands under it."""
    board, of, shown = view.board, view.of, view.picked[:MOST_WITH_NUMBERS]
    difference = of.kind == DIFFERENCE
    colour = DIFFERENCE if difference else view.colour
    marks = view.ask(select_marks.against, **view.tests) if of.tested else None
    yield Note([leaderboard.hidden(board, shown)])
    look: dict[str, Any] = {"colour_by": colour, "baseline": view.baseline, "shown": shown}
    look["chosen"] = (yield Asked("dataset")), (yield Asked("system"))
    said = note(board, colour, view.baseline)
    drawn = partial(heatmap, board, marks=marks, **look)
    title = f"{board.measure} of systems on datasets"
    yield Figure("cells", title, drawn, said, opens=view.run, of=("baseline", *OF), main=True)
    shared = in_common(len(board.systems), view.printed) if difference else ""
    yield Note([*leaderboard.caption(board, view.origin, shown), shared], of_matrix=said)
    if marks is not None:
        title = view.titles.get(view.baseline, view.baseline)
        yield Note([*marks_note(marks, title), unmarked(board, view.baseline)])
    if of.kind == PUBLISHED:
        yield Note([UNTESTED])
    if not has_own(view.ask):
        yield Button("Put runs of your own beside these", Link("data", {"show": "Import"}))


def _aggregates(view: View) -> Iterator[Step]:
    """Ranks by several ways of averaging; nothing where there are few datasets or systems."""
    rows, board = aggregates.orders(view.board), view.board
    if rows.empty:
        return
    yield Heading("Does the order depend on how datasets are averaged?")
    yield Text(aggregates.verdict(rows, view.titles))
    shown, n = rows[rows["system"].isin(view.picked)], len(board.averaged)
    if (shown["way"] == aggregates.MEAN).any():
        title = f"Ranks by {board.measure} over {n} datasets, averaged in many ways"
        yield Figure("aggregates", title, partial(aggregates.matrix, shown, view.titles), of=OF)
    over = (
        f"Over {n} datasets; in brackets the ranks in 95% of 1,000 draws of as many datasets with"
        " replacement."
    )
    yield Note([over, *aggregates.notes(rows, view.titles)], how=aggregates.HOW_TO_READ)


def _wins(view: View) -> Iterator[Step]:
    """Wins and losses of the picked against the baseline over several datasets, or why there are
    none; of one dataset the heatmap says as much."""
    board, baseline = view.board, view.baseline
    if len(board.datasets) == 1:
        return
    if missing := nothing_to_compare(board, baseline, view.picked):
        yield Note([missing])
        return
    yield Heading("Wins and losses")
    titles = dict(zip(board.systems["system"], board.systems["title"], strict=True))
    drawn = partial(strip, board, baseline, shown=view.picked)
    said = "Blue: better than the baseline; orange: worse."
    yield Figure(
        "wins", f"Wins and losses against {titles[baseline]}", drawn, said, of=("baseline", *OF)
    )
