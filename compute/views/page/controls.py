"""Controls of a page. The key of a control is also its key in the page's address."""

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
        """Return the value for `given`, from an address or a caller, or None. Raises Missing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Choice(Control):
    """A control that chooses one of several options."""

    options: Sequence[str] = ()
    default: str | None = None
    noun: str = ""
    """Noun for an option, used in the message on an unknown one; by default the label."""
    advice: Callable[[str], str] = lambda _: ""
    """Next step for an unknown name; if it is empty, similar names are shown."""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    """Lines of the tooltip."""
    width: int = 190
    disabled: bool = False
    known: Sequence[str] = ()
    """Names that an address may contain without an error, if they are more than the options."""
    recalls: Sequence[str] = ()
    """Options that become the default if they were the last shown under this key, on any page."""
    side_by_side: bool = False
    """True to show all options at once, such as the views of a page."""
    of_matrix: bool = False
    """True if it affects a matrix that lists replace on a narrow screen."""

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
    """A control that chooses any number of options; `empty` says what choosing none means."""

    options: Sequence[str] = ()
    default: Sequence[str] | None = None
    """If set, the address also records an empty choice."""
    noun: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    width: int = 230
    empty: str = "all"
    known: Sequence[str] = ()
    """Names that an address may contain without an error, if they are more than the options."""

    def value(self, given: Any) -> Any:
        if given is None:
            return list(self.default or ())
        names = [name for name in _names(given) if name]
        for name in names:
            refuse(name, self.known or self.options, self.noun or self.label.lower())
        return [name for name in names if name in self.options]


@dataclass(frozen=True)
class Few(Control):
    """A control that chooses up to `most` options and keeps the order in which they were chosen. An
    address lists them one by one or separated by commas."""

    options: Sequence[str] = ()
    known: Sequence[str] = ()
    """Names that an address may contain without an error."""
    most: int = 4
    instead: Sequence[str] = ()
    """Names from the older keys `replaces` in the address, used if this key has no value."""
    replaces: Sequence[str] = ()
    usual: Sequence[Sequence[str]] = ()
    """Defaults if the address has no known name: the first of these lists that has one."""
    noun: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()
    width: int = 430
    empty: str = ""

    def named(self, given: Any) -> list[str]:
        """Return the names in an address, known or not."""
        parts = [[one] if one in self.known else split(one) for one in _names(given)]
        return [name for part in parts for name in part] or list(self.instead)

    def shown(self, given: Any) -> list[str]:
        """Return the known names of an address, or the defaults; none if it chooses none."""
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
    """A control that is on or off."""

    def value(self, given: Any) -> Any:
        return _names(given) == ["true"]


LEAST, LARGEST = 0.001, 1.0
"""Bounds of a Number, which is a difference of two means."""


@dataclass(frozen=True)
class Number(Control):
    """A control for a difference of two means, which may be empty."""

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
    """A slider from 0 to 1 in steps of .05."""

    default: float = 0.0

    def value(self, given: Any) -> Any:
        """Raise WrongInput for a value that is not a number."""
        return self.default if (found := _number(self, given)) is None else found


@dataclass(frozen=True)
class Words(Control):
    """A control for one line of text."""

    width: int = 190

    def value(self, given: Any) -> Any:
        return "".join(_names(given)[-1:])


@dataclass(frozen=True)
class Pick(Control):
    """A control that chooses one of many things by their texts, which need not be unique."""

    shown: Mapping[str, str] = field(default_factory=dict)
    """Text for each name."""
    usual: str = ""
    remembered: str = ""
    """Name under which `Recalled` finds the last value shown."""

    def value(self, given: Any) -> Any:
        named = ("".join(_names(given)[-1:]), self.usual)
        return next((name for name in named if name in self.shown), next(iter(self.shown), ""))


@dataclass(frozen=True)
class Offered(Control):
    """The options of a control drawn elsewhere; it has no value and only refuses unknown names."""

    options: Collection[str] = ()
    noun: str = ""
    advice: str = ""

    def value(self, given: Any) -> Any:
        for name in filter(None, _names(given)):
            refuse(name, list(self.options), self.noun, self.advice)


@dataclass(frozen=True)
class Asked(Control):
    """A value from the address, without a widget."""

    many: bool = False
    """True for all names as a list, which may be empty; false for only the last one, as text."""
    opened: bool = False
    """True for the value that the address had when the page was opened."""

    def value(self, given: Any) -> Any:
        names = _names(given)
        return names if self.many else "".join(names[-1:])


def _number(control: Control, given: Any) -> float | None:
    """Return the last number of an address as a float; None if empty. Raises WrongInput."""
    name = "".join(_names(given)[-1:])
    try:
        return float(name) if name else None
    except ValueError as error:
        raise WrongInput(f"{control.label or control.key} is not a number: {name!r}") from error


def _names(given: Any) -> list[str]:
    """Return a value as an address writes it: on is `true`, off and None are absent."""
    if given is None or isinstance(given, bool):
        return ["true"] * bool(given)
    return list(given) if isinstance(given, list | tuple) else [str(given)]


def split(names: str) -> list[str]:
    """Split names at commas, except within the parentheses of a name."""
    found, depth = [""], 0
    for letter in names:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return [name.strip() for name in found if name.strip()]


def refuse(name: str, options: Sequence[str], noun: str, advice: str = "") -> None:
    """Raise Missing, with the next step, unless the name is an option."""
    if name not in options:
        raise Missing(unknown(name, options, noun, advice))


def similar(name: str, options: Sequence[str]) -> list[str]:
    """Return up to three options with a similar name."""
    return get_close_matches(name, options, n=3, cutoff=0.5)


def unknown(name: str, options: Sequence[str], noun: str, advice: str = "") -> str:
    """Return the message on a name that is not an option."""
    near = similar(name, options)
    hint = f"Did you mean {' or '.join(near)}?" if near else "Choose another below."
    return f"No {noun} here is called {name}. {advice or hint}"
