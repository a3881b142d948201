"""What the Holes page reads: holes, intervals and pairs of stored runs.

Judgements are those of the cursor: official, or official and added.
"""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute import holes, measures
from compute.queries.lists import JUDGEMENTS, held
from compute.scopes import about_datasets

Cursor = DuckDBPyConnection


@about_datasets
def recorded(cursor: Cursor, dataset: str) -> DataFrame:
    """What judgements a dataset has, one row: n_judgements and highest (relevance) of all,
    n_not_relevant of the official ones, n_added and n_added_not_relevant of the others."""
    return cursor.execute(
        """
        with added as (
            select query_id, doc_id, relevance from judgements where dataset = $dataset
            except
            select query_id, doc_id, relevance from main.judgements where dataset = $dataset
        )
        select count(*) as n_judgements, coalesce(max(relevance), 0) as highest,
               (select count(*) from main.judgements
                where dataset = $dataset and relevance <= 0) as n_not_relevant,
               (select count(*) from added) as n_added,
               (select count(*) from added where relevance <= 0) as n_added_not_relevant
        from judgements where dataset = $dataset
        """,
        {"dataset": dataset},
    ).df()


def kept(cursor: Cursor) -> DataFrame:
    """dataset, system, depth: the rank down to which the list of each stored run is kept."""
    return cursor.execute(
        """
        select dataset, system,
               cast(coalesce(provenance->>'$.cut', provenance->>'$.depth') as bigint) as depth
        from parts where kind = 'hits'
        """
    ).df()


@about_datasets
def bounds(cursor: Cursor, dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """What systems score and can score, the best first: system, n_queries, n_holes (pairs), value,
    low, high (means over the queries), hole and hole_beir (Hole@k both ways).

    Where they mean something (`holes.tells_more`), also two guesses: expected, by the rates of
    the added judgements where the official ones are of relevant documents alone; and condensed,
    closed up from the whole list that is kept.
    """
    lists = held(cursor, dataset, systems, _cut(measure))
    by_query = holes.intervals(lists, measure).groupby("system")
    frame = by_query[["value", "low", "high"]].mean()
    frame.insert(0, "n_queries", by_query.size())
    frame.insert(1, "n_holes", by_query["n_holes"].sum())
    frame["hole"] = holes.hole(lists, lists.depth)
    frame["hole_beir"] = holes.hole_beir(lists, lists.depth)
    (counts,) = recorded(cursor, dataset).to_dict("records")
    if holes.tells_more(*(counts[name] for name in _TELLING)):
        telling = JUDGEMENTS if counts["n_not_relevant"] else _ADDED
        closed = held(cursor, dataset, systems, _cut(measure), top=_CLOSED)
        told = held(cursor, dataset, systems, _cut(measure), judgements=telling)
        expected = holes.expected(lists, measure, told)
        frame["expected"] = expected.groupby("system")["value"].mean()
        condensed = holes.condensed(closed, measure)
        frame["condensed"] = condensed.groupby("system")["value"].mean()
    return frame.sort_values("value", ascending=False, kind="stable").reset_index()


@about_datasets
def pairs(cursor: Cursor, dataset: str, systems: Sequence[str], measure: str) -> DataFrame:
    """Whether the holes could turn the order of two systems, as `holes.pairs`."""
    return holes.pairs(held(cursor, dataset, systems, _cut(measure)), measure)


@about_datasets
def by_rank(cursor: Cursor, dataset: str, systems: Sequence[str], k: int) -> DataFrame:
    """Queries by system and rank: n_filled, n_holes, n_relevant, as `holes.by_rank`."""
    return holes.by_rank(held(cursor, dataset, systems, k))


_TELLING = ("n_not_relevant", "n_added", "n_added_not_relevant")

_CLOSED = """
with closed as (
    select system, query_id, doc_id,
           row_number() over (partition by system, query_id order by rank) as place
    from hits semi join (select * from judgements where dataset = $dataset)
        using (dataset, query_id, doc_id)
    where dataset = $dataset and system in (select unnest($systems))
)
select system, query_id, doc_id, place as rank from closed where place <= $k
"""
_ADDED = """
select query_id, doc_id, relevance from judgements where dataset = $dataset
except
select query_id, doc_id, relevance from main.judgements where dataset = $dataset
"""


def _cut(measure: str) -> int:
    return measures.parse(measure).k or 10
