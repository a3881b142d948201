"""The assessor's name: the signed-in user's, else a name that is entered once and stored."""

from collections.abc import Callable

import streamlit as st

from compute.base import settings
from compute.base.errors import WrongInput
from compute.base.roles import ANNOTATOR
from compute.judgements.tasks.queue import Annotator
from pages import _judge
from pages._shared import drawing, escaping, sign_in

LONGEST = 60


def annotator() -> Annotator | None:
    """Return the person at this browser, if known. With sign-in this is the signed-in user, if they
    may judge, so that nobody judges under another name."""
    if settings.load().sign_in:
        return _signed_in()
    asked = st.session_state.get("_annotator", "")
    forget = st.session_state.get("_annotator_forgotten", False)
    sure = bool(asked or st.session_state.get("_annotator_name"))
    told = _judge.name({"keep": asked, "known": sure, "forget": forget}, key="_annotator_name")
    known = asked or ("" if forget else _clean(told))
    return Annotator(known) if known else None


def _signed_in() -> Annotator | None:
    name = sign_in.name()
    return Annotator(name, verified=True) if name and sign_in.may(ANNOTATOR) else None


def _clean(name: object) -> str:
    """Return a name with single spaces; empty if it is unprintable or too long."""
    words = " ".join(str(name or "").split())
    return words if words.isprintable() and len(words) <= LONGEST else ""


def known_as(name: str) -> Annotator:
    """Return a person who judged at this browser before and still may. Raises WrongInput for an
    unknown person, Unavailable without the role."""
    if settings.load().sign_in:
        sign_in.require(ANNOTATOR)
        if sign_in.name() != name:
            raise WrongInput(f"sign in as {name}, then open this list again")
        return Annotator(name, verified=True)
    if not name or _clean(name) != name:
        raise WrongInput("this name is not valid")
    return Annotator(name)


def names(lines: str) -> tuple[str, ...]:
    """Return the names in lines, each once, normalised as in `ask`, so that they can enter."""
    return tuple(dict.fromkeys(filter(None, (" ".join(n.split()) for n in lines.splitlines()))))


def ask() -> None:
    """Ask for a name once; with sign-in, state the role that judging needs."""
    if settings.load().sign_in:
        st.info(escaping.text(sign_in.told(ANNOTATOR)))
        return
    with st.form("annotator", width=520):
        st.text_input("Your name", key="_annotator_field", max_chars=LONGEST)
        again = st.form_submit_button("Continue", on_click=_answered)
    if again:
        st.warning(f"Enter a name of at most {LONGEST} characters.")
    drawing.caption(
        "Your name is stored with your judgements (not verified).",
        "It is kept in this browser.",
        "",
    )


def _answered() -> None:
    name = _clean(st.session_state.get("_annotator_field"))
    if name:
        st.session_state["_annotator"] = name
        st.session_state["_annotator_forgotten"] = False


def _forget(leave: Callable[[], None]) -> None:
    leave()
    st.session_state["_annotator"] = ""
    st.session_state["_annotator_forgotten"] = True


def shown(leave: Callable[[], None]) -> Annotator | None:
    """Return the person at this browser, and draw a button to switch unless sign-in names the
    person. `leave` is called before that person is forgotten."""
    person = annotator()
    if person:
        signed = "signed in" if person.verified else "not signed in"
        st.caption(escaping.text(f"Judging as {person.name} ({signed})."), width="content")
    if person and not person.verified:
        st.button("Change", type="tertiary", on_click=_forget, args=(leave,))
    return person
