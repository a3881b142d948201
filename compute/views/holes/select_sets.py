"""What the Holes page reads of judgement sets. Its cursor counts official judgements.

`rule` and `sources` say which added judgements count, and how those of one pair become one.
"""

from collections.abc import Sequence

import pandas as pd
from duckdb import DuckDBPyConnection
from pandas import DataFrame

from compute.judgements import Choice
from compute.reading import judgement_sets
from compute.reading.questions import question
from compute.views.holes import judgement_sets as comparing

Cursor = DuckDBPyConnection


@question(datasets=("dataset",), confined=False, shows="datasets")
def listed(cursor: Cursor, dataset: str, rule: str, sources: Sequence[str]) -> DataFrame:
    """The sets of a dataset, as `judgement_sets.listed`."""
    return judgement_sets.listed(cursor, dataset, Choice(rule, tuple(sources)))


@question(datasets=("dataset",), systems=("systems",), confined=False, shows="runs")
def means(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    beside: Sequence[str],
    rule: str,
    sources: Sequence[str],
) -> DataFrame:
    """The boards by two sets, as `views.holes.judgement_sets.means`."""
    choice = Choice(rule, tuple(sources))
    return comparing.means(*_values(cursor, dataset, systems, measure, beside, choice))


@question(datasets=("dataset",), systems=("systems",), confined=False, shows="runs")
def pairs(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    beside: Sequence[str],
    rule: str,
    sources: Sequence[str],
) -> DataFrame:
    """Every two systems by two sets, as `views.holes.judgement_sets.pairs`."""
    choice = Choice(rule, tuple(sources))
    return comparing.pairs(*_values(cursor, dataset, systems, measure, beside, choice))


def _values(
    cursor: Cursor,
    dataset: str,
    systems: Sequence[str],
    measure: str,
    beside: Sequence[str],
    choice: Choice,
) -> tuple[DataFrame, DataFrame]:
    found = (judgement_sets.values(cursor, dataset, of, measure, choice) for of in beside)
    left, right = (rows[rows["system"].isin(list(systems))] for rows in found)
    return left, right


@question(datasets=("dataset",), confined=False, shows="datasets")
def grades(
    cursor: Cursor, dataset: str, beside: Sequence[str], rule: str, sources: Sequence[str]
) -> DataFrame:
    """The grades by two sets, as `judgement_sets.grades`."""
    left, right = beside
    return judgement_sets.grades(cursor, dataset, left, right, Choice(rule, tuple(sources)))


@question(datasets=("dataset",), confined=False, shows="datasets")
def of_pair(
    cursor: Cursor, dataset: str, query_id: str, doc_id: str, rule: str, sources: Sequence[str]
) -> DataFrame:
    """set, relevance: what each set that judged a pair says of it."""
    choice, found = Choice(rule, tuple(sources)), []
    for name in judgement_sets.names(cursor, dataset):
        rows = judgement_sets.labels(cursor, dataset, name, choice)
        own = rows[(rows["query_id"] == query_id) & (rows["doc_id"] == doc_id)]
        found.append(own.assign(set=name)[["set", "relevance"]])
    return pd.concat(found, ignore_index=True)
