"""Figures as a site keeps them: Plotly's JSON in light and dark, and the same as ranked lists."""

import json
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from compute.views.shared import drawing
from compute.views.shared.theme import palette, template

THEMES = ("light", "dark")


def drawn(figure: go.Figure, title: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """A figure of `compute.views`, which is light, in both themes, without the template that all
    share."""
    told = drawing.lists(figure)
    lists = [
        {"title": one.title, "rows": [list(row) for row in one.rows]}
        for one in (told.lists if told else ())
    ]
    found = {"light": _spec(figure), "dark": _spec(drawing.redrawn(figure, "dark"))}
    of = {"of": told.of, "name": told.name} if told else {}
    return {"title": title, "notes": [note for note in notes if note], "lists": lists} | of | found


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


def _spec(figure: go.Figure) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(figure.to_json() or "{}")
    spec["layout"].pop("template", None)
    for trace in spec["data"]:
        # For clicks on the dashboard; names of systems there may hold folders of this machine.
        trace.pop("customdata", None)
    return spec
