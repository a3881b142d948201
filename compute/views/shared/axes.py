"""Plotly axes shared by several figures: names as rows and columns, shares, differences."""

import math
from collections.abc import Sequence
from typing import Any

from compute.views.shared.theme import escape, plain, signed

Axis = dict[str, Any]

BARE: Axis = {"showgrid": False, "zeroline": False}
"""An axis of names or ranks, without lines."""
CELLS: Axis = {**BARE, "ticks": ""}
"""An axis without ticks, whose names are next to the cells of a matrix."""
SHARES: Axis = {
    "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1],
    "ticktext": ["0", ".2", ".4", ".6", ".8", "1"],
}
"""Ticks and labels of an axis from 0 to 1."""
CLEAR = "rgba(0,0,0,0)"
TICKS_AWAY: Axis = {"ticks": "outside", "ticklen": 5, "tickcolor": CLEAR}
"""Invisible ticks, which keep names away from marks at the left end."""
CLICKED: dict[str, Any] = {"hoverdistance": -1}
"""Layout option by which a click anywhere selects the nearest of `traces.targets`."""
_STEPS = (0.02, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Possible distances between ticks, up to 5 because DCG has no upper bound."""
_NARROW = 560
"""Pixels that the columns share on a screen 800 pixels wide."""


def names_down(
    titles: Sequence[str], *, above: float = 0.5, below: float = 0.5, longest: int = 28, **more: Any
) -> Axis:
    """Return an axis with a row for each title, the first at the top. `above` and `below` are the
    space, in rows, beyond the middle of the first and the last row."""
    return {
        **BARE,
        "range": [len(titles) - (1 - below), -above],
        "tickvals": list(range(len(titles))),
        "ticktext": [escape(title, longest) for title in titles],
        **more,
    }


def names_across(
    titles: Sequence[str], *, fewest: int, longest: int = 28, crowded: bool = False
) -> Axis:
    """Return an axis with a column for each title. The name is above the column, rotated if names
    would touch. With fewer columns than `fewest` the right side stays empty, so that cells do not
    become bars. If `crowded`, names are small and vertical."""
    return {
        **CELLS,
        "side": "top",
        "range": [-0.5, max(len(titles), fewest) - 0.5],
        "tickvals": list(range(len(titles))),
        # With spaces around them, names are rotated by Plotly before they touch.
        "ticktext": [f"  {escape(title, longest)}  " for title in titles],
        "ticklabelstandoff": 2,
        "tickfont": {"size": 9 if crowded else 13},
        "tickangle": -90 if crowded else None,
        "autotickangles": [0, -40],
        # Rotated names of the last columns extend past the edge, where Plotly would drop them.
        "ticklabeloverflow": "allow",
    }


def touching(titles: Sequence[str], *, fewest: int, longest: int) -> bool:
    """Return true if column names would touch on a narrow screen, so that Plotly rotates them."""
    letters = min(max(map(len, titles)), longest)
    return 8 * (letters + 2) > _NARROW / max(len(titles), fewest)


def height_of_names(
    titles: Sequence[str], *, fewest: int, longest: int, crowded: bool = False
) -> int:
    """Return the pixels that column names need above the rows, rotated as on a narrow screen.
    Plotly makes room for rotated names itself, at the cost of the rows' height."""
    letters = min(max(map(len, titles)), longest)
    if crowded:
        return 12 + 6 * letters
    return 14 + round(4.7 * letters) if touching(titles, fewest=fewest, longest=longest) else 30


def spanning(low: float, high: float, most: float = 15.5) -> Axis:
    """Return an axis of scores from `low` to `high`: its range, and up to about `most` ticks."""
    step = next((one for one in _STEPS if high - low <= most * one), _STEPS[-1])
    first, last = math.floor((low - 0.02) / step), math.ceil(high / step)
    ticks = [round(place * step, 2) for place in range(max(first, 0), last + 1)]
    digits = 2 if step < 0.1 else 1 if step < 1 else 0
    said = [plain(tick, digits) if tick else "0" for tick in ticks]
    spare = (ticks[-1] - ticks[0]) / 60
    return {"range": [ticks[0] - spare, ticks[-1] + spare], "tickvals": ticks, "ticktext": said}


def differences(values: Sequence[float], digits: int) -> Axis:
    """Return ticks at these differences, with labels such as `−.2`, `0`, `+.2` and `+1`."""
    said = [signed(value, digits).removesuffix(".0") if value else "0" for value in values]
    return {"tickvals": list(values), "ticktext": said}
