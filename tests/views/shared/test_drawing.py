"""Figures as the browser gets them: with nothing that makes Plotly draw a copy of them again."""

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared.drawing import drawing, redrawn, written
from compute.views.shared.theme import template


@drawing
def matrix(rows: DataFrame, *, theme: str) -> go.Figure:
    """Two panels with a matrix and a note."""
    figure = go.Figure(go.Heatmap(z=rows.to_numpy(), x=np.arange(2), y=["a", "b"]))
    figure.add_scatter(x=rows["one"], y=[0, 1], xaxis="x2", yaxis="y2")
    figure.update_layout(xaxis2={"title": {"text": f"in {theme}"}}, margin={"l": 90})
    return figure.add_annotation(text="a note", x=0, y=0)


def sent(figure: go.Figure) -> dict[str, Any]:
    """The figure as the browser reads it."""
    return json.loads(written(figure, clicked=False))


def test_arrays_are_lists_and_an_absent_value_is_null() -> None:
    rows = DataFrame({"one": [1.5, np.nan], "two": [2.5, 3.5]})
    heatmap, scatter = sent(matrix(rows, theme="light"))["data"]
    assert heatmap["z"] == [[1.5, 2.5], [None, 3.5]]
    assert (heatmap["x"], scatter["x"]) == ([0, 1], [1.5, None])


def test_what_the_theme_adds_stands_in_the_layout_and_below_what_the_figure_has() -> None:
    usual = template("dark").layout.to_plotly_json()
    layout = sent(matrix(DataFrame({"one": [1.0], "two": [2.0]}), theme="dark"))["layout"]
    assert "template" not in layout
    assert layout["paper_bgcolor"] == usual["paper_bgcolor"]
    assert layout["margin"] == usual["margin"] | {"l": 90}
    assert layout["xaxis"] == layout["yaxis"] == usual["xaxis"]
    title = usual["xaxis"]["title"] | {"text": "in dark"}
    assert layout["xaxis2"] == usual["xaxis"] | {"title": title}
    assert layout["annotations"] == [{"showarrow": False, "text": "a note", "x": 0, "y": 0}]


def test_the_revision_is_one_of_the_content() -> None:
    one, other = (DataFrame({"one": [1.0], "two": [two]}) for two in (2.0, 3.0))
    found = [matrix(rows, theme=theme) for rows in (one, other) for theme in ("light", "dark")]
    revisions = {sent(figure)["layout"]["datarevision"] for figure in found}
    assert len(revisions) == 4
    assert sent(redrawn(found[0], "dark")) == sent(found[1])
