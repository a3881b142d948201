"""Judging an unjudged document on the Query page: fast but not blind, and marked as such."""

import uuid
from functools import partial

import pandas as pd
import streamlit as st
import streamlit.components.v2 as components

from compute.datasets import Dataset
from compute.judgements import IN_VIEW, PERSON, WITHDRAWN
from compute.judgements.labels import labels
from compute.judgements.tasks import grades as grading
from compute.judgements.tasks import queue
from compute.judgements.tasks.queue import Annotator
from compute.views.annotate import select as annotate_select
from compute.views.annotate import select_added
from pages._shared import address, annotators, drawing, escaping, failures, navigation, reading
from pages._shared.reading import read

_IN_VIEW = components.component(
    "opened_in_view",
    js="""
    let last = 0;
    export default function ({ data }) {
      const place = document.querySelector(".st-key-_document");
      if (data.click === last || !place) return;
      last = data.click;
      const { top } = place.getBoundingClientRect();
      // Below the fold it would open unseen.
      if (top < 0 || top > 0.6 * window.innerHeight) place.scrollIntoView({ block: "center" });
    }
    """,
)


def in_view() -> None:
    """Scroll to the document that a click in the lists opened."""
    _IN_VIEW(data={"click": navigation.clicks("lists")}, key="_in_view")


def hole(dataset: Dataset, query_id: str, doc_id: str) -> None:
    """Draw buttons with grades above a document without an official judgement."""
    asked = {"dataset": dataset.name, "query_id": query_id, "doc_id": doc_id}
    judged = partial(read, annotate_select.official, added=False)
    if not doc_id or len(judged(dataset=dataset.name, query_id=query_id, doc_id=doc_id)):
        return
    person = annotators.annotator()
    if person is None:
        st.markdown("**Judge this document**")
        annotators.ask()
        return
    levels = read(annotate_select.levels, added=False, dataset=dataset.name)["relevance"]
    given, texts = _given(asked, person), queue.texts(reading.parts(), dataset.name)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Judge this document:**", width="content")
        for relevance, name in grading.of_levels(levels.tolist()):
            chosen = "primary" if given == relevance else "secondary"
            add = partial(_add, asked, person, relevance, texts)
            st.button(escaping.text(name), key=f"grade_{relevance}", type=chosen, on_click=add)
        if given is not None:
            back = partial(_add, asked, person, None, texts)
            st.button("Undo", key="grade_back", type="tertiary", on_click=back)
        way = {"view": "new", "dataset": dataset.name}
        address.link("Create a judging task", "pages/annotate.py", **way)
    drawing.caption(
        f"Judging as {person.name}. This is not blind: systems and ranks are visible.",
        "Such judgements are marked.",
        "They count in official + added but never replace a blind grade.",
    )


def _given(pair: dict[str, str], person: Annotator) -> int | None:
    """Return the grade that the person already gave this pair here, regardless of a blind grade."""
    rows = read(select_added.of_pair, added=False, **pair)
    mine = (rows["person"] == person.name) & (rows["task"] == IN_VIEW)
    rows = labels(rows[mine | (rows["source"] == WITHDRAWN)], (PERSON,))
    rows = rows[rows["person"] == person.name]
    return int(rows["relevance"].iloc[-1]) if len(rows) else None


@failures.guarded
def _add(pair: dict[str, str], person: Annotator, relevance: int | None, texts: str) -> None:
    person = annotators.known_as(person.name)
    queue.refuse_other_texts(reading.store(), pair["dataset"], [texts])
    # A judgement may change the order of queries, but the page stays at this one.
    address.choose("query", pair["query_id"])
    address.choose("document", pair["doc_id"])
    row = pair | {
        "relevance": relevance,
        "person": person.name,
        "task": IN_VIEW,
        "guideline_version": "",
        "source": WITHDRAWN if relevance is None else PERSON,
        "entry": uuid.uuid4().hex,
        "verified": int(person.verified),
    }
    reading.store().add_judgements(pd.DataFrame([row]))
