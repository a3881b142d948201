"""Pickers of systems: those that a page shows, and Query's up to four, whose names stand in the
address in either manner."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import streamlit as st

from compute.views.page import Few, offers
from compute.views.shared import catalogue
from pages._shared import address, escaping, export, pickers
from pages._shared.reading import read
from pages._shared.served import Served


def titles() -> dict[str, str]:
    """Title of each system and of each of its versions, by name."""
    return offers.system_titles(Served())


def with_versions(known: Sequence[str], datasets: Collection[str]) -> list[str]:
    """The systems, after each its versions on these datasets."""
    return offers.with_versions(Served(), known, datasets)


def told(known: Sequence[str]) -> str | None:
    """Lines of `offers.told` in Markdown, for the tooltip of a picker."""
    return _lines(offers.told(known))


def _lines(lines: Sequence[str]) -> str | None:
    return "\n".join(f"- {escaping.text(line)}" for line in lines) or None


def picked(
    known: Sequence[str], what: str, above: Any, datasets: Collection[str] = ()
) -> list[str]:
    """The systems that a page shows, in the order of `known`: those picked, or all.

    `above` takes what is wrong in the address; `what` says what they are, as in "run on scifact".
    Their versions on `datasets` can be picked, too, and are not shown unless they are.
    """
    with above:
        address.known("systems", known, what)
    offered = with_versions(known, datasets)
    chosen = pickers.pick_many(
        "Systems", offered, "systems", width=330, titles=titles(), told=told(known)
    )
    return [name for name in known if name in chosen] or list(known)


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


def usual_pair(known: Sequence[str], dataset: str) -> tuple[str, str]:
    """The two systems that a page shows unless told, whichever judgements it counts."""
    leading = read(catalogue.leading, added=False, dataset=dataset)
    return offers.first_pair(known, leading["system"].tolist())


def remember(systems: Sequence[str]) -> None:
    """Have the pages Query and Map start with these systems where their address names none."""
    st.session_state["_last_systems"] = list(systems)
    for key, name in zip(("system", "other"), systems, strict=False):
        address.remember(key, name)
