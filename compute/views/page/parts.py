"""Parts of a page: what it shows, with everything that is said about it wherever it is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame

from compute.views.shared.print_styles import Scores
from compute.views.shared.theme import Legend

MOST_WORDS = 30
"""Words of a note in sight; the facts that follow stand behind its mark."""
OF = ("dataset", "measure")
"""Controls whose values most figures and tables are of."""


@dataclass(frozen=True)
class Link:
    """An address: of a page, or of this one (`page` empty) with the rest of it unchanged."""

    page: str = ""
    names: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    carried: Sequence[str] = ()
    """Keys of the address for the values that a mark or a row carries, in their order."""
    keeps: Sequence[str] = ()
    """Keys that this page's own address keeps, too, for the way back."""

    def of(self, carried: Sequence[str] = ()) -> dict[str, Any]:
        """Keys and values of the address for what was clicked."""
        return {**dict(zip(self.carried, carried, strict=True)), **self.names}


Opens = Link | Callable[..., Link | None]
"""A link, or a function that makes one of what was clicked, or None."""


@dataclass(frozen=True)
class Button:
    """A link to a page; without a page or with an icon, a button that sets controls here."""

    label: str
    opens: Link
    icon: str = ""
    told: str = ""
    shortcut: str = ""
    disabled: bool = False


@dataclass(frozen=True)
class Widget:
    """A form of the dashboard, by its name; it is in no file."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the function that draws it."""


@dataclass(frozen=True)
class Heading:
    """The question that the parts below answer."""

    text: str


@dataclass(frozen=True)
class Prose:
    """Markdown that is written in this project."""

    text: str
    width: int | None = None


@dataclass(frozen=True)
class Passage:
    """Text from outside at reading width: its title in bold, words of a query marked."""

    title: str
    text: str = ""
    query: str = ""


@dataclass(frozen=True)
class Static:
    """A short table of definitions, whole on the page and in no file."""

    rows: DataFrame
    width: int | None = None
    is_foreign: bool = False
    """True if words from outside may be in it."""


@dataclass(frozen=True)
class Text:
    """A sentence in full size."""

    text: str
    icon: str = ""
    width: str = "stretch"
    bold: bool = False


@dataclass(frozen=True)
class Message:
    """The reason why something is absent, and the next step."""

    text: str


@dataclass(frozen=True)
class Code:
    """A command to copy."""

    text: str


@dataclass(frozen=True)
class Note:
    """A caption: facts in sight up to MOST_WORDS, and the others behind its mark."""

    facts: Sequence[str] = ()
    """Sentences; empty ones are left out."""
    of_matrix: str = ""
    """The last fact, where the figure is drawn as a matrix, not as lists on a narrow screen."""

    @property
    def _told(self) -> list[str]:
        return [fact for fact in (*self.facts, self.of_matrix) if fact]

    @property
    def shown(self) -> str:
        """Facts in sight: the first, and what follows it within MOST_WORDS."""
        shown = self._told[:1]
        for fact in self._told[1:]:
            if len(" ".join([*shown, fact]).split()) > MOST_WORDS:
                break
            shown.append(fact)
        return " ".join(shown)

    def narrow(self) -> "Note":
        """The note where lists stand in place of a matrix."""
        return replace(self, of_matrix="")

    def behind(self) -> str:
        """Text of the mark: the facts that are not in sight."""
        return " ".join(self._told).removeprefix(self.shown).strip()


@dataclass(frozen=True)
class Legends:
    """The legend of the figures below."""

    entries: Legend
    of_matrix: bool = False
    """Absent where a narrow screen has lists in place of the figure."""


@dataclass(frozen=True)
class Figure:
    """A figure; nothing is computed before `drawn` is called with a theme."""

    key: str
    title: str
    drawn: Callable[..., go.Figure]
    legend: Legend | str | None = None
    opens: Opens | None = None
    width: str = "stretch"
    """`content` for a figure that has a width of its own."""
    sample: tuple[Mapping[str, str | int], str] | None = None
    """Provenance of the sample that it is estimated from, and the measure."""
    of: Sequence[str] = OF
    """Keys of the controls whose values it is of: they name its file and stand in its heading."""
    main: bool = False
    """It is what the page is about: its file is named without its key."""
    narrow: bool = False
    """It has room in one column of a paper, 84 mm, where names and numbers of others collide."""
    finding: str = ""
    """Finding in one sentence, above the title."""
    source: str = ""
    """Source of its numbers, unless stored runs or the table that a control
    names."""


Format = Callable[..., str]
_NO_SCORES = Scores(())


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, the fields of the rows that it shows, and how."""

    head: str
    field: str | Sequence[str] = ""
    """The head by default. Several are one text on the page, of which files for programs have
    each."""
    format: Format | str = ""
    """Writes a value on the page and in print; as text, a number format of the browser, where
    print writes it as any other number."""
    unit: str = ""
    """Of the values, which the head in files for programs has in brackets."""
    label: str = ""
    """Its head on the page, where that of the file is longer."""
    told: str = ""
    """Text behind the mark of its head."""
    width: int | None = None
    pinned: bool = False
    """It stays in sight."""
    fill: Callable[[str], Sequence[str]] | None = None
    """The CSS of each cell on the page, by the theme."""
    drawn: Callable[[str], Sequence[str | None]] | None = None
    """Addresses of pictures, by the theme, instead of fields; no file has them."""
    in_files: bool = False
    """Only files have it."""

    @property
    def fields(self) -> list[str]:
        """Fields of the rows."""
        return [self.field or self.head] if isinstance(self.field, str) else list(self.field)

    @property
    def is_text(self) -> bool:
        """True if the page has its values as text."""
        return not isinstance(self.field, str)

    @property
    def written(self) -> Format | None:
        """The function that writes a value."""
        return None if isinstance(self.format, str) else self.format


@dataclass(frozen=True)
class Table:
    """A table: rows of values, and columns that say how they are shown."""

    key: str
    title: str
    rows: DataFrame
    columns: Sequence[Column] = ()
    """By default every field under its own name."""
    scores: Scores = _NO_SCORES
    """Heads of columns that compare systems."""
    opens: Opens | None = None
    carried: Sequence[Sequence[str]] = ()
    """For each row the values that `opens` takes."""
    by_cell: bool = False
    """`opens` takes besides, as the last, the head of the column that was clicked."""
    selected: int | None = None
    """The row that is chosen; with it, a click chooses whole rows."""
    bold: Sequence[Sequence[bool]] | None = None
    """True for cells in bold on the page, row by row."""
    height: int | str | None = None
    """Pixels, `auto` for ten rows in sight; as high as its rows, until there are many, by
    default."""
    width: int | None = None
    most: int | None = None
    """Rows on the page, where files have more."""
    absent: str = "–"
    """Sign of an absent value."""
    of: Sequence[str] = OF
    """Keys of the controls whose values it is of: they name its file."""
    name: str = ""
    """Of its file, without the ending, once it is exported."""
    source: str = ""
    """Source of its numbers, as of a figure."""

    @property
    def caption(self) -> str:
        """The title, and the source in brackets."""
        return f"{self.title} ({self.source})" if self.source else self.title

    @property
    def listed(self) -> list[Column]:
        """Its columns; blanks tell equal heads apart."""
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
        """The values on the page, under their heads; several fields are text."""
        rows = self.rows if self.most is None else self.rows.head(self.most)
        if not self.columns:
            return rows
        rows = rows.reset_index(drop=True)
        columns = [one for one in self.listed if not (one.in_files or one.drawn)]
        return DataFrame(
            {one.head: text(rows, one) if one.is_text else rows[one.fields[0]] for one in columns}
        )


def text(rows: DataFrame, column: Column) -> list[str]:
    """The values of a column as they are written."""
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
