"""Words that a spreadsheet would evaluate, and the apostrophe that prevents it."""

import re

FORMULA = re.compile(r"^(?='*[=+\-@\t\r])")
"""Pattern before such words, with or without an apostrophe."""
_NUMBERS = re.compile(r"(?:[-+\d.,%()\s]|to|(?<=\d)e)+")


def escaped(words: str) -> str:
    """The words, with one more apostrophe if a spreadsheet would evaluate them."""
    return FORMULA.sub("'", words)


def escaped_cell(value: object) -> object:
    """A cell, escaped if it is text; numbers and intervals stay unchanged."""
    is_words = isinstance(value, str) and not _NUMBERS.fullmatch(value)
    return escaped(str(value)) if is_words else value
