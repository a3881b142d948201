"""The Lengths page: which system prefers short documents?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pandas import DataFrame, Series

from compute.base.words import counted
from compute.corpora.lengths import MAX_WORDS
from compute.datasets import published
from compute.reading import query_families
from compute.systems import SYSTEMS
from compute.views.lengths import medians, select, violins
from compute.views.page import (
    Ask,
    Beside,
    Choice,
    Figure,
    Legends,
    Link,
    Message,
    Note,
    Row,
    Section,
    Step,
    Steps,
    Switch,
    Table,
    folded,
    offers,
)
from compute.views.shared import catalogue

TOPS = ("10", "5", "3", "1")
LINEAR, LOG = "Linear", "Logarithmic"
OF_THE_PAPERS = ("sbert-cosine", "sbert-dot")
"""Systems whose lengths the papers compare: trained with cosine, and with dot product."""
MOST_NAMED = 4
"""Most datasets that a command names; for more, the command measures all stored datasets."""
_PAIR = ("dataset", "a", "b", "k")
_PAIRED = "Is the difference significant? Two systems, query by query"


@dataclass(frozen=True)
class View:
    """Values of the controls."""

    ask: Ask
    dataset: Series
    """A row of `select.catalogue`."""
    datasets: list[str]
    """The dataset, or its parts."""
    k: int
    log: bool
    cut: int | None
    systems: list[str]
    """The systems shown."""
    segmented: str
    """Note on how words are split in scripts without spaces."""

    @property
    def choice(self) -> dict[str, Any]:
        """Parameters of queries."""
        return {"datasets": self.datasets, "k": self.k, "cut": self.cut}

    def shown(self, rows: DataFrame) -> DataFrame:
        """Keep the rows of the shown systems, and the rows that belong to no system."""
        return rows[(rows["of"] != "top") | rows["system"].isin(self.systems)]

    def violins(self, rows: DataFrame, key: str, title: str, of: Sequence[str]) -> Iterator[Step]:
        """Yield a figure of the lengths of these rows, with a line at the corpus's median."""
        counts = self.ask(select.histogram, **self.choice)
        found = self.ask(select.summaries, **self.choice)
        corpus = float(found.loc[found["of"] == "corpus", "p50"].iloc[0])
        drawn = partial(violins.violins, rows, counts, corpus, log=self.log, cut=self.cut)
        legend = partial(violins.legend, rows)
        yield Legends(legend, of_matrix=True)
        yield Figure(key, title, drawn, legend, of=of, narrow=True, finding=violins.finding(rows))

    @property
    def cut_at(self) -> str:
        """Note on the length to which longer documents are truncated; empty if they are not."""
        return f"Documents longer than {self.cut} words count as {self.cut}." if self.cut else ""


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    stored = ask(select.catalogue)
    stored = stored[stored["is_counted"] | (stored["n_runs"] > 0)]
    if stored.empty:
        yield Message(
            "No lengths have been measured yet. python -m compute admin demo measures some."
        )
        return
    view = yield Row(partial(_controls, ask, stored))
    yield from offers.first_runs(view.ask, view.datasets, view.systems)
    named, whole = view.ask(catalogue.systems), view.ask.kind is None
    if view.dataset["is_counted"]:
        yield Section(partial(_beside_corpus, view, named), holds=("lengths",))
    else:
        yield Message(_uncounted(view.dataset))
    if whole and stored["is_counted"].any():
        yield Section(partial(_medians, view, named), ("medians",))
    if view.dataset["is_counted"]:
        pair, head = partial(_head_to_head, view, named), _PAIRED
        yield folded(pair, ("pair", "gaps"), head, ("a", "b"))
        judged = violins.by_relevance(view.ask(select.summaries, **view.choice))
        # If there is one grade, the first figure already shows it.
        if len(judged) > 2:
            yield folded(partial(_grades, view, judged), ("grades",), "By relevance")
    if whole:
        yield folded(partial(_averages, view.ask), ("averages",), "Average length (words)")
        published_ones = partial(_published, view.ask, named)
        yield folded(published_ones, ("published-lengths",), "Published lengths")


def _controls(ask: Ask, stored: DataFrame) -> Steps:
    names = list(stored["dataset"])
    first = usual(ask(select.medians, k=int(TOPS[0])), names)
    name = yield offers.dataset(ask, names, "dataset with lengths or runs", 240, default=first)
    k = yield Choice("k", "Depth (k)", TOPS, noun="number of documents", width=100)
    axis = yield Choice("axis", "Axis", (LINEAR, LOG), noun="axis", width=150)
    systems = yield from offers.systems(ask, _counted(ask), "system with measured lengths")
    record = offers.record(ask, name)
    datasets = list(record.parts) or [name]
    ask = yield from offers.query_group(ask, datasets, record.title)
    cut = yield Switch("cut", f"Truncate at {MAX_WORDS} words")
    row = stored[stored["dataset"] == name].iloc[0]
    found = datasets if record.parts else [record.collection]
    cut_at, words = MAX_WORDS if cut else None, offers.segmented(ask, *found)
    return View(ask, row, datasets, int(k), axis == LOG, cut_at, systems, words)


def usual(rows: DataFrame, names: Sequence[str]) -> str:
    """Return the dataset on which the systems' medians differ most (ratio of largest to smallest).
    `rows` are from `select.medians`."""
    tops = rows[(rows["of"] == "top") & rows["dataset"].isin(list(names)) & (rows["median"] > 0)]
    middles = tops.groupby("dataset", sort=False)["median"]
    ratios = middles.max() / middles.min()
    return names[0] if ratios.empty else str(ratios.idxmax())


def _counted(ask: Ask) -> list[str]:
    """Return the systems with measured lengths on some dataset."""
    counts = [part for part in ask.parts() if part.kind == "length_counts"]
    return sorted({part.system for part in counts if part.system})


def _uncounted(row: Series) -> str:
    """Say why a dataset has no lengths here, and how to get them."""
    if row["has_documents"]:
        return (
            f"The lengths of {row['title']} have not been measured yet: run python -m compute"
            f" lengths compute {row['dataset']}."
        )
    return (
        f"{row['title']} was imported without texts: python -m compute add-texts {row['dataset']}"
        " FOLDER adds the texts of a collection with these ids."
    )


def _beside_corpus(view: View, named: DataFrame) -> Steps:
    """Yield the lengths of each system's top k, compared with the corpus."""
    row = view.dataset
    rows = violins.beside_corpus(view.shown(view.ask(select.summaries, **view.choice)), named)
    title = f"Lengths of the top {view.k} of systems on {row['title']}"
    keys = ("dataset", "systems", "axis", "cut", "k")
    yield from view.violins(rows, "lengths", title, keys)
    facts = [
        *_missing(row),
        "The documents and queries of all parts together." * (len(view.datasets) > 1),
        view.segmented or "Length: whitespace-separated tokens of title and text.",
        "A document counts once in the corpus, and once per query elsewhere.",
    ]
    of = f"Lengths of {violins.first(view.k)} per query."
    line = f"{of} Left of the dotted line: shorter than the corpus median."
    listed = f"{of} In brackets: difference from the corpus median."
    yield Note([view.cut_at, line, *facts], of_lists=[view.cut_at, listed, *facts])


def _missing(row: Series) -> Iterator[str]:
    """Say which stored runs and documents are missing from the figure."""
    missing, left_out = row["n_runs"] - row["n_counted"], row["n_left_out"]
    if missing > 0:
        yield (
            f"Not measured yet: {missing} of {counted(row['n_runs'], 'run')};"
            f" python -m compute lengths compute {row['dataset']} measures them."
        )
    if left_out:
        yield f"Left out: {counted(left_out, 'retrieved document')} that the corpus lacks."


def _medians(view: View, named: DataFrame) -> Steps:
    """Yield the medians of all datasets and systems; a click on a row chooses the dataset."""
    every = view.shown(view.ask(select.medians, k=view.k, cut=view.cut))
    rows = medians.beside(every, view.dataset["dataset"])
    hidden = every["system"].nunique() > rows["system"].nunique()
    yield Figure(
        "medians",
        f"Median words in the top {view.k}, by system and dataset",
        partial(medians.heatmap, rows, named, chosen=view.dataset["dataset"]),
        "Orange: shorter than the corpus; blue: longer; saturates at ¼× and 4×.",
        opens=Link(carried=("dataset",)),
        of=("systems", "axis", "cut", "k"),
        finding=medians.shortest(every, offers.system_titles(view.ask)),
    )
    yield Note(
        [
            view.cut_at,
            "Medians are rounded here." * bool(rows["median"].mod(1).any()),
            f"Only systems with a run on {view.dataset['title']}." * hidden,
            _dashes(view.ask, rows),
        ],
        of_matrix="Columns: from shortest to longest, relative to the corpus. Click a cell to open"
        " its dataset above.",
    )


def _dashes(ask: Ask, rows: DataFrame) -> str:
    """Say why some medians are missing, with the command that measures them."""
    tops = rows[rows["of"] == "top"]
    if len(tops) == rows["dataset"].nunique() * tops["system"].nunique():
        return ""
    there = ask(select.catalogue)
    there = there[there["dataset"].isin(rows["dataset"]) & there["has_documents"]]
    lacking = there[there["n_counted"] < there["n_runs"]]
    if lacking.empty:
        return "–: no run."
    named = list(lacking["dataset"]) if len(lacking) <= MOST_NAMED else []
    runs = counted(int((lacking["n_runs"] - lacking["n_counted"]).sum()), "stored run")
    command = " ".join(["python -m compute lengths compute", *named])
    return f"–: no run, or lengths not measured; {command} measures {runs}."


def _head_to_head(view: View, named: DataFrame) -> Steps:
    """Yield a comparison of two systems on the same queries."""
    found = view.ask(select.summaries, **view.choice)
    systems = list(found.loc[found["of"] == "top", "system"])
    if len(systems) < 2:
        yield Message("This needs two systems with measured lengths.")
        return
    titles = offers.system_titles(view.ask)
    a, b = yield Row(partial(_pair, systems, titles))
    pairs = view.ask(select.head_to_head, a=a, b=b, **view.choice)
    if a == b or pairs.empty:
        yield Message("Choose two systems that answer the same queries.")
        return
    both = titles.get(a, a), titles.get(b, b)
    # A sign test by query assumes independent queries, but those of a family are not.
    by_query = view.ask(query_families.declared, datasets=[view.dataset["dataset"]]).empty
    rows = violins.beside_corpus(found[found["system"].isin([a, b])], named)
    rows = rows.sort_values("system", key=lambda names: names != a)
    title = f"Lengths of the top {view.k} of {both[0]} and {both[1]}"
    gaps = Figure(
        "gaps",
        f"Differences of median length between {both[0]} and {both[1]}",
        partial(violins.differences, pairs, both),
        of=_PAIR,
        narrow=True,
        finding=violins.verdict(pairs, both, tested=by_query),
    )
    yield Beside([partial(view.violins, rows, "pair", title, _PAIR), [gaps]], shares=(0.55, 0.45))
    yield Note([view.cut_at])


def _pair(systems: list[str], titles: dict[str, str]) -> Steps:
    """Yield pickers of the two systems, and return both."""
    papers = set(OF_THE_PAPERS) <= set(systems)
    dense = [one for one in systems if one in SYSTEMS and SYSTEMS[one].family == "dense"]
    usual = offers.first_pair(systems, ["bm25", *dense])
    first, second = OF_THE_PAPERS if papers else usual
    look: dict[str, Any] = {"noun": "system with measured lengths", "titles": titles, "width": 240}
    a = yield Choice("a", "System A", systems, first, **look)
    b = yield Choice("b", "System B", systems, second, **look)
    return a, b


def _grades(view: View, rows: DataFrame) -> Steps:
    """Yield the lengths of judged documents by relevance."""
    title = f"Lengths of judged documents of {view.dataset['title']} by relevance"
    yield from view.violins(rows, "grades", title, ("dataset", "axis", "cut"))
    yield Note(
        [view.cut_at, "Official judgements only; a document counts once per query."],
    )


def _averages(ask: Ask) -> Steps:
    """Yield mean words here and in the papers, and the number of documents with only a title."""
    means = ask(select.averages)
    if means.empty:
        yield Message("No average lengths are known.")
        return
    yield Table("averages", "Average length (words)", means, medians.AVERAGES, of=())
    yield Note(
        [
            "Here: whitespace tokens; published: tokenization not reported, queries of all splits.",
            "Empty documents: title only.",
            offers.segmented(ask),
        ]
    )


def _published(ask: Ask, named: DataFrame) -> Steps:
    """Yield the lengths published in BEIR v4 next to those computed here."""
    stored = ask(select.catalogue)
    titles = dict(zip(stored["dataset"], stored["title"], strict=True))
    titles |= dict(zip(named["system"], named["title"], strict=True))
    # By default the medians above ask the same question, so it runs only once.
    ours, means = ask(select.medians, k=10, cut=None), ask(select.averages)
    rows = medians.published_rows(published.lengths(), ours, means, titles)
    columns = medians.published_columns(rows)
    look: dict[str, Any] = {"of": (), "source": "BEIR v4 and stored runs"}
    yield Table("published-lengths", "Published and computed lengths", rows, columns, **look)
    yield Note(
        [
            "The paper's finding: TAS-B retrieves very short documents, ANCE much longer ones."
            " –: not computed here."
        ]
    )
