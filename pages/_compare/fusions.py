"""Two systems fused, at every weight."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from compute import jobs
from compute.base.errors import WrongInput
from compute.views.compare import fusion_sweep, fusions
from compute.views.compare import select as compare_select
from compute.views.compare.fusions import Swept, Titles
from pages._shared import colours, dataset_facts, drawing, escaping, pickers, reading
from pages._shared import sign_in as who
from pages._shared.address import link
from pages._shared.reading import read

_HOW = (
    "Interpolation adds the scores of both lists, each made 0 to 1; RRF adds 1 / (k + rank). A list"
    " adds nothing to what it lacks: even at weight 0 and 1 the other's documents follow a short"
    " one."
)
_MARKS = (
    "How to read this: the line is the mean, the band its 95% interval (Student's t), dotted each"
    " system alone. A hollow mark beats the better one only while holes count as not relevant: with"
    " holes left out it is behind."
)
_ELSEWHERE = (
    "Chosen on other queries: ten-fold cross-validation over all weights and k, ten times; the"
    " interval is that of the whole procedure when queries are drawn again."
)


def section(
    dataset: str, datasets: Sequence[str], a: str, b: str, titles: Titles, measure: str
) -> None:
    """The two of one dataset, or of its parts, fused."""
    if not _asked():
        return
    with st.spinner("Fusing…"):
        found = _swept(datasets, a, b, measure)
    if found is None:
        st.info(f"The lists of these runs are not stored, or not as deep as {measure} goes.")
        return
    st.markdown(escaping.text(fusions.verdict(found, titles, measure)))
    figure = fusions.figure(found, titles, measure, theme=colours.theme())
    drawing.plot(figure, "fused", f"{measure} of {titles[0]} and {titles[1]} fused", _MARKS)
    drawing.caption(f"Over {found.n:,} queries.", _cut(datasets, a, b), _HOW, _MARKS, _ELSEWHERE)
    try:
        _store(fusions.name(fusions.best(found, measure), a, b), dataset, a, measure)
    except WrongInput:
        drawing.caption("No fusion can be stored of systems with these names.")


def _store(fusion: str, dataset: str, other: str, measure: str) -> None:
    """A button that has the best of them stored; once it is, a link to it."""
    runs = read(compare_select.runs)
    if fusion in set(runs.loc[runs["dataset"] == dataset, "system"]):
        chosen = {"dataset": dataset, "a": fusion, "b": other, "measure": measure}
        link(f"Compare {fusion}, which is stored", "pages/compare.py", **chosen)
    elif not who.may(who.OPERATOR):
        drawing.caption(who.told(who.OPERATOR))
    elif st.button(escaping.text(f"Store {fusion}"), icon=":material/play_arrow:"):
        who.require(who.OPERATOR)
        started = jobs.start(reading.store(), "run", [fusion], [dataset], person=who.name())
        st.markdown(escaping.text(f"{started.sentence}: the page Jobs shows how far it is."))


def across(
    datasets: Mapping[str, Sequence[str]], a: str, b: str, titles: Titles, measure: str
) -> None:
    """The best weight of each dataset, by its parts, and what it loses on the others."""
    if not _asked():
        return
    with st.spinner("Fusing…"):
        swept = {name: _swept(parts, a, b, measure) for name, parts in datasets.items()}
    found = {name: one for name, one in swept.items() if one}
    if not found:
        st.info(f"On no dataset are both lists stored as deep as {measure} goes.")
        return
    known = dataset_facts.titles()
    both = f"{titles[0]} and {titles[1]}"
    best = fusions.across(found, measure, known)
    drawing.table(fusions.printed(best), "fused_best", f"Best weights of {both}", file=best)
    drawing.caption(
        f"Weight: of {titles[0]} in an interpolation. From the others: the best of the mean over"
        " all other datasets.",
        _cut([part for name in found for part in datasets[name]], a, b),
        _HOW,
    )
    if len(found) > 1:
        lost = fusions.losses(found, measure, known)
        title = f"{measure} lost with weights of other datasets"
        drawing.table(fusions.printed(lost), "fused_losses", title, file=lost)
        drawing.caption(f"{measure} lost on each dataset, by where the weight was chosen.")


def _cut(datasets: Sequence[str], a: str, b: str) -> str:
    """What is said of lists that ship with fewer ranks than they had."""
    found = [read(fusion_sweep.cut, dataset=one, a=a, b=b) for one in datasets]
    ranks = pd.concat(found)["cut"].min()
    if pd.isna(ranks):
        return ""
    return f"Of lists cut to {ranks:.0f} ranks: whole ones may differ."


def _asked() -> bool:
    st.header("Fused", anchor=False)
    return pickers.switch("Fuse the two at every weight", "fuse")


def _swept(datasets: Sequence[str], a: str, b: str, measure: str) -> Swept | None:
    rows = [read(fusion_sweep.swept, dataset=one, a=a, b=b, measure=measure) for one in datasets]
    there = [one for one in rows if len(one)]
    # A part may have no query of the kind that the page is of.
    if not there or (len(there) < len(rows) and not reading.kind()):
        return None
    return fusions.swept(pd.concat(there, ignore_index=True), measure)
