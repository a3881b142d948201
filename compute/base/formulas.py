"""Text that a spreadsheet would evaluate, and the apostrophe that prevents this."""

import re

FORMULA = re.compile(r"^(?='*[=+\-@\t\r])")
"""Pattern of the beginning of such text, with or without apostrophes."""
_NUMBERS = re.compile(r"(?:[-+\d.,%()\s]|to|(?<=\d)e)+")


def escaped(words: str) -> str:
    """The text, with one more apostrophe if a spreadsheet would evaluate it."""
    return FORMULA.sub("'", words)


def escaped_cell(value: object) -> object:
    """A cell, escaped if it is text; numbers and intervals are unchanged."""
    is_words = isinstance(value, str) and not _NUMBERS.fullmatch(value)
    return escaped(str(value)) if is_words else value
