"""Scoring some queries of a dataset again, for all its systems at once.

The scores of a dataset stand in one array; a judgement changes the columns of its query, and for
measures that count a document judged for any query those of the queries that retrieve it.
"""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from compute.errors import WrongInput
from compute.measures import Held, Measure, Places, cuts, ideal, parse, values
from compute.reading import Reading
from compute.store import Part

TOP = 10
"""The parts of kind `top` are this deep, and read quicker than the hits."""
BATCH = 500
"""Queries scored at a time: what they retrieve and have judged stays small beside the memory."""

_QUERIES = "select distinct query_id from read_parquet($files) order by query_id"
_MEASURES = "select distinct measure from read_parquet($files) order by measure"
_SCORES = """
select place, measured, number, value
from read_parquet($files) join places using (system) join measured using (measure)
join chosen using (query_id)
"""
_ANSWERED = """
select place, number
from read_parquet($files) join places using (system) join chosen using (query_id)
where rank = 1
"""
_LISTS = """
select place * $n + number as number, rank, doc_id in (select doc_id from judged) as known
from read_parquet($files) join places using (system) join chosen using (query_id)
where rank <= $shallow and query_id between $first and $last
order by all
"""
_JUDGED = """
select place * $n + number as number, rank, relevance
from read_parquet($files) join places using (system)
join (select * from judged join chosen using (query_id)) using (query_id, doc_id)
where rank <= $deep and query_id between $first and $last
order by all
"""
_LABELS = "select number, relevance from judged join chosen using (query_id)"
_RETRIEVING = """
select distinct query_id from read_parquet($files)
where rank <= $shallow and doc_id in (select unnest($documents))
"""


@dataclass(frozen=True)
class Scored:
    """The scores of a dataset: one value per system, measure and query, NaN where there is none."""

    systems: list[str]
    measures: list[str]
    queries: list[str]
    """Sorted: those of the split and those that are judged."""
    values: NDArray[np.float64]
    """[system, measure, query]."""
    followed: NDArray[np.bool_]
    """[system, measure]: whether new judgements can be followed; not where hits are cut above k."""
    answered: NDArray[np.bool_]
    """[system, query]: whether the system retrieved anything."""
    known: NDArray[np.bool_]
    """[system]: whether it is known which queries it answered."""
    files: dict[str, list[str]]
    """The files of its hits and of their top 10, by kind."""
    depth: int
    """Of the deepest hits."""

    def copy(self) -> "Scored":
        """With values of its own."""
        return replace(self, values=self.values.copy())

    def numbers(self, queries: Collection[str]) -> NDArray[np.int64]:
        """The places of those of the queries that are here, in order."""
        place = {query: number for number, query in enumerate(self.queries)}
        return np.array(sorted(place[q] for q in queries if q in place), np.int64)

    def rows(self, numbers: NDArray[np.int64]) -> pa.Table:
        """system, query_id, measure, value of some queries, without what is not followed."""
        chosen = np.where(self.followed[:, :, None], self.values[:, :, numbers], np.nan)
        place, measure, query = np.nonzero(~np.isnan(chosen))
        return pa.table(
            {
                "system": pa.array(self.systems, pa.string()).take(pa.array(place)),
                "query_id": pa.array(self.queries, pa.string()).take(pa.array(numbers[query])),
                "measure": pa.array(self.measures, pa.string()).take(pa.array(measure)),
                "value": chosen[place, measure, query],
            }
        )

    def unfollowed(self) -> pd.DataFrame:
        """system, measure: what cannot be scored with new judgements."""
        place, measure = np.nonzero(~self.followed)
        columns = [(self.systems[s], self.measures[m]) for s, m in zip(place, measure, strict=True)]
        return pd.DataFrame(columns, columns=["system", "measure"], dtype="str")

    def means(self) -> pd.DataFrame:
        """system, measure, value, value_returned, n_queries, n_unanswered, as `means` has them.

        Where it is not known what a system answered they are NaN and -1.
        """
        there = ~np.isnan(self.values)
        evaluated = there.any(axis=1)
        answered = self.answered & evaluated
        value = _mean(self.values, there)
        returned = _mean(self.values, there & answered[:, None, :])
        returned[~self.known] = np.nan
        place, measure = np.nonzero(self.followed & there.any(axis=2))
        unanswered = (evaluated.sum(axis=1) - answered.sum(axis=1))[place]
        return pd.DataFrame(
            {
                "system": np.array(self.systems, object)[place],
                "measure": np.array(self.measures, object)[measure],
                "value": value[place, measure],
                "value_returned": returned[place, measure],
                "n_queries": evaluated.sum(axis=1)[place],
                "n_unanswered": np.where(self.known[place], unanswered, -1),
            }
        )


def official(reading: Reading, cursor: DuckDBPyConnection, dataset: str) -> Scored | None:
    """The published scores of a dataset; None where there are none."""
    kinds = ("hits", "top", "scores", "queries")
    parts = {
        (part.kind, part.system): part
        for part in reading.parts.values()
        if part.dataset == dataset and part.kind in kinds
    }
    systems = sorted(system for kind, system in parts if kind == "scores")
    if not systems:
        return None
    files = {k: [str(part.path) for (kind, _), part in parts.items() if kind == k] for k in kinds}
    queries = _column(cursor, _QUERIES, files["scores"] + files["queries"])
    measures = _column(cursor, _MEASURES, files["scores"])
    _number(cursor, "places", "system", "place", systems)
    _number(cursor, "measured", "measure", "measured", measures)
    _number(cursor, "chosen", "query_id", "number", queries)
    depths = [_depth(parts.get(("hits", system))) for system in systems]
    return Scored(
        systems,
        measures,
        queries,
        values=_values(cursor, files["scores"], (len(systems), len(measures), len(queries))),
        followed=np.array([[_least(m) <= depth for m in measures] for depth in depths], np.bool_),
        answered=_answered(cursor, files["top"], (len(systems), len(queries))),
        known=np.array([("top", system) in parts for system in systems], np.bool_),
        files=files,
        depth=max(depths),
    )


def _values(
    cursor: DuckDBPyConnection, files: list[str], shape: tuple[int, int, int]
) -> NDArray[np.float64]:
    array = np.full(shape, np.nan)
    found = cursor.execute(_SCORES, {"files": files}).fetchnumpy()
    array[found["place"], found["measured"], found["number"]] = found["value"]
    return array


def _answered(
    cursor: DuckDBPyConnection, files: list[str], shape: tuple[int, int]
) -> NDArray[np.bool_]:
    array = np.zeros(shape, np.bool_)
    if files:
        found = cursor.execute(_ANSWERED, {"files": files}).fetchnumpy()
        array[found["place"], found["number"]] = True
    return array


def rescore(scored: Scored, cursor: DuckDBPyConnection, queries: Collection[str]) -> set[str]:
    """Score queries again, in place, by the relation `judged` of the cursor.

    It has query_id, doc_id, relevance: all judgements of the dataset. Returns the queries whose
    scores were computed.
    """
    numbers = scored.numbers(queries)
    measures = [parse(m) for m in scored.measures if _least(m) < sys.maxsize]
    cut = cuts(measures, scored.depth)
    for start in range(0, len(numbers), BATCH):
        _rescore(scored, cursor, numbers[start : start + BATCH], measures, cut)
    return {scored.queries[number] for number in numbers}


def rescore_across(
    scored: Scored, cursor: DuckDBPyConnection, documents: Collection[str]
) -> set[str]:
    """The same of the queries that retrieve documents which are now judged, or no longer.

    Only measures that count what is judged for any query change.
    """
    measures = [parse(m) for m in scored.measures if _least(m) < sys.maxsize]
    measures = [measure for measure in measures if measure.formula.across]
    if not measures or not documents:
        return set()
    _, shallow = cuts(measures, 0)
    found = cursor.execute(
        _RETRIEVING,
        {
            "files": scored.files["top" if shallow <= TOP else "hits"],
            "shallow": shallow,
            "documents": list(documents),
        },
    ).fetchall()
    numbers = scored.numbers([query for (query,) in found])
    numbers = numbers[~np.isnan(scored.values[:, :, numbers]).all(axis=(0, 1))]
    for start in range(0, len(numbers), BATCH):
        _rescore(scored, cursor, numbers[start : start + BATCH], measures, (0, shallow))
    return {scored.queries[number] for number in numbers}


def _rescore(
    scored: Scored,
    cursor: DuckDBPyConnection,
    numbers: NDArray[np.int64],
    measures: list[Measure],
    cut: tuple[int, int],
) -> None:
    queries = [scored.queries[number] for number in numbers]
    held = _held(scored, cursor, queries, *cut)
    judged = held.total(held.ideal).astype(np.bool_)
    for measure, found in values(held, measures, scored.depth).items():
        found = np.where(judged, found, np.nan).reshape(len(scored.systems), len(queries))
        scored.values[:, scored.measures.index(measure), numbers] = found


def _held(
    scored: Scored, cursor: DuckDBPyConnection, queries: list[str], deep: int, shallow: int
) -> Held:
    """The queries by all systems: query i by system s is number s * n + i."""
    n, systems = len(queries), len(scored.systems)
    _number(cursor, "places", "system", "place", scored.systems)
    _number(cursor, "chosen", "query_id", "number", queries)
    span = {"n": n, "first": queries[0], "last": queries[-1]}
    found: dict[str, Any] = _NOWHERE
    lists: dict[str, Any] = _NOWHERE
    if files := scored.files["hits" if shallow > TOP else "top"]:
        lists = cursor.execute(_LISTS, span | {"files": files, "shallow": shallow}).fetchnumpy()
    # Depth 0 asks for no relevance.
    if deep and (files := scored.files["hits" if deep > TOP else "top"]):
        found = cursor.execute(_JUDGED, span | {"files": files, "deep": deep}).fetchnumpy()
    labels = cursor.execute(_LABELS).df()
    best = ideal(labels)
    copies = np.repeat(np.arange(systems), len(labels)) * n
    listed = Places(lists["number"], lists["rank"], np.zeros(len(lists["rank"]), np.int64))
    return Held(
        retrieved=np.bincount(listed.query, minlength=systems * n),
        judged=Places(found["number"], found["rank"], found["relevance"]),
        ideal=Places(copies + np.tile(best.query, systems), *_tiled(best, systems)),
        known=listed.where(lists["known"].astype(np.bool_)),
    )


_NOWHERE: dict[str, Any] = {
    name: np.zeros(0, np.int64) for name in ("number", "rank", "relevance", "known")
}


def _tiled(places: Places, times: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.tile(places.rank, times), np.tile(places.relevance, times)


def _least(measure: str) -> int:
    """The depth that a run needs for a measure; beyond all for one that is not known here."""
    try:
        return parse(measure).k or 1
    except WrongInput:
        return sys.maxsize


def _depth(hits: Part | None) -> int:
    """How deep the stored hits are; what ships was cut, and scored before that."""
    if hits is None:
        return 0
    return hits.provenance.get("cut", hits.provenance.get("depth", 0))


def _column(cursor: DuckDBPyConnection, query: str, files: Sequence[str]) -> list[str]:
    return [value for (value,) in cursor.execute(query, {"files": list(files)}).fetchall()]


def _number(
    cursor: DuckDBPyConnection, table: str, column: str, number: str, names: Sequence[str]
) -> None:
    """A table of the cursor's own that numbers names."""
    content = {column: pa.array(names, pa.string()), number: np.arange(len(names))}
    cursor.register(table, pa.table(content))


def _mean(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The mean of the chosen values over queries; NaN where none is chosen."""
    number = chosen.sum(axis=2)
    total = np.where(chosen, values, 0).sum(axis=2)
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
