"""What the address names, where no picker holds it; names that there are not."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
import streamlit.components.v2 as components

from compute.evaluate.measures import is_measure
from pages._shared import escaping, export, navigation, pickers, reading

_IN_PLACE = components.component(
    "named_in_place",
    js="""
    export default function ({ data }) {
      const now = new URL(window.location.href);
      const place = ({ origin, pathname }) => origin + pathname.replace(/\\/$/, "");
      if (!data.url || place(now) !== place(new URL(data.url))) return;
      const before = now.search;
      for (const [key, values] of Object.entries(data.named)) {
        if (now.searchParams.has(key) && !data.instead) continue;
        now.searchParams.delete(key);
        for (const value of [values].flat()) now.searchParams.append(key, value);
      }
      if (now.search === before) return;
      window.history.replaceState(window.history.state, "", now);
    }
    """,
)


def known(key: str, names: Iterable[str], what: str, advice: str = "") -> None:
    """Say so where the address names something that there is not; pickers then show a default.

    It stays through reruns until the picker is changed. What a picker has shown already is its
    own: choosing another table may take its name away.
    """
    pickers.begin()
    if key not in st.session_state:
        st.session_state[f"_wrong_{key}"] = missing(
            st.query_params.get_all(key), list(names), what, advice
        )
        st.session_state.pop(f"_default_{key}", None)
    elif (
        st.session_state.setdefault(f"_default_{key}", st.session_state[key])
        != (st.session_state[key])
    ):
        st.session_state[f"_wrong_{key}"] = []
    for words in st.session_state.get(f"_wrong_{key}", []):
        st.warning(escaping.text(words))


def measures() -> list[str]:
    """The measures that a picker offers; says so where the address names none of them."""
    offered = reading.measures()
    further = [name for name in st.query_params.get_all("measure") if is_measure(name)]
    score = f"python -m compute score --measure {shlex.quote(further[0])}" if further else ""
    known("measure", offered, "measure", f"To score the stored runs by it: {score}" * bool(score))
    return offered


def missing(named: Iterable[str], choices: Sequence[str], what: str, advice: str = "") -> list[str]:
    """A sentence for each name in the address that is none of the choices."""
    found = []
    for name in named:
        if name and name not in choices:
            near = get_close_matches(name, choices, n=3, cutoff=0.5)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Choose another below."
            found.append(f"No {what} here is called {name}. {advice or hint}")
    return found


def choose(key: str, name: str | None) -> None:
    """Put a name into the address, for the `on_click` of a button."""
    if name:
        st.query_params[key] = name


def begin(title: str) -> None:
    """Begin a run of a page: what the last one showed stays pinned until this one pins its own.

    A click that comes early ends a run before it has shown, and pinned, anything.
    """
    state = st.session_state
    before = state.get("_pinned") or state.get("_pinned_before", {})
    state["_pinned_before"] = before if state.get("_pinned_on") == title else {}
    state["_pinned"], state["_pinned_on"] = {}, title


def pin(key: str, name: str) -> None:
    """Keep what is shown without the address naming it, for `unpin`."""
    st.session_state["_pinned"][key] = st.session_state.get("dataset"), name


def unpin() -> None:
    """Have the address name what is shown, lest a change of judgements puts another first."""
    state = st.session_state
    pinned = state.get("_pinned_before", {}) | state.get("_pinned", {})
    for key, (dataset, name) in pinned.items():
        if dataset == state.get("dataset"):
            choose(key, name)


def link(label: str, page: str, told: str = "", **names: str | Sequence[str]) -> None:
    """A link to a page, such as pages/query.py, whose address has these names; `told` stands behind
    its mark."""
    mark = escaping.text(told) or None
    if st.button(escaping.text(label), icon=":material/arrow_forward:", type="tertiary", help=mark):
        navigation.to(Path(page).stem, **names)
        navigation.follow()


def arrive() -> None:
    """Set the pickers that a link named; a page calls it before it draws them."""
    # Even of nothing an update is sent, to a browser whose address `name` may have made longer.
    if named := st.session_state.pop("_arriving", {}):
        st.query_params.update(named)


def name(**named: str) -> None:
    """Have the address name what a page shows by itself, such as which numbers, where it does not
    name that already.

    The browser writes it into the address in place: what the server writes is a step Back.
    """
    _write(named, instead=False)


def name_instead(**named: Sequence[str]) -> None:
    """As `name`, but what the address named before makes way."""
    _write(named, instead=True)


def forget(key: str, names: Collection[str]) -> None:
    """Have the address name no more what another dataset had, in place; what was wrong from the
    start stays, and is said (`known`)."""
    given = st.query_params.get_all(key)
    wrong = given if not st.session_state.get(f"_wrong_{key}") else []
    if any(name and name not in names for name in wrong):
        _write({key: []}, instead=True, of=key)


def _write(named: Mapping[str, str | Sequence[str]], *, instead: bool, of: str = "") -> None:
    # The address that the server knows: after each step the browser looks again.
    known = urlencode({key: st.query_params.get_all(key) for key in st.query_params}, doseq=True)
    data = {"named": named, "instead": instead, "url": st.context.url, "known": known}
    _IN_PLACE(data=data, key=f"_named_{instead}{of}")


def recall(key: str, names: Iterable[str]) -> None:
    """Start a picker with what it showed last anywhere, unless a link or the address names one."""
    pickers.begin()
    last = st.session_state.get(f"_last_{key}")
    if key not in st.query_params and key not in st.session_state and last in list(names):
        st.session_state[key] = last


def remember(key: str, name: str) -> None:
    """Keep what a picker shows, for `recall` on the next page."""
    st.session_state[f"_last_{key}"] = name


def chosen(key: str, names: dict[str, str], usual: str = "") -> str:
    """The name in the address if it is one of `names`, else the `usual` if that is one, else their
    first; empty for none."""
    named = (st.query_params.get(key, ""), usual)
    return next((name for name in named if name in names), next(iter(names), ""))


def pick(key: str, label: str, names: dict[str, str], usual: str = "") -> None:
    """A picker of `names` (name -> what it shows), kept in the address under `key`.

    What it shows is a text, by which the names are not to be told apart.
    """
    st.session_state[f"_{key}"] = shown = export.picked(key, chosen(key, names, usual))

    def changed() -> None:
        # Of a picker whose names change the browser sends what it showed before, as if it had been
        # chosen: each would be a step Back.
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
