"""Jobs on datasets that do not run systems: scores, lengths, word counts, query clusters."""

from collections.abc import Sequence

import streamlit as st

from compute import jobs
from compute.base.errors import BeirscopeError
from compute.store.store import Store
from pages._shared import dataset_facts, escaping, sign_in

KINDS = ("score", "lengths", "overlap", "clusters")


def start(store: Store, datasets: Sequence[str]) -> None:
    """Draw controls that start one of KINDS on stored datasets."""
    if not sign_in.may(sign_in.OPERATOR) or not datasets:
        return
    with st.expander("Score, count or cluster stored data", icon=":material/calculate:"):
        of = {kind: f"{kind}: {jobs.KINDS[kind].text}" for kind in KINDS}
        kind = st.selectbox("Work", KINDS, format_func=of.__getitem__, key="_other_kind", width=520)
        titles = dataset_facts.titles()
        look = {"format_func": lambda name: titles.get(name, name), "key": "_other_datasets"}
        names = st.multiselect("Datasets", datasets, width=520, **look)
        if st.button("Start it", icon=":material/play_arrow:", disabled=not names):
            sign_in.require(sign_in.OPERATOR)
            try:
                started = jobs.start(store, kind, [], names, person=sign_in.name())
            except BeirscopeError as error:
                st.error(escaping.text(str(error)))
                return
            st.session_state["_other"] = f"{started.sentence[:1].upper()}{started.sentence[1:]}."
        if said := st.session_state.get("_other"):
            st.markdown(escaping.text(said))
