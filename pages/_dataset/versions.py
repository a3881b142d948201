"""The versions of a system on a dataset, one after the other."""

import streamlit as st
from pandas import DataFrame

from compute.views.dataset import versions as figures
from pages._dataset.views import View
from pages._shared import address, colours, drawing, navigation, reading
from pages._shared.pickers import pick
from pages._shared.reading import read


def section(view: View) -> None:
    """A line over the versions of one system, and what each has more than the one before."""
    names = view.asked["datasets"]
    kept = reading.versions(names)
    if not kept:
        return
    of_systems = list(dict.fromkeys(part.version_of for part in kept))
    st.header("Versions", anchor=False)
    address.known("versions", of_systems, "system with versions")
    of = pick("Versions of", of_systems, "versions", width=240, titles=view.titles)
    kept = [part for part in kept if part.version_of == of]
    runs = [part for part in reading.parts() if part.kind == "hits" and part.system == of]
    live = next((part for part in runs if part.dataset in names), None)
    history = figures.history(kept, live)
    systems = history["system"].tolist()
    with reading.picking(part.system for part in kept):
        rows = read(figures.scored, measure=view.measure, systems=systems, **view.asked)
    _draw(view, of, history.merge(rows, on="system"))


def _draw(view: View, of: str, rows: DataFrame) -> None:
    title = f"{view.measure} of the versions of {view.titles.get(of, of)} on {view.dataset.title}"
    drawing.plot(figures.line(rows, view.measure, theme=colours.theme()), "versions_line", title)
    carried = [[view.dataset.name, name] for name in rows["system"][::-1]]
    shown = figures.table(rows, view.measure)
    if view.dataset.parts:
        drawing.table(shown, "versions_table", title)
    else:
        navigation.table(shown, "versions_table", carried, navigation.to_run, title)
    drawing.caption(
        "Above: the mean with its 95% interval; below: the share of the top 10 without judgement.",
        "How to read this: the difference to the version before is tested query by query, each pair"
        " alone; of many versions one in twenty differs by chance. A version with more holes than"
        " the one before may be underrated by them.",
        "Earlier versions count nowhere else, unless a picker of systems names them.",
        "A click on a row opens how that run was made." * (not view.dataset.parts),
    )
    if len(rows) > 1:
        b, a = rows["system"].iloc[-2:]
        target = {"dataset": view.dataset.name, "measure": view.measure, "a": a, "b": b}
        address.link("The last two compared, query by query", "pages/compare.py", **target)
