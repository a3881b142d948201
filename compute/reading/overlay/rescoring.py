"""Rescoring of some queries of a dataset, for all its systems at once. The scores of a dataset are
one array. A judgement changes the values of its query and, for measures that depend on judgements
for any query, the values of other queries that retrieve the document."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from compute.base.errors import WrongInput
from compute.evaluate.measures import MEASURES, Measure, cuts, ideal, parse
from compute.evaluate.query_values import Held, Places
from compute.evaluate.scored_measures import kept, more_of, reaches
from compute.store import repeats
from compute.store.kinds import OF_RUNS
from compute.store.store import Part

KINDS = ("hits", "top", "scores", "queries", *OF_RUNS)
TOP = 10
"""Depth of the parts of the kind `top`, which are read faster than the hits."""
LISTED = 100
"""Depth of the deepest lists that are kept for Judged@k and Hole@k, for all systems and queries."""
BATCH = 500
"""Number of queries scored at a time, so that their hits and judgements take little memory."""

_QUERIES = "select distinct query_id from read_parquet($files) order by query_id"
_MEASURES = "select distinct measure from read_parquet($files) order by measure"
_SCORES = """
select place, measured, number, value
from {rows} join places using (system, run) join measured using (measure)
join chosen using (query_id)
"""
_DOCUMENTS = """
select doc_id, row_number() over () - 1 as code
from (select distinct doc_id from {rows} where rank <= $shallow)
"""
_LISTS = """
select place, number, rank - 1 as rank, code
from {rows} join places using (system, run) join chosen using (query_id)
join documents using (doc_id)
where rank <= $shallow
"""
_KNOWN = """
select code from documents where doc_id in (select doc_id from judged)
"""
_CODES = """
select code, doc_id in (select doc_id from judged) as known from documents
where doc_id in (select unnest($documents))
"""
_JUDGED = """
select place * $n + number as number, rank, relevance
from {rows} join places using (system, run)
join (select * from judged join chosen using (query_id)) using (query_id, doc_id)
where rank <= $deep and query_id between $first and $last
order by all
"""
_LABELS = "select number, relevance from judged join chosen using (query_id)"
_ROWS = "(select *, 1 as run from read_parquet($files))"
_OF_RUNS = f"({_ROWS} union all by name select * from read_parquet($runs))"
"""The first run of every system, and the further runs of those that have several."""
_UNJUDGED = sorted(MEASURES)
"""Measures for runs that have no scores, once something is judged."""
_NO_DOCUMENTS = pa.table({"doc_id": pa.array([], pa.string()), "code": pa.array([], pa.int64())})


_Parts = Mapping[tuple[str, str], Part]
"""Parts by kind and system."""


@dataclass(frozen=True)
class Scored:
    """The scores of a dataset: one value per system, measure and query, NaN if there is none. A
    system with several runs has a row for each run."""

    systems: list[str]
    runs: list[int]
    """The number of each row's run, from 1."""
    measures: list[str]
    queries: list[str]
    """The queries of the split and all judged queries, sorted."""
    values: NDArray[np.float64]
    """Value by [system, measure, query]."""
    followed: NDArray[np.bool_]
    """Whether new judgements can be applied, which needs hits down to k, by [system, measure]."""
    lists: NDArray[np.int32]
    """Codes of the retrieved documents, down to the depth of Hole@k, by [system, query, rank from
    0]; -1 if there is none."""
    documents: pa.Table
    """doc_id and code of each document in the lists."""
    known: NDArray[np.bool_]
    """Whether the document is judged for any query, by [code]."""
    tops: NDArray[np.bool_]
    """Whether the system's top hits are stored, by [system]."""
    hits: list[str]
    """The files of the hits, or of the top ranks if the measures need no more."""
    repeats: list[str]
    """The files of the hits of further runs."""
    depth: int
    """The depth of the deepest hits."""

    def copy(self) -> "Scored":
        """Return a copy with its own values and known documents."""
        return replace(self, values=self.values.copy(), known=self.known.copy())

    def numbers(self, queries: Collection[str]) -> NDArray[np.int64]:
        """Return the indexes of these queries in `queries`, in order; unknown ones are left out."""
        place = {query: number for number, query in enumerate(self.queries)}
        return np.array(sorted(place[q] for q in queries if q in place), np.int64)

    def averaged(self) -> "Scored":
        """Return these scores with one row per system. A system with several runs gets the means
        over the runs with a value, and the first run's list."""
        first = np.flatnonzero(np.array(self.runs) == 1)
        if len(first) == len(self.runs):
            return self
        there = ~np.isnan(self.values)
        total = np.add.reduceat(np.where(there, self.values, 0), first)
        number = np.add.reduceat(there.astype(np.int64), first)
        values = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
        return self._of(first, values)

    def by_run(self) -> "Scored":
        """Return only the rows of the systems with several runs."""
        several = {name for name, run in zip(self.systems, self.runs, strict=True) if run > 1}
        own = np.flatnonzero([name in several for name in self.systems])
        return self._of(own, self.values[own])

    def _of(self, rows: NDArray[np.int64], values: NDArray[np.float64]) -> "Scored":
        names, runs = ([of[row] for row in rows] for of in (self.systems, self.runs))
        some = {name: getattr(self, name)[rows] for name in ("followed", "lists", "tops")}
        return replace(self, systems=names, runs=runs, values=values, **some)

    def rows(self, numbers: NDArray[np.int64]) -> pa.Table:
        """Return system, run, query_id, measure, value of queries, where `followed` is true."""
        chosen = np.where(self.followed[:, :, None], self.values[:, :, numbers], np.nan)
        place, measure, query = np.nonzero(~np.isnan(chosen))
        return pa.table(
            {
                "system": pa.array(self.systems, pa.string()).take(pa.array(place)),
                "run": pa.array(self.runs, pa.int32()).take(pa.array(place)),
                "query_id": pa.array(self.queries, pa.string()).take(pa.array(numbers[query])),
                "measure": pa.array(self.measures, pa.string()).take(pa.array(measure)),
                "value": chosen[place, measure, query],
            }
        )

    def unfollowed(self) -> pd.DataFrame:
        """Return system, measure of values to which new judgements cannot be applied."""
        place, measure = np.nonzero(~self.followed)
        columns = [(self.systems[s], self.measures[m]) for s, m in zip(place, measure, strict=True)]
        return pd.DataFrame(columns, columns=["system", "measure"], dtype="str")

    def means(self) -> pd.DataFrame:
        """Return system, measure, value, value_returned, n_queries, n_unanswered, as in `means`. If
        it is unknown which queries a system answered, value_returned is NaN and n_unanswered -1."""
        there = ~np.isnan(self.values)
        evaluated = there.any(axis=1)
        answered = evaluated & (self.lists[:, :, 0] >= 0)
        value = _mean(self.values, there)
        returned = value.copy()
        # Most systems answer every query.
        lacking = (evaluated != answered).any(axis=1)
        returned[lacking] = _mean(
            self.values[lacking], there[lacking] & answered[lacking][:, None, :]
        )
        returned[~self.tops] = np.nan
        place, measure = np.nonzero(self.followed & there.any(axis=2))
        unanswered = (evaluated.sum(axis=1) - answered.sum(axis=1))[place]
        return pd.DataFrame(
            {
                "system": np.array(self.systems, object)[place],
                "measure": np.array(self.measures, object)[measure],
                "value": value[place, measure],
                "value_returned": returned[place, measure],
                "n_queries": evaluated.sum(axis=1)[place],
                "n_unanswered": np.where(self.tops[place], unanswered, -1),
            }
        )


def official(
    live: Iterable[Part], cursor: DuckDBPyConnection, dataset: str, anew: Sequence[str] = ()
) -> Scored | None:
    """Return the published scores of a dataset in these parts; None if there are none. The cursor's
    relation `judged` must have the dataset's official judgements. Measures in `anew` replace the
    stored ones; they have no values until `rescore` computes them for all queries."""
    of_dataset = [part for part in live if part.dataset == dataset and part.kind in KINDS]
    parts = {(part.kind, part.system): part for part in of_dataset}
    systems, runs = _runs(parts)
    if not systems:
        return None
    files = {k: [str(part.path) for (kind, _), part in parts.items() if kind == k] for k in KINDS}
    queries = _column(cursor, _QUERIES, files["scores"] + files["queries"])
    measures = list(anew) or _column(cursor, _MEASURES, files["scores"]) or _UNJUDGED
    _place(cursor, systems, runs, queries)
    _number(cursor, "measured", "measure", "measured", measures)
    hits = [parts.get(("hits", system)) for system in systems]
    scored = [] if anew else [parts["scores", system] for system in systems]
    shape, depth = (len(systems), len(queries)), max(kept(run) if run else 0 for run in hits)
    deep, deepest = cuts(_known_measures(measures), depth)
    lists, documents, known = _lists(cursor, files, (*shape, max(deepest, 1)))
    return Scored(
        systems,
        runs,
        measures,
        queries,
        values=_values(cursor, parts, (shape[0], len(measures), shape[1])),
        followed=_followed(hits, scored, measures),
        lists=lists,
        documents=documents,
        known=known,
        tops=np.array([("top", system) in parts for system in systems], np.bool_),
        hits=files["top" if deep <= TOP and _all_topped(parts) else "hits"],
        repeats=files["repeats"],
        depth=depth,
    )


def _runs(parts: _Parts) -> tuple[list[str], list[int]]:
    """Return system and number of the runs of all scored systems, as two lists."""
    found = []
    for system in sorted(system for kind, system in parts if kind == "scores"):
        further = repeats.recorded(parts.get(("repeats", system)))
        found += [(system, run) for run in range(1, len(further) + 2)]
    return [system for system, _ in found], [run for _, run in found]


def _all_topped(parts: Collection[tuple[str, str]]) -> bool:
    """Return whether exactly the runs with hits have separately stored top ranks."""
    topped, listed = ({s for k, s in parts if k == kind} for kind in ("top", "hits"))
    return topped == listed


def _values(
    cursor: DuckDBPyConnection, parts: _Parts, shape: tuple[int, int, int]
) -> NDArray[np.float64]:
    """Return the stored values by system, measure and query; NaN if there is none."""
    array = np.full(shape, np.nan)
    runs = [str(part.path) for (kind, _), part in parts.items() if kind == "run_scores"]
    single = (key for key in parts if key[0] == "scores" and ("repeats", key[1]) not in parts)
    files = [str(parts[key].path) for key in single]
    rows = [_ROWS] * bool(files) + [_ROWS.replace("*, 1 as run", "*")] * bool(runs)
    for source, of in zip(rows, filter(None, (files, runs)), strict=True):
        found = _arrays(cursor, _SCORES.format(rows=source), files=of)
        array[found["place"], found["measured"], found["number"]] = found["value"]
    return array


def _lists(
    cursor: DuckDBPyConnection, files: dict[str, list[str]], shape: tuple[int, int, int]
) -> tuple[NDArray[np.int32], pa.Table, NDArray[np.bool_]]:
    """Return codes by [system, query, rank from 0]; doc_id, code; and by code, if it is judged."""
    array, shallow = np.full(shape, -1, np.int32), shape[2]
    rows, read = _source(files["top" if shallow <= TOP else "hits"], files["repeats"])
    if not read["files"]:
        return array, _NO_DOCUMENTS, np.zeros(0, np.bool_)
    read |= {"shallow": shallow}
    documents = cursor.sql(_DOCUMENTS.format(rows=rows), params=read).to_arrow_table()
    cursor.register("documents", documents)
    found = _arrays(cursor, _LISTS.format(rows=rows), **read)
    array[found["place"], found["number"], found["rank"]] = found["code"]
    known = np.zeros(documents.num_rows, np.bool_)
    known[_arrays(cursor, _KNOWN)["code"]] = True
    return array, documents, known


def _source(files: list[str], runs: list[str]) -> tuple[str, dict[str, Any]]:
    """Return the hits as SQL, and its parameters."""
    return (_OF_RUNS, {"files": files, "runs": runs}) if runs else (_ROWS, {"files": files})


def _place(
    cursor: DuckDBPyConnection, systems: Sequence[str], runs: Sequence[int], queries: Sequence[str]
) -> None:
    """Register the tables `places` and `chosen`, which number runs and queries, on the cursor."""
    names, numbers = pa.array(systems, pa.string()), pa.array(runs, pa.int32())
    content = {"system": names, "run": numbers, "place": np.arange(len(systems))}
    cursor.register("places", pa.table(content))
    _number(cursor, "chosen", "query_id", "number", queries)


def rescore(
    scored: Scored,
    cursor: DuckDBPyConnection,
    queries: Collection[str],
    documents: Collection[str],
) -> set[str]:
    """Rescore queries in place by the cursor's relation `judged`, which has query_id, doc_id,
    relevance of all judgements of the dataset; return the queries affected. `documents` have become
    judged for some query, or are no longer: in measures that count such documents, they affect
    other queries that retrieve them."""
    if not scored.measures:
        return set()
    cursor.register("documents", scored.documents)
    codes = _arrays(cursor, _CODES, documents=list(documents))
    scored.known[codes["code"]] = codes["known"]
    measures = _known_measures(scored.measures)
    numbers = scored.numbers(queries)
    _rescore(scored, cursor, numbers, measures, cuts(measures, scored.depth)[0])
    across = [measure for measure in measures if measure.formula.across]
    retrieving = np.isin(scored.lists, codes["code"]).any(axis=(0, 2))
    evaluated = ~np.isnan(scored.values[:, :, retrieving]).all(axis=(0, 1))
    others = np.setdiff1d(np.nonzero(retrieving)[0][evaluated], numbers)
    if across:
        # These measures do not depend on the relevance.
        _rescore(scored, cursor, others, across, 0)
    moved = [*numbers, *(others if across else ())]
    return {scored.queries[number] for number in moved}


def _known_measures(names: Sequence[str]) -> list[Measure]:
    return [measure for measure in map(_updatable, names) if measure]


def _rescore(
    scored: Scored,
    cursor: DuckDBPyConnection,
    numbers: NDArray[np.int64],
    measures: list[Measure],
    deep: int,
) -> None:
    """Compute these measures for these queries of all systems, a batch at a time."""
    for start in range(0, len(numbers), BATCH):
        some = numbers[start : start + BATCH]
        held = _held(scored, cursor, some, deep)
        judged = held.total(held.ideal).astype(np.bool_)
        for measure in measures:
            found = np.where(judged, measure.values(held), np.nan)
            found = found.reshape(len(scored.systems), len(some))
            scored.values[:, scored.measures.index(str(measure)), some] = found


def _held(
    scored: Scored, cursor: DuckDBPyConnection, numbers: NDArray[np.int64], deep: int
) -> Held:
    """Return what measures need of these queries: query i of system s has the number s * n + i."""
    n, systems = len(numbers), len(scored.systems)
    queries = [scored.queries[number] for number in numbers]
    _place(cursor, scored.systems, scored.runs, queries)
    found: dict[str, Any] = {
        name: np.zeros(0, np.int64) for name in ("number", "rank", "relevance")
    }
    if deep and scored.hits:
        span = {"n": n, "first": queries[0], "last": queries[-1], "deep": deep}
        rows, read = _source(scored.hits, scored.repeats)
        found = _arrays(cursor, _JUDGED.format(rows=rows), **read, **span)
    labels = cursor.execute(_LABELS).df()
    best = ideal(labels)
    copies = np.repeat(np.arange(systems), len(labels)) * n
    codes = scored.lists[:, numbers, :].reshape(systems * n, -1)
    number, rank = np.nonzero((codes >= 0) & np.append(scored.known, False)[codes])
    return Held(
        retrieved=(codes >= 0).sum(axis=1),
        judged=Places(found["number"], found["rank"], found["relevance"]),
        ideal=Places(
            copies + np.tile(best.query, systems),
            np.tile(best.rank, systems),
            np.tile(best.relevance, systems),
        ),
        known=Places(number, rank + 1, np.zeros(len(rank), np.int64)),
    )


def _updatable(name: str) -> Measure | None:
    """Return the measure; None if it is unknown here, needs longer lists, or counts subtopics,
    which added judgements do not have."""
    try:
        measure = parse(name)
    except WrongInput:
        return None
    return None if measure.formula.diverse or cuts([measure], 0)[1] > LISTED else measure


def _followed(
    hits: Sequence[Part | None], scores: Sequence[Part], measures: Sequence[str]
) -> NDArray[np.bool_]:
    """Return by [system, measure] whether the values can be updated for new judgements. Without
    `scores`, all queries are rescored by any measure."""
    own = [set(more_of(part)) for part in scores] or [set() for _ in hits]
    # For a run without stored values of a measure, its mean would be over only rescored queries.
    absent = [set().union(*own) - scored for scored in own]
    found = [
        [_follows(run, measure) and measure not in lacking for measure in measures]
        for run, lacking in zip(hits, absent, strict=True)
    ]
    return np.array(found, np.bool_)


def _follows(hits: Part | None, name: str) -> bool:
    """Return whether the stored hits are deep enough to be rescored by a measure."""
    measure = _updatable(name)
    return hits is not None and measure is not None and reaches(measure, hits)


def _column(cursor: DuckDBPyConnection, query: str, files: Sequence[str]) -> list[str]:
    return [value for (value,) in cursor.execute(query, {"files": list(files)}).fetchall()]


def _arrays(cursor: DuckDBPyConnection, query: str, **params: Any) -> dict[str, Any]:
    return cursor.execute(query, params).fetchnumpy()


def _number(
    cursor: DuckDBPyConnection, table: str, column: str, number: str, names: Sequence[str]
) -> None:
    """Register a table on the cursor that numbers these names."""
    content = {column: pa.array(names, pa.string()), number: np.arange(len(names))}
    cursor.register(table, pa.table(content))


def _mean(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the means of the chosen values over queries; NaN if none is chosen."""
    number = chosen.sum(axis=2)
    total = values.sum(axis=2, where=chosen)
    return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
