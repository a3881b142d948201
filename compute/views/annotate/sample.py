"""Inputs of the estimates from a sampled task, for pages."""

from dataclasses import dataclass
from typing import Self

from pandas import DataFrame

from compute.evaluate.estimates.frames import Frame
from compute.judgements import sets
from compute.judgements.tasks import estimated
from compute.judgements.tasks.estimated import Estimated
from compute.judgements.tasks.tasks import Task
from compute.views.annotate import select, select_added
from compute.views.page import Ask


@dataclass(frozen=True)
class Sample:
    """A sampled task's estimates, and their inputs."""

    ask: Ask
    task: Task
    frame: Frame
    official: DataFrame
    measure: str

    @classmethod
    def of(cls, ask: Ask, task: Task, measure: str) -> Self:
        """Read the inputs from the task's runs as they are stored now."""
        systems, dataset = list(task.systems), task.dataset
        lists = ask(select.lists, dataset=dataset, systems=systems, depth=task.depth, added=False)
        official = ask(select.judged, dataset=dataset, added=False)
        return cls(ask, task, select.framed(lists, task.depth), official, measure)

    def judged(self) -> DataFrame:
        """Return query_id, doc_id, relevance of official judgements, and added ones that count."""
        rows = self.ask(select_added.rows, dataset=self.task.dataset, added=False)
        return sets.with_added(self.official, rows, self.ask.counting)

    def estimated(self, machine: DataFrame | None = None) -> Estimated:
        """Return estimates, corrected by an LLM's grades if given. Raises Missing, WrongInput."""
        asked = self.task, self.frame, self.judged(), self.measure
        return estimated.estimated(self.ask.store, *asked, machine)
