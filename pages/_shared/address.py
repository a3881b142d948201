"""Address keys without a picker, and unknown names in the address."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import streamlit as st
import streamlit.components.v2 as components

from compute.views.page.controls import similar, unknown
from pages._shared import escaping, export, navigation, pickers

_IN_PLACE = components.component(
    "named_in_place",
    js="""
    export default function ({ data }) {
      const now = new URL(window.location.href);
      const place = ({ origin, pathname }) => origin + pathname.replace(/\\/$/, "");
      if (!data.url || place(now) !== place(new URL(data.url))) return;
      // The user may have moved on since the server ran the page.
      const sorted = (words) => {
        const found = new URLSearchParams(words);
        found.sort();
        return found.toString();
      };
      if (sorted(now.search) !== sorted(data.known)) return;
      for (const [key, values] of Object.entries(data.named)) {
        now.searchParams.delete(key);
        for (const value of values) now.searchParams.append(key, value);
      }
      window.history.replaceState(window.history.state, "", now);
    }
    """,
)


_CARRY = components.component(
    "carried_by_links",
    js="""
    export default function ({ data }) {
      const first = window.beirscopeCarried === undefined;
      window.beirscopeCarried = data.carried;
      if (!first) return;
      // Streamlit answers a plain click; a link that is opened in a tab of its own goes by itself.
      const MENU = "a[data-testid^=stTopNav], a[data-testid=stPageLink-NavLink]";
      const name = ({ target }) => {
        const link = target.closest?.(MENU);
        if (!link || (link.search && !link.dataset.carries)) return;
        link.dataset.carries = "true";
        link.search = window.beirscopeCarried;
      };
      for (const kind of ["pointerdown", "focusin"]) window.addEventListener(kind, name, true);
      const pass = (event) => {
        const apart = event.ctrlKey || event.metaKey || event.shiftKey;
        if (apart && event.target.closest?.(MENU)) event.stopPropagation();
      };
      window.addEventListener("click", pass, true);
    }
    """,
)


class Missing(NamedTuple):
    """An unknown name, a sentence about it, and similar known names."""

    name: str
    said: str
    near: list[str]


def known(key: str, names: Iterable[str], what: str, advice: str = "") -> None:
    """Report unknown names in the address, with links to similar ones or, if given, with `advice`;
    `what` says what they should name, such as "dataset with runs". The message stays through reruns
    until the picker changes. A name that this page has already shown is dropped without a message,
    since choosing another table or dataset may remove it."""
    shown = pickers.begin().setdefault(f"{key} shown", set())
    choices, given = list(names), st.query_params.get_all(key)
    shown.update(one for one in given if one in choices)
    found = [one for one in wrong(key) if one.name in given]
    if key not in st.session_state:
        left = [one for one in given if one in choices or one not in shown]
        if left != given:
            pickers.note(key, left)
        found = missing(left, choices, what, advice)
    st.session_state[f"_wrong_{key}"] = found
    say_missing(found, key)


def wrong(key: str) -> list[Missing]:
    """Return the unknown names in the address under a key."""
    return st.session_state.get(f"_wrong_{key}", [])


def say_missing(found: Sequence[Missing], key: str) -> None:
    """Warn of each unknown name in the address, with links that replace it by a similar name."""
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(escaping.text(one.said))
            for name in one.near:
                how: dict[str, Any] = {"icon": ":material/arrow_forward:", "type": "tertiary"}
                how |= {"on_click": _correct, "args": [key, one.name, name]}
                st.button(escaping.text(name), key=f"_near_{key}_{one.name}_{name}", **how)


def _correct(key: str, name: str, near: str) -> None:
    pickers.put(**{key: [near if one == name else one for one in st.query_params.get_all(key)]})


def missing(
    named: Iterable[str], choices: Sequence[str], what: str, advice: str = ""
) -> list[Missing]:
    """Return the names in the address that are not among the choices."""
    return [
        Missing(
            name, unknown(name, choices, what, advice), [] if advice else similar(name, choices)
        )
        for name in named
        if name and name not in choices
    ]


def choose(key: str, name: str | None) -> None:
    """Put a name into the address; for the `on_click` of a button."""
    if name:
        pickers.put(**{key: name})


def link(label: str, page: str, told: str = "", **names: str | Sequence[str]) -> None:
    """Draw a link to a page, such as pages/query.py, with names in its address and a tooltip."""
    mark = escaping.text(told) or None
    if st.button(escaping.text(label), icon=":material/arrow_forward:", type="tertiary", help=mark):
        navigation.to(Path(page).stem, **names)
        navigation.follow()


def complete() -> None:
    """Complete the address with all values of the drawn page, and the menu's links with those that
    other pages use. The browser replaces the address in place, since changes by the server would be
    steps in the history."""
    last = st.session_state.get("_last_dataset") or ()
    carried = {key: st.query_params.get_all(key) for key in navigation.COUNTED} | {"dataset": last}
    _CARRY(data={"carried": urlencode(carried, doseq=True)}, key="_carried")
    if named := pickers.unnamed():
        st.session_state["_own"] |= named
        given = {key: st.query_params.get_all(key) for key in st.query_params}
        known = urlencode(given, doseq=True)
        _IN_PLACE(data={"named": named, "known": known, "url": st.context.url}, key="_in_place")


def recall(key: str, names: Iterable[str]) -> None:
    """Start a picker with its last value on any page, unless a link or the address has one."""
    pickers.begin()
    last = st.session_state.get(f"_last_{key}")
    if key not in st.query_params and key not in st.session_state and last in list(names):
        st.session_state[key] = last


def remember(key: str, name: str) -> None:
    """Store a picker's value, for `recall` on the next page."""
    st.session_state[f"_last_{key}"] = name


def chosen(key: str, names: dict[str, str], usual: str = "") -> str:
    """Return the address's name, else `usual`, if `names` has it; else the first name, if any."""
    named = (st.query_params.get(key, ""), usual)
    return next((name for name in named if name in names), next(iter(names), ""))


def pick(key: str, label: str, names: dict[str, str], usual: str = "") -> None:
    """Draw a picker of `names` (name -> label, perhaps equal ones), stored under `key`."""
    st.session_state[f"_{key}"] = shown = export.picked(key, chosen(key, names, usual))
    pickers.note(key, [shown])

    def changed() -> None:
        # When a picker's names change, the browser sends the earlier value as if it were a choice,
        # which would be a step in the history.
        given = st.session_state[f"_{key}"]
        if pickers.was_chosen(f"_{key}", names) and given != shown:
            choose(key, given)

    st.selectbox(
        label,
        list(names),
        format_func=names.__getitem__,
        key=f"_{key}",
        on_change=changed,
        width="stretch",
    )
