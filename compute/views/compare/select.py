"""Questions the Compare page asks: two systems, query by query. `datasets` is one dataset, or all
parts of a dataset, whose mean is the mean of its parts' means."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate import rbo, significance
from compute.evaluate.families import FEWEST_EFFECTIVE, effective
from compute.reading import one_kind, query_families
from compute.reading.questions import question, select
from compute.views.compare import differences
from compute.views.shared import matrices
from compute.views.shared.matrices import numbered
from compute.views.shared.part_files import files

Cursor = DuckDBPyConnection


@select()
def runs() -> str:
    """Select dataset, title and system of every run with scores or lists. Datasets with the most
    systems come first; ties keep the catalogue's order."""
    return """
        with runs as (
            select distinct dataset, system from means
            union
            select dataset, system from parts where kind = 'top'
        )
        select dataset, title, system
        from runs join datasets on dataset = name
        order by count(*) over (partition by dataset) desc, datasets.rowid, system
    """


@select(datasets=("datasets",), systems=("a", "b"), shows="runs")
def unanswered(datasets: Sequence[str], a: str, b: str, measure: str) -> str:
    """Select system, n_unanswered and n_queries over all parts whose lists can be read."""
    return """
        select system, sum(n_unanswered) as n_unanswered, sum(n_queries) as n_queries
        from means
        where list_contains($datasets, dataset) and measure = $measure and system in ($a, $b)
          and n_unanswered is not null
        group by system
        order by system <> $a
    """


_PAIRS = """
with valued as (
    select dataset, query_id,
           any_value(value) filter (where system = $a) as value_a,
           any_value(value) filter (where system = $b) as value_b
    from scores
    where list_contains($datasets, dataset) and measure = $measure and system in ($a, $b)
    group by dataset, query_id
), judged as (
    select dataset, query_id, count(*) filter (where relevance > 0) as n_relevant
    from judgements where list_contains($datasets, dataset)
    group by dataset, query_id
), asked as (
    select dataset, query_id, text, n_words
    from queries where list_contains($datasets, dataset)
)
select dataset, query_id, text, n_words, coalesce(n_relevant, 0) as n_relevant, value_a, value_b
from valued
left join judged using (dataset, query_id)
left join asked using (dataset, query_id)
order by value_a - value_b desc nulls last, dataset, query_id
"""


@select(datasets=("datasets",), systems=("a", "b"), shows="runs")
def pairs(datasets: Sequence[str], a: str, b: str, measure: str) -> str:
    """Select the scores of two systems on every query, A's largest lead first: dataset, query_id,
    text and n_words (null if no text is known), n_relevant, value_a, value_b (null if the measure
    is undefined, such as Hole@k of an unanswered query)."""
    return _PAIRS


_OF_RUNS = ("runs", "spread")


@question(datasets=("datasets",), systems=("a", "b"), shows="runs")
def tested(
    cursor: Cursor,
    datasets: Sequence[str],
    a: str,
    b: str,
    measure: str,
    same_spread: bool = False,
) -> DataFrame:
    """Return the fields of `significance.Comparison` of two systems in one row; no row if there are
    fewer than two queries, or two families of queries. If a system has several runs, also runs_a,
    spread_a, runs_b, spread_b (the number of runs, and the standard deviation of their means,
    absent for a single run), and same_spread, the argument: if true, a system with one run is
    assumed to have the other's spread."""
    if not datasets:
        return DataFrame()
    board = matrices.of_parts_together(cursor, measure, datasets, [a, b])
    if board.n_units < 2:
        return DataFrame()
    about: dict[str, Any] = {"weights": board.weights, "families": board.families}
    runs = board.runs
    if runs is None:
        return DataFrame([asdict(significance.two(*board.values, **about))])
    found = significance.two(*board.values, **about, runs=runs.taken() if same_spread else runs)
    of = zip("ab", runs.n, runs.spreads, strict=True)
    sides = {
        f"{name}_{side}": it for side, *both in of for name, it in zip(_OF_RUNS, both, strict=True)
    }
    return DataFrame([asdict(found) | sides | {"same_spread": same_spread}])


@question(datasets=("datasets",), systems=("a", "b"), shows="runs")
def weighted(
    cursor: Cursor, datasets: Sequence[str], a: str, b: str, measure: str, same_spread: bool = False
) -> DataFrame:
    """Compare the two systems with weighted queries in one row; no row if no weights are declared:
    key, n (queries of a weight above 0), effective (Kish's number of equally weighted queries, or
    families), mean_a, mean_b, difference, and low, high and p of the sign flips, which are absent
    if `effective` is under FEWEST_EFFECTIVE. Runs and same_spread: as in `tested`."""
    if not datasets:
        return DataFrame()
    board = matrices.of_parts_together(cursor, measure, datasets, [a, b], weighted=True)
    if board.weights is None or not board.key or board.n_units < 2:
        return DataFrame()
    runs = board.runs.taken() if board.runs and same_spread else board.runs
    about: dict[str, Any] = {"weights": board.weights, "families": board.families, "runs": runs}
    row = significance.pairs(board.values, **about, resamples=0).iloc[0]
    means = dict(zip(("mean_a", "mean_b"), board.values @ board.weights, strict=True))
    counts = {
        "key": board.key,
        "n": len(board.weights),
        "effective": effective(board.weights, board.families),
    }
    ends = row[["low", "high", "p"]] if counts["effective"] >= FEWEST_EFFECTIVE else row[:0]
    told = ends.reindex(["low", "high", "p"]).astype(float).to_dict()
    return DataFrame([counts | means | {"difference": row["difference"]} | told])


DEPTHS = (1, 3, 5, 10, 20, 50, 100)
"""Depths at which the overlap of two lists is reported."""
_SOME = "and query_id in (select unnest($queries))"
_LENGTHS = """
select query_id, count(*) as n from read_parquet($files) where rank <= $depth {some}
group by query_id
"""
_MET = """
select query_id, greatest(one.rank, other.rank) as met_at
from (select query_id, doc_id, rank from read_parquet($one) where rank <= $depth {some}) as one
join (select query_id, doc_id, rank from read_parquet($other) where rank <= $depth {some}) as other
    using (query_id, doc_id)
"""


@question(datasets=("datasets",), systems=("a", "b"), shows="runs")
def overlaps(
    cursor: Cursor, datasets: Sequence[str], a: str, b: str, queries: Sequence[str] | None = None
) -> DataFrame:
    """Return the similarity of the two rankings of every answered query, or only of `queries`:
    dataset, query_id, rbo (over the first `rbo.DEPTH` ranks), shared (number of documents in both
    top 10s), and at_k for each of DEPTHS (the shared part of the first k documents). No rows if the
    lists of one system are not stored."""
    found = [_overlaps(cursor, name, a, b, queries) for name in sorted(datasets)]
    found = [_of_kind(cursor, *of) for of in zip(sorted(datasets), found, strict=True)]
    return pd.concat(found, ignore_index=True)


def _of_kind(cursor: Cursor, dataset: str, rows: DataFrame) -> DataFrame:
    """Keep the rows of the queries that the cursor reads."""
    queries = one_kind.narrowed(cursor, dataset)
    return rows if queries is None else rows[rows["query_id"].isin(queries.to_pylist())]


def _overlaps(
    cursor: Cursor, dataset: str, a: str, b: str, some: Sequence[str] | None
) -> DataFrame:
    """Return the rows of `overlaps` for one dataset."""
    one, other = (files(cursor, "hits", dataset, [system]) for system in (a, b))
    if not one or not other:
        columns = {"dataset": "str", "query_id": "str", "rbo": "float", "shared": "int"}
        columns |= {f"at_{k}": "float" for k in DEPTHS}
        return DataFrame(columns=list(columns)).astype(columns)
    given: dict[str, Any] = {"depth": rbo.DEPTH} | ({} if some is None else {"queries": list(some)})
    lists, shared = (sql.format(some="" if some is None else _SOME) for sql in (_LENGTHS, _MET))
    counts = [
        cursor.sql(lists, params=given | {"files": of}).to_arrow_table() for of in (one, other)
    ]
    queries = pa.concat_tables(counts)["query_id"].unique().sort()
    lengths = np.zeros((2, len(queries)), np.int64)
    for own, of in zip(lengths, counts, strict=True):
        own[numbered(of["query_id"], queries)] = of["n"].to_numpy()
    met = cursor.sql(shared, params=given | {"one": one, "other": other}).to_arrow_table()
    query = numbered(met["query_id"], queries)
    depth = met["met_at"].to_numpy().astype(np.int64)
    values = rbo.of_shared(query, depth, *lengths)
    both = {k: np.bincount(query[depth <= k], minlength=len(queries)) for k in DEPTHS}
    of = {f"at_{k}": n / np.minimum(lengths, k).max(axis=0) for k, n in both.items()}
    frame = DataFrame({"dataset": dataset, "query_id": queries.to_pandas()})
    return frame.assign(rbo=values, shared=both[10], **of)


_TOPS = """
with one as (select query_id, doc_id, rank from read_parquet($one)),
other as (select query_id, doc_id, rank from read_parquet($other))
select $dataset as dataset, query_id, doc_id, one.rank as rank_a, other.rank as rank_b
from one full join other using (query_id, doc_id)
order by query_id, coalesce(one.rank, other.rank), doc_id
"""


@question(datasets=("datasets",), systems=("a", "b"), shows="runs")
def tops(cursor: Cursor, datasets: Sequence[str], a: str, b: str) -> DataFrame:
    """Return the top ten of two systems: dataset, query_id, doc_id, rank_a, rank_b (absent if the
    document is not in that top ten)."""
    found = [DataFrame(columns=["dataset", "query_id", "doc_id", "rank_a", "rank_b"])]
    for name in sorted(datasets):
        one, other = (files(cursor, "top", name, [system]) for system in (a, b))
        if one and other:
            of = {"dataset": name, "one": one, "other": other}
            found.append(_of_kind(cursor, name, cursor.execute(_TOPS, of).df()))
    return pd.concat(found[1:] or found, ignore_index=True)


@question(systems=("a", "b"), shows="runs")
def across(cursor: Cursor, a: str, b: str, measure: str) -> DataFrame:
    """Return a row per dataset and part on which both systems have scores, in the catalogue's
    order: dataset, title, and the fields of `differences.SUMMARY`."""
    every, found = parts(cursor), []
    values = matrices.by_dataset(cursor, measure, every["dataset"].tolist(), [a, b])
    for name, title in zip(every["dataset"], every["title"], strict=True):
        both = values[name][:, ~np.isnan(values[name]).any(axis=0)]
        if both.shape[1]:
            found.append({"dataset": name, "title": title, **differences.summary(both)})
    return DataFrame(found, columns=["dataset", "title", *differences.SUMMARY])


@question(systems=("a", "b"), shows="runs")
def across_families(cursor: Cursor, a: str, b: str, measure: str) -> DataFrame:
    """Return dataset, low, high: the interval of the difference on every dataset with query
    families or several runs. A dataset with fewer than two families or queries has no row."""
    found, every = [], parts(cursor)[["dataset", "parts"]]
    named = [*every["dataset"], *every["parts"].explode().dropna()]
    families = set(query_families.declared(cursor, named)["dataset"])
    several = matrices.several(cursor, [a, b]) | families
    for name, of in every.itertuples(index=False):
        own = list(of) or [name]
        if several.isdisjoint(own):
            continue
        board = matrices.of_parts_together(cursor, measure, own, [a, b])
        if board.n_units < 2:
            continue
        about: dict[str, Any] = {"weights": board.weights, "families": board.families}
        about |= {"runs": board.runs}
        about |= {"test": "t", "correction": "none", "resamples": 0}
        row = significance.pairs(board.values, **about).iloc[0]
        found.append((name, row["low"], row["high"]))
    return DataFrame(found, columns=["dataset", "low", "high"])


@select()
def parts() -> str:
    """Select dataset, title and parts (a list, mostly empty) of all datasets in catalogue order."""
    return "select name as dataset, title, parts from datasets"
