"""What a figure was drawn from: the same figure in other colours, and the frames behind it."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import plotly.graph_objects as go
from pandas import DataFrame, Series

from compute.base.bounded_cache import remembered

P = ParamSpec("P")
COLUMN = 386
"""Pixels that a figure for one column of a page is drawn across."""


class Drawing(NamedTuple):
    """A call of a figure function."""

    function: Callable[..., go.Figure]
    arguments: Mapping[str, Any]
    """By name; `theme` is one of them."""


def drawing(function: Callable[P, go.Figure]) -> Callable[P, go.Figure]:
    """For a function that takes a theme: its figures know how to be drawn again.

    From equal arguments the figure is the same one, drawn once: nobody may change it.
    """
    signature = inspect.signature(function)

    @remembered
    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> go.Figure:
        figure = function(*args, **kwargs)
        arguments = signature.bind(*args, **kwargs).arguments
        # Plotly keeps what begins with an underscore out of what it draws.
        vars(figure)["_drawing"] = Drawing(function, arguments)
        return figure

    return drawn


def redrawn(figure: go.Figure, theme: str, *, narrow: bool = False) -> go.Figure:
    """The figure in another theme; as it is where it does not know how it was drawn.

    A function that takes `narrow` too has another drawing for one column of a page.
    """
    made: Drawing | None = vars(figure).get("_drawing")
    if made is None:
        return go.Figure(figure)
    other: dict[str, Any] = {"theme": theme}
    if theme == "print" and not isinstance(chosen := made.arguments.get("chosen"), slice | None):
        # What was clicked on says nothing on paper.
        other["chosen"] = None if isinstance(chosen, tuple) else type(chosen)()
    if narrow and "narrow" in inspect.signature(made.function).parameters:
        return made.function(**{**made.arguments, **other, "narrow": True})
    return made.function(**{**made.arguments, **other})


def behind(figure: go.Figure) -> dict[str, DataFrame]:
    """The frames that a figure was drawn from, by the names of the arguments that hold them."""
    made: Drawing | None = vars(figure).get("_drawing")
    found = made.arguments.items() if made else ()
    return dict(frame for name, value in found for frame in _frames(name, value))


def _frames(name: str, value: Any) -> Iterator[tuple[str, DataFrame]]:
    if isinstance(value, DataFrame):
        yield name, value
    elif isinstance(value, Series):
        yield name, value.reset_index()
    elif fields := _fields(value):
        for field, held in fields.items():
            yield from _frames(f"{name}_{field}", held)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for place, held in enumerate(value, start=1):
            yield from _frames(f"{name}_{place}", held)


def _fields(value: Any) -> Mapping[str, Any]:
    """Of a named tuple, a frozen record or a mapping, what it holds by name."""
    if isinstance(value, Mapping):
        return {str(name): held for name, held in value.items()}
    names = getattr(value, "_fields", ()) or getattr(value, "__dataclass_fields__", ())
    return {name: getattr(value, name) for name in names}
