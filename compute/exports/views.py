"""A view: the figures and tables that a page shows, as one archive with what they rest on."""

from typing import NamedTuple

import plotly.graph_objects as go

from compute.exports.tables import Table


class Figure(NamedTuple):
    """A figure as it is on a page: its name, what it is."""

    key: str
    title: str
    figure: go.Figure


Shown = Figure | Table
