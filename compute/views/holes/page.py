"""The Holes page: how many documents are unjudged, and could they flip the ranking?"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.base.words import counted
from compute.datasets import published
from compute.evaluate.holes.bounds import GAINS
from compute.evaluate.measures import parse
from compute.evaluate.scored_measures import at_level
from compute.views.dataset import select as dataset_select
from compute.views.holes import (
    audits,
    estimates_page,
    intervals,
    judged_page,
    order_flips,
    pools,
    select,
    select_unjudged,
)
from compute.views.holes.view import MOST_HITS, OF, View, titled
from compute.views.page import (
    Ask,
    Beside,
    Button,
    Choice,
    Figure,
    Link,
    Message,
    Note,
    Row,
    Section,
    Step,
    Steps,
    Text,
    Widget,
    folded,
    offers,
)
from compute.views.shared import catalogue

_FIRST = tuple(f"{name}@{k}" for k in (10, 5, 20) for name in ("nDCG", "P", "R"))
MEASURES = (*_FIRST, *(f"{name}@10" for name in GAINS if f"{name}@10" not in _FIRST))
"""Measures whose ranges can be computed."""
PRINTED = "trec-covid"
"""The dataset that has published scores before and after added judgements."""
_OF_ALL = (
    "Estimates from samples, agreement and judgement sets cover all queries: they are not shown for"
    " a query group."
)


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    runs = ask(catalogue.runs)
    if runs.empty:
        yield Message(offers.NO_LISTS)
        return
    view: View = yield Row(partial(_controls, ask, runs))
    if not view.has_added and offers.is_unjudged(ask, view.dataset):
        yield from offers.unjudged(view.dataset)
        return
    yield from offers.first_runs(ask, [view.dataset], view.systems)
    sampled = estimates_page.tasks_of(ask, view.dataset) if view.whole else {}
    if view.whole:
        yield Section(partial(judged_page.way, view))
    yield Section(partial(_scores, view), ("intervals", "bounds"))
    every = set(runs.loc[runs["dataset"] == view.dataset, "system"]) == {*view.systems}
    some = {} if every else {"systems": view.systems}
    task = Link("annotate", {"view": "new", "dataset": view.dataset, **some})
    yield Button("Create a judging task", task, icon="arrow_forward")
    if sampled:
        yield estimates_page.section(ask, sampled)
    if view.whole and (known := audits.tasks_of(ask, view.dataset)):
        yield audits.section(ask, known)
    yield from _sections(view, sampled=bool(sampled))


def _sections(view: View, *, sampled: bool) -> Iterator[Step]:
    """Yield the sections below the scores, of which the first with content is open."""
    several = len(view.systems) > 1
    if several:
        head, shut = "Could the ranking change?", sampled or view.has_added
        yield Section(partial(_orders, view), ("orders",), head, folded=shut)
    in_print = view.dataset == PRINTED
    head, shut = "Effect of added judgements", sampled or not (view.has_added or in_print)
    keys = ("before-after", "published-effect") if in_print else ("before-after",)
    yield Section(partial(_added, view), keys, head, folded=shut)
    if not in_print:
        head = "Published: TREC-COVID before and after 980 added judgements"
        yield folded(partial(_published, view.ask), ("published-effect",), head)
    yield folded(partial(_ranks, view), ("ranks",), "Unjudged rate by rank")
    if view.whole:
        yield from judged_page.sections(view)
    else:
        yield Note([_OF_ALL])
    if several:
        keys = ("left_out", "left-out-table")
        yield folded(partial(_left_out, view), keys, "Pool bias: leave one system out")
    if view.has_added:
        head = "Score change from added judgements"
        yield folded(partial(_gains, view), ("pool-gains",), head)


def _controls(ask: Ask, runs: DataFrame) -> Steps:
    name = yield offers.dataset_with_lists(ask, runs, 260)
    noun = "measure with an interval"
    look: dict[str, Any] = {"noun": noun, "width": 140, "recalls": (names := measures(ask))}
    measure = yield Choice("measure", "Measure", names, **look)
    known = list(runs.loc[runs["dataset"] == name, "system"])
    systems = yield from offers.systems(ask, known, f"run on {name}", [name])
    title = offers.dataset_titles(ask).get(name, name)
    ask = yield from offers.query_group(ask, [name], title)
    return View(ask, name, measure, systems)


def measures(ask: Ask) -> list[str]:
    """Return MEASURES, and their variants for each relevance level of the stored scores."""
    levels = sorted({parse(name).rel or 1 for name in ask.measures()})
    return [*MEASURES, *(name for level in levels for name in at_level(MEASURES, level))]


def _scores(view: View) -> Iterator[Step]:
    """Yield each score with its possible ranges."""
    rows, measure = view.rows, view.measure
    (recorded,) = view.ask(select.recorded, dataset=view.dataset).to_dict("records")
    figure = partial(intervals.score_intervals, rows, measure)
    said = intervals.verdict(rows, measure)
    yield Figure("intervals", f"{measure} and its possible range", figure, of=OF, finding=said)
    waiting = None
    if "condensed" not in rows and not recorded["n_added"]:
        waiting = view.recorded
    (about,) = view.ask(select_unjudged.ranges, dataset=view.dataset).to_dict("records")
    yield intervals.intervals_note(rows, measure, recorded, about)
    yield intervals.last_note(rows, recorded, waiting)
    yield folded(partial(_bounds, view), ("bounds",), "Possible scores as a table")


def _bounds(view: View) -> Iterator[Step]:
    yield intervals.interval_table(view.rows, view.measure)


def _orders(view: View) -> Iterator[Step]:
    """Yield the pairs of systems whose order could flip, by range."""
    rows, measure = view.rows, view.measure
    shown = rows.head(order_flips.most_paired(measure, int(rows["n_queries"].max())))
    asked = view.asked | {"systems": shown["system"].tolist()}
    pairs = view.ask(select.pairs, most_hits=MOST_HITS, **asked)
    if said := order_flips.none_holds(pairs):
        yield Text(said)
        return
    title = f"Pairs of systems whose order by {measure} could flip"
    drawn = partial(order_flips.order_matrix, shown, pairs, measure)
    said, legend = order_flips.turned(pairs), partial(order_flips.legend, pairs)
    yield Figure("orders", title, drawn, legend, of=OF, finding=said)
    yield order_flips.orders_note(pairs, measure, n_left_out=len(rows) - len(shown))


def _ranks(view: View) -> Iterator[Step]:
    """Yield the unjudged rate by rank."""
    k, systems = int(view.measure.partition("@")[2]), view.rows["system"].tolist()
    counts = view.ask(select.by_rank, dataset=view.dataset, systems=systems, k=k)
    yield Figure(
        "ranks",
        "Unjudged rate by system and rank",
        partial(intervals.rank_heatmap, view.rows, counts),
        "% of queries whose document at this rank is unjudged. Darker: more.",
        of=("dataset", "systems"),
    )


def _added(view: View) -> Iterator[Step]:
    """Yield the effect of added judgements, and for PRINTED also the published effect."""
    if view.dataset != PRINTED:
        yield from _before_and_after(view)
        return
    here, in_print = partial(_before_and_after, view), partial(_published, view.ask)
    yield Beside([here, in_print], widths=(705, 550), gap="medium")


def _before_and_after(view: View) -> Iterator[Step]:
    yield from _moved(view) if view.has_added else [Message(_nothing_added(view))]
    yield Widget("added", {"dataset": view.dataset})


def _moved(view: View) -> Iterator[Step]:
    before, after = view.bounds(added=False), view.bounds(added=True)
    if before["value"].isna().all():
        yield Note(["Without official judgements there is no score before the added ones."])
        return
    yield intervals.before_and_after(before, after, view.measure)
    of_all = "" if view.whole else " (of all queries)"
    after_n = f"after: also {counted(view.recorded['n_added'], 'added judgement')}{of_all}."
    order = intervals.order_note(before, after)
    yield Note([order, f"Before: official judgements; {after_n}"])


def _nothing_added(view: View) -> str:
    if there := view.n_stored:
        return (
            f"Not counted: {counted(there, 'added judgement')}. To count them, use How to"
            " combine judgements at the top of the page."
        )
    return "No judgements have been added yet."


def _published(ask: Ask) -> Iterator[Step]:
    printed = ask(dataset_select.published_figures, datasets=[PRINTED])
    effect = published.annotation_effect(printed).reset_index()
    yield intervals.published_effect(titled(ask, effect))
    yield Note(["Before and after 980 added judgements (BEIR v4, Table 4)."])


def _left_out(view: View) -> Iterator[Step]:
    """Yield each score's change without the system's own contribution to the pool."""
    rows, measure = titled(view.ask, view.ask(select.left_out, **view.asked)), view.measure
    figure = partial(pools.left_out, rows, measure)
    found, title = pools.verdict(rows), f"{measure} of each system when left out of the pool"
    yield Figure("left_out", title, figure, of=OF, finding=found)
    yield pools.left_out_note(rows, measure)
    yield Text("Pool contributions", bold=True)
    yield pools.left_out_table(rows, measure)


def _gains(view: View) -> Iterator[Step]:
    """Yield each score's change from added judgements."""
    rows = titled(view.ask, view.ask(select.gains, added=True, **view.asked))
    yield pools.gains_table(rows, view.measure)
    yield pools.GAINS
