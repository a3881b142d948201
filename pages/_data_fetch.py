"""The section Fetch of the page Data."""

import streamlit as st

from compute import queries
from pages import _shared
from pages._shared import read


def section() -> None:
    """The datasets that can be had from their published address."""
    stored = set(read(queries.data.datasets)["dataset"])
    offered = read(queries.data.archives)
    offered["stored"] = offered["dataset"].isin(stored)
    st.dataframe(offered, hide_index=True)
    _shared.caption("Archives of these datasets are published; ticked ones are stored here.")
