"""User of this browser, and their roles: checked at each action."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from compute.base import listen_address, roles, settings
from compute.base.errors import BeirscopeError, Unavailable
from compute.base.roles import OPERATOR, VIEWER, Person, Role
from compute.base.settings import Settings

Data = str | bytes
"""The content of a file."""
_GUARDS = {"server.enableXsrfProtection": True, "server.enableCORS": True}
"""Options of the server without which pages of others could act in a person's name."""


def check_server() -> None:
    """Raises Unavailable where the server is open to more than it may be, saying how."""
    now = settings.load()
    listen_address.check(now, st.get_option("server.address"))
    for name, wanted in _GUARDS.items():
        if st.get_option(name) != wanted:
            raise Unavailable(f"{name} is switched off: start the dashboard without that option")
    if now.sign_in and st.get_option("server.trustedUserHeaders"):
        raise Unavailable(
            "server.trustedUserHeaders lets any sender of a header be anybody: start the dashboard"
            " without that option"
        )


def sign_in() -> listen_address.SignIn | None:
    """The sign-in by the server's secrets; none where there is none.

    Raises as `listen_address.sign_in`.
    """
    return listen_address.sign_in(
        settings.load(), [Path(file) for file in st.get_option("secrets.files")]
    )


def providers() -> tuple[str, ...]:
    """Providers that `st.login` accepts; none without sign-in."""
    found = sign_in()
    return found.providers if found else ()


def person() -> Person | None:
    """Signed-in user; nobody where there is no sign-in, or where it does not count."""
    try:
        now = settings.load()
        return _signed_in(now) if now.sign_in else None
    except BeirscopeError:
        return None


def _signed_in(now: Settings, claims: Mapping[str, Any] | None = None) -> Person:
    claims = st.user.to_dict() if claims is None else claims
    if not claims.get("is_logged_in"):
        raise Unavailable("sign in first")
    return roles.person(now, claims)


def name() -> str:
    """The name of who signed in, their verified address; empty where there is no sign-in."""
    who = person()
    return who.email if who else ""


def role() -> Role | None:
    """The role of who is at this browser; without sign-in everybody has every role."""
    now = settings.load()
    if not now.sign_in:
        return OPERATOR
    who = person()
    return roles.role(now, who) if who else None


def may(needed: Role) -> bool:
    """True if the user of this browser has a role, or a higher one."""
    has = role()
    return has is not None and has >= needed


def require(needed: Role, claims: Mapping[str, Any] | None = None) -> None:
    """Raises Unavailable, in one sentence, unless who is at this browser has a role.

    Every action calls it before it acts; a page that hides a button does not do without. What runs
    after the page, where Streamlit knows nobody, gives the claims of whom it runs for.
    """
    now = settings.load()
    if not now.sign_in:
        return
    who = _signed_in(now, claims)
    has = roles.role(now, who)
    if has is None or has < needed:
        raise Unavailable(roles.sentence(needed, who))


def download_button(label: str, data: Data | Callable[[], Data], **options: Any) -> None:
    """Streamlit's, in whose place every page draws this one, without a rerun by a click.

    A function makes its file when the button is clicked, which may be long after the page was
    drawn: it asks anew whether its person may look. What is made already the gate gives out.
    """
    claims = st.user.to_dict()

    def made(make: Callable[[], Data]) -> Data:
        require(VIEWER, claims)
        return make()

    file = partial(made, data) if callable(data) else data
    st.download_button(label, file, on_click="ignore", **options)


def told(needed: Role) -> str:
    """Message in place of a control whose role the user lacks."""
    words = roles.sentence(needed)
    return f"{words[:1].upper()}{words[1:]}."
