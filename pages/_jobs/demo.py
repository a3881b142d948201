"""The demo, which recomputes shipped runs to show that this machine reproduces their scores."""

import streamlit as st

from compute import jobs
from compute.recompute import demo
from compute.store.store import Store
from pages._shared import drawing, escaping, sign_in


def section(store: Store) -> None:
    """Draw the button that recomputes the demo, and a comparison of recomputed runs."""
    if not sign_in.may(sign_in.OPERATOR) or jobs.not_installed():
        return
    with st.expander("Recompute the demo", icon=":material/replay:"):
        drawing.caption(
            f"{len(demo.pairs())} runs ship with Beirscope: {len(demo.SYSTEMS)} systems on the"
            f" documentation of {len(demo.LIBRARIES)} libraries.",
            "Recompute them to check that this machine gets the same scores.",
        )
        if st.button("Recompute the demo", icon=":material/play_arrow:"):
            sign_in.require(sign_in.OPERATOR)
            started = jobs.start(store, "demo", person=sign_in.name())
            st.session_state["_demo"] = f"{started.sentence[:1].upper()}{started.sentence[1:]}."
        if said := st.session_state.get("_demo"):
            st.markdown(escaping.text(said))
        if said := _proof(store):
            st.markdown(escaping.text(said))


def _proof(store: Store) -> str:
    """Say how runs computed here compare with shipped ones; read once per version of the store."""
    version = store.version()
    kept = st.session_state.get("_proof", (None, ""))
    if kept[0] != version:
        proof = demo.proof(store)
        kept = version, f"{proof}." if proof.compared else ""
        st.session_state["_proof"] = kept
    return kept[1]
