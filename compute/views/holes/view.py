"""Values of the Holes page's controls, and data that several of its sections share."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pandas import DataFrame

from compute.views.annotate import select_added
from compute.views.holes import select
from compute.views.page import Ask
from compute.views.shared import catalogue

MOST_HITS = 1_000_000
"""Most hits deduplicated while a page waits, which takes about a second."""
OF = ("dataset", "systems", "measure")
OF_SETS = ("dataset", "systems", "set", "beside", "measure")
OF_SAMPLE = ("dataset", "sample", "estimated")
"""Keys of the controls on which figures depend; then with two sets, and for estimates."""


@dataclass(frozen=True)
class View:
    """A dataset, a measure and the shown systems."""

    ask: Ask
    dataset: str
    measure: str
    systems: list[str]

    @property
    def whole(self) -> bool:
        """True if no query group is chosen."""
        return self.ask.kind is None

    @property
    def asked(self) -> dict[str, Any]:
        """Parameters of questions about the shown systems."""
        return {"dataset": self.dataset, "systems": self.systems, "measure": self.measure}

    @cached_property
    def rows(self) -> DataFrame:
        """Scores with their possible ranges, from `select.bounds` with titles, the best first."""
        return self.bounds()

    def bounds(self, *, added: bool | None = None) -> DataFrame:
        """Return scores with ranges, by the judgements that count; `added` as in `Ask`."""
        found = self.ask(select.bounds, added=added, most_hits=MOST_HITS, **self.asked)
        return titled(self.ask, found)

    @cached_property
    def recorded(self) -> dict[Hashable, Any]:
        """Numbers of judgements including added ones, from `select.recorded`. Without stored added
        ones, only official judgements are read, since counting added ones takes a second after a
        publication."""
        has_any = self.n_stored > 0
        return self.ask(select.recorded, dataset=self.dataset, added=has_any).to_dict("records")[0]

    @property
    def n_stored(self) -> int:
        """Number of added judgements, whether or not they count."""
        (number,) = self.ask(select_added.number, dataset=self.dataset, added=False)["n_rows"]
        return int(number)

    @property
    def has_added(self) -> bool:
        """True if added judgements count; their effect is then shown first."""
        return bool(self.recorded["n_added"])


def titled(ask: Ask, rows: DataFrame) -> DataFrame:
    """Add the title of each system to the rows."""
    rows = rows.merge(ask(catalogue.systems), on="system", how="left")
    return rows.assign(title=rows["title"].fillna(rows["system"]))
