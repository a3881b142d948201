"""One run on the page Data: what it is and how it was made."""

import streamlit as st

from compute import queries
from pages import _shared, _ways
from pages._shared import read


def section(dataset: str, system: str) -> None:
    """The run of a system on a dataset."""
    if st.button("All runs", icon=":material/arrow_back:", type="tertiary"):
        _ways.to("data", show="Runs")
        _ways.follow()
    rows = read(queries.data.runs)
    rows = rows[(rows["dataset"] == dataset) & (rows["system"] == system)]
    if rows.empty:
        st.info(_shared.text(f"No run of {system} on {dataset} is stored here."))
        return
    st.subheader(_shared.text(f"{system} on {dataset}"), anchor=False)
    shown = rows.T.reset_index()
    shown.columns = ["what", "value"]
    st.dataframe(shown.astype("str"), hide_index=True)
