"""Roles: what each person may do, by the settings and a verified e-mail address."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from compute.base.errors import Unavailable, WrongInput
from compute.base.settings import Settings


class Role(IntEnum):
    """The rights of a person; each role includes the earlier ones."""

    VIEWER = 1
    """Read and export."""
    ANNOTATOR = 2
    """Judge documents, under their own name."""
    OPERATOR = 3
    """Start, cancel and retry jobs, import, fetch and create tasks."""


VIEWER, ANNOTATOR, OPERATOR = Role

NAMES = {role: role.name.lower() for role in Role}
_ALLOWS = {
    VIEWER: "viewing this dashboard",
    ANNOTATOR: "judging",
    OPERATOR: "starting jobs, importing, fetching and creating tasks",
}


@dataclass(frozen=True)
class Person:
    """A signed-in person, identified by an e-mail address that the provider has verified."""

    email: str


def address(text: object) -> str:
    """Return an e-mail address in a form for comparison, with ASCII letters in lower case; empty if
    it is invalid. An address with other letters stays unchanged, since lower-casing would turn some
    of them into ASCII (the Kelvin sign into k)."""
    words = text.strip() if isinstance(text, str) else ""
    local, at, domain = words.partition("@")
    fits = local and at and domain and "@" not in domain and words.isprintable()
    if not fits or any(letter.isspace() or letter in ",;" for letter in words):
        return ""
    return words.lower() if words.isascii() else words


def person(settings: Settings, claims: Mapping[str, Any], now: float | None = None) -> Person:
    """Return the person that the provider's claims name. Raises Unavailable if the claims do not
    suffice: an address counts only if the provider has verified it (some providers say so in a
    string) and the sign-in is recent."""
    found = address(claims.get("email"))
    if not found:
        raise Unavailable(
            "the sign-in has no e-mail address: allow access to it, then sign in again"
        )
    if claims.get("email_verified") is not True and claims.get("email_verified") != "true":
        raise Unavailable(
            "the sign-in does not confirm that your e-mail address is verified: verify"
            " it there, then sign in again"
        )
    issued = claims.get("iat")
    age = (time.time() if now is None else now) - issued if isinstance(issued, int | float) else 0
    if settings.session_hours and age > 3600 * settings.session_hours:
        raise Unavailable("you signed in too long ago: sign in again")
    return Person(found)


def role(settings: Settings, who: Person) -> Role | None:
    """Return the highest role that the settings give a person; None if they give none. Raises
    WrongInput for a rule in the settings that is neither an address nor a domain."""
    lists = {VIEWER: settings.viewers, ANNOTATOR: settings.annotators, OPERATOR: settings.operators}
    given = [role for role, rules in lists.items() if any(_fits(rule, who) for rule in rules)]
    usual = _usual(settings)
    return max([*given, *([usual] if usual else [])], default=None)


def _fits(rule: str, who: Person) -> bool:
    """Return whether a rule, `ada@example.org` or `@example.org`, matches a person. A domain does
    not include its subdomains; there are no other patterns."""
    everybody_of = rule.strip().startswith("@")
    known = address(f"x{rule.strip()}" if everybody_of else rule)
    if not known or "*" in known or "?" in known:
        raise WrongInput(
            f"the settings give a role to {rule!r}, which is neither an e-mail address nor a"
            " domain such as @example.org: fix it (default_role applies to everyone who signs in)"
        )
    return known[1:] == who.email[who.email.index("@") :] if everybody_of else known == who.email


def _usual(settings: Settings) -> Role | None:
    """Return the role in `default_role`, which everyone who signs in has; None if it is empty."""
    known, given = {name: one for one, name in NAMES.items()}, settings.default_role
    if given and given not in known:
        raise WrongInput(f"default_role is {given!r}; known: {', '.join(known)}, or empty")
    return known.get(given)


def check(settings: Settings) -> None:
    """Raise WrongInput for an invalid rule or role in the settings."""
    role(settings, Person("nobody@invalid"))


def sentence(needed: Role, who: Person | None = None) -> str:
    """Return a sentence with the role that an action needs and, for a person, who can give it."""
    name = NAMES[needed]
    article = "an" if name[0] in "aeiou" else "a"
    told = f"{_ALLOWS[needed]} takes {article} {name}'s role"
    if who is None:
        return told
    return f"{told}, which {who.email} does not have: ask the operator of this dashboard"
