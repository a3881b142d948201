"""The form of the Holes page that settles a disagreement between assessors."""

import uuid
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from compute.judgements import ADJUDICATION
from compute.judgements.tasks import grades
from compute.judgements.tasks.queue import Annotator
from compute.views.annotate import select
from compute.views.holes import agreement
from pages._shared import annotators, drawing, escaping, failures, reading

Row = dict[Hashable, Any]


def settle(rows: Sequence[Row]) -> int:
    """Draw a picker of disagreements and buttons that settle one; return its index in `rows`."""
    place = st.selectbox(
        "Settle", range(len(rows)), format_func=lambda n: agreement.option(rows[n]), width=520
    )
    person = annotators.annotator()
    if person is None:
        annotators.ask()
    else:
        _buttons(rows[place], person)
    return place


def _buttons(row: Row, person: Annotator) -> None:
    """Draw a button for each grade, which settles the pair."""
    levels = reading.read(select.levels, dataset=row["dataset"], added=False)["relevance"]
    with st.container(horizontal=True, vertical_alignment="center"):
        for relevance, name in grades.of_levels([*levels, *row["labels"].values()]):
            save = partial(_save, row, relevance, name, person)
            st.button(escaping.text(name), key=f"settle_{relevance}", on_click=save)
    drawing.caption(
        f"Settling as {person.name}.",
        "A settled grade overrides all other grades of the pair, which are kept.",
    )


@failures.guarded
def _save(row: Row, relevance: int, name: str, person: Annotator) -> None:
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
    words = f"Settled as {name}: {row['doc_id']}. To change it, choose the pair again in the list."
    st.toast(escaping.text(words), icon=":material/check:")
