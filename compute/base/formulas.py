"""Escapes text that a spreadsheet would evaluate, by putting an apostrophe before it."""

import re

FORMULA = re.compile(r"^(?='*[=+\-@\t\r])")
"""Matches at the beginning of text that a spreadsheet would evaluate, or that has apostrophes
before such text."""
_NUMBERS = re.compile(r"(?:[-+\d.,%()\s]|to|(?<=\d)e)+")


def escaped(words: str) -> str:
    """Return the text, with another apostrophe before it if a spreadsheet would evaluate it."""
    return FORMULA.sub("'", words)


def escaped_cell(value: object) -> object:
    """Return a cell, escaped if it is text; numbers and intervals stay unchanged."""
    is_words = isinstance(value, str) and not _NUMBERS.fullmatch(value)
    return escaped(str(value)) if is_words else value
