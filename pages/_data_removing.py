"""Removing a dataset or a run on the page Data, behind a confirmation; for operators."""

import streamlit as st

from compute.base.errors import BeirscopeError
from compute.jobs import removing
from pages import _shared, _signing, _ways


def section(dataset: str, system: str = "") -> None:
    """What goes, a box to tick, and the button; without it where nothing can be removed."""
    store = _shared.store()
    try:
        told = removing.said(store, removing.planned(store, dataset, system), dataset)
    except BeirscopeError as error:
        _shared.caption(f"{str(error)[:1].upper()}{str(error)[1:]}.")
        return
    what = f"{system} on {dataset}" if system else dataset
    st.markdown(_shared.text(f"What goes: {told}. It cannot be taken back."))
    sure = st.checkbox(_shared.text(f"Yes, remove {what}"), key=f"sure {what}")
    if st.button("Remove", icon=":material/delete:", disabled=not sure, key=f"remove {what}"):
        _signing.require(_signing.OPERATOR)
        removing.remove(store, dataset, system)
        st.session_state["_removed"] = f"Removed {what}: {told}."
        if system:
            _ways.to("data", show="Runs")
        st.rerun()


def tell() -> None:
    """What the last removal took away, once."""
    if told := st.session_state.pop("_removed", ""):
        st.success(_shared.text(told))


def a_run(dataset: str, system: str) -> None:
    """Under a run: remove it."""
    if _signing.may(_signing.OPERATOR):
        with st.expander("Remove this run", icon=":material/delete:"):
            section(dataset, system)


def a_dataset(names: list[str]) -> None:
    """Under the datasets: remove one of them."""
    if _signing.may(_signing.OPERATOR) and names:
        with st.expander("Remove a dataset", icon=":material/delete:"):
            name = st.selectbox(
                "Dataset to remove",
                names,
                index=None,
                key="_removing",
                placeholder="none",
                width=320,
            )
            if name:
                section(name)
