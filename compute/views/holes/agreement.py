"""Agreement of assessors in words and tables: kappa, alpha, and pairs with different grades."""

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base.words import counted
from compute.views.page import Column, Note
from compute.views.shared import theme as looks

Row = Mapping[Hashable, Any]
WEIGHTS = {
    "none": "all disagreements count the same",
    "linear": "a difference of two grades counts twice as much as one",
    "quadratic": "a difference of two grades counts four times as much as one",
}
"""Meaning of each choice of weights in `agreement.kappas`."""


_two, _between = partial(looks.plain, digits=2), partial(looks.between, digits=2)


def _with_interval(value: float, low: float, high: float) -> str:
    return f"{_two(value)} ({_between(low, high)})"


KAPPAS = (
    Column("Assessor", "person"),
    Column("Other", "other"),
    Column("Pairs judged by both", "n_pairs"),
    Column("Same grade", "same", "{:.0%}".format),
    Column("Cohen's kappa", "kappa", _two),
    Column("95% CI (bootstrap)", ("low", "high"), _between),
)
"""Columns of the table of pairs of assessors."""


def alpha_note(row: Row, weights: str) -> Note:
    """State the agreement of all assessors, and how to read kappa and alpha."""
    who = "Both assessors" if row["n_people"] == 2 else f"All {row['n_people']} assessors"
    alpha = _with_interval(row["alpha"], row["low"], row["high"])
    pairs = f"{counted(row['n_pairs'], 'pair')} judged at least twice"
    all_of = f"{who}: ordinal Krippendorff's alpha {alpha} over {pairs}."
    if pd.isna(row["alpha"]):
        all_of = "Agreement is undefined: all grades are the same."
    scale = "1: perfect agreement; 0: agreement by chance."
    return Note([all_of, f"Kappa: {WEIGHTS[weights]}.", scale])


MACHINE_COLUMNS = (
    Column("LLM", "machine"),
    Column("Compared with", "reference"),
    Column("Pairs graded by both", "n_pairs"),
    Column("Same grade", "same", "{:.0%}".format),
    Column("Relevant: human", "people_relevant", "{:.0%}".format),
    Column("Relevant: LLM", "machine_relevant", "{:.0%}".format),
    Column("Cohen's kappa (95%)", ("kappa", "kappa_low", "kappa_high"), _with_interval),
    Column("Weighted kappa (95%)", ("weighted", "weighted_low", "weighted_high"), _with_interval),
    Column("Alpha (95%)", ("alpha", "alpha_low", "alpha_high"), _with_interval),
)
"""Columns of the table of LLMs and references."""


def confusion_table(confusions: DataFrame) -> DataFrame:
    """Return a row per human grade, and a column per grade of the LLM."""
    keys = ["machine", "reference", "people"]
    wide = confusions.astype({"n_pairs": int}).pivot_table(
        "n_pairs", keys, "machine_grade", aggfunc="sum", fill_value=0
    )
    wide.columns = [f"LLM: {grade}" for grade in wide.columns]
    names = {"machine": "LLM", "reference": "Compared with", "people": "Human grade"}
    return wide.reset_index().rename(columns=names)


MACHINES = Note(
    [
        "LLM grades are not used in any score.",
        "Kappa is low if nearly all pairs have the same grade: see the relevant shares.",
        "Weighted kappa is quadratic; alpha is Krippendorff's, ordinal. Intervals:"
        " bootstrap over pairs, with equal weights.",
    ]
)
"""Note below the table of LLMs."""


def given(labels: Mapping[str, int]) -> str:
    """Return the grades by assessor, such as `ada 2, bob 0`."""
    return ", ".join(f"{person} {grade}" for person, grade in sorted(labels.items()))


DISAGREEMENTS = (
    Column("Query", "query_id"),
    Column("Document", "doc_id"),
    Column("Grades", "labels"),
    Column("Settled", "settled", lambda grade: "" if pd.isna(grade) else str(grade)),
)
"""Columns of the table of pairs with different grades."""


def option(row: Row) -> str:
    """Return a pair as a picker shows it."""
    settled = "" if pd.isna(row["settled"]) else f", settled as {row['settled']}"
    return f"{row['query_id']} · {row['doc_id']}: {given(row['labels'])}{settled}"
