"""The heading of an exported figure: title, source, and legend of its colours."""

import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compute.views.shared import labels
from compute.views.shared.theme import Entry, cut

FONT, LINE, EDGE = 13, 18, 8
"""Font size, line height and margin, in pixels."""
MOST = 240
"""Maximum number of characters in a title."""
_GAP = "\u00a0\u00a0"
"""Gap between two entries on a line."""


class _Word(NamedTuple):
    """A word, with the sign of its legend entry if it is the first of one."""

    text: str
    sign: str = ""
    colour: str = ""

    @property
    def width(self) -> float:
        """Return the approximate width in pixels, with the space after it."""
        sign = f"{self.sign} " if self.sign else ""
        return labels.width(f"{sign}{self.text} ", FONT, "print")

    def drawn(self) -> str:
        """Return the word as SVG, escaped."""
        if not self.sign:
            return html.escape(self.text)
        ink = f' fill="{html.escape(self.colour)}"' if self.colour else ""
        return f"<tspan{ink}>{html.escape(self.sign)}</tspan> {html.escape(self.text)}"


def height(lines: int) -> int:
    """Return the height in pixels of a heading with this many lines."""
    return lines * LINE + EDGE if lines else 0


def lines(titles: Sequence[str], entries: Sequence[Entry], width: float) -> list[str]:
    """Return the heading as lines of SVG, each at most `width` pixels wide. Long words are
    truncated, and all words are escaped."""
    words = [list(map(_Word, _words(title))) for title in titles]
    told: list[_Word] = []
    for place, (colour, sign, said) in enumerate(entries):
        first, *rest = said.split() or [""]
        gap = _GAP if place else ""
        told += [_Word(first, f"{gap}{sign}" if sign else gap, colour), *map(_Word, rest)]
    return [line for group in (*words, told) for line in _filled(group, width - 2 * EDGE)]


def _words(title: str) -> list[str]:
    """Return the words of a title, cut to MOST characters."""
    words = cut(title, MOST).split()
    return [*words[:-1], "…"] if len(words) > 1 and words[-1].endswith("…") else words


def _filled(words: Sequence[_Word], room: float) -> Iterator[str]:
    """Yield lines with as many words as fit."""
    line: list[_Word] = []
    for word in words:
        if line and sum(one.width for one in line) + word.width > room:
            yield " ".join(one.drawn() for one in line)
            # The first word of a line starts at its edge.
            word, line = word._replace(sign=word.sign.removeprefix(_GAP)), []
        while word.width > room and len(word.text) > 1:
            word = word._replace(text=f"{word.text[:-2]}…")
        line.append(word)
    if line:
        yield " ".join(one.drawn() for one in line)
