"""Figures that remember the call that drew them, so that they can be redrawn in other colours."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from typing import Any, NamedTuple, ParamSpec

import plotly.graph_objects as go
from pandas import DataFrame, Series
from plotly.io.json import to_json_plotly

from compute.base.bounded_cache import remembered
from compute.views.shared import narrow_lists
from compute.views.shared.narrow_lists import Lists
from compute.views.shared.theme import template

P = ParamSpec("P")
COLUMN = 386
"""Width in pixels of a one-column figure."""


class Drawing(NamedTuple):
    """The call that drew a figure."""

    function: Callable[..., go.Figure]
    """A function decorated with `drawing`."""
    arguments: Mapping[str, Any]
    """Arguments by name, including `theme`."""


def drawing(function: Callable[P, go.Figure]) -> Callable[P, go.Figure]:
    """Decorate a figure function so that its figures can be redrawn. The function takes a theme.
    Equal arguments return the same figure, which callers must not change."""
    signature = inspect.signature(function)

    @remembered
    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> go.Figure:
        arguments = signature.bind(*args, **kwargs).arguments
        theme: Any = arguments["theme"]
        figure = function(*args, **kwargs).update_layout(template=template(theme))
        # Plotly does not draw attributes that begin with an underscore.
        vars(figure)["_drawing"] = Drawing(drawn, arguments)
        return figure

    return drawn


def in_lists(
    said: Callable[..., Lists], *, fits: bool = False
) -> Callable[[Callable[P, go.Figure]], Callable[P, go.Figure]]:
    """Return a decorator, to be placed above `drawing`, for a function that draws a matrix. `said`
    takes the same arguments and returns the matrix as ranked lists, which replace it on a narrow
    screen unless it `fits`."""

    def told(function: Callable[P, go.Figure]) -> Callable[P, go.Figure]:
        vars(inspect.unwrap(function)).update(said=said, fits=fits)
        return function

    return told


def lists(figure: go.Figure, *, narrow: bool = False) -> Lists | None:
    """Return a matrix as ranked lists, or None; if `narrow`, also None for a matrix that fits."""
    made: Drawing | None = vars(figure).get("_drawing")
    about = vars(inspect.unwrap(made.function)) if made else {}
    if made is None or "said" not in about or (narrow and about["fits"]):
        return None
    return about["said"](**made.arguments)


def numbers(figure: go.Figure) -> dict[str, DataFrame]:
    """Return a figure's data as named tables: a matrix's lists, else the frames behind it."""
    told = lists(figure)
    return {told.name: narrow_lists.table(told)} if told else behind(figure)


def redrawn(figure: go.Figure, theme: str, *, narrow: bool = False) -> go.Figure:
    """Return the figure in another theme, or a copy if it cannot be redrawn. If `narrow`, a
    function that takes `narrow` draws it for one column. Callers must not change it."""
    made: Drawing | None = vars(figure).get("_drawing")
    if made is None:
        return go.Figure(figure)
    other: dict[str, Any] = {"theme": theme}
    if theme == "print" and not isinstance(chosen := made.arguments.get("chosen"), slice | None):
        # A selection has no meaning on paper.
        other["chosen"] = None if isinstance(chosen, tuple) else type(chosen)()
    if narrow and "narrow" in inspect.signature(made.function).parameters:
        other["narrow"] = True
    return made.function(**{**made.arguments, **other})


def written(figure: go.Figure, *, clicked: bool) -> str:
    """Return the figure as JSON, writing it once. `clicked`: clicks on its marks are answered."""
    kept: dict[bool, str] = vars(figure).setdefault("_written", {})
    if clicked not in kept:
        if clicked and figure.layout.clickmode is None:  # pyrefly: ignore
            # Streamlit sets this only after the figure is drawn, so earlier clicks would be lost.
            figure.update_layout(clickmode="event+select")
        kept[clicked] = _written(figure)
    return kept[clicked]


def _written(figure: go.Figure) -> str:
    """Write a figure so that a browser draws it once. Streamlit soon gives Plotly a copy of it, in
    which Plotly takes a template and typed arrays for changed, and without a revision any array."""
    layout: Any = figure.layout.to_plotly_json()  # pyrefly: ignore
    usual = layout.pop("template")["layout"]
    note, axes = usual.pop("annotationdefaults"), {"xaxis": {}, "yaxis": {}}
    own = {name: _over(usual.get(name[:5]), value) for name, value in (axes | layout).items()}
    own["annotations"] = [note | one for one in layout.get("annotations", ())]
    data = [one.to_plotly_json() for one in figure.data]  # pyrefly: ignore
    content = to_json_plotly({"data": data, "layout": _over(usual, own)})
    revision = sha256(content.encode()).hexdigest()[:16]
    return f'{content[:-2]},"datarevision":"{revision}"{content[-2:]}'


def _over(usual: Any, own: Any) -> Any:
    """Return a figure's value with what a template adds to it."""
    if not (isinstance(usual, dict) and isinstance(own, dict)):
        return own
    return usual | {name: _over(usual.get(name), value) for name, value in own.items()}


def behind(figure: go.Figure) -> dict[str, DataFrame]:
    """Return the frames among the arguments of the figure's function, by argument name."""
    made: Drawing | None = vars(figure).get("_drawing")
    found = made.arguments.items() if made else ()
    return dict(frame for name, value in found for frame in _frames(name, value))


def _frames(name: str, value: Any) -> Iterator[tuple[str, DataFrame]]:
    """Yield name and frame of each frame within a value, however deeply nested."""
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
    """Return the fields of a named tuple or dataclass, or a mapping's items, by name."""
    if isinstance(value, Mapping):
        return {str(name): held for name, held in value.items()}
    names = getattr(value, "_fields", ()) or getattr(value, "__dataclass_fields__", ())
    return {name: getattr(value, name) for name in names}
