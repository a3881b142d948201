"""The Leaderboard page: which system is best, and on which datasets?"""

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
from compute.views.leaderboard.cells import COMPUTED, DIFFERENCE, PUBLISHED
from compute.views.leaderboard.controls import OF, TABLE, View, controls, in_common
from compute.views.leaderboard.heatmap import (
    MOST_WITH_NUMBERS,
    heatmap,
    legend,
    marks_note,
    unmarked,
)
from compute.views.leaderboard.wins import nothing_to_compare, strip
from compute.views.page import (
    Ask,
    Asked,
    Button,
    Figure,
    Link,
    Message,
    Note,
    Section,
    Step,
    Steps,
    Text,
    folded,
    offers,
)

UNTESTED = (
    "Per-query scores are not published, so differences on single datasets cannot be tested."
    " To test stored runs, choose Computed under Scores."
)
TRAINED = " All datasets count: the table does not say on which of them systems were trained."


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    # An address may have the key `over` even if no scores allow a ranking.
    yield Asked("over")
    view: View | None = yield from controls(ask)
    if view is None:
        return
    gaps = view.of.kind == DIFFERENCE
    is_published = view.of.kind == PUBLISHED
    if is_published and offers.has_own(ask):
        own = Link(names={"numbers": COMPUTED, "group": "own"})
        yield Button("Show the scores of your own runs", own, icon="person")
    if view.shape == TABLE and not gaps:
        yield Section(partial(order_page.table, view), holds=["board"])
    else:
        yield Section(partial(_heat, view), holds=["cells"])
    if not gaps:
        ground = yield from order_page.section(view)
        if len(view.board.datasets) > 1:
            yield folded(partial(_wins, view), ["wins"], "Wins and losses")
            head = "Does the ranking depend on how datasets are averaged?"
            yield folded(partial(_aggregates, view), ["aggregates"], head)
        yield from beside_page.section(view, ground)
    if not view.ask.kind:  # Published scores cover all queries.
        checked = partial(beside_page.against_print, view)
        yield folded(checked, ["ours-published"], "Reproduction check")
    if not gaps:
        yield from beside_papers.sections(view)
    if is_published and not offers.has_own(ask):
        yield Button("Add your own runs", Link("data", {"show": "Import"}))


def _heat(view: View) -> Steps:
    """Yield the heatmap of datasets and picked systems, and the text below it."""
    board, of, shown = view.board, view.of, view.picked[:MOST_WITH_NUMBERS]
    difference = of.kind == DIFFERENCE
    colour = DIFFERENCE if difference else view.colour
    marks = view.ask(select_marks.against, **view.tests) if of.tested else None
    yield Note([leaderboard.hidden(board, shown)])
    look: dict[str, Any] = {"colour_by": colour, "baseline": view.baseline, "shown": shown}
    look["chosen"] = (yield Asked("dataset")), (yield Asked("system"))
    drawn = partial(heatmap, board, marks=marks, **look)
    yield Figure(
        "cells",
        f"{board.measure} by system and dataset",
        drawn,
        partial(legend, board, colour, view.baseline, shown, marks),
        opens=view.run,
        of=("baseline", *OF),
        main=True,
        finding="" if difference else leaderboard.finding(board),
        table=partial(order_page.paper, view),
    )
    shared = in_common(len(board.systems), view.printed) if difference else ""
    facts = [*leaderboard.caption(board, view.origin, shown), shared]
    if marks is not None:
        title = view.titles.get(view.baseline, view.baseline)
        facts += [*marks_note(marks, title), unmarked(board, view.baseline)]
    facts.insert(1, UNTESTED * (of.kind == PUBLISHED) + TRAINED * of.imported)
    yield Note(facts)


def _aggregates(view: View) -> Iterator[Step]:
    """Yield ranks by several averages, if there are enough datasets and systems."""
    rows, board = aggregates.orders(view.board), view.board
    if rows.empty:
        yield Message(
            f"Averages need {aggregates.FEWEST} systems that share at least"
            f" {aggregates.FEWEST} datasets."
        )
        return
    shown, n = rows[rows["system"].isin(view.picked)], len(board.averaged)
    verdict = aggregates.verdict(rows, view.titles)
    if (shown["way"] == aggregates.MEAN).any():
        title = f"Ranks by {board.measure} over {n} datasets, by several averages"
        drawn = partial(aggregates.matrix, shown, view.titles)
        yield Figure("aggregates", title, drawn, of=OF, finding=verdict)
    else:
        yield Text(verdict)
    yield Note([*aggregates.HOW_TO_READ, *aggregates.notes(rows, view.titles)])


def _wins(view: View) -> Iterator[Step]:
    """Yield wins and losses of the picked systems against the baseline, or why there are none."""
    board, baseline = view.board, view.baseline
    if missing := nothing_to_compare(board, baseline, view.picked):
        yield Message(missing)
        return
    titles = dict(zip(board.systems["system"], board.systems["title"], strict=True))
    drawn = partial(strip, board, baseline, shown=view.picked)
    said = "Blue: better than the baseline; orange: worse."
    yield Figure(
        "wins", f"Wins and losses against {titles[baseline]}", drawn, said, of=("baseline", *OF)
    )
