"""Names next to marks, placed so that no two names collide. All lengths are in pixels, y grows
downwards, and estimated widths tend to exceed a browser's."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.views.shared.theme import PALETTES

GAP = 4
"""Distance between a mark and its name."""
CLEARLY = 1
"""A name must be nearer to its own mark than to any other by at least this."""
ROUNDS = 8
ORDERS = 24
"""Number of orders in which names are placed; the best result counts."""
AT_ONCE = 2**15
"""Overlaps that are computed at once, so that they fit into the processor's cache."""
NOWHERE = np.empty((0, 4))
"""The `edges` of no box."""

_NARROW = frozenset("iljtfrI.,:;'|!()[]/ -`°·")
_BROAD = frozenset("mwMW@%—…&QOGCD")
_PLACES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
"""Positions next to a mark, in order of preference: right, left, above, below, then the corners."""
_FURTHER = tuple(place for place in _PLACES if place[1])
"""Positions one line further away, for crowded marks."""


@dataclass(frozen=True)
class Box:
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Label:
    """A placed name: its box, and its side of the mark (-1, 0 or 1 across and down)."""

    box: Box
    across: int
    down: int
    lines: int = 0
    """Number of lines left free between the mark and the name."""

    def leader(self, mark: "Mark") -> tuple[float, float, float, float]:
        """Return x, y of the mark's centre and x, y of the name's point nearest to it."""
        x = min(max(mark.x, self.box.left), self.box.right)
        y = min(max(mark.y, self.box.top), self.box.bottom)
        return mark.x, mark.y, x, y

    def annotation(self, text: str, font: Mapping[str, Any]) -> dict[str, Any]:
        """Return the name as a Plotly annotation on axes in pixels; `text` is already escaped. The
        edge next to the mark stays fixed whatever the font's true width."""
        middle = (self.box.left + self.box.right) / 2
        edge = {-1: self.box.right, 0: middle, 1: self.box.left}[self.across]
        anchor = {-1: "right", 0: "center", 1: "left"}[self.across]
        y = (self.box.top + self.box.bottom) / 2
        common = {"borderpad": 0, "yanchor": "middle", "font": dict(font)}
        return {"x": edge, "y": y, "xanchor": anchor, "text": text, **common}


@dataclass(frozen=True)
class Mark:
    """A mark with a name: its centre, its radius, and the width and height of the name."""

    x: float
    y: float
    radius: float
    width: float
    height: float

    @property
    def box(self) -> Box:
        """The area of the mark itself."""
        reach = self.radius
        return Box(self.x - reach, self.y - reach, self.x + reach, self.y + reach)

    @property
    def halo(self) -> Box:
        """The area in which a name would be read as this mark's."""
        reach = self.radius + 2.5 * GAP
        return Box(self.x - reach, self.y - reach, self.x + reach, self.y + reach)

    def label(self, across: int, down: int, lines: int = 0) -> Label:
        """Place the name on one side of the mark (-1, 0 or 1), leaving `lines` free in between."""
        # At a corner the name may move inwards as far as a round mark allows.
        reach = (self.radius + GAP) * (0.75 if across and down else 1)
        x = self.x + across * reach + (across - 1) / 2 * self.width
        y = self.y + down * (reach + lines * self.height) + (down - 1) / 2 * self.height
        return Label(Box(x, y, x + self.width, y + self.height), across, down, lines)


def width(text: str, size: float, theme: str) -> float:
    """Estimate the width of a text in pixels in a font of `size` pixels."""
    ems = sum(map(_em, text))
    # DejaVu, a common font on servers, is wider.
    broader = 1.2 if PALETTES[theme].font.startswith("DejaVu") else 1
    return ems * size * broader


def _em(letter: str) -> float:
    """Estimate the width of a letter in units of the font size."""
    if letter in _NARROW:
        return 0.35
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in _BROAD:
        return 0.83
    return 0.63 if letter.isupper() else 0.54


def mark(x: float, y: float, radius: float, name: str, size: float, theme: str) -> Mark:
    """Return a mark with a name in a font of `size` pixels."""
    return Mark(x, y, radius, width(name, size, theme), size * 1.15)


def place(marks: Sequence[Mark], within: Box, lines: np.ndarray = NOWHERE) -> list[Label]:
    """Return a label for each mark, in the position with the least overlap. In order of importance,
    names avoid each other and other marks, the area outside `within`, the halos of other marks, and
    `lines` (`edges` of boxes that may be crossed if necessary). Each name moves in turn until none
    gains by moving; the best of several orders of turns counts."""
    if not marks:
        return []
    options = [_options(mark) for mark in marks]
    many = len(options[0])
    boxes = edges([label.box for sides in options for label in sides])
    alone = _alone(marks, boxes, within, lines).reshape(len(marks), -1)
    area = overlaps(boxes, boxes).reshape(len(marks), many, len(marks), many)
    # Even a small overlap looks like a mistake.
    names = 30 * area + 700 * (area > 0)
    names[range(len(marks)), :, range(len(marks)), :] = 0
    crowded = np.argsort(-alone.min(axis=1), kind="stable")
    turns = [np.roll(crowded, shift) for shift in range(min(len(marks), ORDERS))]
    chosen = _settled(alone, names, np.array(turns))
    return [sides[place] for sides, place in zip(options, chosen, strict=True)]


def leaders(
    marks: Sequence[Mark], placed: Sequence[Label]
) -> list[tuple[float, float, float, float]]:
    """Return lines (x, y of both ends) from marks to names nearly as close to another mark."""
    if len(marks) < 2:
        return []
    x, y, radius = np.array([(mark.x, mark.y, mark.radius) for mark in marks]).T
    left, top, right, bottom = edges([label.box for label in placed]).T[..., None]
    across, down = np.maximum(left - x, x - right), np.maximum(top - y, y - bottom)
    apart = np.hypot(across.clip(0), down.clip(0)) - radius
    own = apart.diagonal().copy()
    np.fill_diagonal(apart, np.inf)
    astray = apart.min(axis=1) < own + CLEARLY
    return [label.leader(marks[at]) for at, label in enumerate(placed) if astray[at]]


def _options(mark: Mark) -> list[Label]:
    near = [mark.label(*side) for side in _PLACES]
    return near + [mark.label(*side, lines=1) for side in _FURTHER]


def _settled(alone: np.ndarray, names: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Move each name in turn to its cheapest position until none gains, at most ROUNDS times;
    return the positions after the order (a row of `orders`) that costs least. All orders are tried
    at once."""
    many, everyone = np.arange(len(orders)), np.arange(len(alone))
    chosen = np.tile(alone.argmin(axis=1), (len(orders), 1))
    for _ in range(ROUNDS):
        before = chosen.copy()
        for mine in orders.T:
            shared = names[mine[:, None], :, everyone, chosen].sum(axis=1)
            chosen[many, mine] = (alone[mine] + shared).argmin(axis=1)
        if (chosen == before).all():
            break
    pairs = names[everyone[:, None], chosen[:, :, None], everyone, chosen[:, None, :]]
    costs = alone[everyone, chosen].sum(axis=1) + pairs.sum(axis=(1, 2)) / 2
    return chosen[costs.argmin()]


def _alone(marks: Sequence[Mark], boxes: np.ndarray, within: Box, lines: np.ndarray) -> np.ndarray:
    """Return the cost of each position of each name, ignoring the other names."""
    many = len(boxes) // len(marks)
    own = np.repeat(np.arange(len(marks)), many)
    covered = overlaps(boxes, edges([mark.box for mark in marks]))
    near = overlaps(boxes, edges([mark.halo for mark in marks]))
    covered[range(len(own)), own] = near[range(len(own)), own] = 0
    beyond = np.maximum((edges([within]) - boxes) * [1, 1, -1, -1], 0).sum(axis=1)
    # A position further away is so expensive that only names which would overlap take it.
    liked = np.arange(many) + 600 * (np.arange(many) >= len(_PLACES))
    preference = np.tile(liked, len(marks))
    cost = 30 * covered.sum(axis=1) + 2 * near.sum(axis=1) + 0.3 * crossed(boxes, lines)
    # Outside `within`, a name would be cut off or lie on an axis.
    return cost + 20 * beyond + 500 * (beyond > 0) + preference


def edges(boxes: Sequence[Box]) -> np.ndarray:
    """Return left, top, right and bottom of each box, one row per box."""
    rows = [(box.left, box.top, box.right, box.bottom) for box in boxes]
    return np.array(rows, dtype=float).reshape(-1, 4)


def crossed(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the row sums of `overlaps`, without keeping all overlaps in memory."""
    at_once = max(AT_ONCE // max(len(other), 1), 1)
    blocks = np.split(one, range(at_once, len(one), at_once))
    return np.concatenate([overlaps(block, other).sum(axis=1) for block in blocks])


def overlaps(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the overlap of each box of `one` (a row) with each box of `other` (a column), both
    from `edges`."""
    # One side after the other: NumPy is slow along an axis of two.
    across, down = (
        np.minimum(one[:, None, side + 2], other[:, side + 2])
        - np.maximum(one[:, None, side], other[:, side])
        for side in (0, 1)
    )
    return np.maximum(across, 0) * np.maximum(down, 0)


def along(x0: float, y0: float, x1: float, y1: float, wide: float = 2) -> np.ndarray:
    """Return the `edges` of small boxes along a line, which `place` then keeps free of names."""
    steps = max(int(max(abs(x1 - x0), abs(y1 - y0)) / 6), 1)
    middle = [x0, y0] + np.arange(steps + 1)[:, None] / steps * [x1 - x0, y1 - y0]
    return np.hstack([middle - wide, middle + wide])
