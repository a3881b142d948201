"""Leakage: test data found in training sets, and scores of systems without these queries."""

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.base.words import counted
from compute.evaluate.measures import better
from compute.evaluate.slices import without_others
from compute.evaluate.tolerance import order
from compute.reading.questions import question, select
from compute.store.leakage import NOT_FOUND, keys
from compute.views.page import Column
from compute.views.shared.theme import between, plain, signed

LEFT_OUT = ("query or document", "query")
"""Queries to leave out: those found or with a relevant document found; only those found."""
COLUMNS = ["dataset", "training", "left_out", "n_queries", "n_found", "system"]
COLUMNS += ["value", "value_without", "change", "low", "high"]


@select(shows="datasets")
def sets() -> str:
    """Select a row for each training set that was searched for a dataset's test data: dataset,
    training, n_training_texts, n_queries, n_queries_found, n_documents (relevant ones),
    n_documents_found, n_touched (queries found, or with a relevant document found), threshold (of
    near-equality)."""
    return """
        select dataset, system as training,
               (provenance ->> '$.n_training_texts')::bigint as n_training_texts,
               (provenance ->> '$.n_queries')::bigint as n_queries,
               (provenance ->> '$.n_queries_found')::bigint as n_queries_found,
               (provenance ->> '$.n_documents')::bigint as n_documents,
               (provenance ->> '$.n_documents_found')::bigint as n_documents_found,
               (provenance ->> '$.n_touched')::bigint as n_touched,
               (provenance ->> '$.threshold')::double as threshold
        from parts where kind = 'leakage' order by all
    """


@question(shows="runs")
def changes(cursor: DuckDBPyConnection, measure: str) -> DataFrame:
    """Return every system's mean over all queries and without those to leave out, and the change
    with its 95% interval (COLUMNS), for each training set and choice of LEFT_OUT; the best mean
    over the rest comes first. A set whose dataset has no scores has a row without a system."""
    found = []
    for dataset, training in sets(cursor)[["dataset", "training"]].to_numpy():
        for key, left_out in zip(keys(training), LEFT_OUT, strict=True):
            rows = _changes(cursor, dataset, measure, key)
            found.append(rows.assign(dataset=dataset, training=training, left_out=left_out))
    return pd.concat(found, ignore_index=True)[COLUMNS] if found else DataFrame(columns=COLUMNS)


def _changes(cursor: DuckDBPyConnection, dataset: str, measure: str, key: str) -> DataFrame:
    """Return the rows of `changes` for one dataset and the labels `key`."""
    labels = cursor.execute(
        "select query_id, value as label from query_labels where dataset = ? and key = ?",
        [dataset, key],
    ).df()
    scores = cursor.execute(
        "select query_id, system, value from scores where dataset = ? and measure = ?",
        [dataset, measure],
    ).df()
    wide = scores.pivot(index="system", columns="query_id", values="value")
    kept = labels.set_index("query_id")["label"].reindex(wide.columns).eq(NOT_FOUND)
    rows = DataFrame({"system": [None]}, dtype="str")
    if len(wide):
        rows = without_others(wide.to_numpy(), kept.to_numpy()).assign(system=wide.index)
        rows = rows.iloc[order(better(measure) * rows["value_without"].fillna(0), rows["system"])]
    found = int(labels["label"].ne(NOT_FOUND).sum())
    return rows.reindex(columns=COLUMNS).assign(n_queries=len(labels), n_found=found)


def said(one: DataFrame, titles: dict[str, str]) -> str:
    """Say how much of a dataset a training set contains; `one` is a row of `sets`."""
    row = one.iloc[0]
    title = titles.get(row["dataset"], row["dataset"])
    told = f"{row['training']} contains {row['n_queries_found']:,} of the"
    told += f" {counted(int(row['n_queries']), 'query')} of {title}"
    if row["n_documents"]:
        told += (
            f" and {row['n_documents_found']:,} of its {row['n_documents']:,} relevant documents"
        )
    told += f" (equal or near-equal); {counted(int(row['n_touched']), 'query')} affected"
    left = row["n_queries"] - row["n_touched"]
    return f"{told}." if left else f"{told}, so no query would be left."


def shown(rows: DataFrame, named: dict[str, str]) -> DataFrame:
    """Keep the changes for which queries are left, and replace systems by titles (`named`)."""
    rows = rows[rows["value_without"].notna()]
    return rows.assign(system=[named.get(name, name) for name in rows["system"]])


COLUMNS_SHOWN = (
    Column("Left out if found", "left_out"),
    Column("Queries", ("n_found", "n_queries"), "{:,} of {:,}".format),
    Column("System", "system"),
    Column("All queries", "value", plain),
    Column("Without", "value_without", plain),
    Column("Change", "change", signed),
    Column("95%", ("low", "high"), between),
)
