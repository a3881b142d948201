"""The Query page's buttons for reasons why systems fail on a query; keys press them."""

import streamlit as st

from compute.base.roles import ANNOTATOR, OPERATOR
from compute.datasets import Dataset
from compute.intake import query_labels
from compute.views.query import select
from pages._shared import escaping, failures, reading, sign_in
from pages._shared.reading import read


def buttons(dataset: Dataset, query_id: str) -> None:
    """Draw a button for each reason that the dataset offers; the keys 1 to 9 press them."""
    if dataset.parts or not sign_in.may(ANNOTATOR):
        return
    identity = query_labels.KIND, dataset.name, ""
    part = next((part for part in reading.parts() if part.identity == identity), None)
    rows = read(select.reasons, dataset=dataset.name)
    given, offered = rows.loc[rows["query_id"] == query_id, "reason"], query_labels.reasons(part)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Note why it fails:**", width="content", help=_HELP)
        for key, reason in enumerate(offered, 1):
            st.button(
                escaping.text(reason),
                key=f"reason_{key}",
                type="primary" if reason in set(given) else "secondary",
                shortcut=str(key),
                on_click=_give,
                args=(dataset.name, query_id, reason),
            )
        if sign_in.may(OPERATOR):
            with st.popover("Edit", type="tertiary"):
                _list(dataset.name, offered)


_HELP = (
    "Why systems fail on this query: press 1 to 9 to add or remove a reason, N for the next query."
    " Reasons are query groups of the key “reason”."
)


def _list(dataset: str, offered: list[str]) -> None:
    with st.form("_reasons", border=False):
        lines = st.text_area("Reasons, one per line, for keys 1 to 9", "\n".join(offered))
        if st.form_submit_button("Save"):
            sign_in.require(OPERATOR)
            query_labels.offer(reading.store(), dataset, lines.splitlines())
            reading.AHEAD.await_published()
            st.rerun()


@failures.guarded
def _give(dataset: str, query_id: str, reason: str) -> None:
    sign_in.require(ANNOTATOR)
    query_labels.give(reading.store(), dataset, query_id, reason)
    reading.AHEAD.await_published()
