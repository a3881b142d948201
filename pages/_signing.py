"""Who is at this browser, and what they may do: asked anew at each action."""

import streamlit as st

from compute import roles, settings
from compute.errors import BeirscopeError, Unavailable
from compute.roles import ANNOTATOR, OPERATOR, VIEWER, Person, Role
from compute.settings import Settings

__all__ = ["ANNOTATOR", "OPERATOR", "VIEWER", "Person", "Role", "may", "person", "require", "role"]


def person() -> Person | None:
    """Who signed in; nobody where there is no sign-in, or where it does not count."""
    now = settings.load()
    try:
        return _signed_in(now) if now.sign_in else None
    except BeirscopeError:
        return None


def _signed_in(now: Settings) -> Person:
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        raise Unavailable("sign in first")
    return roles.person(now, claims)


def role() -> Role | None:
    """The role of who is at this browser; without sign-in everybody has every role."""
    now = settings.load()
    if not now.sign_in:
        return OPERATOR
    who = person()
    return roles.role(now, who) if who else None


def may(needed: Role) -> bool:
    """Whether who is at this browser has a role, or a higher one."""
    has = role()
    return has is not None and has >= needed


def require(needed: Role) -> None:
    """Raises Unavailable, in one sentence, unless who is at this browser has a role.

    Every action calls it before it acts; a page that hides a button does not do without.
    """
    now = settings.load()
    if not now.sign_in:
        return
    who = _signed_in(now)
    has = roles.role(now, who)
    if has is None or has < needed:
        raise Unavailable(roles.sentence(needed, who))


def told(needed: Role) -> str:
    """What to say in the place of what takes a role that who is at this browser lacks."""
    words = roles.sentence(needed)
    return f"{words[:1].upper()}{words[1:]}."
