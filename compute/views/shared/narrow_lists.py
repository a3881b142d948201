"""A matrix as ranked lists, for narrow screens and as a data table."""

import html
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pandas import DataFrame

from compute.base.words import several
from compute.evaluate.tolerance import ranks

MOST_ROWS = 40
"""Most rows of a list on a page; the data table has all."""
_NUMBERS = "font-variant-numeric:tabular-nums"


class Row(NamedTuple):
    """A line of a list: the rank (None if unranked), the name, and the formatted value."""

    rank: int | None
    name: str
    said: str


class Ranked(NamedTuple):
    """One list: a row of a matrix, or the whole matrix."""

    title: str
    rows: Sequence[Row]


class Lists(NamedTuple):
    """A matrix as lists."""

    of: str
    """Label of the picker of a list, such as "Dataset"."""
    name: str
    """Noun for the names in the lists, such as "System"."""
    lists: Sequence[Ranked]


def ranked(
    title: str, entries: Iterable[tuple[str, float, str]], *, descending: bool = True
) -> Ranked:
    """Rank entries (name, value, formatted value), the best first; ties share a rank. Entries whose
    value is nan come last, without a rank."""
    given = list(entries)
    places = ranks([value for _, value, _ in given], descending=descending).tolist()
    rows = [
        Row(None if place != place else int(place), name, said)
        for place, (name, _, said) in zip(places, given, strict=True)
    ]
    return Ranked(title, sorted(rows, key=lambda row: (row.rank is None, row.rank or 0)))


def table(told: Lists) -> DataFrame:
    """Return all lists as one table: list title (if several lists), rank, name, formatted value."""
    frame = DataFrame(
        [(one.title, *row) for one in told.lists for row in one.rows],
        columns=[told.of, "Rank", told.name, "Value"],
    ).astype({"Rank": "Int64"})
    return frame if len(told.lists) > 1 else frame.drop(columns=told.of)


def finding(one: Ranked) -> str:
    """Return a sentence naming the first of a list; empty if no row has a rank."""
    first = [row for row in one.rows if row.rank == 1]
    if not first:
        return ""
    rank = "ranks first" if len(first) == 1 else "rank first"
    return f"{several([row.name for row in first], 3)} {rank} on {one.title} ({first[0].said})."


def as_html(one: Ranked) -> str:
    """Return a list as HTML with at most MOST_ROWS lines; texts are escaped here."""
    numbered = any(row.rank for row in one.rows)
    lines = "".join(_line(row, numbered=numbered) for row in one.rows[:MOST_ROWS])
    more = len(one.rows) - MOST_ROWS
    rest = f'<div style="margin-top:0.4rem">and {more:,} more: see the data table</div>' * (
        more > 0
    )
    return (
        f'<ol aria-label="{html.escape(one.title)}" role="list"'
        f' style="list-style:none;margin:0;padding:0">{lines}</ol>{rest}'
    )


def _line(row: Row, *, numbered: bool) -> str:
    """Return a row as an HTML list item, with space for a rank if the list is `numbered`."""
    place = f"{row.rank}." if row.rank else ""
    rank = f'<span style="flex:none;min-width:1.8rem;text-align:right;{_NUMBERS}">{place}</span>'
    return (
        '<li style="display:flex;gap:0.6rem;margin:0;padding:0.3rem 0;'
        'border-bottom:1px solid color-mix(in srgb, currentcolor 15%, transparent)">'
        f"{rank * numbered}"
        '<span dir="auto" style="flex:1;min-width:0;overflow-wrap:anywhere">'
        f"{html.escape(row.name)}</span>"
        f'<span style="flex:none;max-width:55%;text-align:right;{_NUMBERS}">'
        f"{html.escape(row.said)}</span></li>"
    )
