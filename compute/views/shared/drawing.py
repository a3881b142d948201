"""Figures as calls, which can be redrawn in other colours and whose frames can be listed."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import plotly.graph_objects as go
from pandas import DataFrame, Series

from compute.base.bounded_cache import remembered
from compute.views.shared import narrow_lists
from compute.views.shared.narrow_lists import Lists
from compute.views.shared.theme import template

P = ParamSpec("P")
COLUMN = 386
"""Width in pixels of a one-column figure."""


class Drawing(NamedTuple):
    """A call of a figure function."""

    function: Callable[..., go.Figure]
    arguments: Mapping[str, Any]
    """Arguments by name, including `theme`."""


def drawing(function: Callable[P, go.Figure]) -> Callable[P, go.Figure]:
    """Decorator of a function that takes a theme, so that its figures can be redrawn. Equal
    arguments return the same figure, which callers must not change."""
    signature = inspect.signature(function)

    @remembered
    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> go.Figure:
        arguments = signature.bind(*args, **kwargs).arguments
        figure = _drawn(function, arguments)
        # Plotly does not draw attributes that begin with an underscore.
        vars(figure)["_drawing"] = Drawing(function, arguments)
        return figure

    return drawn


def _drawn(function: Callable[..., go.Figure], arguments: Mapping[str, Any]) -> go.Figure:
    """The figure, with the settings common to its theme."""
    return function(**arguments).update_layout(template=template(arguments["theme"]))


def in_lists(
    said: Callable[..., Lists], *, fits: bool = False
) -> Callable[[Callable[P, go.Figure]], Callable[P, go.Figure]]:
    """Decorator of a matrix, above `drawing`, with a function that returns it as ranked lists. They
    replace the matrix on a narrow screen unless it `fits`."""

    def told(function: Callable[P, go.Figure]) -> Callable[P, go.Figure]:
        vars(inspect.unwrap(function)).update(said=said, fits=fits)
        return function

    return told


def lists(figure: go.Figure, *, narrow: bool = False) -> Lists | None:
    """A matrix as ranked lists, or None; with `narrow`, only if it does not fit."""
    made: Drawing | None = vars(figure).get("_drawing")
    said = getattr(made.function, "said", None) if made else None
    if made is None or said is None or (narrow and vars(made.function)["fits"]):
        return None
    return said(**made.arguments)


def numbers(figure: go.Figure) -> dict[str, DataFrame]:
    """A figure's data as tables: a matrix's lists, or else the frames behind the figure."""
    told = lists(figure)
    return {told.name: narrow_lists.table(told)} if told else behind(figure)


def redrawn(figure: go.Figure, theme: str, *, narrow: bool = False) -> go.Figure:
    """The figure in another theme; unchanged if it cannot be redrawn. A function that takes
    `narrow` also draws it for one column."""
    made: Drawing | None = vars(figure).get("_drawing")
    if made is None:
        return go.Figure(figure)
    other: dict[str, Any] = {"theme": theme}
    if theme == "print" and not isinstance(chosen := made.arguments.get("chosen"), slice | None):
        # A selection has no meaning on paper.
        other["chosen"] = None if isinstance(chosen, tuple) else type(chosen)()
    if narrow and "narrow" in inspect.signature(made.function).parameters:
        other["narrow"] = True
    return _drawn(made.function, {**made.arguments, **other})


def behind(figure: go.Figure) -> dict[str, DataFrame]:
    """Frames behind a figure, by argument name."""
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
    """Fields of a named tuple or a frozen record, or items of a mapping, by name."""
    if isinstance(value, Mapping):
        return {str(name): held for name, held in value.items()}
    names = getattr(value, "_fields", ()) or getattr(value, "__dataclass_fields__", ())
    return {name: getattr(value, name) for name in names}
