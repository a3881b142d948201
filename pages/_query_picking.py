"""Which systems' lists the page Query shows: up to four, named by the address in either manner."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from compute.figures.query import LISTS, first_pair
from pages import _address


def arrive() -> None:
    """Take over what a link names; it may name systems, or a and b, as an address may."""
    named = st.session_state.get("_arriving", {})
    if given := {key: named.pop(key) for key in ("systems", "a", "b") if key in named}:
        st.session_state["_given"] = given
    _address.arrive()


def systems(known: Sequence[str], dataset: str, above: Any) -> list[str]:
    """The systems to show, from left to right; the picker is bound to the address."""
    given = st.session_state.pop("_given", None)
    if given is None and "systems" not in st.session_state:
        _spell_out(known)
    with above:
        _address.known("systems", known, f"run on {dataset}")
    now = st.session_state.get("systems", st.query_params.get_all("systems"))
    named = now if given is None else _named([given.get("systems", "")], given, known)
    chosen = next(
        there
        for names in (named, st.session_state.get("_last_systems", ()), first_pair(known))
        if (there := [name for name in dict.fromkeys(names) if name in known][:LISTS])
    )
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
    remember(shown or chosen)
    return shown or chosen


def remember(systems: Sequence[str]) -> None:
    """Have the pages Query and Map start with these systems where their address names none."""
    st.session_state["_last_systems"] = list(systems)
    for key, name in zip(("system", "other"), systems, strict=False):
        _address.remember(key, name)


def _spell_out(known: Sequence[str]) -> None:
    """Have the address name each system by itself, as the picker does."""
    now = st.query_params.get_all("systems")
    names = _named(now, st.query_params, known)
    for key in ("a", "b"):
        st.query_params.pop(key, None)
    if names != now:
        st.query_params["systems"] = names


def _named(values: Sequence[str], pair: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """The names in values of `systems`, else a and b, of which one may be left to the default."""
    names = [name for value in values for name in ([value] if value in known else split(value))]
    if not names and ("a" in pair or "b" in pair):
        usual = zip(("a", "b"), first_pair(known), strict=True)
        names = [pair.get(key) or default for key, default in usual]
    return list(dict.fromkeys(names))


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
