"""Figures as they are stored in a site: Plotly's JSON in light and dark, and ranked lists."""

import json
import os
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import plotly.graph_objects as go

from compute.views.shared import drawing
from compute.views.shared.theme import palette, template

THEMES = ("light", "dark")


def spec(figure: go.Figure, way: Callable[..., str]) -> dict[str, Any]:
    """Return a light figure of `compute.views`, the changes for the dark one, and its ranked lists,
    if any. `way` maps a mark's customdata to the address that a click opens. All addresses begin
    with `to`; a mark stores the rest."""
    ways, told = Ways(cache(way), []), drawing.lists(figure)
    light, dark = (_marked(one, ways) for one in (figure, drawing.redrawn(figure, "dark")))
    start = os.path.commonprefix([one for (one,) in ways.made])  # noqa: RUF071 - of letters
    for one in ways.made:
        one[0] = one[0].removeprefix(start)
    found: dict[str, Any] = {"to": start, "light": light, "dark": changes(light, dark)}
    if told:
        found |= {"of": told.of, "name": told.name}
        found["lists"] = [[one.title, list(map(list, one.rows))] for one in told.lists]
    return found


def changes(one: Any, other: Any) -> Any:
    """Return the changes that turn one value into another; changes to lists are keyed by index."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = {key: (one.get(key), other.get(key)) for key in {**one, **other}}
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        if not all(isinstance(item, dict) for item in one):
            return other
        pairs = {str(place): pair for place, pair in enumerate(zip(one, other, strict=True))}
    else:
        return other
    return {key: changes(*pair) for key, pair in pairs.items() if pair[0] != pair[1]}


class Ways(NamedTuple):
    """Collects the addresses of a figure's marks."""

    of: Callable[..., str]
    """A function from a mark's value to its address; empty if it has none."""
    made: list[list[str]]
    """Addresses of all marks that have one, each in its own list, where it is shortened later."""

    def marks(self, carried: Any) -> list[Any]:
        """Return the addresses of marks instead of their values; rows of a matrix are nested."""
        if isinstance(carried, list) and carried and isinstance(carried[0], list):
            return [self.marks(one) for one in carried]
        names = carried if isinstance(carried, list) else [carried]
        address = self.of(*names) if all(isinstance(one, str) for one in names) else ""
        mark = [address] * bool(address)
        self.made.extend([mark] * bool(mark))
        return mark


def _marked(figure: go.Figure, ways: Ways) -> dict[str, Any]:
    """Return a figure's JSON without the shared template, with the addresses of its marks."""
    spec: dict[str, Any] = json.loads(figure.to_json() or "{}")
    spec["layout"].pop("template", None)
    for trace in spec["data"]:
        data, before = trace.get("customdata"), len(ways.made)
        # If the hover text uses customdata, it has numbers rather than values for addresses.
        if isinstance(data, list) and "customdata" not in str(trace.get("hovertemplate")):
            trace["customdata"] = [ways.marks(one) for one in data]
            if len(ways.made) == before:
                del trace["customdata"]
    return spec


def looks() -> dict[str, Any]:
    """Return, by theme, the figures' shared layout and the colours that the browser draws with."""
    return {
        theme: {
            "template": template(theme).to_plotly_json(),
            "win": palette(theme).win,
            "loss": palette(theme).loss,
            "muted": palette(theme).muted,
        }
        for theme in THEMES
    }
