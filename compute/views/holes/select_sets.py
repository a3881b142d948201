"""Questions the Holes page asks about judgement sets. Their cursor counts official judgements.
`rule` and `sources` choose added judgements and combine several judgements of a pair."""

from collections.abc import Sequence

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.judgements import Choice
from compute.reading import judgement_sets
from compute.reading.questions import question

Cursor = DuckDBPyConnection


@question(datasets=("dataset",), confined=False)
def names(cursor: Cursor, dataset: str) -> DataFrame:
    """Return set: the name of each set of a dataset, from `judgement_sets.names`."""
    return DataFrame({"set": judgement_sets.names(cursor, dataset)})


@question(datasets=("dataset",), confined=False, shows="datasets")
def listed(cursor: Cursor, dataset: str, rule: str, sources: Sequence[str]) -> DataFrame:
    """Return the sets of a dataset, from `judgement_sets.listed`."""
    return judgement_sets.listed(cursor, dataset, Choice(rule, tuple(sources)))


@question(datasets=("dataset",), systems=("systems",), confined=False, shows="runs")
def values(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    name: str,
    rule: str,
    sources: Sequence[str],
) -> DataFrame:
    """Return system, query_id, value: the scores of these systems by one set only."""
    rows = judgement_sets.values(cursor, dataset, name, measure, Choice(rule, tuple(sources)))
    return rows[rows["system"].isin(list(systems))].reset_index(drop=True)


@question(datasets=("dataset",), systems=("systems",), shows="runs")
def stored_values(
    cursor: Cursor, dataset: str, systems: Sequence[str], measure: str, name: str
) -> DataFrame:
    """Return `values` by a set that added judgements do not change: the official or an LLM's."""
    rows = judgement_sets.values(cursor, dataset, name, measure)
    return rows[rows["system"].isin(list(systems))].reset_index(drop=True)


@question(datasets=("dataset",), confined=False, shows="datasets")
def grades(
    cursor: Cursor, dataset: str, beside: Sequence[str], rule: str, sources: Sequence[str]
) -> DataFrame:
    """Return the grades by the two sets in `beside`, from `judgement_sets.grades`."""
    left, right = beside
    return judgement_sets.grades(cursor, dataset, left, right, Choice(rule, tuple(sources)))


@question(datasets=("dataset",), confined=False, shows="datasets")
def of_pair(
    cursor: Cursor, dataset: str, query_id: str, doc_id: str, rule: str, sources: Sequence[str]
) -> DataFrame:
    """Return set, relevance: a pair's grade in each set that judged it."""
    found = []
    for name, rows in judgement_sets.every(cursor, dataset, Choice(rule, tuple(sources))):
        own = rows[(rows["query_id"] == query_id) & (rows["doc_id"] == doc_id)]
        found.append(own.assign(set=name)[["set", "relevance"]])
    return pd.concat(found, ignore_index=True)
