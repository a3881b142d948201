"""The tables of the paper on query augmentation, with measurements made here."""

from collections.abc import Iterator
from functools import partial

import pandas as pd
from pandas import DataFrame

from compute.datasets import published
from compute.views.efficiency import select
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import Ask, Note, Step, Steps, Table, folded
from compute.views.query import augmented


def section(ask: Ask, dataset: str = "") -> Steps:
    """Yield a section on one dataset, or on all. There is no section for a query group, since the
    paper has no groups, or if neither the paper nor a run has augmented queries."""
    if ask.kind:
        return
    added = ask(select.added)
    added = added[added["dataset"] == dataset] if dataset else added
    theirs = augmented.printed(published.results(), [dataset] if dataset else [])
    if added.empty and (theirs.empty or not dataset):
        return
    shown = partial(_shown, ask, added, theirs)
    yield folded(shown, ("augmentation",), "Query augmentation")


def _shown(ask: Ask, added: DataFrame, theirs: DataFrame) -> Iterator[Step]:
    names = [name for name in augmented.PRINTED if "@" in name]
    means = {name: ask(leaderboard_select.means, measure=name) for name in names}
    ours = augmented.measured(means, ask(select.costs), added)
    rows = pd.concat([ours, theirs], ignore_index=True)
    title, source = "Query augmentation, measured and published", "stored runs and the paper"
    yield Table("augmentation", title, rows, augmented.COLUMNS, source=source)
    yield Note(
        [
            "Words added: mean word pieces per query. Success@k is the paper's accuracy@k.",
            "Not directly comparable: the paper searched Wikipedia and MS MARCO on other hardware.",
            "–: not reported or not measured.",
        ]
    )
