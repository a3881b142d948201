"""The tables of the paper on query augmentation beside what is measured here."""

import pandas as pd
import streamlit as st

from compute.datasets import published
from compute.views.efficiency import select as efficiency_select
from compute.views.leaderboard import select as leaderboard_select
from compute.views.query import augmented as augmented_figures
from pages._shared import drawing, reading
from pages._shared.reading import read


def section(dataset: str = "") -> None:
    """For one dataset, or all; nothing where neither the paper nor a run here has augmentation, nor
    for one kind of queries, which the paper does not tell apart."""
    if reading.kind():
        return
    added = read(efficiency_select.added)
    added = added[added["dataset"] == dataset] if dataset else added
    figures = published.results()
    theirs = augmented_figures.printed(figures, [dataset] if dataset else [])
    if added.empty and (theirs.empty or not dataset):
        return
    measures = [name for name in augmented_figures.PRINTED if "@" in name]
    means = {name: read(leaderboard_select.means, measure=name) for name in measures}
    ours = augmented_figures.measured(means, read(efficiency_select.costs), added)
    st.header("Query augmentation", anchor=False)
    rows = pd.concat([ours, theirs], ignore_index=True)
    drawing.table(rows, "augmentation", "Query augmentation, here and in its paper")
    drawing.caption(
        "How to read this: a trained model adds words to each query and weighs them; BM25 then"
        " searches as before. Words added: word pieces, the mean over queries. Success@k: the share"
        " of queries with a relevant document among the first k, which the paper calls accuracy@k."
        " The paper searched Wikipedia and MS MARCO on its own hardware: neither its scores nor its"
        " times can be compared with ours directly. –: not printed, or not measured here."
    )
