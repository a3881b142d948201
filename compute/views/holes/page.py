"""The page Holes: how much is unjudged, and could it turn the order?"""

from collections.abc import Iterator
from functools import partial

from pandas import DataFrame

from compute.base.words import counted
from compute.datasets import published
from compute.evaluate.holes.bounds import GAINS
from compute.evaluate.measures import parse
from compute.evaluate.scored_measures import at_level
from compute.views.dataset import select as dataset_select
from compute.views.holes import (
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
    Expander,
    Figure,
    Heading,
    Legends,
    Link,
    Message,
    Note,
    Row,
    Section,
    Step,
    Steps,
    Text,
    Widget,
    offers,
)
from compute.views.shared import catalogue

_FIRST = tuple(f"{name}@{k}" for k in (10, 5, 20) for name in ("nDCG", "P", "R"))
MEASURES = (*_FIRST, *(f"{name}@10" for name in GAINS if f"{name}@10" not in _FIRST))
"""Measures whose ranges are known."""
PRINTED = "trec-covid"
"""The dataset whose figures before and after added judgements are in print."""
_OF_ALL = (
    "Estimates from samples, agreement and judgement sets are of all queries, and not shown for a"
    " kind of them."
)


def page(ask: Ask) -> Steps:
    """Controls and parts, in the order of the screen."""
    runs = ask(catalogue.runs)
    if runs.empty:
        yield Message(offers.NO_LISTS)
        return
    view: View = yield Row(partial(_controls, ask, runs))
    if not view.has_added and offers.is_unjudged(ask, view.dataset):
        yield from offers.unjudged(view.dataset)
        return
    if view.whole:
        yield Section(partial(judged_page.way, view))
    added = ("before-after", "published-effect")
    yield Section(partial(_added, view, first=True), added)
    yield Section(partial(_scores, view), ("intervals", "bounds"))
    if view.whole:
        yield estimates_page.section(ask, view.dataset)
    yield Section(partial(_orders, view), ("orders",))
    yield Section(partial(_ranks, view), ("ranks",), "Where the holes are")
    yield Section(partial(_added, view, first=False), added)
    if view.whole:
        yield from judged_page.sections(view)
    else:
        yield Note([_OF_ALL])
    if len(view.systems) > 1:
        head = "Had a system not been judged"
        yield Section(partial(_left_out, view), ("left_out", "left-out-table"), head)
        yield Section(partial(_gains, view), ("pool-gains",))


def _controls(ask: Ask, runs: DataFrame) -> Steps:
    name = yield offers.dataset_with_lists(ask, runs, 260)
    noun = "measure with an interval"
    measure = yield Choice("measure", "Measure", measures(ask), noun=noun, width=140)
    known = list(runs.loc[runs["dataset"] == name, "system"])
    systems = yield from offers.systems(ask, known, f"run on {name}", [name])
    title = offers.dataset_titles(ask).get(name, name)
    ask = yield from offers.query_group(ask, [name], title)
    return View(ask, name, measure, systems)


def measures(ask: Ask) -> list[str]:
    """Those, and the same from every level on that runs were scored from."""
    levels = sorted({parse(name).rel or 1 for name in ask.measures()})
    return [*MEASURES, *(name for level in levels for name in at_level(MEASURES, level))]


def _scores(view: View) -> Iterator[Step]:
    """Every score with its ranges."""
    if view.has_added:
        yield Heading("What the scores can be")
    rows, measure = view.rows, view.measure
    (recorded,) = view.ask(select.recorded, dataset=view.dataset).to_dict("records")
    yield Text(intervals.verdict(rows, measure))
    figure = partial(intervals.score_intervals, rows, measure)
    yield Figure("intervals", f"{measure} of systems and what it can be", figure, of=OF)
    waiting = None
    if "condensed" not in rows and not recorded["n_added"]:
        waiting = view.recorded
    (about,) = view.ask(select_unjudged.ranges, dataset=view.dataset).to_dict("records")
    yield intervals.intervals_note(rows, measure, recorded, about)
    yield intervals.last_note(rows, recorded, waiting)
    table = intervals.interval_table(rows, measure)
    yield Expander("Every score with its three ranges, as a table", [table])


def _orders(view: View) -> Iterator[Step]:
    """Which orders of two systems unjudged documents could turn, in each range."""
    rows, measure = view.rows, view.measure
    shown = rows.head(order_flips.most_paired(measure, int(rows["n_queries"].max())))
    if len(shown) < 2:
        return
    yield Heading("Could unjudged documents turn the order?")
    asked = view.asked | {"systems": shown["system"].tolist()}
    pairs = view.ask(select.pairs, most_hits=MOST_HITS, **asked)
    if said := order_flips.none_holds(pairs):
        yield Text(said)
        return
    yield Text(order_flips.turned(pairs))
    legend = partial(order_flips.legend, pairs)
    yield Legends(legend)
    title = f"Which orders of two systems by {measure} could turn"
    figure = partial(order_flips.order_matrix, shown, pairs, measure)
    yield Figure("orders", title, figure, legend, of=OF)
    yield order_flips.orders_note(pairs, measure, n_left_out=len(rows) - len(shown))


def _ranks(view: View) -> Iterator[Step]:
    """Where in the lists the holes are."""
    k, systems = int(view.measure.partition("@")[2]), view.rows["system"].tolist()
    counts = view.ask(select.by_rank, dataset=view.dataset, systems=systems, k=k)
    title = "Share of unjudged documents by system and rank"
    legend = "The stronger the grey, the more is unjudged; in per cent."
    yield Figure(
        "ranks",
        title,
        partial(intervals.rank_heatmap, view.rows, counts),
        legend,
        of=("dataset", "systems"),
    )
    yield Note(
        ["Per cent of the queries with a document at this rank: where nobody judged it."],
        of_matrix="The stronger the grey, the less is known.",
    )


def _added(view: View, *, first: bool) -> Iterator[Step]:
    """What added judgements did to scores, holes and ranks, here and in print; at the top of the
    page where there are any, else further down."""
    if view.has_added != first:
        return
    here, in_print = partial(_before_and_after, view), partial(_published, view.ask)
    if view.dataset == PRINTED:
        beside = [Section(in_print, heading="In print")]
        yield Beside([here, beside], widths=(705, 550), gap="medium")
    else:
        yield from here()
        yield Expander("What added judgements did in print: TREC-COVID", in_print)


def _before_and_after(view: View) -> Iterator[Step]:
    yield Heading("Before and after added judgements")
    yield from _moved(view) if view.has_added else [Message(_nothing_added(view))]
    yield Widget("added", {"dataset": view.dataset})
    task = Link("annotate", {"view": "new", "dataset": view.dataset})
    yield Button("Create a blind judging task", task, icon="arrow_forward")


def _moved(view: View) -> Iterator[Step]:
    before, after = view.bounds(added=False), view.bounds(added=True)
    if before["value"].isna().all():
        yield Note(["Nothing is judged officially: there is no score before the added ones."])
        return
    yield intervals.before_and_after(before, after, view.measure)
    kind = "" if view.whole else " on queries of any kind"
    yield Note(
        [
            intervals.order_note(before, after),
            "Before: official judgements.",
            f"After: with {view.recorded['n_added']:,} added ones{kind}, whatever the switch"
            " above the page says.",
            "Changes are taken before rounding.",
        ]
    )


def _nothing_added(view: View) -> str:
    if there := view.n_stored:
        return (
            f"Not counted: {counted(there, 'added judgement')}. Choose under What counts, at the"
            " top of the page."
        )
    return (
        "Nobody added judgements of this dataset yet. This table shows what they change once there"
        " are some."
    )


def _published(ask: Ask) -> Iterator[Step]:
    printed = ask(dataset_select.published_figures, datasets=[PRINTED])
    effect = published.annotation_effect(printed).reset_index()
    yield intervals.published_effect(titled(ask, effect))
    yield Note(["Before and after 980 added judgements (BEIR v4, Table 4)."])


def _left_out(view: View) -> Iterator[Step]:
    """What each system alone brought to the pool."""
    rows, measure = titled(view.ask, view.ask(select.left_out, **view.asked)), view.measure
    figure = partial(pools.left_out, rows, measure)
    yield Figure("left_out", f"{measure} of systems left out of the pool", figure, of=OF)
    yield from pools.left_out_notes(rows, measure)
    table = pools.left_out_table(rows, measure)
    yield Expander("What each system brought to the pool, as a table", [table])


def _gains(view: View) -> Iterator[Step]:
    """Who gains by added judgements."""
    if not view.has_added:
        return
    rows = titled(view.ask, view.ask(select.gains, added=True, **view.asked))
    if rows["n_added"].any():
        yield Heading("Who gains by added judgements")
        yield pools.gains_table(rows, view.measure)
        yield pools.GAINS
