"""Drawing of a page's records in Streamlit."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.views import page as records
from compute.views.page import Inside, Page, Step
from compute.views.shared import text
from pages._shared import (
    address,
    colours,
    dataset_facts,
    drawing,
    escaping,
    failures,
    navigation,
    page_run,
    pickers,
    reading,
    streamlit_internals,
    system_pickers,
)
from pages._shared.served import Served

_LOOK = ("titles", "width", "default")
_MAIN = ("dataset", "a", "b", "system")
"""Keys of the controls that choose the dataset or systems of a page."""
_NO_WIDGETS: Mapping[str, Callable[..., Any]] = MappingProxyType({})


class _Unknown(Exception):
    """The address names an unknown dataset or system, so results of another would mislead."""


def page(title: str, steps: Page, widgets: Mapping[str, Callable[..., Any]] = _NO_WIDGETS) -> None:
    """Draw a page under its title; `widgets` draw its forms, by name."""
    # Without a question, a page would bypass app.py on a new server.
    reading.store()
    st.title(title, anchor=False)
    page_run.current().widgets = widgets
    with suppress(_Unknown):
        section(partial(steps, Served()))


def section(inside: Inside) -> Any:
    """Draw steps on a page, and return their result."""
    return _run(inside, None)


def _run(inside: Inside, above: Any) -> Any:
    """Draw steps in order, and return their result. Messages about controls go to `above`."""
    if not callable(inside):
        for step in inside:
            _step(step, above)
        return None
    steps: Any = inside()
    value = None
    while True:
        try:
            step = steps.send(value)
        except StopIteration as end:
            return end.value
        value = _step(step, above)


def _step(step: Step, above: Any) -> Any:
    if held := _HELD.get(type(step)):
        return held(step, above)
    return _DRAWN[type(step)](step)


def _within(place: Any) -> Any:
    return nullcontext() if place is None else place


def _row(row: records.Row, above: Any) -> Any:
    over = st.container()
    with pickers.pickers(row.aligned):
        return _run(row.inside, over)


def _above(step: records.Above, above: Any) -> Any:
    with _within(above):
        return _run(step.inside, None)


def _group(group: records.Group, above: Any) -> Any:
    with st.popover(group.label):
        return _run(group.inside, above)


def _section(section: records.Section, above: Any) -> Any:
    if section.folded:
        place = pickers.expander(section.heading, section.name, section.asks)
        if not place.open:
            return None
        with place, suppress(_Unknown):
            return _run(section.inside, None)
        return None
    if section.heading:
        _heading(records.Heading(section.heading))
    return _run(section.inside, above)


def _beside(beside: records.Beside, above: Any) -> None:
    if beside.widths:
        row = st.container(horizontal=True, gap=beside.gap)  # pyrefly: ignore
        places = [row.container(width=width) for width in beside.widths]
    else:
        shares = beside.shares or len(beside.columns)
        places = st.columns(shares, gap=beside.gap)  # pyrefly: ignore
    for place, inside in zip(places, beside.columns, strict=True):
        with place:
            _run(inside, above)


def _box(box: records.Box, above: Any) -> Any:
    with st.container(border=True, height=box.height, width=box.width):  # pyrefly: ignore
        return _run(box.inside, above)


@st.fragment
@failures.guarded
def _live(live: records.Live) -> Any:
    navigation.leave_fragment()
    with reading.newest_judgements():
        return _run(live.inside, None)


def _slot(slot: records.Slot, above: Any) -> Any:
    place = st.empty() if slot.replaced else st.container(width=slot.width)  # pyrefly: ignore
    return place, above


def _into(into: records.Into, above: Any) -> Any:
    place, over = into.slot
    with place:
        return _run(into.step, over) if callable(into.step) else _step(into.step, over)


def _wait(wait: records.Wait) -> Any:
    with st.spinner(wait.text):
        return wait.work()


def _remember(remember: records.Remember) -> None:
    system_pickers.remember(remember.systems)


def _window(window: records.Window) -> None:
    def close() -> None:
        st.query_params.pop(window.closes, None)

    opened = st.dialog(window.title, width="large", on_dismiss=close)
    opened(failures.guarded(section))(window.inside)


def _recalled(recalled: records.Recalled) -> Any:
    """Return the last value under a name, or None; see `Recalled.since`."""
    last = st.session_state.get(f"_last_{recalled.name}")
    if not recalled.since:
        return last
    last, made = pickers.begin().setdefault(recalled.name, (last, recalled.since))
    return last if made == recalled.since else None


def _offered(offered: records.Offered, above: Any) -> None:
    with _within(above):
        address.known(offered.key, offered.options, offered.noun, offered.advice)


def _asked(asked: records.Asked) -> Any:
    given = st.query_params.get_all(asked.key)
    if asked.opened:
        given = pickers.begin().setdefault(f"{asked.key} when opened", given)
    return given if asked.many else "".join(given[-1:])


def _choice(choice: records.Choice, above: Any) -> str:
    """Draw a picker of one option, and return its value; unknown names are reported first."""
    if choice.recalls:
        address.recall(choice.key, choice.recalls)
    _known(choice, above, choice.advice(st.query_params.get(choice.key, "")))
    if choice.of_matrix and colours.narrow():
        named = st.query_params.get(choice.key)
        return choice.value(named if named in choice.options else None)
    if choice.side_by_side:
        look = {"default": choice.default, "titles": choice.titles}
        return pickers.view(choice.label, choice.options, choice.key, **look)
    lost = choice.key in _MAIN and _is_unknown(choice.key)
    look = _look(choice, "disabled") | {"blank": lost}
    value = pickers.pick(choice.label, choice.options, choice.key, **look)
    if lost:
        raise _Unknown
    if value in choice.recalls:
        address.remember(choice.key, value)
    return value


def _is_unknown(key: str) -> bool:
    """Return true if the address names what no page has; a dataset may only lack data here."""
    known = dataset_facts.titles() if key == "dataset" else ()
    return any(one.name not in known for one in address.wrong(key))


def _many(many: records.Many, above: Any) -> list[str]:
    _known(many, above)
    return pickers.pick_many(many.label, many.options, many.key, **_look(many, "empty"))


def _known(control: records.Choice | records.Many, above: Any, advice: str = "") -> None:
    if control.noun:
        with _within(above):
            names = control.known or control.options
            address.known(control.key, names, control.noun, advice)


def _look(control: records.Choice | records.Many, *more: str) -> dict[str, Any]:
    told = escaping.listed(control.told)
    return {"told": told, **{name: getattr(control, name) for name in (*_LOOK, *more)}}


def _pick(pick: records.Pick) -> str:
    names = dict(pick.shown)
    address.pick(pick.key, pick.label, names, pick.usual)
    name = address.chosen(pick.key, names, pick.usual)
    if pick.remembered:
        address.remember(pick.remembered, name)
    return name


def _heading(heading: records.Heading) -> None:
    st.header(escaping.text(heading.text), anchor=False)


def _text(text: records.Text) -> None:
    icon = f":material/{text.icon}: " if text.icon else ""
    words = f"**{escaping.text(text.text)}**" if text.bold else escaping.text(text.text)
    st.markdown(icon + words, width=text.width)  # pyrefly: ignore


def _message(message: records.Message) -> None:
    st.info(escaping.text(message.text))


def _code(code: records.Code) -> None:
    st.code(code.text, language=None)


def _prose(prose: records.Prose) -> None:
    st.markdown(prose.text, width=prose.width or "stretch")


def _passage(passage: records.Passage) -> None:
    st.html(text.document(passage.title, passage.text, passage.query))


def _static(static: records.Static) -> None:
    look: dict[str, Any] = {"hide_index": True, "border": "horizontal"}
    rows = static.rows.map(escaping.text) if static.is_foreign else static.rows
    st.table(rows, width=static.width or "stretch", **look)


def _legends(legends: records.Legends) -> None:
    page_run.current().legends.append(legends.entries)
    if not (legends.of_matrix and colours.narrow()):
        drawing.legend(legends.entries)


def _button(button: records.Button) -> None:
    if button.opens.page and not button.icon:
        address.link(
            button.label, f"pages/{button.opens.page}.py", button.told, **button.opens.of()
        )
        return
    options: dict[str, Any] = {"icon": f":material/{button.icon}:"} if button.icon else {}
    options |= {"type": "secondary" if button.icon else "tertiary"}
    options |= {"shortcut": button.shortcut} if button.shortcut else {}
    go = partial(_go, button.opens)
    st.button(button.label, on_click=go, disabled=button.disabled, **options)


def _figure(shown: records.Figure) -> None:
    if shown.sample:
        reading.add_sample(*shown.sample)
    if shown.opens is None:
        drawing.plot(shown)
        return
    navigation.plot(shown, partial(_clicked, shown.opens))


def _table(shown: records.Table) -> None:
    theme = colours.theme()
    frame, columns = shown.shown, shown.listed if shown.columns else []
    for place, column in enumerate(columns):
        # If there is no picture, the column is left out.
        if column.drawn and any(pictures := column.drawn(theme)):
            frame.insert(place, column.head, pictures)
    looks = {one.head: _column(one) for one in columns if not one.in_files}
    looks = {head: look for head, look in looks.items() if look}
    options: dict[str, Any] = drawing.height(len(frame)) | (
        {"column_config": looks} if looks else {}
    )
    options |= {"height": shown.height} if shown.height else {}
    options |= {"width": shown.width} if shown.width else {}
    options |= {"placeholder": shown.absent}
    rows = _styled(shown, frame, columns, theme)
    if shown.opens is None:
        drawing.table(shown, rows, **options)
        return
    navigation.table(shown, rows, partial(_clicked, shown.opens), **options)


def _styled(
    shown: records.Table, frame: DataFrame, columns: Sequence[records.Column], theme: str
) -> DataFrame | Styler:
    """Return the frame with formatted values and filled cells."""
    written = any(one.written and not one.is_text for one in columns)
    fills = {one.head: one.fill(theme) for one in columns if one.fill}
    if not (written or fills or shown.bold is not None):
        return frame
    own = [one for one in columns if not (one.is_text or one.drawn or one.in_files)]
    writers: dict[Any, Callable[[Any], str]] = {one.head: _writer(one, shown.absent) for one in own}
    told = {head: [*map(writers.get(head, str), frame[head])] for head in frame}
    css = {head: [""] * len(frame) for head in frame}
    if shown.bold:
        rows = [["font-weight: bold" * bool(one) for one in row] for row in shown.bold]
        css = dict(zip(frame, map(list, zip(*rows, strict=True)), strict=True))
    return streamlit_internals.styled(
        frame, DataFrame(told, frame.index), [*(css | fills).values()]
    )


def _writer(column: records.Column, absent: str) -> Callable[[Any], str]:
    """Return the function that formats a value, as the browser does by a number format."""
    form = column.format
    if not isinstance(form, str):
        return form
    write = "{:,}".format if form == "localized" else form.__mod__ if form else str
    return lambda value: absent if pd.isna(value) else write(value)


def _column(column: records.Column) -> Any:
    """Return how the browser shows a column; None for its default."""
    look: dict[str, Any] = {"width": column.width, "help": column.told or None}
    look |= {"pinned": True} if column.pinned else {}
    if column.drawn:
        return st.column_config.ImageColumn(column.label or None, **look)
    if isinstance(column.format, str) and column.format:
        return st.column_config.NumberColumn(column.label or None, format=column.format, **look)
    has_look = column.label or any(look.values())
    return st.column_config.Column(column.label or None, **look) if has_look else None


def _clicked(opens: records.Opens, *carried: str) -> None:
    """Open the link of a clicked mark or row, if it has one."""
    if isinstance(opens, records.Link):
        _go(opens, carried)
    elif link := opens(*carried):
        _go(link)


def _go(link: records.Link, carried: Sequence[str] = ()) -> None:
    """Go to a click's target; for callbacks."""
    names = link.of(carried)
    if not link.page:
        pickers.put(**names)
        return
    if kept := {key: names[key] for key in link.keeps}:
        st.query_params.update(kept)
    navigation.to(link.page, **names)


_HELD: Mapping[type, Callable[[Any, Any], Any]] = {
    records.Row: _row,
    records.Above: _above,
    records.Group: _group,
    records.Section: _section,
    records.Beside: _beside,
    records.Box: _box,
    records.Slot: _slot,
    records.Into: _into,
    records.Offered: _offered,
    records.Choice: _choice,
    records.Many: _many,
    records.Few: system_pickers.few,
}
"""Functions for steps that may show messages above a row of controls, or that hold such steps."""
_DRAWN: Mapping[type, Callable[[Any], Any]] = {
    records.Live: _live,
    records.Wait: _wait,
    records.Remember: _remember,
    records.Window: _window,
    records.Recalled: _recalled,
    records.Asked: _asked,
    records.Switch: pickers.switch,
    records.Number: pickers.number,
    records.Slide: pickers.slide,
    records.Words: pickers.words,
    records.Pick: _pick,
    records.Widget: lambda widget: page_run.current().widgets[widget.name](**widget.values),
    records.Heading: _heading,
    records.Text: _text,
    records.Message: _message,
    records.Code: _code,
    records.Prose: _prose,
    records.Passage: _passage,
    records.Static: _static,
    records.Note: drawing.note,
    records.Legends: _legends,
    records.Button: _button,
    records.Figure: _figure,
    records.Table: _table,
}
