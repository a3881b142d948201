"""Similarities on or next to the strongest lines of the graph; all lengths are in pixels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from compute.views.shared import labels
from compute.views.shared import theme as looks

SMALL, MOST = 11, 5
"""Font size, and number of lines (the strongest) that show their value."""
_ALONG = (0.5, 0.42, 0.58, 0.34, 0.66)
"""Positions of a value along its line, as fractions, in order of preference."""
_DISTANCES = (20, 28, 38, 50, 64, 80, 100)
"""Possible distances between a line and a value next to it."""
_DIRECTIONS = 16
_CROSSED = 1.0
"""Cost of a square pixel of another line under a value; each later position costs 1 more."""
_ROUND = 0.75
"""Share of a mark's width that a leader avoids; it may pass the corner of a round mark."""
_UNCLEAR = 1e6
"""Cost of a leader that crosses a name, a mark or another value."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Value:
    """A similarity as text, its box, and its point on the line."""

    box: labels.Box
    text: str
    point: Point

    @property
    def middle(self) -> Point:
        """The middle of the text."""
        return (self.box.left + self.box.right) / 2, (self.box.top + self.box.bottom) / 2

    @property
    def leader(self) -> np.ndarray:
        """The thin line from the point to the text, as small boxes; none for a text on its line."""
        if math.dist(self.middle, self.point) < 1:
            return labels.NOWHERE
        return labels.along(*self.point, *self.middle, wide=1)

    def annotation(self, theme: str) -> dict[str, Any]:
        """Return the text as an annotation on its line, or next to it with a leader."""
        look, (x, y) = looks.palette(theme), self.middle
        font = {"size": SMALL, "color": look.muted}
        shown = {"text": self.text, "font": font, "bgcolor": look.background, "borderpad": 1}
        if not len(self.leader):
            return shown | {"x": x, "y": y}
        ends = {"x": self.point[0], "y": self.point[1], "ax": x, "ay": y}
        # A dot at the leader's end shows which line the value belongs to.
        dot = {"arrowhead": 6, "arrowsize": 0.8, "arrowwidth": 1, "arrowcolor": look.muted}
        return shown | ends | {"axref": "x", "ayref": "y", "showarrow": True} | dot


def place(
    nodes: DataFrame,
    lines: DataFrame,
    names: np.ndarray,
    within: labels.Box,
    size: float,
    theme: str,
) -> list[Value]:
    """Place the values of the strongest lines, the strongest first, so that none covers a mark or a
    text. `nodes`: dataset, x, y and size. `lines`: dataset, other, similarity, weakest first.
    `names`: `labels.edges` of existing texts. `size`: the largest font in which values may be
    drawn. A value is on its line if there is room, else as near as possible and off other lines. At
    most MOST lines get a value; if one has no clear place, no weaker line is labelled instead."""
    at = {row["dataset"]: (row["x"], row["y"]) for row in nodes.to_dict("records")}
    pairs = list(zip(lines["dataset"], lines["other"], strict=True))
    drawn = {pair: labels.along(*at[pair[0]], *at[pair[1]]) for pair in pairs}
    found: list[Value] = []
    for own, similarity in list(zip(pairs, lines["similarity"], strict=True))[: -MOST - 1 : -1]:
        text = looks.plain(similarity, 2)
        room = labels.width(text, size, theme) + 4, size + 4
        options = list(_options(text, at[own[0]], at[own[1]], room))
        costs = _costs(options, nodes, names, found, within)
        others = [labels.NOWHERE, *(drawn[pair] for pair in pairs if pair != own)]
        costs += _CROSSED * labels.crossed(
            labels.edges([one.box for one in options]), np.concatenate(others)
        )
        best = int(costs.argmin())
        if costs[best] >= (_UNCLEAR if found else 2 * _UNCLEAR):
            break
        found.append(options[best])
    return found


def _around(middle: Point, wide: float, high: float) -> labels.Box:
    (x, y), across, down = middle, wide / 2, high / 2
    return labels.Box(x - across, y - down, x + across, y + down)


def _options(text: str, one: Point, other: Point, room: Point) -> Iterator[Value]:
    """Yield the possible positions of a line's value, the best first."""
    points = [
        (one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1]))
        for share in _ALONG
    ]
    for point in points:
        yield Value(_around(point, *room), text, point)
    for distance in _DISTANCES:
        for turn in range(_DIRECTIONS):
            angle = 2 * math.pi * turn / _DIRECTIONS
            right, down = distance * math.cos(angle), distance * math.sin(angle)
            for point in points:
                beside = _around((point[0] + right, point[1] + down), *room)
                yield Value(beside, text, point)


def _costs(
    options: Sequence[Value],
    nodes: DataFrame,
    texts: np.ndarray,
    found: Sequence[Value],
    within: labels.Box,
) -> NDArray[np.float64]:
    """Return the cost of each position: its rank, plus a large cost if it covers something, is not
    `within`, or has a leader that crosses something."""
    own = labels.edges([one.box for one in options])
    taken = [texts, labels.edges([one.box for one in found]), *(one.leader for one in found)]
    covered = labels.overlaps(own, np.concatenate([*taken, _squares(nodes, 1)])).any(axis=1)
    whole = (own[:, 2:] - own[:, :2]).prod(axis=1)
    outside = labels.overlaps(own, labels.edges([within]))[:, 0] < whole - 1e-6
    led = [one.leader for one in options]
    owners = np.repeat(np.arange(len(led)), [len(one) for one in led])
    hit = labels.crossed(np.concatenate(led), np.concatenate([*taken, _squares(nodes, _ROUND)]))
    across = np.bincount(owners, weights=hit, minlength=len(options)) > 0
    return np.arange(len(options)) + _UNCLEAR * across + 2 * _UNCLEAR * (covered | outside)


def _squares(nodes: DataFrame, share: float) -> np.ndarray:
    """Return the edges of the marks as squares, with their width multiplied by `share`."""
    middle, reach = nodes[["x", "y"]].to_numpy(float), nodes[["size"]].to_numpy(float) * share / 2
    return np.hstack([middle - reach, middle + reach])
