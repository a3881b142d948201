"""Pickers of systems: those that a page shows, and Query's up to four, whose names stand in the
address in either manner."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import streamlit as st

from compute.views.page import offers
from compute.views.query.words import LISTS
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
    return "\n".join(f"- {escaping.text(line)}" for line in offers.told(known)) or None


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


def systems(known: Sequence[str], dataset: str, above: Any) -> list[str]:
    """The systems to show, from left to right, as the address names them.

    The picker is not bound to it: Streamlit takes `systems=a,b` for one name, and drops it.
    """
    nothing = st.query_params.get_all("systems") == [""]
    first = usual_pair(known, dataset)
    given = _listed(known) or _pair(first)
    usual = [] if nothing else list(dict.fromkeys(first))
    last = () if nothing else st.session_state.get("_last_systems", ())
    chosen = next(
        there
        for names in (given, last, usual)
        if (there := [name for name in dict.fromkeys(names) if name in known][:LISTS]) or nothing
    )
    with above:
        said = _say(address.missing(given, known, f"run on {dataset}"))
    if given != chosen and not said:
        pickers.note("systems", chosen or [""])
    st.session_state["_systems"] = export.picked("systems", chosen)
    named, offered = titles(), with_versions(known, [dataset])
    st.multiselect(
        "Systems",
        offered,
        key="_systems",
        max_selections=LISTS,
        format_func=lambda name: named.get(name) or name,
        placeholder="up to four",
        help=told(known),
        on_change=partial(_choose, offered),
        width=430,
    )
    remember(chosen)
    return chosen


def _listed(known: Sequence[str]) -> list[str]:
    """What the address lists, one by one or between commas."""
    values = st.query_params.get_all("systems")
    return [name for one in values for name in ([one] if one in known else split(one))]


def _say(wrong: list[str]) -> list[str]:
    """Say what the address wrongly named when the page was opened, until it names something else.

    What another dataset lacks is the picker's own, and not said.
    """
    kept = st.session_state.get("_wrong_systems", [])
    now = [words for words in wrong if words in kept] if "_systems" in st.session_state else wrong
    st.session_state["_wrong_systems"] = now
    address.say_missing(now)
    return now


def _choose(known: list[str]) -> None:
    if pickers.was_chosen("_systems", known):
        _put(st.session_state["_systems"])


def _put(names: Sequence[str]) -> None:
    for key in ("systems", "a", "b"):
        st.query_params.pop(key, None)
    st.query_params["systems"] = list(names) or [""]


def usual_pair(known: Sequence[str], dataset: str) -> tuple[str, str]:
    """The two systems that a page shows unless told, whichever judgements it counts."""
    leading = read(catalogue.leading, added=False, dataset=dataset)
    return offers.first_pair(known, leading["system"].tolist())


def _pair(first: tuple[str, str]) -> list[str]:
    """What the address names as a and b, of which one may be left to the default."""
    if not {"a", "b"} & set(st.query_params):
        return []
    usual = zip(("a", "b"), first, strict=True)
    return [st.query_params.get(key) or default for key, default in usual]


def remember(systems: Sequence[str]) -> None:
    """Have the pages Query and Map start with these systems where their address names none."""
    st.session_state["_last_systems"] = list(systems)
    for key, name in zip(("system", "other"), systems, strict=False):
        address.remember(key, name)


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
