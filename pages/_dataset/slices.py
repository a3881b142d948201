"""The systems of a dataset by kinds of queries."""

from functools import partial

import streamlit as st

from compute.views.dataset import select_slices, slices
from compute.views.shared import query_slices
from compute.views.shared import theme as looks
from pages._dataset.views import MOST_SYSTEMS, View
from pages._shared import address, colours, drawing, escaping
from pages._shared.pickers import pick
from pages._shared.reading import read

_DESCRIBES = "Made from the scores themselves: it describes, and is no ground for a test."


def section(view: View) -> None:
    """The mean of every system on each kind of query, with intervals."""
    keys = read(select_slices.keys, **view.asked)["key"].tolist()
    ranked = view.ranked()
    if not keys or ranked.empty:
        told = "no kinds of queries to tell apart" if len(ranked) else f"no {view.measure}"
        st.info(escaping.text(f"There is {told} here yet: python -m compute import-labels."))
        return
    address.known("slice", keys, "kind of query")
    key = pick("By", keys, "slice", width=230, titles=query_slices.TITLES)
    found = read(select_slices.by_slice, measure=view.measure, key=key, **view.asked)
    shown = ranked[["system", "title", "family"]].head(MOST_SYSTEMS)
    rows = shown.merge(found, on="system")
    figure = slices.panels(rows, view.measure, theme=colours.theme())
    title = query_slices.TITLES.get(key, key)
    alt = f"{view.title} by {title}"
    drawing.plot(figure, "by_kind", alt, partial(looks.families, shown["family"]))
    drawing.caption(
        _DESCRIBES * (key == query_slices.ANSWERED),
        f"Mean {view.measure} by {title}, systems in the order of all these queries.",
        "How to read this: a panel for each kind of query, with its mean and 95% interval"
        " (Student's t). Intervals of two systems that overlap are no test: both answer the same"
        " queries. Compare tests two systems, kind by kind.",
        "Every query counts the same, of whichever part." * (len(view.dataset.parts) > 1),
        "Labels of your own: python -m compute import-labels.",
        f"The {MOST_SYSTEMS} best of {len(ranked):,}." * (len(ranked) > MOST_SYSTEMS),
    )
