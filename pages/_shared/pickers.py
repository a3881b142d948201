"""The pickers under a title. The address contains every choice, and each choice is a step in the
browser's history. Streamlit's own binding replaces the address in place, so that Back would skip
all choices, and writes a picker's label, which may be a title. These pickers write the name."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import streamlit as st

from compute.views.page.controls import LARGEST, LEAST, Number, Slide, Switch, Words
from compute.views.page.holders import OPEN
from pages._shared import escaping, export, page_run, streamlit_internals

UNTITLED: Mapping[str, str] = MappingProxyType({})


def pickers(aligned: str = "bottom") -> Any:
    """Return the row of pickers under the title; it wraps on a narrow screen."""
    return st.container(horizontal=True, vertical_alignment=aligned, gap="small")  # pyrefly: ignore


def pick(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: str | None = None,
    width: int = 190,
    disabled: bool = False,
    titles: Mapping[str, str] = UNTITLED,
    told: str | None = None,
    blank: bool = False,
) -> str:
    """Draw a picker of one of `options`, stored in the address under `key`, and return its value.
    `titles`: by option. `told`, in Markdown, is the tooltip. `blank`: show nothing, not the
    default, if the address names no option."""
    choices = list(options)
    usual = default if default in choices else next(iter(choices), None)
    usual = None if blank else usual
    _follow(key, lambda named: next((name for name in named if name in choices), usual))
    page_run.current().titles[key] = titles
    picked = st.selectbox(
        label,
        choices,
        format_func=partial(_title, titles),
        key=key,
        on_change=partial(_put, key, among=choices),
        width=width,
        disabled=disabled,
        help=told,
        placeholder="choose",
    )
    if disabled:
        page_run.current().named.pop(key)
    return export.picked(key, picked)


def view(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: str | None = None,
    titles: Mapping[str, str] = UNTITLED,
) -> str:
    """Draw the parts of a page side by side; return the chosen one, which the address stores."""
    choices = list(options)
    usual = default if default in choices else choices[0]
    _follow(key, lambda named: next((name for name in named if name in choices), usual))
    picked = st.segmented_control(
        label,
        choices,
        format_func=lambda name: escaping.text(_title(titles, name)) if titles else name,
        required=True,
        key=key,
        on_change=partial(_put, key),
        label_visibility="collapsed",
    )
    return export.picked(key, picked or usual)


def switch(switch: Switch) -> bool:
    """Draw a switch, stored in the address under its key, and return true if it is on."""
    key = switch.key
    _follow(key, lambda named: named == ["true"])
    return export.picked(key, st.toggle(switch.label, key=key, on_change=partial(_put, key)))


def pick_many(
    label: str,
    options: Sequence[str],
    key: str,
    *,
    default: Sequence[str] | None = None,
    width: int = 230,
    empty: str = "all",
    titles: Mapping[str, str] = UNTITLED,
    told: str | None = None,
) -> list[str]:
    """Draw a picker of some of `options`, stored in the address under `key`, and return its values.
    `empty` states the meaning of an empty choice, which the address records only if there is a
    `default`, even an empty one. `told`, in Markdown, is the tooltip."""
    choices = list(options)
    nothing = [] if default is None else [""]

    def meant(named: list[str]) -> list[str]:
        known = [name for name in dict.fromkeys(named) if name in choices]
        return known if known or named == [""] else list(default or ())

    _follow(key, meant, nothing)
    chosen = st.multiselect(
        label,
        choices,
        format_func=partial(_title, titles),
        key=key,
        placeholder=empty,
        on_change=partial(_put, key, nothing, choices),
        width=width,
        help=told,
    )
    return export.picked(key, chosen)


def words(words: Words) -> str:
    """Draw a field for a line of text, stored in the address under its key; return the text."""
    key = words.key
    _follow(key, lambda named: "".join(named[:1]))
    found = st.text_input(words.label, key=key, on_change=partial(_put, key), width=words.width)
    return export.picked(key, found)


def slide(slide: Slide) -> float:
    """Draw a slider from 0 to 1 in steps of .05, stored in the address; return its value."""
    key, steps = slide.key, {f"{step / 20:g}": step / 20 for step in range(21)}
    _follow(key, lambda named: steps.get("".join(named[:1]), slide.default))
    look: dict[str, Any] = {"step": 0.05, "on_change": partial(_put, key), "width": 260}
    return export.picked(key, st.slider(slide.label, 0.0, 1.0, key=key, **look))


def number(number: Number) -> float | None:
    """Draw a field for a number from LEAST to LARGEST or none, stored in the address."""
    key = number.key

    def meant(named: list[str]) -> float | None:
        try:
            found = float("".join(named[:1]))
        except ValueError:
            return None
        return found if LEAST <= found <= LARGEST else None

    _follow(key, meant)
    chosen = st.number_input(
        number.label,
        LEAST,
        LARGEST,
        value=None,
        step=0.01,
        format="%.3f",
        placeholder=f"such as {number.example}",
        help=f"From {LEAST:g} to {LARGEST:g}".replace("0.", "."),
        key=key,
        on_change=partial(_put, key),
        width=number.width,
    )
    return export.picked(key, chosen)


def expander(label: str, name: str, asks: Sequence[str]) -> Any:
    """Return an expander, which is open if the address names it or a control in it (`asks`)."""
    there = st.query_params.get_all(OPEN)
    key, shown = f"_open_{name}", name in there or any(one in st.query_params for one in asks)
    st.session_state[key] = shown

    def turned() -> None:
        if was_chosen(key) and st.session_state[key] != shown:
            others = [one for one in there if one != name]
            opened = [*others, *[name] * (not shown)]
            put(**{OPEN: opened}, **dict.fromkeys(asks if shown else (), ""))

    return st.expander(escaping.text(label), key=key, on_change=turned)


def put(**named: str | Sequence[str]) -> None:
    """Put these values into the address, in one step of the browser's history; empty ones are
    removed. Their pickers adapt, and so do the pickers below that nobody has set: the values that
    the page wrote into the address for these are removed."""
    order, own = [*page_run.current().named], st.session_state.get("_own", {})
    first = min((order.index(key) for key in named if key in order), default=len(order))
    for key in named:
        own.pop(key, None)
    now = {key: st.query_params.get_all(key) for key in st.query_params}
    left = {
        key: names for key, names in now.items() if names != own.get(key) or key in order[:first]
    }
    st.query_params.from_dict({key: value for key, value in (left | named).items() if value})


def note(key: str, names: list[str]) -> None:
    """Note values of the page that the address must contain; see `address.complete`."""
    page_run.current().named[key] = names


def unnamed() -> dict[str, list[str]]:
    """Return the shown values that are missing from the address. Unknown names in it when the page
    was opened stay, and are reported (`address.known`)."""
    return {
        key: names
        for key, names in page_run.current().named.items()
        if names != st.query_params.get_all(key) and not st.session_state.get(f"_wrong_{key}")
    }


def _title(titles: Mapping[str, str], name: str) -> str:
    return titles.get(name, name)


def begin() -> dict[str, Any]:
    """Return the initial values of this page's pickers, by key, that came from another page through
    `address.recall` instead of the address. Pickers drawn on other pages do not count."""
    here = streamlit_internals.page()
    on, usual = st.session_state.get("_usual", ("", {}))
    if on != here:
        for key in usual:
            st.session_state.pop(key, None)
        usual = {}
        st.session_state["_usual"], st.session_state["_own"] = (here, usual), {}
    return usual


def _follow(key: str, meant: Callable[[list[str]], Any], nothing: Sequence[str] = ()) -> None:
    """Make a picker show the value in the address, as if the address had just been opened. `meant`
    returns the value for the names in the address, which may be unknown."""
    state, usual = st.session_state, begin()
    if key not in usual:
        # A value that precedes the first drawing was recalled from another page.
        usual[key] = state.get(key)
    named = st.query_params.get_all(key)
    state[key] = meant(named or ([] if usual[key] is None else _names(usual[key])))
    state.setdefault("_shown", {})[key] = state[key]
    note(key, _names(state[key]) or list(nothing))


def _names(value: object) -> list[str]:
    """Return a value as an address writes it: on is `true`; off and nothing are left out."""
    if isinstance(value, bool):
        return ["true"] * value
    if isinstance(value, float):
        return [f"{value:g}"]
    return list(value) if isinstance(value, list) else [str(value)] * bool(value)


def was_chosen(key: str, among: Collection[str] | None = None) -> bool:
    """Return true if a person has changed a picker; for callbacks on a change. The browser sends
    the values of all pickers with every request, including those of fragments that run every two
    seconds, and may send values from before the page changed them. Neither these values nor a value
    that is no longer `among` the options is a choice."""
    if streamlit_internals.is_fragment_without_callback():
        return False
    return among is None or set(_names(st.session_state[key])) <= set(among)


def _put(key: str, nothing: Sequence[str] = (), among: Collection[str] | None = None) -> None:
    """Put a picker's value into the address if a person chose it; `nothing` stands for none."""
    if not was_chosen(key, among):
        return
    chosen = _names(st.session_state[key]) or nothing
    shown = st.query_params.get_all(key) or _names(st.session_state["_shown"].get(key))
    if list(chosen) != shown:
        put(**{key: chosen})
