"""The views of the page Dataset beyond its overview: systems, queries, judgements, documents."""

from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from pandas import DataFrame, Series
from streamlit.delta_generator import DeltaGenerator

from compute.base.errors import WrongInput
from compute.base.words import counted
from compute.datasets import Dataset
from compute.evaluate.measures import better
from compute.views.compare import power
from compute.views.compare import select as compare_select
from compute.views.compare import tables as compare_tables
from compute.views.dataset import difficulty, query_outcomes, select_systems
from compute.views.dataset import select as dataset_select
from compute.views.dataset import systems as figures
from compute.views.dataset.select_systems import MEDIAN
from compute.views.leaderboard import order_confidence, select_order
from compute.views.page import offers
from compute.views.shared import binned_queries, standings
from compute.views.shared import theme as looks
from pages._shared import (
    address,
    colours,
    dataset_facts,
    drawing,
    escaping,
    navigation,
    pickers,
)
from pages._shared.pickers import pick
from pages._shared.reading import read

OVERVIEW, SYSTEMS, QUERIES, KINDS = "Overview", "Systems", "Queries", "Kinds of queries"
JUDGEMENTS, DOCUMENTS, LANGUAGES = "Judgements", "Documents", "Two languages"
WITH_TEXTS = (QUERIES, JUDGEMENTS, DOCUMENTS)
MOST_SYSTEMS, MOST_ALONE, MOST_QUERIES = 40, 15, 50
"""Systems and queries that are shown unless all are asked for."""


class View(NamedTuple):
    """What the pickers say, and what is stored."""

    dataset: Dataset
    measure: str
    named: DataFrame
    """system, title, family."""

    @property
    def asked(self) -> dict[str, Any]:
        """What queries take: the dataset, or its parts."""
        return {"datasets": list(self.dataset.parts) or [self.dataset.name]}

    @property
    def title(self) -> str:
        """Of the figure of its systems."""
        return f"{self.measure} of systems on {self.dataset.title}"

    @property
    def titles(self) -> dict[str, str]:
        """What systems are called."""
        return dict(zip(self.named["system"], self.named["title"], strict=True))

    def rows(self) -> DataFrame:
        """The mean of every system on every part."""
        return read(standings.standing, measure=self.measure, **self.asked)

    def ranked(self) -> DataFrame:
        """The systems with mean, interval and holes, the best first."""
        ranked = standings.ranked(self.rows(), self.measure).merge(
            self.named, on="system", how="left"
        )
        return ranked.fillna({"family": "imported"}).assign(
            title=ranked["title"].fillna(ranked["system"])
        )


def choose(is_computed: bool, in_two_languages: bool) -> str:
    """The view to show, kept in the address: what a dataset is for first, if anything ran on it."""
    views = [
        SYSTEMS,
        OVERVIEW,
        QUERIES,
        *[KINDS] * is_computed,
        JUDGEMENTS,
        DOCUMENTS,
        *[LANGUAGES] * in_two_languages,
    ]
    address.known("show", views, "view")
    return pickers.view("View", views, "show", default=SYSTEMS if is_computed else OVERVIEW)


def systems(view: View) -> None:
    """Means with intervals and holes; who gains and loses against a baseline."""
    rows = view.ranked()
    if rows.empty:
        st.info(escaping.text(f"No system has a {view.measure} here yet."))
        return
    names = [*sorted(rows["system"]), MEDIAN]
    address.known("against", names, "system")
    with pickers.pickers():
        usual = "bm25" if "bm25" in names else MEDIAN
        baseline = pick("Against", names, "against", default=usual, width=240, titles=view.titles)
        whole = len(rows) > MOST_SYSTEMS and pickers.switch(f"All {len(rows):,} systems", "all")
    moves = read(select_systems.moved, measure=view.measure, baseline=baseline, **view.asked)
    shown = rows.merge(moves, on="system")
    if not whole:
        shown = shown[(shown.index < MOST_SYSTEMS) | (shown["system"] == baseline)]
    against, shown = view.titles.get(baseline, baseline), shown.reset_index(drop=True)
    figure = figures.systems(shown, view.measure, against, theme=colours.theme())
    above = st.container()
    go = partial(_compare, view, baseline if baseline != MEDIAN else shown["system"].iloc[0])
    navigation.plot(figure, "standing", view.title, go, partial(looks.families, shown["family"]))
    _say_whether_sure(above, view, rows["system"].tolist())
    drawing.caption(
        "How to read this: first the mean over the queries with the interval that holds the true"
        " mean 95% of the time; two systems whose intervals overlap may still differ, for they"
        " answer the same queries. Beside it: on how many queries it is better, the same or worse."
        " Holes: share of the top 10 that nobody judged."
        + drawing.of_matrix(" A click on a system compares it with the baseline, query by query."),
        "The median system: per query the median of all systems." * (baseline == MEDIAN),
        f"The {MOST_SYSTEMS} best of {len(rows):,}." * (len(shown) < len(rows)),
        *query_outcomes.parts_note(view.rows(), len(view.dataset.parts)),
    )


def _say_whether_sure(above: DeltaGenerator, view: View, names: list[str]) -> None:
    """Whether the first of them is significantly the best, and where the whole order stands.

    It stands above the figure, and is found out once that is drawn: on 10,000 queries it takes a
    second.
    """
    asked = {"systems": names, "sign": better(view.measure)}
    try:
        order = read(
            select_order.of_runs, measure=view.measure, datasets=[view.dataset.name], **asked
        )
    except WrongInput:
        # One system, or too few queries: then nothing is known, and nothing said.
        return
    with above:
        _say(view, names, order)


def _say(view: View, names: list[str], order: DataFrame) -> None:
    if said := order_confidence.verdict(order, view.titles):
        st.markdown(escaping.text(said))
        beside = st.container()
        shown = {"numbers": "Computed", "over": view.dataset.name, "measure": view.measure}
        address.link("How sure the whole order is", "pages/leaderboard.py", **shown)
        _say_what_is_found(beside, view, names, order)


def _say_what_is_found(
    beside: DeltaGenerator, view: View, names: list[str], order: DataFrame
) -> None:
    """Which lead of the first would have been found, and where the first two differ when they alone
    are compared, both figures and the way there."""
    alike = order_confidence.like_first(order)
    if not alike:
        return
    asked: dict[str, Any] = {"datasets": [view.dataset.name], "systems": names}
    pairs = read(standings.among_all, measure=view.measure, **asked)
    a, b = order["system"].iloc[:2]
    plans = [power.of_pair(standings.pair(pairs, a, other)) for other in alike]
    if told := power.leads(plans):
        beside.markdown(escaping.text(told))
    if len(names) > 2 and b in alike:
        _say_of_two(view, a, b, standings.pair(pairs, a, b))


def _say_of_two(view: View, a: str, b: str, among: Series) -> None:
    two: dict[str, Any] = {"measure": view.measure, "a": a, "b": b}
    alone = read(compare_select.tested, **view.asked, **two)
    titles = str(view.titles.get(a, a)), str(view.titles.get(b, b))
    ps = alone["p_randomisation"].iloc[0], among["p"], among["n_pairs"]
    if said := compare_tables.alone(titles, *ps):
        st.markdown(escaping.text(said))
        address.link("The first two compared", "pages/compare.py", dataset=view.dataset.name, **two)


def _compare(view: View, baseline: str, system: str) -> None:
    if system == baseline:
        others = [name for name in view.ranked()["system"] if name != baseline]
        baseline = others[0] if others else baseline
    two = {"a": system, "b": baseline, "measure": view.measure}
    navigation.to("compare", dataset=view.dataset.name, **two)


def by_query(view: View) -> None:
    """Hard and easy queries, and where one system alone is ahead."""
    if better(view.measure) < 0:
        st.info("Choose a measure of which more is better: holes make no query hard or easy.")
        return
    rows = query_outcomes.kind(read(select_systems.queries, measure=view.measure, **view.asked))
    if rows.empty:
        st.info(escaping.text(f"No query has a {view.measure} here yet."))
        return
    go = partial(_open_query, rows, view)
    figure = difficulty.difficulty(rows, view.measure, theme=colours.theme())
    navigation.plot(figure, "difficulty", "Best, median and worst system of every query", go)
    drawing.caption(
        "How to read this: every query from the easiest to the hardest; the band reaches from the"
        " worst to the best system on it. Where the band is high but the line low, few systems know"
        " how. A click opens the query with its best and its worst system.",
        difficulty.kinds_note(rows),
    )
    _alone(view, rows)
    _listed(view, rows)


def _alone(view: View, rows: DataFrame) -> None:
    counts = query_outcomes.alone(rows)
    if counts.empty:
        return
    st.header("Where a system wins alone", anchor=False)
    shown: Series = counts.head(MOST_ALONE)
    figure = figures.alone(shown, view.titles, theme=colours.theme())
    drawing.plot(figure, "alone", "Queries on which one system is ahead of all others")
    drawing.caption(
        "How to read this: queries on which the system has a higher value than every other; what"
        " only one system finds is what it would bring to a combination of several.",
        f"{len(shown)} of the {len(counts)} systems that do so." * (len(shown) < len(counts)),
    )


def _listed(view: View, rows: DataFrame) -> None:
    st.header("Queries", anchor=False)
    address.known("kind", query_outcomes.KINDS, "kind of queries")
    with pickers.pickers():
        kind = pick("Which", query_outcomes.KINDS, "kind", width=240)
    found = query_outcomes.of_kind(rows, kind)
    if found.empty:
        st.info("No query is of this kind.")
        return
    shown = found.head(MOST_QUERIES)
    table = figures.query_table(shown, view.titles, whole=bool(view.dataset.parts))
    carried = shown[["dataset", "query_id"]].to_numpy().tolist()
    navigation.table(
        table, "kinds", carried, partial(_open_query, rows, view), "Queries of this kind"
    )
    drawing.caption(
        f"{len(shown):,} of {counted(len(found), 'query')} of this kind. A click on a row"
        " opens the query with its best and its worst system."
    )


def _open_query(rows: DataFrame, view: View, dataset: str, query_id: str) -> None:
    row = rows[(rows["dataset"] == dataset) & (rows["query_id"] == query_id)].iloc[0]
    navigation.to_query(dataset, query_id, row["winner"], row["loser"], view.measure)


def judgements(view: View) -> None:
    """How many documents of each grade every query has."""
    found = read(select_systems.grades, **view.asked)
    if found.empty:
        st.info("No judgements are stored here.")
        return
    figure = difficulty.judged(found, theme=colours.theme())

    def go(dataset: str, query_id: str) -> None:
        a, b = offers.first_pair(sorted(view.ranked()["system"]) or [""])
        navigation.to_query(dataset, query_id, a, b, view.measure)

    navigation.plot(figure, "judged", f"Judged documents by query on {view.dataset.title}", go)
    drawing.caption(
        "How to read this: a column is a query, its height the number of its judged documents, the"
        " stronger the colour the more relevant. Queries with few judged documents say little about"
        " systems that find others. A click opens the query.",
        difficulty.judged_note(found),
        "With many queries a column is the mean of neighbours."
        * (found.drop_duplicates(["dataset", "query_id"]).shape[0] > binned_queries.MOST),
    )


def _ask_for_one(view: View) -> None:
    example = dataset_facts.example(view.dataset)
    such = f", such as {example['doc_id'].iloc[0]}" if len(example) else ""
    words = (
        f"Type the id of a document{such}: where each system ranks it is listed, and how it is"
        " judged. Some letters of it give a list of ids."
    )
    st.info(escaping.text(words))


def documents(view: View) -> None:
    """Search for a document: which systems rank it where, for which queries."""
    name = pickers.words("Document id", "doc", width=340).strip()
    if not name:
        _ask_for_one(view)
        return
    rows = query_outcomes.found(read(select_systems.ranked_at, doc_id=name, **view.asked))
    if rows.empty:
        near = list(read(select_systems.like, part=name, **view.asked)["doc_id"])
        said = f"No system ranks {name} here, and nobody judged it."
        st.info(
            escaping.text(f"{said} Ids with these letters: {', '.join(near)}" if near else said)
        )
        return
    names = sorted(set(read(dataset_select.means_of, **view.asked)["system"]))
    table = figures.place_table(rows.head(MOST_QUERIES * 4), view.titles, len(names))

    def go(dataset: str, query_id: str, first: str) -> None:
        a, b = offers.first_pair(names or [""])
        navigation.to_query(dataset, query_id, first or a, b if b != first else a, view.measure)

    carried = rows[["dataset", "query_id", "first"]].fillna("").to_numpy().tolist()
    navigation.table(table, "places", carried, go, "Where a document is ranked")
    drawing.caption(
        f"{name} is ranked or judged for {counted(len(rows), 'query')}. A click on a row"
        " opens the query. Ranks down to the depth that is kept of a run.",
        f"The first {len(table):,} are shown." * (len(table) < len(rows)),
    )
