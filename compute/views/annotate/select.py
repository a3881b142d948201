"""SELECTs of the Judge page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.evaluate.estimates.frames import Frame, of_lists
from compute.judgements import orders, sets
from compute.reading import judgement_sets, top_ranks
from compute.reading.questions import question, select
from compute.views.shared import held_lists as shared_lists
from compute.views.shared.part_files import files

BLOCK = 500_000
"""Hits read at a time; with 15 systems they take about 300 MB."""


@select()
def judgeable() -> str:
    """Select dataset, title, system and with_texts of every run whose ranked lists are stored.
    Datasets with stored documents come first, then those in the catalogue's order."""
    return """
        with runs as (
            select distinct dataset, system from parts where kind = 'top'
        ), here as (
            select dataset, system, coalesce(title, dataset) as title, datasets.rowid as place,
                   coalesce(collection, dataset) in (
                       select dataset from parts where kind = 'documents') as with_texts
            from runs left join datasets on dataset = name
        )
        select dataset, title, system, with_texts from here
        order by with_texts desc, place, dataset, system
    """


@select(datasets=("dataset",))
def levels(dataset: str) -> str:
    """Select the grades among the dataset's judgements, ascending."""
    return "select distinct relevance from judgements where dataset = $dataset order by relevance"


@dataclass(frozen=True)
class StoredTops:
    """Ranked lists in the store, read a few queries at a time, since all do not fit into memory."""

    cursor: DuckDBPyConnection
    dataset: str
    block: int = BLOCK

    def blocks(self, judgements: DataFrame, systems: Sequence[str], depth: int) -> orders.Blocks:
        """Return blocks as `orders.Tops` says; the first ten ranks come from a stored extract."""
        found = files(
            self.cursor, "top" if depth <= top_ranks.DEPTH else "hits", self.dataset, systems
        )
        asked: dict[str, object] = {"files": found, "depth": depth}
        if not found:
            return lambda: iter(())
        sizes, names = self._sizes(asked)
        # A frame without rows lacks column types.
        judgements = judgements.astype({"query_id": "str", "doc_id": "str"})
        for query_id in judgements["query_id"].unique():
            sizes.setdefault(query_id, 0)
        spans = list(_spans(sorted(sizes), sizes, self.block))
        held = judgements.sort_values("query_id", ignore_index=True)

        def read() -> Iterator[orders.RankedPairs]:
            number = 0
            for low, high, n_queries in spans:
                about = asked | {"systems": names, "low": low, "high": high}
                top = self.cursor.sql(_RANKED, params=about).to_arrow_table()
                own = held[held["query_id"].between(low, high)]
                yield orders.arranged(top, own, len(names), number)
                number += n_queries

        return read

    def frame(self, systems: Sequence[str], depth: int) -> Frame:
        """Return the lists for the officially judged queries (the basis of scores), or for all if
        none is judged: ranks, down to the stored depth, of pairs in any system's top `depth`."""
        return framed(lists(self.cursor, self.dataset, list(systems), depth), depth)

    def machine(self, name: str) -> DataFrame | None:
        """Return query_id, doc_id, relevance by an LLM; None if `name` is empty. Raises Missing."""
        named = sets.of_machine(name)
        return judgement_sets.labels(self.cursor, self.dataset, named) if name else None

    def _sizes(self, asked: dict[str, object]) -> tuple[dict[str, int], list[str]]:
        """Return the number of hits of each query, and the names of systems with hits."""
        of_queries = self.cursor.execute(
            "select query_id, count(*) from read_parquet($files) where rank <= $depth group by all",
            asked,
        ).fetchall()
        of_systems = self.cursor.execute(
            "select distinct system from read_parquet($files) where rank <= $depth", asked
        ).fetchall()
        return dict(of_queries), sorted(name for (name,) in of_systems)


_RANKED = """
select list_position($systems, system) - 1 as system, query_id, doc_id, rank
from read_parquet($files) where rank <= $depth and query_id between $low and $high
"""


def _spans(
    query_ids: Sequence[str], sizes: dict[str, int], block: int
) -> Iterator[tuple[str, str, int]]:
    """Yield the first and last query of each block, and its number of queries."""
    begin = total = 0
    for place, query_id in enumerate(query_ids):
        if total and total + sizes[query_id] > block:
            yield query_ids[begin], query_ids[place - 1], place - begin
            begin, total = place, 0
        total += sizes[query_id]
    if query_ids:
        yield query_ids[begin], query_ids[-1], len(query_ids) - begin


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def lists(
    cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], depth: int
) -> DataFrame:
    """Return system, query_id, doc_id, rank: the ranks, in all systems, of the pairs in any
    system's top `depth`. Only officially judged queries are included, if there are any; one without
    hits has a row without system, document and rank."""
    found = files(cursor, "hits", dataset, systems)
    asked = shared_lists.judged(cursor, dataset, shared_lists.OFFICIAL)["query_id"].unique()
    if not found:
        return DataFrame(columns=["system", "query_id", "doc_id", "rank"])
    tops = cursor.sql(_FRAMED, params={"files": found, "depth": depth}).df()
    if not len(asked):
        return tops
    return tops.merge(DataFrame({"query_id": asked.to_pylist()}), on="query_id", how="right")


def framed(tops: DataFrame, depth: int) -> Frame:
    """Return lists, from `lists`, as a `Frame`."""
    queries = tops["query_id"].unique().tolist()
    return of_lists(tops.dropna(subset="system").astype({"rank": "int64"}), queries, depth)


_FRAMED = """
with lists as (select system, query_id, doc_id, rank from read_parquet($files)),
     tops as (select distinct query_id, doc_id from lists where rank <= $depth)
select system, query_id, doc_id, rank from lists semi join tops using (query_id, doc_id)
"""


@select(datasets=("dataset",))
def judged(dataset: str) -> str:
    """Select query_id, doc_id and relevance of a dataset's judgements."""
    return "select query_id, doc_id, relevance from judgements where dataset = $dataset"


@select(datasets=("dataset",))
def judged_of(dataset: str, query_ids: Sequence[str]) -> str:
    """Select query_id, doc_id and relevance of the judgements of these queries."""
    return """
        select query_id, doc_id, relevance from judgements
        where dataset = $dataset and query_id in (select unnest($query_ids))
    """


@select(datasets=("dataset",))
def collection(dataset: str) -> str:
    """Select the collection in which a dataset's documents are stored."""
    known = "select collection from datasets where name = $dataset"
    return f"select coalesce(({known}), $dataset) as collection"


@select(datasets=("dataset",))
def official(dataset: str, query_id: str, doc_id: str) -> str:
    """Select the relevance of a pair; no row if it is unjudged. Official only if asked without
    added judgements."""
    return """
        select relevance from judgements
        where dataset = $dataset and query_id = $query_id and doc_id = $doc_id
    """
