"""Names next to marks, placed so that no two names collide. All lengths are in pixels, y grows
downwards, and estimated widths tend to exceed a browser's."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.views.shared.theme import PALETTES

GAP = 4
"""Distance between a mark and its name."""
CLEARLY = 1
"""Least amount by which a name must be nearer to its own mark than to others."""
ROUNDS = 8
ORDERS = 24
"""Number of random orders that are tried."""

_NARROW = frozenset("iljtfrI.,:;'|!()[]/ -`°·")
_BROAD = frozenset("mwMW@%—…&QOGCD")
_PLACES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Right, left, above, below, then the corners, in order of preference."""
_FURTHER = tuple(place for place in _PLACES if place[1])
"""A line further away, for crowded marks without a place next to them."""


@dataclass(frozen=True)
class Box:
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """Area that both cover."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)


@dataclass(frozen=True)
class Label:
    """Position of a name: its box, and the side of its mark (-1, 0 or 1 each way)."""

    box: Box
    across: int
    down: int
    lines: int = 0
    """Lines between the mark and the name."""

    def leader(self, mark: "Mark") -> tuple[float, float, float, float]:
        """x, y of the mark's centre and of the point of the name that is nearest to it."""
        x = min(max(mark.x, self.box.left), self.box.right)
        y = min(max(mark.y, self.box.top), self.box.bottom)
        return mark.x, mark.y, x, y

    def annotation(self, text: str, font: Mapping[str, Any]) -> dict[str, Any]:
        """The name as an annotation on axes in pixels; `text` is already escaped. The edge next to
        the mark is fixed, whatever the font's true width."""
        middle = (self.box.left + self.box.right) / 2
        edge = {-1: self.box.right, 0: middle, 1: self.box.left}[self.across]
        anchor = {-1: "right", 0: "center", 1: "left"}[self.across]
        y = (self.box.top + self.box.bottom) / 2
        common = {"borderpad": 0, "yanchor": "middle", "font": dict(font)}
        return {"x": edge, "y": y, "xanchor": anchor, "text": text, **common}


@dataclass(frozen=True)
class Mark:
    """A mark with its name: centre, half its size, and the size of the name."""

    x: float
    y: float
    radius: float
    width: float
    height: float

    @property
    def box(self) -> Box:
        """Area of the mark itself."""
        reach = self.radius
        return Box(self.x - reach, self.y - reach, self.x + reach, self.y + reach)

    @property
    def halo(self) -> Box:
        """Area in which a name would be read as this mark's."""
        reach = self.radius + 2.5 * GAP
        return Box(self.x - reach, self.y - reach, self.x + reach, self.y + reach)

    def label(self, across: int, down: int, lines: int = 0) -> Label:
        """The name on one side of the mark: -1, 0 or 1, to the right and downwards."""
        # At a corner the name may move inwards as far as a round mark allows.
        reach = (self.radius + GAP) * (0.75 if across and down else 1)
        x = self.x + across * reach + (across - 1) / 2 * self.width
        y = self.y + down * (reach + lines * self.height) + (down - 1) / 2 * self.height
        return Label(Box(x, y, x + self.width, y + self.height), across, down, lines)


def width(text: str, size: float, theme: str) -> float:
    """Approximate width of a displayed text in pixels; `size` is the font's."""
    ems = sum(map(_em, text))
    # DejaVu, a common font on servers, is wider.
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


def mark(x: float, y: float, radius: float, name: str, size: float, theme: str) -> Mark:
    """A mark with a name in a font of `size` pixels."""
    return Mark(x, y, radius, width(name, size, theme), size * 1.15)


def place(marks: Sequence[Mark], within: Box, lines: Sequence[Box] = ()) -> list[Label]:
    """A label per mark for its name, in the nearby place with least overlap. Names first
    avoid each other and other marks, then stay `within`, then avoid areas in which they would be
    read as another mark's, then `lines` (boxes that may be crossed if necessary). Each name moves
    in turn until none gains by moving; the best of several orders of turns counts."""
    if not marks:
        return []
    options = [_options(mark) for mark in marks]
    many = len(options[0])
    boxes = _array([label.box for sides in options for label in sides])
    alone = _alone(marks, boxes, within, lines).reshape(len(marks), -1)
    area = _overlaps(boxes, boxes).reshape(len(marks), many, len(marks), many)
    # Even a small overlap looks like a mistake.
    names = 30 * area + 700 * (area > 0)
    names[range(len(marks)), :, range(len(marks)), :] = 0
    crowded = np.argsort(-alone.min(axis=1), kind="stable")
    turns = [np.roll(crowded, shift) for shift in range(min(len(marks), ORDERS))]
    chosen = min((_settled(alone, names, order) for order in turns), key=lambda found: found[0])[1]
    return [sides[place] for sides, place in zip(options, chosen, strict=True)]


def leaders(
    marks: Sequence[Mark], placed: Sequence[Label]
) -> list[tuple[float, float, float, float]]:
    """Lines from marks to names that are equally near to another mark: x, y of both ends."""
    if len(marks) < 2:
        return []
    x, y, radius = np.array([(mark.x, mark.y, mark.radius) for mark in marks]).T
    left, top, right, bottom = _array([label.box for label in placed]).T[..., None]
    across, down = np.maximum(left - x, x - right), np.maximum(top - y, y - bottom)
    apart = np.hypot(across.clip(0), down.clip(0)) - radius
    own = apart.diagonal().copy()
    np.fill_diagonal(apart, np.inf)
    astray = apart.min(axis=1) < own + CLEARLY
    return [label.leader(marks[at]) for at, label in enumerate(placed) if astray[at]]


def _options(mark: Mark) -> list[Label]:
    near = [mark.label(*side) for side in _PLACES]
    return near + [mark.label(*side, lines=1) for side in _FURTHER]


def _settled(alone: np.ndarray, names: np.ndarray, order: np.ndarray) -> tuple[float, list[int]]:
    """Cost and place of each name once no name gains by moving, or after ROUNDS."""
    chosen = alone.argmin(axis=1)
    everyone = np.arange(len(alone))
    for _ in range(ROUNDS):
        before = chosen.copy()
        for mine in order:
            costs = alone[mine] + names[mine][:, everyone, chosen].sum(axis=1)
            chosen[mine] = costs.argmin()
        if (chosen == before).all():
            break
    shared = names[everyone, chosen][:, everyone, chosen].sum() / 2
    return float(alone[everyone, chosen].sum() + shared), chosen.tolist()


def _alone(
    marks: Sequence[Mark], boxes: np.ndarray, within: Box, lines: Sequence[Box]
) -> np.ndarray:
    """Cost of each place, apart from the other names."""
    many = len(boxes) // len(marks)
    own = np.repeat(np.arange(len(marks)), many)
    covered = _overlaps(boxes, _array([mark.box for mark in marks]))
    near = _overlaps(boxes, _array([mark.halo for mark in marks]))
    covered[range(len(own)), own] = near[range(len(own)), own] = 0
    crossed = _overlaps(boxes, _array(lines)).sum(axis=1)
    edges = np.array([within.left, within.top, within.right, within.bottom])
    beyond = np.maximum((edges - boxes) * [1, 1, -1, -1], 0).sum(axis=1)
    # Only names that would otherwise overlap use places further away.
    liked = np.arange(many) + 600 * (np.arange(many) >= len(_PLACES))
    preference = np.tile(liked, len(marks))
    cost = 30 * covered.sum(axis=1) + 2 * near.sum(axis=1) + 0.3 * crossed
    # Outside, a name would be cut off or lie on an axis.
    return cost + 20 * beyond + 500 * (beyond > 0) + preference


def _array(boxes: Sequence[Box]) -> np.ndarray:
    """left, top, right, bottom, one row per box."""
    rows = [(box.left, box.top, box.right, box.bottom) for box in boxes]
    return np.array(rows, dtype=float).reshape(-1, 4)


def overlaps(one: Sequence[Box], other: Sequence[Box]) -> np.ndarray:
    """The overlap of each box of `one` with each box of the other, a row per box of `one`."""
    return _overlaps(_array(one), _array(other))


def _overlaps(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The area of overlap of each box of `one` with each box of the other."""
    ends = np.minimum(one[:, None, 2:], other[None, :, 2:])
    starts = np.maximum(one[:, None, :2], other[None, :, :2])
    return np.maximum(ends - starts, 0).prod(axis=2)


def along(x0: float, y0: float, x1: float, y1: float, wide: float = 2) -> Iterator[Box]:
    """A line as small boxes along it, for `place` to keep names off it."""
    steps = max(int(max(abs(x1 - x0), abs(y1 - y0)) / 6), 1)
    for step in range(steps + 1):
        share = step / steps
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        yield Box(x - wide, y - wide, x + wide, y + wide)
