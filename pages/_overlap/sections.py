"""The sections of the page Overlap: heatmap, pair and graph."""

from functools import partial
from typing import Any

import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.corpora import similarity_matrix
from compute.corpora.overlap import FLOORS as _FLOORS
from compute.datasets import DATASETS
from compute.views.overlap import graph as graphs
from compute.views.overlap import heatmap as figures
from compute.views.overlap import select as overlap_select
from compute.views.overlap.words import BOTH, FIRST, SECOND, WIDTH, legend, words
from compute.views.shared.theme import plain
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
from pages._shared.reading import parts, read

HEATMAP, GRAPH, SHIFT = VIEWS = ("Heatmap", "Graph", "Domain shift")
FLOORS = {figures.floor_label(floor): floor for floor in _FLOORS}
_FIGURES = {
    name: st.column_config.NumberColumn("Similarity", width=72)
    for name in ("Similarity", "Its similarity")
}
COMMAND = "python -m compute overlap"
EVERY = "every collection"
SEPARATOR = ","
"""Between the two collections of a pair in the address; no name of a collection has one."""


def choose_view() -> str:
    """The figure to show."""
    address.known("view", VIEWS, "view")
    return pickers.view("View", VIEWS, "view", default=HEATMAP)


def choose_numbers() -> str:
    """Printed figures, or what was counted: the latter for who has a collection of their own, and
    where the address names what only computed figures have."""
    own = _has_own() or {"unit", "floor", "pair"} & set(st.query_params)
    default = figures.COMPUTED if own else figures.PUBLISHED
    return pick("Numbers", figures.NUMBERS, "numbers", default=default, width=150)


def _has_own() -> bool:
    """Whether a collection was counted here, or one of the user's own is stored."""
    return any(
        (part.kind in ("ngrams", "wordpieces") and not part.shipped)
        or (part.kind == "documents" and part.dataset not in DATASETS)
        for part in parts()
    )


def too_few(counted: DataFrame, unit: str) -> str:
    """What is missing for a comparison, and the command that brings it."""
    number = counted["dataset"].nunique()
    has = "No collection has" if not number else "Only one collection has"
    need = "two are needed" if not number else "another one is needed"
    return f"{has} its {unit} counted; {need} to compare. {COMMAND} DATASET… counts them."


def _titles(counted: DataFrame) -> dict[str, str]:
    return dict(zip(counted["dataset"], counted["title"], strict=True))


def _choose_pair(*pair: str) -> None:
    address.choose("pair", SEPARATOR.join(sorted(pair)))


def _row_clicked(key: str, pairs: list[str]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        st.session_state["_row"] = pairs[rows[0]]
        address.choose("pair", pairs[rows[0]])


def heatmap(
    square: DataFrame,
    pairs: DataFrame,
    counted: DataFrame,
    words_of: tuple[str, float],
    above: Any,
    numbers: str,
) -> None:
    """The triangle beside a table of the pairs; a click in either opens a pair below, where its
    words were counted."""
    titles, (unit, floor) = _titles(counted), words_of
    rows = pairs.sort_values("similarity", ascending=False, kind="stable")
    shown = {
        SEPARATOR.join(sorted((one, other))): f"{titles[one]} and {titles[other]}"
        for one, other in zip(rows["dataset"], rows["other"], strict=True)
    }
    with above:
        address.known("pair", shown, "pair of collections")
    chosen = address.chosen("pair", shown)
    one, _, other = chosen.partition(SEPARATOR)
    figure = figures.heatmap(square, titles, theme=colours.theme(), unit=unit, chosen=(one, other))
    with st.container(horizontal=True):
        with st.container(width=figures.WIDTH):
            alt = "Vocabulary overlap of every pair of collections"
            navigation.plot(figure, "pairs", alt, _choose_pair, width="content")
        with st.container(width=440):
            _table(rows, titles, list(shown), chosen, figures.height(len(square)))
    opens = drawing.of_matrix(figures.OPENS) if numbers == figures.COMPUTED else ""
    drawing.caption(figures.HOW_TO_READ + opens)
    about(counted, unit, floor, numbers)
    if numbers == figures.COMPUTED:
        _pair(chosen, shown, counted, unit)


def _table(
    rows: DataFrame, titles: dict[str, str], pairs: list[str], chosen: str, beside: int
) -> None:
    # A selected row would stay so when the pair is chosen elsewhere: then it is a new table.
    if st.session_state.get("_row") != chosen:
        st.session_state["_row"] = chosen
        st.session_state["_row_turn"] = st.session_state.get("_row_turn", 0) + 1
    key = f"pair_rows_{st.session_state['_row_turn']}"
    table = figures.pair_table(rows, titles)
    drawing.table(
        _written(table),
        key,
        "Similarity of pairs of collections",
        file=table,
        height=min(38 + 35 * len(table), max(beside, 318)),
        on_select=lambda: _row_clicked(key, pairs),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [pairs.index(chosen)]}},
        row_height=35,
        column_config=_FIGURES,
    )


def _written(table: DataFrame) -> Styler:
    """Similarities as figures write them."""
    known: Any = dict.fromkeys((name for name in _FIGURES if name in table), plain)
    return table.style.format(known)


def _pair(chosen: str, shown: dict[str, str], counted: DataFrame, unit: str) -> None:
    """The words that a pair shares most, and those that set each apart."""
    st.header("A pair", anchor=False)
    address.pick("pair", "Pair of collections", shown)
    one, _, other = chosen.partition(SEPARATOR)
    function_words = pickers.switch("Function words too, such as the and of", "function_words")
    asked = {"dataset": one, "other": other, "unit": unit, "function_words": function_words}
    rows = read(overlap_select.words_of_pair, **asked)
    titles = _titles(counted)
    names = titles[one], titles[other]
    heads = {
        BOTH: "What they share most",
        FIRST: f"More frequent in {names[0]}",
        SECOND: f"More frequent in {names[1]}",
    }
    drawing.legend(marks := partial(legend, names))
    with st.container(horizontal=True):
        for side, head in heads.items():
            with st.container(width=WIDTH):
                st.markdown(f"**{escaping.text(head)}**")
                own = rows[rows["side"] == side]
                figure = words(own, names, theme=colours.theme())
                drawing.plot(figure, f"words_{side}", head, marks, width="content")
    drawing.caption(
        f"Per million {unit} of each collection. What they share most counts a word as often as"
        " it stands in the collection that has less of it; that is what the similarity adds up."
        " The other two columns put first what tells the collections apart best (what a word adds"
        " to their Jensen-Shannon divergence).",
        "Words such as the and of are left out, for they tell of no subject."
        * (not function_words),
        figures.cut(counted[counted["dataset"].isin([one, other])]),
    )


def graph(square: DataFrame, counted: DataFrame, unit: str, least: float) -> None:
    """The force-directed graph, and how far its distances can be trusted."""
    points = similarity_matrix.layout(square)
    look: Any = {"theme": colours.theme(), "unit": unit}
    figure = graphs.graph(square, points, counted, least=least, **look)
    alt = "Vocabulary overlap of collections: alike ones near each other"
    with st.container(horizontal=True):
        with st.container(width=graphs.WIDTH):
            said = graphs.legend(square, least)
            navigation.plot(figure, "graph", alt, _choose_node, said, width="content")
        with st.container(width=488):
            _neighbours(square, _titles(counted))
    drawing.caption(*graphs.note(square, similarity_matrix.faithfulness(square, points), least))


def _choose_node(node: str) -> None:
    pickers.put(node=node)


def _neighbours(square: DataFrame, titles: dict[str, str]) -> None:
    """The two nearest of every collection, or all of the one that a click or the picker chose."""
    names = [EVERY, *map(str, square.index)]
    address.known("node", names, "collection")
    name = pick("Neighbours of", names, "node", width=300, titles=titles)
    if name == EVERY:
        table, title = graphs.neighbours(square, titles), "The nearest collections"
    else:
        table = graphs.all_neighbours(square, titles, name)
        title = f"Neighbours of {titles.get(name, name)}"
    options: dict[str, Any] = {"placeholder": "–", **drawing.height(len(table), 13)}
    shown = _written(table)
    drawing.table(shown, "neighbours", title, file=table, column_config=_FIGURES, **options)


def about(counted: DataFrame, unit: str, floor: float, numbers: str) -> None:
    """What was counted, how it is compared, and what is left out; or where it is printed."""
    if numbers == figures.PUBLISHED:
        drawing.caption(figures.PRINTED)
    else:
        drawing.caption(*figures.caption(counted, unit, floor))
        drawing.caption(dataset_facts.segmented(*counted["dataset"]))
