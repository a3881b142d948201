"""Removal of a dataset or a run on the Data page, with a confirmation; for operators."""

import streamlit as st

from compute.base.errors import BeirscopeError
from compute.jobs import removing
from pages._shared import drawing, escaping, navigation, reading, sign_in


def section(dataset: str, system: str = "") -> None:
    """Draw what a removal removes, a checkbox, and a button; or why it is not possible."""
    store = reading.store()
    try:
        told = removing.said(store, removing.planned(store, dataset, system), dataset)
    except BeirscopeError as error:
        drawing.caption(f"{str(error)[:1].upper()}{str(error)[1:]}.")
        return
    what = f"{system} on {dataset}" if system else dataset
    st.markdown(escaping.text(f"This removes {told}. It cannot be undone."))
    sure = st.checkbox(escaping.text(f"Yes, remove {what}"), key=f"sure {what}")
    if st.button("Remove", icon=":material/delete:", disabled=not sure, key=f"remove {what}"):
        sign_in.require(sign_in.OPERATOR)
        removing.remove(store, dataset, system)
        reading.AHEAD.await_published()
        st.session_state["_removed"] = f"Removed {what}: {told}."
        if system:
            navigation.to("data", show="Runs")
        st.rerun()


def tell() -> None:
    """Report the last removal once."""
    if told := st.session_state.pop("_removed", ""):
        st.success(escaping.text(told))


def a_run(dataset: str, system: str) -> None:
    """Draw the form that removes the run above."""
    if sign_in.may(sign_in.OPERATOR):
        with st.expander("Remove this run", icon=":material/delete:"):
            section(dataset, system)


def a_dataset(names: list[str]) -> None:
    """Draw the form that removes a dataset or table."""
    if sign_in.may(sign_in.OPERATOR) and names:
        with st.expander("Remove a dataset or table", icon=":material/delete:"):
            name = st.selectbox(
                "Dataset or table to remove",
                names,
                index=None,
                key="_removing",
                placeholder="none",
                width=320,
            )
            if name:
                section(name)
