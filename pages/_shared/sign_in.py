"""The user of this browser and their roles, checked at each action."""

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
"""Server options without which other sites' pages could act in a user's name."""


def check_server() -> None:
    """Raise Unavailable, with the remedy, if the server is open to more people than permitted."""
    now = settings.load()
    listen_address.check(now, st.get_option("server.address"))
    for name, wanted in _GUARDS.items():
        if st.get_option(name) != wanted:
            raise Unavailable(f"{name} is switched off: start the dashboard without that option")
    if now.sign_in and st.get_option("server.trustedUserHeaders"):
        raise Unavailable(
            "server.trustedUserHeaders lets any sender of a header act as anyone: start"
            " the dashboard"
            " without that option"
        )


def sign_in() -> listen_address.SignIn | None:
    """Return the sign-in from the server's secrets, if any; raise as `listen_address.sign_in`."""
    return listen_address.sign_in(
        settings.load(), [Path(file) for file in st.get_option("secrets.files")]
    )


def providers() -> tuple[str, ...]:
    """Return the providers that `st.login` accepts; none without sign-in."""
    found = sign_in()
    return found.providers if found else ()


def person() -> Person | None:
    """Return the signed-in user; None without sign-in, or if the sign-in does not count."""
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
    """Return the signed-in user's verified email address; empty without sign-in."""
    who = person()
    return who.email if who else ""


def role() -> Role | None:
    """Return the role of the user at this browser; without sign-in everyone has every role."""
    now = settings.load()
    if not now.sign_in:
        return OPERATOR
    who = person()
    return roles.role(now, who) if who else None


def may(needed: Role) -> bool:
    """Return true if the user at this browser has this role or a higher one."""
    has = role()
    return has is not None and has >= needed


def require(needed: Role, claims: Mapping[str, Any] | None = None) -> None:
    """Raise Unavailable unless the user at this browser has a role. Every action calls this before
    it acts, since hiding a button is not enough. Code that runs after the page, where Streamlit
    knows no user, passes the user's claims."""
    now = settings.load()
    if not now.sign_in:
        return
    who = _signed_in(now, claims)
    has = roles.role(now, who)
    if has is None or has < needed:
        raise Unavailable(roles.sentence(needed, who))


def download_button(label: str, data: Data | Callable[[], Data], **options: Any) -> None:
    """Draw a download button, which replaces Streamlit's on every page and does not rerun on click.
    A function makes the file on click, maybe long after the page was drawn, so it checks again
    whether the user may read. The gate checks files that already exist."""
    claims = st.user.to_dict()

    def made(make: Callable[[], Data]) -> Data:
        require(VIEWER, claims)
        return make()

    file = partial(made, data) if callable(data) else data
    st.download_button(label, file, on_click="ignore", **options)


def told(needed: Role) -> str:
    """Return the message shown instead of a control to users without the role."""
    words = roles.sentence(needed)
    return f"{words[:1].upper()}{words[1:]}."
