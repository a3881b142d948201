"""The sections of the page Compare."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import streamlit as st
from pandas import DataFrame, Series
from streamlit.delta_generator import DeltaGenerator

from compute.base.errors import WrongInput
from compute.evaluate.significance import EXACT
from compute.views.compare import differences as comparing
from compute.views.compare import figures, tables
from compute.views.compare import power as plans
from compute.views.compare import select as compare_select
from compute.views.shared import binned_queries, catalogue, next_steps, standings
from pages._compare import fusions, power, slices
from pages._shared import address, colours, drawing, escaping, navigation, pickers
from pages._shared.pickers import pick
from pages._shared.reading import read

ALL = "All datasets"
SHOWN = 50
"""Rows of the table of queries."""


class View(NamedTuple):
    """What the pickers say."""

    dataset: str
    a: str
    b: str
    titles: tuple[str, str]
    measure: str
    datasets: list[str]
    """The dataset, or its parts."""

    @property
    def asked(self) -> dict[str, Any]:
        """What queries take."""
        return {"datasets": self.datasets, "a": self.a, "b": self.b}

    @property
    def versus(self) -> str:
        """Both systems, the second one subtracted."""
        return f"{self.titles[0]} minus {self.titles[1]}"

    def go(self, dataset: str, query_id: str) -> None:
        """Open a query with both systems."""
        navigation.to_query(dataset, query_id, self.a, self.b, self.measure)


def swap() -> None:
    """A button that puts B in the place of A."""

    def turn() -> None:
        state = st.session_state
        pickers.put(a=state["b"], b=state["a"])

    st.button("Swap A and B", icon=":material/swap_horiz:", on_click=turn)


def members(dataset: str) -> list[str]:
    """The dataset, or its parts; none for ALL."""
    if dataset == ALL:
        return []
    return list(next_steps.record(read(catalogue.facts, dataset=dataset)).parts) or [dataset]


def one_dataset(view: View) -> None:
    """Two systems on the queries of one dataset."""
    pairs = read(compare_select.pairs, measure=view.measure, **view.asked)
    both = comparing.valued(pairs)
    if both.empty:
        why = (
            f"No query has {view.measure} of both systems: a list may be kept to fewer ranks, or"
            " scored before this was a measure (python -m compute score)."
        )
        st.info(escaping.text(why))
        return
    tested = read(compare_select.tested, measure=view.measure, **view.asked)
    row = next(iter(tested.to_dict("records")), {})
    answer = _answered(view, comparing.verdict(pairs, view.measure), row)
    beside = st.container()
    runs(view)
    differences(view, both)
    alike = read(compare_select.overlaps, **view.asked)
    left, right = st.columns(2)
    with left:
        against_each_other(view, both)
    with right:
        rankings(alike)
    slices.section(both, view.datasets, view.titles, view.measure)
    most_different(view, both, alike)
    fusions.section(view.dataset, view.datasets, view.a, view.b, view.titles, view.measure)
    with st.expander("Could it be chance? Tests and effect size"):
        tests(view, row)
        # On 10,000 queries of many systems it takes a second: all else is there before.
        if (family := among_all(view)) is not None:
            answer((family["p"], family["n_pairs"]))
    _power(beside, row, family)


def _power(beside: DeltaGenerator, row: Mapping[Hashable, Any], family: Series | None) -> None:
    """What the test would have found, beside what is not significant."""
    if row and tables.unsure(row, family):
        power.section(beside, plans.of_two(row) if family is None else plans.of_pair(family))


def _answered(
    view: View, found: comparing.Verdict, row: Mapping[Hashable, Any]
) -> Callable[[tuple[float, int]], None]:
    """Say who leads; what is returned says it again with p corrected for so many pairs."""
    place = st.empty()

    def say(family: tuple[float, int] | None = None) -> None:
        words = tables.answer(found, row, view.titles, view.measure, family)
        place.header(escaping.text(words), anchor=False)

    say()
    drawing.caption(*tables.said(found, view.titles, view.measure))
    return say


def among_all(view: View) -> Series | None:
    """What the Dataset page says of the two, which corrects for all pairs of its systems: their row
    of `standings.among_all`, or None."""
    rows = read(standings.standing, datasets=view.datasets, measure=view.measure)
    systems = standings.ranked(rows, view.measure)["system"].tolist()
    if len(systems) < 3 or not {view.a, view.b}.issubset(systems):
        return None
    asked = {"datasets": [view.dataset], "systems": systems}
    try:
        found = read(standings.among_all, measure=view.measure, **asked)
    except WrongInput:
        # Too few queries that all systems have: the Dataset page says nothing either.
        return None
    family = standings.pair(found, view.a, view.b)
    drawing.caption(tables.among_all(family["p"], family["n_pairs"]))
    shown = {"dataset": view.dataset, "show": "Systems", "measure": view.measure, "against": view.b}
    address.link("All systems of this dataset", "pages/dataset.py", **shown)
    return family


def runs(view: View) -> None:
    """Links to how both runs were made; a dataset of parts has none of its own."""
    if view.datasets != [view.dataset]:
        return
    with st.container(horizontal=True):
        for title, system in zip(view.titles, (view.a, view.b), strict=True):
            target = {"show": "Runs", "dataset": view.dataset, "system": system}
            address.link(f"How {title} was made", "pages/data.py", **target)


def differences(view: View, both: DataFrame) -> None:
    """Every query's difference, sorted; a click opens the query."""
    a, b = view.titles
    figure = figures.bars(both, view.titles, view.measure, theme=colours.theme())
    navigation.plot(figure, "differences", f"{view.measure} of {view.versus} by query", view.go)
    many = len(both) > binned_queries.MOST
    drawing.caption(
        f"How to read this: the queries side by side, blue where {a} is better, orange where {b}"
        " is; the more of the picture a colour fills, the more that system is ahead. A click opens"
        " the query with both ranked lists.",
        f"With {len(both):,} queries each bar is the mean of neighbours." * many,
    )


def tests(view: View, row: Mapping[Hashable, Any]) -> None:
    """Whether the difference could be chance, and how large it is."""
    if not row:
        st.info("A test needs two queries with a value of both systems.")
        return
    a, b = view.titles
    about = {"Dataset": view.dataset, "Measure": view.measure, "A": a, "B": b}
    drawing.table(
        tables.test_table(row),
        "tests",
        f"Tests of {view.measure}, {view.versus}",
        file=tables.test_rows(row, **about),
        printed={"p": tables.p_text},
    )
    drawing.caption(
        tables.effect(row, view.titles),
        "How to read this: p is how often chance alone would bring a difference this large; below"
        " .05 it is taken as real. With many queries even tiny differences are: look at the effect"
        " size too. These tests are of this pair alone; whoever compares many pairs finds some by"
        " chance.",
        f"Wilcoxon's test leaves out equal queries; its p is exact where at most {EXACT} differ,"
        " else by the normal distribution." * (row["p_wilcoxon"] == row["p_wilcoxon"]),
        "The interval of the difference is Student's t, that of the effect size the bootstrap's, or"
        " by linearisation from 20,000 queries on.",
        "Parts weigh the same." * (len(view.datasets) > 1),
    )


def against_each_other(view: View, both: DataFrame) -> None:
    """A's values against B's."""
    st.header("Query by query", anchor=False)
    figure = figures.scatter(both, view.titles, view.measure, theme=colours.theme())
    said = f"Blue: {view.titles[0]} is better; orange: {view.titles[1]} is. Larger: more queries."
    navigation.plot(figure, "scatter", f"{view.measure} by query, {view.versus}", view.go, said)
    drawing.caption(
        "How to read this: a mark is a query, a larger one several with the same two values."
        f" Above the dotted line {view.titles[0]} is better. Marks in the corners are queries that"
        " one system answers and the other misses."
    )


def rankings(alike: DataFrame) -> None:
    """How alike the two rankings are, by query."""
    st.header("How alike the rankings are", anchor=False)
    if alike.empty:
        st.info("The ranked lists of these runs are not stored.")
        return
    figure = figures.likeness(alike, theme=colours.theme())
    drawing.plot(figure, "likeness", "Queries by rank-biased overlap of their two lists")
    drawing.caption(
        "How to read this: 1 means the same documents in the same order, 0 no document in common."
        " The first 10 ranks make up 86% of it (rank-biased overlap, extrapolated, p = 0.9, to"
        " rank 100; equal scores stand in the order that every number here is computed from).",
        f"On average {alike['shared'].mean():.1f} of 10 first documents are the same.",
    )


def most_different(view: View, both: DataFrame, alike: DataFrame) -> None:
    """The queries where the systems differ most; a click opens one."""
    st.header("Queries where they differ most", anchor=False)
    orders = [one for one in comparing.ORDERS if len(alike) or one != comparing.BY_RANKING]
    address.known("by", orders, "order")
    order = pick("Order", orders, "by", width=210, titles=comparing.ORDERS)
    both = comparing.where_ahead(both, order, view.measure)
    if both.empty:
        st.info("No query is of this kind: choose another order.")
        return
    drawing.caption("A click opens the query.")
    rows = comparing.most_different(both, alike, order, SHOWN)
    table = tables.difference_table(rows, view.titles, whole=len(view.datasets) > 1)
    carried = rows[["dataset", "query_id"]].to_numpy().tolist()
    navigation.table(table, "different", carried, view.go, "Queries that differ most")
    first = f"The first {len(rows):,} of" if len(rows) < len(both) else "All"
    drawing.caption(
        f"{first} {len(both):,} queries. Difference: {view.versus}. Overlap: rank-biased overlap of"
        " the two lists."
    )


def all_datasets(view: View) -> None:
    """Two systems on every dataset that both are scored on; a click opens one."""
    found = read(compare_select.across, a=view.a, b=view.b, measure=view.measure)
    rows = comparing.across(found, read(compare_select.parts), view.measure)
    if rows.empty:
        st.info("No dataset has both of these systems: choose others.")
        return
    figure = figures.forest(rows, view.titles, view.measure, theme=colours.theme())
    title = f"{view.versus} on every dataset"
    navigation.plot(figure, "datasets", title, _choose, figures.INTERVALS)
    wins = comparing.ahead(rows, view.measure).sum()
    drawing.caption(
        "How to read this: a mark is the mean difference on a dataset, the line its 95% interval"
        " (Student's t); a hollow mark says that it could be chance. At the right: on how many"
        " queries each is better. A click opens the dataset, query by query.",
        f"{view.titles[0]} has the better mean on {wins} of {len(rows)}.",
    )
    carried = rows[["dataset"]].to_numpy().tolist()
    table = tables.across_table(rows, view.titles)
    navigation.table(table, "rows", carried, _choose, f"{view.versus} by dataset")
    drawing.caption(f"Difference: {view.versus}.")
    parts = {name: members(name) for name in rows["dataset"]}
    fusions.across(parts, view.a, view.b, view.titles, view.measure)


def _choose(dataset: str) -> None:
    pickers.put(dataset=dataset)
