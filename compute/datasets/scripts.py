"""Words in every script. ICU's dictionaries separate the words of scripts without spaces. Words of
any other text are its pieces between white space, or its runs of letters, digits and marks."""

import re
import unicodedata
from functools import cache

LEAST = 0.1
"""Minimum share of a text's characters in a script without spaces, such as Chinese, for which the
text is segmented: an English text about a Chinese word is not."""
_LETTERS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc-\u17e9"  # Khmer
    "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Chinese
)
"""The letters and marks of scripts without spaces, for a character set."""
_ONE = re.compile(
    f"[{_LETTERS}]"
)  # A pattern with characters beyond 16 bits would take six times as long.
_SEVERAL = re.compile(f"[{_LETTERS}\U00020000-\U0003ffff]+")
_OPENING = "([{（［｛「『〈《【〔“‘"
"""Signs that belong to the word after them; all other signs belong to the word before."""
_OPENED = re.compile(f"([{re.escape(_OPENING)}]*)({_SEVERAL.pattern})")


def segmented(text: str) -> str:
    """Return the text with spaces between the words of scripts that are written without them."""
    if text.isascii() or not _ONE.search(text):
        return text
    if sum(map(len, _SEVERAL.findall(text))) < LEAST * len(text):
        return text
    return _OPENED.sub(_words, text)


def words_without_blanks(text: str) -> list[str]:
    """Return the words of a text that are in a script without spaces."""
    return [word for piece in segmented(text).split() for word in _SEVERAL.findall(piece)]


def written(text: str) -> str:
    """Return the text in NFC and `segmented`, so that words that look the same are the same."""
    return segmented(unicodedata.normalize("NFC", text))


def is_other(text: str) -> bool:
    """Return whether a text's words depend on `written` or on combining marks."""
    return not text.isascii() and (written(text) != text or _mark().search(text) is not None)


def segmenter() -> str:
    """Return the name and version of the library that `segmented` uses."""
    # Imported here because only texts in these scripts need it.
    from icu4py import icu_version

    return f"ICU {icu_version}"


@cache
def marks() -> str:
    """Return the combining marks of living scripts, for a character set in a regular expression."""
    # Marks beyond 16 bits would make the expression many times slower. 0xFE00 to 0xFE0F only select
    # a variant of a glyph.
    letters = map(chr, (*range(0x300, 0xFE00), *range(0xFE10, 0x10000)))
    return "".join(letter for letter in letters if unicodedata.category(letter)[0] == "M")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(f"[{marks()}]")


def _words(found: re.Match[str]) -> str:
    """Return a match with spaces between its words, and around it where a word adjoins."""
    from icu4py.breakers import WordBreaker

    words = " ".join(WordBreaker(found[2], "und"))
    after = found.string[found.end() : found.end() + 1]
    return f" {found[1]}{words}" + " " * (after.isalnum() or after in _OPENING)
