"""The picker of one kind of queries, of which a whole page then is."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute.views.page import offers
from compute.views.shared import query_slices
from pages._shared import address, escaping, export, pickers, reading
from pages._shared.reading import read

KEY = "queries"
"""In the address, as `topic:sea`."""
ALL = ""
"""No kind: all queries."""


def of_datasets(above: Any, unless: str = "") -> None:
    """The picker on a page of all datasets: kinds by labels, and what the address names besides.

    Of datasets without such queries nothing is read. `unless` says why there is none, if so.
    """
    if unless:
        if st.query_params.get(KEY, ALL):
            export.picked(KEY, ALL)
            above.caption(escaping.text(unless))
        return
    datasets = read(query_slices.labelled)["dataset"].tolist()
    found = read(query_slices.kinds, datasets=datasets, ready=False, added=False)
    ready = st.query_params.get(KEY, ALL) not in (ALL, *offers.kinds_by_name(found, ()))
    if ready:
        datasets = sorted({part.dataset for part in reading.parts() if part.kind == "queries"})
        found = read(query_slices.kinds, datasets=datasets, ready=True, added=False)
    _pick(found, datasets, above, "", ready=ready)


def of_dataset(datasets: Sequence[str], above: Any, title: str) -> None:
    """The picker on a page of one dataset, given by its parts."""
    # To look up the words of all queries takes longer than most of a page.
    rare = st.query_params.get(KEY, ALL).startswith(f"{query_slices.RARE}:")
    found = read(query_slices.kinds, datasets=list(datasets), rare=rare, added=False)
    _pick(found, list(datasets), above, title, ready=True)


def _pick(
    found: DataFrame, datasets: Sequence[str], above: Any, among: str, *, ready: bool
) -> None:
    kinds = offers.kinds_by_name(found, datasets, ready=ready)
    if not kinds and not st.query_params.get(KEY, ALL):
        return
    with above:
        address.known(KEY, kinds, "kind of queries", offers.instead(st.query_params.get(KEY, ALL)))
    titles = {name: kind.title for name, kind in kinds.items()}
    options = [ALL, *kinds]
    chosen = pickers.pick("Queries", options, KEY, width=230, titles=titles | {ALL: "All queries"})
    if chosen == ALL:
        return
    reading.only(kinds[chosen])
    row = found.iloc[options.index(chosen) - 1]
    said = offers.only_queries(row, titles[chosen], among)
    with above:
        st.markdown(f":material/filter_alt: {escaping.text(said)}")
