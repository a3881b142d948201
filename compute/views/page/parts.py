"""Parts of a page: its content, with all texts that accompany it on screen and in files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared.print_styles import Scores
from compute.views.shared.theme import Legend

MOST_WORDS = 30
"""Most visible words of a note; the rest is in its tooltip."""
OF = ("dataset", "measure")
"""Controls that apply to most figures and tables."""


@dataclass(frozen=True)
class Link:
    """An address of another page, or of this page (`page` empty) with its other keys unchanged."""

    page: str = ""
    names: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    carried: Sequence[str] = ()
    """Address keys for the values carried by a mark or row, in order."""
    keeps: Sequence[str] = ()
    """Keys of this page's address to keep for the way back."""

    def of(self, carried: Sequence[str] = ()) -> dict[str, Any]:
        """Keys and values of the address for the clicked values."""
        return {**dict(zip(self.carried, carried, strict=True)), **self.names}


Opens = Link | Callable[..., Link | None]
"""A link, a function that makes a link from the clicked values, or None."""


@dataclass(frozen=True)
class Button:
    """A link to a page; without a page, or with an icon, a button that sets controls here."""

    label: str
    opens: Link
    icon: str = ""
    told: str = ""
    shortcut: str = ""
    disabled: bool = False


@dataclass(frozen=True)
class Widget:
    """A form of the dashboard, by its name; files omit it."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the function that draws it."""


@dataclass(frozen=True)
class Heading:
    """Question that the parts below answer."""

    text: str


@dataclass(frozen=True)
class Prose:
    """Markdown written in this project."""

    text: str
    width: int | None = None


@dataclass(frozen=True)
class Passage:
    """Outside text at reading width: its title in bold, the query's words marked."""

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
    """A sentence at full size."""

    text: str
    icon: str = ""
    width: str = "stretch"
    bold: bool = False


@dataclass(frozen=True)
class Message:
    """Reason why something is absent, with the next step."""

    text: str


@dataclass(frozen=True)
class Code:
    """A command to copy."""

    text: str


@dataclass(frozen=True)
class Note:
    """A caption: visible facts up to MOST_WORDS, and the others in its tooltip."""

    facts: Sequence[str] = ()
    """Sentences; empty ones are left out."""
    of_matrix: str = ""
    """Last fact, shown only if the figure is drawn as a matrix, not as lists on a narrow screen."""
    of_lists: Sequence[str] = ()
    """Facts instead of all others, if lists replace the figure."""

    @property
    def _told(self) -> list[str]:
        return [fact for fact in (*self.facts, self.of_matrix) if fact]

    @property
    def shown(self) -> str:
        """Visible facts: the first, and later ones up to MOST_WORDS."""
        shown = self._told[:1]
        for fact in self._told[1:]:
            if len(" ".join([*shown, fact]).split()) > MOST_WORDS:
                break
            shown.append(fact)
        return " ".join(shown)

    def narrow(self) -> "Note":
        """Note if lists replace the figure."""
        return Note(self.of_lists or self.facts)

    def behind(self) -> str:
        """Text of the tooltip: the facts that are not visible."""
        return " ".join(self._told).removeprefix(self.shown).strip()


@dataclass(frozen=True)
class Legends:
    """Legend of the figures below."""

    entries: Legend
    of_matrix: bool = False
    """Absent if a narrow screen shows lists instead of the figure."""


@dataclass(frozen=True)
class Figure:
    """A figure; nothing is computed before `drawn` is called with a theme."""

    key: str
    title: str
    drawn: Callable[..., go.Figure]
    legend: Legend | str | None = None
    opens: Opens | None = None
    width: str = "stretch"
    """`content` for a figure with its own width."""
    sample: tuple[Mapping[str, str | int], str] | None = None
    """Provenance of the sample behind the estimate, and the measure."""
    of: Sequence[str] = OF
    """Keys of the controls that it depends on; they are part of its file name and heading."""
    main: bool = False
    """True for the page's main figure, whose file name omits the key."""
    narrow: bool = False
    """True if it fits one column of a paper (84 mm) without overlapping texts."""
    finding: str = ""
    """The finding in one sentence, above the title."""
    source: str = ""
    """Source of its numbers, if not stored runs or the table chosen by a control."""
    table: "Callable[[], Table] | None" = None
    """Its data as a table in a paper, if different from the Data table."""


Format = Callable[..., str]
_NO_SCORES = Scores(())


@dataclass(frozen=True)
class Column:
    """A column of a table: heading, fields and format."""

    head: str
    field: str | Sequence[str] = ""
    """Default: the heading. Several fields form one text on the page but separate columns in
    files."""
    format: Format | str = ""
    """Function that formats a value on the page and in print; a text is a number format of the
    browser only."""
    unit: str = ""
    """Unit of the values, in brackets after the heading in data files."""
    label: str = ""
    """Its heading on the page, if the one in files is longer."""
    told: str = ""
    """Tooltip of its heading."""
    width: int | None = None
    pinned: bool = False
    """True if it stays visible while scrolling."""
    fill: Callable[[str], Sequence[str]] | None = None
    """CSS of each cell on the page, by theme."""
    drawn: Callable[[str], Sequence[str | None]] | None = None
    """Addresses of pictures by theme, instead of fields; not exported."""
    in_files: bool = False
    """True if only files include it."""

    @property
    def fields(self) -> list[str]:
        """Fields of the rows."""
        return [self.field or self.head] if isinstance(self.field, str) else list(self.field)

    @property
    def is_text(self) -> bool:
        """True if the page shows its values as text."""
        return not isinstance(self.field, str)

    @property
    def written(self) -> Format | None:
        """The function that writes a value."""
        return None if isinstance(self.format, str) else self.format


@dataclass(frozen=True)
class Table:
    """A table: rows of values, and columns that define how they are shown."""

    key: str
    title: str
    rows: DataFrame
    columns: Sequence[Column] = ()
    """Default: every field under its own name."""
    scores: Scores = _NO_SCORES
    """Headings of columns that compare systems."""
    opens: Opens | None = None
    carried: Sequence[Sequence[str]] = ()
    """Values passed to `opens` for each row."""
    by_cell: bool = False
    """True if `opens` also takes the heading of the clicked column, as the last value."""
    selected: int | None = None
    """The selected row; if set, a click selects whole rows."""
    bold: Sequence[Sequence[bool]] | None = None
    """True for cells that are bold on the page, row by row."""
    height: int | str | None = None
    """Pixels, or `auto` for ten visible rows; by default as high as all rows, up to a limit."""
    width: int | None = None
    most: int | None = None
    """Most rows on the page, if files have more."""
    absent: str = "–"
    """Sign of an absent value."""
    of: Sequence[str] = OF
    """Keys of the controls that it depends on, used in its file name."""
    name: str = ""
    """Name of its exported file, without the extension."""
    source: str = ""
    """Source of its numbers, as for a figure."""

    @property
    def caption(self) -> str:
        """The title, with the source in brackets."""
        return f"{self.title} ({self.source})" if self.source else self.title

    @property
    def listed(self) -> list[Column]:
        """Its columns; spaces make equal headings unique."""
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
        """Values on the page by heading; several fields form a text."""
        rows = self.rows if self.most is None else self.rows.head(self.most)
        if not self.columns:
            return rows
        rows = rows.reset_index(drop=True)
        columns = [one for one in self.listed if not (one.in_files or one.drawn)]
        return DataFrame(
            {one.head: text(rows, one) if one.is_text else rows[one.fields[0]] for one in columns}
        )


def text(rows: DataFrame, column: Column) -> list[str]:
    """The formatted values of a column."""
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
