"""Provenance of a page's numbers: a panel below the page, closed by default."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from compute.base.words import counted
from compute.store import provenance
from compute.views.about import tables as figures
from compute.views.about import view_provenance
from compute.views.page import Table
from pages._shared import drawing, navigation, page_run, reading, renderer, sign_in

WITHOUT = ("Judge", "Jobs", "Data", "How numbers are computed")
"""Pages without the panel; on Judge assessors must not see system names."""
RUNS, COLLECTIONS, PRINTED, SHELL, JSON = "Runs", "Collections", "In print", "Shell", "JSON"
_TALL = 420


def footer(title: str) -> None:
    """Draw the panel below the page with this title, if the page has read any numbers."""
    found = page_run.current().rests_on
    if title in WITHOUT or not (found.runs or found.datasets or found.sources):
        return
    panel = st.expander("Provenance", key="_made", icon=":material/history:", on_change="rerun")
    # A closed panel computes nothing.
    if panel.open:
        with panel:
            _opened(later()())


def later() -> Callable[[], dict[str, Any]]:
    """Return a function that makes the record of the data read by this run, now or later."""
    run = page_run.current()
    return partial(
        view_provenance.record,
        reading.store(),
        run.rests_on,
        version=reading.version(),
        choice=run.choice,
        queries=run.kind.title if run.kind else "",
        address=_address(),
    )


def _address() -> str:
    """Return the view's own address, without the host."""
    query = urlencode(st.query_params.to_dict(), doseq=True)
    path = urlsplit(st.context.url or "").path or "/"
    return f"{path}?{query}" if query else path


def _opened(found: dict[str, Any]) -> None:
    runs, collections, printed = found["runs"], found["collections"], found["in_print"]
    drawing.caption(*_said(found))
    offered = [RUNS] * bool(runs) + [COLLECTIONS] * bool(collections) + [PRINTED] * bool(printed)
    offered += [SHELL] * bool(runs or collections) + [JSON]
    shown = st.segmented_control(
        "View", offered, default=offered[0], key="_made_of", label_visibility="collapsed"
    )
    match shown or offered[0]:
        case "Runs":
            _runs(runs)
        case "Collections":
            carried = [[one["dataset"]] for one in collections]
            rows = figures.collections_table(collections)
            look = {"opens": navigation.DATASET, "carried": carried}
            renderer.section([Table("_made_sets", "Where datasets come from", rows, **look)])
        case "In print":
            st.dataframe(printed, hide_index=True)
            drawing.caption("Transcribed into data/published; never mixed with computed scores.")
        case "Shell":
            st.code(view_provenance.as_shell(found), language="bash", wrap_lines=True)
        case _:
            _json(found)


def _runs(runs: list[dict[str, Any]]) -> None:
    # A run's name may contain a folder, but the record's name for it does not.
    named = {(d, provenance.portable(s)): s for d, s in page_run.current().rests_on.runs}
    keys = [(str(run["dataset"]), str(run["system"])) for run in runs]
    carried = [[dataset, named.get((dataset, name)) or name] for dataset, name in keys]
    rows, title = figures.runs_table(runs), "Provenance of runs"
    renderer.section([Table("_made_runs", title, rows, opens=navigation.RUN, carried=carried)])
    drawing.caption(
        "Click a row for the run's details.",
        "Columns with # show the first characters of SHA-256 fingerprints of inputs and results.",
    )


def _json(found: dict[str, Any]) -> None:
    text = view_provenance.as_json(found)
    sign_in.download_button(
        "Download",
        text,
        file_name="provenance.json",
        mime="application/json",
        icon=":material/download:",
    )
    st.code(text, language="json", height=_TALL)


def _said(found: dict[str, Any]) -> list[str]:
    """State the inputs of the page in sentences."""
    runs, collections = len(found["runs"]), len(found["collections"])
    parts = [counted(runs, "stored run")] * bool(runs)
    parts += [f"{counted(collections, 'dataset')}"] * bool(collections)
    parts += [f"{counted(len(found['in_print']), 'printed table')}"] * bool(found["in_print"])
    judged = found["judgements"]
    of = f" of {', '.join(judged['of'])}" if "of" in judged else ""
    measures = ", ".join(
        name if words == name else f"{name} ({words})" for name, words in found["measures"].items()
    )
    return [
        f"This view is based on {', '.join(parts)}.",
        f"Judgements: {judged['counted']}{of}." if runs else "",
        f"Measure: {measures}." if measures else "",
        f"Only queries with {found['queries']}." if "queries" in found else "",
        f"Version {found['version_of_results']:,} of the store.",
    ]
