"""Pickers of systems: titles, and the picker of up to four systems on Query."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from compute.views.page import Few, offers
from pages._shared import address, escaping, export, pickers
from pages._shared.served import Served


def titles() -> dict[str, str]:
    """Return the title of each system and superseded version, by name."""
    return offers.system_titles(Served())


def few(few: Few, above: Any) -> list[str]:
    """Draw a picker of a few systems and return those shown; `above` gets messages on unknown
    names. Streamlit would read `systems=a,b` as one name and drop it, so the picker is unbound."""
    key, given = few.key, st.query_params.get_all(few.key)
    chosen, named = few.shown(given), few.named(given)
    with above:
        said = _say(key, address.missing(named, few.known, few.noun))
    if named != chosen and not said:
        pickers.note(key, chosen or [""])
    st.session_state[f"_{key}"] = export.picked(key, chosen)
    st.multiselect(
        few.label,
        few.options,
        key=f"_{key}",
        max_selections=few.most,
        format_func=lambda name: few.titles.get(name) or name,
        placeholder=few.empty,
        help=escaping.listed(few.told),
        on_change=partial(_choose, few),
        width=few.width,
    )
    return chosen


def _say(key: str, wrong: list[address.Missing]) -> list[address.Missing]:
    """Report unknown names that the address had when the page was opened, until the address
    changes; return them. Names that another dataset lacks come from the picker and are not
    reported."""
    kept = address.wrong(key)
    now = [one for one in wrong if one in kept] if f"_{key}" in st.session_state else wrong
    st.session_state[f"_wrong_{key}"] = now
    address.say_missing(now, key)
    return now


def _choose(few: Few) -> None:
    shown = f"_{few.key}"
    if pickers.was_chosen(shown, few.options):
        for key in (few.key, *few.replaces):
            st.query_params.pop(key, None)
        st.query_params[few.key] = list(st.session_state[shown]) or [""]


def remember(systems: Sequence[str]) -> None:
    """Let Compare, Query and Map start with these systems if their address names none."""
    st.session_state["_last_systems"] = list(systems)
    for keys in (("system", "other"), ("a", "b")):
        for key, name in zip(keys, systems, strict=False):
            address.remember(key, name)
