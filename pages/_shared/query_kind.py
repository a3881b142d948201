"""The picker of one kind of queries, of which a whole page then is."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.views.shared import query_slices
from compute.views.shared.query_slices import Kind
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
    ready = st.query_params.get(KEY, ALL) not in (ALL, *_kinds(found, ()))
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


def _instead() -> str:
    """What is shown for a kind that is not there."""
    by_scores = st.query_params.get(KEY, ALL).startswith(f"{query_slices.ANSWERED}:")
    why = "Kinds that are made from the scores only describe: Dataset has them. "
    return f"{why * by_scores}All queries are shown."


def _kinds(found: DataFrame, datasets: Sequence[str], *, ready: bool = True) -> dict[str, Kind]:
    pairs = found[["key", "value"]].itertuples(index=False)
    kinds = [Kind(key, value, tuple(datasets), ready) for key, value in pairs]
    return {kind.name: kind for kind in kinds}


def _pick(
    found: DataFrame, datasets: Sequence[str], above: Any, among: str, *, ready: bool
) -> None:
    kinds = _kinds(found, datasets, ready=ready)
    if not kinds and not st.query_params.get(KEY, ALL):
        return
    with above:
        address.known(KEY, kinds, "kind of queries", _instead())
    titles = {name: kind.title for name, kind in kinds.items()}
    options = [ALL, *kinds]
    chosen = pickers.pick("Queries", options, KEY, width=230, titles=titles | {ALL: "All queries"})
    if chosen == ALL:
        return
    reading.only(kinds[chosen])
    export.titled(KEY, {chosen: f"queries with {titles[chosen]}"})
    row = found.iloc[options.index(chosen) - 1]
    with above:
        st.markdown(f":material/filter_alt: {escaping.text(_said(row, titles[chosen], among))}")


def _said(row: Series, title: str, among: str) -> str:
    n = f"{row['n_queries']:,}"
    if among:
        return f"Only queries with {title}: {n} of {row['n_all']:,} on {among}."
    of = counted(row["n_datasets"], "dataset")
    return f"Only queries with {title}: {n}, on {of}. Datasets without any are left out."
