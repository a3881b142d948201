"""The same dataset in two languages, on the page Dataset: BEIR and BEIR-PL beside each other."""

from typing import Any

import pandas as pd
import streamlit as st
from pandas import DataFrame

from compute.datasets import published
from compute.datasets.catalogue import counterpart
from compute.views.dataset import query_outcomes, select_systems
from compute.views.dataset import select as dataset_select
from compute.views.dataset import systems as figures
from compute.views.dataset import tables as statistics
from compute.views.shared import catalogue, next_steps
from pages._dataset.views import View
from pages._shared import dataset_facts, drawing, escaping, reading
from pages._shared.reading import read


def languages(view: View) -> None:
    """Scores, lengths and the quality of the translation."""
    if reading.kind():
        st.info("Two languages are compared over all queries: choose All queries above.")
        return
    pair = sorted([view.dataset.name, counterpart(view.dataset.name)], key=_is_polish)
    _systems(view, *pair)
    left, right = st.columns(2)
    with left:
        _lengths(*pair)
    with right:
        _translation(pair[1])


def _is_polish(name: str) -> bool:
    return name.partition("/")[0].endswith("-pl")


def _systems(view: View, english: str, polish: str) -> None:
    st.header("Systems in both languages", anchor=False)
    asked: dict[str, Any] = {"datasets": [english, polish]}
    means = read(dataset_select.means_of, **asked)
    here = means[means["measure"] == view.measure]
    printed = read(select_systems.printed, measure=view.measure, **asked)
    rows = query_outcomes.side_by_side(here, printed, english, polish)
    if rows.empty:
        st.info(escaping.text(f"Neither language has a {view.measure} here or in print."))
        return
    rows["title"] = rows["title"].fillna(rows["system"].map(view.titles))
    title = f"{view.measure} in English and in Polish"
    drawing.table(figures.language_table(rows), "languages", title, height="content")
    drawing.caption(
        "How to read this: a system that is known in both languages stands first, with what Polish"
        " costs or gains it. Systems are not the same across languages even under one name: the"
        " analyser of BM25 and the model behind a name differ."
    )


def _lengths(english: str, polish: str) -> None:
    st.header("Sizes and lengths", anchor=False)
    tables: list[DataFrame] = []
    for name, label in ((english, "English"), (polish, "Polish")):
        facts = read(catalogue.facts, dataset=name)
        counted = dataset_facts.counted(next_steps.record(facts))
        table = statistics.statistics_table(facts, counted).drop(columns="Difference")
        tables.append(
            table.set_index("Statistic").rename(
                columns={"Published": f"{label}, published", "Here": f"{label}, here"}
            )
        )
    both = pd.concat(tables, axis=1).reset_index()
    drawing.table(both, "sizes", "Sizes and lengths in English and in Polish")
    drawing.caption("Words are split at white space. –: not printed, or not loaded here.")


def _translation(polish: str) -> None:
    st.header("How good is the translation?", anchor=False)
    rows = published.translation()
    own = rows[rows["part"].str.startswith(f"{polish.partition('/')[0]} ")]
    if own.empty:
        st.info("The BEIR-PL paper does not print the quality of this translation.")
    shown = rows.rename(
        columns={"part": "Part", "labse": "LaBSE", "semantic": "Semantic", "strict": "Strict"}
    )
    marked = shown.style.format(precision=2).apply(
        lambda row: ["font-weight: bold" * (row.name in own.index)] * len(row), axis=1
    )
    drawing.table(marked, "translation", "Quality of the translations (BEIR-PL, Table 2)")
    drawing.caption(
        "BEIR-PL, Table 2: how near the translation is to the original as LaBSE's vectors see it,"
        " and the share of a sample that people judged right in meaning and right in every word;"
        " this dataset's rows in bold."
    )
