"""The section of the page Holes about judgement sets: two of them side by side."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute.base.errors import BeirscopeError
from compute.judgements import Choice
from compute.judgements.sets import MACHINE, OFFICIAL
from compute.views.holes import judgement_sets as figures
from compute.views.holes import select_sets
from compute.views.holes.judgement_sets import Comparison
from compute.views.leaderboard.bump import bump
from pages._holes import agreement
from pages._holes.sections import titled
from pages._shared import address, colours, drawing, escaping, pickers
from pages._shared.pickers import pick
from pages._shared.reading import read


def section(dataset: str, systems: Sequence[str], measure: str) -> None:
    """The sets that there are, and the boards, the pairs and the grades by two of them."""
    choice = st.session_state.get("_added") or Choice()
    asked: dict[str, Any] = {
        "dataset": dataset,
        "rule": choice.rule,
        "sources": list(choice.sources),
    }
    asked |= {"added": False}
    found = read(select_sets.listed, **asked)
    if len(found) < 2:
        return
    st.header("Does the order depend on who judged?", anchor="sets")
    drawing.table(figures.listed(found), "sets", f"Judgement sets of {dataset}")
    drawing.caption(
        "Each set alone, and official with what was added.",
        "How to read this: a set judges what it judged. Queries without one of its judgements are"
        " not evaluated, and documents that it did not judge count as not relevant.",
    )
    beside = _picked(found["set"].tolist())
    grades = read(select_sets.grades, **asked, beside=beside)
    drawing.caption(figures.grade_line(grades, [figures.title(name) for name in beside]))
    if grades.dropna().empty:
        return
    try:
        _boards(asked, beside, systems, measure)
    except BeirscopeError as error:
        drawing.caption(str(error))
    _grades(asked, beside, grades)


def _picked(names: list[str]) -> list[str]:
    """Two of the sets, at first the official one and the last: a machine, where one graded."""
    titles = {name: figures.title(name) for name in names}
    address.known("set", names, "judgement set")
    address.known("beside", names, "judgement set")
    with pickers.pickers():
        one = pick("Judgement set", names, "set", default=OFFICIAL, width=260, titles=titles)
        others = [name for name in names if name != one]
        other = pick("Beside", others, "beside", default=others[-1], width=260, titles=titles)
    return [one, other]


def _boards(asked: dict[str, Any], beside: list[str], systems: Sequence[str], measure: str) -> None:
    left, right = (_values(asked, name, systems, measure) for name in beside)
    found = Comparison(measure, figures.means(left, right), figures.pairs(left, right))
    names, rows = [figures.title(name) for name in beside], titled(figures.ranked(found))
    st.markdown(escaping.text(figures.verdict(found, names)))
    side_by_side = st.container(horizontal=True, gap="medium")
    left, right = side_by_side.container(width=620), side_by_side.container(width=620)
    with left:
        title = f"Ranks by {measure}, by {names[0]} and by {names[1]}"
        figure = bump(rows, (names[0], names[1]), colours.theme())
        drawing.plot(figure, "set_ranks", title, "Blue: ranked higher at the right; orange: lower.")
    with right:
        shown = figures.board_table(rows, names)
        drawing.table(shown, "set-boards", title, **drawing.height(len(rows)))
    drawing.caption(
        f"{measure} of {len(rows)} systems over {found.n_queries:,} queries that both sets"
        " evaluate.",
        "How to read this: a line joins a system's ranks by both sets. τ is 1 for the same order,"
        " −1 for the reverse, 0 is chance; in τ-AP the top counts more.",
    )
    _turned(found, names, dict(zip(rows["system"], rows["title"], strict=True)))


def _values(asked: dict[str, Any], name: str, systems: Sequence[str], measure: str) -> DataFrame:
    of = {"systems": list(systems), "measure": measure, "name": name}
    if name == OFFICIAL or name.startswith(f"{MACHINE}:"):
        return read(select_sets.stored_values, dataset=asked["dataset"], added=False, **of)
    return read(select_sets.values, **asked, **of)


def _turned(found: Comparison, names: list[str], titles: dict[str, str]) -> None:
    turned = found.turned()
    if turned.empty:
        return
    st.markdown("**Pairs of systems that turn**")
    shown = figures.turned_table(turned, names, titles)
    told = f"Pairs of systems that turn, by {names[0]} and by {names[1]}"
    drawing.table(shown, "set-pairs", told, **drawing.height(len(turned)))
    drawing.caption(
        "Significant: randomisation test, 5% for all pairs together (maxT), by each set."
    )


def _grades(asked: dict[str, Any], beside: list[str], grades: DataFrame) -> None:
    """The grades of pairs of a query and a document, where both sets judged and differ."""
    names = [figures.title(name) for name in beside]
    st.markdown("**Grades that differ**")
    rows = figures.differing(grades)
    if rows.empty:
        return
    shown = figures.grade_table(rows, names)
    title = f"Pairs that {names[0]} and {names[1]} grade differently"
    first = shown.head(agreement.MOST)
    drawing.table(first, "set-grades", title, file=shown, **drawing.height(len(first), 8))
    told = {f"{q} {d}": (q, d) for q, d in rows.head(agreement.MOST)[_PAIR].itertuples(index=False)}
    address.known("pair", told, "pair of a query and a document")
    query_id, doc_id = told[pick("Query and document", list(told), "pair", width=340)]
    of = {"query_id": query_id, "doc_id": doc_id}
    st.markdown(escaping.text(figures.of_pair(read(select_sets.of_pair, **asked, **of))))
    agreement.pair(asked["dataset"], query_id, doc_id)


_PAIR = ["query_id", "doc_id"]
