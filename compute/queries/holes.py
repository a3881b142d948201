"""What the Holes page reads: holes, intervals and pairs of stored runs.

Judgements are those of the cursor: official, or official and added.
"""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute import holes, measures

Cursor = DuckDBPyConnection


def recorded(cursor: Cursor, dataset: str) -> DataFrame:
    """What judgements a dataset has, one row: n_judgements, n_not_relevant and highest (relevance)
    of all; n_added and n_added_not_relevant of those that are not official."""
    return cursor.execute(
        """
        with added as (
            select * from judgements where dataset = $dataset
            except
            select * from main.judgements where dataset = $dataset
        )
        select count(*) as n_judgements,
               count(*) filter (where relevance <= 0) as n_not_relevant,
               coalesce(max(relevance), 0) as highest,
               (select count(*) from added) as n_added,
               (select count(*) from added where relevance <= 0) as n_added_not_relevant
        from judgements where dataset = $dataset
        """,
        {"dataset": dataset},
    ).df()


def bounds(cursor: Cursor, dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """What systems score and can score: system, n_queries, n_holes (pairs), value, low, high
    (means over the queries), hole and hole_beir (Hole@k both ways). The best comes first."""
    lists = _lists(cursor, dataset, systems, _cut(measure))
    by_query = holes.intervals(lists, measure).groupby("system")
    frame = by_query[["value", "low", "high"]].mean()
    frame.insert(0, "n_queries", by_query.size())
    frame.insert(1, "n_holes", by_query["n_holes"].sum())
    frame["hole"] = holes.hole(lists, lists.depth)
    frame["hole_beir"] = holes.hole_beir(lists, lists.depth)
    return frame.sort_values("value", ascending=False, kind="stable").reset_index()


def estimates(cursor: Cursor, dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """Means of two guesses: system, expected, condensed (closed up from the whole list kept)."""
    lists = _lists(cursor, dataset, systems, _cut(measure))
    closed = _closed(cursor, dataset, systems, _cut(measure))
    expected = holes.expected(lists, measure).groupby("system")["value"].mean()
    condensed = holes.condensed(closed, measure).groupby("system")["value"].mean()
    return DataFrame({"expected": expected, "condensed": condensed}).reset_index()


def pairs(cursor: Cursor, dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """Whether the holes could turn the order of two systems, as `holes.pairs`."""
    return holes.pairs(_lists(cursor, dataset, systems, _cut(measure)), measure)


def by_rank(cursor: Cursor, dataset: str, systems: Sequence[str], k: int) -> DataFrame:
    """Queries by system and rank: n_filled, n_holes, n_relevant, as `holes.by_rank`."""
    return holes.by_rank(_lists(cursor, dataset, systems, k))


def before_and_after(
    cursor: Cursor, dataset: str, systems: Sequence[str], measure: str
) -> DataFrame:
    """The means of a measure and of Hole@10 by the official judgements (before) and by those of
    the cursor (after): system, measure, before, after."""
    return cursor.execute(
        """
        select official.system, measure, official.value as before, now.value as after
        from main.means as official join means as now using (dataset, system, measure)
        where dataset = $dataset and official.system in (select unnest($systems))
          and measure in ($measure, 'Hole@10')
        order by measure, official.system
        """,
        {"dataset": dataset, "systems": list(systems), "measure": measure},
    ).df()


_TOP = """
select system, query_id, doc_id, rank from top
where dataset = $dataset and rank <= $k and system in (select unnest($systems))
"""
_DEEP = """
select system, query_id, doc_id, rank from hits
where dataset = $dataset and rank <= $k and system in (select unnest($systems))
"""
_CLOSED = """
select system, query_id, doc_id,
       row_number() over (partition by system, query_id order by rank) as place
from hits semi join (select * from judgements where dataset = $dataset)
    using (dataset, query_id, doc_id)
where dataset = $dataset and system in (select unnest($systems))
qualify place <= $k
"""
_JUDGEMENTS = "select query_id, doc_id, relevance from judgements where dataset = ?"


def _cut(measure: str) -> int:
    return measures.parse(measure).k or 10


def _lists(cursor: Cursor, dataset: str, systems: Sequence[str], k: int) -> holes.Lists:
    chosen = {"dataset": dataset, "systems": list(systems), "k": k}
    # The extract holds ten ranks and is read many times faster.
    top = cursor.execute(_TOP if k <= 10 else _DEEP, chosen).df()
    judgements = cursor.execute(_JUDGEMENTS, [dataset]).df()
    return holes.arrange(top, judgements, k, systems)


def _closed(cursor: Cursor, dataset: str, systems: Sequence[str], k: int) -> holes.Lists:
    """The first k judged documents of every list."""
    chosen = {"dataset": dataset, "systems": list(systems), "k": k}
    top = cursor.execute(_CLOSED, chosen).df().rename(columns={"place": "rank"})
    judgements = cursor.execute(_JUDGEMENTS, [dataset]).df()
    return holes.arrange(top, judgements, k, systems)
