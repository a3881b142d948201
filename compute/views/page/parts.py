"""Parts of a page: what it shows, with everything that is said about it wherever it is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import plotly.graph_objects as go
from pandas import DataFrame
from pandas.io.formats.style import Styler

from compute.views.shared.print_styles import Printed, Scores
from compute.views.shared.theme import Legend

MOST_WORDS = 14
"""Words of a note in sight; a longer note stands behind its mark, but for the first sentence."""
HOW = "How to read this:"
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
    """Those of them that this page's own address keeps, too, for the way back."""

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
class Download:
    """A CSV file that is made once somebody asks for it."""

    label: str
    name: str
    """Of the file, without its ending."""
    rows: Callable[[], DataFrame]


@dataclass(frozen=True)
class Heading:
    """The question that the parts below answer."""

    text: str
    anchor: str = ""
    """Fragment of the address that leads here."""


@dataclass(frozen=True)
class Prose:
    """Markdown that is written in this project."""

    text: str
    width: int | None = None


@dataclass(frozen=True)
class Html:
    """HTML that is made in this project, in which text from outside is escaped."""

    text: str


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
    """A caption: facts, the first of them in sight, and how to read the figure behind the mark."""

    facts: Sequence[str] = ()
    """One sentence each; empty ones are left out."""
    how: str = ""
    of_matrix: str = ""
    """What else to know where the figure is drawn as a matrix, not as lists on a narrow screen:
    behind `how`, or without it behind the facts."""
    signs: Sequence[str] = ()
    """Facts that come first, and only where the figure is drawn so."""

    @property
    def _told(self) -> list[str]:
        return [fact for fact in (*self.signs, *self.facts) if fact]

    @property
    def shown(self) -> str:
        """Facts in sight: the first, and what follows it within MOST_WORDS."""
        shown = self._told[:1]
        for fact in self._told[1:]:
            if len(" ".join([*shown, fact]).split()) > MOST_WORDS:
                break
            shown.append(fact)
        return " ".join(shown) or HOW.removesuffix(":") * bool(self.how)

    def narrow(self) -> "Note":
        """The note where lists stand in place of a matrix."""
        return replace(self, of_matrix="", signs=())

    def behind(self) -> str:
        """Text of the mark: how to read the figure, and the facts that are not in sight."""
        how = " ".join(one for one in (self.how, self.of_matrix * bool(self.how)) if one)
        if not self._told:
            return how
        rest = " ".join(self._told).removeprefix(self.shown).strip()
        last = self.of_matrix * (not self.how)
        return " ".join(one for one in (f"{HOW} {how}" * bool(how), rest, last) if one)


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


@dataclass(frozen=True)
class Column:
    """How the page shows a column of a table."""

    head: str | None = None
    """Where the file has a longer one."""
    told: str = ""
    """Text behind the mark of its head."""
    format: str = ""
    """Of numbers, as `%.3f`."""
    width: int | None = None
    picture: bool = False
    """Its values are addresses of pictures."""
    pinned: bool = False
    """It stays in sight."""


@dataclass(frozen=True)
class Table:
    """A table; `file` holds the rows that are saved where they differ from the shown ones."""

    key: str
    title: str
    rows: DataFrame
    file: DataFrame | None = None
    drawn: Callable[[str], DataFrame | Styler] | None = None
    """The rows as the page shows them in a theme, where they have colours or pictures."""
    scores: Scores | None = None
    printed: Printed | None = None
    opens: Opens | None = None
    carried: Sequence[Sequence[str]] = ()
    """For each row the values that `opens` takes."""
    by_cell: bool = False
    """`opens` takes besides, as the last, the column that was clicked."""
    selected: int | None = None
    """The row that is chosen; with it, a click chooses whole rows."""
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    """How columns are written on the page."""
    bold: DataFrame | None = None
    """Whether a cell is bold on the page: the same rows and columns."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """Those that are not shown as any other."""
    height: int | str | None = None
    """Pixels, `auto` for ten rows in sight; as high as its rows, until there are many, by
    default."""
    width: int | None = None
    absent: str = ""
    """What stands for an absent value."""
    of: Sequence[str] = OF
    """Keys of the controls whose values it is of: they name its file."""


Part = (
    Heading
    | Text
    | Message
    | Code
    | Prose
    | Html
    | Passage
    | Note
    | Legends
    | Figure
    | Table
    | Static
    | Button
    | Download
    | Widget
)
