"""Holders: records that arrange steps; the page is sent the result of the steps."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compute.views.page.ask import Ask
from compute.views.page.controls import Control
from compute.views.page.parts import Part

OPEN = "open"
"""Address key of the names of open expanders."""


@dataclass(frozen=True)
class Row:
    """Steps side by side; messages about their controls are shown above them."""

    inside: "Inside"
    aligned: str = "bottom"
    """Vertical alignment: `bottom`, or `center` for text next to buttons."""


@dataclass(frozen=True)
class Above:
    """Steps shown above the row of controls in which they are yielded."""

    inside: "Inside"


@dataclass(frozen=True)
class Group:
    """A popover of controls, which have values even while it is closed."""

    label: str
    inside: "Inside"


@dataclass(frozen=True)
class Section:
    """Steps under a heading. A search for a figure or table runs them if `holds` has its key."""

    inside: "Inside"
    holds: Sequence[str] = ()
    heading: str = ""
    asks: Sequence[str] = ()
    """Keys of its controls, which an address may have even if the section is skipped."""
    folded: bool = False
    """True for an expander that is closed at first. The dashboard runs it once it is opened and
    sends None until then; files and sites always include it."""

    @property
    def name(self) -> str:
        """Its name in the address, under the key OPEN."""
        return (*self.holds, self.heading)[0]


def folded(
    inside: "Inside", holds: Sequence[str], heading: str, asks: Sequence[str] = ()
) -> Section:
    """Return a section that is closed at first."""
    return Section(inside, holds, heading, asks, folded=True)


@dataclass(frozen=True)
class Beside:
    """Columns. With `widths` in pixels they wrap on a narrow screen; otherwise they shrink."""

    columns: Sequence["Inside"]
    widths: Sequence[int] = ()
    shares: Sequence[float] = ()
    """Fractions of the screen's width; by default all columns are equally wide."""
    gap: str = "small"


@dataclass(frozen=True)
class Box:
    """Steps in a frame, which scrolls if it has a height in pixels."""

    inside: "Inside"
    height: int | str = "content"
    width: int | str = "stretch"


@dataclass(frozen=True)
class Live:
    """Steps that rerun after each judgement; their result is sent only when the whole page runs."""

    inside: "Inside"


@dataclass(frozen=True)
class Slot:
    """A place for steps that are computed later. The value sent back is passed to `Into`."""

    width: int | str = "stretch"
    replaced: bool = False
    """True if each step in it replaces the one before."""


@dataclass(frozen=True)
class Into:
    """A step, or a function that returns steps, for a slot."""

    slot: Any
    step: "Step | Callable[[], Iterator[Step]]"


@dataclass(frozen=True)
class Wait:
    """Long work during which a message is shown; the result of `work` is sent back."""

    text: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Remember:
    """Makes these systems the default on the Query and Map pages unless their address names any."""

    systems: Sequence[str]


@dataclass(frozen=True)
class Recalled:
    """Asks for the last value shown in this session under a name, or None. With `since`, values of
    controls: asks for the value when the page was opened, or None once they change."""

    name: str
    since: Sequence[str] = ()


@dataclass(frozen=True)
class Window:
    """Steps in a window above the page; closing it removes the key `closes` from the address."""

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
"""A function that returns steps, or a list of steps."""
Page = Callable[[Ask], Iterator[Step]]
