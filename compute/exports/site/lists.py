"""The ranked lists of a site: ids, ranks and grades, a few queries to a piece; texts on request."""

import math
from collections.abc import Iterator
from typing import Any

from compute.datasets import Dataset
from compute.exports.site.shown import MOST_PRINTED_LETTERS, Shown
from compute.reading.top_ranks import DEPTH
from compute.views.query import select as query_select

AT_ONCE = 20_000
"""Hits in a piece: about 200 kB."""

_QUERIES = """
with relevant as (
    select query_id, count(*) filter (where relevance > 0) as n from judgements
    where dataset = $dataset group by query_id
)
select query_id, any_value(text) as text, coalesce(any_value(n), 0) as n_relevant
from top left join relevant using (query_id)
left join (select query_id, text from queries where dataset = $dataset) using (query_id)
where top.dataset = $dataset
group by query_id order by try_cast(query_id as bigint) nulls last, query_id
"""
_LISTS = """
select query_id, system, list(doc_id order by rank) as docs from top
where dataset = $dataset and rank <= $depth group by query_id, system
"""
_GRADES = """
select query_id, doc_id, relevance from judgements semi join (
    select query_id, doc_id from top where dataset = $dataset and rank <= $depth
) using (query_id, doc_id)
where dataset = $dataset
"""


def queries(shown: Shown, dataset: Dataset) -> dict[str, Any] | None:
    """The queries of a dataset in their order, and how many a piece of `pieces` has; None where no
    list is stored."""
    rows = shown.cursor.execute(_QUERIES, {"dataset": dataset.name}).df()
    if rows.empty:
        return None
    named = "select distinct system from top where dataset = ? order by system"
    systems = [name for (name,) in shown.cursor.execute(named, [dataset.name]).fetchall()]
    found = {
        "systems": [shown.called.get(name, name) for name in systems],
        "queries": rows["query_id"].tolist(),
        "relevant": rows["n_relevant"].tolist(),
        "at_once": max(1, AT_ONCE // (DEPTH * len(systems))),
    }
    if shown.with_texts(dataset) and rows["text"].notna().any():
        found["texts"] = rows["text"].fillna("").tolist()
    return found


def pieces(shown: Shown, dataset: Dataset, of: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The lists of `queries`, piece by piece. Of each query `docs` (ids), `grades` (absent for
    holes), and `lists`: by a system's place the places of its documents; and of all `texts`."""
    asked = {"dataset": dataset.name, "depth": DEPTH}
    places = {name: place for place, name in enumerate(of["systems"])}
    lists: dict[str, dict[int, list[str]]] = {}
    for query, system, docs in shown.cursor.execute(_LISTS, asked).fetchall():
        lists.setdefault(query, {})[places[shown.called.get(system, system)]] = docs
    grades: dict[str, dict[str, int]] = {}
    graded = {"dataset": dataset.name, "depth": DEPTH}
    for query, doc, grade in shown.cursor.execute(_GRADES, graded).fetchall():
        grades.setdefault(query, {})[doc] = grade
    for start in range(0, len(of["queries"]), of["at_once"]):
        names = of["queries"][start : start + of["at_once"]]
        found: dict[str, Any] = {
            "queries": [_one(lists.get(name, {}), grades.get(name, {})) for name in names]
        }
        if shown.with_texts(dataset):
            found["texts"] = _texts(shown, dataset, found["queries"])
        yield found


def _one(lists: dict[int, list[str]], grades: dict[str, int]) -> dict[str, Any]:
    docs = list(dict.fromkeys(doc for own in lists.values() for doc in own))
    at = {doc: place for place, doc in enumerate(docs)}
    return {
        "docs": docs,
        "grades": [grades.get(doc) for doc in docs],
        "lists": {str(system): [at[doc] for doc in own] for system, own in sorted(lists.items())},
    }


def _texts(shown: Shown, dataset: Dataset, found: list[dict[str, Any]]) -> list[list[str]]:
    """Id, title and text of the documents that are stored with theirs."""
    ids = list(dict.fromkeys(doc for one in found for doc in one["docs"]))
    asked = {"collection": dataset.collection, "doc_ids": ids}
    rows = shown.ask(query_select.documents, **asked)
    return [
        [row["doc_id"], _text(row["title"]), _text(row["text"])]
        for row in rows.to_dict("records")
        if _text(row["title"]) or _text(row["text"])
    ]


def _text(found: Any) -> str:
    if found is None or (isinstance(found, float) and math.isnan(found)):
        return ""
    text = str(found)
    return text if len(text) <= MOST_PRINTED_LETTERS else f"{text[:MOST_PRINTED_LETTERS]}…"
