"""Words that a spreadsheet would evaluate, and the apostrophe that prevents it."""

import re

FORMULA = re.compile(r"^(?='*[=+\-@\t\r])")
"""Before such words, with or without an apostrophe."""
_NUMBERS = re.compile(r"(?:[-+\d.,%()\s]|to|(?<=\d)e)+")


def escaped(words: str) -> str:
    """The words with an apostrophe more where a spreadsheet would compute them."""
    return FORMULA.sub("'", words)


def escaped_cell(value: object) -> object:
    """A cell, escaped where it is words; numbers and intervals stay as they are."""
    is_words = isinstance(value, str) and not _NUMBERS.fullmatch(value)
    return escaped(str(value)) if is_words else value
