"""The sections of the page Holes."""

from collections.abc import Sequence

import streamlit as st
from pandas import DataFrame

from compute import holes, queries
from compute.figures import holes as figures
from compute.figures import turning
from pages import _shared
from pages._shared import read

MEASURES = tuple(f"{name}@{k}" for k in (10, 5, 20) for name in ("nDCG", "P", "R"))
MOST_PAIRED = 20
"""Systems of a matrix: more make too many pairs to read."""


def scores(dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """Draw every score with its interval; returns the systems in the order of their scores."""
    asked = {"dataset": dataset, "systems": list(systems), "measure": measure}
    rows = read(queries.holes.bounds, **asked)
    rows = rows.merge(read(queries.leaderboard.systems), on="system", how="left")
    rows["title"] = rows["title"].fillna(rows["system"])
    recorded = read(queries.holes.recorded, dataset=dataset).to_dict("records")[0]
    counts = ("n_not_relevant", "n_added", "n_added_not_relevant")
    told = holes.tells_more(*(int(recorded[name]) for name in counts))
    if told:
        rows = rows.merge(read(queries.holes.estimates, **asked), on="system")
    figure = figures.score_intervals(rows, measure, theme=_shared.theme())
    _shared.plot(figure, "intervals", f"{measure} of systems and what it can be")
    _shared.caption(*figures.intervals_note(rows, measure, recorded, told=told))
    with st.expander("The numbers"):
        st.dataframe(figures.interval_table(rows, measure), hide_index=True)
    return rows


def orders(dataset: str, rows: DataFrame, measure: str) -> None:
    """Which orders of two systems the holes could turn."""
    shown = rows.head(MOST_PAIRED)
    if len(shown) < 2:
        return
    st.subheader("Could the holes turn the order?", anchor=False)
    asked = {"dataset": dataset, "systems": shown["system"].tolist(), "measure": measure}
    pairs = read(queries.holes.pairs, **asked)
    figure = turning.order_matrix(shown, pairs, measure, theme=_shared.theme())
    _shared.plot(figure, "orders", "Which orders of two systems the holes could turn")
    _shared.caption(*turning.orders_note(pairs, n_left_out=len(rows) - len(shown)))


def ranks(dataset: str, rows: DataFrame, measure: str) -> None:
    """Where in the lists the holes are."""
    st.subheader("Where the holes are", anchor=False)
    k = int(measure.partition("@")[2])
    counts = read(queries.holes.by_rank, dataset=dataset, systems=rows["system"].tolist(), k=k)
    figure = figures.rank_heatmap(rows, counts, theme=_shared.theme())
    _shared.plot(figure, "ranks", "Share of unjudged documents by system and rank")
    _shared.caption(
        "Of the queries with a document at a rank, the percentage where nobody judged it for that"
        " query: the darker, the less is known."
    )
