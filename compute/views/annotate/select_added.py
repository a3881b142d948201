"""Questions about added judgements."""

from collections.abc import Sequence

from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.judgements.labels import PAIR, labels
from compute.reading.questions import question, select

_COUNTING = ["dataset", "query_id", "doc_id", "relevance", "person", "task", "source", "time"]
"""Columns that `judgements.labels` reads."""
_COUNTING += ["imported", "entry", "takes_back"]
"""Columns read by `judgements.labels`."""


@question()
def counted(
    cursor: DuckDBPyConnection, sources: Sequence[str], of: Sequence[str] = ()
) -> DataFrame:
    """Count the added judgements `of` these datasets (default: all): source, n_judgements,
    n_people, n_pairs. The first row, whose source is absent, covers all of the sources."""
    rows = cursor.execute(
        f"select {', '.join(_COUNTING)} from added_judgements"
        " where len($of) = 0 or list_contains($of, dataset) order by id",
        {"of": list(of)},
    ).df()
    standing = labels(rows, sources)
    groups = [(None, standing), *standing.groupby("source")]
    found = [
        (source, len(of), of["person"].nunique(), len(of[PAIR].drop_duplicates()))
        for source, of in groups
    ]
    return DataFrame(found, columns=["source", "n_judgements", "n_people", "n_pairs"])


@select()
def usual(dataset: str = "") -> str:
    """Select counts: true if added judgements count by default, because the dataset (if empty,
    every one with added judgements) has no official judgements."""
    return """
        select count(*) > 0 and not bool_or(official) as counts from (
            select dataset, dataset in (select dataset from parts
                                        where kind = 'judgements' and rows > 0) as official
            from added_judgements where dataset = $dataset or $dataset = ''
        )
    """


@question(datasets=("dataset",), confined=False)
def rows(cursor: DuckDBPyConnection, dataset: str) -> DataFrame:
    """Return every row of a dataset's added judgements, in the order in which they were saved."""
    frame = cursor.execute(
        "select * from added_judgements where dataset = ? order by id", [dataset]
    ).df()
    return frame.astype({"relevance": "Int64"})


@select(datasets=("dataset",), confined=False)
def number(dataset: str) -> str:
    """Select n_rows, the number of a dataset's added judgements."""
    return "select count(*) as n_rows from added_judgements where dataset = $dataset"


@question(datasets=("dataset",), confined=False)
def of_pair(cursor: DuckDBPyConnection, dataset: str, query_id: str, doc_id: str) -> DataFrame:
    """Return every row of the added judgements of a pair, in the order in which they were saved."""
    frame = cursor.execute(
        """
        select * from added_judgements
        where dataset = ? and query_id = ? and doc_id = ? order by id
        """,
        [dataset, query_id, doc_id],
    ).df()
    return frame.astype({"relevance": "Int64"})
