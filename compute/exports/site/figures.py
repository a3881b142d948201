"""Figures as a site keeps them: Plotly's JSON in light and dark, and the same as ranked lists."""

import json
from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go

from compute.views.shared import drawing
from compute.views.shared.theme import palette, template

THEMES = ("light", "dark")


def spec(figure: go.Figure, way: Callable[..., str]) -> dict[str, Any]:
    """A light figure of `compute.views`, what a dark one has otherwise, and the same as lists.

    `way` is the address that a click on a mark opens, for what it carries: the mark carries that.
    """
    told, light = drawing.lists(figure), _marked(figure, way)
    dark = _marked(drawing.redrawn(figure, "dark"), way)
    found: dict[str, Any] = {"light": light, "dark": changes(light, dark)}
    if told:
        found |= {"of": told.of, "name": told.name}
        found["lists"] = [[one.title, list(map(list, one.rows))] for one in told.lists]
    return found


def changes(one: Any, other: Any) -> Any:
    """What is to be put into one value to have the other; of a list by the places of its items."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = {key: (one.get(key), other.get(key)) for key in {**one, **other}}
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        if not all(isinstance(item, dict) for item in one):
            return other
        pairs = {str(place): pair for place, pair in enumerate(zip(one, other, strict=True))}
    else:
        return other
    return {key: changes(*pair) for key, pair in pairs.items() if pair[0] != pair[1]}


def _marked(figure: go.Figure, way: Callable[..., str]) -> dict[str, Any]:
    """A figure without the template that all share; its marks carry addresses, if any."""
    spec: dict[str, Any] = json.loads(figure.to_json() or "{}")
    spec["layout"].pop("template", None)
    for trace in spec["data"]:
        data = trace.get("customdata")
        if isinstance(data, list) and "customdata" not in str(trace.get("hovertemplate")):
            ways = [_ways(one, way) for one in data]
            trace["customdata"] = ways if any(map(any, ways)) else None
    return spec


def _ways(carried: Any, way: Callable[..., str]) -> Any:
    if not isinstance(carried, list):
        return [way(carried)] if isinstance(carried, str) else [""]
    if carried and isinstance(carried[0], list):
        return [_ways(one, way) for one in carried]
    return [way(*carried)] if all(isinstance(one, str) for one in carried) else [""]


def looks() -> dict[str, Any]:
    """What all figures of a theme share, and the colours of those that the browser draws."""
    return {
        theme: {
            "template": template(theme).to_plotly_json(),
            "win": palette(theme).win,
            "loss": palette(theme).loss,
            "muted": palette(theme).muted,
        }
        for theme in THEMES
    }
