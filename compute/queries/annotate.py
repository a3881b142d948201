"""Every SELECT of the Annotate page."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.scopes import about_datasets


def judgeable(cursor: DuckDBPyConnection) -> DataFrame:
    """dataset, title, system, with_texts: every run whose ranked lists are stored.

    Datasets whose documents are stored come first, then in the catalogue's order.
    """
    return cursor.execute(
        """
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
    ).df()


@about_datasets
def levels(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """relevance: the levels that the dataset's judgements have, ascending."""
    return cursor.execute(
        "select distinct relevance from judgements where dataset = ? order by relevance", [dataset]
    ).df()


@about_datasets
def tops(cursor: DuckDBPyConnection, dataset: str, systems: Sequence[str], depth: int) -> DataFrame:
    """system, query_id, doc_id, rank down to a depth; the stored extract serves the first ten."""
    wanted = {"dataset": dataset, "systems": list(systems), "depth": depth}
    if depth <= 10:
        return cursor.execute(
            """
            select system, query_id, doc_id, rank from top
            where dataset = $dataset and system in (select unnest($systems)) and rank <= $depth
            """,
            wanted,
        ).df()
    return cursor.execute(
        """
        select system, query_id, doc_id, rank from hits
        where dataset = $dataset and system in (select unnest($systems)) and rank <= $depth
        """,
        wanted,
    ).df()


@about_datasets
def judged(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """query_id, doc_id, relevance of a dataset's judgements."""
    return cursor.execute(
        "select query_id, doc_id, relevance from judgements where dataset = ?", [dataset]
    ).df()


@about_datasets
def judged_of(cursor: DuckDBPyConnection, dataset: str, query_ids: Sequence[str]) -> DataFrame:
    """query_id, doc_id, relevance of the judgements of some of a dataset's queries."""
    return cursor.execute(
        """
        select query_id, doc_id, relevance from judgements
        where dataset = $dataset and query_id in (select unnest($query_ids))
        """,
        {"dataset": dataset, "query_ids": list(query_ids)},
    ).df()


@about_datasets
def texts(cursor: DuckDBPyConnection, collection: str, doc_ids: Sequence[str]) -> DataFrame:
    """doc_id, title, text of the documents that are stored."""
    return cursor.execute(
        """
        select doc_id, title, text from documents
        where dataset = $collection and doc_id in (select unnest($doc_ids))
        """,
        {"collection": collection, "doc_ids": list(doc_ids)},
    ).df()


@about_datasets
def asked(cursor: DuckDBPyConnection, dataset: str, query_ids: Sequence[str]) -> DataFrame:
    """query_id, text (absent where texts are not here) of some queries."""
    return cursor.execute(
        """
        select query_id, text from queries
        where dataset = $dataset and query_id in (select unnest($query_ids))
        """,
        {"dataset": dataset, "query_ids": list(query_ids)},
    ).df()


@about_datasets
def collection(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """collection: one row, where the documents of a dataset stand."""
    return cursor.execute(
        "select coalesce((select collection from datasets where name = $d), $d) as collection",
        {"d": dataset},
    ).df()


@about_datasets
def official(cursor: DuckDBPyConnection, dataset: str, query_id: str, doc_id: str) -> DataFrame:
    """relevance: one row if the pair has a judgement, else none."""
    return cursor.execute(
        """
        select relevance from judgements
        where dataset = ? and query_id = ? and doc_id = ?
        """,
        [dataset, query_id, doc_id],
    ).df()
