"""Facts on a system: a picker below every page, and the card that `about` in the address opens."""

import streamlit as st

from compute.systems import SYSTEMS
from compute.views.about import system_card
from compute.views.shared import catalogue
from pages._shared import address, page_run, pickers, reading, renderer, system_pickers

WITHOUT = ("Judge",)
"""Pages without the picker, because assessors must not see system names."""


def footer(title: str) -> None:
    """Draw the picker below the page, with the page's systems first, and the requested card."""
    if title in WITHOUT or st.query_params.get("show") == "Import":
        return
    here = sorted({system for _, system in page_run.current().rests_on.runs})
    stored = {part.system for part in reading.parts() if part.kind == "hits"}
    names = list(dict.fromkeys([*here, *SYSTEMS, *sorted(stored)]))
    titles = system_pickers.titles()
    with st.container(key="_about_row", width=430):
        st.selectbox(
            "About a system",
            names,
            index=None,
            placeholder="Paper, weights, settings and training of a system",
            format_func=lambda name: titles.get(name, name),
            key="_about",
            on_change=_choose,
            label_visibility="collapsed",
        )
    named = st.query_params.get(catalogue.CARD, "")
    if named in names:
        renderer.section([system_card.window(named)])
    elif named:
        address.say_missing(address.missing([named], names, "system"), "about")


def _choose() -> None:
    name = st.session_state["_about"]
    st.session_state["_about"] = None
    if name:
        pickers.put(**{catalogue.CARD: name})
