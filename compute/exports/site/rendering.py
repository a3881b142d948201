"""Renders the parts of a page as HTML; every text is escaped here."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from markdown_it import MarkdownIt

from compute.exports import tables
from compute.exports.site import figures, views
from compute.exports.site.composing import TOOLS
from compute.exports.site.views import ONE, View, Views
from compute.views import page as records
from compute.views.page import Ask, Page, Step
from compute.views.page.walk import Walk, flat
from compute.views.shared import text
from compute.views.shared import theme as looks

MOST_ROWS = 1_000
"""Maximum number of rows of a table on a page; files have all rows."""
MOST_SIDE_BY_SIDE = 8
"""Maximum number of options side by side; more are collapsed."""
MOST_IN_SIGHT = 20
"""Maximum number of rows of a table that does not scroll."""
_LESS = "\\u003c"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def _in_data(words: str) -> str:
    """Escape a text for the data of figures, in which nothing can end a script."""
    return json.dumps(words, ensure_ascii=False)[1:-1].replace("<", _LESS)


class Drawn(Walk):
    """Renders one view of a page as HTML."""

    def __init__(self, views: Views, view: View, called: Mapping[str, str] = _NO_NAMES) -> None:
        """Render this view; `called` has the site's names of systems that are stored under
        others."""
        super().__init__(view.values)
        self._views, self._view, self._called = views, view, called

    def html(self, page: Page, ask: Ask) -> str:
        """Return the parts of the page in screen order."""
        shown: list[Any] = []
        for _ in self.run(lambda: page(ask), shown):
            pass
        text = "\n".join(filter(None, map(self._drawn, flat(shown))))
        for name, called in self._called.items():
            for form in (escape, _in_data):
                text = text.replace(form(name), form(called))
        return text

    def _drawn(self, part: Any) -> str:
        return part if isinstance(part, str) else _PARTS[type(part)](self, part)

    def _step(self, step: Step, shown: list[Any], above: list[Any] | None) -> Iterator:
        """Walk a step, and put the links or tags that belong to it around its parts."""
        if isinstance(step, records.Beside):
            return (yield from self._columns(step, shown, above))
        if isinstance(step, records.Section) and step.folded:
            return (yield from self._folded(step, shown))
        shown.append(_opened(step))
        value = yield from super()._step(step, shown, above)
        shown.append(_CLOSED.get(type(step), ""))
        if isinstance(step, records.Choice):
            shown.append(self._choice(step, value))
        return value

    def _columns(self, beside: records.Beside, shown: list[Any], above: list[Any] | None) -> Any:
        """Walk columns that are side by side."""
        shares = beside.shares or [1] * len(beside.columns)
        sizes = [f"0 1 {width}px" for width in beside.widths] or [f"{one} 1 0" for one in shares]
        shown.append('<div class="beside">')
        for column, size in zip(beside.columns, sizes, strict=True):
            shown.append(f'<div style="flex:{size}">')
            yield from self.run(column, shown, above)
            shown.append("</div>")
        shown.append("</div>")

    def _folded(self, section: records.Section, shown: list[Any]) -> Any:
        """Walk a section that a reader opens; it is left out if it is empty."""
        value = yield from self.run(section.inside, inside := [])
        if inside:
            head = escape(section.heading)
            head = f'<details><summary><h2 style="display:inline">{head}</h2></summary>'
            shown += [head, *inside, "</details>"]
        return value

    def _choice(self, choice: records.Choice, value: str) -> str:
        """Return links to the views of the other options, if any."""
        if len(choice.options) < 2:
            return ""
        label, now = escape(choice.label), choice.titles.get(value, value)
        links = []
        for option in choice.options:
            names = {**self._view.values, choice.key: option}
            view = self._views.near(self._view.page, names, [choice.key])
            if view and choice.key in self._view.values:
                here = ' aria-current="true"' * (option == value)
                words = escape(choice.titles.get(option, option))
                links.append(f'<li><a href="{escape(self._way(view))}"{here}>{words}</a></li>')
        if len(links) < 2:
            return f'<p class="choice">{label}: <b>{escape(now)}</b></p>'
        listed = f"<ul>{''.join(links)}</ul>"
        if len(links) <= MOST_SIDE_BY_SIDE:
            return f'<nav class="choice" aria-label="{label}"><span>{label}</span>{listed}</nav>'
        head = f"<summary>{label}: <b>{escape(now)}</b></summary>"
        return f'<nav class="choice" aria-label="{label}"><details>{head}{listed}</details></nav>'

    def _way(self, view: View, names: Mapping[str, Any] = _NO_NAMES) -> str:
        """Return the relative address of a view; values without a view follow, for the page's
        tool."""
        rest = {key: one for key, one in names.items() if one and view.values.get(key) != one}
        # A mark's value comes last, so that the addresses of a figure share their beginning.
        more = urlencode([*rest.items()][::-1], doseq=True) if views.shown(view.page).tool else ""
        return "../" * self._view.path.count("/") + view.path + f"#{more}" * bool(more)

    def opens(self, opens: records.Opens | None, *carried: str) -> str:
        """Return the address that a click on these values opens; empty if the site has no such
        view."""
        one = opens if opens is None or isinstance(opens, records.Link) else opens(*carried)
        if one is None:
            return ""
        names = one.of(carried if one is opens else ())
        names = {key: self._called.get(str(name), name) for key, name in names.items()}
        page = one.page or self._view.page
        over = views.shown(page).over
        must = [key for key in names if over.get(key, ONE) != ONE]
        if not one.page and len(must) < len(names):
            return ""
        view = self._views.near(page, {**({} if one.page else self._view.values), **names}, must)
        return self._way(view, names) if view else ""

    def _heading(self, heading: records.Heading) -> str:
        return f"<h2>{escape(heading.text)}</h2>"

    def _text(self, part: records.Text) -> str:
        words = escape(part.text)
        return f"<p><b>{words}</b></p>" if part.bold else f"<p>{words}</p>"

    def _message(self, message: records.Message) -> str:
        return f'<p class="said">{escape(message.text)}</p>'

    def _code(self, code: records.Code) -> str:
        return f'<pre tabindex="0">{escape(code.text)}</pre>'

    def _note(self, note: records.Note) -> str:
        narrow = note.narrow()
        if narrow == note:
            return _folded(note)
        return f'<div class="wide">{_folded(note)}</div><div class="narrow">{_folded(narrow)}</div>'

    def _legends(self, legends: records.Legends) -> str:
        """Return the legend of each theme."""
        name = "wide" if legends.of_matrix else "legend"
        drawn = (
            f'<div class="{theme}">{looks.legend(legends.entries(theme))}</div>'
            for theme in figures.THEMES
        )
        return f'<div class="{name}">{"".join(drawn)}</div>'

    def _button(self, button: records.Button) -> str:
        way = self.opens(button.opens) if button.opens.page and not button.disabled else ""
        return f'<p><a href="{escape(way)}">{escape(button.label)}</a></p>' if way else ""

    def _widget(self, widget: records.Widget) -> str:
        if widget.name not in TOOLS:
            return ""
        given = escape(json.dumps(dict(widget.values), ensure_ascii=False))
        return f'<div data-tool="{widget.name}" data-given="{given}"></div>'

    def _figure(self, shown: records.Figure) -> str:
        """Return the figure's data for the script that draws it, with finding and legend."""
        given = figures.spec(shown.drawn(theme="light"), partial(self.opens, shown.opens))
        # A data script runs nothing, but ends at the first closing tag, so `<` is escaped.
        data = json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        said = shown.legend if isinstance(shown.legend, str) else ""
        return (
            f"<p><b>{escape(shown.finding or shown.title)}</b></p>"
            f'<figure aria-label="{escape(shown.title)}"><script type="application/json">'
            f"{data.replace('<', _LESS)}</script></figure>"
            + f'<p class="note wide">{escape(said)}</p>'
            * bool(said)
        )

    def _rows(self, shown: records.Table) -> str:
        """Return the first MOST_ROWS rows of a table, with the links of its cells."""
        rows = shown.rows.head(MOST_ROWS)
        # Numbers are formatted as on the page; in print some have more digits.
        columns = [
            replace(one, format=one.format.__mod__)
            if isinstance(one.format, str) and one.format
            else one
            for one in shown.columns
            if not one.in_files
        ]
        table = replace(shown, rows=rows, columns=columns)
        heads = list(shown.shown)
        over: list[Any] = heads if shown.by_cell else heads[:1]
        ways = [
            [self.opens(shown.opens, *(*one, name)[: len(one) + shown.by_cell]) for name in over]
            for one in shown.carried[:MOST_ROWS]
        ]
        more = f'<p class="note">The first {MOST_ROWS:,} of {len(shown.rows):,} rows.</p>'
        return _table(table, ways) + more * (len(rows) < len(shown.rows))


def _folded(note: records.Note) -> str:
    """Return a note, with its tooltip to open."""
    shown, behind = escape(note.shown), escape(note.behind())
    if not behind:
        return f'<p class="note">{shown}</p>' * bool(shown)
    return f'<details class="note"><summary>{shown}</summary>{behind}</details>'


def _opened(step: Step) -> str:
    """Return the tag that opens a box or section."""
    if isinstance(step, records.Box):
        tall = f' style="max-height:{step.height}px" tabindex="0"'
        return f'<div class="tall"{tall if isinstance(step.height, int) else ""}>'
    return "<section>" * isinstance(step, records.Section)


_CLOSED: Mapping[type, str] = {
    records.Box: "</div>",
    records.Section: "</section>",
}


def _table(table: records.Table, ways: Sequence[Sequence[str]] = ()) -> str:
    """Return a table with links in its cells; one with a title is sortable."""
    names, rows, right = tables.shown(table)
    kinds = [' class="number"' * one for one in right]
    columns = {one.head: one for one in table.listed} if table.columns else {}
    head = "".join(map(_head, names, kinds, (columns.get(name) for name in names)))
    none = [""] * len(names)
    strong = [[False] * len(names)] * len(rows) if table.bold is None else table.bold
    lines = [
        _line(list(map(_cell, row, [*ways[place], *none] if ways else none, strong[place])), kinds)
        for place, row in enumerate(rows)
    ]
    title = escape(table.title)
    caption = f"<caption>{title}</caption>"
    tall = " tall" * (len(rows) > MOST_IN_SIGHT)
    return (
        f'<div class="aside{tall}" tabindex="0" role="group" aria-label="{title or "Table"}">'
        f"<table{' data-sortable' * bool(title)}>{caption * bool(title)}"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(words: str, way: str, strong: bool) -> str:
    told = f'<a href="{escape(way)}">{escape(words)}</a>' if way else escape(words)
    return f"<b>{told}</b>" if strong else told


def _line(cells: Sequence[str], kinds: Sequence[str]) -> str:
    first, *rest = (f"{kind}>{one}" for kind, one in zip(kinds, cells, strict=True))
    return f'<tr><th scope="row"{first}</th>{"".join(f"<td{one}</td>" for one in rest)}</tr>'


def _head(name: str, kind: str, column: records.Column | None) -> str:
    words = column.label or name if column else name
    told = f' title="{escape(column.told)}"' if column and column.told else ""
    return f'<th scope="col"{kind}{told}>{escape(words)}</th>'


_PARTS: Mapping[type, Callable[[Drawn, Any], str]] = {
    records.Heading: Drawn._heading,
    records.Text: Drawn._text,
    records.Message: Drawn._message,
    records.Code: Drawn._code,
    records.Prose: lambda _, prose: f'<div class="text">{_MARKDOWN.render(prose.text)}</div>',
    records.Passage: lambda _, shown: text.document(shown.title, shown.text, shown.query),
    records.Note: Drawn._note,
    records.Legends: Drawn._legends,
    records.Static: lambda _, static: _table(records.Table("", "", static.rows)),
    records.Button: Drawn._button,
    records.Widget: Drawn._widget,
    records.Figure: Drawn._figure,
    records.Table: Drawn._rows,
}
