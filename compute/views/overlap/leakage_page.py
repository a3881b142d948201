"""Leakage on the Overlap page: test data found in training sets."""

from compute.views.overlap import leakage
from compute.views.page import Ask, Note, Steps, Table, Text, offers

HEADING = "Train–test leakage"
MEASURE = "nDCG@10"
_COMMAND = "python -m compute leakage find --dataset DATASET --training FILE… --name NAME"


def section(ask: Ask) -> Steps:
    """Yield the findings by training set, and every system's mean without the queries found."""
    found, titles = ask(leakage.sets), offers.dataset_titles(ask)
    if found.empty:
        yield Note([f"No training set is compared with a test set yet: {_COMMAND}."])
        return
    changes, named = ask(leakage.changes, measure=MEASURE), offers.system_titles(ask)
    for place in range(len(found)):
        one = found.iloc[[place]]
        dataset, training = one[["dataset", "training"]].iloc[0]
        yield Text(leakage.said(one, titles))
        rows = changes[(changes["dataset"] == dataset) & (changes["training"] == training)]
        rows = rows[rows["system"].notna()]
        if rows["value_without"].notna().any():
            title = (
                f"{MEASURE} on {titles.get(dataset, dataset)} without queries found in {training}"
            )
            shown = leakage.shown(rows, named)
            yield Table(f"leakage_{place}", title, shown, leakage.COLUMNS_SHOWN, of=())
    thresholds = " or ".join(sorted({f"{one:g}" for one in found["threshold"]}))
    yield Note(
        [
            f"Mean {MEASURE} over all queries, and without queries found directly or through a"
            " relevant document; 95% CI of the change over queries like these.",
            f"Near-equal: Jaccard of character 5-grams ≥ {thresholds}; paraphrases are not found.",
            "A text in a training set was not necessarily used to train a system.",
        ]
    )
