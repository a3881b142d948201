"""The section of the page Overlap on leakage: what training sets hold of test sets."""

import streamlit as st

from compute.views.overlap import leakage
from pages._shared import dataset_facts, drawing, escaping, system_pickers
from pages._shared.reading import read

MEASURE = "nDCG@10"
_COMMAND = "python -m compute leakage --dataset DATASET --training FILE… --name NAME"


def section() -> None:
    """By training set what was found, and every system's mean without those queries."""
    st.header("Test queries that training data holds", anchor=False)
    found, titles = read(leakage.sets), dataset_facts.titles()
    if found.empty:
        drawing.caption(f"No training set was compared with a test set yet: {_COMMAND}.")
        return
    changes, named = read(leakage.changes, measure=MEASURE), system_pickers.titles()
    for place in range(len(found)):
        one = found.iloc[[place]]
        dataset, training = one[["dataset", "training"]].iloc[0]
        st.markdown(escaping.text(leakage.said(one, titles)))
        rows = changes[(changes["dataset"] == dataset) & (changes["training"] == training)]
        rows = rows[rows["system"].notna()]
        if rows["value_without"].notna().any():
            title = f"{MEASURE} on {titles.get(dataset, dataset)} without what {training} holds"
            shown = leakage.table(rows, named)
            drawing.table(shown, f"leakage_{place}", title, file=rows)
    drawing.caption(
        f"Mean {MEASURE} of stored runs over all queries, and without those that were found"
        " themselves or by a relevant document; the 95% interval of the change is over"
        " queries like these, and there from five queries on both sides on.",
        "How to read this: texts are near-equal from a Jaccard similarity of their character"
        f" 5-grams of {' or '.join(sorted({f'{one:g}' for one in found['threshold']}))} on. What is"
        " found by words alone; a paraphrase or a translation is not. That a training set holds a"
        " text does not say that a system was trained on it.",
        "Dataset and Compare show the same queries under kinds of queries.",
    )
