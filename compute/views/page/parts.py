"""Parts of a page: its content, with all texts that accompany it on screen and in files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared.print_styles import Scores
from compute.views.shared.theme import Legend

MOST_WORDS = 30
"""Most words of a note that are visible; the rest is in its tooltip."""
OF = ("dataset", "measure")
"""Keys of the controls on which most figures and tables depend."""


@dataclass(frozen=True)
class Link:
    """The address of another page; without `page`, of this page with its other keys unchanged."""

    page: str = ""
    names: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    carried: Sequence[str] = ()
    """Address keys of the values that a clicked mark or row carries, in order."""
    keeps: Sequence[str] = ()
    """Keys of this page's address that the way back restores."""

    def of(self, carried: Sequence[str] = ()) -> dict[str, Any]:
        """Return keys and values of the address for the values of the clicked mark or row."""
        return {**dict(zip(self.carried, carried, strict=True)), **self.names}


Opens = Link | Callable[..., Link | None]
"""A link, or a function that returns a link (or None) for the clicked values."""


@dataclass(frozen=True)
class Button:
    """A link to a page; without a page, or with an icon, a button that sets this page's
    controls."""

    label: str
    opens: Link
    icon: str = ""
    told: str = ""
    shortcut: str = ""
    disabled: bool = False


@dataclass(frozen=True)
class Widget:
    """A form of the dashboard, by name; files omit it."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the function that draws it."""


@dataclass(frozen=True)
class Heading:
    """A heading of the parts below, often a question that they answer."""

    text: str


@dataclass(frozen=True)
class Prose:
    """Markdown written in this project."""

    text: str
    width: int | None = None


@dataclass(frozen=True)
class Passage:
    """Outside text at reading width: its title in bold, the words of `query` marked."""

    title: str
    text: str = ""
    query: str = ""


@dataclass(frozen=True)
class Static:
    """A short table of definitions, shown completely on the page and never exported."""

    rows: DataFrame
    width: int | None = None
    is_foreign: bool = False
    """True if it may contain outside text."""


@dataclass(frozen=True)
class Text:
    """A sentence in normal size."""

    text: str
    icon: str = ""
    width: str = "stretch"
    bold: bool = False


@dataclass(frozen=True)
class Message:
    """A reason why something is absent, with the next step."""

    text: str


@dataclass(frozen=True)
class Code:
    """A command to copy."""

    text: str


@dataclass(frozen=True)
class Note:
    """A caption: visible facts up to MOST_WORDS, and the other facts in its tooltip."""

    facts: Sequence[str] = ()
    """Sentences; empty ones are left out."""
    of_matrix: str = ""
    """Last fact, shown only if the figure is drawn as a matrix, not as lists on a narrow screen."""
    of_lists: Sequence[str] = ()
    """Facts that replace all others if lists replace the figure."""

    @property
    def _told(self) -> list[str]:
        return [fact for fact in (*self.facts, self.of_matrix) if fact]

    @property
    def shown(self) -> str:
        """The visible facts: the first, and later ones up to MOST_WORDS."""
        shown = self._told[:1]
        for fact in self._told[1:]:
            if len(" ".join([*shown, fact]).split()) > MOST_WORDS:
                break
            shown.append(fact)
        return " ".join(shown)

    def narrow(self) -> "Note":
        """Return the note to show if lists replace the figure."""
        return Note(self.of_lists or self.facts)

    def behind(self) -> str:
        """Return the text of the tooltip: the facts that are not visible."""
        return " ".join(self._told).removeprefix(self.shown).strip()


@dataclass(frozen=True)
class Legends:
    """The legend of the figures below it."""

    entries: Legend
    of_matrix: bool = False
    """True if it is omitted when a narrow screen shows lists instead of the figure."""


@dataclass(frozen=True)
class Figure:
    """A figure; it is computed only when `drawn` is called with a theme, as `exports.exported` does
    for pages and files alike."""

    key: str
    title: str
    drawn: Callable[..., go.Figure]
    legend: Legend | str | None = None
    opens: Opens | None = None
    width: str = "stretch"
    """`content` for a figure that sets its own width."""
    sample: tuple[Mapping[str, str | int], str] | None = None
    """If estimated from a sample: the sample's provenance, and the measure."""
    of: Sequence[str] = OF
    """Keys of the controls on which it depends; its file name and heading include them."""
    main: bool = False
    """True for the page's main figure, whose file name leaves out the key."""
    narrow: bool = False
    """True if it fits one column of a paper (84 mm) without overlapping texts."""
    finding: str = ""
    """The finding in one sentence, above the title."""
    source: str = ""
    """Source of its numbers, unless they come from stored runs or the table chosen by a control."""
    table: "Callable[[], Table] | None" = None
    """Returns its data as a table for a paper, if this differs from the data table."""


Format = Callable[..., str]
_NO_SCORES = Scores(())


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, fields and format."""

    head: str
    field: str | Sequence[str] = ""
    """By default the heading. Several fields are one text on the page, several columns in files."""
    format: Format | str = ""
    """A function that formats a value on the page and in print, or the browser's number format."""
    unit: str = ""
    """Unit of the values, in brackets after the heading in data files."""
    label: str = ""
    """Heading on the page, if it is shorter than the one in files."""
    told: str = ""
    """Tooltip of its heading."""
    width: int | None = None
    pinned: bool = False
    """True if it stays visible while scrolling."""
    fill: Callable[[str], Sequence[str]] | None = None
    """Returns the CSS of each cell on the page, for a theme."""
    drawn: Callable[[str], Sequence[str | None]] | None = None
    """Returns addresses of pictures for a theme, shown instead of the fields and not exported."""
    in_files: bool = False
    """True if only files include the column."""

    @property
    def fields(self) -> list[str]:
        """The fields of the rows that it shows."""
        return [self.field or self.head] if isinstance(self.field, str) else list(self.field)

    @property
    def is_text(self) -> bool:
        """True if the page shows its values as text."""
        return not isinstance(self.field, str)

    @property
    def written(self) -> Format | None:
        """The function that formats a value, if there is one."""
        return None if isinstance(self.format, str) else self.format


@dataclass(frozen=True)
class Table:
    """A table: rows of values, and the columns that define how they are shown."""

    key: str
    title: str
    rows: DataFrame
    columns: Sequence[Column] = ()
    """By default every field under its own name."""
    scores: Scores = _NO_SCORES
    """Columns, by heading, that compare systems."""
    opens: Opens | None = None
    carried: Sequence[Sequence[str]] = ()
    """Values that a click passes to `opens`, for each row."""
    by_cell: bool = False
    """True if the heading of the clicked column is passed to `opens` as the last value."""
    selected: int | None = None
    """Index of the selected row; if set, a click selects a whole row."""
    bold: Sequence[Sequence[bool]] | None = None
    """True for each cell that is bold on the page, row by row."""
    height: int | str | None = None
    """Pixels, or `auto` for ten visible rows; by default the height of all rows, up to a limit."""
    width: int | None = None
    most: int | None = None
    """Most rows shown on the page; files have all."""
    absent: str = "–"
    """Text shown for an absent value."""
    of: Sequence[str] = OF
    """Keys of the controls on which it depends, used in its file name."""
    name: str = ""
    """Name of its exported file, without the extension."""
    source: str = ""
    """Source of its numbers, as for a figure."""

    @property
    def caption(self) -> str:
        """The title, with the source in parentheses."""
        return f"{self.title} ({self.source})" if self.source else self.title

    @property
    def listed(self) -> list[Column]:
        """Its columns, with spaces appended to make equal headings unique."""
        heads, found = set[str](), []
        for column in self.columns or [Column(str(name)) for name in self.rows]:
            head = column.head
            while head in heads:
                head += " "
            heads.add(head)
            found.append(replace(column, head=head, field=column.field or column.head))
        return found

    @property
    def shown(self) -> DataFrame:
        """The values on the page by heading; several fields are joined into a text."""
        rows = self.rows if self.most is None else self.rows.head(self.most)
        if not self.columns:
            return rows
        rows = rows.reset_index(drop=True)
        columns = [one for one in self.listed if not (one.in_files or one.drawn)]
        return DataFrame(
            {one.head: text(rows, one) if one.is_text else rows[one.fields[0]] for one in columns}
        )


def text(rows: DataFrame, column: Column) -> list[str]:
    """Return the formatted values of a column."""
    values = (rows[field] for field in column.fields)
    write = column.written or str
    return [write(*one) for one in zip(*values, strict=True)]


Part = (
    Heading
    | Text
    | Message
    | Code
    | Prose
    | Passage
    | Note
    | Legends
    | Figure
    | Table
    | Static
    | Button
    | Widget
)
