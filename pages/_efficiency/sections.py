"""The sections of the page Efficiency."""

import shlex
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st
from pandas import DataFrame

from compute.base.words import counted
from compute.datasets import published
from compute.evaluate.measures import better
from compute.exports.tables import Table, csv
from compute.views.efficiency import panels, pareto
from compute.views.efficiency import select as efficiency_select
from compute.views.efficiency import tables as efficiency_tables
from compute.views.leaderboard import select as leaderboard_select
from pages._shared import colours, drawing, sign_in
from pages._shared.reading import read

EVERY = "mean over datasets"
"""Instead of one dataset: those that all shown systems have."""
MOST_NAMED = 8
"""Datasets that a caption names; of more it says the number."""
AGAIN = "python -m compute run SYSTEM DATASET --again"


class View(NamedTuple):
    """What the pickers say, and the rows that it shows."""

    rows: DataFrame
    """Rows of `pareto.points` with title and family."""
    datasets: list[str]
    """Their titles."""
    measure: str


def usual(costs: DataFrame) -> str:
    """What the page opens on: the mean where all systems have a dataset, else the fullest one."""
    n_systems = costs.groupby("dataset", sort=False)["system"].nunique()
    every = n_systems.max() == costs["system"].nunique()
    return EVERY if every else str(n_systems.idxmax())


def nothing() -> None:
    """Say how to get figures into a store that has none, and show the papers'."""
    st.info(f"No run has been measured yet: {AGAIN} searches again and measures.")
    beside_print(DataFrame(), [])


def view(costs: DataFrame, dataset: str, measure: str, systems: Sequence[str]) -> View | None:
    """What is shown; None, and a sentence, where these systems have nothing in common."""
    means = read(leaderboard_select.means, measure=measure)
    one = "" if dataset == EVERY else dataset
    found = pareto.points(costs, means, systems, one)
    if found.rows.empty:
        st.info("No dataset has figures of all these systems: choose fewer, or one dataset.")
        return None
    named = read(leaderboard_select.systems)
    rows = found.rows.merge(named, on="system", how="left")
    rows["title"] = rows["title"].fillna(rows["system"])
    titles = dict(zip(costs["dataset"], costs["title"], strict=True))
    return View(rows, [titles[name] for name in found.datasets], measure)


def figures(shown: View, *, slow: bool) -> None:
    """Quality against latency, and against the size of the index."""
    legend = partial(panels.legend, shown.rows)
    drawing.legend(legend)
    latency = "latency_p95_ms" if slow else "latency_p50_ms"
    with st.container(horizontal=True):
        for cost in (latency, "index_bytes"):
            with st.container(width=panels.WIDTH):
                figure = panels.panel(shown.rows, cost, shown.measure, theme=colours.theme())
                alt = f"{shown.measure} of systems against {pareto.COSTS[cost]}"
                drawing.plot(figure, cost, alt, legend, width="content")
    end = "up" if better(shown.measure) > 0 else "down"
    drawing.caption(
        f"How to read this: further {end} is better, further left is cheaper. The stepped line"
        " joins the systems that no other beats in both.",
        _over(shown),
        "Latency: one query at a time for 100 hits, everything loaded and warmed up, over a sample"
        " that is the same for every system. Both axes of cost are logarithmic.",
        _machines(shown.rows),
        _busy(shown.rows),
        _left_out(shown.rows, latency),
    )


def _over(shown: View) -> str:
    """What the numbers are of."""
    if len(shown.datasets) == 1:
        return f"On {shown.datasets[0]}."
    named = f": {', '.join(shown.datasets)}" if len(shown.datasets) <= MOST_NAMED else ""
    n = len(shown.rows)
    who = "the shown system has" if n == 1 else f"all {n} shown systems have"
    return f"Means over the {len(shown.datasets)} datasets that {who}{named}."


def _machines(rows: DataFrame) -> str:
    machines = panels.order(rows)
    if len(machines) == 1:
        return f"Measured on {machines[0]}."
    return (
        f"Measured on different hardware, which cannot be compared: filled marks {machines[0]},"
        f" open marks {', '.join(machines[1:])}; each has a line of its own."
    )


def _busy(rows: DataFrame) -> str:
    """Whether others were at work on the machine."""
    load = rows["load"].max()
    if not load > 2 * float(rows["cores"].min() if "cores" in rows else 1):
        return ""
    return f"The machine was busy with other work (up to {load:.0f} processes wanted a processor)."


def _left_out(rows: DataFrame, latency: str) -> str:
    """Which systems one of the figures lacks."""
    told = []
    for cost, what in ((latency, "latency"), ("index_bytes", "index size")):
        lacking = rows.loc[rows[cost].isna(), "title"]
        if len(lacking):
            told.append(f"Without {what}: {', '.join(lacking)}.")
    return " ".join(told)


def table(shown: View) -> None:
    """Every figure of the shown systems, to read and to save."""
    rows = efficiency_tables.table(shown.rows, shown.measure)
    drawing.table(rows, "costs", "What systems cost", **drawing.height(len(rows)))
    whole = partial(efficiency_tables.whole, shown.rows, shown.datasets, shown.measure)
    sign_in.download_button(
        "All figures (CSV)",
        lambda: csv(Table("efficiency", "", whole()), escaped=True),
        file_name="efficiency.csv",
        mime="text/csv",
        icon=":material/download:",
    )
    drawing.caption(
        "Queries at once: those of the split, in one go, with loading the model or starting Java"
        " counted. Memory: the most"
        " that all processes of indexing and searching held at once. A system made from others"
        " takes as long and as much as they do together. –: not measured."
    )


def unmeasured() -> None:
    """Which stored runs have no figures, and what measures them."""
    lacking = read(efficiency_select.unmeasured)
    if lacking.empty:
        return
    first = lacking.iloc[0]
    drawing.caption(
        f"Not measured, because they were searched before costs were:"
        f" {counted(len(lacking), 'stored run')}. Searching one again measures it:"
        f" python -m compute run {shlex.quote(first['system'])} {first['dataset']} --again."
    )


def beside_print(costs: DataFrame, titles: Sequence[str]) -> None:
    """The papers' table beside what is measured here, on the datasets of these titles."""
    st.header("Published figures", anchor=False)
    named = read(leaderboard_select.systems)
    own = costs[costs["title"].isin(titles)] if len(titles) else DataFrame()
    rows = efficiency_tables.beside_print(published.efficiency(), own, named)
    drawing.table(rows, "printed-costs", "Published and measured costs")
    drawing.caption(
        "The papers searched 1 million documents of DBPedia on their own hardware; the collections"
        " here are far smaller and the machine is another, so times and sizes cannot be compared"
        " directly: compare the order of the systems. Ours: of the datasets above. –: not printed,"
        " or not measured here."
    )
