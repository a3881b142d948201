"""Two systems by kinds of queries."""

from collections.abc import Sequence

import streamlit as st
from pandas import DataFrame, Series

from compute.views.compare import figures, slices
from compute.views.compare.tables import Titles
from compute.views.shared import query_slices
from pages._shared import address, colours, drawing, escaping
from pages._shared.pickers import pick
from pages._shared.reading import read

_ONLY_DESCRIBES = (
    "It is made from the scores themselves, so nothing is tested by it: Dataset shows it, under"
    " Kinds of queries."
)
_ALIKE = "Queries here are alike in that, or the words of the collection are not counted."


def _known(keys: list[str]) -> None:
    asked = st.query_params.get("slice", "")
    why = {query_slices.ANSWERED: _ONLY_DESCRIBES, query_slices.RARE: _ALIKE}.get(asked, "")
    address.known("slice", keys, "kind of query", why)
    address.forget("slice", keys)


def _keyed(both: DataFrame, datasets: Sequence[str]) -> tuple[dict[str, Series], list[str]]:
    """What each query is, by key, and the keys to pick from; by rare words only once those are
    picked, for to look up the words of all queries takes long."""
    asked = {"datasets": list(datasets)}
    picked = st.session_state.get("slice") or st.query_params.get("slice")
    wanted = picked == query_slices.RARE
    rare = read(query_slices.rare_words, **asked) if wanted else None
    keyed = query_slices.by_key(both, read(query_slices.labels, **asked), rare)
    kinds = read(query_slices.kinds, **asked, rare=False, added=False)["key"]
    may_be = not wanted and query_slices.RARE in set(kinds)
    return keyed, [*keyed, *([query_slices.RARE] if may_be else [])]


def section(both: DataFrame, datasets: Sequence[str], titles: Titles, measure: str) -> None:
    """The difference by a kind of queries that is picked, each kind against the others.

    `both` as `differences.valued` gives it.
    """
    keyed, offered = _keyed(both, datasets)
    if not offered:
        return
    st.header("On which kinds of queries", anchor=False)
    _known(offered)
    key = pick("By", offered, "slice", width=230, titles=query_slices.TITLES)
    rows = slices.contrasts(both, keyed[key])
    st.markdown(escaping.text(slices.verdict(rows, key, titles, measure)))
    title = query_slices.TITLES.get(key, key)
    alt = f"{measure} of {titles[0]} minus {titles[1]} by {title}"
    left, right = st.columns(2)
    with left:
        figure = figures.by_slice(title, rows, measure, theme=colours.theme())
        drawing.plot(figure, "kinds", alt, figures.INTERVALS)
    with right:
        drawing.table(slices.table(rows), "kinds_table", alt, file=rows)
    n_others = len(both) - rows["n"].sum()
    drawing.caption(
        f"A is {titles[0]}, B {titles[1]}. Each kind against all others that are labelled: Welch's"
        " t when labels are dealt anew, corrected for the number of kinds (maxT).",
        "How to read this: the mark is the mean difference on a kind of query, the line its 95%"
        " interval (Student's t), hollow where it holds 0. That one kind is beyond chance and"
        " another is not does not mean that they differ: the corrected p of a kind against the"
        " others says that.",
        "Labels of your own: python -m compute import-labels.",
        f"{n_others:,} queries are of no known kind and left out." * bool(n_others),
        "Every query counts the same, of whichever part." * (len(datasets) > 1),
    )
