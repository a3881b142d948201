"""Statistics, scores and published figures of a dataset, for the Dataset page."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from pandas import DataFrame

from compute.datasets import Dataset, published
from compute.evaluate.measures import MEASURES, better
from compute.views.dataset import all_datasets, select, systems_page, tables
from compute.views.dataset.view import View
from compute.views.leaderboard import board as leaderboard
from compute.views.leaderboard import cells
from compute.views.leaderboard import select as leaderboard_select
from compute.views.leaderboard.heatmap import BELOW_BEST, heatmap, legend
from compute.views.page import (
    Ask,
    Beside,
    Box,
    Button,
    Column,
    Figure,
    Heading,
    Link,
    Message,
    Note,
    Passage,
    Section,
    Step,
    Steps,
    Table,
    Text,
    folded,
    offers,
)
from compute.views.query.words import said
from compute.views.shared import catalogue, next_steps
from compute.views.shared import theme as looks
from compute.views.shared.print_styles import Scores

MOST_SPREAD = 20
"""Most systems whose distribution of per-query values is drawn."""


def overview(view: View) -> Iterator[Step]:
    """Yield statistics, an example, every measure of the systems, and published figures."""
    means = view.ask(select.means_of, datasets=[view.dataset.name])
    if means.empty:
        yield Section(partial(_without_runs, view))
    facts = Section(partial(_statistics, view), ("statistics",))
    yield Beside([[facts], [Section(partial(_example, view))]], shares=(0.52, 0.48))
    if len(means):
        yield Section(partial(_systems, view, means), ("systems",), "Systems")
        yield Section(partial(systems_page.further, view))
        head = f"{view.measure}, query by query"
        yield folded(partial(_spread, view), ("spread",), head)
    if view.dataset.parts:
        yield folded(partial(_parts, view), ("parts",), f"{view.measure} of the parts")
    yield folded(partial(_published, view), ("published",), "Published scores")
    inside = partial(all_datasets.section, view.ask)
    head = "All datasets with the papers' statistics"
    yield folded(inside, ("all-datasets", "query-counts"), head)


def _without_runs(view: View) -> Iterator[Step]:
    """Say why no computed scores are shown, with a link to the page that computes them."""
    if offers.is_unjudged(view.ask, view.dataset.name):
        yield from offers.unjudged(view.dataset.name)
        return
    yield Message(offers.without_runs(view.ask, view.dataset))
    if offers.is_loaded(view.ask, view.dataset):
        systems = offers.outdated(view.ask, view.dataset)
        names = {"datasets": view.dataset.name, "systems": systems}
        yield Button("Compute it", Link("jobs", names))


def statistics(ask: Ask, dataset: Dataset) -> DataFrame:
    """Return `tables.statistics_table` for a dataset, over all its parts together."""
    roots = list(dataset.parts) or [dataset.collection]
    names = list(dataset.parts) or [dataset.name]
    counted = ask(select.statistics, datasets=names, collections=roots)
    return tables.statistics_table(ask(catalogue.facts, dataset=dataset.name), counted)


def _statistics(view: View) -> Iterator[Step]:
    dataset = view.dataset
    table = statistics(view.ask, dataset)
    yield Table("statistics", f"Statistics of {dataset.title}", table)
    yield Note(
        [
            "Published: from the papers." * ("Published" in table),
            "Here: computed from the loaded data (whitespace tokens).",
            offers.segmented(view.ask, *(dataset.parts or (dataset.collection,))),
        ]
    )
    yield from all_datasets.words(dataset)


def example(ask: Ask, dataset: Dataset) -> DataFrame:
    """Return `select.example` for a dataset, or for its first part."""
    name = (*dataset.parts, dataset.name)[0]
    collection = name if dataset.parts else dataset.collection
    return ask(select.example, dataset=name, collection=collection)


def _example(view: View) -> Iterator[Step]:
    """Yield a query with a relevant document as inert text; without texts, the papers' example."""
    for row in example(view.ask, view.dataset).to_dict("records"):
        yield Heading("Example query and judged document")
        yield Box(partial(_query_and_document, view.dataset, row), height=220)
        return
    yield from all_datasets.example(view.dataset)


def _query_and_document(dataset: Dataset, row: dict[Any, Any]) -> Iterator[Step]:
    query, words = (word if isinstance(word, str) else "" for word in (row["query"], row["text"]))
    yield Passage(query or f"Query {row['query_id']}")
    if words:
        yield Passage(row["title"], words, query)
    else:
        yield Text(next_steps.without_texts(dataset))
        yield from all_datasets.example(dataset)
    place = f"Query {row['query_id']}, document {row['doc_id']}"
    yield Note([f"{place}: {said(row['relevance'])}."])


def _systems(view: View, means: DataFrame) -> Iterator[Step]:
    """Yield a table of systems by measures; a click on a row opens the run's details."""
    means, offered = means.merge(view.named, on="system"), view.ask.measures()
    shown = [measure for measure in offered if measure in set(means["measure"])]
    table = tables.measure_table(means, shown)
    whole = bool(view.dataset.parts)
    yield Table(
        "systems",
        f"Systems on {view.dataset.title}",
        table,
        [
            Column("System", pinned=True),
            *(Column(measure, format=looks.plain) for measure in shown),
            Column("Unanswered"),
        ],
        Scores(shown, lower=[one for one in shown if better(one) < 0]),
        opens=None if whole else view.to_run,
        carried=[[system] for system in tables.in_order(means, shown)],
        bold=tables.best(table, shown).to_numpy().tolist(),
    )
    yield Note(
        [
            "Means over all evaluated queries; bold: best.",
            "Click a row for the run's details." * (not whole),
            "Unanswered queries score 0; Hole@k and Judged@k leave them out.",
            "Hole@10: unjudged share of the top 10.",
        ]
    )


def _spread(view: View) -> Iterator[Step]:
    """Yield the distribution of per-query values for each system."""
    asked: dict[str, Any] = {**view.choice, "measure": view.measure}
    every = view.ask(select.spread, **asked).merge(view.named, on="system")
    if every.empty:
        yield Message(f"No query has {view.measure} yet.")
        return
    rows = every[:: better(view.measure)].head(MOST_SPREAD)
    steps = view.ask(select.histogram, steps=tables.STEPS, **asked)
    steps = steps[steps["system"].isin(rows["system"])]
    yield Figure(
        "spread",
        f"{view.measure} per query, by system",
        partial(tables.distribution, rows, steps, view.measure),
        partial(looks.families, rows["family"]),
    )
    yield Note(
        [
            f"{rows['n_queries'].max():,} queries.",
            "Columns: scores strictly between 0 and 1; bars: 5th–95th percentile and interquartile"
            " range; ring: median.",
            "The queries of all parts are pooled." * bool(view.dataset.parts),
            f"The best {len(rows)} of {len(every):,} systems." * (len(rows) < len(every)),
        ]
    )


def _parts(view: View) -> Steps:
    """Yield a heatmap of a dataset's parts, with published scores if none are computed."""
    ask, measure, names = view.ask, view.measure, list(view.dataset.parts)
    means = ask(leaderboard_select.means, measure=measure)
    means = means[means["dataset"].isin(names)]
    holes, trained = ask(leaderboard_select.holes), ask(catalogue.trained_pairs)
    shown = cells.computed(means, holes, trained, "value")
    if shown.empty:
        printed = ask(select.published_figures, datasets=names)
        shown = cells.printed(printed[printed["measure"] == measure])
    if shown.empty:
        yield Message("No part has a score.")
        return
    board = leaderboard.board(shown, ask(catalogue.datasets), ask(catalogue.systems), measure)
    yield Figure(
        "parts",
        f"{measure} of systems on the parts of {view.dataset.title}",
        partial(heatmap, board, colour_by=BELOW_BEST, baseline=None),
        partial(legend, board, BELOW_BEST, None, None),
    )
    yield Note(["The dataset's score is the mean of its parts' means.", "Published." * means.empty])


def _published(view: View) -> Iterator[Step]:
    """Yield a table of every published score on the dataset."""
    printed = view.ask(select.published_figures, datasets=[view.dataset.name])
    if printed.empty:
        yield Message("No paper reports scores on this dataset.")
        return
    table = tables.published_table(printed, MEASURES)
    title = f"Published scores on {view.dataset.title}"
    columns = [
        Column(str(head), format="" if head in tables.WORDS else looks.plain) for head in table
    ]
    ours = published.names()
    carried = [[ours.get(name, name)] for name in table["System"]]
    look = {"opens": Link("", carried=(catalogue.CARD,)), "carried": carried}
    yield Table("published", title, table, columns, source="the named tables", **look)
    yield Note(["Click a row for the system's details."])
