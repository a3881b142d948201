"""Whether the order hangs on how datasets are averaged."""

from collections.abc import Sequence

import streamlit as st

from compute.views.leaderboard import aggregates
from compute.views.leaderboard.board import Board, short_titles
from pages._shared import colours, drawing, escaping


def section(board: Board, picked: Sequence[str]) -> None:
    """Ranks by several ways of averaging; nothing where there are few datasets or systems."""
    rows = aggregates.orders(board)
    if rows.empty:
        return
    titles = short_titles(board.systems)
    st.header("Does the order depend on how datasets are averaged?", anchor=False)
    st.markdown(escaping.text(aggregates.verdict(rows, titles)))
    shown = rows[rows["system"].isin(picked)]
    if (shown["way"] == aggregates.MEAN).any():
        figure = aggregates.matrix(shown, titles, theme=colours.theme())
        alt = f"Ranks by {board.measure} over {len(board.averaged)} datasets, averaged in many ways"
        drawing.plot(figure, "aggregates", alt)
    drawing.caption(
        f"Over {len(board.averaged)} datasets; in brackets the ranks in 95% of 1,000 draws of as"
        " many datasets with replacement.",
        "How to read this: the rank of each system, among all, by each way. Mean and median go by"
        " the values, the geometric mean by their logarithms, the share of the best by values"
        " divided by the best of the dataset; the mean by task counts each task the same. Ranks and"
        " wins go by the mean rank: Borda's count and Bradley and Terry's strengths (ties as"
        " Davidson) give the same order, since each system has each dataset. Ranks, wins and shares"
        " of the best hang on which systems take part. Draws say how far a rank hangs on which"
        " datasets there happen to be, and are no test.",
        *aggregates.notes(rows, titles),
    )
