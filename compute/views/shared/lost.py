"""The stages at which systems lose relevant documents."""

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute import systems
from compute.base.errors import BeirscopeError
from compute.base.words import counted
from compute.reading.questions import question
from compute.systems.combine.rerank import Reranker

K = 10
TOP, BELOW, DEMOTED, CUT, TOO_DEEP, ELSEWHERE, NOWHERE = range(7)
PLACES = {
    TOP: f"In the top {K}",
    BELOW: f"Below rank {K}",
    DEMOTED: f"Moved below rank {K} by the reranker",
    CUT: "Not reranked (below the reranking depth)",
    TOO_DEEP: "Below the first stage's depth; another system retrieved it",
    ELSEWHERE: "Not retrieved, but another system retrieved it",
    NOWHERE: "Not retrieved by any system",
}
_SIDES = "abcd"
_RECORDED = """
select system, max(provenance ->> '$.first_stage') as first_stage from parts
where kind = 'hits' and list_contains($datasets, dataset) and list_contains($systems, system)
group by system
"""


def first_stage(system: str) -> str:
    """Return the system that this system reranks by definition; empty if it is not a reranker."""
    try:
        found = systems.system(system)
    except BeirscopeError:
        return ""  # An imported run can have any name.
    return found.inputs[0] if isinstance(found.search, Reranker) else ""


@question(datasets=("datasets",), shows="runs")
def places(cursor: DuckDBPyConnection, datasets: Sequence[str], a: str, b: str) -> DataFrame:
    """Count relevant documents by their places (keys of PLACES) in the two systems' lists: place_a,
    place_b, n. `datasets` is one dataset, or all its parts. No rows if a list is not stored."""
    given = _given(cursor, datasets, (a, b))
    return cursor.execute(
        f"""
        with listed as (
            select dataset from parts
            where kind = 'hits' and system in ($a, $b) and list_contains($datasets, dataset)
            group by dataset having count(distinct system) = 2
        ), {_placed("ab", "(select count(*) from listed) = len($datasets)")}
        select place_a, place_b, count(*) as n from placed group by all order by all
        """,
        given,
    ).df()


@question(datasets=("dataset",), shows="runs")
def of_query(
    cursor: DuckDBPyConnection, dataset: str, query_id: str, systems: Sequence[str]
) -> DataFrame:
    """Return doc_id and the places (keys of PLACES) of a query's relevant documents in the lists of
    up to four systems: place_a for the first system, place_b for the second, and so on."""
    placed = _placed(_SIDES[: len(systems)], "query_id = $query_id")
    given = _given(cursor, [dataset], systems) | {"query_id": query_id}
    asked = f"with {placed} select * exclude (dataset, query_id) from placed order by doc_id"
    return cursor.execute(asked, given).df()


def _given(
    cursor: DuckDBPyConnection, datasets: Sequence[str], systems: Sequence[str]
) -> dict[str, object]:
    """Return the parameters of `_placed`. The first stage recorded when a run was imported takes
    precedence over the system's definition."""
    found = cursor.execute(_RECORDED, {"datasets": datasets, "systems": systems}).fetchall()
    recorded, given = dict(found), dict[str, object](datasets=list(datasets))
    for side, system in zip(_SIDES, systems, strict=False):
        given |= {side: system, f"first_{side}": recorded.get(system) or first_stage(system)}
    return given


def _placed(sides: str, where: str) -> str:
    """Return common table expressions that end in `placed`: dataset, query_id, doc_id of each
    relevant document, and place_a and so on for the system of each side. `where`: which
    judgements."""
    ranks = ", ".join(
        f"min(rank) filter (where system = ${name}) as {name}"
        for side in sides
        for name in (side, f"first_{side}")
    )
    places = ", ".join(f"{_place(side)} as place_{side}" for side in sides)
    return f"""relevant as (
            select dataset, query_id, doc_id from judgements
            where relevance > 0 and list_contains($datasets, dataset) and {where}
        ), found as (
            select dataset, query_id, doc_id, {ranks}
            from hits semi join relevant using (dataset, query_id, doc_id)
            where list_contains($datasets, dataset) group by all
        ), placed as (
            select relevant.*, {places}
            from relevant left join found using (dataset, query_id, doc_id)
        )"""


def _place(side: str) -> str:
    """Return the SQL for the place of a relevant document in the list of one side."""
    return f"""case
        when found.{side} <= {K} then {TOP}
        when found.{side} is not null and found.first_{side} <= {K} then {DEMOTED}
        when found.{side} is not null then {BELOW}
        when found.first_{side} is not null then {CUT}
        when found.doc_id is null then {NOWHERE}
        when exists (from parts where kind = 'hits' and parts.dataset = relevant.dataset
                     and parts.system = $first_{side}) then {TOO_DEEP}
        else {ELSEWHERE} end"""


def line(places: Mapping[str, int]) -> str:
    """Say at which stage each system, by title, loses a document; empty if none loses it."""
    if NOWHERE in places.values():
        return PLACES[NOWHERE]
    lost = {title: PLACES[place] for title, place in places.items() if place != TOP}
    return "; ".join(f"{title}: {place[0].lower()}{place[1:]}" for title, place in lost.items())


def by_place(found: DataFrame) -> DataFrame:
    """Return the number of relevant documents at each place in the lists of a and of b: place (in
    words), a, b. Places that occur in neither list are left out."""
    counts = {side: found.groupby(f"place_{side}")["n"].sum() for side in ("a", "b")}
    rows = DataFrame(counts).reindex([*PLACES]).fillna(0).astype(int)
    rows = rows[rows.any(axis=1)]
    return rows.assign(place=[PLACES[number] for number in rows.index]).reset_index(drop=True)


def said(found: DataFrame, titles: tuple[str, str]) -> str:
    """Say how many relevant documents are in the top K of one system but not of the other."""
    top = {side: found[f"place_{side}"] == TOP for side in ("a", "b")}
    only_a, only_b = (
        int(found.loc[top[one] & ~top[other], "n"].sum()) for one, other in ("ab", "ba")
    )
    every = counted(int(found["n"].sum()), "relevant document")
    there = f"{only_a:,} are in the top {K} of {titles[0]} but not of {titles[1]}"
    return f"Of {every}, {there}; {only_b:,} the reverse."
