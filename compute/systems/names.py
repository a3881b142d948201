"""Reads and writes system names. No other module does.

    name     = word [ "[" word "]" ] [ "(" argument { "," argument } ")" ]
    argument = name | word "=" value
    value    = number | word

A word is any text without spaces, commas, equals signs and brackets. So `bm25(k1=1.2,b=0.75)`,
`rrf(bm25,minilm)`, `rerank(bm25-multifield,cross-encoder/x,depth=100)` and
`bm25-augmented[nfcorpus]` are names. Square brackets contain the training dataset; names in round
brackets are the systems or models from which the system is made.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from compute.base.errors import WrongInput

Value = int | float | str

MAX_NESTING = 8
_TOKEN = re.compile(r"[\[\](),=]|[^\s\[\](),=]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Name:
    """A parsed system name. `str(name)` writes it without spaces, inputs before parameters."""

    base: str
    trained_on: str = ""
    inputs: tuple["Name", ...] = ()
    parameters: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        arguments = [str(name) for name in self.inputs]
        arguments += [f"{key}={_text(value)}" for key, value in self.parameters]
        trained = f"[{self.trained_on}]" if self.trained_on else ""
        return self.base + trained + (f"({','.join(arguments)})" if arguments else "")


def parse(text: str) -> Name:
    """Parse a name; spaces around its marks are ignored. Raises WrongInput, with the place, for
    anything that is not a name."""
    reader = _Reader(text)
    name = reader.name(depth=0)
    if reader.position < len(reader.tokens):
        rest = text[reader.tokens[reader.position].start() :]
        raise reader.wrong(f"it ends before {reader.place()}: leave out {rest!r}")
    return name


def canonical(name: Name, defaults: Mapping[str, Value]) -> Name:
    """Return `name` with its parameters in the order of `defaults`, without those equal to their
    default. Raises WrongInput for a parameter that is not in `defaults` or a value of another
    kind."""
    given = dict(name.parameters)
    for key, value in given.items():
        if key not in defaults:
            known = ", ".join(defaults) or "none"
            raise WrongInput(f"{name.base} has no parameter {key!r}; it takes: {known}")
        kind = _kind(defaults[key])
        if kind != _kind(value) and (kind, _kind(value)) != ("number", "whole number"):
            raise WrongInput(f"{name.base}: {key} is {_text(value)!r} but must be a {kind}")
    typed = ((key, type(default)(given.get(key, default))) for key, default in defaults.items())
    kept = ((key, value) for key, value in typed if value != defaults[key])
    return replace(name, parameters=tuple(kept))


def _kind(value: Value) -> str:
    """Say what kind of value it is, for messages."""
    kinds: dict[type, str] = {int: "whole number", float: "number"}
    return kinds.get(type(value), "word")


def _text(value: Value) -> str:
    """Return the shortest decimal that reads back as `value`, such as 0.9, 1 or 0.00001."""
    if isinstance(value, float):
        digits = format(Decimal(repr(value)), "f")
        return digits.rstrip("0").rstrip(".") if "." in digits else digits
    return str(value)


class _Reader:
    """A recursive descent parser of one name."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_TOKEN.finditer(text))
        self.position = 0

    def wrong(self, fault: str) -> WrongInput:
        """Return the error for a fault in the name."""
        return WrongInput(
            f"{self.text!r} is not a system name: {fault}; "
            "names read like bm25(k1=1.2,b=0.75) or rrf(bm25,minilm)"
        )

    def place(self) -> str:
        """Say where the next token is, for messages."""
        ended = self.position >= len(self.tokens)
        return "its end" if ended else f"character {self.tokens[self.position].start() + 1}"

    def _mark(self, ahead: int) -> str:
        """Return the mark or word at this distance from the next one; empty beyond either end."""
        at = self.position + ahead
        return self.tokens[at].group() if 0 <= at < len(self.tokens) else ""

    def without_word(self) -> str:
        """Return the message about a missing word."""
        before, now = self._mark(-1), self._mark(0)
        if before == "=":
            return f"a value is missing after {self._mark(-2)}= at {self.place()}"
        if now and before in {"(", ","}:
            comma = before if before == "," else now
            return (
                f"there is nothing between {before} and {now} at {self.place()}: name a system or a"
                f" parameter there, or leave the {comma} out"
            )
        if before in {"(", ","}:
            return f"it ends after {before}: name a system or a parameter, then close with )"
        return f"a word is missing at {self.place()}"

    def next_is(self, mark: str, ahead: int = 0) -> bool:
        """Return whether the next token, or one further ahead, is this mark."""
        return self._mark(ahead) == mark

    def take(self, mark: str) -> None:
        """Consume a mark. Raises WrongInput if it is missing."""
        if not self.next_is(mark):
            raise self.wrong(f"{mark} is missing at {self.place()}")
        self.position += 1

    def word(self) -> str:
        """Consume and return a word. Raises WrongInput if it is missing."""
        if self.position >= len(self.tokens) or self.tokens[self.position].group() in "[](),=":
            raise self.wrong(self.without_word())
        self.position += 1
        return self.tokens[self.position - 1].group()

    def name(self, depth: int) -> Name:
        """Read a name at this depth of brackets."""
        if depth > MAX_NESTING:
            raise self.wrong(f"more than {MAX_NESTING} nested brackets")
        base, trained_on = self.word(), ""
        if self.next_is("["):
            self.take("[")
            trained_on = self.word()
            self.take("]")
        inputs, parameters = self.arguments(depth) if self.next_is("(") else ((), ())
        return Name(base, trained_on, inputs, parameters)

    def arguments(self, depth: int) -> tuple[tuple[Name, ...], tuple[tuple[str, Value], ...]]:
        """Read the arguments in brackets: names and parameters."""
        inputs: list[Name] = []
        parameters: dict[str, Value] = {}
        opened = self.place()
        self.take("(")
        while not self.next_is(")"):
            if inputs or parameters:
                if not self._mark(0):
                    raise self.wrong(f"the bracket at {opened} is not closed: add ) at the end")
                self.take(",")
            if not self.next_is("=", ahead=1):
                inputs.append(self.name(depth + 1))
                continue
            key = self.word()
            if key in parameters:
                raise self.wrong(f"{key!r} occurs twice, again before {self.place()}")
            self.take("=")
            parameters[key] = self.value()
        self.take(")")
        return tuple(inputs), tuple(parameters.items())

    def value(self) -> Value:
        """Read a value: a number, or else a word."""
        word = self.word()
        if not _NUMBER.fullmatch(word):
            return word
        number = float(word)
        if number and not 1e-15 <= abs(number) < 1e15:
            self.position -= 1
            raise self.wrong(f"the number at {self.place()} is too large or too small")
        return int(number) if number.is_integer() else number
