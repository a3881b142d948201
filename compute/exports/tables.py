"""Writes tables as files: CSV and Parquet with unformatted values, Markdown and LaTeX formatted as
in a paper. Spreadsheets treat a cell that begins with = + - or @ as a formula, which only a change
of the cell can prevent. A CSV saved from the browser therefore has an apostrophe before such texts,
except in numbers and ids. Commands leave values unchanged, as does Parquet, which has no
formulas."""

import io
import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from csv import QUOTE_NONNUMERIC
from dataclasses import replace
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base import formulas
from compute.base.printable import unsigned
from compute.evaluate.tolerance import ranks
from compute.exports import latex
from compute.exports.formats import check
from compute.views.page import Column, Table
from compute.views.page.parts import text
from compute.views.shared.theme import plain

MOST_ACROSS = 16
"""Maximum number of columns of a printed table."""
ABSENT = "–"
IDS = ("Query", "Document", "query_id", "doc_id")
"""Columns of ids, which stay unchanged."""
MARK = "†"


def write(table: Table, form: str, *, escaped: bool = False) -> bytes:
    """Return the table as a file of this format (`escaped`: see `csv`). Raises WrongInput."""
    write = WRITERS[check("table", form)]
    return csv(table, escaped=escaped) if write is csv else write(table)


def csv(table: Table, *, escaped: bool = False) -> bytes:
    """Return comma-separated values in UTF-8 with a header. Values are unchanged; with `escaped`,
    texts that a spreadsheet would evaluate get an apostrophe."""
    frame = raw(table)
    if escaped:
        for name in frame.columns.difference(list(IDS)):
            if not pd.api.types.is_numeric_dtype(frame[name]):
                frame[name] = frame[name].map(formulas.escaped_cell)
        frame.columns = frame.columns.map(formulas.escaped_cell)
    written = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in written:
        # A carriage return is not quoted by default, but readers treat it as the end of a line.
        written = frame.to_csv(index=False, lineterminator="\n", quoting=QUOTE_NONNUMERIC)
    return written.encode()


def parquet(table: Table) -> bytes:
    """Return Parquet, in which a column of mixed types is text."""
    frame = raw(table)
    for name in filter(lambda name: pd.api.types.is_object_dtype(frame[name]), frame.columns):
        kinds = {type(value) for value in frame[name].dropna()}
        if len(kinds) > 1:
            frame[name] = frame[name].map(lambda value: None if _absent(value) else str(value))
    file = io.BytesIO()
    frame.to_parquet(file, index=False)
    return file.getvalue()


def markdown(table: Table) -> bytes:
    """Return GitHub's Markdown, with the best value bold and the second underlined (`<ins>`)."""
    heads, rows, right = shown(table)
    styles = {BEST: "**{}**", SECOND: "<ins>{}</ins>", APART: "*{}*"}
    marked, note = _marks(table)
    cells = _styled(table, rows, styles, _markdown_cell, marked, MARK)
    if _is_turned(table):
        heads, cells, right = _turned(heads, rows, cells, escape_markdown)
    lines = [
        " | ".join(map(escape_markdown, heads)),
        " | ".join("---:" if number else "---" for number in right),
        *(" | ".join(row) for row in cells),
    ]
    body = "".join(f"| {line} |\n" for line in lines)
    after = "".join(f"\n{escape_markdown(words)}\n" for words in _notes(table, note))
    return f"{escape_markdown(table.caption)}\n\n{body}{after}".encode()


def tex(table: Table) -> bytes:
    """Return a LaTeX `table` with a caption and a label, for `\\input`."""
    heads, rows, right = shown(table)
    styles = {BEST: r"\textbf{{{}}}", SECOND: r"\underline{{{}}}", APART: r"\textit{{{}}}"}
    marked, note = _marks(table)
    cells = _styled(table, rows, styles, latex.escape, marked, r"$^{\dagger}$")
    notes = " ".join(_notes(table, note))
    if _is_turned(table):
        heads, cells, right = _turned(heads, rows, cells, latex.escape)
    return latex.table(
        heads, cells, right, caption=table.caption, key=table.key, note=notes
    ).encode()


WRITERS: Mapping[str, Callable[[Table], bytes]] = {
    "csv": csv,
    "parquet": parquet,
    "tex": tex,
    "md": markdown,
}
BEST, SECOND, APART = 1, 2, -1
"""Ranks of values; values that are set apart are not compared."""


def places(values: Sequence[float], sign: int = 1) -> list[int]:
    """Return BEST for the best of these values, SECOND for the next one, else 0; ties share a rank.
    Values are compared before rounding. Absent values (nan) have no rank, nor does a single
    value."""
    rank = ranks([math.nan if _absent(value) else sign * value for value in values])
    there = sorted({int(one) for one in rank if one == one})[:2]
    if sum(one == one for one in rank) < 2:
        return [0] * len(rank)
    return [there.index(one) + 1 if one in there else 0 for one in rank]


def raw(table: Table) -> DataFrame:
    """Return a table's values under unique plain headings, a column per field, without -0."""
    if not table.columns:
        names = [_head(name) for name in table.rows.columns]
        numbers = enumerate(names, 1)
        once = [name if names.count(name) == 1 else f"{name} {n}" for n, name in numbers]
        return unsigned(table.rows.set_axis(once, axis=1))
    found = {}
    for column in (one for one in table.listed if not one.drawn):
        unit = f" ({column.unit})" if column.unit else ""
        for field in column.fields:
            part = f": {field}" if len(column.fields) > 1 else ""
            found[column.head + part + unit] = table.rows[field].reset_index(drop=True)
    return unsigned(DataFrame(found))


def _head(name: Hashable) -> str:
    """Return a column name as one text; those of several levels are joined."""
    parts = name if isinstance(name, tuple) else (name,)
    return " ".join(str(part) for part in parts if str(part))


def _absent(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def shown(table: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return headings, formatted cells, and which columns contain numbers."""
    if not table.columns:
        rows = raw(table)
        table = replace(table, rows=rows, columns=[Column(str(name)) for name in rows])
    rows = unsigned(table.rows)
    columns = [one for one in table.listed if not one.drawn]
    texts = {one.head: text(table.rows, one) for one in columns if one.written or one.is_text}
    found = [texts[one.head] if one.is_text else rows[one.fields[0]].tolist() for one in columns]
    cells = [
        texts[one.head] if one.head in texts else list(map(_cell, values))
        for one, values in zip(columns, found, strict=True)
    ]
    right = [
        any(map(_is_number, values))
        and all(_is_number(v) or _absent(v) or v in (ABSENT, "") for v in values)
        and all(cell in (ABSENT, "") or _SAID.fullmatch(cell) for cell in own)
        for values, own in zip(found, cells, strict=True)
    ]
    heads = [one.head for one in columns]
    return heads, [list(row) for row in zip(*cells, strict=True)], right


_NUMBER = re.compile(r"[+−-]?[0-9.,]+( ?%)?")
_SAID = re.compile(r"(< )?[+−-]?[0-9.,]+( ?%| [A-Za-z]+)?")
"""A number as a column may format it, possibly with its unit."""


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool) and not _absent(value)


def _cell(value: Any) -> str:
    """Format a value: `.476`, 5,183, with a true minus, and a dash for absent values."""
    if _absent(value):
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float):
        return plain(value) if abs(value) < 1000 else f"{value:,.0f}".replace("-", "−")
    return str(value)


def _styled(
    table: Table,
    rows: list[list[str]],
    styles: Mapping[int, str],
    escape: Callable[[str], str],
    marked: DataFrame | None,
    mark: str,
) -> list[list[str]]:
    """Return the cells escaped, those of scores with their style and mark."""
    cells = [[escape(cell) for cell in row] for row in rows]
    heads, *_ = shown(table)
    frame = raw(table)
    for name in table.scores.columns:
        at = heads.index(name)
        values = frame[name]
        if table.scores.ranked is not None:
            values = values.where(table.scores.ranked[name])
        sign = -1 if name in table.scores.lower else table.scores.sign
        apart = (values.isna() & frame[name].notna()).tolist()
        for row, place in enumerate(places(values.tolist(), sign)):
            styled = styles.get(APART if apart[row] else place, "{}").format(cells[row][at])
            sure = marked is not None and bool(marked[name].iloc[row])
            cells[row][at] = styled + (mark if sure else "")
    return cells


def _is_turned(table: Table) -> bool:
    """Return whether datasets become the rows in a paper: for a few systems on many datasets."""
    n_rows, n_columns = len(table.rows), len(shown(table)[0])
    return bool(table.scores.columns) and n_columns > MOST_ACROSS and n_columns > n_rows


def _turned(
    heads: list[str], rows: list[list[str]], cells: list[list[str]], escape: Callable[[str], str]
) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return headings, cells and which columns contain numbers, transposed."""
    names = [row[0] for row in rows]
    down = [
        [escape(head), *(row[place] for row in cells)]
        for place, head in enumerate(heads)
        if place > 0
    ]
    return ["", *names], down, [False] + [True] * len(names)


def _marks(table: Table) -> tuple[DataFrame | None, str]:
    """Return which scores are marked, and the note that explains the mark."""
    asked = table.scores.marked
    marked = asked() if asked else None
    return marked, table.scores.note if marked is not None else ""


def _notes(table: Table, note: str) -> list[str]:
    """Return the notes below a table."""
    line = "row" if _is_turned(table) else "column"
    best = (
        f"Best of each {line} bold, second underlined, compared before rounding."
        if table.scores.columns
        else ""
    )
    columns = (one for one in table.columns if one.told and not one.drawn)
    told = (f"{one.head}: {one.told.rstrip('.')}." for one in columns)
    return [words for words in (best, table.scores.apart, note, *told) if words]


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&\"'@=^])")


def _markdown_cell(text: str) -> str:
    """Escape a cell for Markdown, except a number, in which Markdown interprets nothing."""
    return text if _NUMBER.fullmatch(text) and text[0] not in "+-" else escape_markdown(text)


def escape_markdown(text: str) -> str:
    """Escape outside text for Markdown, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))
