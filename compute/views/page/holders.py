"""Holders: records that arrange steps and are sent the steps' results."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compute.views.page.ask import Ask
from compute.views.page.controls import Control
from compute.views.page.parts import Part

OPEN = "open"
"""Address key that names the open expanders."""


@dataclass(frozen=True)
class Row:
    """Steps side by side; messages on their controls are above."""

    inside: "Inside"
    aligned: str = "bottom"
    """Vertical alignment, or `center` for text next to buttons."""


@dataclass(frozen=True)
class Above:
    """Steps placed above the row of controls that yields this."""

    inside: "Inside"


@dataclass(frozen=True)
class Group:
    """A popover of controls, which have values even while it is closed."""

    label: str
    inside: "Inside"


@dataclass(frozen=True)
class Section:
    """Steps under a heading. `holds` are the keys of all figures and tables in it; a search for
    another key skips it."""

    inside: "Inside"
    holds: Sequence[str] = ()
    heading: str = ""
    asks: Sequence[str] = ()
    """Keys of its controls, which an address may have even if the section is skipped."""
    folded: bool = False
    """A closed expander under its heading. The dashboard runs it when it is opened and sends None
    before; files and sites always include it."""

    @property
    def name(self) -> str:
        """Its name in the address, under the key OPEN."""
        return (*self.holds, self.heading)[0]


def folded(
    inside: "Inside", holds: Sequence[str], heading: str, asks: Sequence[str] = ()
) -> Section:
    """A section that is collapsed at first."""
    return Section(inside, holds, heading, asks, folded=True)


@dataclass(frozen=True)
class Beside:
    """Columns. With widths in pixels they wrap on a narrow screen; otherwise they shrink."""

    columns: Sequence["Inside"]
    widths: Sequence[int] = ()
    shares: Sequence[float] = ()
    """Fractions of the screen's width; equal by default."""
    gap: str = "small"


@dataclass(frozen=True)
class Box:
    """Steps in a frame; if it has a height in pixels, they scroll."""

    inside: "Inside"
    height: int | str = "content"
    width: int | str = "stretch"


@dataclass(frozen=True)
class Live:
    """Steps that rerun after each judgement; their result is sent when the whole page runs."""

    inside: "Inside"


@dataclass(frozen=True)
class Slot:
    """A slot for steps that are computed later: `Into` takes the value sent back."""

    width: int | str = "stretch"
    replaced: bool = False
    """Steps of which each replaces the one before."""


@dataclass(frozen=True)
class Into:
    """A step in a slot, or a function of steps."""

    slot: Any
    step: "Step | Callable[[], Iterator[Step]]"


@dataclass(frozen=True)
class Wait:
    """Long work under a message; the result of `work` is sent back."""

    text: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Remember:
    """Let Query and Map start with these systems if their address names none."""

    systems: Sequence[str]


@dataclass(frozen=True)
class Recalled:
    """Last value shown under a name in this session, or None.

    With `since`: its value when this page was opened, or None once these choices change.
    """

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
"""Generators; those that yield no control may be typed as iterators."""
Page = Callable[[Ask], Iterator[Step]]
