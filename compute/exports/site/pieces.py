"""Data with which the browser compares any two systems and shows the ranked lists of any query."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np
from pandas import DataFrame, Series

from compute.base.errors import WrongInput
from compute.datasets import Dataset
from compute.evaluate import significance
from compute.evaluate.measures import better
from compute.evaluate.tolerance import above
from compute.exports.site.asking import SiteAsk
from compute.reading.top_ranks import DEPTH
from compute.views.query import select as query_select
from compute.views.shared import standings
from compute.views.shared.theme import signed

UNIT = 1_000_000
"""Values by query are integer millionths, which are half as long as decimals."""
AT_ONCE = 20_000
"""Number of hits per piece, which then has about 200 kB."""
_SCORES = """
select dataset, query_id, system, value from scores
where dataset in (select unnest($datasets)) and measure = $measure
"""
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
where dataset = $dataset and rank <= $depth group by query_id, system order by system
"""
_GRADES = """
select query_id, doc_id, relevance from judgements semi join (
    select query_id, doc_id from top where dataset = $dataset and rank <= $depth
) using (query_id, doc_id)
where dataset = $dataset
"""


def by_query(ask: SiteAsk, dataset: Dataset, measure: str) -> dict[str, Any] | None:
    """Return all systems' values by query, and each pair's comparison; None without scores."""
    rows = ask.rows(_SCORES, datasets=list(dataset.parts) or [dataset.name], measure=measure)
    table = rows.pivot(index=["dataset", "query_id"], columns="system", values="value")
    # A system without scores on some part has no mean over all parts.
    there = rows.groupby("system")["dataset"].nunique()
    table = table[sorted(there.index[there == rows["dataset"].nunique()])]
    if table.empty:
        return None
    queries = table.index.to_frame(index=False)
    return {
        **_systems(ask, list(table)),
        "parts": queries["dataset"].tolist() if dataset.parts else [],
        "queries": queries["query_id"].tolist(),
        "unit": UNIT,
        "better": better(measure),
        "measure": measure,
        "values": [
            [None if np.isnan(value) else round(value * UNIT) for value in own]
            for own in table.to_numpy(np.float64).T
        ],
        "pairs": list(_pairs(ask, dataset, measure, table)),
    }


def _systems(ask: SiteAsk, names: list[Any]) -> dict[str, list[str]]:
    """Return the names and titles of systems on the site."""
    titles = [ask.titles.get(name, name) for name in names]
    return {"systems": [ask.called.get(name, name) for name in names], "titles": titles}


def _pairs(ask: SiteAsk, dataset: Dataset, measure: str, table: DataFrame) -> Iterator[list[Any]]:
    """Yield the row of `_pair` for every pair of systems on their shared queries."""
    systems = [str(name) for name in table]
    values, of = table.to_numpy(np.float64).T, table.index.get_level_values("dataset").to_series()
    asked: dict[str, Any] = {"datasets": [dataset.name], "systems": systems, "measure": measure}
    corrected: dict[Any, float] = {}
    with suppress(WrongInput):  # too few systems or shared queries
        among = ask(standings.among_all, **asked)
        corrected = dict(zip(zip(among["a"], among["b"], strict=True), among["p"], strict=True))
    for row in _tested(values, of):
        pair = systems[int(row["a"])], systems[int(row["b"])]
        yield _pair(row, values, corrected.get(pair), measure)


def _tested(values: np.ndarray, of: Series) -> Iterator[dict[Any, Any]]:
    """Yield the t-test of each pair with two shared queries: a row of `significance.pairs`, and
    n."""
    whole, every = not np.isnan(values).any(), range(len(values))
    for rows in [list(every)] if whole else map(list, combinations(every, 2)):
        both = np.logical_not(np.isnan(values[rows]).any(axis=0))
        about: dict[str, Any] = {"weights": significance.by_part(of[both]), "resamples": 0}
        with suppress(WrongInput):
            found = significance.pairs(values[rows][:, both], test="t", correction="none", **about)
            for row in found.to_dict("records"):
                yield row | {"a": rows[row["a"]], "b": rows[row["b"]], "n": int(both.sum())}


def _pair(
    row: dict[Any, Any], values: np.ndarray, corrected: float | None, measure: str
) -> list[Any]:
    """Return a and b, as indices; the difference a − b and its 95% interval, with signs; p of the
    t-test, and of the randomisation test corrected for all pairs, if known; and the numbers of
    shared queries, of those on which a is better, and of those on which b is better."""
    a, b = int(row["a"]), int(row["b"])
    worth = better(measure) * (values[a] - values[b])
    numbers = [signed(float(row[name]), 4) for name in ("difference", "low", "high")]
    ps = [_chance(row["p"]), "" if corrected is None else _chance(corrected)]
    ahead = int(np.sum(above(worth, 0))), int(np.sum(above(-worth, 0)))
    return [a, b, *numbers, *ps, row["n"], *ahead]


def _chance(p: float) -> str:
    """Write a p-value."""
    return "p\u00a0<\u00a0.001" if p < 0.001 else f"p\u00a0=\u00a0{f'{p:.3f}'.removeprefix('0')}"


def queries(ask: SiteAsk, dataset: Dataset) -> dict[str, Any] | None:
    """Return a dataset's queries, and their number per piece of `lists`; None without lists."""
    rows = ask.rows(_QUERIES, dataset=dataset.name)
    if rows.empty:
        return None
    named = "select distinct system from top where dataset = $dataset order by system"
    systems = ask.rows(named, dataset=dataset.name)["system"].tolist()
    shown = ask.with_texts(dataset) and rows["text"].notna().any()
    return {
        **_systems(ask, systems),
        "queries": rows["query_id"].tolist(),
        "relevant": rows["n_relevant"].tolist(),
        "at_once": max(1, AT_ONCE // (DEPTH * len(systems))),
    } | ({"texts": rows["text"].fillna("").tolist()} if shown else {})


def lists(ask: SiteAsk, dataset: Dataset, of: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the ranked lists, piece by piece; `of` is from `queries`. Each query has `docs` (ids),
    `grades` (null if unjudged) and `lists` (indices of documents by index of system); a piece may
    also have `texts`."""
    asked = {"dataset": dataset.name, "depth": DEPTH}
    places = {name: place for place, name in enumerate(of["systems"])}
    ranked: dict[str, dict[int, list[str]]] = {}
    for query, system, docs in ask.rows(_LISTS, **asked).itertuples(index=False):
        ranked.setdefault(query, {})[places[ask.called.get(system, system)]] = list(docs)
    grades: dict[str, dict[str, int]] = {}
    for query, doc, grade in ask.rows(_GRADES, **asked).itertuples(index=False):
        grades.setdefault(query, {})[doc] = int(grade)
    for start in range(0, len(of["queries"]), of["at_once"]):
        names = of["queries"][start : start + of["at_once"]]
        shown = [_one(ranked.get(name, {}), grades.get(name, {})) for name in names]
        texts = {"texts": _texts(ask, dataset, shown)} if ask.with_texts(dataset) else {}
        yield {"queries": shown} | texts


def _one(lists: dict[int, list[str]], grades: dict[str, int]) -> dict[str, Any]:
    """Return the lists of one query."""
    docs = list(dict.fromkeys(doc for own in lists.values() for doc in own))
    at = {doc: place for place, doc in enumerate(docs)}
    return {
        "docs": docs,
        "grades": [grades.get(doc) for doc in docs],
        "lists": {str(system): [at[doc] for doc in own] for system, own in sorted(lists.items())},
    }


def _texts(ask: SiteAsk, dataset: Dataset, shown: list[dict[str, Any]]) -> list[list[str]]:
    """Return id, title and text of the documents that have stored texts."""
    ids = list(dict.fromkeys(doc for one in shown for doc in one["docs"]))
    rows = ask(query_select.documents, collection=dataset.collection, doc_ids=ids)
    texts = rows[["doc_id", "title", "text"]].fillna("")
    return texts[texts["title"].ne("") | texts["text"].ne("")].to_numpy().tolist()
