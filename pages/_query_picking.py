"""Which systems' lists the page Query shows: up to four, named by the address in either manner."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from compute.figures.query import LISTS, first_pair
from pages import _address


def arrive() -> None:
    """Take over what a link or an address names: `systems=a,b`, or `a=` and `b=`; a document."""
    named = st.session_state.get("_arriving", {})
    for key in ("query", "document", "systems", "a", "b"):
        if key in named:
            st.query_params[key] = named.pop(key)
    _address.arrive()


def systems(known: Sequence[str], dataset: str, above: Any) -> list[str]:
    """The systems to show, from left to right; the picker is bound to the address."""
    if "systems" not in st.session_state:
        _spell_out(known)
    with above:
        _address.known("systems", known, f"run on {dataset}")
    named = st.session_state.get("systems", st.query_params.get_all("systems"))
    chosen = [name for name in dict.fromkeys(named) if name in known][:LISTS]
    chosen = chosen or list(dict.fromkeys(first_pair(known)))
    if st.session_state.get("systems") != chosen:
        st.session_state["systems"] = chosen
    shown = st.multiselect(
        "Systems",
        list(known),
        key="systems",
        max_selections=LISTS,
        placeholder="up to four",
        bind="query-params",
        width=430,
    )
    return shown or chosen


def _spell_out(known: Sequence[str]) -> None:
    """Have the address name each system by itself, as the picker does."""
    given = st.query_params.get_all("systems")
    names = [name for value in given for name in ([value] if value in known else split(value))]
    if not names:
        pair = [st.query_params.pop(key, None) for key in ("a", "b")]
        if any(pair):
            names = [name or usual for name, usual in zip(pair, first_pair(known), strict=True)]
    if names:
        st.query_params["systems"] = list(dict.fromkeys(names))


def split(names: str) -> list[str]:
    """Names between commas; those within the parentheses of a name part nothing."""
    found, depth = [""], 0
    for letter in names:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return [name.strip() for name in found if name.strip()]
