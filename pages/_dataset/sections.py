"""The sections of the page Dataset."""

from functools import partial
from typing import Any

import streamlit as st
from pandas import DataFrame

from compute.datasets import Dataset
from compute.evaluate.measures import MEASURES, better
from compute.views.dataset import select as dataset_select
from compute.views.dataset import tables as figures
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import cells
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.heatmap import BELOW_BEST, heatmap, note
from compute.views.query.words import said
from compute.views.shared import catalogue, next_steps, text
from compute.views.shared import theme as looks
from compute.views.shared.print_styles import Scores
from pages._shared import address, colours, dataset_facts, drawing, escaping, navigation, reading
from pages._shared.dataset_facts import counted, is_loaded, outdated, without_runs
from pages._shared.reading import read
from pages._shared.system_pickers import remember

MOST_SPREAD = 20
"""Systems whose values are drawn query by query."""


def overview(name: str, measure: str, named: DataFrame) -> None:
    """What the dataset is, what its systems score, and what papers print."""
    about = read(catalogue.facts, dataset=name)
    dataset = next_steps.record(about)
    means = read(dataset_select.means_of, datasets=[name])
    if means.empty:
        _to_jobs(dataset)
    left, right = st.columns([0.52, 0.48])
    with left:
        statistics(dataset, about)
    with right:
        example(dataset)
    if len(means):
        systems(dataset, means.merge(named, on="system"))
        further(dataset, measure)
        spread(dataset, measure, named)
    if dataset.parts:
        parts(dataset, measure)
    published(dataset)


def _to_jobs(dataset: Dataset) -> None:
    """Why nothing computed is shown, and the way to where it is computed."""
    st.info(escaping.text(without_runs(dataset)))
    if is_loaded(dataset):
        old = outdated(dataset)
        address.link("Compute it", "pages/jobs.py", datasets=dataset.name, systems=old)


def further(dataset: Dataset, measure: str) -> None:
    """Links to the dataset's queries and to the two systems that lead on it."""
    target = {"dataset": dataset.name, "measure": measure}
    names = read(catalogue.leading, added=False, dataset=dataset.name)["system"].tolist()
    cell = st.query_params.get("system", "")
    clicked = [cell] * (cell in names)
    two = [*clicked, *(name for name in names if name != cell)][:2]
    if clicked:
        remember(two)
    with st.container(horizontal=True):
        if len(two) > 1:
            named = dict(zip("ab", two, strict=True))
            address.link("Two of its systems compared", "pages/compare.py", **target, **named)
        if not dataset.parts:
            address.link(
                "The lists, query by query", "pages/query.py", **target, systems=two * len(clicked)
            )


def facts(dataset: Dataset) -> None:
    """What the dataset is, in one line."""
    st.header(escaping.text(dataset.title), anchor=False)
    zero_shot = "in the zero-shot average" if dataset.zero_shot else ""
    size = f"{len(dataset.parts)} parts" if dataset.parts else f"split {dataset.split}"
    # Of a user's own collection task, domain and licence all say no more than that it is one.
    known = dataset.group != "own"
    said = [dataset.task, dataset.domain * known, dataset.language, size, dataset.relevance]
    said += [f"relevant from {dataset.level} on, as AP(rel={dataset.level})@100"] * (
        dataset.level > 1
    )
    said += [f"licence: {dataset.licence}" * known, zero_shot, dataset.homepage, dataset.note]
    drawing.caption(" · ".join(word for word in said if word))


def statistics(dataset: Dataset, printed: DataFrame) -> None:
    """What the papers count beside what is loaded."""
    table = figures.statistics_table(printed, counted(dataset))
    drawing.table(table, "statistics", f"Statistics of {dataset.title}")
    drawing.caption(
        "Published by the papers." * ("Published" in table),
        "Here: counted in what is loaded, words split at white space.",
        dataset_facts.segmented(*(dataset.parts or (dataset.collection,))),
    )


def example(dataset: Dataset) -> None:
    """A query with a relevant document, both as text that cannot act."""
    found = dataset_facts.example(dataset)
    if len(found):
        st.header("One query and a document judged for it", anchor=False)
    for row in found.to_dict("records"):
        query, words = (
            word if isinstance(word, str) else "" for word in (row["query"], row["text"])
        )
        with st.container(border=True, height=264):
            st.html(text.line(query or f"Query {row['query_id']}"))
            if words:
                st.html(text.document(row["title"], words, query))
            else:
                st.text(next_steps.without_texts(dataset))
            drawing.caption(
                f"An example: query {row['query_id']}, document {row['doc_id']},"
                f" {said(row['relevance'])}."
            )


def systems(dataset: Dataset, means: DataFrame) -> None:
    """Every system with every measure; a click on a row opens how its run was made."""
    st.header("Systems", anchor=False)
    pinned = {"System": st.column_config.TextColumn(pinned=True)}
    measures = reading.measures()
    table = figures.measure_table(means, measures)
    options: dict[str, Any] = {"column_config": pinned, **drawing.height(means["system"].nunique())}
    if not dataset.parts:
        runs = figures.in_order(means, measures)
        open_run = partial(_open_run, dataset.name, runs)
        options |= {"on_select": open_run, "selection_mode": "single-cell"}
    drawing.table(
        table,
        "systems",
        f"Systems on {dataset.title}",
        scores=_scores(means),
        placeholder="–",
        **options,
    )
    drawing.caption(
        "Means over all evaluated queries; an unanswered query scores 0, and is left out of Hole@k"
        " and Judged@k. The best in bold. Hole@10: share of the top 10 that nobody judged for the"
        " query.",
        "A click on a row opens how that run was made." * (not dataset.parts),
    )


def _scores(means: DataFrame) -> Scores:
    """What a saved table says is the best and the second, as it is on the page."""
    shown = [measure for measure in reading.measures() if measure in set(means["measure"])]
    return Scores(shown, lower=[one for one in shown if better(one) < 0])


def _open_run(dataset: str, systems: list[str]) -> None:
    cells = st.session_state["systems"]["selection"]["cells"]
    if cells:
        navigation.to_run(dataset, systems[cells[0][0]])


def spread(dataset: Dataset, measure: str, named: DataFrame) -> None:
    """How the measure spreads over the queries of each system."""
    names = list(dataset.parts) or [dataset.name]
    rows = read(dataset_select.spread, datasets=names, measure=measure).merge(named, on="system")
    if rows.empty:
        return
    n_systems = len(rows)
    rows = rows[:: better(measure)].head(MOST_SPREAD)
    steps = read(dataset_select.histogram, datasets=names, measure=measure, steps=figures.STEPS)
    steps = steps[steps["system"].isin(rows["system"])]
    st.header(escaping.text(f"{measure}, query by query"), anchor=False)
    figure = figures.distribution(rows, steps, measure, theme=colours.theme())
    legend = partial(looks.families, rows["family"])
    drawing.plot(figure, "spread", f"{measure} of the queries of each system", legend)
    pooled = "The queries of all parts together." if dataset.parts else ""
    drawing.caption(
        f"{rows['n_queries'].max():,} queries. Columns: those strictly between 0 and 1; bars:"
        " 5 to 95% and the middle half of all; ring: median.",
        pooled,
        f"The {len(rows)} best of {n_systems:,} systems." * (len(rows) < n_systems),
    )


def parts(dataset: Dataset, measure: str) -> None:
    """A dataset of parts, part by part: computed, else as printed."""
    means = read(leaderboard_select.means, measure=measure)
    means = means[means["dataset"].isin(dataset.parts)]
    shown = cells.computed(
        means, read(leaderboard_select.holes), read(leaderboard_select.trained_pairs), "value"
    )
    if shown.empty:
        printed = read(dataset_select.published_figures, datasets=list(dataset.parts))
        shown = cells.printed(printed[printed["measure"] == measure])
    if shown.empty:
        return
    st.header(escaping.text(f"{measure} of the parts"), anchor=False)
    board = leaderboard.board(shown, read(catalogue.datasets), read(catalogue.systems), measure)
    figure = heatmap(board, colour_by=BELOW_BEST, baseline=None, theme=colours.theme())
    title = f"{measure} of systems on the parts of {dataset.title}"
    drawing.plot(figure, "parts", title, note(board, BELOW_BEST, None))
    drawing.caption("Its value is the mean of its parts' means.", "Published." * means.empty)


def published(dataset: Dataset) -> None:
    """Every printed figure."""
    printed = read(dataset_select.published_figures, datasets=[dataset.name])
    if len(printed):
        st.header("Published figures", anchor=False)
        table = figures.published_table(printed, MEASURES)
        title = f"Published figures on {dataset.title}"
        drawing.table(table, "published", title, placeholder="–")
