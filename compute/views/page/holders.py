"""Holders: records that arrange steps, and are sent what these return."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compute.views.page.ask import Ask
from compute.views.page.controls import Control
from compute.views.page.parts import Part

OPEN = "open"
"""Key of the address that names the expanders that are open."""


@dataclass(frozen=True)
class Row:
    """Steps side by side; messages about its controls stand above."""

    inside: "Inside"
    aligned: str = "bottom"
    """Or `center`, for text beside buttons."""


@dataclass(frozen=True)
class Above:
    """Steps above the row of controls that yields this."""

    inside: "Inside"


@dataclass(frozen=True)
class Group:
    """A popover of controls, which have values while it is closed, too."""

    label: str
    inside: "Inside"


@dataclass(frozen=True)
class Section:
    """Steps under a heading. `holds` are the keys of all figures and tables in it: a search for
    another key passes it over."""

    inside: "Inside"
    holds: Sequence[str] = ()
    heading: str = ""
    asks: Sequence[str] = ()
    """Keys of the controls in it, which an address may have although the section is passed over."""
    folded: bool = False
    """A shut expander under its heading: the dashboard runs it once it is open, and is sent None
    before. Files and sites have it."""

    @property
    def name(self) -> str:
        """Its name in the address, under OPEN."""
        return (*self.holds, self.heading)[0]


def folded(
    inside: "Inside", holds: Sequence[str], heading: str, asks: Sequence[str] = ()
) -> Section:
    """A section that is folded."""
    return Section(inside, holds, heading, asks, folded=True)


@dataclass(frozen=True)
class Beside:
    """Columns. With widths, in pixels, they wrap where the screen is narrow; without, they share
    it."""

    columns: Sequence["Inside"]
    widths: Sequence[int] = ()
    shares: Sequence[float] = ()
    """Of the screen's width; equal ones by default."""
    gap: str = "small"


@dataclass(frozen=True)
class Box:
    """Steps in a frame; with a height in pixels they scroll in it."""

    inside: "Inside"
    height: int | str = "content"
    width: int | str = "stretch"


@dataclass(frozen=True)
class Live:
    """Steps that run again on their own after each judgement; sent is what they return when the
    whole page runs."""

    inside: "Inside"


@dataclass(frozen=True)
class Slot:
    """A place for steps that are computed later: `Into` takes what is sent back."""

    width: int | str = "stretch"
    replaced: bool = False
    """Each step replaces the one before it."""


@dataclass(frozen=True)
class Into:
    """A step in a slot, or a function of steps."""

    slot: Any
    step: "Step | Callable[[], Iterator[Step]]"


@dataclass(frozen=True)
class Wait:
    """Long work behind a message; it is sent what `work` returns."""

    text: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Remember:
    """Have Query and Map start with these systems where their address names none."""

    systems: Sequence[str]


@dataclass(frozen=True)
class Recalled:
    """Last value shown under a name in this session, or None.

    With `since`: as it was when this page was opened, and nothing once these choices change.
    """

    name: str
    since: Sequence[str] = ()


@dataclass(frozen=True)
class Window:
    """Steps in a window above the page; closing it takes the key `closes` out of the address."""

    title: str
    inside: "Inside"
    closes: str


Holder = (
    Row
    | Above
    | Group
    | Section
    | Beside
    | Box
    | Live
    | Slot
    | Into
    | Wait
    | Window
    | Remember
    | Recalled
)
Step = Control | Part | Holder
Steps = Generator[Step, Any, Any]
Inside = Callable[[], Iterator[Step]] | Sequence[Step]
"""Generators; those that yield no control may be typed as iterators."""
Page = Callable[[Ask], Iterator[Step]]
