"""The Query page: ranked lists of up to four systems side by side, with texts and judgements."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.datasets import Dataset
from compute.evaluate.measures import parse
from compute.evaluate.score_breakdown import explain, explains
from compute.views.page import (
    Ask,
    Asked,
    Beside,
    Button,
    Choice,
    Column,
    Few,
    Figure,
    Link,
    Message,
    Note,
    Offered,
    Passage,
    Pick,
    Recalled,
    Remember,
    Row,
    Section,
    Step,
    Steps,
    Table,
    Widget,
    Words,
    folded,
    offers,
)
from compute.views.query import augmented, documents, score_breakdown, select, words
from compute.views.shared import catalogue

PLAIN = "bm25-wordpiece"
"""The system that searches with the original query, to compare with augmented systems."""
_BARS = 560
_SIDES = ["A and B: the first two systems."]
_NO_SUM = " is not a sum over ranks. Choose a measure such as nDCG@10."
_DESCRIBE = "Reasons are descriptive. Compare tests them on runs stored after the last was given."
_REWRITTEN, _VALUES = ("dataset", "query"), ("dataset", "systems", "query")


class View(NamedTuple):
    """Values of the controls."""

    ask: Ask
    dataset: Dataset
    systems: list[tuple[str, str]]
    """Name and title of each system, from left to right."""
    measure: str
    order: str
    ranks: int
    find: str

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [name for name, _ in self.systems]


def page(ask: Ask) -> Steps:
    """Yield the page's controls and parts in screen order."""
    runs = ask(catalogue.runs)
    if runs.empty:
        yield Message(offers.NO_LISTS)
        return
    view: View = yield Row(partial(_controls, ask, runs))
    yield Remember(view.names)
    if not view.systems:
        yield Message("Choose up to four systems.")
        return
    yield Widget("texts", {"dataset": view.dataset})
    row = yield from _query(view)
    if row is None:
        return
    query_id, measure, name = row["query_id"], view.measure, view.dataset.name
    text = row["text"] if isinstance(row["text"], str) else ""
    of = {"dataset": name, "query_id": query_id}
    values = ask(select.query_values, systems=view.names, **of)
    notes = words.notes(values, view.systems, measure)
    about = view.systems, view.ranks, notes, row["n_relevant"]
    shown = documents.Shown(ask, view.dataset, query_id, text, *about)
    yield from offers.first_runs(ask, [name], view.names)
    yield Section(partial(documents.lists, shown), holds=["lists"], asks=["beside"])
    if row["n_relevant"]:
        yield folded(partial(documents.relevant, shown), ["relevant"], "Relevant documents")
    why = partial(_why, view, of, values)
    yield folded(why, ["gains", "sum"], f"{measure} breakdown", ["sum"])
    yield from _augmented(view, of)
    yield _by_every_measure(ask, view, values)
    yield from _with_reasons(view, row["n_queries"])
    yield _to_the_map(view, query_id)


def _with_reasons(view: View, n_queries: int) -> Iterator[Step]:
    rows = view.ask(select.reasons, dataset=view.dataset.name)
    if len(rows):
        shown, keys = partial(_reasons, rows, n_queries), ["reasons", "by_reason"]
        yield folded(shown, keys, "Reasons given to queries")


def _reasons(rows: DataFrame, n_queries: int) -> Iterator[Step]:
    """Yield the number of queries with each reason, and a list of these queries."""
    counts = rows["reason"].value_counts().rename_axis("reason").reset_index(name="n")
    counts = counts.assign(share=counts["n"] / n_queries)
    columns = [Column("Reason", "reason"), Column("Queries", "n")]
    columns += [Column("Share", "share", "{:.0%}".format)]
    yield Table("reasons", "Queries by reason", counts, columns, of=("dataset",))
    columns = [Column("Query", "query_id"), *columns[:1]]
    columns += [Column("Text", "text")] * bool(rows["text"].notna().any())
    yield Table(
        "by_reason",
        "Queries with a reason",
        rows.fillna({"text": ""}),
        columns,
        opens=Link(carried=("query",)),
        carried=rows[["query_id"]].to_numpy().tolist(),
        of=("dataset",),
    )
    yield Note([_DESCRIBE])


def _by_every_measure(ask: Ask, view: View, values: DataFrame) -> Section:
    rows = words.value_rows(values, view.systems)
    columns = words.value_columns(rows, ask.measures())
    table = Table("values", "Scores of the query by measure", rows, columns, of=_VALUES)
    return folded([table], ["values"], "Scores by every measure")


def _controls(ask: Ask, runs: DataFrame) -> Steps:
    name = yield offers.dataset_with_lists(ask, runs)
    known = runs.loc[runs["dataset"] == name, "system"].tolist()
    systems = yield from _systems(ask, known, name)
    measure = yield offers.measure(ask)
    titles = {name: title for name, (_, title) in words.ORDERS.items()}
    order = yield Choice("order", "Sort by", list(titles), titles=titles, told=_SIDES, width=190)
    ranks = yield Choice("ranks", "Depth (k)", words.RANKS, width=100)
    find = yield Words("find", "Find in queries", width=150)
    titled = words.titled(systems, ask(catalogue.systems))
    dataset = offers.record(ask, name)
    order = words.by_value(order, measure)
    return View(ask, dataset, titled, measure, order, int(ranks), find)


def _systems(ask: Ask, known: Sequence[str], dataset: str) -> Steps:
    """Yield a picker of systems, which the address may also name as a and b."""
    pair = offers.usual_pair(ask, known, dataset)
    named = [(yield Asked("a")), (yield Asked("b"))]
    instead = [name or usual for name, usual in zip(named, pair, strict=True)]
    last = yield Recalled("systems")
    return (
        yield Few(
            "systems",
            "Systems",
            offers.with_versions(ask, known, [dataset]),
            known,
            instead=instead if any(named) else (),
            replaces=("a", "b"),
            usual=(last or (), pair),
            noun=f"run on {dataset}",
            titles=offers.system_titles(ask),
            told=offers.told(known),
            width=370,
            empty="up to four",
        )
    )


def _query(view: View) -> Steps:
    """Yield a picker of a query between Previous and Next, by default the address's query, else the
    first. Return its row of `select.queries`, or None if no query matches the search."""
    name, (a, b) = view.dataset.name, (*view.names, "")[:2]
    left = f"query of {name}"
    of = {"measure": view.measure, "a": a, "b": b, "order": view.order, "find": view.find}
    usual = (yield Recalled(left, since=tuple(of.values()))) or ""
    asked = yield Asked("query")
    rows = view.ask(select.queries, dataset=name, keep=asked or usual, **of)
    if rows.empty:
        yield Message(f"No query contains {view.find!r}.")
        return None
    known = {row["query_id"]: row for row in rows.to_dict("records")}
    shown = {query_id: words.option(row) for query_id, row in known.items()}
    pick = Pick("query", "Query", shown, usual, remembered=left)
    row = known[pick.value(asked)]
    yield Row(partial(_steps, view, pick, row))
    yield Note([words.found(row, view.find, len(rows))])
    query_id, text = row["query_id"], row["text"]
    told = view.ask(catalogue.narratives, dataset=name, query_ids=[query_id])["text"]
    passage = next(iter(told.dropna()), "")
    yield Passage((isinstance(text, str) and text) or f"Query {query_id}", passage)
    yield Widget("reasons", {"dataset": view.dataset, "query_id": query_id})
    return row


def _steps(view: View, pick: Pick, row: Mapping[Hashable, Any]) -> Steps:
    if not view.find:
        yield Offered("query", options=list(pick.shown), noun=f"query of {view.dataset.name}")
    yield _step("Previous", row["previous"], "chevron_left")
    yield pick
    yield _step("Next", row["next"], "chevron_right")


def _step(label: str, query_id: object, icon: str) -> Button:
    """Return the button Previous or Next; `query_id` is absent at the end of the list."""
    there = isinstance(query_id, str)
    link = Link(names={"query": query_id} if isinstance(query_id, str) else {})
    return Button(label, link, icon=icon, shortcut=label[0], disabled=not there)


def _why(view: View, of: Mapping[str, Any], values: DataFrame) -> Steps:
    """Yield the breakdown of the score as a figure and a table, next to the ideal order."""
    measure, titles = view.measure, dict(view.systems)
    if not explains(measure):
        yield Note([f"{measure}{_NO_SUM}"])
        return
    hits = view.ask(select.listed, systems=view.names, depth=parse(measure).k or 0, **of)
    judged = view.ask(select.judged, **of)
    if judged.empty:
        yield Note(["This query has no judged documents and therefore no score."])
        return
    found = {name: explain(hits[hits["system"] == name], judged, measure) for name in view.names}
    drawn = partial(score_breakdown.gains, [(titles[name], one) for name, one in found.items()])
    said = "Blue: contribution of the document at a rank; pale: ideal order."
    title, about = f"Contribution of each rank to {measure}", (*_VALUES, "measure")
    yield Figure("gains", title, drawn, said, of=about)
    shown = view.names[0]
    if len(found) > 1:
        look: dict[str, Any] = {"titles": titles, "side_by_side": True}
        shown = yield Choice("sum", "Details for", view.names, **look)
    rows, title = score_breakdown.table(found[shown]), titles[shown]
    height, head = None if len(rows) <= 12 else 420, f"{measure} of {title}, rank by rank"
    yield Table("sum", head, rows, height=height, of=(*about[:2], "sum", *about[2:]))
    stored = values[(values["system"] == shown) & (values["measure"] == measure)]["value"]
    yield Note([score_breakdown.conclusion(found[shown], next(iter(stored), None), title)])


def _augmented(view: View, of: Mapping[str, Any]) -> Steps:
    """Yield the words of the query for each shown system that rewrote it, and their effect."""
    asked, titles = view.ask(select.augmented, systems=view.names, **of), dict(view.systems)
    for system, query in asked.groupby("system", sort=False):
        name = str(system)
        rewritten, keys = partial(_rewritten, view, of, name, query), ("augmented", "moved")
        head = f"Augmented query of {titles.get(name, name)}"
        yield folded(rewritten, [f"{key}-{name}" for key in keys], head)


def _rewritten(view: View, of: Mapping[str, Any], system: str, query: DataFrame) -> Steps:
    """Yield the words of a rewritten query, and the changes in its top ten."""
    query = augmented.relative(query)
    title = "Weights of the words of the query"
    figure = Figure(f"augmented-{system}", title, partial(augmented.bars, query), of=_REWRITTEN)
    yield Beside([[figure]], widths=(_BARS,))
    yield Note(
        [augmented.told(query), "Longer bars: larger weights. A piece with ## continues a word."],
    )
    hits = view.ask(select.listed, systems=[system, PLAIN], depth=10, **of)
    if PLAIN not in set(hits["system"]):
        yield Note([f"To see the effect on the ranking, run {PLAIN} on this dataset."])
        return
    rows = augmented.moved(hits, system, PLAIN)
    yield Table(
        f"moved-{system}",
        "Effect of augmentation on the ranking",
        rows,
        augmented.MOVED,
        of=_REWRITTEN,
    )
    yield Note([f"Top 10 with the augmented and the original query ({PLAIN})."])


def _to_the_map(view: View, query_id: str) -> Button:
    """Return a link to the map of the first two systems at this query."""
    named = dict(zip(("system", "other"), view.names, strict=False))
    at = {"dataset": view.dataset.name, "measure": view.measure, "query": query_id}
    return Button("Open in the relevance map", Link("map", at | named))
