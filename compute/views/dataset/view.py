"""Values of the Dataset page's controls, and the dataset's systems."""

from typing import Any, NamedTuple

from pandas import DataFrame

from compute.datasets import Dataset
from compute.views.page import Ask, Link
from compute.views.shared import standings

MOST_SYSTEMS = 40
"""Most systems that are shown by default."""


class View(NamedTuple):
    """Values of the controls, and the titles of systems."""

    ask: Ask
    dataset: Dataset
    measure: str
    named: DataFrame
    """system, title, family."""

    @property
    def choice(self) -> dict[str, Any]:
        """Parameter of questions: the dataset, or its parts."""
        return {"datasets": list(self.dataset.parts) or [self.dataset.name]}

    @property
    def title(self) -> str:
        """Title of the figure of systems."""
        return f"{self.measure} of systems on {self.dataset.title}"

    @property
    def titles(self) -> dict[str, str]:
        """Title of each system by name."""
        return dict(zip(self.named["system"], self.named["title"], strict=True))

    @property
    def to_run(self) -> Link:
        """Link to the run of the system in a row."""
        names = {"show": "Runs", "dataset": self.dataset.name}
        return Link("data", names, carried=("system",))

    def to_query(self, dataset: str, query_id: str, a: str, b: str) -> Link:
        """Return a link to a query with the ranked lists of two systems."""
        shown = {"systems": [a, b], "measure": self.measure}
        return Link("query", {"dataset": dataset, "query": query_id, **shown})

    def standing(self) -> DataFrame:
        """Return `standings.standing`: the mean of every system on every part."""
        return self.ask(standings.standing, measure=self.measure, **self.choice)

    def ranked(self) -> DataFrame:
        """Return `standings.ranked` with title and family, the best system first."""
        ranked = standings.ranked(self.standing(), self.measure)
        rows = ranked.merge(self.named, on="system", how="left").fillna({"family": "imported"})
        return rows.assign(title=rows["title"].fillna(rows["system"]))
