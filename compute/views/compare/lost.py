"""Stages at which two systems lose relevant documents."""

from collections.abc import Sequence

from pandas import DataFrame

from compute.base.errors import WrongInput
from compute.base.words import counted
from compute.reading.questions import select
from compute.systems import names
from compute.views.page import Column

RERANKERS = ("rerank", "rerank-maxsim", "monot5")
K = 10
TOP, BELOW, DEMOTED, CUT, ELSEWHERE, NOWHERE = range(6)
PLACES = {
    TOP: f"In the top {K}",
    BELOW: f"Below rank {K}",
    DEMOTED: f"Below rank {K}: the first stage had it in its top {K}",
    CUT: "Not reranked: below the depth of reranking",
    ELSEWHERE: "Not retrieved; another system has it",
    NOWHERE: "Retrieved by no system",
}


def first_stage(system: str) -> str:
    """The system whose list this one reranks; empty if it is no reranker."""
    try:
        name = names.parse(system)
    except WrongInput:
        return ""  # An imported run can have any name.
    return str(name.inputs[0]) if name.base in RERANKERS and name.inputs else ""


@select(datasets=("datasets",), shows="runs")
def places(datasets: Sequence[str], a: str, b: str, first_a: str, first_b: str) -> str:
    """place_a, place_b (of PLACES), n: relevant documents by their place in both systems' lists, of
    all queries of datasets, one or all parts. `first_a`, `first_b` are from `first_stage`. No rows
    if a list of one system is not stored."""
    return f"""
        with listed as (
            select dataset from parts
            where kind = 'hits' and system in ($a, $b) and list_contains($datasets, dataset)
            group by dataset having count(distinct system) = 2
        ), relevant as (
            select dataset, query_id, doc_id from judgements
            where relevance > 0 and list_contains($datasets, dataset)
              and (select count(*) from listed) = len($datasets)
        ), found as (
            select dataset, query_id, doc_id,
                   min(rank) filter (where system = $a) as a,
                   min(rank) filter (where system = $b) as b,
                   min(rank) filter (where system = $first_a) as first_a,
                   min(rank) filter (where system = $first_b) as first_b
            from hits semi join relevant using (dataset, query_id, doc_id)
            where list_contains($datasets, dataset) group by all
        ), placed as (
            select {_place("a")} as place_a, {_place("b")} as place_b
            from relevant left join found using (dataset, query_id, doc_id)
        )
        select place_a, place_b, count(*) as n from placed group by all order by all
    """


def _place(side: str) -> str:
    return f"""case
        when found.{side} <= {K} then {TOP}
        when found.{side} is not null and found.first_{side} <= {K} then {DEMOTED}
        when found.{side} is not null then {BELOW}
        when found.first_{side} is not null then {CUT}
        when found.doc_id is not null then {ELSEWHERE}
        else {NOWHERE} end"""


def by_place(found: DataFrame) -> DataFrame:
    """place, a, b: documents of either list at each of `places`; those in neither are left out."""
    counts = {side: found.groupby(f"place_{side}")["n"].sum() for side in ("a", "b")}
    rows = DataFrame(counts).reindex([*PLACES]).fillna(0).astype(int)
    rows = rows[rows.any(axis=1)]
    return rows.assign(place=[PLACES[number] for number in rows.index]).reset_index(drop=True)


def said(found: DataFrame, titles: tuple[str, str]) -> str:
    """Relevant documents that one of two systems has in its top K and the other has not."""
    top = {side: found[f"place_{side}"] == TOP for side in ("a", "b")}
    only_a, only_b = (
        int(found.loc[top[one] & ~top[other], "n"].sum()) for one, other in ("ab", "ba")
    )
    every = counted(int(found["n"].sum()), "relevant document")
    there = f"{only_a:,} are in {titles[0]}'s top {K} and not in {titles[1]}'s"
    return f"Of {every}, {there}; {only_b:,} the reverse."


def columns(titles: tuple[str, str]) -> list[Column]:
    """Columns of the table of places."""
    return [Column("Place", "place"), *(Column(t, s) for t, s in zip(titles, "ab", strict=True))]
