"""Agreement in words and tables: kappa, alpha, and the pairs that people grade differently."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame

from compute.base.words import counted
from compute.views.page import Note
from compute.views.shared import theme as looks

Row = Mapping[Hashable, Any]
WEIGHTS = {
    "none": "any two grades count as apart",
    "linear": "two grades apart count twice as much as one",
    "quadratic": "two grades apart count four times as much as one",
}
"""The weights of `agreement.kappas`, and what they do."""


def kappa_table(kappas: DataFrame) -> DataFrame:
    """A row for every two people, as text."""
    ends = zip(kappas["low"], kappas["high"], strict=True)
    return DataFrame(
        {
            "Person": kappas["person"],
            "Other": kappas["other"],
            "Pairs both judged": kappas["n_pairs"],
            "Same grade": [f"{share:.0%}" for share in kappas["same"]],
            "Cohen's kappa": [looks.plain(value, 2) for value in kappas["kappa"]],
            "95% of resamples": [looks.between(low, high, 2) for low, high in ends],
        }
    )


def _all(n_people: int) -> str:
    return "Both people" if n_people == 2 else f"All {n_people} people"


def alpha_note(row: Row, weights: str) -> Note:
    """What all people come to together, and how to read both numbers."""
    if pd.isna(row["alpha"]):
        all_of = "All together: agreement is not defined, for all grades are the same."
    else:
        all_of = (
            f"{_all(row['n_people'])} together: agreement {looks.plain(row['alpha'], 2)}"
            f" ({looks.between(row['low'], row['high'], 2)}) over"
            f" {counted(row['n_pairs'], 'pair')} that two or more judged: Krippendorff's"
            " alpha, grades read as an order."
        )
    how = "1 where people always agree, 0 where they agree as often as by chance."
    return Note([all_of, f"Kappa: {WEIGHTS[weights]}."], how=how)


def machine_table(machines: DataFrame) -> DataFrame:
    """A row for every machine and reference, as text."""

    def spans(name: str) -> list[str]:
        ends = zip(machines[name], machines[f"{name}_low"], machines[f"{name}_high"], strict=True)
        return [f"{looks.plain(v, 2)} ({looks.between(low, high, 2)})" for v, low, high in ends]

    def shares(name: str) -> list[str]:
        return [f"{share:.0%}" for share in machines[name]]

    return DataFrame(
        {
            "Machine": machines["machine"],
            "Compared with": machines["reference"],
            "Pairs of both": machines["n_pairs"],
            "Same grade": shares("same"),
            "Relevant: people": shares("people_relevant"),
            "Relevant: machine": shares("machine_relevant"),
            "Cohen's kappa (95%)": spans("kappa"),
            "Weighted kappa (95%)": spans("weighted"),
            "Alpha (95%)": spans("alpha"),
        }
    )


def confusion_table(confusions: DataFrame) -> DataFrame:
    """A row for every grade that people gave beside a machine, a column for each of its grades."""
    keys = ["machine", "reference", "people"]
    wide = confusions.astype({"n_pairs": int}).pivot_table(
        "n_pairs", keys, "machine_grade", aggfunc="sum", fill_value=0
    )
    wide.columns = [f"Machine: {grade}" for grade in wide.columns]
    names = {"machine": "Machine", "reference": "Compared with", "people": "Grade by people"}
    return wide.reset_index().rename(columns=names)


MACHINES = Note(
    [
        "How far a machine gives the grades that people gave; no score counts its grades.",
        "All pairs count alike: where people judged a chosen sample, this is agreement on that"
        " sample.",
    ],
    how="kappa falls where nearly all pairs have one grade, so the shares of relevant pairs (a"
    " grade above 0) stand beside it. Weighted kappa counts two grades apart four times as much as"
    " one; alpha is Krippendorff's, grades read as an order. The intervals are of 95% of resamples"
    " of the pairs.",
)
"""Below the table of machines."""


def disagreement_table(pairs: DataFrame) -> DataFrame:
    """A row for every pair with different grades, as text."""
    settled = ["" if pd.isna(grade) else str(grade) for grade in pairs["settled"]]
    return DataFrame(
        {
            "Query": pairs["query_id"],
            "Document": pairs["doc_id"],
            "Grades": [given(labels) for labels in pairs["labels"]],
            "Settled": settled,
        }
    )


def given(labels: Mapping[str, int]) -> str:
    """Who gave which grade: `ada 2, bob 0`."""
    return ", ".join(f"{person} {grade}" for person, grade in sorted(labels.items()))


def option(row: Row) -> str:
    """A pair as a picker shows it."""
    settled = "" if pd.isna(row["settled"]) else f", settled as {row['settled']}"
    return f"{row['query_id']} · {row['doc_id']}: {given(row['labels'])}{settled}"
