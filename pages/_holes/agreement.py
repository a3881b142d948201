"""The sections of the page Holes about agreement, and where disagreements are settled."""

import uuid
from collections.abc import Hashable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from compute.base.words import counted
from compute.judgements import ADJUDICATION
from compute.judgements.tasks import grades
from compute.judgements.tasks.queue import Annotator
from compute.views.annotate import select as annotate_select
from compute.views.holes import agreement as figures
from compute.views.holes import select
from compute.views.query import select as query_select
from compute.views.shared import catalogue, next_steps, text
from pages._shared import annotators, drawing, escaping, failures, reading
from pages._shared.pickers import pick
from pages._shared.reading import read

MOST = 200
"""Disagreements that a table and a picker show."""
_ANCHOR = "agreement"
"""The place on the page."""

Row = dict[Hashable, Any]


def way(dataset: str) -> None:
    """At the top of the page, a way down to the disagreements that wait to be settled."""
    pairs = read(select.disagreements, dataset=dataset, added=False)
    if n_open := int(pairs["settled"].isna().sum()):
        said = f"{counted(n_open, 'disagreement')} between people to settle"
        st.markdown(f"[{escaping.text(said)}](#{_ANCHOR})")


def agreement(dataset: str) -> None:
    """How far people who judged the same pairs agree, and what they disagree on."""
    asked: dict[str, Any] = {"dataset": dataset, "added": False}
    if read(select.kappas, weights="none", **asked).empty:
        return
    st.header("How far people agree", anchor=_ANCHOR)
    weights = pick("Weights of kappa", list(figures.WEIGHTS), "weights", width=200)
    kappas = read(select.kappas, weights=weights, **asked)
    drawing.table(figures.kappa_table(kappas), "kappas", f"Agreement of people on {dataset}")
    (row,) = read(select.alpha, level="ordinal", **asked).to_dict("records")
    drawing.caption(figures.alpha_line(row), f"Kappa: {figures.WEIGHTS[weights]}.")
    _disagreements(dataset)


def machines(dataset: str) -> None:
    """How far machines whose grades are stored agree with people."""
    found = read(select.machines, dataset=dataset, added=False)
    if found.empty:
        return
    st.header("How far machines agree with people", anchor="machines")
    title = f"Agreement of machines with people on {dataset}"
    drawing.table(figures.machine_table(found), "machines", title)
    drawing.caption(*figures.MACHINE_LINES)
    confusions = read(select.confusions, dataset=dataset, added=False)
    told = f"Grades of machines and of people on {dataset}"
    drawing.table(figures.confusion_table(confusions), "confusions", told)
    drawing.caption("Pairs that both graded, by people's grade (rows) and the machine's (columns).")


def _disagreements(dataset: str) -> None:
    pairs = read(select.disagreements, dataset=dataset, added=False)
    if pairs.empty:
        st.caption("Nobody disagrees.")
        return
    n_open = int(pairs["settled"].isna().sum())
    st.markdown(f"**Disagreements: {len(pairs):,}, not settled yet: {n_open:,}**")
    shown = figures.disagreement_table(pairs.head(MOST))
    drawing.table(shown, "disagreements", f"Disagreements on {dataset}")
    rows = pairs.head(MOST).to_dict("records")
    place = st.selectbox(
        "Settle", range(len(rows)), format_func=lambda n: figures.option(rows[n]), width=520
    )
    person = annotators.annotator()
    if person is None:
        annotators.ask()
    else:
        _buttons(rows[place], person)
    row = rows[place]
    pair(row["dataset"], row["query_id"], row["doc_id"])


def pair(dataset: str, query_id: str, doc_id: str) -> None:
    """The query and the document of a pair, as text that cannot act."""
    record = next_steps.record(read(catalogue.facts, dataset=dataset))
    asked = read(annotate_select.asked, dataset=dataset, query_ids=[query_id], added=False)
    found = read(query_select.documents, collection=record.collection, doc_ids=[doc_id])
    words = next((word for word in asked["text"] if isinstance(word, str)), "")
    with st.container(border=True, height=380 if len(found) else "content", width=760):
        st.html(text.line(words or f"Query {query_id}"))
        if len(found):
            (document,) = found.to_dict("records")
            st.html(text.document(document["title"], document["text"], words))
        else:
            st.text(next_steps.without_texts(record))


def _buttons(row: Row, person: Annotator) -> None:
    levels = read(annotate_select.levels, dataset=row["dataset"], added=False)["relevance"]
    with st.container(horizontal=True, vertical_alignment="center"):
        for relevance, name in grades.of_levels([*levels, *row["labels"].values()]):
            save = partial(_settle, row, relevance, name, person)
            st.button(escaping.text(name), key=f"settle_{relevance}", on_click=save)
    drawing.caption(
        f"You settle as {person.name}. A settled grade counts for the pair before all others;"
        " what people gave stays as it is."
    )


@failures.guarded
def _settle(row: Row, relevance: int, name: str, person: Annotator) -> None:
    person = annotators.known_as(person.name)
    judgement = {name: row[name] for name in ("dataset", "query_id", "doc_id")} | {
        "relevance": relevance,
        "person": person.name,
        "task": "",
        "guideline_version": "",
        "source": ADJUDICATION,
        "entry": uuid.uuid4().hex,
        "verified": int(person.verified),
    }
    reading.store().add_judgements(pd.DataFrame([judgement]))
    words = f"Settled as {name}: {row['doc_id']}. To change it, choose it again in the list."
    st.toast(escaping.text(words), icon=":material/check:")
