"""Names beside marks: where each may stand so that no two names collide. All in pixels.

y grows downwards. Widths are estimates that rather exceed what a browser draws.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compute.figures.theme import PALETTES

GAP = 4
"""Between a mark and its name."""
ROUNDS = 6

_NARROW = frozenset("iljtfrI.,:;'|!()[]/ -`°·")
_BROAD = frozenset("mwMW@%—…&QOGCD")
_PLACES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Right, left, above, below, then the corners: the order in which they please."""


@dataclass(frozen=True)
class Box:
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """The area that both cover."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)

    def outside(self, other: "Box") -> float:
        """How far this box reaches beyond the other one, over all four sides."""
        return (
            max(other.left - self.left, 0)
            + max(self.right - other.right, 0)
            + max(other.top - self.top, 0)
            + max(self.bottom - other.bottom, 0)
        )


@dataclass(frozen=True)
class Label:
    """Where a name stands: its box, and on which side of its mark (-1, 0 or 1 each way)."""

    box: Box
    across: int
    down: int

    def annotation(self, text: str, font: Mapping[str, Any]) -> dict[str, Any]:
        """The name as an annotation on axes in pixels; `text` is escaped already.

        The edge next to the mark is the one that holds, whatever the font's true width.
        """
        middle = (self.box.left + self.box.right) / 2
        edge = {-1: self.box.right, 0: middle, 1: self.box.left}[self.across]
        anchor = {-1: "right", 0: "center", 1: "left"}[self.across]
        y = (self.box.top + self.box.bottom) / 2
        common = {"showarrow": False, "borderpad": 0, "yanchor": "middle", "font": dict(font)}
        return {"x": edge, "y": y, "xanchor": anchor, "text": text, **common}


@dataclass(frozen=True)
class Mark:
    """A mark with its name: centre, half its size, and the name's size."""

    x: float
    y: float
    radius: float
    width: float
    height: float

    @property
    def box(self) -> Box:
        """What the mark itself covers."""
        reach = self.radius
        return Box(self.x - reach, self.y - reach, self.x + reach, self.y + reach)

    def label(self, across: int, down: int) -> Label:
        """The name on one side of the mark: -1, 0 or 1 to the right and downwards."""
        # On a corner the name may move in as far as a round mark leaves room.
        reach = (self.radius + GAP) * (0.75 if across and down else 1)
        x = self.x + across * reach + (across - 1) / 2 * self.width
        y = self.y + down * reach + (down - 1) / 2 * self.height
        return Label(Box(x, y, x + self.width, y + self.height), across, down)


def width(text: str, size: float, theme: str) -> float:
    """About the width of a text in pixels, `size` the font's; text as it is shown."""
    ems = sum(map(_em, text))
    # DejaVu, which a server draws with, is wider.
    broader = 1.2 if PALETTES[theme].font.startswith("DejaVu") else 1
    return ems * size * broader


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.35
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in _BROAD:
        return 0.83
    return 0.63 if letter.isupper() else 0.54


def short(text: str, longest: int) -> str:
    """A text as `theme.escape` shortens it, before it is escaped: for its width."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def mark(x: float, y: float, radius: float, name: str, size: float, theme: str) -> Mark:
    """A mark whose name is written in a font of `size` pixels."""
    return Mark(x, y, radius, width(name, size, theme), size * 1.25)


def place(marks: Sequence[Mark], within: Box, lines: Sequence[Box] = ()) -> list[Label]:
    """One label per mark for its name: of the 8 places beside it the one that collides least.

    Names avoid each other and other marks first, then stay `within`, then avoid `lines` (boxes
    of things that may be crossed if need be). Each name moves in turn, those with the least room
    first, until none gains by moving.
    """
    options = [[mark.label(*side) for side in _PLACES] for mark in marks]
    fixed = [_fixed(marks, mine, options[mine], within, lines) for mine in range(len(marks))]
    order = sorted(range(len(marks)), key=lambda mine: (-min(fixed[mine]), -sum(fixed[mine])))
    chosen = [min(range(8), key=costs.__getitem__) for costs in fixed]
    for _ in range(ROUNDS):
        before = list(chosen)
        for mine in order:
            others = [options[k][chosen[k]].box for k in range(len(marks)) if k != mine]
            costs = [
                cost + 10 * sum(map(label.box.overlap, others))
                for cost, label in zip(fixed[mine], options[mine], strict=True)
            ]
            chosen[mine] = min(range(8), key=costs.__getitem__)
        if chosen == before:
            break
    return [options[k][chosen[k]] for k in range(len(marks))]


def _fixed(
    marks: Sequence[Mark], mine: int, sides: Sequence[Label], within: Box, lines: Sequence[Box]
) -> list[float]:
    """What each place costs whatever the other names do."""
    costs = []
    for preference, label in enumerate(sides):
        box = label.box
        covered = sum(box.overlap(mark.box) for k, mark in enumerate(marks) if k != mine)
        crossed = sum(box.overlap(line) for line in lines)
        costs.append(10 * covered + 20 * box.outside(within) + 0.3 * crossed + preference)
    return costs


def along(x0: float, y0: float, x1: float, y1: float, wide: float = 2) -> Iterator[Box]:
    """A line as small boxes along it, for `place` to keep names off."""
    steps = max(int(max(abs(x1 - x0), abs(y1 - y0)) / 6), 1)
    for step in range(steps + 1):
        share = step / steps
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        yield Box(x - wide, y - wide, x + wide, y + wide)
