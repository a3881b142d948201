"""Two stored runs fused in memory at many settings, with every fusion's score on each query."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray
from pandas import DataFrame

from compute.evaluate import measures, runs
from compute.reading.questions import question, select
from compute.views.shared.part_files import files

Values = NDArray[np.float64]

INTERPOLATE, RRF, ALONE = "interpolate", "rrf", "alone"
WEIGHTS = tuple(step / 20 for step in range(21))
"""Weights of the first system. At 1 and 0, the other list's documents still extend a short list."""
KS = (0, 1, 2, 5, 10, 20, 40, 60, 100, 200, 500)
HOLES = "Hole@10"
_AT_ONCE = 4_000_000
"""Most rows held in memory at once, unless a single setting needs more."""
COLUMNS = ("dataset", "query_id", "method", "setting", "value", "holes", "left_out")
_BOTH = """
with one as (
    select query_id, doc_id, rank, score::double - min(score) over list as above,
           (max(score) over list)::double - min(score) over list as spread
    from read_parquet($one) window list as (partition by query_id)
), other as (
    select query_id, doc_id, rank, score::double - min(score) over list as above,
           (max(score) over list)::double - min(score) over list as spread
    from read_parquet($other) window list as (partition by query_id)
)
select query_id, doc_id, one.rank as rank_a, other.rank as rank_b,
       case when one.rank is null then 0 when one.spread > 0 then one.above / one.spread
            else 1 end as share_a,
       case when other.rank is null then 0 when other.spread > 0 then other.above / other.spread
            else 1 end as share_b,
       relevance is not null as judged
from one full join other using (query_id, doc_id)
left join (select query_id, doc_id, relevance from judgements where dataset = $dataset)
    using (query_id, doc_id)
"""
_JUDGEMENTS = "select query_id, doc_id, relevance from judgements where dataset = $dataset"
_DEPTH = """
select min(coalesce(provenance->>'$.cut', provenance->>'$.depth')::integer)
from parts where kind = 'hits' and dataset = $dataset and system in ($a, $b)
"""


@question(datasets=("dataset",), systems=("a", "b"), shows="runs")
def swept(cursor: DuckDBPyConnection, dataset: str, a: str, b: str, measure: str) -> DataFrame:
    """Return the scores of both runs fused at every setting, as `systems.combine.fusion` does; a
    row for each query with a judgement.

    Of COLUMNS, `setting` is the weight of `a` in an interpolation (scores from 0 to 1 by list) or k
    of reciprocal rank fusion; with the method ALONE, 0 is `a` and 1 is `b`, not fused. `value` is
    the measure over the fused list, `holes` its share of unjudged documents in the top 10 (absent
    for an empty list), `left_out` the measure over the condensed list. There are no rows if a list
    is missing or has fewer ranks than the measure needs.
    """
    one, other = (files(cursor, "hits", dataset, [system]) for system in (a, b))
    ((depth,),) = cursor.execute(_DEPTH, {"dataset": dataset, "a": a, "b": b}).fetchall()
    if not one or not other or not depth or depth < (measures.parse(measure).k or 1):
        return DataFrame(columns=list(COLUMNS))
    asked = {"one": one, "other": other, "dataset": dataset}
    both = cursor.sql(_BOTH, params=asked).to_arrow_table()
    judgements = cursor.execute(_JUDGEMENTS, {"dataset": dataset}).df()
    found = _all_settings(both, judgements, measure, depth)
    return found.assign(dataset=dataset)[list(COLUMNS)]


@select(datasets=("dataset",), systems=("a", "b"), shows="runs")
def cut(dataset: str, a: str, b: str) -> str:
    """Select cut: the rank at which the shorter shipped list was truncated; null if neither was."""
    return """
        select min((provenance->>'$.cut')::integer) as cut
        from parts where kind = 'hits' and dataset = $dataset and system in ($a, $b)
    """


def _all_settings(both: pa.Table, judgements: DataFrame, measure: str, depth: int) -> DataFrame:
    """Return the columns of `swept` for every setting, a few settings at a time."""
    settings = [(INTERPOLATE, one) for one in WEIGHTS] + [(RRF, one) for one in KS]
    settings += [(ALONE, 0), (ALONE, 1)]
    names = list(dict.fromkeys([measure, HOLES]))
    step = max(1, _AT_ONCE // max(both.num_rows, 1))
    found = []
    for start in range(0, len(settings), step):
        some = settings[start : start + step]
        values = _values(both, some, judgements, names, depth)
        judged = both.filter(pc.field("judged"))
        left_out = _values(judged, some, judgements, [measure], depth)[measure]
        found.append(values.assign(left_out=left_out, holes=values[HOLES], value=values[measure]))
    rows = pd.concat(found).reset_index()
    return rows.astype({"setting": np.float64})


def _values(
    rows: pa.Table,
    settings: Sequence[tuple[str, float]],
    judgements: DataFrame,
    names: list[str],
    depth: int,
) -> DataFrame:
    """Return a column for each measure, by method, setting and query_id. All settings form one run,
    in which every query occurs once per setting."""
    table = _one_run(rows, settings)
    run = runs.ranked(table, depth=depth, drop_self=False)
    again = [
        judgements.assign(query_id=f"{place:03} " + judgements["query_id"])
        for place in range(len(settings))
    ]
    long = measures.evaluate(run.frame, pd.concat(again), names, depth=depth)
    wide = long.pivot(index="query_id", columns="measure", values="value").reindex(columns=names)
    of = [(*settings[int(name[:3])], name[4:]) for name in wide.index]
    return wide.set_axis(pd.MultiIndex.from_tuples(of, names=["method", "setting", "query_id"]))


def _one_run(rows: pa.Table, settings: Sequence[tuple[str, float]]) -> pa.Table:
    """Return query_id ("003 q1" for the fourth setting), doc_id, score of that run."""
    queries = rows["query_id"].combine_chunks().dictionary_encode()
    own = queries.dictionary.to_pylist()
    numbers = queries.indices.to_numpy()
    places = [numbers + place * len(own) for place in range(len(settings))]
    asked = [f"{place:03} {query}" for place in range(len(settings)) for query in own]
    codes = pa.array(np.concatenate(places), pa.int32())
    table = pa.table(
        {
            "query_id": pa.DictionaryArray.from_arrays(codes, pa.array(asked)),
            "doc_id": pa.chunked_array(rows["doc_id"].chunks * len(settings)),
            "score": np.concatenate([_fused(rows, *one) for one in settings]),
        }
    )
    return table.filter(pc.call_function("is_finite", [table["score"]]))


def _fused(rows: pa.Table, method: str, setting: float) -> Values:
    """Return the score of every row; nan for documents that the list lacks."""
    if method == INTERPOLATE:
        share_a, share_b = (rows[name].to_numpy() for name in ("share_a", "share_b"))
        return setting * share_a + (1 - setting) * share_b
    ranks = (rows[name].to_numpy().astype(np.float64) for name in ("rank_a", "rank_b"))
    if method == ALONE:
        return -[*ranks][int(setting)]
    one, other = (np.nan_to_num(1 / (setting + rank)) for rank in ranks)
    return one + other
