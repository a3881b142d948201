"""The Query page's ranked lists, with two of their documents below."""

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from pandas import DataFrame

from compute.datasets import Dataset
from compute.judgements.asking import journal
from compute.views.page import (
    Ask,
    Asked,
    Beside,
    Box,
    Button,
    Column,
    Figure,
    Link,
    Note,
    Passage,
    Pick,
    Step,
    Steps,
    Table,
    Text,
    Widget,
)
from compute.views.query import select, words
from compute.views.query.ranked_lists import ranked_lists
from compute.views.shared import lost, next_steps

Rows = Mapping[str, Mapping[Hashable, Any]]
"""Documents by id: title, text, relevance."""
_TALL = 240
"""Pixels of a document's box, within which longer documents scroll."""
_FURTHER = 100
"""Most relevant documents offered although no shown list has them."""

_LAST = (
    Column("Other systems retrieving it", "others", label="Other systems"),
    Column("Lost", "lost", told="Stages at which the shown systems lose it", width=420),
)


class Shown(NamedTuple):
    """The query on the page, and the shown systems."""

    ask: Ask
    dataset: Dataset
    query_id: str
    query: str
    """Text of the query; empty if it is not stored."""
    systems: list[tuple[str, str]]
    """Name and title of each system, from left to right."""
    ranks: int
    notes: list[str]
    """Remark for the head of each list."""
    n_relevant: int

    def asked(self, query: Any, *, of_systems: bool = True, **parameters: Any) -> DataFrame:
        """Ask `query` about this query of the dataset, by default for the shown systems."""
        of: dict[str, Any] = {"dataset": self.dataset.name, "query_id": self.query_id}
        of |= {"systems": [name for name, _ in self.systems]} if of_systems else {}
        return self.ask(query, **of, **parameters)


def relevant(shown: Shown) -> Iterator[Step]:
    """Yield a table of relevant documents, with the rank in each shown list and the number of other
    systems that retrieve them."""
    found = shown.asked(select.relevant, of_systems=False)
    rows = found.drop_duplicates("doc_id")[["doc_id", "relevance"]]
    names = [name for name, _ in shown.systems]
    for name in names:
        ranks = found[found["system"] == name].set_index("doc_id")["rank"]
        rows = rows.assign(**{f"rank {name}": rows["doc_id"].map(ranks).astype("Int64")})
    others = found[found["system"].notna() & ~found["system"].isin(names)]
    counts = others.groupby("doc_id").size()
    about = {"collection": shown.dataset.collection, "doc_ids": rows["doc_id"].tolist()}
    texts = shown.ask(select.documents, **about)
    titles = {row["doc_id"]: words.name_of(row)[:100] for row in texts.to_dict("records")}
    rows = rows.assign(
        others=rows["doc_id"].map(counts).fillna(0).astype(int),
        title=[titles.get(name, "") for name in rows["doc_id"]],
        lost=rows["doc_id"].map(_lost(shown)),
    )
    columns = [Column("Document", "doc_id"), *[Column("Title", "title")] * bool(titles)]
    columns += [Column("Grade", "relevance")]
    columns += [Column(f"Rank: {title}", f"rank {name}") for name, title in shown.systems]
    columns += _LAST
    yield Table(
        "relevant",
        "Relevant documents for the query",
        rows,
        columns,
        opens=Link(carried=("document",)),
        carried=rows[["doc_id"]].to_numpy().tolist(),
        of=("dataset", "systems", "query"),
    )
    yield Note(["–: not in the stored list. Click a row to read the document above."])


def _lost(shown: Shown) -> dict[str, str]:
    """Say for each relevant document, by id, at which stages the shown systems lose it."""
    titles, found = [title for _, title in shown.systems], shown.asked(lost.of_query)
    rows = found.itertuples(index=False, name=None)
    return {doc_id: lost.line(dict(zip(titles, of, strict=True))) for doc_id, *of in rows}


def lists(shown: Shown) -> Steps:
    """Yield the ranked lists and the documents to read."""
    places = {name: place for place, (name, _) in enumerate(shown.systems)}
    # The leftmost list comes first, since its top document is read first.
    hits = shown.asked(select.listed, depth=shown.ranks)
    hits = hits.sort_values("system", key=lambda names: names.map(places), kind="stable")
    asked = yield Asked("document")
    further = _further(shown, hits, asked)
    hits, further = _with_texts(shown, hits, further)
    missed = {name: f"{line} · in none of the lists" for name, line in words.names(further).items()}
    pick = Pick("document", "Document", words.names(hits) | missed)
    chosen = pick.value(asked)
    look: Any = {"chosen": chosen, "notes": shown.notes, "depth": shown.ranks}
    yield Figure(
        "lists",
        "Ranked lists",
        partial(ranked_lists, hits, shown.systems, **look),
        " ".join(words.SIGNS),
        opens=Link(carried=("document",)),
        of=("dataset", "systems", "ranks", "query"),
    )
    yield Note([f"Relevant documents for this query: {shown.n_relevant:,}."])
    if chosen:
        rows = {row["doc_id"]: row for one in (further, hits) for row in one.to_dict("records")}
        left = partial(_document, shown, pick, rows, chosen)
        yield Beside([left, partial(_another, shown, pick, rows, hits, chosen)], gap="medium")


def _further(shown: Shown, hits: DataFrame, asked: str) -> DataFrame:
    """Return doc_id, relevance of relevant documents (and the address's) that no shown list has."""
    judged = shown.asked(select.judged, of_systems=False)
    judged = judged[~judged["doc_id"].isin(hits["doc_id"])]
    wanted = judged.loc[judged["relevance"] > 0, "doc_id"].head(_FURTHER).tolist()
    if asked and asked not in wanted and asked not in set(hits["doc_id"]):
        wanted += [asked] if len(shown.asked(select.places, doc_id=asked)) else []
    frame = DataFrame({"doc_id": wanted}, dtype="str").merge(judged, on="doc_id", how="left")
    return frame.astype({"relevance": "Int64"})


def _with_texts(shown: Shown, *frames: DataFrame) -> list[DataFrame]:
    """Add title and text of each document to the frames; absent if texts are not loaded. All are
    read at once because finding documents takes longer than reading them."""
    ids = dict.fromkeys(name for frame in frames for name in frame["doc_id"])
    collection = shown.dataset.collection
    texts = shown.ask(select.documents, collection=collection, doc_ids=list(ids))
    return [frame.merge(texts, on="doc_id", how="left") for frame in frames]


def _document(shown: Shown, pick: Pick, rows: Rows, chosen: str) -> Steps:
    """Yield the chosen document, or how to load its text. If it is unjudged, it can be judged."""
    yield pick
    pair = {"query_id": shown.query_id, "doc_id": chosen}
    yield Widget("judge", {"dataset": shown.dataset, **pair})
    yield Box(partial(_text, shown, chosen, rows[chosen]), height=_TALL)
    yield Widget("in_view")


def _another(shown: Shown, pick: Pick, rows: Rows, hits: DataFrame, chosen: str) -> Steps:
    """Yield a second document to compare, by default the best one of the next list."""
    listed = hits[hits["doc_id"] != chosen]
    if listed.empty:
        return
    next_list = listed[listed["system"] != shown.systems[0][0]]
    first = (listed if next_list.empty else next_list)["doc_id"].iloc[0]
    names = {name: line for name, line in pick.shown.items() if name != chosen}
    other = yield Pick("beside", "Compare with", {first: names[first]} | names)
    yield Box(partial(_text, shown, other, rows[other]), height=_TALL)


def _text(shown: Shown, doc_id: str, row: Mapping[Hashable, Any]) -> Steps:
    if isinstance(row["text"], str):
        yield Passage(row["title"], row["text"], shown.query)
    else:
        yield Text(next_steps.without_texts(shown.dataset))
        if shown.dataset.group == "own":
            form = Link("data", {"show": "Import", "to": shown.dataset.name})
            yield Button("Add texts", form, told=f"Import documents such as {doc_id}")
    places = shown.asked(select.places, doc_id=doc_id)
    judged = f"{doc_id}: {words.said(row['relevance'])}."
    yield Note([judged, *words.placed(places, shown.systems), *_by_machines(shown, doc_id)])


def _by_machines(shown: Shown, doc_id: str) -> list[str]:
    """Return each LLM's grade with its reason, if known: `gpt: grade 2 (“It names a tanker.”).`"""
    graded = shown.asked(select.graded, of_systems=False, doc_id=doc_id)
    if graded.empty:
        return []
    said = journal.reasons(shown.ask.store, shown.dataset.name, shown.query_id, doc_id)
    told = [f" (“{said[name]}”)" if said.get(name) else "" for name in graded["machine"]]
    rows = zip(graded["machine"], graded["relevance"], told, strict=True)
    return [f"{name}: grade {grade}{reason}." for name, grade, reason in rows]
