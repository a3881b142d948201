"""The tables of the paper on query augmentation beside what is measured here."""

import pandas as pd

from compute.datasets import published
from compute.views.efficiency import select
from compute.views.leaderboard import select as leaderboard_select
from compute.views.page import Ask, Heading, Note, Steps, Table
from compute.views.query import augmented


def section(ask: Ask, dataset: str = "") -> Steps:
    """Steps for one dataset, or all; none where neither the paper nor a run here has augmentation.

    None for one query group either: the paper does not tell groups apart.
    """
    if ask.kind:
        return
    added = ask(select.added)
    added = added[added["dataset"] == dataset] if dataset else added
    theirs = augmented.printed(published.results(), [dataset] if dataset else [])
    if added.empty and (theirs.empty or not dataset):
        return
    names = [name for name in augmented.PRINTED if "@" in name]
    means = {name: ask(leaderboard_select.means, measure=name) for name in names}
    ours = augmented.measured(means, ask(select.costs), added)
    yield Heading("Query augmentation")
    rows = pd.concat([ours, theirs], ignore_index=True)
    yield Table(
        "augmentation", "Query augmentation, here and in its paper", rows, augmented.COLUMNS
    )
    yield Note(
        how="a trained model adds words to each query and weighs them; BM25 then searches as"
        " before. Words added: word pieces, the mean over queries. Success@k: the share of queries"
        " with a relevant document among the first k, which the paper calls accuracy@k. The paper"
        " searched Wikipedia and MS MARCO on its own hardware: neither its scores nor its times can"
        " be compared with ours directly. –: not printed, or not measured here."
    )
