"""Controls of a page; a control's key is also the key of its value in the address."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from compute.base.errors import Missing, WrongInput


@dataclass(frozen=True)
class Control:
    """An input that the reader sets."""

    key: str
    label: str = ""

    def value(self, given: Any) -> Any:
        """Value from an address or a caller; None without one. Raises Missing."""
        raise NotImplementedError


def _no_advice(name: str) -> str:
    return ""


@dataclass(frozen=True)
class Choice(Control):
    """One of several options."""

    options: Sequence[str] = ()
    default: str | None = None
    noun: str = ""
    """Noun for an option, used in the message on an unknown one; empty for no message."""
    advice: Callable[[str], str] = _no_advice
    """Next step for an unknown name, shown instead of similar names."""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    """Lines of the tooltip."""
    width: int = 190
    disabled: bool = False
    known: Sequence[str] = ()
    """Names that an address may contain, if it may contain more than the options."""
    recalls: Sequence[str] = ()
    """Identifier shared with other pages: the last value shown is the next default."""
    side_by_side: bool = False
    """True to show all options at once, as for the views of a page."""
    of_matrix: bool = False
    """True if it displays a matrix that a narrow screen replaces by lists."""

    def value(self, given: Any) -> Any:
        name = "".join(_names(given)[-1:])
        if name in self.options:
            return name
        if name:
            known = self.known or self.options
            refuse(name, known, self.noun or self.label.lower(), self.advice(name))
        return self.default if self.default in self.options else self.options[0]


@dataclass(frozen=True)
class Many(Control):
    """Any number of several options; `empty` says what an empty choice means."""

    options: Sequence[str] = ()
    default: Sequence[str] | None = None
    """If set, the address also records an empty choice."""
    noun: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    width: int = 230
    empty: str = "all"
    known: Sequence[str] = ()
    """Names that an address may contain, if it may contain more than the options."""

    def value(self, given: Any) -> Any:
        if given is None:
            return list(self.default or ())
        names = [name for name in _names(given) if name]
        for name in names:
            refuse(name, self.known or self.options, self.noun or self.label.lower())
        return [name for name in names if name in self.options]


@dataclass(frozen=True)
class Few(Control):
    """Up to `most` of several options, in the order in which they were chosen.

    An address lists them one by one or separated by commas.
    """

    options: Sequence[str] = ()
    known: Sequence[str] = ()
    """Names that an address may contain."""
    most: int = 4
    instead: Sequence[str] = ()
    """Names that the address has under the keys `replaces`, if it has no value under this key."""
    replaces: Sequence[str] = ()
    usual: Sequence[Sequence[str]] = ()
    """Defaults if the address has no known name: the first of these lists with a known name."""
    noun: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    width: int = 430
    empty: str = ""

    def named(self, given: Any) -> list[str]:
        """Names in an address, known or not."""
        parts = [[one] if one in self.known else split(one) for one in _names(given)]
        return [name for part in parts for name in part] or list(self.instead)

    def shown(self, given: Any) -> list[str]:
        """Known names from an address; none if the address chooses none."""
        usual = [] if _names(given) == [""] else self.usual
        for names in (self.named(given), *usual):
            if there := [name for name in dict.fromkeys(names) if name in self.known]:
                return there[: self.most]
        return []

    def value(self, given: Any) -> Any:
        for name in self.named(given):
            refuse(name, self.known, self.noun)
        return self.shown(given)


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    def value(self, given: Any) -> Any:
        return _names(given) == ["true"]


LEAST, LARGEST = 0.001, 1.0
"""Bounds of the number, which is a difference of two means."""


@dataclass(frozen=True)
class Number(Control):
    """A difference of two means, or none."""

    example: str = ""
    width: int = 190

    def value(self, given: Any) -> Any:
        """Raise WrongInput if the value is not a difference of two means."""
        found = _number(self, given)
        if found is None or LEAST <= found <= LARGEST:
            return found
        raise WrongInput(
            f"{self.label or self.key} is not between {LEAST:g} and {LARGEST:g}: {given}"
        )


@dataclass(frozen=True)
class Slide(Control):
    """A number from 0 to 1 in steps of .05."""

    default: float = 0.0

    def value(self, given: Any) -> Any:
        """Raise WrongInput for a value that is not a number."""
        return self.default if (found := _number(self, given)) is None else found


@dataclass(frozen=True)
class Words(Control):
    """A line of text."""

    width: int = 190

    def value(self, given: Any) -> Any:
        return "".join(_names(given)[-1:])


@dataclass(frozen=True)
class Pick(Control):
    """One of many things, each shown by a text that need not be unique."""

    shown: Mapping[str, str] = field(default_factory=dict)
    """Text for each name."""
    usual: str = ""
    remembered: str = ""
    """Name under which `Recalled` finds the last shown value."""

    def value(self, given: Any) -> Any:
        named = ("".join(_names(given)[-1:]), self.usual)
        return next((name for name in named if name in self.shown), next(iter(self.shown), ""))


@dataclass(frozen=True)
class Offered(Control):
    """Options of a control elsewhere, which reports unknown names in the address itself."""

    options: Collection[str] = ()
    noun: str = ""
    advice: str = ""

    def value(self, given: Any) -> Any:
        for name in filter(None, _names(given)):
            refuse(name, list(self.options), self.noun, self.advice)


@dataclass(frozen=True)
class Asked(Control):
    """Value of an address key, without a widget."""

    many: bool = False
    """True for all names (none for an absent key); otherwise the last name as text."""
    opened: bool = False
    """True for its value when the page was opened."""

    def value(self, given: Any) -> Any:
        names = _names(given)
        return names if self.many else "".join(names[-1:])


def _number(control: Control, given: Any) -> float | None:
    name = "".join(_names(given)[-1:])
    try:
        return float(name) if name else None
    except ValueError as error:
        raise WrongInput(f"{control.label or control.key} is not a number: {name!r}") from error


def _names(given: Any) -> list[str]:
    """A value as written in an address: on is true; off and nothing are absent."""
    if given is None or isinstance(given, bool):
        return ["true"] * bool(given)
    return list(given) if isinstance(given, list | tuple) else [str(given)]


def split(names: str) -> list[str]:
    """Names separated by commas; commas inside the parentheses of a name do not count."""
    found, depth = [""], 0
    for letter in names:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return [name.strip() for name in found if name.strip()]


def refuse(name: str, options: Sequence[str], noun: str, advice: str = "") -> None:
    """Raise Missing, with the next step, for a name that is not an option."""
    if name not in options:
        raise Missing(unknown(name, options, noun, advice))


def similar(name: str, options: Sequence[str]) -> list[str]:
    """Up to three options that may be meant by a name."""
    return get_close_matches(name, options, n=3, cutoff=0.5)


def unknown(name: str, options: Sequence[str], noun: str, advice: str = "") -> str:
    """Message on a name that is not an option."""
    near = similar(name, options)
    hint = f"Did you mean {' or '.join(near)}?" if near else "Choose another below."
    return f"No {noun} here is called {name}. {advice or hint}"
