"""The sections of the page Holes about the pool."""

from collections.abc import Sequence

import streamlit as st

from compute.views.holes import pools as figures
from compute.views.holes import select
from pages._frame import added_switch
from pages._holes.sections import table, titled
from pages._shared import colours, drawing
from pages._shared.reading import read


def pool(dataset: str, systems: Sequence[str], measure: str) -> None:
    """What each system alone brought, and who gains by added judgements."""
    if len(systems) < 2:
        return
    asked = {"dataset": dataset, "systems": list(systems), "measure": measure}
    rows = titled(read(select.left_out, **asked))
    st.header("Had a system not been judged", anchor=False)
    figure = figures.left_out(rows, measure, theme=colours.theme())
    drawing.plot(figure, "left_out", f"{measure} of systems left out of the pool")
    for words in figures.left_out_note(rows, measure):
        drawing.caption(words)
    with st.expander("What each system brought to the pool, as a table"):
        table(
            figures.left_out_table(rows, measure), "left-out-table", "Systems left out of the pool"
        )
    if not added_switch.recorded(dataset)["n_added"]:
        return
    gains = titled(read(select.gains, added=True, **asked))
    if gains["n_added"].any():
        st.header("Who gains by added judgements", anchor=False)
        table(figures.gains_table(gains, measure), "pool-gains", "What systems brought to the pool")
        drawing.caption(
            "How to read this: added judgements of documents in a system's lists, how many of them"
            " say relevant, and how many of those no other system shown has. A system can lose by"
            " what others are found to have right."
        )
