"""The sections of the page Holes."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.base.words import counted
from compute.datasets import published
from compute.evaluate.holes.bounds import GAINS
from compute.evaluate.measures import parse
from compute.evaluate.scored_measures import at_level
from compute.views.annotate import select_added
from compute.views.dataset import select as dataset_select
from compute.views.holes import intervals as figures
from compute.views.holes import order_flips, select_unjudged
from compute.views.holes import select as holes_select
from compute.views.shared import catalogue
from pages._frame import added_switch
from pages._shared import colours, drawing, escaping, navigation, reading
from pages._shared.reading import read

_FIRST = tuple(f"{name}@{k}" for k in (10, 5, 20) for name in ("nDCG", "P", "R"))
MEASURES = (*_FIRST, *(f"{name}@10" for name in GAINS if f"{name}@10" not in _FIRST))
"""The measures whose ranges are known."""
MOST_HITS = 1_000_000
"""Hits whose documents are told apart while a page waits: about a second."""


def measures() -> list[str]:
    """Those, and the same from every level on that runs were scored from."""
    levels = sorted({parse(name).rel or 1 for name in reading.measures()})
    return [*MEASURES, *(name for level in levels for name in at_level(MEASURES, level))]


def scores(dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """Draw every score with its ranges; returns the systems in the order of their scores."""
    rows = _bounds(dataset, systems, measure)
    (recorded,) = read(holes_select.recorded, dataset=dataset).to_dict("records")
    st.markdown(escaping.text(figures.verdict(rows, measure)))
    figure = figures.score_intervals(rows, measure, theme=colours.theme())
    drawing.plot(figure, "intervals", f"{measure} of systems and what it can be")
    waiting = None
    if "condensed" not in rows and not recorded["n_added"]:
        waiting = added_switch.recorded(dataset)
    (about,) = read(select_unjudged.ranges, dataset=dataset).to_dict("records")
    *notes, last = figures.intervals_note(rows, measure, recorded, about, waiting)
    drawing.caption(*notes)
    drawing.caption(last)
    with st.expander("Every score with its three ranges, as a table"):
        table(figures.interval_table(rows, measure), "bounds", f"{measure} and what it can be")
    return rows


def table(shown: Styler, key: str, title: str) -> None:
    """A table as high as its rows, until there are many."""
    drawing.table(shown, key, title, **drawing.height(len(shown.index)))


def _bounds(dataset: str, systems: Sequence[str], measure: str, **chosen: Any) -> DataFrame:
    asked = {"dataset": dataset, "systems": list(systems), "measure": measure}
    return titled(read(holes_select.bounds, **asked, most_hits=MOST_HITS, **chosen))


def titled(rows: DataFrame) -> DataFrame:
    """Rows with the title of each system."""
    rows = rows.merge(read(catalogue.systems), on="system", how="left")
    return rows.assign(title=rows["title"].fillna(rows["system"]))


def orders(dataset: str, rows: DataFrame, measure: str) -> None:
    """Which orders of two systems unjudged documents could turn, in each range."""
    shown = rows.head(order_flips.most_paired(measure, int(rows["n_queries"].max())))
    if len(shown) < 2:
        return
    st.header("Could unjudged documents turn the order?", anchor=False)
    asked = {"dataset": dataset, "systems": shown["system"].tolist(), "measure": measure}
    pairs = read(holes_select.pairs, **asked, most_hits=MOST_HITS)
    if said := order_flips.none_holds(pairs):
        st.markdown(said)
        return
    told, *notes = order_flips.orders_note(pairs, measure, n_left_out=len(rows) - len(shown))
    st.markdown(told)
    figure = order_flips.order_matrix(shown, pairs, measure, theme=colours.theme())
    title = f"Which orders of two systems by {measure} could turn"
    legend = partial(order_flips.legend, pairs)
    drawing.legend(legend)
    drawing.plot(figure, "orders", title, legend)
    drawing.caption(*notes)


def ranks(dataset: str, rows: DataFrame, measure: str) -> None:
    """Where in the lists the holes are."""
    st.header("Where the holes are", anchor=False)
    k = int(measure.partition("@")[2])
    counts = read(holes_select.by_rank, dataset=dataset, systems=rows["system"].tolist(), k=k)
    figure = figures.rank_heatmap(rows, counts, theme=colours.theme())
    said = "The stronger the grey, the more is unjudged; in per cent."
    drawing.plot(figure, "ranks", "Share of unjudged documents by system and rank", said)
    drawing.caption(
        "Per cent of the queries with a document at this rank: where nobody judged it."
        + drawing.of_matrix(" The stronger the grey, the less is known.")
    )


def has_added(dataset: str) -> bool:
    """Whether judgements were added: what they changed then stands first."""
    return bool(added_switch.recorded(dataset)["n_added"])


def left_out() -> None:
    """What the page says of all queries, or not at all."""
    drawing.caption(
        "Estimates from samples, agreement and judgement sets are of all queries, and not shown"
        " for a kind of them."
    )


def before_and_after(dataset: str, systems: Sequence[str], measure: str) -> None:
    """What added judgements did to scores, holes and ranks, here and in print."""
    if dataset != _PRINTED:
        _before_and_after(dataset, systems, measure)
        with st.expander("What added judgements did in print: TREC-COVID"):
            _published()
        return
    side_by_side = st.container(horizontal=True, gap="medium")
    with side_by_side.container(width=705):
        _before_and_after(dataset, systems, measure)
    with side_by_side.container(width=550):
        st.header("In print", anchor=False)
        _published()


def _before_and_after(dataset: str, systems: Sequence[str], measure: str) -> None:
    recorded = added_switch.recorded(dataset)
    st.header("Before and after added judgements", anchor=False)
    if recorded["n_added"]:
        before = _bounds(dataset, systems, measure, added=False)
        after = _bounds(dataset, systems, measure, added=True)
        table(
            figures.before_and_after(before, after, measure),
            "before-after",
            f"{measure} before and after added judgements",
        )
        drawing.caption(
            figures.order_note(before, after),
            f"Before: official judgements. After: with {recorded['n_added']:,} added ones"
            f"{' on queries of any kind' * bool(reading.kind())},"
            " whatever the switch above the page says. Changes are taken before rounding.",
        )
    else:
        st.info(_nothing_added(dataset))
    added_switch.download(dataset)
    st.button(
        "Create a blind judging task",
        icon=":material/arrow_forward:",
        on_click=partial(navigation.to, "annotate", view="new", dataset=dataset),
    )


_PRINTED = "trec-covid"
"""The dataset whose figures before and after added judgements are in print."""


def _nothing_added(dataset: str) -> str:
    (number,) = read(select_added.number, dataset=dataset, added=False)["n_rows"]
    if number:
        there = counted(number, "added judgement")
        return f"Not counted: {there}. Choose under What counts, at the top of the page."
    return (
        "Nobody added judgements of this dataset yet. This table shows what they change once there"
        " are some."
    )


def _published() -> None:
    printed = read(dataset_select.published_figures, datasets=[_PRINTED])
    effect = titled(published.annotation_effect(printed).reset_index())
    table(figures.published_effect(effect), "published-effect", "Published before and after")
    drawing.caption("Before and after 980 added judgements (BEIR v4, Table 4).")
