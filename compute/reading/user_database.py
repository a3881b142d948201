"""A database that documents itself: comments on its tables and columns, and a table `readme`."""

from datetime import UTC, datetime

import pyarrow as pa
from duckdb import DuckDBPyConnection

from compute.base import scratch_database
from compute.evaluate.tolerance import TOLERANCE
from compute.store.schema import TABLES

EXAMPLES = {
    "every table": """
        select table_name, comment from duckdb_tables() where not internal
        union all
        select view_name, comment from duckdb_views() where not internal
        order by all
    """,
    "every column": """
        select table_name, column_name, data_type, comment
        from duckdb_columns() where not internal
    """,
    "the best system of each dataset": f"""
        select dataset, system, value from means where measure = 'nDCG@10'
        qualify max(value) over (partition by dataset) - value <= {TOLERANCE}
        order by dataset, system
    """,
    "computed and published": """
        select dataset, system, measure, means.value, published.value as printed, source
        from means join published using (dataset, system, measure)
        where not suspect order by all
    """,
    "two systems, query by query": """
        select one.dataset, query_id, one.value as bm25, other.value as minilm
        from scores as one join scores as other using (dataset, query_id, measure)
        where one.system = 'bm25' and other.system = 'minilm' and measure = 'nDCG@10'
        order by other.value - one.value desc
    """,
    "unjudged documents in rankings": """
        select dataset, system, count(*) as n_holes
        from top anti join judgements using (dataset, query_id, doc_id)
        group by dataset, system order by dataset, system
    """,
    "a ranked list with its texts": """
        select system, top.query_id, rank, top.doc_id, judgements.relevance,
            documents.title, documents.text
        from top
        join datasets on datasets.name = top.dataset
        join documents
            on documents.dataset = datasets.collection and documents.doc_id = top.doc_id
        left join judgements
            on judgements.dataset = top.dataset and judgements.query_id = top.query_id
            and judgements.doc_id = top.doc_id
        order by top.dataset, system, top.query_id, rank limit 100
    """,
    "provenance of a run": """
        select dataset, system, provenance->>'$.command' as command, provenance->>'$.date' as date,
            provenance->>'$.hardware.processor' as processor, fingerprint
        from parts where kind = 'hits' order by dataset, system
    """,
}
"""Example queries."""

_NOTES = {
    "ids": "Ids are always text: '01' and '1' are two documents.",
    "scores and judgements": (
        "Scores are computed from the official judgements; added_judgements are separate and"
        " affect no score."
        " A document without a judgement counts as not relevant."
    ),
    "old results": "Runs and scores whose corpus was replaced later are left out.",
    "licence": "Texts of documents and queries belong to their authors: see datasets.licence.",
}


def describe(connection: DuckDBPyConnection) -> None:
    """Add the meanings of the tables, views and columns of a database as comments."""
    found = connection.execute(
        """
        select table_name, if(table_type = 'VIEW', 'view', 'table'), list(column_name)
        from information_schema.tables join information_schema.columns using (table_name)
        where information_schema.tables.table_schema = 'main'
        group by all
        """
    ).fetchall()
    # In one transaction; otherwise each of about 300 comments would be written to disk separately.
    with scratch_database.transaction(connection):
        for name, kind, columns in found:
            table = TABLES[name]
            connection.execute(_comment(f"{kind} {name}", table.text))
            for column in columns:
                connection.execute(_comment(f'column {name}."{column}"', table.meaning(column)))


def _comment(what: str, text: str) -> str:
    # The statement takes no parameters; names and texts come from `schema`.
    quoted = text.replace("'", "''")
    return f"comment on {what} is '{quoted}'"


def readme(title: str, version: int) -> pa.Table:
    """Return topic, text, example: the purpose, the version and example queries of the database."""
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    made = f"{title} Version {version} of the results, written {written} UTC."
    rows = [("this file", made, ""), *((topic, text, "") for topic, text in _NOTES.items())]
    rows += [(topic, "", " ".join(sql.split())) for topic, sql in EXAMPLES.items()]
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("topic", "text", "example"), map(list, columns), strict=True)))
