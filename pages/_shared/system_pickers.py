"""Pickers of systems: those that a page shows, and Query's up to four, whose names stand in the
address in either manner."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from compute.views.page import Few, offers
from pages._shared import address, escaping, export, pickers
from pages._shared.served import Served


def titles() -> dict[str, str]:
    """Title of each system and of each of its versions, by name."""
    return offers.system_titles(Served())


def _lines(lines: Sequence[str]) -> str | None:
    return "\n".join(f"- {escaping.text(line)}" for line in lines) or None


def few(few: Few, above: Any) -> list[str]:
    """The options to show, as the address names them; `above` takes what is wrong there.

    The picker is not bound to it: Streamlit takes `systems=a,b` for one name, and drops it.
    """
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
        help=_lines(few.told),
        on_change=partial(_choose, few),
        width=few.width,
    )
    return chosen


def _say(key: str, wrong: list[str]) -> list[str]:
    """Say what the address wrongly named when the page was opened, until it names something else.

    What another dataset lacks is the picker's own, and not said.
    """
    kept = st.session_state.get(f"_wrong_{key}", [])
    now = [words for words in wrong if words in kept] if f"_{key}" in st.session_state else wrong
    st.session_state[f"_wrong_{key}"] = now
    address.say_missing(now)
    return now


def _choose(few: Few) -> None:
    shown = f"_{few.key}"
    if pickers.was_chosen(shown, few.options):
        for key in (few.key, *few.replaces):
            st.query_params.pop(key, None)
        st.query_params[few.key] = list(st.session_state[shown]) or [""]


def remember(systems: Sequence[str]) -> None:
    """Have Compare, Query and Map start with these systems where their address names none."""
    st.session_state["_last_systems"] = list(systems)
    for keys in (("system", "other"), ("a", "b")):
        for key, name in zip(keys, systems, strict=False):
            address.remember(key, name)
