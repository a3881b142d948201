"""Controls of a page: each has a key, under which the address keeps its value."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from compute.base.errors import Missing, WrongInput


@dataclass(frozen=True)
class Control:
    """Something that a reader sets."""

    key: str
    label: str = ""

    def value(self, given: Any) -> Any:
        """Value for what an address or a caller gives; None for nothing. Raises Missing."""
        raise NotImplementedError


def _no_advice(name: str) -> str:
    return ""


@dataclass(frozen=True)
class Choice(Control):
    """One of several options."""

    options: Sequence[str] = ()
    default: str | None = None
    noun: str = ""
    """An option in words, for the message about an unknown one; without it there is no message."""
    advice: Callable[[str], str] = _no_advice
    """Next step for an unknown name, instead of similar names."""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    """Lines of the tooltip."""
    width: int = 190
    disabled: bool = False
    known: Sequence[str] = ()
    """Names that an address may hold, where they are more than the options."""
    recalls: Sequence[str] = ()
    """Options that this page shares with other pages: the last one shown is the next default."""
    side_by_side: bool = False
    """All options in sight: views of a page."""

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
    """Any number of several options; `empty` says what none of them means."""

    options: Sequence[str] = ()
    default: Sequence[str] | None = None
    """With one, even of nothing, the address says so where none is chosen."""
    noun: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    width: int = 230
    empty: str = "all"
    known: Sequence[str] = ()
    """Names that an address may hold, where they are more than the options."""

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

    An address names them one by one or between commas.
    """

    options: Sequence[str] = ()
    known: Sequence[str] = ()
    """Names that an address may hold."""
    most: int = 4
    instead: Sequence[str] = ()
    """Names that the address has under the keys `replaces`, where it has none under this one."""
    replaces: Sequence[str] = ()
    usual: Sequence[Sequence[str]] = ()
    """Default where the address names none that is known: the first of these with one that is."""
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
        """Known names for what an address gives; none where it says so."""
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
"""Limits of a number: a difference of two means."""


@dataclass(frozen=True)
class Number(Control):
    """A difference of two means, or none."""

    example: str = ""
    width: int = 190

    def value(self, given: Any) -> Any:
        """Raises WrongInput for a value that is no such number."""
        found = _number(self, given)
        if found is None or LEAST <= found <= LARGEST:
            return found
        raise WrongInput(f"{self.label or self.key} is not from {LEAST:g} to {LARGEST:g}: {given}")


@dataclass(frozen=True)
class Slide(Control):
    """A number from 0 to 1 in steps of .05."""

    default: float = 0.0

    def value(self, given: Any) -> Any:
        """Raises WrongInput for a value that is no number."""
        return self.default if (found := _number(self, given)) is None else found


@dataclass(frozen=True)
class Words(Control):
    """A line of text."""

    width: int = 190

    def value(self, given: Any) -> Any:
        return "".join(_names(given)[-1:])


@dataclass(frozen=True)
class Pick(Control):
    """One of many things that are shown by a text, which need not tell them apart."""

    shown: Mapping[str, str] = field(default_factory=dict)
    """Text of each name."""
    usual: str = ""
    remembered: str = ""
    """Name under which `Recalled` finds what was shown last."""

    def value(self, given: Any) -> Any:
        named = ("".join(_names(given)[-1:]), self.usual)
        return next((name for name in named if name in self.shown), next(iter(self.shown), ""))


@dataclass(frozen=True)
class Offered(Control):
    """Options of a control that stands elsewhere: an unknown name in the address is told above."""

    options: Collection[str] = ()
    noun: str = ""
    advice: str = ""

    def value(self, given: Any) -> Any:
        for name in filter(None, _names(given)):
            refuse(name, list(self.options), self.noun, self.advice)


@dataclass(frozen=True)
class Asked(Control):
    """Value of a key of the address, without a widget."""

    many: bool = False
    """All names, none for an absent key; otherwise the last one as text."""
    opened: bool = False
    """As it was when the page was opened."""

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
    """A value as an address has it: on is true; off and nothing are absent."""
    if given is None or isinstance(given, bool):
        return ["true"] * bool(given)
    return list(given) if isinstance(given, list | tuple) else [str(given)]


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


def refuse(name: str, options: Sequence[str], noun: str, advice: str = "") -> None:
    """Raise Missing, with the next step, for a name that is no option."""
    if name not in options:
        raise Missing(unknown(name, options, noun, advice))


def unknown(name: str, options: Sequence[str], noun: str, advice: str = "") -> str:
    """Message about a name that is no option."""
    near = get_close_matches(name, options, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else "Choose another below."
    return f"No {noun} here is called {name}. {advice or hint}"
