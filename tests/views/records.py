"""What a page that is a record shows, asked on a store."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from pandas import DataFrame

from compute.base.settings import Settings
from compute.exports import tables
from compute.judgements import Choice
from compute.store import run_versions
from compute.store.store import Store
from compute.views.page import Column, Figure, Message, Note, Page, Part, Table, Text, parts
from compute.views.page.store_ask import StoreAsk, opened
from compute.views.shared.labels import Box


class Shown(NamedTuple):
    """The parts of a page."""

    parts: list[Part]

    @property
    def keys(self) -> list[str]:
        """Of figures and tables, in the order of the screen."""
        return [part.key for part in self.parts if isinstance(part, Figure | Table)]

    def figure(self, key: str) -> dict[str, Any]:
        """A figure, as light pages draw it."""
        return cast(Figure, self._part(key)).drawn(theme="light").to_plotly_json()

    def table(self, key: str) -> Table:
        return cast(Table, self._part(key))

    def _part(self, key: str) -> Part:
        (found,) = [one for one in self.parts if getattr(one, "key", "") == key]
        return found

    @property
    def words(self) -> str:
        """All that it says, with what stands behind marks."""
        return "\n".join(_words(part) for part in self.parts)


def _words(part: Part) -> str:
    if isinstance(part, Note):
        return f"{part.shown} {part.behind()}"
    if isinstance(part, Figure):
        said = part.legend if isinstance(part.legend, str) else ""
        return f"{part.finding} {said}"
    return part.text if isinstance(part, Text | Message) else ""


@contextmanager
def asked(home: Path, *picked: str, added: bool = False) -> Iterator[StoreAsk]:
    """The store of a home; `picked` are values of an address, which may name versions."""
    store = Store(Settings(home=home, threads=1))
    named = run_versions.named(run_versions.stored(store), picked)
    with opened(store, named, Choice() if added else None) as ask:
        yield ask


def shown(page: Page, home: Path, *, added: bool = False, **address: Any) -> Shown:
    """What a page shows at an address, by official judgements or official + `added`."""
    with asked(home, added=added) as ask:
        return Shown(parts(page, ask, **address))


def written(table: Table) -> DataFrame:
    """The cells of a table as text, under its heads."""
    heads, rows, _ = tables.shown(table)
    return DataFrame(rows, columns=heads)


def under(columns: Sequence[Column], rows: DataFrame) -> DataFrame:
    """Rows as these columns write them."""
    return written(Table("", "", rows, columns))


def common(one: Box, other: Box) -> float:
    """The area that both boxes cover."""
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return max(across, 0) * max(down, 0)
