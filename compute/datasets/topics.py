"""TREC topics: the texts of queries as TREC distributes them, in XML or in its older markup.
Python's HTML parser reads both, since it recovers where an XML parser would stop: the older markup
does not close fields, and authors write a bare `<` or `&`. External entities are not expanded."""

import html
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from compute.base.errors import WrongInput
from compute.base.words import shown
from compute.datasets.records import NARRATIVES, Query, narrative

_TOPICS = {"topic", "top"}
_NUMBERS = {"num", "number", "identifier", "id", "qid"}
_NARRATIVES = ("question", *NARRATIVES)
_FIELDS = _NUMBERS | {"query", "title", *_NARRATIVES}
"""Tags that end the previous field, even if it was not closed."""
_APART = {"br", "hr", "p", "div", "ul", "ol", "li", "dt", "dd", "table", "tr", "td", "th", "pre"}
"""Markup that acts as a space; any other tag may occur within a word."""
_LABEL = re.compile(r"^(?:Number|Topic)\s*:\s*", re.IGNORECASE)
"""Matches labels before numbers and titles in the older markup."""
_OF_NARRATIVE = re.compile(r"^(?:Description|Narrative)\s*(?::\s*|$)", re.IGNORECASE)
_ENCODING = re.compile(rb"\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"'<>]*)")
_MARKED = re.compile(r"<!\[CDATA\[(.*?)\]\]>|<!--.*?-->", re.DOTALL)
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s<>\"']+))*\s*/?>"
_BARE = re.compile(
    rf"<(?!/?[A-Za-z][\w:.-]*{_ATTRIBUTES}|\?xml\b|!DOCTYPE\b)"
    r"|&(?!(?:[a-z][a-z0-9]*|#[0-9]+|#x[0-9a-f]+);)",
    re.IGNORECASE,
)
"""Matches a `<` that begins no tag, and an `&` that begins no entity, as in an address."""


def is_topics(content: bytes) -> bool:
    """Return whether a file begins like topics."""
    return content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def topics(content: bytes, file: str, left_out: Counter[str]) -> Iterator[tuple[int, Query]]:
    """Yield the line and query of each topic. Its text is the topic's query, or else its title, or
    else the topic's own text; its narrative is the topic's question, description and narrative.
    Tags within these are removed; `left_out` counts them (such as `<i>`) and the topics' other
    fields. Raises WrongInput with file and line for a topic without number or text, for a file
    without topics, and for one not in its declared encoding (default: UTF-8)."""
    text = _MARKED.sub(_unmarked, _decoded(content, file))
    parser = _Parser({name.lower() for name in re.findall(r"</([\w:.-]+)", text)}, left_out)
    parser.feed(_BARE.sub(lambda found: html.escape(found[0]), text))
    parser.close()
    if not parser.found:
        raise WrongInput(f"{file} has no <topic> or <top>: give TREC topics, or id, tab and text")
    for line, fields in parser.found:
        number = _first(fields, _NUMBERS)[0]
        if not number:
            raise WrongInput(f"{file} line {line}: a topic has no number: add its <num>")
        words, taken = _words(fields)
        if not words:
            raise WrongInput(f"{file} line {line}: topic {shown(number)} has no title: add it")
        paragraphs = _paragraphs(fields, taken)
        left_out.update(_others(fields, number, taken | {*paragraphs}))
        yield line, Query(number, words, narrative(words, paragraphs.values()))


class _Parser(HTMLParser):
    """Parses topics into the line of each and its fields, as pairs of tag and text. Text directly
    in the topic has an empty tag."""

    def __init__(self, closed: set[str], left_out: Counter[str]) -> None:
        super().__init__()
        self.found: list[tuple[int, list[tuple[str, str]]]] = []
        self._closed = closed
        self._left_out = left_out
        self._fields: list[tuple[str, str]] = []

    def set_cdata_mode(self, *args: Any, **named: Any) -> None:
        """Do nothing, so that titles may contain tags, unlike in HTML."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a topic or a field; a tag within a field is left out."""
        field = self._fields[-1][0] if self._fields else ""
        if tag in _TOPICS:
            numbers = [("num", value or "") for name, value in attrs if name in _NUMBERS]
            self._fields = [*numbers, ("", "")]
            self.found.append((self.getpos()[0], self._fields))
        elif _base(tag) in _FIELDS or not field or not self._is_within(field, tag):
            self._fields.append((tag, " " * (tag in _APART)))
        else:
            self._left_out[f"<{tag}>"] += 1
            self.handle_data(" " * (tag in _APART))

    def _is_within(self, field: str, tag: str) -> bool:
        """Return whether a tag is part of a field's text, rather than the next field: one of the
        two is closed somewhere, or it marks a paragraph of a narrative."""
        of_narrative = tag in _APART and _base(field) in _NARRATIVES
        return bool({field, tag} & self._closed) or of_narrative

    def handle_endtag(self, tag: str) -> None:
        """End a topic or a field."""
        if tag in _TOPICS:
            self._fields = []
        elif self._fields and tag == self._fields[-1][0]:
            self._fields.append(("", " " * (tag in _APART)))
        else:
            self.handle_data(" " * (tag in _APART))

    def handle_data(self, data: str) -> None:
        """Add text to the current field."""
        if self._fields:
            tag, text = self._fields[-1]
            self._fields[-1] = tag, text + data
        else:
            self._left_out.update(["text outside of topics"] * bool(data.strip()))


def _decoded(content: bytes, file: str) -> str:
    """Return the text in its declared encoding. Raises WrongInput if it is not in it."""
    declared = _ENCODING.match(content)
    encoding = declared[1].decode("ascii", "replace") if declared else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line, place = content.count(b"\n", 0, start) + 1, start - content.rfind(b"\n", 0, start)
        known = encoding.removesuffix("-sig").upper()
        fault = f"line {line}: byte {place} is not {known}: save the file as UTF-8"
        raise WrongInput(f"{file} {fault}") from None
    except (LookupError, ValueError):
        raise WrongInput(
            f"{file} is in the encoding {shown(encoding)}, which is unknown: save it as UTF-8"
        ) from None


def _unmarked(found: re.Match[str]) -> str:
    """Return the text of CDATA as plain text, and only the line breaks of a comment."""
    return "\n" * found[0].count("\n") if found[1] is None else html.escape(found[1], quote=False)


def _base(tag: str) -> str:
    """Return a field's name without a leading language, as in `EN-title`."""
    return re.split("[-_:.]", tag)[-1]


def _words(fields: list[tuple[str, str]]) -> tuple[str, set[int]]:
    """Return the text of a topic, and the positions of the fields it comes from."""
    for name in ("query", "title"):
        words, place = _first(fields, {name})
        if words:
            return words, {place}
    own = {place for place, (tag, _) in enumerate(fields) if _base(tag) not in _FIELDS}
    if not any(text.strip() for tag, text in fields if not tag):
        return "", set()
    return _plain("".join(fields[place][1] for place in sorted(own))), own


def _first(fields: list[tuple[str, str]], names: set[str]) -> tuple[str, int]:
    """Return text and position of the first non-empty field with one of these names."""
    found = ((_plain(text), n) for n, (tag, text) in enumerate(fields) if _base(tag) in names)
    return next((one for one in found if one[0]), ("", -1))


def _paragraphs(fields: list[tuple[str, str]], taken: set[int]) -> dict[int, str]:
    """Return the paragraphs of a topic's narrative by the position of their fields: one for each
    name, in the language of the text's own fields, `taken`, if there is one in it."""
    languages = {_language(fields[place][0]) for place in taken}
    found: dict[int, str] = {}
    for name in _NARRATIVES:
        filled = (place for place, (_, text) in enumerate(fields) if text.strip())
        own = [place for place in filled if _base(fields[place][0]) == name]
        for place in sorted(own, key=lambda n: _language(fields[n][0]) not in languages)[:1]:
            found[place] = _OF_NARRATIVE.sub("", " ".join(fields[place][1].split()))
    return found


def _language(tag: str) -> str:
    """Return what precedes a field's name, as `EN-` in `EN-title`."""
    return tag.removesuffix(_base(tag))


def _others(fields: list[tuple[str, str]], number: str, taken: set[int]) -> Iterator[str]:
    """Yield the names of the unused fields, and of the tags within the text of a topic."""
    for place, (tag, text) in enumerate(fields):
        if place in taken:
            yield from [f"<{tag}>"] * bool(tag and _base(tag) not in _FIELDS)
        elif text.strip() and not (_base(tag) in _NUMBERS and _plain(text) == number):
            yield tag or "text outside of fields"


def _plain(field: str) -> str:
    """Return a field's text without its label and without extra white space."""
    return _LABEL.sub("", " ".join(field.split()))
