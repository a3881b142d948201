"""The sections of the page Lengths."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import streamlit as st
from pandas import DataFrame, Series

from compute.base.words import counted
from compute.datasets import published
from compute.views.lengths import medians as tables
from compute.views.lengths import select as lengths_select
from compute.views.lengths import violins as figures
from compute.views.query.words import first_pair
from pages._shared import (
    address,
    colours,
    dataset_facts,
    drawing,
    navigation,
    pickers,
    system_pickers,
)
from pages._shared.pickers import pick
from pages._shared.reading import parts, read

TOPS = ("10", "5", "3", "1")
LINEAR, LOG = "Linear", "Logarithmic"
AXES = (LINEAR, LOG)
OF_THE_PAPERS = ("sbert-cosine", "sbert-dot")
"""Whose lengths the papers compare: one model trained with cosine, one with dot product."""

MOST_NAMED = 4
"""Datasets that a command names; of more it counts all that are stored."""


@dataclass(frozen=True)
class View:
    """What the pickers say."""

    dataset: Series
    """A row of `lengths.select.catalogue`."""
    k: int
    log: bool
    cut: int | None
    systems: list[str]
    """Those shown."""

    @cached_property
    def choice(self) -> dict[str, Any]:
        """What queries take: the dataset as its parts, k and cut."""
        record = dataset_facts.record(self.dataset["dataset"])
        datasets = list(record.parts) or [record.name]
        return {"datasets": datasets, "k": self.k, "cut": self.cut}

    @property
    def segmented(self) -> str:
        """How words are told apart where white space does not do it."""
        record = dataset_facts.record(self.dataset["dataset"])
        return dataset_facts.segmented(*(record.parts or (record.collection,)))

    def shown(self, rows: DataFrame) -> DataFrame:
        """Rows of what is no system's list, and of the shown systems."""
        return rows[(rows["of"] != "top") | rows["system"].isin(self.systems)]

    def violins(self, rows: DataFrame, key: str, alt: str) -> None:
        """Draw the lengths of these rows, and a line at the collection's median."""
        counts = read(lengths_select.histogram, **self.choice)
        found = read(lengths_select.summaries, **self.choice)
        corpus = float(found.loc[found["of"] == "corpus", "p50"].iloc[0])
        figure = figures.violins(
            rows, counts, corpus, log=self.log, cut=self.cut, theme=colours.theme()
        )
        legend = partial(figures.legend, rows)
        if not colours.narrow():  # there the figure is a list, without colours
            drawing.legend(legend)
        drawing.plot(figure, key, alt, legend)


def counted_systems() -> list[str]:
    """The systems with counted lengths on a dataset."""
    counts = [part for part in parts() if part.kind == "length_counts"]
    return sorted({part.system for part in counts if part.system})


def uncounted(row: Series) -> str:
    """Why a dataset has no lengths here, and what brings them."""
    if row["has_documents"]:
        return (
            f"The lengths of {row['title']} are not counted yet:"
            f" python -m compute lengths {row['dataset']}."
        )
    return (
        f"{row['title']} came without documents, so nobody knows how long they are:"
        " python -m compute import-dataset FOLDER --name NAME takes in a collection with them."
    )


def beside_corpus(view: View, named: DataFrame) -> None:
    """The lengths of what each system puts first, beside the collection's."""
    row, choice = view.dataset, view.choice
    rows = figures.beside_corpus(view.shown(read(lengths_select.summaries, **choice)), named)
    view.violins(rows, "lengths", f"Lengths of the top {view.k} of systems on {row['title']}")
    drawing.caption(
        f"How to read this: each shape shows the lengths of {figures.first(view.k)} of every query;"
        " a shape left of the dotted line belongs to a system that prefers short documents."
        " Below it 5 to 95% of them, the middle half, and the median as a ring."
        " Words are split at white space, title and text together. 9 longer: so many lie beyond the"
        " end of the axis. The whole collection counts each document once, the others each time"
        " that it is found, or judged relevant, for a query.",
        _cut(view.cut),
        view.segmented,
        "The documents and queries of all parts together." * (len(choice["datasets"]) > 1),
        _missing(row),
    )


def _cut(cut: int | None) -> str:
    return f"Documents longer than {cut} words count as {cut}." if cut else ""


def _missing(row: Series) -> str:
    """What of the stored runs is not in the figure."""
    missing, left_out = row["n_runs"] - row["n_counted"], row["n_left_out"]
    said = []
    if missing > 0:
        said.append(
            f"Not counted yet: {missing} of {counted(row['n_runs'], 'run')};"
            f" python -m compute lengths {row['dataset']} does it."
        )
    if left_out:
        documents = counted(left_out, "retrieved document")
        said.append(f"Left out: {documents} that the collection lacks.")
    return " ".join(said)


def medians(view: View, named: DataFrame) -> None:
    """Every dataset and system at a glance; a click on a row chooses the dataset."""
    rows = view.shown(read(lengths_select.medians, k=view.k, cut=view.cut))
    st.header("All datasets", anchor=False)
    figure = tables.heatmap(rows, named, chosen=view.dataset["dataset"], theme=colours.theme())
    label = f"Median words of the top {view.k} of systems on datasets"
    said = "Orange: shorter than the collection; blue: longer."
    navigation.plot(figure, "medians", label, _choose, said)
    drawing.caption(
        f"How to read this: the median number of words of {figures.first(view.k)}."
        + drawing.of_matrix(
            " Orange: shorter than the collection, blue: longer; strongest from a quarter and from"
            " four times on. Systems that prefer short documents stand left. A click opens the"
            " dataset above."
        ),
        _cut(view.cut),
        _dashes(rows),
    )


def _dashes(rows: DataFrame) -> str:
    """What a gap among the medians means, and what fills those of stored runs."""
    tops = rows[rows["of"] == "top"]
    if len(tops) == rows["dataset"].nunique() * tops["system"].nunique():
        return ""
    there = read(lengths_select.catalogue)
    there = there[there["dataset"].isin(rows["dataset"]) & there["has_documents"]]
    lacking = there[there["n_counted"] < there["n_runs"]]
    if lacking.empty:
        return "–: no such run is stored."
    named = list(lacking["dataset"]) if len(lacking) <= MOST_NAMED else []
    runs = counted(int((lacking["n_runs"] - lacking["n_counted"]).sum()), "stored run")
    command = " ".join(["python -m compute lengths", *named])
    return f"–: no such run is stored, or its lengths are not counted; {command} counts {runs}."


def _choose(dataset: str) -> None:
    pickers.put(dataset=dataset)


def head_to_head(view: View, named: DataFrame) -> None:
    """Two systems on the same queries."""
    found = read(lengths_select.summaries, **view.choice)
    systems = list(found.loc[found["of"] == "top", "system"])
    if len(systems) < 2:
        return
    st.header("Two systems, query by query", anchor=False)
    for key in ("a", "b"):
        address.known(key, systems, "system with counted lengths")
    first, second = OF_THE_PAPERS if set(OF_THE_PAPERS) <= set(systems) else first_pair(systems)
    with pickers.pickers():
        titles = system_pickers.titles()
        a = pick("A", systems, "a", default=first, width=240, titles=titles)
        b = pick("B", systems, "b", default=second, width=240, titles=titles)
    pairs = read(lengths_select.head_to_head, a=a, b=b, **view.choice)
    if a == b or pairs.empty:
        st.info("Choose two systems that answer the same queries.")
        return
    both = titles.get(a, a), titles.get(b, b)
    left, right = st.columns([0.55, 0.45])
    with left:
        rows = figures.beside_corpus(found[found["system"].isin([a, b])], named)
        rows = rows.sort_values("system", key=lambda names: names != a)
        view.violins(rows, "pair", f"Lengths of the top {view.k} of {both[0]} and {both[1]}")
    with right:
        figure = figures.differences(pairs, both, theme=colours.theme())
        drawing.plot(
            figure, "gaps", f"Differences of median length between {both[0]} and {both[1]}"
        )
    drawing.caption(figures.verdict(pairs, both, view.k), _cut(view.cut))


def grades(view: View) -> None:
    """The lengths of the judged documents by relevance."""
    rows = figures.by_relevance(read(lengths_select.summaries, **view.choice))
    # With one grade alone the figure at the top shows it already.
    if len(rows) < 3:
        return
    st.header("By relevance", anchor=False)
    title = view.dataset["title"]
    view.violins(rows, "grades", f"Lengths of judged documents of {title} by relevance")
    drawing.caption(
        "How to read this: if longer documents are judged more relevant, the shapes move right"
        " from the lowest grade to the highest. A document counts once for every query that it is"
        " judged for, by the official judgements alone.",
        _cut(view.cut),
    )


def averages() -> None:
    """Mean words beside the papers', and how many documents are a title only."""
    means = read(lengths_select.averages)
    if means.empty:
        return
    st.header("Words on average", anchor=False)
    shown = tables.averages_table(means)
    drawing.table(shown, "averages", "Words on average", **drawing.height(len(means)))
    drawing.caption(
        "Published: the papers' statistics, whose way of splitting words is not said; here words"
        " are split at white space. The papers average over the queries of all splits. Documents"
        " without text have a title at most.",
        dataset_facts.segmented(),
    )


def beside_print(named: DataFrame) -> None:
    """What BEIR v4 says about lengths, beside what is counted here."""
    catalogue = read(lengths_select.catalogue)
    titles = dict(zip(catalogue["dataset"], catalogue["title"], strict=True))
    titles |= dict(zip(named["system"], named["title"], strict=True))
    st.header("Published figures", anchor=False)
    # Asked as the medians above are, by default: found once for both.
    ours, means = read(lengths_select.medians, k=10, cut=None), read(lengths_select.averages)
    table = tables.published_table(published.lengths(), ours, means, titles)
    drawing.table(table, "published-lengths", "Published lengths beside ours")
    drawing.caption(
        "The paper's finding: on these collections TAS-B puts very short documents first, ANCE much"
        " longer ones. –: not computed here."
    )
