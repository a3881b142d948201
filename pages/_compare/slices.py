"""Two systems by kinds of queries."""

from collections.abc import Mapping, Sequence
from typing import Any

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
_QUICK = (query_slices.WORDS, query_slices.RELEVANT, query_slices.FIRST)
_UNCOUNTED = "It takes the counted words of the collection: python -m compute overlap."
_ALIKE = "By rare words the queries here are all of one kind: pick another way."


def _known(keys: list[str]) -> None:
    asked = st.query_params.get("slice", "")
    why = {query_slices.ANSWERED: _ONLY_DESCRIBES, query_slices.RARE: _UNCOUNTED}.get(asked, "")
    address.known("slice", keys, "kind of query", why)


def _offered(keyed: Mapping[str, Series], asked: Mapping[str, Any]) -> list[str]:
    """The keys to pick from; by rare words, too, if there may be such kinds: to look up the words
    of all queries takes long."""
    kinds = set(read(query_slices.kinds, **asked, rare=False, added=False)["key"])
    first = [key for key in keyed if key in _QUICK]
    rare = [query_slices.RARE] if query_slices.RARE in kinds else []
    return [*first, *rare, *(key for key in keyed if key not in _QUICK)]


def section(both: DataFrame, datasets: Sequence[str], titles: Titles, measure: str) -> None:
    """The difference by a kind of queries that is picked, each kind against the others.

    `both` as `differences.valued` gives it.
    """
    asked = {"datasets": list(datasets)}
    keyed = query_slices.by_key(both, read(query_slices.labels, **asked))
    if not (offered := _offered(keyed, asked)):
        return
    st.header("On which kinds of queries", anchor=False)
    _known(offered)
    key = pick("By", offered, "slice", width=230, titles=query_slices.TITLES)
    if key == query_slices.RARE:
        rare = read(query_slices.rare_words, **asked)
        keyed = query_slices.by_key(both, DataFrame(columns=["key"]), rare)
        if key not in keyed:
            st.info(_ALIKE)
            return
    n_others = int(keyed[key].isna().sum())
    left_out = f"{n_others:,} queries are of no known kind and left out." * bool(n_others)
    alike = "Every query counts the same, of whichever part." * (len(datasets) > 1)
    rows = slices.contrasts(both, keyed[key])
    _contrasted(rows, key, titles, measure, (left_out, alike))


def _contrasted(
    rows: DataFrame, key: str, titles: Titles, measure: str, notes: Sequence[str]
) -> None:
    """A figure, a table, and what both say."""
    st.markdown(escaping.text(slices.verdict(rows, key, titles, measure)))
    title = query_slices.TITLES.get(key, key)
    alt = f"{measure} of {titles[0]} minus {titles[1]} by {title}"
    left, right = st.columns(2)
    with left:
        figure = figures.by_slice(title, rows, measure, theme=colours.theme())
        drawing.plot(figure, "kinds", alt, figures.INTERVALS)
    with right:
        drawing.table(slices.table(rows), "kinds_table", alt, file=rows)
    drawing.caption(
        f"A is {titles[0]}, B {titles[1]}. Each kind against all others that are labelled: Welch's"
        " t when labels are dealt anew, corrected for the number of kinds (maxT).",
        "How to read this: the mark is the mean difference on a kind of query, the line its 95%"
        " interval (Student's t), hollow where it holds 0. That one kind is beyond chance and"
        " another is not does not mean that they differ: the corrected p of a kind against the"
        " others says that.",
        "Labels of your own: python -m compute import-labels.",
        *notes,
    )
